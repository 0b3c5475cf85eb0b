//! Everything on standard error: errors, warnings and hints, in one format.
//!
//! Lower case, no full stop, what the user typed in backticks; the way out as a hint after a blank line.

use std::ffi::OsStr;
use std::fmt::{self, Display};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rootward_core::Shown;
use rootward_core::env::EnvironmentError;

/// An error with a hint on how to fix it.
#[derive(Debug)]
pub(crate) struct Hinted {
    /// What is wrong.
    pub(crate) says: String,
    /// What to do about it.
    pub(crate) hint: String,
}

impl Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.says)
    }
}

impl std::error::Error for Hinted {}

impl From<EnvironmentError> for Hinted {
    fn from(EnvironmentError { says, hint }: EnvironmentError) -> Hinted {
        Hinted { says, hint }
    }
}

/// Something was refused or went wrong.
pub(crate) fn error(text: &str) {
    line(&format!("error: {text}"));
}

/// Something was left out; the program continues without it.
pub(crate) fn warning(text: &str) {
    line(&format!("warning: {text}"));
}

/// Warns a person who runs a verb that a client should start.
#[cfg(any(feature = "serve", feature = "wrap"))]
pub(crate) fn warn_on_terminal(verb: &str) {
    if io::IsTerminal::is_terminal(&io::stdin()) {
        warning(&format!(
            "`rootward {verb}` speaks MCP on standard input; add it to a client's settings instead of running it here"
        ));
    }
}

/// Hints, after a blank line.
pub(crate) fn hints(hints: &[String]) {
    for hint in hints {
        line(&format!("\nhint: {hint}"));
    }
}

/// The error that ended the program early. A closed pipe is not reported: `rootward … | head` is normal.
pub(crate) fn failure(failure: &anyhow::Error) {
    if reader_left(failure) {
        return;
    }
    error(&told(failure));
    if let Some(hinted) = failure.downcast_ref::<Hinted>() {
        hints(std::slice::from_ref(&hinted.hint));
    }
}

/// The same in one line, hint included: for an answer to a client.
#[cfg(feature = "wrap")]
pub(crate) fn in_one_line(failure: &anyhow::Error) -> String {
    let hint = failure.downcast_ref::<Hinted>().map(|hinted| format!("; {}", hinted.hint));
    format!("{}{}", told(failure), hint.unwrap_or_default())
}

/// Whether it failed because nobody reads the output now.
pub(crate) fn reader_left(failure: &anyhow::Error) -> bool {
    failure.chain().any(|cause| system_kind(cause) == Some(ErrorKind::BrokenPipe))
}

/// A failure in one line. The verbs write only answers, so a system error without context is about writing those.
pub(crate) fn told(failure: &anyhow::Error) -> String {
    let unexplained = failure.chain().next().is_some_and(|outermost| system_kind(outermost).is_some());
    let answer = unexplained.then(|| "the answer cannot be written".to_owned());
    let outermost: &(dyn std::error::Error + 'static) = failure.as_ref();
    answer.into_iter().chain([causes(outermost)]).collect::<Vec<_>>().join(": ")
}

/// An error and its causes, in one line.
pub(crate) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    let told = chain.map(|cause| match system_kind(cause) {
        Some(_) => system_text(&cause.to_string()),
        None => cause.to_string(),
    });
    told.collect::<Vec<_>>().join(": ")
}

/// The kind of a system error; `serde_json` wraps `io::Error` in a type of its own.
fn system_kind(cause: &(dyn std::error::Error + 'static)) -> Option<ErrorKind> {
    let json = || cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
    cause.downcast_ref::<io::Error>().map(io::Error::kind).or_else(json)
}

/// The system's message in the house format: lower case, without the error number.
pub(crate) fn system_text(says: &str) -> String {
    let says = says.split(" (os error").next().unwrap_or(says);
    let mut letters = says.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Whether to drop lines that cannot be written without waiting.
#[cfg(feature = "wrap")]
static IN_PASSING: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// From now on, never wait to write a line: a host that does not read standard error must not block a server.
#[cfg(feature = "wrap")]
pub(crate) fn never_wait() {
    IN_PASSING.store(true, std::sync::atomic::Ordering::Relaxed);
}

pub(crate) fn line(text: &str) {
    #[cfg(feature = "wrap")]
    if IN_PASSING.load(std::sync::atomic::Ordering::Relaxed) {
        return line_in_passing(text);
    }
    // If standard error is closed, there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes a line unless that would block: a host that does not read standard error must not block a server. A pipe
/// that accepts anything accepts a page.
#[cfg(any(feature = "serve", feature = "wrap"))]
pub(crate) fn line_in_passing(text: &str) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    const PAGE: usize = 4096 - 1;
    let stderr = io::stderr().lock();
    let mut polled = [PollFd::new(&stderr, PollFlags::OUT)];
    let at_once = Timespec::default();
    if poll(&mut polled, Some(&at_once)).is_ok_and(|ready| ready > 0) {
        let end = text.floor_char_boundary(PAGE);
        let _ = writeln!(io::stderr(), "{}", &text[..end]);
    }
}

/// A path as a person writes it: `~` for the home.
pub(crate) fn from_home(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", Shown::new(rest)),
        None => Shown::new(path).to_string(),
    }
}

/// A path with its suffix, quoted for a shell: `~/'my app':ro`.
pub(crate) fn for_shell(path: &Path, home: Option<&Path>, suffix: &str) -> String {
    let (start, rest) = match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => return format!("~{suffix}"),
        Some(rest) => ("~/", rest),
        None => ("", path),
    };
    format!("{start}{}{suffix}", quoted(rest.as_os_str()))
}

