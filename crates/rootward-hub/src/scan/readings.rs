//! Every reading that a server might make of a path.
//!
//! A guard takes a text as it is. Servers do not: they trim, unquote, decode, expand, split and collapse, some of it twice. A
//! path passes only where all that could come of it lies inside, so this file makes up what could. It errs on the side of more
//! readings: one too many costs something only if it lies outside.
//!
//! A plain text, which is almost every path, has one reading and costs nothing.

use std::collections::HashSet;
use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;

use super::decode::percent_decoded;
use super::expansion::{Expansion, Unset};
use super::value::{
    QUOTES, begins_like_a_path, file_uris, has_another_scheme, has_several_lines, is_invisible, is_trimmed,
};
use crate::fold::begins;

/// More readings than any honest path has.
const MOST: usize = 256;

/// The longest path: `PATH_MAX` of Linux (limits.h).
pub(crate) const LONGEST_PATH: usize = 4095;

/// The longest name in a path: `NAME_MAX` of Linux (limits.h).
const LONGEST_NAME: usize = 255;

/// How many bytes the readings of one text may have together: what takes more is refused.
const MOST_BYTES: usize = 4 << 20;

/// How a reading came about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Form {
    /// The text, or a part of it, with things taken off.
    Spoken,
    /// Decoded, expanded or otherwise made of it.
    Made,
}

/// Why the readings were not gone through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// Whoever got the readings had enough.
    Enough,
    /// There are too many.
    TooMany,
}

/// Makes up readings.
#[derive(Debug)]
pub(crate) struct Reader<'r> {
    expansion: &'r Expansion,
    queue: Vec<(String, Form)>,
    /// How many bytes the queue has.
    bytes: usize,
    known: HashSet<(String, Form)>,
}

impl<'r> Reader<'r> {
    /// Hands each reading of `text` to `judge`, the text itself first, until it has enough.
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

    /// What may be made of one reading.
    fn more(&mut self, text: &str, form: Form) {
        self.add(text.trim_matches(is_trimmed), form);
        self.add(text.trim_matches(QUOTES), form);
        if text.contains(is_invisible) {
            // SECURITY: who cleans a name up takes these out wherever they stand, and finds `..` or a path
            // (test: characters_that_nobody_sees)
            self.add(text.replace(is_invisible, ""), form);
        }
        if text.contains(['"', '\'']) {
            // As a shell would.
            self.add(text.replace(['"', '\''], ""), form);
        }
        if text.contains(char::is_control) {
            // URL readers drop tabs and line ends wherever they stand; readers in C stop at a NUL.
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
        // SECURITY: a server that normalises a name opens what it is then
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
            // As a shell would.
            self.add(text.replace('\\', ""), Form::Made);
        }
        if text.contains(['$', '%', '~']) {
            self.expanded(text);
        }
        if text.contains("....") {
            // What a filter leaves that takes `../` out once: `....//`.
            self.add(text.replace("../", "").replace("..\\", ""), Form::Made);
        }
        self.add(collapsed(text), Form::Made);
        self.fixed_part(text);
        self.braces(text);
        self.without_suffix(text);
        self.pieces(text);
    }

