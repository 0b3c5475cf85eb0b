//! An HTTP client that sends exactly the bytes a test says, over its own socket.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than anything should take.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// A request, to be sent unchanged.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    method: &'static str,
    path: &'static str,
    headers: Vec<(String, String)>,
    body: String,
}

impl Ask {
    pub(crate) fn new(method: &'static str, path: &'static str) -> Ask {
        Ask { method, path, headers: Vec::new(), body: String::new() }.with("Host", "127.0.0.1")
    }

    /// A POST to the endpoint, as a client of `ada` would send it.
    pub(crate) fn post(body: impl ToString) -> Ask {
        Ask { body: body.to_string(), ..Ask::new("POST", "/mcp") }
            .with("Authorization", "Bearer ada-token")
            .with("Content-Type", "application/json")
            .with("Accept", "application/json, text/event-stream")
    }

    pub(crate) fn get() -> Ask {
        Ask::new("GET", "/mcp").with("Authorization", "Bearer ada-token").with("Accept", "text/event-stream")
    }

    pub(crate) fn delete() -> Ask {
        Ask::new("DELETE", "/mcp").with("Authorization", "Bearer ada-token")
    }

    /// A modern request: its headers are derived from its body.
    pub(crate) fn modern(method: &str, params: Value) -> Ask {
        let mut params = params;
        let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str).map(str::to_owned);
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = serde_json::json!({});
        let body = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let ask = Ask::post(body).with("MCP-Protocol-Version", "2026-07-28").with("Mcp-Method", method);
        match name {
            Some(name) => ask.with("Mcp-Name", &name),
            None => ask,
        }
    }

    /// Replaces this header, or removes it if the value is empty.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Ask {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        if !value.is_empty() {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Adds a header, even if it exists.
    pub(crate) fn also(mut self, name: &str, value: &str) -> Ask {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn session(self, id: &str) -> Ask {
        self.with("Mcp-Session-Id", id)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
        }
        if self.method == "POST" {
            head.extend(["Content-Length: ", &self.body.len().to_string(), "\r\n"]);
        }
        [head.as_bytes(), b"\r\n", self.body.as_bytes()].concat()
    }

    /// Sends it on a new connection and reads the head of the answer.
    pub(crate) async fn send(&self, address: SocketAddr) -> Answer {
        let stream = TcpStream::connect(address).await.unwrap();
        self.send_on(stream).await
    }

    pub(crate) async fn send_on(&self, mut stream: impl Stream + 'static) -> Answer {
        stream.write_all(&self.bytes()).await.unwrap();
        Answer::read(Box::new(stream)).await
    }
}

/// A connection.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// An answer whose body arrives in pieces.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    stream: Box<dyn Stream>,
    /// Bytes that were read and not used.
    buffer: Vec<u8>,
    /// The body so far, without its chunk framing.
    body: Vec<u8>,
    /// How far the body was searched for the end of an event.
    looked: usize,
    is_over: bool,
}

impl Answer {
    pub(crate) async fn read(mut stream: Box<dyn Stream>) -> Answer {
        let mut buffer = Vec::new();
        let end = loop {
            if let Some(end) = find(&buffer, b"\r\n\r\n") {
                break end;
            }
            assert!(fill(&mut stream, &mut buffer).await, "the connection ended: {}", String::from_utf8_lossy(&buffer));
        };
        let head = String::from_utf8(buffer.drain(..end + 4).collect()).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        Answer {
            status,
            headers: lines.filter_map(header).collect(),
            stream,
            buffer,
            body: Vec::new(),
            looked: 0,
            is_over: false,
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Reads the next piece of the body.
    async fn more(&mut self) -> bool {
        if self.is_over || self.status == 204 {
            self.is_over = true;
            return false;
        }
        if let Some(length) = self.header("content-length") {
            let length: usize = length.parse().unwrap();
            while self.buffer.len() < length {
                assert!(fill(&mut self.stream, &mut self.buffer).await, "the body ended early");
            }
            self.body.append(&mut self.buffer);
            self.is_over = true;
            return length > 0;
        }
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n") {
                let length = usize::from_str_radix(std::str::from_utf8(&self.buffer[..end]).unwrap(), 16).unwrap();
                if self.buffer.len() >= end + 2 + length + 2 {
                    self.body.extend_from_slice(&self.buffer[end + 2..end + 2 + length]);
                    self.buffer.drain(..end + 2 + length + 2);
                    self.is_over = length == 0;
                    return length > 0;
                }
            }
            if !fill(&mut self.stream, &mut self.buffer).await {
                self.is_over = true;
                return false;
            }
        }
    }

    /// The whole body.
    pub(crate) async fn text(&mut self) -> String {
        while self.more().await {}
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) async fn json(&mut self) -> Value {
        let text = self.text().await;
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The next event with a message, and its id. `None` at the end of the stream.
    pub(crate) async fn event(&mut self) -> Option<(String, Value)> {
        loop {
            let (id, data) = self.raw_event().await?;
            if !data.is_empty() {
                return Some((id, serde_json::from_str(&data).unwrap()));
            }
        }
    }

    /// The next event, and its id. Comments are skipped.
    pub(crate) async fn raw_event(&mut self) -> Option<(String, String)> {
        loop {
            while let Some(end) = find(&self.body[self.looked..], b"\n\n").map(|end| end + self.looked) {
                self.looked = 0;
                let event = String::from_utf8(self.body.drain(..end + 2).collect()).unwrap();
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                if let Some(data) = field("data: ") {
                    return Some((field("id: ").unwrap_or_default(), data));
                }
            }
            self.looked = self.body.len().saturating_sub(1);
            if !self.more().await {
                return None;
            }
        }
    }

    /// The message of an answer, whether it is a document or the last event of a stream.
    pub(crate) async fn message(&mut self) -> Value {
        if self.header("content-type") == Some("application/json") {
            return self.json().await;
        }
        let mut last = None;
        while let Some((_, message)) = self.event().await {
            last = Some(message);
        }
        last.expect("a message")
    }

    /// The connection, for another request.
    pub(crate) fn into_stream(self) -> Box<dyn Stream> {
        assert!(self.is_over);
        self.stream
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, wanted)
}

async fn fill(stream: &mut Box<dyn Stream>, buffer: &mut Vec<u8>) -> bool {
    let mut piece = vec![0; 16384];
    let read = timeout(LONG, stream.read(&mut piece)).await.expect("nothing came");
    let read = read.unwrap_or(0);
    buffer.extend_from_slice(&piece[..read]);
    read > 0
}
