//! Server processes: starting, reading, stopping, and handling their exit.

use std::io;
use std::time::Duration;

use rootward_core::Guard;
use rootward_protocol::frame::{Found, ROOM};
use rootward_sandbox::{PermittingFlag, Refused, StartError, Trace};

use super::backing::Backing;
use super::errors::drain_errors;
use super::fetching::PendingFetch;
use super::launch::{Start, hope};
use super::middle::Middle;
use super::pipe::{Read, do_not_block, read, widen};
use super::process::Process;
use super::serving::{Serving, State};
use super::translated::Heard;
use crate::engine::{ChildId, Effect, Event, Failure, Hope, Purpose};

/// How many reads drain the output of a server that has ended; a pipe holds at most one megabyte.
pub(super) const MOST_LEFT: usize = (1 << 20) / ROOM + 1;

impl<M: Middle> Serving<'_, M> {
    pub(super) fn start(&mut self, now: Duration, number: ChildId, guard: &Guard, purpose: Purpose) {
        if matches!(self.state, State::Leaving { .. }) {
            return self
                .feed(now, Event::NotStarted(number, &Failure::new("the session is closing"), Hope::OtherRoots));
        }
        // SECURITY: a child that the engine has dropped in the meantime was meant for roots that are no longer
        // current
        // (test: output_of_a_replaced_child_is_dropped)
        let wanted = self.middle.wants(number);
        let Some(backing) = self.backing(number).filter(|_| wanted) else {
            return self.feed(now, Event::Gone(number));
        };
        let trace = backing.launch.trace_of(purpose);
        match backing.launch.start_ambient(guard, (purpose, trace), &mut backing.knowledge) {
            // All starts of a server need the same package.
            Ok(Start::AfterFetch(supply)) => {
                backing.coming.get_or_insert_with(|| PendingFetch::new(supply)).add(number, guard.clone(), purpose);
            }
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
                self.figures.started();
                self.is_news = true;
            }
            Err(error) => self.not_started(now, number, purpose, error),
        }
    }

    fn not_started(&mut self, now: Duration, number: ChildId, purpose: Purpose, error: StartError) {
        self.note(number, 2);
        let hope = hope(&error);
        // If only the learner failed, the real start will report it.
        let is_told = purpose != Purpose::Learn || hope == Hope::None;
        let server = self.middle.server_of(number).and_then(|server| self.servers.get(&server));
        let says = match server.filter(|_| is_told) {
            Some(server) => self.operator.not_started(&server.launch, error),
            None => error.to_string(),
        };
        self.feed(now, Event::NotStarted(number, &Failure::new(says), hope));
    }

    /// Like `not_started`, if the operator was already told.
    pub(super) fn not_fetched(&mut self, now: Duration, number: ChildId, says: &str) {
        self.note(number, 2);
        self.feed(now, Event::NotStarted(number, &Failure::new(says), Hope::None));
    }

    /// Handles processes that have ended, and continues stopping others.
    pub(super) fn reap(&mut self, now: Duration) -> io::Result<()> {
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for (number, mut process) in std::mem::take(&mut self.leaving) {
            match process.go_on(now)? {
                Some(code) => {
                    // A learner's exit code says nothing about the server.
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
        // A server that has stopped reading but stays alive will never answer.
        let deaf: Vec<ChildId> =
            self.processes.iter().filter(|(_, process)| process.is_deaf(now)).map(|(number, _)| *number).collect();
        for number in deaf {
            self.finish(number);
        }
        let leaving = matches!(self.state, State::Leaving { .. });
        if leaving || std::mem::take(&mut self.some_ended) {
            let mut ended = Vec::new();
            for number in self.processes.keys().copied().collect::<Vec<_>>() {
                // Do not read the remaining output of a server until there is room for it.
                if !leaving && !self.clients_keep_up(number) {
                    self.some_ended = true;
                } else if let Some(code) = self.processes.get_mut(&number).map_or(Ok(None), |it| it.go_on(now))? {
                    ended.push((number, code));
                }
            }
            for (number, code) in ended {
                self.note(number, code);
                self.finish(number);
            }
        }
        Ok(())
    }

    /// Records the exit code of a server.
    fn note(&mut self, number: ChildId, code: i32) {
        if M::PASSES_CODE && self.code.0.is_none_or(|last| number >= last) {
            self.code = (Some(number), code);
        }
    }

    /// Reads the remaining output of a server that has ended. Its own child processes may keep the pipe open
    /// indefinitely, so the number of reads is limited.
    fn finish(&mut self, number: ChildId) {
        for _ in 0..MOST_LEFT {
            if !matches!(self.read_child(number), Read::Some(_)) {
                break;
            }
        }
        self.gone(number);
    }

    pub(super) fn read_child(&mut self, number: ChildId) -> Read {
        let now = self.begun.elapsed();
        let Some(process) = self.processes.get_mut(&number) else { return Read::End };
        let Some(output) = &process.output else { return Read::End };
        let read = read(output, process.reader.room());
        match read {
            Read::Later => {}
            Read::Some(_) => {
                while let Some(line) = process.reader.find() {
                    match process.translated.heard(now, line) {
                        Heard::Same(line) => self.to_do.extend(self.middle.step(now, Event::ChildLine(number, line))),
                        Heard::Instead(lines) => self.to_do.extend(told(&mut self.middle, now, number, &lines)),
                    }
                }
            }
            Read::End => process.hush(now),
        }
        read
    }

    /// A server has no more output.
    fn gone(&mut self, number: ChildId) {
        let now = self.begun.elapsed();
        let Some(mut process) = self.processes.remove(&number) else { return };
        self.is_news = true;
        if let Some(line) = process.reader.find_last() {
            self.to_do.extend(self.middle.step(now, Event::ChildLine(number, line)));
        }
        if let Some(refusal) = process.translated.last_answer() {
            self.to_do.extend(self.middle.step(now, Event::ChildLine(number, Found::Among(&refusal))));
        }
        process.output = None;
        process.end(now);
        let code = process.go_on(now).ok().flatten();
        drain_errors(&mut process);
        let launch = self.middle.server_of(number).and_then(|server| self.servers.get(&server)).map(|it| &it.launch);
        let (secrets, withheld) =
            launch.map_or((&[][..], &[][..]), |it| (it.secrets.as_slice(), it.withheld.as_slice()));
        let failure = process.failure(now, code, secrets, withheld);
        match launch.map(|launch| (launch.trace_of(process.purpose()), launch.trace)) {
            Some((Trace::On, Trace::On)) => self.operator.refused(process.refused()),
            Some((Trace::On, Trace::Off)) if process.refused().iter().any(is_own_proc) => self.operator.says(
                "the server was traced after the one before it died, so its processes could read about themselves in `/proc`: \
                 `--own-proc` permits that without tracing",
            ),
            _ => {}
        }
        self.leaving.push((number, process));
        self.feed(now, Event::ChildEnded(number, &failure));
    }

    /// Discards the output of a process that is being stopped, so that it can exit.
    pub(super) fn drain(&mut self, position: usize) {
        if let Some((_, process)) = self.leaving.get_mut(position)
            && let Some(output) = &process.output
            && matches!(read(output, &mut Vec::with_capacity(ROOM)), Read::End)
        {
            process.output = None;
        }
    }

    /// Processes that are being stopped, and running ones.
    pub(super) fn ends(&self) -> impl Iterator<Item = &Process> {
        self.leaving.iter().map(|(_, process)| process).chain(self.processes.values())
    }

    /// The server that a child belongs to.
    fn backing(&mut self, child: ChildId) -> Option<&mut Backing> {
        self.servers.get_mut(&self.middle.server_of(child)?)
    }

    /// Cancels a start that waits for its package; returns whether there was one.
    pub(super) fn stops_waiting(&mut self, child: ChildId) -> bool {
        self.servers.values_mut().any(|server| server.stops_waiting(child))
    }
}

/// Tells the engine these lines, as if a child had sent them.
pub(super) fn told<M: Middle>(middle: &mut M, now: Duration, child: ChildId, lines: &[String]) -> Vec<Effect> {
    let step = |line: &String| middle.step(now, Event::ChildLine(child, Found::Among(line.as_bytes())));
    lines.iter().flat_map(step).collect()
}

/// Whether only the first process may do this, unless processes are traced.
fn is_own_proc(refused: &Refused) -> bool {
    matches!(refused.permit(), Some(PermittingFlag::Alone(_)))
}
