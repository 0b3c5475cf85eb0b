//! What is searched for, and in which files.

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

/// How long a pattern may be.
const LONGEST_PATTERN: usize = 16 << 10;

/// How long all globs may be together, and how many there may be.
const LONGEST_GLOBS: usize = 16 << 10;
const MOST_GLOBS: usize = 100;

/// How large a pattern may become when it is compiled: `\w{500}` is short to write.
const LARGEST_COMPILED: usize = 10 << 20;

/// How much of what was learnt about a pattern is kept, by each thread.
const LARGEST_CACHE: usize = 20 << 20;

/// Lines end as they do in files of either kind: `$` stands before `\n` and before `\r\n`.
pub(super) fn line_end() -> LineTerminator {
    LineTerminator::crlf()
}

/// What is asked for, as it came.
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

/// How a pattern is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reading {
    /// As a regular expression.
    Expression,
    /// As it stands.
    Literal,
}

/// Whether `a` is `A`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Case {
    /// It is not.
    Matters,
    /// It is.
    Ignored,
}

/// What becomes of names that begin with a dot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hidden {
    /// They are left out.
    LeftOut,
    /// They are searched, but for `.git`, in which nothing is kept as text.
    Searched,
}

/// What is searched for.
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

    /// Whether an entry is not searched, and nothing below it.
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
            Reading::Expression => "; with `literal` it is searched for as it stands",
            Reading::Literal => "",
        };
        Failure::said(format!("`pattern` cannot be searched for: {error}{hint}"))
    })
}

fn globs(globs: &[String]) -> Result<Override, Failure> {
    if globs.len() > MOST_GLOBS || globs.iter().map(String::len).sum::<usize>() > LONGEST_GLOBS {
        return Err(Failure::said(format!("`glob` is too much: at most {MOST_GLOBS}, {LONGEST_GLOBS} bytes in all")));
    }
    // Paths are given from the top of the search on, so nothing is to be stripped from them.
    let mut builder = OverrideBuilder::new(".");
    for glob in globs {
        builder.add(glob).map_err(|error| Failure::said(format!("`glob` cannot be used: {error}")))?;
    }
    builder.build().map_err(|error| Failure::said(format!("`glob` cannot be used: {error}")))
}
