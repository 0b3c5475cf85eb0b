//! What `adopt --json` and `roots import --json` both say about the config files of clients.

use std::borrow::Cow;
use std::path::Path;

use rootward_client::import::{Client, Holder, Scope};
use rootward_client::store::Mistake;
use serde::Serialize;

use crate::answer::text;

/// An entry that was not understood.
#[derive(Debug, Serialize)]
pub(crate) struct ToldMistake<'f> {
    line: usize,
    column: usize,
    says: &'f str,
}

/// A file that could not be read.
#[derive(Debug, Serialize)]
pub(crate) struct ToldUnread<'f> {
    client: &'static str,
    file: Cow<'f, str>,
    /// Null if the text is not the problem.
    line: Option<usize>,
    column: Option<usize>,
    says: Cow<'f, str>,
}

impl<'f> From<&'f Mistake> for ToldMistake<'f> {
    fn from(mistake: &'f Mistake) -> ToldMistake<'f> {
        ToldMistake { line: mistake.line, column: mistake.column, says: &mistake.says }
    }
}

impl<'f> ToldUnread<'f> {
    /// If the text is invalid, the mistake says more than the reason.
    pub(crate) fn new(
        client: Client,
        file: &'f Path,
        mistake: Option<&'f Mistake>,
        reason: impl Into<Cow<'f, str>>,
    ) -> ToldUnread<'f> {
        ToldUnread {
            client: client.name(),
            file: text(file.as_os_str()),
            line: mistake.map(|mistake| mistake.line),
            column: mistake.map(|mistake| mistake.column),
            says: mistake.map_or_else(|| reason.into(), |mistake| mistake.says.as_str().into()),
        }
    }
}

/// Who is responsible for a file.
pub(crate) fn holder_word(holder: Holder) -> &'static str {
    match holder {
        Holder::User => "user",
        Holder::Project => "project",
    }
}

/// The project that has a server, if only one has.
pub(crate) fn project_of(scope: &Scope) -> Option<&str> {
    match scope {
        Scope::User => None,
        Scope::Project(project) => Some(project),
    }
}
