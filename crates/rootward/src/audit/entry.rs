//! One recorded decision or change, as a line for people or for programs.

use std::fmt::{self, Display, Write};
use std::time::{Duration, UNIX_EPOCH};

use rootward_core::Shown;
use serde::Deserialize;

use super::chosen::{last_part, without_version};

/// The first moment whose year has five digits, in milliseconds since 1970.
const YEAR_10000: u64 = 253_402_300_800_000;

/// How much of a client's or a server's name to show in a line for people, in characters.
const LONGEST_NAME: usize = 32;

/// A decision or a change, and its line.
#[derive(Debug)]
pub(super) struct Entry {
    line: String,
    event: Event,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Event {
    Decided(Box<Decided>),
    Changed(Changed),
}

/// The shown parts of a change to what is shared.
#[derive(Debug, Deserialize)]
struct Changed {
    time: u64,
    requester: String,
    change: Change,
    root: String,
    name: Option<String>,
    access: Vec<String>,
    #[serde(rename = "for")]
    peers: Option<Vec<String>>,
    consent: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Change {
    Add,
    Remove,
    Rename,
    Grant,
}

/// The shown parts of a decision.
#[derive(Debug, Deserialize)]
struct Decided {
    time: u64,
    session: String,
    /// Absent in lines of older versions, and if unknown; so are the next two.
    principal: Option<String>,
    client: Option<String>,
    server: Option<String>,
    requester: String,
    path: String,
    access: Vec<String>,
    decision: Decision,
    code: Option<String>,
    /// Why a root was left out.
    reason: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Decision {
    Allow,
    Deny,
}

/// The first line of a file, which describes the file.
#[derive(Debug, Deserialize)]
struct First {
    #[serde(rename = "log")]
    _log: String,
    #[serde(rename = "after")]
    _after: String,
}

/// A line of a log.
#[derive(Debug)]
pub(super) enum Line {
    /// A decision or a change.
    Entry(Entry),
    /// The first line of a file.
    First,
    /// Not a line that Rootward writes.
    Unreadable,
}

impl Line {
    pub(super) fn read(line: &[u8]) -> Line {
        let Ok(line) = str::from_utf8(line) else {
            return Line::Unreadable;
        };
        match serde_json::from_str(line) {
            Ok(event) => Line::Entry(Entry { line: line.to_owned(), event }),
            Err(_) if serde_json::from_str::<First>(line).is_ok() => Line::First,
            Err(_) => Line::Unreadable,
        }
    }
}

impl Entry {
    /// When, in milliseconds since 1970.
    pub(super) fn time(&self) -> u64 {
        match &self.event {
            Event::Decided(decided) => decided.time,
            Event::Changed(changed) => changed.time,
        }
    }

    /// The client's name, if the entry has one.
    pub(super) fn client(&self) -> Option<&str> {
        match &self.event {
            Event::Decided(decided) => decided.client.as_deref(),
            Event::Changed(_) => None,
        }
    }

    /// The server's name, if the entry has one.
    pub(super) fn server(&self) -> Option<&str> {
        match &self.event {
            Event::Decided(decided) => decided.server.as_deref(),
            Event::Changed(_) => None,
        }
    }

    pub(super) fn is_denied(&self) -> bool {
        matches!(&self.event, Event::Decided(decided) if decided.decision == Decision::Deny)
    }