/// An argument, quoted for a shell.
#[cfg(feature = "roots")]
pub(crate) fn word_for_shell(word: &str) -> String {
    match word {
        "" => "''".to_owned(),
        // Some shells look up a program by the name after `=`.
        _ if word.starts_with('=') => format!("''{}", quoted(OsStr::new(word))),
        _ => quoted(OsStr::new(word)),
    }
}

fn quoted(text: &OsStr) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+,:@%=".contains(byte);
    let shown = Shown::new(text).to_string();
    let bytes = text.as_bytes();
    if bytes.iter().all(plain) {
        shown
    } else if shown.as_bytes() == bytes {
        format!("'{}'", shown.replace('\'', r"'\''"))
    } else {
        // Not printable: each such byte as an escape that shells understand.
        let odd = |byte: &u8| if plain(byte) { char::from(*byte).to_string() } else { format!("\\x{byte:02x}") };
        format!("$'{}'", bytes.iter().map(odd).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_house_form() {
        let full = || io::Error::from_raw_os_error(28);
        let check = |failure: anyhow::Error, expect: &str| assert_eq!(told(&failure), expect);
        check(full().into(), "the answer cannot be written: no space left on device");
        check(serde_json::Error::io(full()).into(), "the answer cannot be written: no space left on device");
        check(anyhow::Error::new(full()).context("`x` cannot be read"), "`x` cannot be read: no space left on device");
        check(anyhow::anyhow!("Something"), "Something");
    }

    #[test]
    fn paths_from_home() {
        let check = |path: &str, expect: &str| {
            assert_eq!(from_home(Path::new(path), Some(Path::new("/home/me"))), expect);
            assert_eq!(from_home(Path::new(path), None), path);
        };
        check("/home/me", "~");
        check("/home/me/src/app", "~/src/app");
        check("/home/mel", "/home/mel");
        check("/", "/");
    }

    #[test]
    fn paths_for_the_shell() {
        let check = |path: &[u8], expect: &str| {
            let path = Path::new(OsStr::from_bytes(path));
            assert_eq!(for_shell(path, Some(Path::new("/home/me")), ":ro"), expect);
        };
        check(b"/srv/app-1", "/srv/app-1:ro");
        check(b"/srv/my app", "'/srv/my app':ro");
        check(b"/srv/it's $HOME", r"'/srv/it'\''s $HOME':ro");
        check(b"/home/me", "~:ro");
        check(b"/home/me/a b", "~/'a b':ro");
        check("/srv/käse".as_bytes(), "'/srv/käse':ro");
        check(b"/srv/\xff\n", r"$'/srv/\xff\x0a':ro");
        check(b"/srv/~x", "'/srv/~x':ro");
    }

    #[cfg(feature = "roots")]
    #[test]
    fn words_for_the_shell() {
        let check = |word: &str, expect: &str| assert_eq!(word_for_shell(word), expect);
        check("@scope/server-x@1.2", "@scope/server-x@1.2");
        check("", "''");
        check("a b", "'a b'");
        check("$(reboot)", "'$(reboot)'");
        check("`x`; it's", r"'`x`; it'\''s'");
        check("~", "'~'");
        check("=ls", "''=ls");
        check("a\u{1b}[2Jb", r"$'a\x1b\x5b2Jb'");
        check("\u{202e}x", r"$'\xe2\x80\xaex'");
        check("--token=…", "'--token=…'");
    }
}
