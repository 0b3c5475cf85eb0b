//! Every way that a server might read a path.
//!
//! A guard takes a text literally. Servers do not: they trim, unquote, decode, expand, split and collapse, sometimes
//! twice. A path is allowed only if every possible reading is inside the roots, so this file derives those readings.
//! It derives too many rather than too few: an extra reading matters only if it is outside.
//!
//! A plain text, which is almost every path, has one reading and costs nothing.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::decode::percent_decoded;
use super::expansion::{Expansion, Unset};
use super::rewriting::{
    begins_name_after, collapsed, ends_a_name, is_blob, is_plain, names_nothing, normalised, without_look_alikes,
};
use super::value::{
    QUOTES, begins_like_a_path, file_uris, has_another_scheme, has_several_lines, is_invisible, is_trimmed,
};
use crate::fold::begins;

/// Maximum number of readings. No honest path has that many.
const MOST: usize = 256;

/// Maximum total length of the readings of one text, in bytes.
const MOST_BYTES: usize = 4 << 20;

/// How a reading was derived.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Form {
    /// The text or a part of it, possibly trimmed.
    Spoken,
    /// Decoded, expanded or otherwise transformed.
    Made,
}

/// Why the readings were not all visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// The callback stopped.
    Enough,
    /// There are too many readings.
    TooMany,
}

/// Derives readings.
#[derive(Debug)]
pub(crate) struct Reader<'r> {
    expansion: &'r Expansion,
    queue: Vec<(String, Form)>,
    /// Total length of the queued texts.
    bytes: usize,
    known: HashSet<(String, Form)>,
}

impl<'r> Reader<'r> {
    /// Passes each reading of `text` to `judge`, the text itself first, until `judge` stops.
    pub(crate) fn each(
        expansion: &'r Expansion,
        text: &str,
        judge: &mut dyn FnMut(&str, Form) -> ControlFlow<()>,
    ) -> Result<(), Stop> {
        if judge(text, Form::Spoken).is_break() {
            return Err(Stop::Enough);
        }
        if is_plain(text) || is_blob(text) {
            return Ok(());
        }
        let mut reader = Reader { expansion, queue: Vec::new(), bytes: 0, known: HashSet::new() };
        reader.known.insert((text.to_owned(), Form::Spoken));
        reader.more(text, Form::Spoken);
        let mut at = 0;
        while at < reader.queue.len() {
            if reader.is_full() {
                return Err(Stop::TooMany);
            }
            let (text, form) = reader.queue[at].clone();
            if judge(&text, form).is_break() {
                return Err(Stop::Enough);
            }
            reader.more(&text, form);
            at += 1;
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.queue.len() > MOST || self.bytes > MOST_BYTES
    }

    fn add(&mut self, text: impl Into<String>, form: Form) {
        if self.is_full() {
            return;
        }
        let mut reading = (text.into(), Form::Spoken);
        if reading.0.is_empty() || (form == Form::Made && self.known.contains(&reading)) {
            return;
        }
        reading.1 = form;
        if self.known.insert(reading.clone()) {
            self.bytes += reading.0.len();
            self.queue.push(reading);
        }
    }

    /// Adds everything that can be derived from one reading.
    fn more(&mut self, text: &str, form: Form) {
        self.add(text.trim_matches(is_trimmed), form);
        self.add(text.trim_matches(QUOTES), form);
        if text.contains(is_invisible) {
            // SECURITY: a server that cleans up a name removes these anywhere in it, and may end up with `..` or a
            // path
            // (test: characters_that_nobody_sees)
            self.add(text.replace(is_invisible, ""), form);
        }
        if text.contains(['"', '\'']) {
            // As a shell does.
            self.add(text.replace(['"', '\''], ""), form);
        }
        if text.contains(char::is_control) {
            // URL parsers drop tabs and line breaks anywhere; C code stops at a NUL.
            self.add(text.replace(char::is_control, ""), form);
            self.add(text.split('\0').next().unwrap_or_default(), form);
        }
        self.file_uris(text, form);
        if begins(text, "file:") {
            self.path_of_uri(&text["file:".len()..]);
            return;
        }
        if text.contains('%') {
            self.add(percent_decoded(text), Form::Made);
        }
        if text.contains('\\') {
            self.add(text.replace('\\', "/"), Form::Made);
        }
        // SECURITY: a server that normalizes a name opens the normalized one
        // (test: characters_that_normalise_to_dots_and_slashes)
        self.add(normalised(text), Form::Made);
        self.add(without_look_alikes(text), Form::Made);
        if has_another_scheme(text) {
            // SECURITY: `sqlite:////x` is the file `/x` (test: uris)
            if let Some((_, path)) = text.split_once(":////") {
                self.add(format!("/{path}"), Form::Made);
            }
            return;
        }
        if text.contains('\\') {
            // As a shell does.
            self.add(text.replace('\\', ""), Form::Made);
        }
        if text.contains(['$', '%', '~']) {
            self.expanded(text);
        }
        if text.contains("....") {
            // The result of a filter that removes `../` once: `....//`.
            self.add(text.replace("../", "").replace("..\\", ""), Form::Made);
        }
        self.add(collapsed(text), Form::Made);
        self.fixed_part(text);
        self.braces(text);
        self.without_suffix(text);
        self.pieces(text);
    }

    /// Adds `file:` URIs inside other text: `jar:file:///a!/b`, `see file:///a`.
    fn file_uris(&mut self, text: &str, form: Form) {
        for uri in file_uris(text).filter(|uri| uri.len() < text.len()) {
            let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '!' | ')') || QUOTES.contains(&c);
            self.add(&uri[..uri.find(is_end).unwrap_or(uri.len())], form);
            self.add(uri, Form::Made);
        }
    }

