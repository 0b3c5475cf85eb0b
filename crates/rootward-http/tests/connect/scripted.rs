//! An HTTP server that sends exactly the bytes a test says.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request as received.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
}

/// What a script writes back, and whether the connection stays open.
pub(crate) enum Reply {
    /// These bytes, then the connection is closed.
    Raw(Vec<u8>),
    /// These bytes, and nothing more.
    Hang(Vec<u8>),
    /// These bytes, repeated.
    Endless(Vec<u8>, Vec<u8>),
}

/// A server that records its requests.
pub(crate) struct Scripted {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Scripted {
    pub(crate) async fn start(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, script) = (Arc::clone(&requests), Arc::new(script));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&seen), Arc::clone(&script)));
            }
        });
        Scripted { url, requests }
    }

    /// The requests so far, in the order in which they were read.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// The methods of the messages posted so far.
    pub(crate) fn posted(&self) -> Vec<String> {
        let requests = self.requests();
        let posted = requests.iter().filter(|request| request.method == "POST");
        posted.map(|request| request.body["method"].as_str().unwrap_or("answer").to_owned()).collect()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Vec<Request>>>,
    script: Arc<impl Fn(&Request) -> Reply + Send + Sync>,
) {
    let Some(request) = read(&mut stream).await else { return };
    seen.lock().unwrap().push(request.clone());
    match script(&request) {
        Reply::Raw(bytes) => drop(stream.write_all(&bytes).await),
        Reply::Hang(bytes) => {
            let _ = stream.write_all(&bytes).await;
            // Wait until the other side leaves.
            let _ = stream.read(&mut [0]).await;
            let left = Request { method: "LEFT".to_owned(), ..request };
            seen.lock().unwrap().push(left);
        }
        Reply::Endless(first, more) => {
            let _ = stream.write_all(&first).await;
            while stream.write_all(&more).await.is_ok() {}
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        // The first byte of TLS, which this server does not support.
        if stream.read_buf(&mut bytes).await.ok()? == 0 || bytes[0] == 0x16 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = bytes[end + 4..].to_vec();
    while body.len() < length {
        stream.read_buf(&mut body).await.ok()?;
    }
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
    Some(Request { method, path, headers, body })
}

/// An answer with a status line, headers and a body of known length.
pub(crate) fn reply(status: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let headers: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let headers = headers.concat();
    let length = body.len();
    Reply::Raw(
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}").into(),
    )
}

pub(crate) fn json_reply(body: &Value) -> Reply {
    reply("200 OK", &[("content-type", "application/json")], &body.to_string())
}

/// The head of a stream, and these events, which end with the connection.
pub(crate) fn events(events: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{events}").into()
}

/// The same, as a body that ends properly.
pub(crate) fn ended_events(events: &str) -> Reply {
    reply("200 OK", &[("content-type", "text/event-stream")], events)
}

/// An event with a message.
pub(crate) fn event(message: &Value) -> String {
    format!("data: {message}\n\n")
}

/// The result of a request.
pub(crate) fn result(request: &Request, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result})
}

/// A legacy server's answers to everything that is not the point of a test: a handshake with a session, and 202 to
/// notifications.
pub(crate) fn usual(request: &Request) -> Option<Reply> {
    match (request.method.as_str(), request.body["method"].as_str()) {
        ("GET", _) => Some(reply("405 Method Not Allowed", &[], "")),
        ("DELETE", _) => Some(reply("204 No Content", &[], "")),
        ("POST", Some("initialize")) => {
            let hello = json!({"protocolVersion": "2025-03-26", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}});
            let headers = [("content-type", "application/json"), ("mcp-session-id", "session-1")];
            Some(reply("200 OK", &headers, &result(request, &hello).to_string()))
        }
        ("POST", Some(method)) if method.starts_with("notifications/") => Some(reply("202 Accepted", &[], "")),
        ("POST", None) => Some(reply("202 Accepted", &[], "")),
        _ => None,
    }
}
