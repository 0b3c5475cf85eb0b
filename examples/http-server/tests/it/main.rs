//! Tests the binary over a socket. `cargo xtask peers` tests it with real clients.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use rootward_testkit::client::Listening;

struct Server(Listening);

impl Server {
    fn start() -> Server {
        Server(Listening::start(Command::new(env!("CARGO_BIN_EXE_http-server")).arg("127.0.0.1:0")).unwrap())
    }

    /// The status of the response to an `initialize` request with these headers.
    fn status(&self, headers: &str) -> String {
        let body = concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
            r#""capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
        );
        let mut socket = TcpStream::connect(self.0.address).unwrap();
        let accept = "content-type: application/json\r\naccept: application/json, text/event-stream";
        let length = body.len();
        write!(socket, "POST /mcp HTTP/1.1\r\n{headers}\r\n{accept}\r\ncontent-length: {length}\r\n\r\n{body}")
            .unwrap();
        let mut status = [0; 12];
        socket.read_exact(&mut status).unwrap();
        String::from_utf8(status.to_vec()).unwrap()
    }
}

#[test]
fn pages_in_a_browser_are_refused() {
    let server = Server::start();
    let check = |headers: &str, status: &str| assert_eq!(server.status(headers), status, "{headers}");
    check("host: localhost", "HTTP/1.1 200");
    check(&format!("host: {}", server.0.address), "HTTP/1.1 200");
    check("host: localhost\r\norigin: https://example.com", "HTTP/1.1 403");
    check("host: localhost\r\norigin: http://localhost", "HTTP/1.1 403");
    // DNS rebinding: another name that resolves to this machine.
    check("host: example.com", "HTTP/1.1 403");
}

#[test]
fn listens_on_this_machine_only() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_http-server"));
    let output = program.arg("0.0.0.0:0").output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && message.contains("`0.0.0.0:0` is not a loopback address"), "{message}");
}
