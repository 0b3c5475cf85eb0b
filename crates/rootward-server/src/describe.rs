//! Descriptions that name the roots, so that a model asks only for paths it can get.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::model::{ListToolsResult, ServerCapabilities};
use rmcp::service::{Peer, RoleServer};
use rootward_core::session::Reach;
use rootward_core::{Access, Grant, RootKind, Shown};

use crate::error::PathError;
use crate::roots::Roots;
use crate::session::Session;

/// How many roots a description names.
const MOST_NAMED: usize = 8;

/// No list was made yet, or the client was already notified of the change.
const NO_LIST: u64 = u64::MAX;

/// The roots in one or two sentences, for the description of a tool: which directories are allowed, and where relative
/// paths start. Pass `None` for roots that are not known yet. `more` is the tool that lists all of them, if there is
/// one.
pub fn roots_in_words(roots: Option<&Roots>, more: Option<&str>) -> String {
    let Some(roots) = roots else {
        let asks = more.map(|tool| format!("; `{tool}` asks for them")).unwrap_or_default();
        return format!("The client has not named its roots yet{asks}.");
    };
    if roots.reach() == Reach::AllowAll {
        return "No roots are set: every place is allowed that is not closed.".to_owned();
    }
    let [first, ..] = roots.list() else {
        return "Nothing is shared at the moment: every path is refused.".to_owned();
    };
    let mut text = String::from("Allowed:");
    for (position, placed) in roots.list().iter().take(MOST_NAMED).enumerate() {
        let comma = if position > 0 { "," } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{comma} `{}` ({})", Shown::new(&placed.root.path), placed.root.access);
    }
    if let Some(rest @ 1..) = roots.list().len().checked_sub(MOST_NAMED) {
        let names = more.map(|tool| format!(", which `{tool}` names")).unwrap_or_default();
        let _ = write!(text, " and {rest} more{names}");
    }
    let _ = write!(text, ". Relative paths start at `{}`.", Shown::new(&first.root.path));
    text
}

impl Roots {
    /// The default working directory: the first root that is a directory and gives this access. It is checked and
    /// recorded like any other path. If there is none, this refuses the first root as usual.
    pub fn working_directory(&self, access: Access) -> Result<Grant, PathError> {
        let permits = |given: Access, kind| kind == RootKind::Directory && given.contains(access);
        let first = self.list().iter().find(|placed| permits(placed.root.access, placed.kind));
        let place = first.map_or_else(|| ".".into(), |placed| placed.root.path.clone().into_os_string());
        Ok(self.check(place, access)?)
    }
}

/// The tools of a session, described with its roots.
#[derive(Debug)]
pub(crate) struct Described {
    /// The generation of the roots that the last list named.
    listed: AtomicU64,
}

impl Described {
    pub(crate) fn new() -> Described {
        Described { listed: AtomicU64::new(NO_LIST) }
    }

    /// Declares that the tool list changes with the roots.
    pub(crate) fn declare(capabilities: &mut ServerCapabilities) {
        if let Some(tools) = &mut capabilities.tools {
            tools.list_changed = Some(true);
        }
    }

    /// Adds the roots to the tools that take a path.
    pub(crate) fn describe(&self, tools: &mut ListToolsResult, roots: Option<&Roots>) {
        self.listed.store(generation(roots), Ordering::Relaxed);
        let sentence = roots_in_words(roots, None);
        for tool in &mut tools.tools {
            let takes_path =
                serde_json::to_string(&tool.input_schema).is_ok_and(|schema| schema.contains("\"x-rootward-access\""));
            if takes_path {
                let before = tool.description.take().unwrap_or_default();
                tool.description = Some(format!("{before} {sentence}").trim_start().to_owned().into());
            }
        }
    }

    /// Notifies a client whose list names outdated roots. Runs after a call, because over HTTP a client receives
    /// nothing between calls.
    pub(crate) async fn tell_if_changed(&self, session: &Session, peer: &Peer<RoleServer>) {
        let before = self.listed.load(Ordering::Relaxed);
        let now = generation(session.roots_cached().as_ref());
        // Notify once per change: the next list names the new roots.
        if before != NO_LIST
            && before != now
            && self.listed.compare_exchange(before, NO_LIST, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            // Ignore a client that is gone.
            let _ = peer.notify_tool_list_changed().await;
        }
    }
}

/// The generation that tells roots apart; unknown ones are their own.
fn generation(roots: Option<&Roots>) -> u64 {
    roots.map_or(NO_LIST - 1, Roots::generation)
}
