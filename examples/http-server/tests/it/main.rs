//! The binary, spoken to over a socket; `cargo xtask peers` puts real clients to it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start() -> Server {
        let mut program = Command::new(env!("CARGO_BIN_EXE_http-server"));
        let mut child = program.arg("127.0.0.1:0").stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address =
            line.trim().strip_prefix("listening on http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
        Server { child, address }
    }

    /// The status of an `initialize` that comes with these headers.
    fn status(&self, headers: &str) -> String {
        let body = concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
            r#""capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
        );
        let mut socket = TcpStream::connect(&self.address).unwrap();
        let accept = "content-type: application/json\r\naccept: application/json, text/event-stream";
        let length = body.len();
        write!(socket, "POST /mcp HTTP/1.1\r\n{headers}\r\n{accept}\r\ncontent-length: {length}\r\n\r\n{body}")
            .unwrap();
        let mut status = [0; 12];
        socket.read_exact(&mut status).unwrap();
        String::from_utf8(status.to_vec()).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn pages_in_a_browser_are_refused() {
    let server = Server::start();
    let check = |headers: &str, status: &str| assert_eq!(server.status(headers), status, "{headers}");
    check("host: localhost", "HTTP/1.1 200");
    check(&format!("host: {}", server.address), "HTTP/1.1 200");
    check("host: localhost\r\norigin: https://example.com", "HTTP/1.1 403");
    check("host: localhost\r\norigin: http://localhost", "HTTP/1.1 403");
    // A name that was made to point here.
    check("host: example.com", "HTTP/1.1 403");
}

#[test]
fn listens_on_this_machine_only() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_http-server"));
    let output = program.arg("0.0.0.0:0").output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && message.contains("`0.0.0.0:0` is not a loopback address"), "{message}");
}
