//! A file's text with every server wrapped that can be.

use thiserror::Error;

use super::edit::{self, Change, Document, EditError};
use super::hub::PlannedHub;
use super::record::Adopted;
use super::wrapping::{Invocation, NotWrapped, Verdict, judge};
use crate::import::{FileContents, FileContext, Form, Holder, Scope, Server, parse};
use crate::store::Mistake;

/// What a file would become.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Every server in the file's order.
    pub servers: Vec<Planned>,
    /// What looked like a server but was not understood.
    pub not_understood: Vec<Mistake>,
    /// The new text.
    pub text: String,
    /// The changes, for the record.
    pub changes: Vec<Adopted>,
    /// The hubs that replace servers.
    pub hubs: Vec<PlannedHub>,
}

impl Plan {
    /// How many servers it changes.
    pub fn changed_servers(&self) -> usize {
        self.changes.len() + self.hubs.iter().map(|hub| hub.adopted.servers.len()).sum::<usize>()
    }
}

/// A server and what happens to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// The server.
    pub server: Server,
    /// What happens to it.
    pub verdict: Verdict,
}

/// Why a file cannot be adopted.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PlanError {
    /// Its text is not in its format.
    #[error("{0}")]
    Damaged(Mistake),
    /// It cannot be edited.
    #[error("{0}")]
    Edit(#[from] EditError),
}

/// Plans for one file's text.
pub fn plan(
    form: Form,
    text: &str,
    around: &FileContext,
    holder: Holder,
    caller: &Invocation,
) -> Result<Plan, PlanError> {
    let found = parse(form, text, around).map_err(PlanError::Damaged)?;
    plan_found(form, text, found, holder, caller)
}

/// The same for a text that is already parsed: the caller may have added the variables of other files
/// ([`ConfiguredCommand::from_file`]).
///
/// [`ConfiguredCommand::from_file`]: crate::import::ConfiguredCommand::from_file
pub fn plan_found(
    form: Form,
    text: &str,
    found: FileContents,
    holder: Holder,
    caller: &Invocation,
) -> Result<Plan, PlanError> {
    let document = Document::parse(form, text)?;
    let mut servers = Vec::with_capacity(found.servers.len());
    let mut changes: Vec<Adopted> = Vec::new();
    for server in found.servers {
        let mut verdict = judge(&server, form.client(), holder, caller);
        if let Verdict::Wrap(wrapping) = &verdict {
            match adopted(&document, form, &server, &wrapping.before) {
                Ok(change) => changes.push(change),
                Err(error) => verdict = Verdict::NotWrapped(NotWrapped::Unclear(error.to_string())),
            }
        }
        servers.push(Planned { server, verdict });
    }
    let edits: Vec<(&[String], Change<'_>)> =
        changes.iter().map(|change| (change.place.as_slice(), Change::Put(&change.before))).collect();
    let text = edit::edit(form, text, &edits)?;
    Ok(Plan { servers, not_understood: found.not_understood, text, changes, hubs: Vec::new() })
}

/// The change to one entry, if it is where it is expected and says what was parsed.
fn adopted(document: &Document<'_>, form: Form, server: &Server, before: &[String]) -> Result<Adopted, EditError> {
    const NOWHERE: EditError = EditError::Unclear("the entry is not where it is expected");
    let place = place_of(form, server).ok_or(NOWHERE)?;
    let entry = document.entry(form, &place)?.ok_or(NOWHERE)?;
    let crate::import::Transport::Command(line) = &server.transport else { return Err(NOWHERE) };
    if entry.words() != line.words() {
        return Err(NOWHERE);
    }
    Ok(Adopted { place, before: before.to_vec(), words: entry.words(), arguments: entry.arguments() })
}

/// The keys that lead to a server's entry.
pub(super) fn place_of(form: Form, server: &Server) -> Option<Vec<String>> {
    let mut place = table_of(form, server)?;
    place.push(server.name.clone());
    Some(place)
}

/// The keys that lead to the table that has a server's entry.
pub(super) fn table_of(form: Form, server: &Server) -> Option<Vec<String>> {
    let key = form.servers_key()?.to_owned();
    Some(match (form, &server.scope) {
        (Form::ClaudeState, Scope::Project(project)) => vec!["projects".to_owned(), project.clone(), key],
        _ => vec![key],
    })
}
