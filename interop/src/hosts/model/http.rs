//! A minimal HTTP server for the scripted model: one request per connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

/// Read timeout for a request.
const PATIENCE: Duration = Duration::from_mins(1);

/// The maximum length of a body. A host sends its whole conversation.
const LONGEST: u64 = 64 << 20;

/// The parts of a request that the model reads.
#[derive(Debug)]
pub(super) struct Request {
    /// Without the query.
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// An answer with status 200.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) kind: &'static str,
    pub(super) body: String,
}

/// Answers each request in its own thread, until the program ends.
pub(super) fn serve(listener: TcpListener, answer: impl Fn(&Request) -> Response + Send + Sync + 'static) {
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || {
                // If a host hangs up, its call has no outcome, and that fails the test.
                let _ = exchange(&stream, &*answer);
            });
        }
    });
}

fn exchange(mut stream: &TcpStream, answer: &impl Fn(&Request) -> Response) -> Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let request = read(&mut BufReader::new(stream))?;
    let Response { kind, body } = answer(&request);
    let length = body.len();
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n")?;
    stream.write_all(body.as_bytes())?;
    stream.flush()?;
    Ok(())
}

fn read(source: &mut impl BufRead) -> Result<Request> {
    let first = line(source)?;
    let target = first.split(' ').nth(1).context("no target in the request")?;
    let path = target.split('?').next().unwrap_or(target).to_owned();
    let (mut length, mut chunked) = (0, false);
    loop {
        let header = line(source)?.to_ascii_lowercase();
        match header.split_once(':').map(|(name, value)| (name.trim(), value.trim())) {
            Some(("content-length", value)) => length = value.parse().context("`content-length` is not a number")?,
            Some(("transfer-encoding", value)) => chunked = value.contains("chunked"),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = Vec::new();
    if chunked {
        while let size @ 1.. = u64::from_str_radix(&line(source)?, 16).context("the size of a chunk is not a number")? {
            take(source, size, &mut body)?;
            line(source)?;
        }
        line(source)?;
    } else {
        take(source, length, &mut body)?;
    }
    Ok(Request { path, body })
}

fn line(source: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    source.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn take(source: &mut impl BufRead, size: u64, body: &mut Vec<u8>) -> Result<()> {
    ensure!(body.len() as u64 + size <= LONGEST, "the body is longer than {LONGEST} bytes");
    source.take(size).read_to_end(body)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_read_whole_or_in_chunks() {
        let check = |text: &str, path: &str, body: &str| {
            let request = read(&mut text.as_bytes()).unwrap();
            assert_eq!((request.path.as_str(), request.body.as_slice()), (path, body.as_bytes()), "{text}");
        };
        check("GET /v1/models?page=1 HTTP/1.1\r\nHost: a\r\n\r\n", "/v1/models", "");
        check("POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}more", "/a", "{}");
        check("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n", "/a", "{}");
        assert!(read(&mut "\r\n".as_bytes()).is_err());
        assert!(read(&mut "POST /a HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n".as_bytes()).is_err());
    }
}
