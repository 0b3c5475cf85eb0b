//! A web page on this machine, for a server that fetches pages.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use anyhow::{Context, Result};

/// The text of the page.
pub(super) const PAGE: &str = "a page on this machine";

/// Serves the page for as long as this process lives. Returns its address.
pub(super) fn serve() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen on this machine")?;
    let url = format!("http://{}/page", listener.local_addr()?);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // An error means that the client hung up and does not want the page.
            thread::spawn(move || answer(stream));
        }
    });
    Ok(url)
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let (status, body) = match request.split(' ').nth(1) {
        Some("/page") => ("200 OK", PAGE),
        // No `robots.txt` means that everything is allowed.
        _ => ("404 Not Found", ""),
    };
    let length = body.len();
    // Plain text: the library that parses HTML would reinstall itself if it could write to its own directory.
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}
