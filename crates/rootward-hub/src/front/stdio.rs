//! One client on standard input and output: a thread that waits for the client, the server's processes, signals and time, and feeds the engine.
//!
//! Everything goes through `poll(2)` and pipes that do not block, so that a message costs no hop to another thread. Whoever does not
//! read holds up whoever writes, end to end: what waits for one side is bounded by not reading from the other.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rootward_core::{Audit, Guard};
use rootward_sandbox::{ConfinementError, PassedSignals, Permit, ProgramError, Refused, StartError, Trace};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;

use super::errors::drain_errors;
use super::fetching::Coming;
use super::keeping::Keeping;
use super::launch::{Knowledge, Launch, Start};
use super::pipe::{Read, do_not_block, has_more, read, widen, write};
use super::process::Process;
use crate::engine::{
    ChildId, Effect, Engine, Event, Failure, Hope, Lookout, OnRecord, Outlet, Purpose, ServerId, Session, SessionId,
};
use crate::wrap::Operator;
use rootward_protocol::frame::{FrameReader, ROOM};

/// How much may wait for one side before the other is not read any more.
const MOST_WAITING: usize = 1 << 20;
/// How much may be held because of what the client sends: what waits for a child or for roots, and what it has not read.
const MOST_HELD: usize = 64 << 20;
/// How long the last bytes may take to reach a client that is being left.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How long a client that has closed its end waits for what it asked before.
const LAST_ANSWERS: Duration = Duration::from_mins(1);
/// How often is read what a server that has ended has left in its output; a pipe has room for a megabyte at the most.
const MOST_LEFT: usize = (1 << 20) / ROOM + 1;

/// How often is looked what the operator and the user give. Nothing wakes this thread for it: a watch would take another one, and a
/// program with two cannot start confined servers.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// How often the memory of a server is written at the most.
const KEEP_EVERY: Duration = Duration::from_secs(2);

/// The signals that end this process, and with it the server.
const ENDING: [Signal; 4] = [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT];

/// What this front is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Serving,
    /// The client has closed its end: what it asked is still answered.
    Closing {
        /// Until when.
        until: Duration,
    },
    /// Everything is being ended.
    Leaving {
        /// Until when the last bytes are written.
        until: Duration,
    },
}

/// The front.
pub(crate) struct Stdio<'n> {
    engine: Engine,
    /// The one session.
    session: SessionId,
    /// What the engine wants done.
    to_do: VecDeque<Effect>,
    launch: Launch,
    keeping: Keeping,
    /// The server whose memory is to be written.
    to_keep: Option<ServerId>,
    /// When it was last written.
    kept: Duration,
    audit: Option<Arc<dyn Audit>>,
    /// What the first start found out about the command.
    pub(super) knowledge: Knowledge,
    /// The package that starts wait for.
    pub(super) coming: Option<Coming>,
    limit: usize,
    pub(super) operator: &'n mut dyn Operator,
    /// Standard error has no room for what servers say.
    pub(super) errors_wait: bool,
    pub(super) processes: BTreeMap<ChildId, Process>,
    /// Processes that the engine has done with.
    pub(super) leaving: Vec<(ChildId, Process)>,
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
    reader: FrameReader,
    signals: PassedSignals,
    follow: Option<Box<dyn Lookout>>,
    /// When was last looked what is given.
    looked: Duration,
    begun: Instant,
    state: State,
    /// Whether a process has ended since they were last looked at.
    some_ended: bool,
    /// The exit code, and the server whose it is: that of the last one.
    code: (Option<ChildId>, i32),
}

/// What a wait was for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    Signals,
    /// What a fetch says.
    Fetch,
    Client,
    ClientWritable,
    Child(ChildId),
    Leaving(usize),
    Writable,
    /// A child's standard error.
    Errors(ChildId),
    /// What tells of a child's refused places.
    Report(ChildId),
    /// This process's own standard error has room.
    ErrorsWritable,
}

