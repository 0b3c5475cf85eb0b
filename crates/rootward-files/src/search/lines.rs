//! The lines of one file to show.

use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};

use super::{Search, cut};

/// A line to show.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub(crate) kind: LineKind,
    /// Counted from 1.
    pub(crate) number: u64,
    /// Without its newline; shortened if it is long.
    pub(crate) text: String,
}

/// Why the line is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LineKind {
    /// It matches.
    Match,
    /// Context before a match.
    Before,
    /// Context after a match.
    After,
}

/// Collects the lines while a file is searched.
pub(super) struct Lines<'s> {
    search: &'s Search<'s>,
    matcher: &'s RegexMatcher,
    /// The size of the path, which each match repeats.
    path: usize,
    collected: Vec<Line>,
    binary: bool,
}

impl<'s> Lines<'s> {
    pub(super) fn new(search: &'s Search<'s>, matcher: &'s RegexMatcher, path: usize) -> Lines<'s> {
        Lines { search, matcher, path, collected: Vec::new(), binary: false }
    }

    /// The lines, and whether the file turned out to be binary.
    pub(super) fn into_parts(self) -> (Vec<Line>, bool) {
        (self.collected, self.binary)
    }

    /// Adds a line. Returns whether to continue.
    fn add(&mut self, kind: LineKind, number: Option<u64>, text: String) -> bool {
        let path = if kind == LineKind::Match { self.path } else { 0 };
        let room = self.search.has_room_for(text.len() + path);
        if room {
            self.collected.push(Line { kind, number: number.unwrap_or_default(), text });
        }
        room
    }
}

impl Sink for &mut Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if !self.search.has_room_for_match() {
            return Ok(false);
        }
        let line = found.bytes();
        let text = cut::shown(line, || self.matcher.find(line).ok().flatten().map_or(0, |found| found.start()));
        Ok(self.add(LineKind::Match, found.line_number(), text))
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        let kind = match found.kind() {
            SinkContextKind::After => LineKind::After,
            SinkContextKind::Before | SinkContextKind::Other => LineKind::Before,
        };
        Ok(self.add(kind, found.line_number(), cut::shown(found.bytes(), || 0)))
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> io::Result<()> {
        self.binary |= end.binary_byte_offset().is_some();
        Ok(())
    }
}
