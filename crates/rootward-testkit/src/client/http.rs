//! Streamable HTTP on loopback: posts each message, and receives what the server sends on any stream.
//!
//! Written by hand, so that a test controls every byte.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::line::{Line, Received};

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// A server's address, and the client's token.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The server's address.
    pub address: SocketAddr,
    /// The bearer token that the client sends.
    pub token: String,
}

/// The head of a response.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// The headers, with lowercase names.
    pub headers: HashMap<String, String>,
}

/// A keep-alive connection.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
    /// The unread bytes of the current chunk or body; `None` after the end of the body.
    part: Option<usize>,
    chunked: bool,
}

impl Connection {
    /// Connects to loopback.
    pub fn open(address: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream: BufReader::new(stream), part: None, chunked: false })
    }

    /// Sends a request and reads the head of the response.
    pub fn ask(&mut self, verb: &str, path: &str, headers: &[(&str, &str)], body: &str) -> io::Result<Head> {
        self.send(verb, path, headers, body)?;
        self.head()
    }

    /// Sends a request.
    pub fn send(&mut self, verb: &str, path: &str, headers: &[(&str, &str)], body: &str) -> io::Result<()> {
        let host = self.stream.get_ref().peer_addr()?;
        // One write, because two would be two packets.
        let mut bytes = Vec::new();
        write!(bytes, "{verb} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n", body.len())?;
        for (name, value) in headers {
            write!(bytes, "{name}: {value}\r\n")?;
        }
        write!(bytes, "\r\n{body}")?;
        self.stream.get_mut().write_all(&bytes)
    }

    /// Reads the head of a response.
    pub fn head(&mut self) -> io::Result<Head> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        let mut head = Head { status: status.ok_or(io::ErrorKind::InvalidData)?, ..Head::default() };
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            head.headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        self.chunked = head.headers.get("transfer-encoding").is_some_and(|coding| coding == "chunked");
        let length = head.headers.get("content-length").and_then(|length| length.parse().ok());
        self.part = if self.chunked { Some(0) } else { Some(length.unwrap_or(0)) };
        Ok(head)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// The whole body.
    pub fn body(&mut self) -> io::Result<String> {
        let mut body = String::new();
        self.read_to_string(&mut body)?;
        Ok(body)
    }

    /// The id and data of the next event that has data; `None` at the end of the stream.
    pub fn event(&mut self) -> io::Result<Option<(String, String)>> {
        let (mut id, mut data) = (String::new(), String::new());
        loop {
            let mut line = Vec::new();
            // Byte by byte, because the bytes after this event belong to the next one.
            loop {
                let mut byte = [0];
                if self.read(&mut byte)? == 0 {
                    return Ok(None);
                }
                if byte == *b"\n" {
                    break;
                }
                line.push(byte[0]);
            }
            let line = String::from_utf8(line).map_err(io::Error::other)?;
            match line.trim_end_matches('\r').split_once(':') {
                Some(("data", value)) => data += value.trim_start(),
                Some(("id", value)) => value.trim_start().clone_into(&mut id),
                Some(_) => {}
                None if data.is_empty() => {}
                None => return Ok(Some((id, data))),
            }
        }
    }

    /// Sets the read timeout.
    pub fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.stream.get_ref().set_read_timeout(Some(patience))
    }
}

/// Reads the body.
impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(left) = self.part else { return Ok(0) };
        let left = match left {
            0 if self.chunked => {
                let mut line = self.line()?;
                if line.is_empty() {
                    line = self.line()?;
                }
                let size = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
                if size == 0 {
                    self.line()?;
                    self.part = None;
                    return Ok(0);
                }
                size
            }
            0 => {
                self.part = None;
                return Ok(0);
            }
            left => left,
        };
        let most = left.min(buffer.len());
        let read = self.stream.read(&mut buffer[..most])?;
        self.part = Some(left - read);
        if read == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(read) }
    }
}

/// Whether the client opens a stream for messages that the server sends unasked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OwnStream {
    /// With a GET, once the session exists.
    Open,
    /// No such stream.
    None,
}

/// The legacy era over HTTP, as one [`Line`].
#[derive(Debug)]
pub struct HttpLine {
    endpoint: Endpoint,
    own_stream: OwnStream,
    session: Option<String>,
    revision: String,
    came: Receiver<String>,
    sender: Sender<String>,
}

impl HttpLine {
    /// A client that has sent nothing yet.
    pub fn new(endpoint: Endpoint, own_stream: OwnStream) -> HttpLine {
        let (sender, came) = channel();
        HttpLine { endpoint, own_stream, session: None, revision: String::new(), came, sender }
    }

    /// The session id from the server.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The headers of a request in the session.
    pub fn headers(&self) -> Vec<(String, String)> {
        let mut headers = vec![
            ("authorization".to_owned(), format!("Bearer {}", self.endpoint.token)),
            ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("content-type".to_owned(), "application/json".to_owned()),
        ];
        if let Some(session) = &self.session {
            headers.push((SESSION.to_owned(), session.clone()));
            headers.push(("mcp-protocol-version".to_owned(), self.revision.clone()));
        }
        headers
    }

    /// Sends a request with the session's headers, on a new connection.
    pub fn request(&self, verb: &str, body: &str) -> io::Result<(Head, Connection)> {
        let mut connection = Connection::open(self.endpoint.address)?;
        let headers = self.headers();
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let head = connection.ask(verb, "/mcp", &headers, body)?;
        Ok((head, connection))
    }

    /// Forwards the events of a stream, or the body, to the receiver.
    fn listen(&self, head: &Head, mut connection: Connection) {
        let sender = self.sender.clone();
        let is_stream = head.headers.get("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        thread::spawn(move || {
            if is_stream {
                while let Ok(Some((_, data))) = connection.event() {
                    if sender.send(data).is_err() {
                        return;
                    }
                }
            } else if let Ok(body) = connection.body()
                && !body.is_empty()
            {
                let _ = sender.send(body);
            }
        });
    }

    fn begin(&mut self, head: &Head, frame: &Value) -> io::Result<()> {
        self.session = head.headers.get(SESSION).cloned();
        frame["params"]["protocolVersion"].as_str().unwrap_or_default().clone_into(&mut self.revision);
        if self.own_stream == OwnStream::Open && self.session.is_some() {
            let (head, connection) = self.request("GET", "")?;
            if head.status == 200 {
                self.listen(&head, connection);
            }
        }
        Ok(())
    }
}

impl Line for HttpLine {
    fn send(&mut self, frame: &str) -> io::Result<()> {
        let message: Value = serde_json::from_str(frame).map_err(io::Error::other)?;
        let (head, mut connection) = self.request("POST", frame)?;
        match head.status {
            200 => {}
            202 => return Ok(()),
            status => {
                let body = connection.body().unwrap_or_default();
                return Err(io::Error::other(format!("status {status}: {body}")));
            }
        }
        self.listen(&head, connection);
        if message["method"] == "initialize" {
            self.begin(&head, &message)?;
        }
        Ok(())
    }

    fn receive(&mut self, patience: Duration) -> io::Result<Received> {
        Ok(match self.came.recv_timeout(patience) {
            Ok(line) => Received::Frame(line),
            Err(RecvTimeoutError::Timeout) => Received::Silence,
            Err(RecvTimeoutError::Disconnected) => Received::End,
        })
    }

    fn close(&mut self) -> io::Result<()> {
        if self.session.is_some() {
            self.request("DELETE", "")?;
        }
        Ok(())
    }
}
