//! Adds a server's last output and refused accesses to the error that its client gets.

use rootward_core::{Guard, Shown};
use rootward_protocol::shown;
use rootward_sandbox::{PermittingFlag, Refused};
use serde_json::json;

use crate::engine::Failure;

/// How many bytes of a server's standard error are kept.
const KEPT: usize = 8 << 10;
/// How many of its last lines are shown.
const MOST_LINES: usize = 8;
/// Maximum length of each line, in characters.
const LONGEST_LINE: usize = 500;
/// How many refused paths are shown.
const MOST_REFUSED: usize = 8;
/// How many withheld variables are shown.
const MOST_WITHHELD: usize = 8;
/// Values shorter than this are not masked: they are not secrets and occur in any text.
const SHORTEST_SECRET: usize = 6;

/// The end of a server's standard error.
#[derive(Debug, Default)]
pub(super) struct LastWords {
    bytes: Vec<u8>,
    /// Whether earlier output was dropped.
    cut: bool,
}

impl LastWords {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * KEPT {
            self.bytes.drain(..self.bytes.len() - KEPT);
            self.cut = true;
        }
    }

    /// The last lines, with these values masked.
    fn lines(&self, heard: Heard, secrets: &[String]) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.bytes);
        // SECURITY: an incomplete line may contain part of a secret, which would not be found
        // (test: values_of_variables_are_masked)
        let text = if self.cut { text.split_once('\n').map_or("", |(_, rest)| rest) } else { &*text };
        let text = match heard {
            Heard::ToTheEnd => text,
            Heard::InPart => text.rsplit_once('\n').map_or("", |(rest, _)| rest),
        };
        let text = masked(text.to_owned(), secrets);
        let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
        let lines: Vec<String> = lines.map(|line| shown(line, LONGEST_LINE)).collect();
        lines[lines.len().saturating_sub(MOST_LINES)..].to_vec()
    }
}

/// Whether standard error was read to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Heard {
    ToTheEnd,
    InPart,
}

/// Masks these values and each of their lines, as plain text and in JSON form.
fn masked(mut text: String, secrets: &[String]) -> String {
    let mut forms: Vec<String> = Vec::new();
    for secret in secrets {
        let parts = [secret.as_str(), secret.trim()].into_iter().chain(secret.lines().map(str::trim));
        for part in parts.filter(|part| part.len() >= SHORTEST_SECRET) {
            let json = serde_json::Value::from(part).to_string();
            forms.extend([part.to_owned(), json.trim_matches('"').to_owned()]);
        }
    }
    // Longest first, because one value may be a prefix of another.
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    for form in &forms {
        text = text.replace(form.as_str(), "***");
    }
    text
}

/// A server that has ended.
#[derive(Debug)]
pub(super) struct Ended<'e> {
    /// The exit code, if already known.
    pub(super) code: Option<i32>,
    pub(super) words: &'e LastWords,
    pub(super) heard: Heard,
    /// The accesses that were refused, if they were traced.
    pub(super) refused: &'e [Refused],
    /// The values of variables that it was given.
    pub(super) secrets: &'e [String],
    /// The names of variables that it was not given.
    pub(super) withheld: &'e [String],
    /// The roots that it ran with.
    pub(super) guard: &'e Guard,
}

