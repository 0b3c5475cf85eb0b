//! The client of the benchmarks over HTTP: a legacy session on a keep-alive connection, with blocking reads, and without parsing
//! responses.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use memchr::memmem;
use serde_json::{Value, json};

use crate::client::http::Endpoint;
use crate::client::message;

/// A legacy session.
#[derive(Debug)]
pub struct Session {
    connection: Kept,
    /// Sends responses to the server's requests while the first connection waits. Opened on first use.
    second: Option<Kept>,
    endpoint: Endpoint,
    path: &'static str,
    /// The head of a request, up to `content-length`.
    head: String,
    request: Vec<u8>,
    answer: Vec<u8>,
    /// The result for `roots/list`.
    roots: String,
    last: u64,
}

impl Session {
    /// Connects and performs the handshake. The client answers `roots/list` with `root`.
    pub fn begin(endpoint: &Endpoint, path: &'static str, root: &Path) -> io::Result<Session> {
        let session = Session {
            connection: Kept::open(endpoint.address)?,
            second: None,
            endpoint: endpoint.clone(),
            path,
            head: String::new(),
            request: Vec::new(),
            answer: Vec::new(),
            roots: format!(r#"{{"roots":[{{"uri":"file://{}"}}]}}"#, root.display()),
            last: 0,
        };
        session.another()
    }

    /// Begins another session on the same connections. The server keeps the previous one.
    pub fn another(mut self) -> io::Result<Session> {
        let Endpoint { address, token } = &self.endpoint;
        self.head = format!(
            "POST {} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n",
            self.path
        );
        let hello = message::hello(json!({"roots": {"listChanged": true}}));
        let id = self.exchange("initialize", &hello.to_string())?.ok_or_else(|| io::Error::other("no session"))?;
        self.head.extend(["mcp-session-id: ", &id, "\r\nmcp-protocol-version: ", message::LEGACY, "\r\n"]);
        let initialized = message::notification("notifications/initialized", Value::Null).to_string();
        self.request.clear();
        frame(&mut self.request, &self.head, &initialized)?;
        self.connection.send(&self.request)?;
        self.connection.expect_nothing()?;
        Ok(self)
    }

    /// Sends a request and returns the response: a JSON document, or the events of a stream.
    pub fn ask(&mut self, method: &str, params: &str) -> io::Result<&[u8]> {
        self.exchange(method, params)?;
        Ok(&self.answer)
    }

    /// Calls a tool and checks that the response contains `expected`.
    pub fn call(&mut self, params: &str, expected: &str) -> io::Result<usize> {
        let answer = self.ask("tools/call", params)?;
        if memmem::find(answer, expected.as_bytes()).is_some() {
            return Ok(answer.len());
        }
        let shown = String::from_utf8_lossy(&answer[..answer.len().min(400)]);
        Err(io::Error::other(format!("unexpected response: {}", shown.trim())))
    }

    /// Sends a request, reads the whole response, and returns the session id in its head.
    fn exchange(&mut self, method: &str, params: &str) -> io::Result<Option<String>> {
        self.last += 1;
        let id = self.last;
        self.request.clear();
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        frame(&mut self.request, &self.head, &body)?;
        self.connection.send(&self.request)?;
        let Head { status, mut left, session } = self.connection.head()?;
        self.answer.clear();
        let mut looked = 0;
        while self.connection.part(&mut left, &mut self.answer)? {
            let new = &self.answer[looked..];
            if memmem::find(new, br#""method":"roots/list""#).is_none() {
                continue;
            }
            // Only up to the last complete line; the rest has not arrived.
            let Some(end) = memchr::memrchr(b'\n', new) else { continue };
            let new = String::from_utf8_lossy(&new[..end]).into_owned();
            looked += end + 1;
            for data in new.lines().filter_map(|line| line.strip_prefix("data:")) {
                self.answer_question(data)?;
            }
        }
        if status != 200 {
            return Err(io::Error::other(format!("status {status}: {}", String::from_utf8_lossy(&self.answer))));
        }
        if memmem::find(&self.answer, format!(r#""id":{id}"#).as_bytes()).is_none() {
            return Err(io::Error::other("the response has another id"));
        }
        Ok(session)
    }

    fn answer_question(&mut self, data: &str) -> io::Result<()> {
        // An event may have no data, only an id for clients that reconnect.
        let Ok(question) = serde_json::from_str::<Value>(data) else { return Ok(()) };
        if question["method"] != "roots/list" {
            return Ok(());
        }
        let body = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, question["id"], self.roots);
        let mut answer = Vec::new();
        frame(&mut answer, &self.head, &body)?;
        let second = match &mut self.second {
            Some(second) => second,
            none => none.insert(Kept::open(self.endpoint.address)?),
        };
        second.send(&answer)?;
        second.expect_nothing()
    }
}

/// Writes a whole request, so that one write can send it.
fn frame(into: &mut Vec<u8>, head: &str, body: &str) -> io::Result<()> {
    write!(into, "{head}content-length: {}\r\n\r\n{body}", body.len())
}

/// The head of a response.
struct Head {
    status: u16,
    left: Left,
    session: Option<String>,
}

/// The unread rest of a body.
enum Left {
    Bytes(usize),
    Chunks,
    Nothing,
}

/// A keep-alive connection with its read buffer.
#[derive(Debug)]
struct Kept {
    stream: TcpStream,
    read: Vec<u8>,
    /// Where the unconsumed part begins.
    at: usize,
}

impl Kept {
    fn open(address: SocketAddr) -> io::Result<Kept> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Kept { stream, read: Vec::new(), at: 0 })
    }

    fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request)
    }

    /// Reads what is available, at least one byte.
    fn fill(&mut self) -> io::Result<()> {
        let mut buffer = [0; 1 << 14];
        match self.stream.read(&mut buffer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                self.read.extend_from_slice(&buffer[..count]);
                Ok(())
            }
        }
    }

    /// Consumes everything up to and including `end`, and returns what comes before it.
    fn until(&mut self, end: &[u8]) -> io::Result<&[u8]> {
        let length = loop {
            match memmem::find(&self.read[self.at..], end) {
                Some(length) => break length,
                None => self.fill()?,
            }
        };
        let at = self.at;
        self.at += length + end.len();
        Ok(&self.read[at..at + length])
    }

    fn head(&mut self) -> io::Result<Head> {
        self.read.drain(..self.at);
        self.at = 0;
        let head = std::str::from_utf8(self.until(b"\r\n\r\n")?).map_err(io::Error::other)?;
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|first| first.split(' ').nth(1)?.parse().ok());
        let mut head = Head { status: status.ok_or(io::ErrorKind::InvalidData)?, left: Left::Nothing, session: None };
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            if name.eq_ignore_ascii_case("content-length") {
                head.left = Left::Bytes(value.parse().map_err(io::Error::other)?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                head.left = Left::Chunks;
            } else if name.eq_ignore_ascii_case("mcp-session-id") {
                head.session = Some(value.to_owned());
            }
        }
        Ok(head)
    }

    /// Reads the next part of a body; `false` if there is none.
    fn part(&mut self, left: &mut Left, into: &mut Vec<u8>) -> io::Result<bool> {
        let length = match left {
            Left::Nothing | Left::Bytes(0) => return Ok(false),
            Left::Bytes(length) => std::mem::take(length),
            Left::Chunks => {
                let line = self.until(b"\r\n")?;
                let size = std::str::from_utf8(line).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
                size.ok_or(io::ErrorKind::InvalidData)?
            }
        };
        while self.read.len() < self.at + length {
            self.fill()?;
        }
        into.extend_from_slice(&self.read[self.at..self.at + length]);
        self.at += length;
        if matches!(left, Left::Chunks) {
            self.until(b"\r\n")?;
        }
        Ok(length > 0)
    }

    /// Reads a response that only says that the message was accepted.
    fn expect_nothing(&mut self) -> io::Result<()> {
        let Head { status, mut left, .. } = self.head()?;
        let mut body = Vec::new();
        while self.part(&mut left, &mut body)? {}
        if (200..300).contains(&status) {
            return Ok(());
        }
        Err(io::Error::other(format!("status {status}: {}", String::from_utf8_lossy(&body))))
    }
}
