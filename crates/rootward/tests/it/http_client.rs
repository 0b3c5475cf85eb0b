//! A minimal client of Streamable HTTP: one connection for each request, parsed by hand from the socket.
#![expect(clippy::panic, reason = "a test that cannot continue fails")]

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Stdio};
use std::time::Duration;

use rootward_testkit::client::message;
use serde_json::{Value, json};

use crate::stage::Stage;

/// A server over HTTP, killed when this is dropped.
pub(crate) struct Serving {
    child: Child,
    stderr: BufReader<ChildStderr>,
    pub(crate) address: String,
    /// What it printed before it listened.
    pub(crate) said: String,
}

impl Serving {
    pub(crate) fn start(stage: &Stage, arguments: &[&str]) -> Serving {
        let mut command = stage.command(arguments);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let mut serving = Serving { child, stderr, address: String::new(), said: String::new() };
        while serving.address.is_empty() {
            let mut line = String::new();
            assert_ne!(serving.stderr.read_line(&mut line).unwrap(), 0, "it ended: {}", serving.said);
            match line.trim_end().strip_prefix("listening on http://") {
                Some(address) => serving.address = address.strip_suffix("/mcp").unwrap().to_owned(),
                None => serving.said.push_str(&line),
            }
        }
        serving
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Waits for it to exit. Returns the exit code and the rest of its standard error.
    pub(crate) fn wait(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }

    /// Posts a message. The caller reads the messages of the answer one by one.
    pub(crate) fn post(&self, token: Option<&str>, headers: &[(&str, &str)], message: &Value) -> Answer {
        self.request("POST", token, headers, &message.to_string())
    }

    pub(crate) fn request(&self, method: &str, token: Option<&str>, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut head = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            self.address,
            body.len()
        );
        if let Some(token) = token {
            let _ = write!(head, "Authorization: Bearer {token}\r\n");
        }
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        Answer::read(BufReader::new(stream))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A response that is being read.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    body: Box<dyn BufRead>,
}

impl Answer {
    fn read(mut stream: BufReader<TcpStream>) -> Answer {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("{line:?}")).parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let is_chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body: Box<dyn BufRead> = if is_chunked {
            Box::new(BufReader::new(Chunks { stream, left: 0, is_over: false }))
        } else {
            let length = headers.iter().find(|(name, _)| name == "content-length");
            Box::new(stream.take(length.map_or(0, |(_, length)| length.parse().unwrap())))
        };
        Answer { status, headers, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The next message of an event stream, or the only one of a JSON body.
    pub(crate) fn message(&mut self) -> Value {
        if self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")) {
            loop {
                let mut line = String::new();
                assert_ne!(self.body.read_line(&mut line).unwrap(), 0, "the stream ended");
                if let Some(data) = line.strip_prefix("data:").map(str::trim).filter(|data| !data.is_empty()) {
                    return serde_json::from_str(data).unwrap();
                }
            }
        }
        let text = self.text();
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{} {text:?}", self.status))
    }

    pub(crate) fn text(&mut self) -> String {
        let mut text = String::new();
        self.body.read_to_string(&mut text).unwrap();
        text
    }
}

/// A body in chunks (RFC 9112, 7.1).
struct Chunks {
    stream: BufReader<TcpStream>,
    left: usize,
    is_over: bool,
}

impl Read for Chunks {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 && !self.is_over {
            let mut line = String::new();
            while line.trim().is_empty() {
                line.clear();
                if self.stream.read_line(&mut line)? == 0 {
                    self.is_over = true;
                    return Ok(0);
                }
            }
            self.left = usize::from_str_radix(line.trim(), 16).map_err(std::io::Error::other)?;
            self.is_over = self.left == 0;
        }
        let most = into.len().min(self.left);
        let read = self.stream.read(&mut into[..most])?;
        self.left -= read;
        Ok(read)
    }
}

/// A legacy session.
pub(crate) struct Session<'s> {
    serving: &'s Serving,
    token: &'s str,
    pub(crate) id: String,
    next: u64,
}

impl<'s> Session<'s> {
    pub(crate) fn begin(serving: &'s Serving, token: &'s str) -> Session<'s> {
        let hello = message::hello(json!({"roots": {"listChanged": true}}));
        let mut answer = serving.post(Some(token), &[], &message::request(0, "initialize", hello));
        let id = answer.header("mcp-session-id").map(str::to_owned);
        let said = answer.message();
        let session = Session { serving, token, id: id.unwrap_or_else(|| panic!("{said}")), next: 1 };
        session.tell("notifications/initialized");
        session
    }

    fn post(&self, message: &Value) -> Answer {
        let headers = [("Mcp-Session-Id", self.id.as_str()), ("Mcp-Protocol-Version", message::LEGACY)];
        self.serving.post(Some(self.token), &headers, message)
    }

    pub(crate) fn tell(&self, method: &str) {
        assert_eq!(self.post(&message::notification(method, Value::Null)).status, 202, "{method}");
    }

    /// Starts a call. The caller reads the answer.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        self.next += 1;
        self.post(&message::request(self.next, "tools/call", message::call(tool, arguments)))
    }

    /// Calls a tool, and answers requests for roots with these directories. Returns the number of requests and the result.
    pub(crate) fn call_in(&mut self, roots: &[&str], tool: &str, arguments: Value) -> (u32, Value) {
        let mut answer = self.call(tool, arguments);
        let mut asked = 0;
        loop {
            let said = answer.message();
            if said["method"] == "roots/list" {
                assert!(said.get("params").is_none(), "{said}");
                asked += 1;
                let list = message::roots(roots.iter().map(|root| format!("file://{root}")));
                assert_eq!(self.post(&message::answer(said["id"].clone(), list)).status, 202);
            } else if said.get("method").is_none() {
                assert_eq!(said["id"], self.next, "{said}");
                return (asked, said["result"].clone());
            }
        }
    }

    /// Reads a file. Returns its text, or the code of the refusal.
    pub(crate) fn read_in(&mut self, roots: &[&str], path: &str) -> String {
        let (_, result) = self.call_in(roots, "read_text_file", json!({"path": path}));
        let code = result["structuredContent"]["code"].as_str();
        code.or(result["content"][0]["text"].as_str()).unwrap_or_else(|| panic!("{result}")).to_owned()
    }
}
