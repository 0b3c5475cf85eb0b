//! What to search for, and in which files.

use std::path::Path;

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use rootward_core::FileKind;

use crate::failure::Failure;

/// The most matches of one call.
pub(crate) const MOST_MATCHES: usize = 5000;

/// The most lines before and after a match.
pub(crate) const MOST_CONTEXT: usize = 50;

/// The longest pattern, in bytes.
const LONGEST_PATTERN: usize = 16 << 10;

/// The limits for the total length and the number of globs.
const LONGEST_GLOBS: usize = 16 << 10;
const MOST_GLOBS: usize = 100;

/// The largest size of a compiled pattern: `\w{500}` is short to write.
const LARGEST_COMPILED: usize = 10 << 20;

/// The largest size of a pattern's cache, per thread.
const LARGEST_CACHE: usize = 20 << 20;

/// Accept both kinds of line ends: `$` matches before `\n` and before `\r\n`.
pub(super) fn line_end() -> LineTerminator {
    LineTerminator::crlf()
}

/// The query as the client sent it.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) pattern: &'a str,
    pub(crate) reading: Reading,
    pub(crate) case: Case,
    pub(crate) globs: &'a [String],
    pub(crate) hidden: Hidden,
    pub(crate) context: usize,
    pub(crate) limit: usize,
}

/// How to interpret a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reading {
    /// As a regular expression.
    Expression,
    /// As literal text.
    Literal,
}

/// Whether to distinguish `a` from `A`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Case {
    /// Distinguish them.
    Matters,
    /// Treat them as equal.
    Ignored,
}

/// How to treat names that begin with a dot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hidden {
    /// Skip them.
    LeftOut,
    /// Search them, except `.git`, which holds no text.
    Searched,
}

/// A validated query.
#[derive(Debug)]
pub(crate) struct Query {
    pub(super) matcher: RegexMatcher,
    globs: Override,
    hidden: Hidden,
    pub(super) context: usize,
    pub(crate) limit: usize,
}

impl Query {
    pub(crate) fn new(asked: &Asked<'_>) -> Result<Query, Failure> {
        Ok(Query {
            matcher: matcher(asked)?,
            globs: globs(asked.globs)?,
            hidden: asked.hidden,
            context: asked.context.min(MOST_CONTEXT),
            limit: asked.limit.min(MOST_MATCHES),
        })
    }

    /// Whether to skip an entry and everything below it.
    pub(super) fn leaves_out(&self, path: &Path, name: &[u8], kind: FileKind) -> bool {
        let hidden = match self.hidden {
            Hidden::LeftOut => name.starts_with(b"."),
            Hidden::Searched => name == b".git",
        };
        hidden || self.globs.matched(path, kind == FileKind::Directory).is_ignore()
    }
}

fn matcher(asked: &Asked<'_>) -> Result<RegexMatcher, Failure> {
    let Asked { pattern, reading, case, .. } = *asked;
    if pattern.len() > LONGEST_PATTERN {
        return Err(Failure::said(format!(
            "`pattern` is longer than {LONGEST_PATTERN} bytes: search for a part of it"
        )));
    }
    if pattern.contains(['\n', '\r']) {
        return Err(Failure::said(
            "`pattern` spans lines, and each line is searched by itself: search for one of them",
        ));
    }
    let built = RegexMatcherBuilder::new()
        .multi_line(true)
        .crlf(true)
        .ban_byte(Some(0))
        .fixed_strings(reading == Reading::Literal)
        .case_insensitive(case == Case::Ignored)
        .size_limit(LARGEST_COMPILED)
        .dfa_size_limit(LARGEST_CACHE)
        .build(pattern);
    built.map_err(|error| {
        let hint = match reading {
            Reading::Expression => "; `literal` searches for it as plain text",
            Reading::Literal => "",
        };
        Failure::said(format!("`pattern` cannot be searched for: {error}{hint}"))
    })
}

fn globs(globs: &[String]) -> Result<Override, Failure> {
    if globs.len() > MOST_GLOBS || globs.iter().map(String::len).sum::<usize>() > LONGEST_GLOBS {
        return Err(Failure::said(format!(
            "too many globs in `glob`: at most {MOST_GLOBS}, {LONGEST_GLOBS} bytes in total"
        )));
    }
    // Paths are relative to the top of the search, so there is no prefix to strip.
    let mut builder = OverrideBuilder::new(".");
    for glob in globs {
        builder.add(glob).map_err(|error| Failure::said(format!("`glob` cannot be used: {error}")))?;
    }
    builder.build().map_err(|error| Failure::said(format!("`glob` cannot be used: {error}")))
}
