//! Messages as lines on standard input and output.

use std::io;
use std::sync::Arc;

use bytes::BytesMut;
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use rootward_protocol::frame::IdFinder;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;

use crate::exchange::{Exchange, Incoming, LONGEST, More, Outgoing, Read, read, too_long};
use crate::flow::UnderWay;

const CHUNK: usize = 8 << 10;

/// How much line buffer to keep after a long line.
const KEPT: usize = 256 << 10;

/// The transport of a server on standard input and output.
pub(crate) fn stdio() -> Exchange<LinesIn<StdioReader>, LinesOut<StdioWriter>> {
    let (read, write) = stdio_pipes();
    lines(read, write)
}

/// Messages as lines of any stream.
fn lines<R, W>(read: R, write: W) -> Exchange<LinesIn<R>, LinesOut<W>> {
    let incoming = LinesIn { read, buffer: BytesMut::new(), searched: 0, oversized: None };
    Exchange::new(incoming, LinesOut(Arc::new(Mutex::new(Write { into: write, line: Vec::new() }))))
}

/// Reads lines.
pub(crate) struct LinesIn<R> {
    read: R,
    /// Bytes that were read but not consumed yet.
    buffer: BytesMut,
    /// How many of them are known to contain no newline.
    searched: usize,
    /// Set while skipping a line that is too long.
    oversized: Option<IdFinder>,
}

/// Writes lines.
pub(crate) struct LinesOut<W>(Arc<Mutex<Write<W>>>);

/// The output stream, and the buffer in which each line is built.
struct Write<W> {
    into: W,
    line: Vec<u8>,
}

impl<R: AsyncRead + Send + Unpin> Incoming for LinesIn<R> {
    fn next(&mut self) -> Option<Read> {
        loop {
            let found = memchr::memchr(b'\n', &self.buffer[self.searched..]);
            let Some(end) = found.map(|end| self.searched + end) else {
                if self.oversized.is_some() || self.buffer.len() > LONGEST {
                    self.oversized.get_or_insert_default().add(&self.buffer);
                    self.buffer = BytesMut::new();
                }
                self.searched = self.buffer.len();
                return None;
            };
            self.searched = 0;
            let line = self.buffer.split_to(end + 1);
            let message = if self.oversized.is_some() || end > LONGEST {
                let mut oversized = self.oversized.take().unwrap_or_default();
                oversized.add(&line);
                too_long(&oversized)
            } else {
                read(&line)
            };
            if message.is_some() {
                return message;
            }
        }
    }

    async fn more(&mut self, _: &UnderWay) -> More {
        if self.buffer.is_empty() && self.buffer.capacity() > KEPT {
            self.buffer = BytesMut::new();
        }
        self.buffer.reserve(CHUNK);
        // Safe to drop: bytes that were read are in the buffer.
        match self.read.read_buf(&mut self.buffer).await {
            Ok(0) => More::Ended,
            Ok(_) => More::Arrived,
            Err(_) => More::Gone,
        }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Outgoing for LinesOut<W> {
    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = Arc::clone(&self.0);
        async move {
            let mut write = write.lock().await;
            let Write { into, line } = &mut *write;
            line.clear();
            serde_json::to_writer(&mut *line, &message)?;
            drop(message);
            line.push(b'\n');
            into.write_all(line).await?;
            line.clear();
            line.shrink_to(KEPT);
            into.flush().await
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.0.lock().await.into.shutdown().await
    }
}

#[cfg(test)]
mod tests {
    use rmcp::ErrorData;
    use rmcp::model::{ClientRequest, JsonRpcMessage, RequestId};
    use rmcp::service::RxJsonRpcMessage;
    use rmcp::transport::Transport;
    use serde_json::{Value, json};

    use super::*;
    use crate::flow::MOST_REQUESTS;

    /// The messages received from these bytes, and the answers to those that were rejected.
    async fn exchange(bytes: &[u8]) -> (Vec<RxJsonRpcMessage<RoleServer>>, Vec<Value>) {
        let mut answers = Vec::new();
        let mut received = Vec::new();
        let mut lines = lines(bytes, io::Cursor::new(Vec::new()));
        while let Some(message) = lines.receive().await {
            received.push(message);
        }
        let written = Arc::into_inner(lines.outgoing.0).unwrap().into_inner().into.into_inner();
        for line in written.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            answers.push(serde_json::from_slice(line).unwrap());
        }
        (received, answers)
    }

    #[tokio::test]
    async fn messages_come_one_by_one_however_they_are_spaced() {
        let text = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\n  \n\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"ping\"}\n";
        let (received, answers) = exchange(text.as_bytes()).await;
        assert_eq!(received.len(), 2);
        assert!(matches!(&received[1], JsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::PingRequest(_)) && request.id == RequestId::String("b".into())));
        assert_eq!(answers, Vec::<Value>::new());
    }