    /// `file:` in the middle of something: `jar:file:///a!/b`, `see file:///a`.
    fn file_uris(&mut self, text: &str, form: Form) {
        for uri in file_uris(text).filter(|uri| uri.len() < text.len()) {
            let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '!' | ')') || QUOTES.contains(&c);
            self.add(&uri[..uri.find(is_end).unwrap_or(uri.len())], form);
            self.add(uri, Form::Made);
        }
    }

    /// The path of a URI, however many slashes there are, with a host or without. Its escapes are undone: a root with a blank
    /// in its name is written with one.
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

    /// Variables and the home. One that is not set is left, or is nothing (Go's `os.ExpandEnv`), or is the word beside its name: a
    /// server's environment may be another than is known here.
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

    /// The directory that a pattern is looked for in.
    fn fixed_part(&mut self, text: &str) {
        if let Some(wild) = text.find(['*', '?', '[', '{'])
            && let Some(slash) = text[..wild].rfind('/')
        {
            self.add(if slash == 0 { "/" } else { &text[..slash] }, Form::Made);
        }
    }

    /// What a pattern's braces stand for, where dots come together by it: `.{.,x}/y` is `../y` to shells and to Node's globs. A whole
    /// path within braces is a piece.
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

    /// A query, a fragment or a line number behind the last name: `a.txt#top`, `a.txt:10`. Only there, because directories have
    /// such names, too.
    fn without_suffix(&mut self, text: &str) {
        let name = text.rfind('/').map_or(0, |slash| slash + 1);
        if let Some(end) = text[name..].find(['?', '#', ':']) {
            self.add(&text[..name + end], Form::Made);
        }
    }

    /// Paths within the text: in a list, behind `key=`, behind an option's letter.
    fn pieces(&mut self, text: &str) {
        let is_separator = |c: char| {
            c.is_whitespace()
                || matches!(c, ',' | ';' | ':' | '|' | '=' | '@' | '(' | '[' | '{' | '<' | '>' | '&')
                || QUOTES.contains(&c)
        };
        // Text of several lines is split at its lines only: what stands within them is prose or code.
        let splits: &dyn Fn(char) -> bool =
            if has_several_lines(text) { &|c| matches!(c, '\n' | '\r') } else { &is_separator };
        let has_drive = text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && text[1..].starts_with(':');
        let mut is_list = false;
        for (at, c) in text.char_indices().filter(|(at, c)| splits(*c) && !(has_drive && *at == 1)) {
            let rest = &text[at + c.len_utf8()..];
            // What ends a piece need not begin one: in `app/(group)/page` the bracket is part of a name. And within quotes or
            // between commas, a blank is part of it.
            let ends = |end: char| match c {
                c if QUOTES.contains(&c) => QUOTES.contains(&end),
                ',' | ';' | '|' => matches!(end, ',' | ';' | '|' | ')' | ']' | '}') || QUOTES.contains(&end),
                _ => splits(end) || matches!(end, ')' | ']' | '}'),
            };
            let piece = rest[..rest.find(ends).unwrap_or(rest.len())].trim_matches(is_trimmed);
            if self.is_full() {
                return;
            }
            // `app/(..)photo`: Next.js names its intercepting routes so.
            if c == '(' && piece.bytes().all(|byte| byte == b'.') && begins_name_after(&rest[piece.len()..]) {
                continue;
            }
            if begins_like_a_path(rest) || begins_like_a_path(piece) {
                self.add(piece, Form::Spoken);
                self.add(rest, Form::Spoken);
                is_list = true;
            }
        }
        // Only in a list has the first piece an end: a root may well have a blank in its name.
        let is_too_long = names_nothing(text);
        if (is_list || is_too_long)
            && let Some(end) = text.find([',', ';', '|', ':', '\n', '\r'])
        {
            self.add(&text[..end], Form::Spoken);
        }
        // SECURITY: the text itself cannot be opened and is not judged, so what it begins with is
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

/// `..`, `.` and doubled slashes gone by text alone, as Node's `path.resolve` and its like do it.
fn collapsed(text: &str) -> String {
    let is_absolute = text.starts_with('/');
    let mut names: Vec<&str> = Vec::new();
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => drop(names.pop()),
            ".." if is_absolute => {}
            name => names.push(name),
        }
    }
    let mut collapsed = String::with_capacity(text.len());
    for name in names {
        if is_absolute || !collapsed.is_empty() {
            collapsed.push('/');
        }
        collapsed.push_str(name);
    }
    match (collapsed.is_empty(), is_absolute) {
        (true, true) => "/".to_owned(),
        (true, false) => ".".to_owned(),
        _ => collapsed,
    }
}

/// The text in the form that Unicode calls NFKC, in which `\u{fe30}` is `..` and `\u{ff0f}` a slash (UAX #15). Nothing for plain text.
fn normalised(text: &str) -> String {
    if text.is_ascii() { String::new() } else { text.nfkc().collect() }
}

/// Characters that become slashes when text is squeezed into an old code page, and that NFKC leaves alone.
fn without_look_alikes(text: &str) -> String {
    if text.is_ascii() {
        return String::new();
    }
    let plain = |c: char| match c {
        '\u{2215}' | '\u{2044}' => '/',
        '\u{2216}' => '\\',
        c => c,
    };
    text.chars().map(plain).collect()
}

/// Too long for the kernel to open. What is shorter once it is collapsed is a reading of its own.
pub(crate) fn names_nothing(path: &str) -> bool {
    path.len() > LONGEST_PATH || path.split('/').any(|name| name.len() > LONGEST_NAME)
}