    /// Adds the path of a URI, with any number of slashes, with or without a host. Escapes are decoded, because a
    /// blank in a root's name is escaped in a URI.
    fn path_of_uri(&mut self, rest: &str) {
        let rest = percent_decoded(rest).replace('\\', "/");
        let bare = rest.trim_start_matches('/');
        let host = if rest.starts_with("//") && !rest.starts_with("///") { bare.split_once('/') } else { None };
        if let Some((host, path)) = host {
            self.add(format!("/{path}"), Form::Made);
            if host.eq_ignore_ascii_case("localhost") {
                return;
            }
        }
        self.add(format!("/{bare}"), Form::Made);
        if let Some((path, _)) = bare.split_once(['?', '#']) {
            self.add(format!("/{path}"), Form::Made);
        }
    }

    /// Expands variables and `~`. An unset variable stays, becomes empty (Go's `os.ExpandEnv`), or becomes the word
    /// beside its name: the server's environment may differ from the one known here.
    fn expanded(&mut self, text: &str) {
        if let (Some(rest), Some(home)) = (text.strip_prefix('~'), &self.expansion.home)
            && (rest.is_empty() || rest.starts_with(['/', '\\']))
        {
            let path = format!("{home}{rest}");
            self.add(path, Form::Made);
        }
        for unset in [Unset::Stays, Unset::IsNothing, Unset::IsTheWord] {
            let expanded = self.expansion.expand(text, unset);
            self.add(expanded, Form::Made);
        }
    }

    /// Adds the directory in which a pattern is expanded.
    fn fixed_part(&mut self, text: &str) {
        if let Some(wild) = text.find(['*', '?', '[', '{'])
            && let Some(slash) = text[..wild].rfind('/')
        {
            self.add(if slash == 0 { "/" } else { &text[..slash] }, Form::Made);
        }
    }

    /// Expands a pattern's braces if that joins dots: `.{.,x}/y` is `../y` to shells and to Node's globs. Whole paths
    /// within braces are covered by `pieces`.
    fn braces(&mut self, text: &str) {
        for (end, _) in text.match_indices('}') {
            let Some(start) = text[..end].rfind('{') else { continue };
            let group = &text[start + 1..end];
            let joins = |choice: &str| choice.is_empty() || choice.starts_with('.') || choice.ends_with('.');
            // SECURITY: neither part is `..`, but both together are (test: patterns_and_collapse)
            if group.contains(',') && group.split(',').any(joins) {
                for choice in group.split(',') {
                    self.add([&text[..start], choice, &text[end + 1..]].concat(), Form::Made);
                }
            }
        }
    }

    /// Removes a query, fragment or line number after the last component: `a.txt#top`, `a.txt:10`. Directory names
    /// may contain such characters, so other components are left alone.
    fn without_suffix(&mut self, text: &str) {
        let name = text.rfind('/').map_or(0, |slash| slash + 1);
        if let Some(end) = text[name..].find(['?', '#', ':']) {
            self.add(&text[..name + end], Form::Made);
        }
    }

    /// Adds paths within the text: in a list, after `key=`, after an option's letter.
    fn pieces(&mut self, text: &str) {
        let is_separator = |c: char| {
            c.is_whitespace()
                || matches!(c, ',' | ';' | ':' | '|' | '=' | '@' | '(' | '[' | '{' | '<' | '>' | '&')
                || QUOTES.contains(&c)
        };
        // Multi-line text is split only into lines: the text within them is prose or code.
        let splits: &dyn Fn(char) -> bool =
            if has_several_lines(text) { &|c| matches!(c, '\n' | '\r') } else { &is_separator };
        let has_drive = text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && text[1..].starts_with(':');
        let mut is_list = false;
        for (at, c) in text.char_indices().filter(|(at, c)| splits(*c) && !(has_drive && *at == 1)) {
            let rest = &text[at + c.len_utf8()..];
            // A character that ends a piece need not start one: in `app/(group)/page` the bracket is part of a name.
            // Within quotes or between commas, a blank is part of the piece.
            let ends = |end: char| match c {
                c if QUOTES.contains(&c) => QUOTES.contains(&end),
                ',' | ';' | '|' => matches!(end, ',' | ';' | '|' | ')' | ']' | '}') || QUOTES.contains(&end),
                _ => splits(end) || matches!(end, ')' | ']' | '}'),
            };
            let piece = rest[..rest.find(ends).unwrap_or(rest.len())].trim_matches(is_trimmed);
            if self.is_full() {
                return;
            }
            // `app/(..)photo`: Next.js uses such names for intercepting routes.
            if c == '(' && piece.bytes().all(|byte| byte == b'.') && begins_name_after(&rest[piece.len()..]) {
                continue;
            }
            if begins_like_a_path(rest) || begins_like_a_path(piece) {
                self.add(piece, Form::Spoken);
                self.add(rest, Form::Spoken);
                is_list = true;
            }
        }
        // The first piece is cut off only in a list: a root's name may contain a blank.
        let is_too_long = names_nothing(text);
        if (is_list || is_too_long)
            && let Some(end) = text.find([',', ';', '|', ':', '\n', '\r'])
        {
            self.add(&text[..end], Form::Spoken);
        }
        // SECURITY: the whole text is too long to open and is not checked, so check the part it starts with
        // (test: a_long_text_has_the_readings_of_a_short_one)
        if is_too_long && let Some(end) = text.find(ends_a_name) {
            self.add(&text[..end], Form::Spoken);
        }
        if text.starts_with('-') {
            for start in ["/", "~", ".."] {
                if let Some(at) = text.find(start) {
                    self.add(&text[at..], Form::Spoken);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