    /// The line as recorded, with unsafe characters escaped.
    pub(super) fn as_json(&self) -> String {
        let mut shown = String::with_capacity(self.line.len());
        for letter in self.line.chars() {
            match letter {
                ' '..='~' => shown.push(letter),
                // JSON has these only between tokens.
                '\t' | '\r' | '\n' => shown.push(' '),
                // SECURITY: JSON may contain characters that a terminal obeys, for example in the name of a tool
                // (test: no_entry_moves_the_cursor)
                _ if letter.escape_debug().count() > 1 => escape(letter, &mut shown),
                _ => shown.push(letter),
            }
        }
        shown
    }
}

/// A character as a JSON escape.
fn escape(letter: char, shown: &mut String) {
    for unit in letter.encode_utf16(&mut [0; 2]) {
        // Writing to a string cannot fail.
        let _ = write!(shown, "\\u{unit:04x}");
    }
}

impl Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.event {
            Event::Decided(decided) => decided.fmt(f),
            Event::Changed(changed) => changed.fmt(f),
        }
    }
}

/// The words of an access, made safe to show.
fn shown_access(access: &[String]) -> String {
    let access = if access.is_empty() { "none".to_owned() } else { access.join(", ") };
    Shown::new(&access).to_string()
}

impl Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Changed { time, requester, change, root, name, access, peers, consent } = self;
        let change = match change {
            Change::Add => "add",
            Change::Remove => "remove",
            Change::Rename => "rename",
            Change::Grant => "grant",
        };
        write!(f, "{}  {change:<5}  {:<7}  {}  ", moment(*time), shown_access(access), Quoted(root))?;
        if let Some(name) = name {
            write!(f, "called {}, ", Quoted(name))?;
        }
        match peers {
            None => write!(f, "for all, ")?,
            Some(peers) => {
                let peers: Vec<String> = peers.iter().map(|peer| Quoted(peer).to_string()).collect();
                write!(f, "for {}, ", if peers.is_empty() { "nobody".to_owned() } else { peers.join(", ") })?;
            }
        }
        write!(f, "yes {}, by {}", Shown::new(consent), Quoted(requester))
    }
}

impl Display for Decided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Decided { time, session, principal, client, server, requester, path, access, decision, code, reason } =
            self;
        let decision = match decision {
            Decision::Allow => "allow",
            Decision::Deny => "deny",
        };
        let access = shown_access(access);
        write!(f, "{}  {decision:<5}  {access:<7}  {}  ", moment(*time), Quoted(path))?;
        if let Some(code) = code {
            write!(f, "{}  ", Shown::new(code))?;
        }
        if let Some(reason) = reason {
            write!(f, "root left out: {}  ", Shown::new(reason))?;
        }
        if !requester.is_empty() {
            write!(f, "by {}, ", Quoted(requester))?;
        }
        if let Some(principal) = principal {
            write!(f, "for {}, ", Quoted(&shortened(principal)))?;
        }
        if let Some(client) = client {
            write!(f, "from {}, ", Quoted(&shortened(without_version(client))))?;
        }
        if let Some(server) = server {
            write!(f, "to {}, ", Quoted(&shortened(last_part(server))))?;
        }
        write!(f, "session {}", Shown::new(session))
    }
}

/// The name of a client or a server, in a line that also has a path.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// A text in backticks; backticks inside it are escaped.
struct Quoted<'t>(&'t str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SECURITY: a path that could end its own quotes could imitate a code and another's request
        // (test: no_entry_moves_the_cursor)
        write!(f, "`{}`", Shown::new(self.0).to_string().replace('`', "\\u{60}"))
    }
}

