//! The thread that waits for clients, server processes, signals and timers, and drives the engine or the hub.
//!
//! It uses `poll(2)` and nonblocking pipes, so a message needs no hop to another thread. Backpressure is end to end:
//! if one side does not read, the other side is not read from, which bounds the buffers.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rootward_core::Audit;
use rootward_sandbox::PassedSignals;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;

use super::backing::{Backing, Backings};
use super::children::told;
use super::connections::Connection;
use super::door::Door;
use super::fetching::PendingFetch;
use super::figures::Figures;
use super::middle::Middle;
use super::process::Process;
use crate::engine::{ChildId, ClientId, Effect, Event, OnRecord, Purpose, SourceWatcher};
use crate::status::StatusFile;
use crate::wrap::Operator;
use rootward_protocol::frame::ROOM;

/// How many bytes may wait for one side before the other is no longer read.
pub(super) const MOST_WAITING: usize = 1 << 20;
/// How many reads drain a client's pipe when this process is told to end; a pipe holds at most one megabyte.
pub(super) const MOST_LEFT_OF_CLIENT: usize = (1 << 20) / ROOM + 1;
/// How long the last bytes may take to reach a client that is being dropped.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How often to re-read the operator's and user's settings. A file watcher would need another thread, and a
/// multithreaded program cannot start confined servers.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The signals that end this process and its servers.
const ENDING: [Signal; 4] = [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT];

/// Whether this front is serving or shutting down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Serving,
    /// Everything is being stopped.
    Leaving {
        /// Deadline for writing the last bytes.
        until: Duration,
    },
}

pub(crate) struct Serving<'n, M> {
    pub(super) middle: M,
    /// Effects to carry out.
    pub(super) to_do: VecDeque<Effect>,
    pub(super) servers: Backings,
    audit: Option<Arc<dyn Audit>>,
    pub(super) limit: usize,
    pub(super) operator: &'n mut dyn Operator,
    /// Standard error has no room for the servers' output.
    pub(super) errors_wait: bool,
    pub(super) processes: BTreeMap<ChildId, Process>,
    /// Processes that the engine no longer uses.
    pub(super) leaving: Vec<(ChildId, Process)>,
    pub(super) connections: BTreeMap<ClientId, Connection>,
    /// The source of clients, if they come and go.
    pub(super) door: Option<Door>,
    signals: PassedSignals,
    follow: Option<Box<dyn SourceWatcher>>,
    /// When the settings were last re-read.
    looked: Duration,
    pub(super) begun: Instant,
    pub(super) state: State,
    /// Whether a process has ended since the last check.
    pub(super) some_ended: bool,
    /// The exit code, and the latest server that it came from.
    pub(super) code: (Option<ChildId>, i32),
    /// Where the running servers are reported.
    status: Option<StatusFile>,
    /// Whether the running servers changed since the last report.
    pub(super) is_news: bool,
    pub(super) figures: Figures,
}

/// What a poll result refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    Signals,
    /// The output of a fetch.
    Fetch,
    /// Another process hands over a client, or has ended.
    Door,
    Client(ClientId),
    ClientWritable(ClientId),
    Child(ChildId),
    Leaving(usize),
    Writable,
    /// A child's standard error.
    Errors(ChildId),
    /// Reports of a child's refused accesses.
    Report(ChildId),
    /// This process's own standard error has room.
    ErrorsWritable,
}

