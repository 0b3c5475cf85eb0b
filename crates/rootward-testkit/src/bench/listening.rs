//! A server that listens on loopback, in its own process.

use std::error::Error;
use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::client::memory_of;
use super::http::Session;
use crate::client::http::Endpoint;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The token that clients send. Servers without tokens ignore it.
pub const TOKEN: &str = "of-a-benchmark-and-of-nothing-else";

/// How long a server may take to start, and to exit.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// A running HTTP server. Dropping this ends it.
#[derive(Debug)]
pub struct Listening {
    child: Child,
    endpoint: Endpoint,
    path: &'static str,
}

impl Listening {
    /// Starts a `rootward` that listens on port 0. It prints the actual port to standard error, which goes to the file `log`.
    pub fn rootward(command: &mut Command, log: &Path) -> Outcome<Listening> {
        command.env("ROOTWARD_TOKEN", TOKEN).stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(log)?);
        let mut listening = Listening::spawned(command, "/mcp")?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let said = fs::read_to_string(log)?;
            let address = said.lines().find_map(|line| line.split_once("http://")?.1.strip_suffix("/mcp"));
            if let Some(address) = address {
                listening.endpoint.address = address.parse()?;
                return Ok(listening);
            }
            listening.wait(deadline).map_err(|why| format!("{why}: {}", said.trim()))?;
        }
    }

    /// Starts a server that listens on `address`, as its command line or configuration says.
    pub fn at(command: &mut Command, address: SocketAddr, path: &'static str) -> Outcome<Listening> {
        // An open pipe, because some servers exit at the end of standard input.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut listening = Listening::spawned(command, path)?;
        listening.endpoint.address = address;
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(address).is_err() {
            listening.wait(deadline)?;
        }
        Ok(listening)
    }

    fn spawned(command: &mut Command, path: &'static str) -> Outcome<Listening> {
        let endpoint = Endpoint { address: (Ipv4Addr::LOCALHOST, 0).into(), token: TOKEN.to_owned() };
        Ok(Listening { child: command.spawn()?, endpoint, path })
    }

    fn wait(&mut self, deadline: Instant) -> Outcome<()> {
        if let Some(status) = self.child.try_wait()? {
            return Err(format!("it exited with {status}").into());
        }
        if Instant::now() > deadline {
            return Err("it took too long to start".into());
        }
        sleep(PAUSE);
        Ok(())
    }

    /// Begins a session whose client shares `root`.
    pub fn begin(&self, root: &Path) -> Outcome<Session> {
        Ok(Session::begin(&self.endpoint, self.path, root)?)
    }

    /// The memory of the process in bytes. `measure` is the kernel's name, such as `Rss`.
    pub fn memory(&self, measure: &str) -> Outcome<u64> {
        memory_of(self.child.id(), measure)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let told = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let _ = told.map(|process| kill_process(process, Signal::TERM));
        let deadline = Instant::now() + PATIENCE;
        while self.child.try_wait().is_ok_and(|ended| ended.is_none()) && Instant::now() < deadline {
            sleep(PAUSE);
        }
        // An error means that it has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A free port.
pub fn free_port() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}
