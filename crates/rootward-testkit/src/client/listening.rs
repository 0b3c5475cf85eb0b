//! An HTTP server that prints its address.

use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::PATIENCE;
use super::http::Endpoint;

/// A running HTTP server. Dropping this kills it.
#[derive(Debug)]
pub struct Listening {
    /// The process; its output pipes are taken.
    pub child: Child,
    /// The URL that it printed.
    pub url: String,
    /// The address in that URL.
    pub address: SocketAddr,
    said: Arc<Mutex<Vec<String>>>,
}

impl Listening {
    /// Starts a program and waits until it prints `listening on http://ADDRESS/mcp` to standard output or error.
    pub fn start(command: &mut Command) -> io::Result<Listening> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.map_err(|error| io::Error::other(format!("cannot start {command:?}: {error}")))?;
        let mut listening = Listening { child, url: String::new(), address: ([0; 4], 0).into(), said: Arc::default() };
        let (sender, lines) = channel();
        let stdout = listening.child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        let stderr = listening.child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        for pipe in stdout.into_iter().chain(stderr) {
            let (sender, said) = (sender.clone(), Arc::clone(&listening.said));
            // Reads to the end, so that the program never blocks on a full pipe.
            thread::spawn(move || {
                for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                    said.lock().unwrap_or_else(PoisonError::into_inner).push(line.clone());
                    let _ = sender.send(line);
                }
            });
        }
        drop(sender);
        while let Ok(line) = lines.recv_timeout(PATIENCE) {
            let Some(url) = line.strip_prefix("listening on ") else { continue };
            let address = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
            let address = address.and_then(|address| address.parse().ok());
            listening.address = address.ok_or_else(|| io::Error::other(format!("not an address: `{line}`")))?;
            url.clone_into(&mut listening.url);
            return Ok(listening);
        }
        Err(io::Error::other(format!("{command:?} did not print where it listens, but:\n{}", listening.said())))
    }

    /// All lines that it has printed so far.
    pub fn said(&self) -> String {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    /// The endpoint for a client with this token.
    pub fn endpoint(&self, token: &str) -> Endpoint {
        Endpoint { address: self.address, token: token.to_owned() }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // Fails only if the process has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(script: &str) -> io::Result<Listening> {
        Listening::start(Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn the_address_is_found_on_either_stream() {
        for stream in [1, 2] {
            let line = "listening on http://127.0.0.1:8080/mcp";
            let listening = start(&format!("echo hello; echo {line} >&{stream}; exec sleep 600")).unwrap();
            assert_eq!((&*listening.url, listening.address.port()), ("http://127.0.0.1:8080/mcp", 8080));
        }
    }

    #[test]
    fn a_program_that_does_not_listen_is_quoted() {
        let message = |script: &str| start(script).unwrap_err().to_string();
        assert!(message("echo no port is free >&2").ends_with("but:\nno port is free"));
        assert_eq!(message("echo listening on a hill"), "not an address: `listening on a hill`");
    }
}
