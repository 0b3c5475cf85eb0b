//! A remote server on this process's own standard input and output.
//!
//! Two threads read and write, because async I/O on a pipe needs a hop to a thread for every message anyway.

use std::io::{self, Read, Write};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use rootward_protocol::frame::{FrameReader, Line};
use rootward_protocol::message;
use thiserror::Error;
use tokio::sync::mpsc;

use super::LONGEST;
use super::http_client::SetupError;
use super::relay::{Ended, relay};
use super::session::Says;
use super::target::Target;
use crate::wire;

/// How many messages may wait, each way.
const MOST_WAITING: usize = 64;
/// How long the last messages may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// Why nothing could be relayed.
#[derive(Debug, Error)]
pub enum RunError {
    /// A thread or the runtime could not be started.
    #[error("cannot start: {0}")]
    Start(#[from] io::Error),
    /// No connection is possible at all.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// Relays between standard input and output and a remote server, until one of them ends.
pub fn run_stdio(target: Target, says: Says) -> Result<Ended, RunError> {
    let (client, server) = wire(MOST_WAITING);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // A weak reference, so that the output ends with the relay.
    let back = server.sender.downgrade();
    thread::Builder::new().name("input".to_owned()).spawn(move || read(&client.sender, &back))?;
    let receiver = client.receiver;
    let (is_written, written) = std::sync::mpsc::channel::<()>();
    thread::Builder::new().name("output".to_owned()).spawn(move || {
        write(receiver);
        drop(is_written);
    })?;
    let ended = runtime.block_on(relay(target, server, says));
    runtime.shutdown_background();
    // Do not wait for a client that has stopped reading.
    let _ = written.recv_timeout(LAST_WORDS);
    Ok(ended?)
}

/// Reads lines until standard input ends.
fn read(to: &mpsc::Sender<Bytes>, back: &mpsc::WeakSender<Bytes>) {
    let mut input = io::stdin().lock();
    let mut reader = FrameReader::new(LONGEST);
    let mut chunk = vec![0; CHUNK];
    loop {
        match input.read(&mut chunk) {
            Ok(0) => return,
            Ok(length) => reader.add(&chunk[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        }
        while let Some(line) = reader.next() {
            let sent = match line {
                Line::Frame(line) => to.blocking_send(Bytes::copy_from_slice(line)).is_ok(),
                Line::TooLong(long) => match message::too_long(&long, LONGEST) {
                    Some(answer) => back.upgrade().is_some_and(|back| back.blocking_send(answer.into()).is_ok()),
                    None => true,
                },
            };
            if !sent {
                return;
            }
        }
    }
}

/// Writes lines until there are no more, or nobody reads them.
fn write(mut from: mpsc::Receiver<Bytes>) {
    let mut output = io::stdout().lock();
    while let Some(line) = from.blocking_recv() {
        if output.write_all(&line).and_then(|()| output.write_all(b"\n")).and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}
