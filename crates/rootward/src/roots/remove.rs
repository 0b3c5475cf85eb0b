//! `rootward roots remove`: a yes taken back.

use std::ffi::OsString;

use anyhow::Result;
use clap::Args;
use rootward_client::consent::withdraw;
use rootward_client::store::{Audience, Document, SavedRoot};
use rootward_core::Shown;

use super::asking::Scripted;
use super::desk::Desk;
use super::shown::{Done, tell};
use super::which::find_ambient;
use crate::Outcome;
use crate::message::Hinted;

/// Share saved roots no more, with all or with some
///
/// Servers that run keep what they began with until they are started again.
#[derive(Args, Debug)]
pub(super) struct Remove {
    /// A root: its name or its path; may be repeated
    #[arg(value_name = "ROOT", required = true)]
    roots: Vec<OsString>,
    /// Only for the client or server of this name; may be repeated. Others keep the root
    #[arg(long = "for", value_name = "NAME")]
    peers: Vec<String>,
    #[command(flatten)]
    scripted: Scripted,
}

impl Remove {
    pub(super) fn run(&self, desk: &Desk) -> Result<Outcome> {
        let removed = desk.edit_ambient(&self.scripted.requester("remove"), |document, _| {
            let mut removed = Vec::new();
            for text in &self.roots {
                let path = find_ambient(text, document.roots(), desk)?;
                let before: Vec<SavedRoot> =
                    document.roots().iter().filter(|root| root.path == path).cloned().collect();
                if self.peers.is_empty() {
                    remove_all(document, &before);
                    removed.extend(before);
                    continue;
                }
                for peer in &self.peers {
                    let name = Some(peer.as_str());
                    let had = before.iter().find(|root| root.audience != Audience::All && root.audience.has(name));
                    let had = had.ok_or_else(|| nothing_for(peer, &before, desk))?;
                    withdraw(document, &path, name);
                    removed.push(SavedRoot { audience: Audience::of([peer.clone()]), ..had.clone() });
                }
            }
            Ok(removed)
        })?;
        tell(Done::Removed, &removed, self.scripted.json, desk)?;
        Ok(Outcome::Done)
    }
}

fn remove_all(document: &mut Document, these: &[SavedRoot]) {
    for position in (0..document.roots().len()).rev() {
        if these.contains(&document.roots()[position]) {
            document.remove(position);
        }
    }
}

fn nothing_for(peer: &str, roots: &[SavedRoot], desk: &Desk) -> Hinted {
    let path = roots.first().map(|root| desk.shown(&root.path)).unwrap_or_default();
    let for_all = roots.iter().any(|root| root.audience == Audience::All);
    let hint = if for_all {
        "it is shared with all: remove it, and add it again `--for` those who are to have it".to_owned()
    } else {
        "`rootward roots list` shows whom it is shared with".to_owned()
    };
    Hinted { says: format!("root `{path}` was not saved for `{}`", Shown::new(peer)), hint }
}
