//! `rootward hub --http`: the HTTP front in a process of its own that can open no file, and the hub behind its door.
//!
//! ```text
//!   network ──▶ front: TLS, tokens, sessions, streams ──door──▶ hub: roots, decisions, servers
//!               can open no file, start nothing                 reads nothing from the network
//! ```

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use bytes::{Buf, Bytes};
use rootward_http::{Backend, OpenError, PrincipalId, Purpose, Wire, wire};
use rootward_hub::Principal;
use rootward_hub::hub::{Caller, CallerPurpose, ConfiguredHub, NO_ROOM_LINE, OuterDoor};
use rootward_hub::wrap::Operator;
use rootward_sandbox::{SealedProcess, seal, spawn_sealed};
use rustix::io::Errno;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::time::timeout;

use super::line_socket::{FromHub, ToHub, split};
use crate::Outcome;
use crate::http::{Front, Http, Threads};

/// How many messages a wire holds in each direction.
const MOST_MESSAGES: usize = 16;
/// How long the hub may take to report its metrics. If it takes longer, it is not ready.
const FIGURES_WITHIN: Duration = Duration::from_secs(2);
/// The maximum size of these metrics.
const LONGEST_FIGURES: u64 = 1 << 20;
/// How long to wait at a full door before the next try.
const FULL_DOOR: Duration = Duration::from_millis(1);

/// Serves all principals over HTTP; returns the exit code.
pub(super) fn run(hub: ConfiguredHub, http: Http, operator: &mut dyn Operator) -> Result<i32> {
    let principals = http.principals.iter().map(|principal| Principal {
        name: principal.name.as_str().into(),
        ceiling: principal.ceiling.set.clone(),
        servers: principal.servers.as_ref().map(|servers| servers.iter().cloned().collect()),
    });
    let principals = principals.collect();
    let begin = |door: OuterDoor| -> Result<SealedProcess> {
        let (listener, front) = http.open();
        let (read, mut write) = io::pipe()?;
        let process = spawn_sealed(&[VERB], vec![door.into(), listener, read.into()]);
        let process = process.context("the process that reads from the network cannot be started")?;
        // Through a pipe: others can read the arguments, and this contains tokens.
        write.write_all(&front.to_bytes()?).context("the process that reads from the network has ended")?;
        Ok(process)
    };
    hub.run_behind(principals, begin, operator)
}

/// The first word that turns this program into that process. It is handled before the command line is parsed, so that
/// neither help nor completions show it.
const VERB: &str = "__front";

/// Reads from the network on behalf of a hub.
#[derive(Debug)]
pub(crate) struct FrontProcess {
    /// The inherited descriptors.
    numbers: Vec<RawFd>,
}

impl FrontProcess {
    /// The front, if this process was started as one.
    pub(crate) fn asked_for(words: impl IntoIterator<Item = OsString>) -> Option<FrontProcess> {
        let mut words = words.into_iter().skip(1);
        words.next().filter(|word| word == VERB)?;
        // Without numbers, the process ends at once.
        let numbers = words.map(|word| word.to_str()?.parse().ok()).collect::<Option<_>>().unwrap_or_default();
        Some(FrontProcess { numbers })
    }

    pub(crate) fn run(self) -> Result<Outcome> {
        // This comes first: what follows reads from the network.
        let given = seal(&self.numbers)?;
        let [door, listener, handed] = <[OwnedFd; 3]>::try_from(given).map_err(|_| anyhow!("not started by a hub"))?;
        let mut bytes = Vec::new();
        File::from(handed).read_to_end(&mut bytes)?;
        Front::from_bytes(&bytes)?.run(listener, Behind(door.into()), Threads::One).map(|()| Outcome::Done)
    }
}

/// The hub behind its door.
#[derive(Debug)]
struct Behind(OuterDoor);