/// Whether a reader may cut a text off here, whatever it takes it for.
fn ends_a_name(c: char) -> bool {
    let is_of_names = matches!(c, '/' | '\\' | '.' | '_' | '-' | '+' | '~' | '@' | '%' | '$');
    c.is_whitespace() || c.is_control() || QUOTES.contains(&c) || (c.is_ascii_punctuation() && !is_of_names)
}

/// Whether a closing bracket stands here and belongs to a name: another bracket or a letter follows.
fn begins_name_after(bracket: &str) -> bool {
    let after = bracket.strip_prefix(')').and_then(|rest| rest.chars().next());
    after.is_some_and(|next| next == '(' || next.is_alphanumeric())
}

/// Whether a text has no other reading: letters, digits and a few marks that nobody makes anything of, no `..`, and short
/// enough to be opened as it is.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'+');
    text.len() <= LONGEST_PATH && text.bytes().all(is_plain) && !text.contains("..") && !text.starts_with('-')
}

/// Whether a text is one long run of letters, as base64 is: nothing is taken off it, split from it or made of it, and collapsed it is
/// still longer than any path.
fn is_blob(text: &str) -> bool {
    let run = text.trim_end_matches('=');
    let is_run = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+' | b'_' | b'-');
    run.len() > LONGEST_PATH
        && !run.starts_with('-')
        && run.bytes().all(is_run)
        && run.bytes().filter(|byte| *byte != b'/').count() > LONGEST_PATH
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expansion() -> Expansion {
        Expansion { home: Some("/home/me".to_owned()), variables: [("DATA".to_owned(), "/data".to_owned())].into() }
    }

    fn readings(text: &str) -> Vec<String> {
        let mut readings = Vec::new();
        let _ = Reader::each(&expansion(), text, &mut |reading, _| {
            readings.push(reading.to_owned());
            ControlFlow::Continue(())
        });
        readings
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let readings = readings(text);
        assert_eq!(readings[0], text, "the text itself comes first");
        for reading in expected {
            assert!(readings.iter().any(|known| known == reading), "{text:?} gives no {reading:?}: {readings:?}");
        }
    }

    #[test]
    fn a_plain_path_has_one_reading() {
        for text in ["a", "/a/b.c", "./a-b_c+1", "a//b/", "", "src/main.rs"] {
            assert_eq!(readings(text), [text]);
        }
    }

    #[test]
    fn trims_quotes_and_control_characters() {
        for text in [
            " /x",
            "/x ",
            "\t/x\n",
            "\u{a0}/x",
            "\u{feff}/x",
            "\u{200b}/x",
            "\0/x\0",
            "\"/x\"",
            "'/x'",
            "`/x`",
            "</x>",
            " \"/x\" ",
            "\" /x \"",
            "' \"/x\"",
            "\u{201c}/x\u{201d}",
            "/\tx",
            "/x\0.png",
            "\u{1}/x",
        ] {
            check(text, &["/x"]);
        }
    }

    #[test]
    fn characters_that_nobody_sees() {
        for unseen in [
            "\u{ad}",
            "\u{34f}",
            "\u{180e}",
            "\u{200b}",
            "\u{200d}",
            "\u{202a}",
            "\u{202e}",
            "\u{2060}",
            "\u{2066}",
            "\u{fe0f}",
            "\u{feff}",
            "\u{fffd}",
            "\u{e0001}",
            "\u{e0020}",
            "%e2%80%aa",
            "%ff",
        ] {
            check(&format!("{unseen}/x"), &["/x"]);
            check(&format!("a/.{unseen}./../x"), &["../x"]);
            check(&format!("~{unseen}/x"), &["/home/me/x"]);
            check(&format!("fi{unseen}le:///x"), &["/x"]);
        }
    }

    #[test]
    fn escapes_and_backslashes() {
        for text in [
            "%2fx",
            "%252fx",
            "%25252fx",
            "\\x",
            "%5cx",
            "%c0%afx",
            "%u002fx",
            "\u{ff0f}x",
            "%20/x",
            "\"%2fx\"",
            "\\/x",
        ] {
            check(text, &["/x"]);
        }
        check("..\\..\\x", &["../../x"]);
        check("%2e%2e%5c\u{2025}/x", &["../../x"]);
        check("my\\ file", &["my file", "my/ file"]);
    }

    #[test]
    fn characters_that_normalise_to_dots_and_slashes() {
        // Every character whose NFKC is one of those that paths are made of.
        for (like, plain) in [
            ("\u{fe30}", ".."),
            ("\u{2025}", ".."),
            ("\u{2024}\u{2024}", ".."),
            ("\u{fe52}.", ".."),
            ("\u{ff0e}\u{fe52}", ".."),
            ("\u{2026}", "..."),
            ("\u{fe19}", "..."),
        ] {
            check(&format!("{like}/x"), &[&format!("{plain}/x")]);
            check(&format!("a/{like}/{like}/x"), &[&format!("a/{plain}/{plain}/x")]);
            check(&format!("file:///a/{like}/x"), &[&format!("/a/{plain}/x")]);
        }
        for slash in ["\u{ff0f}", "\u{2215}", "\u{2044}", "\u{ff3c}", "\u{fe68}", "\u{2216}"] {
            check(&format!("..{slash}x"), &["../x"]);
            check(&format!("\u{fe30}{slash}x"), &["../x"]);
        }
        check("\u{ff5e}/x", &["/home/me/x"]);
        check("\u{ff04}HOME/x", &["/home/me/x"]);
        check("\u{fe69}HOME/x", &["/home/me/x"]);
        check("\u{ff05}2fx", &["/x"]);
        check("\u{fe6a}2fx", &["/x"]);
        check("file\u{ff1a}///x", &["/x"]);
        check("\u{ff46}ile\u{fe55}///x", &["/x"]);
        check("\u{2100}", &["a/c"]);
        assert_eq!(readings("käse/straße"), ["käse/straße"]);
    }

    #[test]
    fn variables_and_home() {
        for text in [
            "~/x",
            "$HOME/x",
            "${HOME}/x",
            "%USERPROFILE%/x",
            "%USERPROFILE%\\x",
            "$env:HOME/x",
            "${env:HOME}/x",
            "\"$HOME\"/x",
            "${HOME:-/y}/x",
            "%24HOME/x",
        ] {
            check(text, &["/home/me/x"]);
        }
        check("$DATA/$NONE/x", &["/data/$NONE/x", "/data//x"]);
        check("$NONE/etc", &["/etc"]);
        check("a$DATA", &["a/data"]);
        for text in [
            "${NONE:-/x}",
            "${NONE-/x}",
            "${NONE:=/x}",
            "${NONE=/x}",
            "${DATA:+/x}",
            "${DATA+/x}",
            "${DATA:-/x}",
            "${NONE:?/x}",
            "${NONE:-${DATA:-/x}}",
            "${NONE:-${NONE-/x}}",
            "${NONE:-/${NONE}}x",
            "$NONE${NONE:-/x}",
            "${env:NONE:-/x}",
            "%24{NONE:-/x}",
        ] {
            check(text, &["/x"]);
        }
        check("${NONE:-/x}/../y", &["/y"]);
        check("${DATA%a}/x", &["/data/x"]);
        check("${DATA:0:2}/x", &["/data/x"]);
        assert!(!readings("a/~/x").iter().any(|reading| reading.contains("home")));
    }

    #[test]
    fn what_go_takes_for_a_variable_is_nothing() {
        for special in
            ["$*", "$#", "$$", "$@", "$!", "$?", "$-", "$1", "${*}", "${@}", "${}", "${!X}", "${a b}", "${.}"]
        {
            check(&format!("{special}/x"), &["/x"]);
            check(&format!("a/.{special}./../x"), &["../x"]);
        }
        check("$*$*/x", &["/x"]);
        check("${a}$$/x", &["/x"]);
    }

    #[test]
    fn uris() {
        for text in [
            "file:///x",
            "file:/x",
            "FILE:///x",
            "file://localhost/x",
            "file://host/x",
            "file:////x",
            "file:x",
            "file://x",
            "file:\\\\\\x",
            "file:///%78",
            "file:///x?y",
            "file:///x#y",
            "fi\tle:///x",
            "see file:///x",
            "jar:file:///x!/y",
            "git+file:///x",
            "file%3a///x",
            "sqlite:////x",
            "sqlite+aiosqlite:////x?mode=rw",
        ] {
            check(text, &["/x"]);
        }
        check("file:///a/..%2f..%2fx", &["/x"]);
    }

    #[test]
    fn pieces_of_lists_and_options() {
        for text in [
            "a,/x",
            "a;/x",
            "ab:/x",
            "a /x",
            "a|/x",
            "--output=/x",
            "-o/x",
            "@/x",
            "a=/x,b",
            "/x:/y",
            "[/x]",
            "{/x,y}",
            "a:\"/x\"",
            "a\n/x",
            "/x\n/b",
        ] {
            check(text, &["/x"]);
        }
        check("HEAD:../x", &["../x"]);
        check("-C..", &[".."]);
        check("(..)", &[".."]);
        check("(../x)y", &["../x"]);
        check("a (..)/x", &[".."]);
        for text in ["app/(..)photo/[id]/page.tsx", "app/(..)(..)photo/page.tsx", "app/(...)photo", "(.)x"] {
            assert!(!readings(text).iter().any(|reading| reading.starts_with('.')), "{text}");
        }
        check("--a=/b c/../../x", &["/x"]);
        for text in ["https://a/,/x", "data:image/jpeg;base64,/9j/", "C:/x"] {
            assert!(!readings(text).iter().any(|reading| reading.starts_with('/')), "{text}");
        }
    }

    #[test]
    fn patterns_and_collapse() {
        check("/x/*.rs", &["/x"]);
        check("/*", &["/"]);
        check("../{a,b}/c", &[".."]);
        for text in [".{.,x}/y", "{.,}./y", "{.,x}{.,x}/y", "{,.}.{,x}/y", "{a,{.,b}}./y", ".{./y,x}", "{a/../.,x}./y"]
        {
            check(text, &["../y"]);
        }
        check("a/../../x", &["../x"]);
        check("/a/./b/../../../x", &["/x"]);
        check("a/..", &["."]);
        check("*/../../x", &["../x"]);
        check("....//....//x", &["../../x"]);
        for text in ["/x#y", "/x?y", "/x:10:2"] {
            check(text, &["/x"]);
        }
        assert!(
            !readings("/home/c#-project/x")
                .iter()
                .any(|reading| reading.starts_with("/home/c") && !reading.contains('#'))
        );
    }

    /// Longer than anything that is opened: what is hidden in it is a reading all the same.
    #[test]
    fn a_long_text_has_the_readings_of_a_short_one() {
        let filler = "a".repeat(1 << 16);
        let wide = |c: &str| c.repeat(1 << 16);
        // A single name that is too long, and more than any path has.
        for filler in ["a".repeat(300), "a".repeat(1 << 16)] {
            for text in [
                "/x,",
                "/x;",
                "/x|",
                "/x ",
                "/x\t",
                "/x\"",
                "/x=",
                "/x\n",
                "/x)",
                "/x>",
                "/x?a/",
                "/x!",
                "file:///x,",
                "file:///x ",
            ] {
                let long = format!("{text}{filler}");
                assert!(readings(&long).iter().any(|reading| reading == "/x"), "{text:?}…");
            }
        }
        for text in [
            format!("{}/x", wide(" ")),
            format!("/x{}", wide(" ")),
            format!("{}/x", wide("\0")),
            format!("/x\0{filler}"),
            format!("{0}/x{0}", wide("\"")),
            format!("file:///x?{filler}"),
            format!("file:///x#{filler}"),
            format!("{filler},/x"),
            format!("/x,{filler}"),
            format!("{filler} /x"),
            format!("{filler}=/x"),
            format!("{filler}\n/x"),
            format!("{}/x", wide("-")),
            format!("--{filler}=/x"),
            format!("{filler} file:///x"),
            format!("{}x", wide("/")),
            format!("/{}x", wide("./")),
            format!("/{filler}/../x"),
            format!("%2f{}x", wide("%2f")),
            format!("/x?{filler}"),
            format!("/x:{filler}"),
            format!("/x/*{filler}"),
            format!("${{NONE}}{}x", wide("/")),
        ] {
            let readings = readings(&text);
            assert!(readings.iter().any(|reading| reading == "/x"), "{:?}…", &text[..text.len().min(40)]);
        }
    }

    #[test]
    fn a_text_with_too_many_bytes_to_read_is_refused() {
        let read = |text: &str| Reader::each(&expansion(), text, &mut |_, _| ControlFlow::Continue(()));
        assert_eq!(read(&format!("'{}'", "a b".repeat(MOST_BYTES / 3 + 1))), Err(Stop::TooMany));
        assert_eq!(read(&format!("/{}", "a ~/".repeat(1 << 17))), Err(Stop::TooMany));
        // What has no other reading is not refused for its length.
        for text in ["/9j/", "AAAA", "data:image/png;base64,AAAA", "https://example.org/"] {
            let text = format!("{text}{}==", "QUJD/9+-".repeat(MOST_BYTES / 7));
            assert_eq!(read(&text), Ok(()), "{}", &text[..30]);
        }
    }
}
