//! A proxy between a host and a server over HTTP that forwards everything and records it.
//!
//! It can also make the server look legacy, to see what a host does that tries the modern era first.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::heard::{Heard, HeardOverHttp};

/// Which eras the server appears to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Knows {
    BothEras,
    LegacyOnly,
}

/// The header of a modern request, in lower case.
const MODERN: &str = "mcp-protocol-version: 2026-07-28";

/// How the TypeScript SDK 1.x answers an unknown revision.
const UNKNOWN_REVISION: &str = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Unsupported protocol version: 2026-07-28 (supported versions: 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05, 2024-10-07)"},"id":null}"#;

/// The proxy. It listens until the program ends.
#[derive(Debug)]
pub(super) struct Tap {
    pub(super) url: String,
    kept: Arc<Mutex<Vec<Exchange>>>,
}

/// A request that was forwarded to the server, and the part of the response that has arrived.
#[derive(PartialEq, Eq, Debug)]
struct Exchange {
    /// Empty for a `GET`.
    body: String,
    answer: String,
}

impl Tap {
    /// Starts listening on loopback, and forwards to the server at `url`.
    pub(super) fn start(url: &str, knows: Knows) -> Result<Tap> {
        let rest = url.strip_prefix("http://").with_context(|| format!("`{url}` is not an HTTP URL"))?;
        let (server, path) = rest.split_once('/').with_context(|| format!("`{url}` has no path"))?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("the tap cannot listen on loopback")?;
        let url = format!("http://{}/{path}", listener.local_addr()?);
        let (server, kept) = (server.to_owned(), Arc::new(Mutex::new(Vec::new())));
        let all = Arc::clone(&kept);
        thread::spawn(move || {
            for host in listener.incoming().flatten() {
                let (server, all) = (server.clone(), Arc::clone(&all));
                thread::spawn(move || {
                    // If a connection fails, the host's call fails, and so does the test.
                    let _ = pass(&host, &server, knows, &all);
                });
            }
        });
        Ok(Tap { url, kept })
    }

    /// What a host in `project` and the server sent each other.
    pub(super) fn heard(&self, project: &Path) -> HeardOverHttp {
        let kept = locked(&self.kept);
        let lines: Vec<&str> = kept.iter().map(|exchange| exchange.body.as_str()).collect();
        HeardOverHttp { heard: Heard::read(&lines.join("\n"), project), asked: asked(&kept) }
    }
}