    #[tokio::test]
    async fn whatever_cannot_be_read_is_answered() {
        for (line, code, id) in [
            ("garbage", -32700, json!(null)),
            ("{\"id\": 1", -32700, json!(null)),
            ("[]", -32600, json!(null)),
            ("7", -32600, json!(null)),
            ("{}", -32600, json!(null)),
            ("{\"id\":7,\"method\":\"tools/list\"}", -32600, json!(7)),
            ("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/list\",\"params\":7}", -32600, json!("x")),
            ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600, json!(null)),
        ] {
            let (received, answers) = exchange(format!("{line}\n").as_bytes()).await;
            assert!(received.is_empty(), "{line}");
            assert_eq!(answers.len(), 1, "{line}");
            assert_eq!((&answers[0]["error"]["code"], &answers[0]["id"]), (&json!(code), &id), "{line}");
        }
        let not_text = exchange(b"\xff\xfe\n").await.1;
        assert_eq!(not_text[0]["error"]["code"], -32700);
        // These need no answer.
        for line in ["{\"jsonrpc\":\"2.0\",\"method\":7}", "{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}"] {
            let (received, answers) = exchange(format!("{line}\n").as_bytes()).await;
            assert!(received.is_empty() && answers.is_empty(), "{line}");
        }
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_answered_and_the_next_one_taken() {
        let long = "x".repeat(LONGEST + 1);
        let ping = "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n";
        for (line, id) in [
            (
                format!("{{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"x\",\"params\":{{\"id\":1,\"a\":\"{long}\"}}}}"),
                Some(json!(8)),
            ),
            (
                format!("{{\"method\":\"x\",\"params\":[\"{long}\"],\"jsonrpc\":\"2.0\",\"id\":\"end\"}}"),
                Some(json!("end")),
            ),
            (long.clone(), Some(json!(null))),
            (format!("{{\"method\":\"x\",\"params\":\"{long}\"}}"), None),
            (format!("{{\"id\":8,\"result\":\"{long}\"}}"), None),
        ] {
            let (received, answers) = exchange(format!("{line}\n{ping}").as_bytes()).await;
            assert_eq!(received.len(), 1);
            let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
            assert_eq!(ids, id.iter().collect::<Vec<_>>());
            assert!(answers.iter().all(|answer| answer["error"]["code"] == -32600));
        }
    }

    /// Requests wait for others to be answered; messages that a request may wait for do not.
    #[tokio::test]
    async fn no_more_requests_are_under_way_than_may_be() {
        let ping = |id: usize| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
        let mut text: String = (0..2 * MOST_REQUESTS).map(ping).collect();
        text.push_str("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"roots\":[]}}\n");
        let cancelled = |id: usize| {
            let parameters = json!({"requestId": id});
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": parameters}).to_string() + "\n"
        };
        text.push_str(&cancelled(MOST_REQUESTS));
        let mut lines = lines(text.as_bytes(), io::Cursor::new(Vec::new()));
        let id = |message: Option<RxJsonRpcMessage<RoleServer>>| match message {
            Some(JsonRpcMessage::Request(request)) => request.id.to_string(),
            other => format!("{other:?}"),
        };
        for number in 0..MOST_REQUESTS {
            assert_eq!(id(lines.receive().await), number.to_string());
        }
        assert!(matches!(lines.receive().await, Some(JsonRpcMessage::Response(_))));
        assert!(matches!(lines.receive().await, Some(JsonRpcMessage::Notification(_))));
        // Nothing arrives before an answer is written; then the next request does, except the cancelled one.
        for number in MOST_REQUESTS + 1..2 * MOST_REQUESTS {
            let waited = tokio::time::timeout(std::time::Duration::from_millis(1), lines.receive()).await;
            assert!(waited.is_err(), "{number}");
            let answered = RequestId::Number(i64::try_from(number - MOST_REQUESTS).unwrap());
            lines.send(JsonRpcMessage::error(ErrorData::internal_error("", None), Some(answered))).await.unwrap();
            assert_eq!(id(lines.receive().await), number.to_string());
        }
        assert!(lines.receive().await.is_none());
    }

    /// Otherwise nobody could stop it.
    #[tokio::test]
    async fn a_listening_request_is_cancelled_when_the_input_ends() {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let listen = json!({"jsonrpc": "2.0", "id": 5, "method": "subscriptions/listen", "params": {"_meta": meta, "notifications": {}}});
        let (received, answers) = exchange(format!("{listen}\n").as_bytes()).await;
        assert!(matches!(&received[0], JsonRpcMessage::Request(_)));
        let taken_back = serde_json::to_value(&received[1]).unwrap();
        assert_eq!(
            (&taken_back["method"], &taken_back["params"]["requestId"]),
            (&json!("notifications/cancelled"), &json!(5))
        );
        assert_eq!((received.len(), answers), (2, Vec::new()));
    }

    #[tokio::test]
    async fn cursors_are_kept() {
        let list = br#"{"jsonrpc":"2.0","id":1,"result":{"nextCursor":"c","roots":[]}}"#;
        // Any length up to the limit works.
        for padding in [0, CHUNK, LONGEST - list.len() - 1] {
            let (received, _) = exchange(&[&b" ".repeat(padding), &list[..], b"\n"].concat()).await;
            let message = serde_json::to_string(&received[0]).unwrap();
            assert!(message.contains("rootward.dev/nextCursor"), "{message}");
        }
    }
}
