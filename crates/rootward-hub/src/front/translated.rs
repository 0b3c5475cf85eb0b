//! A process and its [`Translator`]: lines of both directions pass through it while there is something to translate.
//!
//! Most servers take the handshake. From then on their bytes pass as they are, and nothing here looks at them.

use std::time::Duration;

use memchr::memchr;
use rootward_protocol::frame::Found;

use super::serving::MOST_WAITING;
use crate::engine::Outlet;
use crate::modern_server::{Line, Lines, Translator};

/// What is translated between the engine and one process.
#[derive(Debug, Default)]
pub(super) struct Translated {
    translator: Translator,
    /// What waits to be written to the process in place of what the engine wrote.
    outlet: Outlet,
    /// Lines for the engine that came of its own lines.
    to_engine: Vec<String>,
}

/// What the engine is told in place of a line.
#[derive(Debug)]
pub(super) enum Heard<'f> {
    /// The line as it came.
    Same(Found<'f>),
    /// These lines.
    Instead(Vec<String>),
}

impl Translated {
    /// What to write to the process: what the engine wrote, or its translation.
    pub(super) fn outlet<'o>(&'o mut self, written: &'o mut Outlet) -> &'o mut Outlet {
        // What was translated before goes first, and not all that the engine has waits here.
        while self.translator.reads_engine() && self.outlet.waiting().len() < MOST_WAITING {
            let Some(end) = memchr(b'\n', written.waiting()) else { break };
            let line = written.waiting()[..end].to_vec();
            written.advance(end + 1);
            match self.translator.engine_line(&line) {
                Line::Same => self.outlet.push_bytes(&line),
                Line::Instead(Lines { to_server, to_engine }) => {
                    self.push(&to_server);
                    self.to_engine.extend(to_engine);
                }
            }
        }
        if self.outlet.is_empty() && !self.translator.reads_engine() { written } else { &mut self.outlet }
    }

    fn push(&mut self, lines: &[String]) {
        for line in lines {
            self.outlet.push(line);
        }
    }

    /// What the engine is told in place of a line of the process.
    pub(super) fn heard<'f>(&mut self, now: Duration, line: Found<'f>) -> Heard<'f> {
        if !self.translator.reads_server() {
            return Heard::Same(line);
        }
        let told = match &line {
            Found::Among(bytes) | Found::Unended(bytes) => self.translator.server_line(now, bytes),
            Found::Alone(bytes) => self.translator.server_line(now, bytes),
            Found::TooLong(_) => Line::Same,
        };
        match told {
            Line::Same => Heard::Same(line),
            Line::Instead(Lines { to_server, to_engine }) => {
                self.push(&to_server);
                Heard::Instead(to_engine)
            }
        }
    }

    /// Lines for the engine that no line of the process led to.
    pub(super) fn answers(&mut self, now: Duration) -> Vec<String> {
        let refusal = self.translator.gives_up(Some(now)).map(|line| String::from_utf8_lossy(&line).into_owned());
        self.to_engine.extend(refusal);
        std::mem::take(&mut self.to_engine)
    }

    /// The last line for the engine of a process that has ended.
    pub(super) fn last_answer(&mut self) -> Option<Vec<u8>> {
        self.translator.gives_up(None)
    }

    /// Whether nothing of it waits to be written.
    pub(super) fn is_written(&self) -> bool {
        self.outlet.is_empty()
    }

    /// When time matters to it.
    pub(super) fn wakes_at(&self) -> Option<Duration> {
        self.translator.wakes_at()
    }
}