impl Ended<'_> {
    /// The error for its client.
    pub(super) fn failure(&self) -> Failure {
        let how = self.code.map_or_else(|| "it closed its pipes".to_owned(), |code| format!("exit code {code}"));
        let lines = self.words.lines(self.heard, self.secrets);
        let refused: Vec<&Refused> = self.refused.iter().take(MOST_REFUSED).collect();
        let mut says = vec![format!("the server ended ({how}) before it answered")];
        if let Some(last) = lines.last() {
            says.push(format!("its last output was: {last}"));
        }
        for refused in &refused {
            let path = Shown::new(&refused.path);
            let to = if refused.socket.is_some() { "connect to" } else { &refused.access };
            says.push(match refused.permit() {
                Some(PermittingFlag::WithPath(flag)) => {
                    format!("it was not allowed to {to} `{path}` (`rootward wrap {flag} {path}` would permit it)")
                }
                Some(PermittingFlag::Alone(flag)) => {
                    format!(
                        "one of its child processes tried to {to} `{path}`, which only the first process may (`rootward wrap \
                         {flag}` allows it for all)"
                    )
                }
                None => format!("it was not allowed to {to} `{path}`"),
            });
        }
        let withheld = &self.withheld[..self.withheld.len().min(MOST_WITHHELD)];
        if let Some(name) = withheld.first() {
            let names = withheld.join(", ");
            says.push(format!(
                "it was not given these variables: {names} (pass one with `rootward wrap --env {name}`)"
            ));
        }
        if self.guard.roots().is_empty() {
            says.push("it ran without directories: name one with `rootward wrap --root DIR`".to_owned());
        }
        let tried =
            |refused: &Refused| json!({"path": Shown::new(&refused.path).to_string(), "access": refused.access});
        let data = json!({
            "exitCode": self.code,
            "stderr": lines,
            "refused": refused.into_iter().map(tried).collect::<Vec<_>>(),
            "withheld": withheld,
        });
        Failure { how, says: says.join("; "), data: Some(data) }
    }
}

#[cfg(test)]
mod tests {
    use rootward_core::{GuardOptions, RootSet};

    use super::*;

    #[test]
    fn values_of_variables_are_masked() {
        let secrets =
            ["s3cr3t-value", "ab", "martin", "martin2024!", "-----BEGIN\nMIIEvQ\n-----END"].map(str::to_owned);
        let check = |text: &str, heard: Heard, expect: &[&str]| {
            let mut words = LastWords::default();
            words.add(text.as_bytes());
            assert_eq!(words.lines(heard, &secrets), expect, "{text}");
        };
        check("one\n\nbad key s3cr3t-value, ab\x1b[31m\n", Heard::ToTheEnd, &["one", r"bad key ***, ab\u{1b}[31m"]);
        check("login martin2024! of martin", Heard::ToTheEnd, &["login *** of ***"]);
        check(r#"{"key": "-----BEGIN\nMIIEvQ\n-----END"}"#, Heard::ToTheEnd, &[r#"{"key": "***"}"#]);
        check("-----BEGIN\nMIIEvQ\n", Heard::ToTheEnd, &["***", "***"]);
        check("a line\ns3cr3t-va", Heard::InPart, &["a line"]);
        let mut words = LastWords::default();
        for _ in 0..KEPT {
            words.add(b"s3cr3t-value ");
        }
        words.add(b"\nthe end\n");
        assert_eq!(words.lines(Heard::ToTheEnd, &secrets), ["the end"]);
        assert!(words.bytes.len() <= 2 * KEPT);
    }

    #[test]
    fn a_refused_access_names_the_flag_that_permits_it() {
        let refused = |path: &str, access: &str| Refused { path: path.into(), access: access.to_owned(), socket: None };
        let refused =
            [refused("/proc/self/maps", "read"), refused("/proc/12/environ", "read"), refused("/srv/a", "write")];
        let guard = Guard::new(RootSet::default(), GuardOptions::default());
        let (words, secrets, withheld) = (LastWords::default(), [], []);
        let ended = Ended {
            code: Some(1),
            words: &words,
            heard: Heard::ToTheEnd,
            refused: &refused,
            secrets: &secrets,
            withheld: &withheld,
            guard: &guard,
        };
        let says = ended.failure().says;
        assert!(says.contains("one of its child processes tried to read `/proc/self/maps`"), "{says}");
        assert!(says.contains("`rootward wrap --own-proc`"), "{says}");
        assert!(says.contains("it was not allowed to read `/proc/12/environ`; "), "{says}");
        assert!(says.contains("`rootward wrap --allow-write /srv/a` would permit it"), "{says}");
    }
}