impl<'n> Stdio<'n> {
    pub(crate) fn new(
        (engine, session): (Engine, SessionId),
        (launch, keeping): (Launch, Keeping),
        audit: Option<Arc<dyn Audit>>,
        longest: usize,
        operator: &'n mut dyn Operator,
    ) -> io::Result<Stdio<'n>> {
        let signals = PassedSignals::hold()?;
        let (input, output) =
            (rustix::stdio::stdin().try_clone_to_owned()?, rustix::stdio::stdout().try_clone_to_owned()?);
        do_not_block(&input)?;
        do_not_block(&output)?;
        widen(&output);
        Ok(Stdio {
            engine,
            session,
            to_do: VecDeque::new(),
            launch,
            keeping,
            to_keep: None,
            kept: Duration::ZERO,
            audit,
            knowledge: Knowledge::default(),
            coming: None,
            limit: longest,
            operator,
            errors_wait: false,
            processes: BTreeMap::new(),
            leaving: Vec::new(),
            input: Some(input),
            output: Some(output),
            reader: FrameReader::new(longest),
            signals,
            follow: None,
            looked: Duration::ZERO,
            begun: Instant::now(),
            state: State::Serving,
            some_ended: false,
            code: (None, 0),
        })
    }

    pub(crate) fn following(self, follow: Option<Box<dyn Lookout>>) -> Stdio<'n> {
        Stdio { follow, ..self }
    }

    /// Stdios until the client or the server is gone; the exit code.
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
            self.close(now);
            if self.is_over(now) {
                return Ok(self.code.1);
            }
            for (source, flags) in self.wait(now)? {
                match source {
                    Source::Signals => self.take_signals(),
                    Source::Client => {
                        self.read_client();
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
                    // A client that reads no more is gone, whatever else it has open.
                    Source::ClientWritable if flags.intersects(PollFlags::ERR | PollFlags::HUP) => {
                        self.output = None;
                        self.leave(now);
                    }
                    // Read and written at the top.
                    Source::Fetch | Source::ClientWritable | Source::Writable => {}
                }
            }
        }
    }

    fn is_over(&self, now: Duration) -> bool {
        let State::Leaving { until } = self.state else { return false };
        let told = self.output.is_none() || self.unread() == 0 || now >= until;
        told && self.processes.is_empty() && self.leaving.is_empty()
    }

    /// Tells the engine of an event.
    pub(super) fn feed(&mut self, now: Duration, event: Event<'_>) {
        self.to_do.extend(self.engine.step(now, event));
    }

    fn session(&self) -> Option<&Session> {
        self.engine.session(self.session)
    }

    /// How much the client has not read.
    fn unread(&self) -> usize {
        self.session().map_or(0, Session::unread_bytes)
    }

    /// Does what the engine wants done. Before anything is written: what goes on record goes there first.
    fn carry_out(&mut self, now: Duration) {
        while let Some(effect) = self.to_do.pop_front() {
            match effect {
                Effect::Start(number, guard, purpose) => self.start(now, number, &guard, purpose),
                Effect::End(number) if self.stops_waiting(number) => self.feed(now, Event::Gone(number)),
                Effect::End(number) => {
                    if let Some(mut process) = self.processes.remove(&number) {
                        process.end(now);
                        self.leaving.push((number, process));
                    }
                }
                Effect::Kill(number) => {
                    for (_, process) in self.leaving.iter_mut().filter(|(leaving, _)| *leaving == number) {
                        process.end_at_once();
                    }
                }
                Effect::Leave(session) if session == self.session => self.leave(now),
                Effect::Leave(_) => {}
                Effect::Say(text) => self.operator.says(&text),
                Effect::Place(whose, placing) => self.feed(now, Event::Placed(whose, placing.run_ambient())),
                Effect::Record(session, message, mut entries) => {
                    let process = entries.child.and_then(|child| self.processes.get(&child)).map(Process::id);
                    entries.events.iter_mut().for_each(|event| event.process = process);
                    let kept = |event| self.audit.as_ref().is_none_or(|audit| audit.record(event).is_ok());
                    let on_record = if entries.events.iter().all(kept) { OnRecord::Yes } else { OnRecord::No };
                    self.feed(now, Event::Recorded(session, message, on_record));
                }
                Effect::Remember(server) => self.to_keep = Some(server),
            }
        }
    }

    pub(super) fn start(&mut self, now: Duration, number: ChildId, guard: &Guard, purpose: Purpose) {
        if matches!(self.state, State::Leaving { .. }) {
            return self.feed(now, Event::NotStarted(number, &Failure::new("the session ends"), Hope::OtherRoots));
        }
        // SECURITY: a child that the engine has let go meanwhile was meant for roots that are not in force any more
        // (test: a_child_that_was_let_go_is_not_wanted)
        if !self.session().is_some_and(|session| session.wants(number)) {
            return self.feed(now, Event::Gone(number));
        }
        let trace = self.launch.trace_of(purpose);
        match self.launch.start_ambient(guard, (purpose, trace), &mut self.knowledge) {
            Ok(Start::AfterFetch(supply)) => self.wait_for(supply, (number, guard.clone(), purpose)),
            Ok(Start::Done(started)) => {
                widen(&started.output);
                for pipe in [Some(&started.input), Some(&started.output), started.errors.as_ref()].into_iter().flatten()
                {
                    let _ = do_not_block(pipe);
                }
                if purpose != Purpose::Learn {
                    self.operator.started(guard.roots(), started.line.enforcement());
                }
                let process = Process::new(*started, (purpose, trace), guard.clone(), now, self.limit);
                self.processes.insert(number, process);
            }
            Err(error) => self.not_started(now, number, purpose, error),
        }
    }

    fn not_started(&mut self, now: Duration, number: ChildId, purpose: Purpose, error: StartError) {
        self.code = (Some(number), 2);
        let hope = hope(&error);
        // The real start will tell.
        let is_told = purpose != Purpose::Learn || hope == Hope::None;
        let says = if is_told { self.operator.not_started(error) } else { error.to_string() };
        self.feed(now, Event::NotStarted(number, &Failure::new(says), hope));
    }

    /// The same for one that the operator was told about.
    pub(super) fn not_fetched(&mut self, now: Duration, number: ChildId, says: &str) {
        self.code = (Some(number), 2);
        self.feed(now, Event::NotStarted(number, &Failure::new(says), Hope::None));
    }

    /// Ends everything, in order.
    fn leave(&mut self, now: Duration) {
        if matches!(self.state, State::Leaving { .. }) {
            return;
        }
        self.state = State::Leaving { until: now + LAST_WORDS };
        self.input = None;
        // Its process is killed with it.
        self.coming = None;
        self.feed(now, Event::Left(self.session));
        for process in self.processes.values_mut() {
            process.end(now);
        }
    }

    /// Goes on with a client that has closed its end: the servers see that once they have everything, and are left once they have
    /// answered, or have had their time.
    fn close(&mut self, now: Duration) {
        let State::Closing { until } = self.state else { return };
        let delivered = self.session().is_none_or(Session::is_delivered);
        if delivered {
            for process in self.processes.values_mut() {
                process.close();
            }
        }
        if (delivered && !self.session().is_some_and(Session::owes)) || now >= until {
            self.leave(now);
        }
    }

    /// Writes what waits, as far as it goes.
    fn write(&mut self) {
        let now = self.begun.elapsed();
        match (&self.output, self.engine.client_outlet(self.session)) {
            (Some(output), Some(outlet)) => {
                if write(output, outlet).is_err() {
                    // A client that reads no more is gone.
                    self.output = None;
                    self.leave(now);
                }
            }
            (_, outlet) => outlet.into_iter().for_each(Outlet::clear),
        }
        for (number, process) in &mut self.processes {
            if let Some(outlet) = self.engine.child_outlet(*number) {
                process.write(now, outlet);
            }
        }
    }

    /// Takes note of processes that have ended, and goes on with the end of others.
    fn reap(&mut self, now: Duration) -> io::Result<()> {
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for (number, mut process) in std::mem::take(&mut self.leaving) {
            match process.go_on(now)? {
                Some(code) => {
                    // The end of a learner says nothing about the server.
                    if process.purpose() != Purpose::Learn {
                        self.note(number, code);
                    }
                    gone.push(number);
                }
                None => kept.push((number, process)),
            }
        }
        self.leaving = kept;
        for number in gone {
            self.feed(now, Event::Gone(number));
        }
        // A server that reads no more and lives on answers nobody.
        let deaf: Vec<ChildId> =
            self.processes.iter().filter(|(_, process)| process.is_deaf(now)).map(|(number, _)| *number).collect();
        for number in deaf {
            self.finish(number);
        }
        let leaving = matches!(self.state, State::Leaving { .. });
        // What a server has left in its output is not read before there is room for it.
        if leaving || (self.some_ended && self.client_keeps_up()) {
            self.some_ended = false;
            let mut ended = Vec::new();
            for (number, process) in &mut self.processes {
                if let Some(code) = process.go_on(now)? {
                    ended.push((*number, code));
                }
            }
            for (number, code) in ended {
                self.note(number, code);
                self.finish(number);
            }
        }
        Ok(())
    }

    /// A server has ended with this code.
    fn note(&mut self, number: ChildId, code: i32) {
        if self.code.0.is_none_or(|last| number >= last) {
            self.code = (Some(number), code);
        }
    }

    /// Reads what a server that has ended has left in its output. Others that it started may keep that open for as long as they like.
    fn finish(&mut self, number: ChildId) {
        for _ in 0..MOST_LEFT {
            if !matches!(self.read_child(number), Read::Some(_)) {
                break;
            }
        }
        self.gone(number);
    }

    fn client_keeps_up(&self) -> bool {
        self.output.is_none() || self.unread() < MOST_WAITING
    }

    /// Waits for something to happen; what did.
    fn wait(&self, now: Duration) -> io::Result<Vec<(Source, PollFlags)>> {
        let watched = self.watched();
        let mut polled: Vec<PollFd<'_>> =
            watched.iter().map(|(_, pipe, flags)| PollFd::from_borrowed_fd(*pipe, *flags)).collect();
        let fetch = self.coming.as_ref().map(|coming| now + coming.wakes_within());
        let due = [self.engine.wakes_at(), self.looks_at(), self.keeps_at(), fetch]
            .into_iter()
            .chain(self.ends().map(Process::wakes_at))
            .flatten()
            .min();
        let due = if self.to_do.is_empty() { due } else { Some(now) };
        let due = match self.state {
            // Once it is past, only the ends of processes are waited for.
            State::Closing { until } | State::Leaving { until } if until > now => {
                Some(due.map_or(until, |due| due.min(until)))
            }
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

    /// When is to be looked what is given.
    fn looks_at(&self) -> Option<Duration> {
        self.follow.as_ref().filter(|_| self.state == State::Serving).map(|_| self.looked + LOOK_EVERY)
    }

    /// Looks what is given, if it is time to.
    fn look_ambient(&mut self, now: Duration) {
        if self.looks_at().is_none_or(|due| due > now) {
            return;
        }
        if let Some(given) = self.follow.as_mut().and_then(|follow| follow.look_ambient()) {
            self.feed(now, Event::Given(given));
        }
        // From when it is done: what takes long is not done all the time.
        self.looked = self.begun.elapsed();
    }

    /// When the memory is to be written.
    fn keeps_at(&self) -> Option<Duration> {
        self.to_keep.map(|_| self.kept + KEEP_EVERY)
    }

    /// Writes the memory, if it is time to: a server that says something else each time must not keep the disk busy.
    fn keep_ambient(&mut self, now: Duration) {
        let leaving = matches!(self.state, State::Leaving { .. });
        if self.keeps_at().is_none_or(|due| due > now && !leaving) {
            return;
        }
        if let Some(memory) = self.to_keep.take().and_then(|server| self.engine.memory(server)) {
            self.keeping.keep_ambient(memory);
        }
        self.kept = now;
    }

    /// Those whose end is under way.
    fn ends(&self) -> impl Iterator<Item = &Process> {
        self.leaving.iter().map(|(_, process)| process).chain(self.processes.values())
    }

    /// What is waited for: nobody is read from whose counterpart is behind.
    fn watched(&self) -> Vec<(Source, BorrowedFd<'_>, PollFlags)> {
        let mut watched = vec![(Source::Signals, self.signals.as_fd(), PollFlags::IN)];
        let fetch = self.coming.as_ref().and_then(Coming::output);
        watched.extend(fetch.map(|output| (Source::Fetch, output, PollFlags::IN)));
        let children_keep_up = self.session().is_none_or(|session| session.most_unread() < MOST_WAITING);
        if let Some(input) = &self.input {
            // Without flags its end is told all the same, and what is left in a pipe then is little.
            let held = self.session().map_or(0, Session::held_bytes);
            let keep_up = children_keep_up && held < MOST_HELD;
            watched.push((Source::Client, input.as_fd(), if keep_up { PollFlags::IN } else { PollFlags::empty() }));
        }
        if let Some(output) = &self.output {
            // Without flags its end is told all the same.
            let flags = if self.unread() == 0 { PollFlags::empty() } else { PollFlags::OUT };
            watched.push((Source::ClientWritable, output.as_fd(), flags));
        }
        let client_keeps_up = self.client_keeps_up();
        for (number, process) in &self.processes {
            if let (Some(output), true) = (&process.output, client_keeps_up) {
                watched.push((Source::Child(*number), output.as_fd(), PollFlags::IN));
            }
            let waits = self.session().is_some_and(|session| session.unread_by(*number) > 0);
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
                self.code.1 = 128 + number;
                // What the client said before is answered for.
                for _ in 0..MOST_LEFT {
                    if !self.input.as_ref().is_some_and(has_more) || self.read_client() == Read::End {
                        break;
                    }
                }
                let now = self.begun.elapsed();
                for process in self.processes.values_mut() {
                    process.ask(now, number);
                }
                self.leave(now);
            } else if number == Signal::CHILD.as_raw() {
                self.some_ended = true;
            } else {
                for process in self.processes.values() {
                    process.signal(number);
                }
            }
        }
    }

    fn read_client(&mut self) -> Read {
        let Some(input) = &self.input else { return Read::End };
        let now = self.begun.elapsed();
        let read = read(input, self.reader.room());
        match read {
            Read::Later => {}
            Read::Some(_) => {
                while let Some(line) = self.reader.next() {
                    self.to_do.extend(self.engine.step(now, Event::ClientLine(self.session, line)));
                    // Before the next line: what goes on record keeps its place among what does not.
                    self.carry_out(now);
                }
            }
            Read::End => {
                if let Some(line) = self.reader.finish() {
                    self.to_do.extend(self.engine.step(now, Event::ClientLine(self.session, line)));
                    self.carry_out(now);
                }
                self.input = None;
                if self.state == State::Serving {
                    self.state = State::Closing { until: now + LAST_ANSWERS };
                }
                self.feed(now, Event::ClientClosed(self.session));
            }
        }
        read
    }

    fn read_child(&mut self, number: ChildId) -> Read {
        let now = self.begun.elapsed();
        let Some(process) = self.processes.get_mut(&number) else { return Read::End };
        let Some(output) = &process.output else { return Read::End };
        let read = read(output, process.reader.room());
        match read {
            Read::Later => {}
            Read::Some(_) => {
                while let Some(line) = process.reader.find() {
                    self.to_do.extend(self.engine.step(now, Event::ChildLine(number, line)));
                }
            }
            Read::End => process.hush(now),
        }
        read
    }

    /// Nothing more comes from a server.
    fn gone(&mut self, number: ChildId) {
        let now = self.begun.elapsed();
        let Some(mut process) = self.processes.remove(&number) else { return };
        if let Some(line) = process.reader.find_last() {
            self.to_do.extend(self.engine.step(now, Event::ChildLine(number, line)));
        }
        process.output = None;
        process.end(now);
        let code = process.go_on(now).ok().flatten();
        drain_errors(&mut process);
        let failure = process.failure(now, code, &self.launch.secrets, &self.launch.withheld);
        match (self.launch.trace_of(process.purpose()), self.launch.trace) {
            (Trace::On, Trace::On) => self.operator.refused(process.refused()),
            (Trace::On, Trace::Off) if process.refused().iter().any(is_own_proc) => self.operator.says(
                "the server was traced after the one before it died, so its processes could read about themselves in `/proc`: \
                 `--own-proc` permits that without tracing",
            ),
            _ => {}
        }
        self.leaving.push((number, process));
        self.feed(now, Event::ChildEnded(number, &failure));
    }

    /// Reads what somebody says whom nobody listens to any more, so that it can end.
    fn drain(&mut self, position: usize) {
        if let Some((_, process)) = self.leaving.get_mut(position)
            && let Some(output) = &process.output
            && matches!(read(output, &mut Vec::with_capacity(ROOM)), Read::End)
        {
            process.output = None;
        }
    }
}

/// Whether something is refused to all processes but the first unless they are traced.
fn is_own_proc(refused: &Refused) -> bool {
    matches!(refused.permit(), Some(Permit::Alone(_)))
}

/// Whether a server that was not started may start in other roots.
fn hope(error: &StartError) -> Hope {
    match error {
        StartError::Program(ProgramError::NotFound(_) | ProgramError::NotExecutable(_))
        | StartError::Package(_)
        | StartError::Confinement(ConfinementError::Kernel(_)) => Hope::None,
        _ => Hope::OtherRoots,
    }
}

/// A wait that ends a moment early would find nothing due, and wait again.
const ROUNDED_UP: Duration = Duration::from_micros(50);