/// A time as date and time of day, UTC.
fn moment(milliseconds: u64) -> String {
    // The formatter fails on later times, and a line with such a time is forged.
    if milliseconds >= YEAR_10000 {
        return milliseconds.to_string();
    }
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(milliseconds)).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event() -> Value {
        json!({
            "time": 1_767_323_045_678_u64, "session": "1", "requester": "tools/call read", "path": "/p/a", "resolved": null,
            "access": ["read"], "decision": "allow", "code": null, "root": "/p", "generation": 1, "chain": "x",
        })
    }

    fn entry(line: &str) -> Entry {
        match Line::read(line.as_bytes()) {
            Line::Entry(entry) => entry,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_line_for_people() {
        let check = |changes: Value, expect: &str| {
            let mut event = event();
            for (member, value) in changes.as_object().unwrap() {
                event[member] = value.clone();
            }
            assert_eq!(entry(&event.to_string()).to_string(), expect);
        };
        check(json!({}), "2026-01-02T03:04:05.678Z  allow  read     `/p/a`  by `tools/call read`, session 1");
        check(
            json!({"client": "claude-code 2.1.0", "server": "@modelcontextprotocol/server-filesystem", "process": 7}),
            "2026-01-02T03:04:05.678Z  allow  read     `/p/a`  by `tools/call read`, from `claude-code`, to `server-filesystem`, session 1",
        );
        check(
            json!({"path": "file:///srv/x", "decision": "deny", "reason": "does not exist", "requester": "roots/list"}),
            "2026-01-02T03:04:05.678Z  deny   read     `file:///srv/x`  root left out: does not exist  by `roots/list`, session 1",
        );
        check(
            json!({"principal": "ada", "client": "editor"}),
            "2026-01-02T03:04:05.678Z  allow  read     `/p/a`  by `tools/call read`, for `ada`, from `editor`, session 1",
        );
        check(
            json!({"client": "a`\u{1b}", "server": "x".repeat(100), "requester": ""}),
            &format!(
                "2026-01-02T03:04:05.678Z  allow  read     `/p/a`  from `a\\u{{60}}\\u{{1b}}`, to `{}…`, session 1",
                "x".repeat(32)
            ),
        );
        let denied = json!({"decision": "deny", "code": "outside_roots", "access": ["read", "write"], "requester": ""});
        check(denied, "2026-01-02T03:04:05.678Z  deny   read, write  `/p/a`  outside_roots  session 1");
        check(
            json!({"time": u64::MAX, "access": [], "session": "\n", "path": "a`  b\u{1b}", "requester": "\u{9b}2J"}),
            "18446744073709551615  allow  none     `a\\u{60}  b\\u{1b}`  by `\\u{9b}2J`, session \\n",
        );
        check(
            json!({"time": YEAR_10000 - 1, "access": ["\u{202e}"], "code": "\r"}),
            "9999-12-31T23:59:59.999Z  allow  \\u{202e}  `/p/a`  \\r  by `tools/call read`, session 1",
        );
    }

    #[test]
    fn a_line_about_a_change() {
        let check = |changes: Value, expect: &str| {
            let mut event = json!({
                "time": 1_767_323_045_678_u64, "requester": "rootward roots add", "change": "add", "root": "/p", "name": null,
                "access": ["read"], "restrict": [], "for": null, "forced": false, "consent": "always", "chain": "x",
            });
            for (member, value) in changes.as_object().unwrap() {
                event[member] = value.clone();
            }
            let entry = entry(&event.to_string());
            assert!(!entry.is_denied());
            assert_eq!(entry.to_string(), format!("2026-01-02T03:04:05.678Z  {expect}"));
        };
        check(json!({}), "add    read     `/p`  for all, yes always, by `rootward roots add`");
        check(
            json!({"change": "remove", "name": "a`\u{1b}", "for": ["git", "\n"], "consent": "session", "access": []}),
            "remove  none     `/p`  called `a\\u{60}\\u{1b}`, for `git`, `\\n`, yes session, by `rootward roots add`",
        );
        check(json!({"for": []}), "add    read     `/p`  for nobody, yes always, by `rootward roots add`");
    }

    #[test]
    fn a_line_for_programs_says_the_same() {
        let plain = event().to_string();
        assert_eq!(entry(&plain).as_json(), plain);
        let mut odd = event();
        odd["requester"] = "käse\u{7f}\u{9b}\u{202e}\u{e0001}\u{1f600}\u{1b}\"\\".into();
        let line = odd.to_string().replacen(',', "\t,\r", 1);
        let shown = entry(&line).as_json();
        assert!(shown.contains(r#""käse\u007f\u009b\u202e\udb40\udc01😀\u001b\"\\""#), "{shown}");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), odd);
        assert!(!shown.contains(['\t', '\r']), "{shown}");
    }

    #[test]
    fn lines_that_are_no_decisions() {
        let check = |line: &[u8], first: bool| match Line::read(line) {
            Line::First => assert!(first),
            Line::Unreadable => assert!(!first),
            Line::Entry(entry) => panic!("{entry:?}"),
        };
        check(br#"{"log":"1-2-3","after":"","chain":"x"}"#, true);
        check(br#"{"log":"1-2-3"}"#, false);
        check(b"", false);
        check(b"\xff", false);
        check(event().to_string().replace("allow", "perhaps").as_bytes(), false);
    }
}