impl Behind {
    /// Passes one end of a socket to the hub; returns the other end.
    async fn hand_over(&self, caller: Caller) -> io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        // Many arrive at the door at once; a full door means that the hub is busy, not gone.
        while let Err(error) = self.0.hand_over(caller, theirs.as_fd()) {
            if error.kind() != io::ErrorKind::WouldBlock {
                return Err(error);
            }
            tokio::time::sleep(FULL_DOOR).await;
        }
        Ok(ours)
    }

    async fn figures(&self) -> io::Result<String> {
        let caller = Caller { principal: 0, purpose: CallerPurpose::Figures };
        let mut told = String::new();
        let (from_hub, _to_hub) = split(self.hand_over(caller).await?)?;
        from_hub.take(LONGEST_FIGURES).read_to_string(&mut told).await?;
        Ok(told)
    }
}

impl Backend for Behind {
    async fn open(&self, principal: PrincipalId, purpose: Purpose) -> Result<Wire, OpenError> {
        let purpose = match purpose {
            Purpose::Session => CallerPurpose::Session,
            Purpose::Request => CallerPurpose::Request,
        };
        let handed = self.hand_over(Caller { principal: principal.0, purpose }).await;
        let socket = handed
            .and_then(split)
            .map_err(|error| if is_for_lack_of_room(&error) { OpenError::Full } else { OpenError::Gone })?;
        let (front, back) = wire(MOST_MESSAGES);
        tokio::spawn(carry(socket, back));
        Ok(front)
    }

    async fn metrics(&self) -> String {
        timeout(FIGURES_WITHIN, self.figures()).await.map_or_else(|_| String::new(), Result::unwrap_or_default)
    }

    async fn is_ready(&self) -> bool {
        timeout(FIGURES_WITHIN, self.figures()).await.is_ok_and(|told| told.is_ok_and(|told| !told.is_empty()))
    }
}

/// Whether the system currently has no room for another socket.
fn is_for_lack_of_room(error: &io::Error) -> bool {
    let full = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::TOOMANYREFS];
    full.iter().any(|full| error.raw_os_error() == Some(full.raw_os_error()))
}

/// Carries messages between a wire and the hub until one of them ends.
async fn carry((from_hub, to_hub): (FromHub, ToHub), wire: Wire) {
    let Wire { sender, mut receiver } = wire;
    let writing = async move {
        while let Some(message) = receiver.recv().await {
            let line = on_one_line(message).chain(&b"\n"[..]);
            if to_hub.write_all(line).await.is_err() {
                // The hub has closed its end; read what it sent before that.
                return std::future::pending().await;
            }
        }
    };
    let reading = async move {
        let mut read = BufReader::new(from_hub);
        let mut line = Vec::new();
        while read.read_until(b'\n', &mut line).await.is_ok_and(|length| length > 0) {
            if line == NO_ROOM_LINE {
                let _ = sender.send(Bytes::from_static(rootward_http::NO_ROOM)).await;
                break;
            }
            if line.pop_if(|last| *last == b'\n').is_none()
                || sender.send(std::mem::take(&mut line).into()).await.is_err()
            {
                break;
            }
        }
    };
    tokio::select! {
        () = writing => {}
        () = reading => {}
    }
}

/// A message on a single line.
// SECURITY: a client may write one message on several lines, and each would be taken for a message of its own
// (test: a_message_stays_one_line)
fn on_one_line(message: Bytes) -> Bytes {
    if !message.iter().any(|byte| is_line_break(*byte)) {
        return message;
    }
    // In JSON, a line break is whitespace between tokens; inside a string it is escaped.
    message.iter().map(|byte| if is_line_break(*byte) { b' ' } else { *byte }).collect::<Vec<_>>().into()
}

fn is_line_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_one_line() {
        let check = |text: &'static str, expect: &str| assert_eq!(on_one_line(Bytes::from(text)), expect);
        check("{\"a\":\n 1,\r\n\"b\": \"c\\n\"}\n", "{\"a\":  1,  \"b\": \"c\\n\"} ");
        check("{}", "{}");
    }
}
