//! Client connections: standard input and output, or sockets that another process hands over.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::PollFlags;

use super::middle::Middle;
use super::pipe::{Read, do_not_block, has_more, read, widen, write};
use super::serving::{MOST_LEFT_OF_CLIENT, MOST_WAITING, Serving, Source, State};
use crate::engine::{ChildId, ClientId, Outlet};
use rootward_protocol::frame::FrameReader;

/// How many bytes may be held for one client: messages that wait for a child or for roots, and output that it has not
/// read.
const MOST_HELD: usize = 64 << 20;
/// How long a client that has closed its end still gets answers to earlier requests.
const LAST_ANSWERS: Duration = Duration::from_mins(1);

/// One client's connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// `None` once the client has closed its end.
    input: Option<OwnedFd>,
    /// `None` once the client has stopped reading.
    pub(super) output: Option<OwnedFd>,
    reader: FrameReader,
    /// Until when a client that has closed its end still gets answers.
    closing: Option<Duration>,
}

impl Connection {
    /// The client on standard input and output.
    pub(super) fn stdio(longest: usize) -> io::Result<Connection> {
        let (input, output) =
            (rustix::stdio::stdin().try_clone_to_owned()?, rustix::stdio::stdout().try_clone_to_owned()?);
        widen(&output);
        Connection::new(input, output, longest)
    }

    /// A client behind a socket.
    pub(super) fn socket(socket: OwnedFd, longest: usize) -> io::Result<Connection> {
        let input = socket.try_clone()?;
        Connection::new(input, socket, longest)
    }

    fn new(input: OwnedFd, output: OwnedFd, longest: usize) -> io::Result<Connection> {
        do_not_block(&input)?;
        do_not_block(&output)?;
        Ok(Connection { input: Some(input), output: Some(output), reader: FrameReader::new(longest), closing: None })
    }

    /// Until when a client that has closed its end still gets answers.
    pub(super) fn closes_at(&self) -> Option<Duration> {
        self.closing
    }

    /// Writes a word to a new client. Its socket either has room for it or is gone.
    pub(super) fn say(&self, word: &[u8]) {
        if let Some(output) = &self.output {
            let _ = rustix::io::write(output, word);
        }
    }

    /// Stops reading from the client.
    pub(super) fn stop_reading(&mut self) {
        self.input = None;
    }
}

impl<M: Middle> Serving<'_, M> {
    /// Adds the connections to poll. A client is not read from while its servers are behind.
    pub(super) fn watch_connections<'p>(&'p self, watched: &mut Vec<(Source, BorrowedFd<'p>, PollFlags)>) {
        for (id, connection) in &self.connections {
            if let Some(input) = &connection.input {
                // Without flags, poll still reports a hangup; little is left in the pipe then.
                let keep_up = self.middle.most_unread(*id) < MOST_WAITING && self.middle.held_bytes(*id) < MOST_HELD;
                let flags = if keep_up { PollFlags::IN } else { PollFlags::empty() };
                watched.push((Source::Client(*id), input.as_fd(), flags));
            }
            if let Some(output) = &connection.output {
                // Without flags, poll still reports a hangup.
                let flags = if self.middle.unread(*id) == 0 { PollFlags::empty() } else { PollFlags::OUT };
                watched.push((Source::ClientWritable(*id), output.as_fd(), flags));
            }
        }
    }

    /// Whether the clients that receive a child's output keep up with it.
    pub(super) fn clients_keep_up(&self, child: ChildId) -> bool {
        let behind = |id: &ClientId| {
            let reads = self.connections.get(id).is_some_and(|connection| connection.output.is_some());
            reads && self.middle.unread(*id) >= MOST_WAITING
        };
        let mut clients = self.middle.clients_of(child);
        // A slow client must not block others that share the child.
        if clients.len() > 1 { true } else { !clients.any(|id| behind(&id)) }
    }

    pub(super) fn read_client(&mut self, id: ClientId) -> Read {
        let now = self.begun.elapsed();
        let Some(connection) = self.connections.get_mut(&id) else { return Read::End };
        let Some(input) = &connection.input else { return Read::End };
        let read = read(input, connection.reader.room());
        match read {
            Read::Later => {}
            Read::Some(_) => self.take_lines(now, id),
            Read::End => self.client_ended(now, id),
        }
        read
    }

    fn take_lines(&mut self, now: Duration, id: ClientId) {
        while let Some(connection) = self.connections.get_mut(&id) {
            let Some(line) = connection.reader.next() else { return };
            self.to_do.extend(self.middle.client_line(now, id, line));
            // Before the next line, so that audit entries stay in order with the messages.
            self.carry_out(now);
        }
    }

    /// A client has closed its end.
    fn client_ended(&mut self, now: Duration, id: ClientId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.input = None;
        connection.closing = Some(now + LAST_ANSWERS);
        if let Some(line) = connection.reader.finish() {
            self.to_do.extend(self.middle.client_line(now, id, line));
            self.carry_out(now);
        }
        self.to_do.extend(self.middle.client_closed(now, id));
        // The process that hands over sockets closes one only when nobody waits for an answer.
        if self.door.is_some() {
            self.forget(now, id);
        }
    }

    /// Reads what clients have already sent, so that it is answered before the end.
    pub(super) fn read_rest_of_clients(&mut self) {
        for id in self.connections.keys().copied().collect::<Vec<_>>() {
            for _ in 0..MOST_LEFT_OF_CLIENT {
                let input = self.connections.get(&id).and_then(|connection| connection.input.as_ref());
                if !input.is_some_and(has_more) || self.read_client(id) == Read::End {
                    break;
                }
            }
        }
    }

    /// Continues closing clients that have closed their end: closes the servers' input once they have received
    /// everything, and leaves once they have answered or time is up.
    pub(super) fn close_connections(&mut self, now: Duration) {
        if matches!(self.state, State::Leaving { .. }) {
            return;
        }
        let closing = self.connections.iter().find_map(|(id, connection)| Some((*id, connection.closing?)));
        // Only the client on standard input and output is waited for.
        let Some((id, until)) = closing else { return };
        let delivered = self.middle.is_delivered(id);
        if delivered {
            for process in self.processes.values_mut() {
                process.close();
            }
        }
        if (delivered && !self.middle.owes(id)) || now >= until {
            self.leave(now);
        }
    }

    /// Writes pending output to clients without blocking.
    pub(super) fn write_to_clients(&mut self) {
        let now = self.begun.elapsed();
        let mut gone = Vec::new();
        for (id, connection) in &mut self.connections {
            match (&connection.output, self.middle.client_outlet(*id)) {
                (Some(output), Some(outlet)) => {
                    // A client that shares a server is not waited for, and has had enough time.
                    if write(output, outlet).is_err() || outlet.waiting().len() >= MOST_HELD {
                        gone.push(*id);
                    }
                }
                (_, outlet) => outlet.into_iter().for_each(Outlet::clear),
            }
        }
        for id in gone {
            self.reads_no_more(now, id);
        }
    }

    /// A client that has stopped reading counts as gone, even if its other end is open.
    pub(super) fn reads_no_more(&mut self, now: Duration, id: ClientId) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.output = None;
        }
        match self.door {
            Some(_) => self.forget(now, id),
            None => self.leave(now),
        }
    }

    /// Removes a client that is gone and stops its servers.
    fn forget(&mut self, now: Duration, id: ClientId) {
        self.connections.remove(&id);
        self.to_do.extend(self.middle.forget(now, id));
    }
}
