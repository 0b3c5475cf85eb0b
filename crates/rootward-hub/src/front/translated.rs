//! A process and its [`Translator`]. Lines in both directions pass through the translator while it has something to
//! translate.
//!
//! Most servers accept `initialize`. From then on, their bytes are forwarded unchanged.

use std::time::Duration;

use memchr::memchr;
use rootward_protocol::frame::Found;

use super::serving::MOST_WAITING;
use crate::engine::Outlet;
use crate::modern_server::{Line, Lines, Translator};

/// The translation between the engine and one process.
#[derive(Debug, Default)]
pub(super) struct Translated {
    translator: Translator,
    /// Translated lines that wait to be written to the process.
    outlet: Outlet,
    /// Answers of the translator to the engine's own lines.
    to_engine: Vec<String>,
}

/// What the engine gets for a line of the process.
#[derive(Debug)]
pub(super) enum Heard<'f> {
    /// The line itself.
    Same(Found<'f>),
    /// These lines instead.
    Instead(Vec<String>),
}

impl Translated {
    /// The bytes to write to the process: the engine's own, or their translation.
    pub(super) fn outlet<'o>(&'o mut self, written: &'o mut Outlet) -> &'o mut Outlet {
        // Earlier translations go first, and only a limited amount is translated ahead.
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

    /// Handles a line of the process. Returns what the engine gets.
    pub(super) fn heard<'f>(&mut self, now: Duration, line: Found<'f>) -> Heard<'f> {
        if !self.translator.reads_server() {
            return Heard::Same(line);
        }
        let answer = match &line {
            Found::Among(bytes) | Found::Unended(bytes) => self.translator.server_line(now, bytes),
            Found::Alone(bytes) => self.translator.server_line(now, bytes),
            Found::TooLong(_) => Line::Same,
        };
        match answer {
            Line::Same => Heard::Same(line),
            Line::Instead(Lines { to_server, to_engine }) => {
                self.push(&to_server);
                Heard::Instead(to_engine)
            }
        }
    }

    /// Lines for the engine that do not answer a line of the process.
    pub(super) fn answers(&mut self, now: Duration) -> Vec<String> {
        let refusal = self.translator.take_refusal(Some(now)).map(|line| String::from_utf8_lossy(&line).into_owned());
        self.to_engine.extend(refusal);
        std::mem::take(&mut self.to_engine)
    }

    /// The last line for the engine, after the process has ended.
    pub(super) fn last_answer(&mut self) -> Option<Vec<u8>> {
        self.translator.take_refusal(None)
    }

    /// Whether all translated lines have been written.
    pub(super) fn is_written(&self) -> bool {
        self.outlet.is_empty()
    }

    /// When time next matters.
    pub(super) fn wakes_at(&self) -> Option<Duration> {
        self.translator.wakes_at()
    }
}