impl<'n, M: Middle> Serving<'n, M> {
    /// Serves one client on standard input and output.
    pub(crate) fn stdio(
        client: ClientId,
        parts: (M, Backings),
        audit: Option<Arc<dyn Audit>>,
        longest: usize,
        operator: &'n mut dyn Operator,
    ) -> io::Result<Serving<'n, M>> {
        let connections = BTreeMap::from([(client, Connection::stdio(longest)?)]);
        Ok(Serving { connections, ..Serving::new(parts, audit, longest, operator)? })
    }

    /// Serves the clients that come through a door.
    pub(crate) fn door(
        door: Door,
        parts: (M, Backings),
        audit: Option<Arc<dyn Audit>>,
        longest: usize,
        operator: &'n mut dyn Operator,
    ) -> io::Result<Serving<'n, M>> {
        Ok(Serving { door: Some(door), ..Serving::new(parts, audit, longest, operator)? })
    }

    fn new(
        (middle, servers): (M, Backings),
        audit: Option<Arc<dyn Audit>>,
        longest: usize,
        operator: &'n mut dyn Operator,
    ) -> io::Result<Serving<'n, M>> {
        let signals = PassedSignals::hold()?;
        Ok(Serving {
            middle,
            to_do: VecDeque::new(),
            servers,
            audit,
            limit: longest,
            operator,
            errors_wait: false,
            processes: BTreeMap::new(),
            leaving: Vec::new(),
            connections: BTreeMap::new(),
            door: None,
            signals,
            follow: None,
            looked: Duration::ZERO,
            begun: Instant::now(),
            state: State::Serving,
            some_ended: false,
            code: (None, 0),
            status: None,
            is_news: true,
            figures: Figures::default(),
        })
    }

    pub(crate) fn telling(self, status: Option<StatusFile>) -> Serving<'n, M> {
        Serving { status, ..self }
    }

    pub(crate) fn following(self, follow: Option<Box<dyn SourceWatcher>>) -> Serving<'n, M> {
        Serving { follow, ..self }
    }

    /// Serves until the client or the server is gone, or no more clients can come. Returns the exit code.
    pub(crate) fn run(mut self) -> io::Result<i32> {
        loop {
            let now = self.begun.elapsed();
            self.look_ambient(now);
            self.go_on_fetching_ambient(now);
            self.feed(now, Event::Tick);
            self.carry_out(now);
            self.write();
            self.keep_ambient(now);
            self.reap(now)?;
            self.tell_status_ambient();
            self.close_connections(now);
            if self.is_over(now) {
                // If no process had to end first, nothing was saved since the shutdown began.
                self.keep_ambient(now);
                return Ok(self.code.1);
            }
            for (source, flags) in self.wait(now)? {
                match source {
                    Source::Signals => self.take_signals(),
                    Source::Door => self.answer_the_door(now),
                    Source::Client(id) => {
                        self.read_client(id);
                    }
                    Source::Child(number) => {
                        self.read_child(number);
                    }
                    Source::Leaving(position) => self.drain(position),
                    Source::Errors(number) => self.pass_errors_on(number),
                    Source::Report(number) => {
                        self.processes.get_mut(&number).into_iter().for_each(Process::read_report);
                    }
                    Source::ErrorsWritable => self.errors_wait = false,
                    Source::ClientWritable(id) if flags.intersects(PollFlags::ERR | PollFlags::HUP) => {
                        self.reads_no_more(now, id);
                    }
                    // Handled at the top of the loop.
                    Source::Fetch | Source::ClientWritable(_) | Source::Writable => {}
                }
            }
        }
    }

    fn is_over(&self, now: Duration) -> bool {
        let State::Leaving { until } = self.state else { return false };
        let behind =
            |(id, connection): (&ClientId, &Connection)| connection.output.is_some() && self.middle.unread(*id) > 0;
        let told = now >= until || !self.connections.iter().any(behind);
        told && self.processes.is_empty() && self.leaving.is_empty()
    }

    /// Passes an event to the engine.
    pub(super) fn feed(&mut self, now: Duration, event: Event<'_>) {
        self.to_do.extend(self.middle.step(now, event));
    }

    /// Carries out the engine's effects. Must run before anything is written, so that audit entries come first.
    pub(super) fn carry_out(&mut self, now: Duration) {
        while let Some(effect) = self.to_do.pop_front() {
            match effect {
                Effect::Start(number, guard, purpose) => self.start(now, number, &guard, purpose),
                Effect::End(number) if self.stops_waiting(number) => self.feed(now, Event::Gone(number)),
                Effect::End(number) => {
                    if let Some(mut process) = self.processes.remove(&number) {
                        self.is_news = true;
                        process.end(now);
                        self.leaving.push((number, process));
                    }
                }
                Effect::Kill(number) => {
                    for (_, process) in self.leaving.iter_mut().filter(|(leaving, _)| *leaving == number) {
                        process.end_at_once();
                    }
                }
                Effect::Leave(_) => self.leave(now),
                Effect::Say(text) => self.operator.says(&text),
                Effect::Place(whose, placing) => self.feed(now, Event::Placed(whose, placing.run_ambient())),
                Effect::Record(session, message, mut entries) => {
                    let process = entries.child.and_then(|child| self.processes.get(&child)).map(Process::id);
                    entries.events.iter_mut().for_each(|event| event.process = process);
                    self.figures.decided(&entries.events);
                    let kept = |event| self.audit.as_ref().is_none_or(|audit| audit.record(event).is_ok());
                    let on_record = if entries.events.iter().all(kept) { OnRecord::Yes } else { OnRecord::No };
                    self.feed(now, Event::Recorded(session, message, on_record));
                }
                Effect::Remember(server) => {
                    self.servers.get_mut(&server).into_iter().for_each(|server| server.to_keep = true);
                }
            }
        }
    }

    /// Stops everything, in order.
    pub(super) fn leave(&mut self, now: Duration) {
        if matches!(self.state, State::Leaving { .. }) {
            return;
        }
        self.state = State::Leaving { until: now + LAST_WORDS };
        self.connections.values_mut().for_each(Connection::stop_reading);
        self.door = None;
        // Dropping a fetch kills its process.
        self.servers.values_mut().for_each(|server| server.coming = None);
        for id in self.connections.keys() {
            self.to_do.extend(self.middle.left(now, *id));
        }
        for process in self.processes.values_mut() {
            process.end(now);
        }
    }

    /// Writes pending bytes without blocking.
    fn write(&mut self) {
        self.write_to_clients();
        let now = self.begun.elapsed();
        for (number, process) in &mut self.processes {
            if let Some(outlet) = self.middle.child_outlet(*number) {
                process.write(now, outlet);
            }
            let answers = process.translated.answers(now);
            self.to_do.extend(told(&mut self.middle, now, *number, &answers));
        }
    }

    /// Waits until something happens. Returns the ready sources.
    fn wait(&self, now: Duration) -> io::Result<Vec<(Source, PollFlags)>> {
        let watched = self.watched();
        let mut polled: Vec<PollFd<'_>> =
            watched.iter().map(|(_, pipe, flags)| PollFd::from_borrowed_fd(*pipe, *flags)).collect();
        let fetches = self.servers.values().map(|server| server.coming.as_ref().map(|it| now + it.wakes_within()));
        let due = [self.middle.wakes_at(), self.looks_at()]
            .into_iter()
            .chain(fetches)
            .chain(self.servers.values().map(Backing::keeps_at))
            .chain(self.ends().map(Process::wakes_at))
            .chain(self.connections.values().map(|connection| connection.closes_at().filter(|until| *until > now)))
            .flatten()
            .min();
        let due = if self.to_do.is_empty() { due } else { Some(now) };
        let due = match self.state {
            // After the deadline, only the exits of processes matter.
            State::Leaving { until } if until > now => Some(due.map_or(until, |due| due.min(until))),
            _ => due,
        };
        let timeout = due.map(|due| Timespec::try_from(due.saturating_sub(now) + ROUNDED_UP)).transpose();
        match poll(&mut polled, timeout.map_err(io::Error::other)?.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let happened = polled.iter().zip(&watched).filter(|(polled, _)| !polled.revents().is_empty());
        Ok(happened.map(|(polled, (source, ..))| (*source, polled.revents())).collect())
    }

    /// When to re-read the settings.
    fn looks_at(&self) -> Option<Duration> {
        let looks = self.follow.is_some() || self.middle.looks();
        (looks && self.state == State::Serving).then(|| self.looked + LOOK_EVERY)
    }

    /// Re-reads the settings, if it is time.
    fn look_ambient(&mut self, now: Duration) {
        if self.looks_at().is_none_or(|due| due > now) {
            return;
        }
        if let Some(given) = self.follow.as_mut().and_then(|follow| follow.look_ambient()) {
            self.to_do.extend(self.middle.give(now, given));
        }
        let (servers, effects) = self.middle.look_ambient(now);
        self.servers.extend(servers);
        self.to_do.extend(effects);
        // Measured from the end, so that a slow check does not run all the time.
        self.looked = self.begun.elapsed();
    }

    /// Saves the servers' memories, if it is time.
    fn keep_ambient(&mut self, now: Duration) {
        let leaving = matches!(self.state, State::Leaving { .. });
        for (id, server) in &mut self.servers {
            if server.keeps_at().is_some_and(|due| due <= now || leaving) {
                server.keep_ambient(now, self.middle.memory(*id));
            }
        }
    }

    /// Updates the status file, if the running servers changed.
    fn tell_status_ambient(&mut self) {
        if !std::mem::take(&mut self.is_news) {
            return;
        }
        let serving = self.processes.iter().filter(|(_, process)| process.purpose() != Purpose::Learn);
        let servers = serving.filter_map(|(child, process)| Some(process.told(self.middle.name_of(*child)?)));
        let servers = servers.collect();
        if let Some(status) = &mut self.status {
            status.tell_ambient(servers);
        }
    }

    /// The descriptors to poll. A peer is not read from while its counterpart is behind.
    fn watched(&self) -> Vec<(Source, BorrowedFd<'_>, PollFlags)> {
        let mut watched = vec![(Source::Signals, self.signals.as_fd(), PollFlags::IN)];
        let fetches = self.servers.values().filter_map(|server| server.coming.as_ref().and_then(PendingFetch::output));
        watched.extend(fetches.map(|output| (Source::Fetch, output, PollFlags::IN)));
        watched.extend(self.door.iter().map(|door| (Source::Door, door.as_fd(), PollFlags::IN)));
        self.watch_connections(&mut watched);
        for (number, process) in &self.processes {
            if let (Some(output), true) = (&process.output, self.clients_keep_up(*number)) {
                watched.push((Source::Child(*number), output.as_fd(), PollFlags::IN));
            }
            let waits = self.middle.unread_by(*number) > 0 || !process.translated.is_written();
            if let (Some(input), true) = (process.input(), waits) {
                watched.push((Source::Writable, input.as_fd(), PollFlags::OUT));
            }
        }
        for (position, (_, process)) in self.leaving.iter().enumerate() {
            if let Some(output) = &process.output {
                watched.push((Source::Leaving(position), output.as_fd(), PollFlags::IN));
            }
        }
        self.watch_errors(&mut watched);
        watched
    }

    fn take_signals(&mut self) {
        while let Some(number) = self.signals.take() {
            if ENDING.iter().any(|signal| signal.as_raw() == number) {
                self.told_to_end(number);
            } else if number == Signal::CHILD.as_raw() {
                self.some_ended = true;
            } else {
                for process in self.processes.values() {
                    process.signal(number);
                }
            }
        }
    }

    fn told_to_end(&mut self, number: i32) {
        // The HTTP process finishes running requests, then exits. A second signal does not wait for that.
        if self.door.as_mut().is_some_and(Door::close) {
            return;
        }
        if self.door.is_none() {
            self.code.1 = 128 + number;
        }
        // Answer what clients have already sent.
        self.read_rest_of_clients();
        let now = self.begun.elapsed();
        for process in self.processes.values_mut() {
            process.ask(now, number);
        }
        self.leave(now);
    }
}

/// Added to a timeout, because a wait that ends slightly early would find nothing due and wait again.
const ROUNDED_UP: Duration = Duration::from_micros(50);