/// Ignores poisoning: a thread that panicked leaves the exchanges intact.
fn locked(kept: &Mutex<Vec<Exchange>>) -> MutexGuard<'_, Vec<Exchange>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How the server asked for roots, and on which stream.
fn asked(kept: &[Exchange]) -> String {
    let Some(exchange) = kept.iter().find(|exchange| exchange.answer.contains(r#""method":"roots/list""#)) else {
        return "not asked".to_owned();
    };
    let message: Value = serde_json::from_str(&exchange.body).unwrap_or_default();
    match message["method"].as_str() {
        Some(method) if exchange.answer.contains("input_required") => format!("`input_required` for `{method}`"),
        Some(method) => format!("`roots/list` on the stream of `{method}`"),
        None => "`roots/list` on the stream of `GET`".to_owned(),
    }
}

/// Forwards one connection of the host.
fn pass(host: &TcpStream, server: &str, knows: Knows, all: &Arc<Mutex<Vec<Exchange>>>) -> Result<()> {
    let server = TcpStream::connect(server)?;
    // The index of the current exchange. On one connection, a host sends its next request after the response to the last one.
    let current = Arc::new(Mutex::new(0));
    let answers = {
        let (from, to) = (server.try_clone()?, host.try_clone()?);
        let (all, current) = (Arc::clone(all), Arc::clone(&current));
        thread::spawn(move || answer(from, to, &all, &current))
    };
    let mut source = BufReader::new(host);
    while let Some((head, body)) = request(&mut source)? {
        if knows == Knows::LegacyOnly && String::from_utf8_lossy(&head).to_lowercase().contains(MODERN) {
            let length = UNKNOWN_REVISION.len();
            let head = format!(
                "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
            );
            (&mut &*host).write_all((head + UNKNOWN_REVISION).as_bytes())?;
            continue;
        }
        {
            let mut all = locked(all);
            *current.lock().unwrap_or_else(PoisonError::into_inner) = all.len();
            all.push(Exchange { body: String::from_utf8_lossy(&body).into_owned(), answer: String::new() });
        }
        (&mut &server).write_all(&[head, body].concat())?;
    }
    // The host closed the connection, or will send nothing more on it.
    server.shutdown(std::net::Shutdown::Write)?;
    let _ = answers.join();
    Ok(())
}

/// Forwards and records what the server sends.
fn answer(mut from: TcpStream, mut to: TcpStream, all: &Mutex<Vec<Exchange>>, current: &Mutex<usize>) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let position = *current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(exchange) = locked(all).get_mut(position) {
            exchange.answer.push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    // Fails only if it is already closed.
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// The next request, unchanged: its head and its body. `None` at the end of the connection.
fn request(source: &mut impl BufRead) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    let (mut head, mut length) = (Vec::new(), 0);
    loop {
        let start = head.len();
        if source.read_until(b'\n', &mut head)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&head[start..]).to_lowercase();
        match line.split_once(':').map(|(name, value)| (name, value.trim())) {
            Some(("content-length", value)) => length = value.parse().context("`content-length` is not a number")?,
            Some(("transfer-encoding", _)) => bail!("the proxy cannot read chunked bodies"),
            _ if line.trim().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    source.read_exact(&mut body)?;
    Ok(Some((head, body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_for_roots_is_found() {
        let check = |body: &str, answer: &str, expect: &str| {
            let exchange = |body: &str, answer: &str| Exchange { body: body.to_owned(), answer: answer.to_owned() };
            let before = exchange(r#"{"method":"tools/list"}"#, "{}");
            assert_eq!(asked(&[before, exchange(body, answer)]), expect);
        };
        let (call, question) = (r#"{"method":"tools/call"}"#, r#"{"id":0,"method":"roots/list"}"#);
        check(call, &format!("data: {question}\n\n"), "`roots/list` on the stream of `tools/call`");
        check("", &format!("data: {question}\n\n"), "`roots/list` on the stream of `GET`");
        let round = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}"#;
        check(call, round, "`input_required` for `tools/call`");
        check(call, "{}", "not asked");
    }

    #[test]
    fn only_modern_requests_to_a_legacy_server_are_not_forwarded() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut source = BufReader::new(&stream);
                while let Ok(Some(_)) = request(&mut source) {
                    (&mut &stream).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
                }
            }
        });
        let modern = "POST /mcp HTTP/1.1\r\nMCP-Protocol-Version: 2026-07-28\r\nContent-Length: 29\r\n\r\n{\"method\": \"server/discover\"}\n";
        let legacy = "POST /mcp HTTP/1.1\r\nContent-Length: 24\r\n\r\n{\"method\": \"initialize\"}";
        let both = (Knows::BothEras, ["200", "200"], "`server/discover`, no revision");
        for (knows, expect, first) in [both, (Knows::LegacyOnly, ["400", "200"], "`initialize`, no revision")] {
            let tap = Tap::start(&url, knows).unwrap();
            let mut stream = TcpStream::connect(tap.url.split('/').nth(2).unwrap()).unwrap();
            for (text, status) in [modern.trim_end(), legacy].into_iter().zip(expect) {
                stream.write_all(text.as_bytes()).unwrap();
                let mut buffer = [0; 4096];
                let length = stream.read(&mut buffer).unwrap();
                let answer = String::from_utf8_lossy(&buffer[..length]);
                assert_eq!(answer.split(' ').nth(1), Some(status), "{knows:?}: {answer}");
            }
            assert_eq!(tap.heard(Path::new("/p")).heard.first, first);
        }
    }
}
