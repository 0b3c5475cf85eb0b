//! The smallest servers: they echo each line. One is this program, the other runs in Node.

use std::ffi::OsString;
use std::io::{BufRead, Write};

use crate::Outcome;

/// The argument that makes this program the server.
pub(crate) const ECHO: &str = "--echo";

/// Roughly a client's first question.
pub(crate) const QUESTION: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";

const NODE: &str = "process.stdin.on('data', chunk => process.stdout.write(chunk))";

/// Which server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Server {
    Rust,
    Node,
}

impl Server {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Server::Rust => "a server in Rust",
            Server::Node => "a server in Node",
        }
    }

    /// Its command line.
    pub(crate) fn command(self) -> Outcome<Vec<OsString>> {
        Ok(match self {
            Server::Rust => vec![std::env::current_exe()?.into(), ECHO.into()],
            Server::Node => vec!["node".into(), "-e".into(), NODE.into()],
        })
    }
}

/// Echoes each line until the end of the input.
pub(crate) fn echo() -> Outcome<()> {
    let (mut questions, mut answers) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut line = Vec::new();
    while questions.read_until(b'\n', &mut line)? > 0 {
        answers.write_all(&line)?;
        answers.flush()?;
        line.clear();
    }
    Ok(())
}
