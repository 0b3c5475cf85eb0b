//! `rootward roots remove`: withdraws consent.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;
use clap::Args;
use rootward_client::consent::withdraw;
use rootward_client::store::{Audience, Document, Kept, SavedRoot};
use rootward_core::Shown;

use super::asking::Scripted;
use super::desk::Desk;
use super::shown::{Done, audience, line, tell};
use super::which::find_ambient;
use crate::Outcome;
use crate::message::{self, Hinted};

/// Stop sharing saved roots, with all or with some
///
/// Asks first if a root above gives more access. Running `rootward serve` and `rootward wrap` notice the change.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
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

const AFTER_HELP: &str = "Exit codes: 0 done, 1 the answer was no, 2 wrong use or failure";

impl Remove {
    pub(super) fn run(&self, desk: &Desk) -> Result<Outcome> {
        let removed = desk.change_ambient(&self.scripted, "remove", |document, _| {
            // Find all of them before removing the first: a repeated text must not match another root of that name.
            let mut paths = Vec::new();
            for text in &self.roots {
                let path = find_ambient(text, document.roots(), desk)?;
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
            let mut removed = Vec::new();
            for path in paths {
                let before: Vec<SavedRoot> =
                    document.roots().iter().filter(|root| root.path == path).cloned().collect();
                if self.peers.is_empty() {
                    remove_all(document, &before);
                    removed.extend(before);
                    continue;
                }
                for peer in &self.peers {
                    // An entry that names the peer takes precedence over one for all.
                    let kept = Kept::from(before.clone());
                    let had = kept.for_peer(Some(peer)).next();
                    let had = had.ok_or_else(|| nothing_for(peer, &path, desk))?;
                    withdraw(document, &path, Some(peer));
                    removed.push(SavedRoot { audience: Audience::of([peer.clone()]), ..had.clone() });
                }
            }
            Ok(removed)
        })?;
        let Some(removed) = removed else { return Ok(Outcome::Denied) };
        tell(Done::Removed, &removed, self.scripted.json, desk)?;
        let kept = desk.store.load_ambient()?;
        let mut told = Vec::new();
        for root in &removed {
            for above in still_sharing(root, &kept) {
                let (path, through) = (desk.shown(&root.path), line(above, desk));
                let note =
                    format!("note: `{path}` is still shared through {through}, for {}", audience(&above.audience));
                if !told.contains(&note) {
                    message::line(&note);
                    told.push(note);
                }
            }
        }
        Ok(Outcome::Done)
    }
}

/// The roots that still share a removed one with somebody it was shared with.
fn still_sharing<'k>(removed: &'k SavedRoot, kept: &'k Kept) -> Vec<&'k SavedRoot> {
    let names = |root: &'k SavedRoot| root.audience.names().unwrap_or_default().iter().map(String::as_str).map(Some);
    let peers: Vec<Option<&str>> = match removed.audience {
        Audience::All => std::iter::once(None).chain(kept.roots.iter().flat_map(names)).collect(),
        Audience::Only(_) => names(removed).collect(),
    };
    let mut sharing: Vec<&SavedRoot> = Vec::new();
    for peer in peers {
        for root in kept.sharing(removed, peer) {
            if !sharing.contains(&root) {
                sharing.push(root);
            }
        }
    }
    sharing
}

fn remove_all(document: &mut Document, these: &[SavedRoot]) {
    for position in (0..document.roots().len()).rev() {
        if these.contains(&document.roots()[position]) {
            document.remove(position);
        }
    }
}

fn nothing_for(peer: &str, path: &Path, desk: &Desk) -> Hinted {
    Hinted {
        says: format!("root `{}` was not saved for `{}`", desk.shown(path), Shown::new(peer)),
        hint: "`rootward roots list` shows whom it is shared with".to_owned(),
    }
}
