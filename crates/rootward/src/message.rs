//! What goes to standard error: errors, warnings and hints, in one form.
//!
//! Lower case, no full stop, what the user typed in backticks; the way out as a hint after a blank line.

use std::fmt::{self, Display};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use rootward_core::Shown;

/// An error that knows a way out.
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

/// Something was refused or went wrong.
pub(crate) fn error(text: &str) {
    line(&format!("error: {text}"));
}

/// Something was left out, and the rest goes on.
pub(crate) fn warning(text: &str) {
    line(&format!("warning: {text}"));
}

/// The ways out, after a blank line.
pub(crate) fn hints(hints: &[String]) {
    for hint in hints {
        line(&format!("\nhint: {hint}"));
    }
}

/// What ended the program early. A reader that went away is no error worth a word: `rootward … | head`.
pub(crate) fn failure(failure: &anyhow::Error) {
    let gone = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
    };
    if failure.chain().any(gone) {
        return;
    }
    error(&format!("{failure:#}"));
    if let Some(hinted) = failure.downcast_ref::<Hinted>() {
        hints(std::slice::from_ref(&hinted.hint));
    }
}

fn line(text: &str) {
    // Where standard error is closed there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A path as a person writes it: `~` for the home.
pub(crate) fn from_home(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", Shown::new(rest)),
        None => Shown::new(path).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
