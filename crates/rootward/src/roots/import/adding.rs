//! Offers to save other clients' directories, one by one, with the same consent as `roots add`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use clap::Args;
use rootward_client::import::{Enabled, Holder, Import, Imported, SuggestedRoot};
use rootward_client::store::{SavedRoot, access_text, usable_name};
use rootward_core::Shown;

use super::lines::suggestion;
use crate::Outcome;
use crate::message;
use crate::roots::add::Add;
use crate::roots::asking::Scripted;
use crate::roots::desk::Desk;
use crate::roots::shown::{Done, tell};

/// Whether to offer directories, and how.
#[derive(Args, Debug)]
pub(super) struct Adding {
    /// Offer to save the directories, each for the server that has it, or for the client
    #[arg(long)]
    pub(super) add: bool,
    /// Save them for the client or server of this name instead
    #[arg(long = "for", value_name = "NAME", requires = "add")]
    peer: Option<String>,
    /// Answer yes to every question, except about directories from a project's files
    #[arg(long, requires = "add")]
    yes: bool,
}

/// A directory, and who it is for.
struct Offer<'i> {
    root: &'i SuggestedRoot,
    path: &'i Path,
    peer: String,
    file: &'i Imported,
    server: Option<&'i str>,
}

impl Adding {
    pub(super) fn run(&self, read: &Import, json: bool, desk: &Desk) -> Result<Outcome> {
        if let Some(name) = &self.peer {
            usable_name(name).map_err(|why| anyhow!("not a usable name: `{}` ({why})", Shown::new(name)))?;
        }
        let offers = offers(read, self.peer.as_deref(), desk);
        // If the store cannot be read, fail before asking anything.
        desk.store.load_ambient()?;
        let mut shared = Vec::new();
        for offer in &offers {
            shared.extend(self.offer(offer, json, desk)?);
        }
        if !shared.is_empty() || json {
            tell(Done::Shared, &shared, json, desk)?;
        }
        if shared.is_empty() {
            message::line("nothing was shared");
            return Ok(Outcome::Denied);
        }
        Ok(Outcome::Done)
    }

    /// Asks about one; returns what was saved.
    fn offer(&self, offer: &Offer<'_>, json: bool, desk: &Desk) -> Result<Vec<SavedRoot>> {
        let told = told(offer, desk);
        // SECURITY: anyone who contributes to a project can write its files, so `--yes` does not cover what they
        // name
        // (test: the_yes_flag_does_not_cover_a_project)
        if self.yes && offer.file.holder == Holder::Project {
            message::warning(&format!("{told} is not shared: a project names it, so you have to answer yourself"));
            return Ok(Vec::new());
        }
        let scripted = Scripted { yes: self.yes, json };
        scripted.ready()?;
        // Always append the access: a path may end like a suffix.
        let mut typed = OsString::from(offer.path);
        typed.push(format!(":{}", access_text(offer.root.access)));
        // One document is printed, at the end: a directory that is not offered is not an error of the whole run.
        let add = Add::suggested(typed, offer.peer.clone(), Scripted { yes: self.yes, json: false });
        let wanted = match add.wanted(desk) {
            Ok(wanted) => wanted,
            Err(error) => {
                message::warning(&format!("{told} is not offered: {}", message::told(&error)));
                return Ok(Vec::new());
            }
        };
        if !self.yes {
            message::line(&format!("\n{told}"));
        }
        Ok(add.share(wanted, "import", desk)?.unwrap_or_default())
    }
}

/// Each directory once for each server or client that has it. Disabled servers get no offer.
fn offers<'i>(read: &'i Import, peer: Option<&str>, desk: &Desk) -> Vec<Offer<'i>> {
    let mut offers: Vec<Offer<'i>> = Vec::new();
    for file in &read.files {
        let of_client = file.found.roots.iter().map(|root| (None, root));
        let on = file.found.servers.iter().filter(|server| server.enabled == Enabled::On);
        let of_servers = on.flat_map(|server| server.roots.iter().map(|root| (Some(server.name.as_str()), root)));
        for (server, root) in of_client.chain(of_servers) {
            let peer = peer.or(server).unwrap_or(file.client.name()).to_owned();
            let Some(path) = root.path.as_deref() else {
                message::warning(&format!("not offered: {}", suggestion(root, desk)));
                continue;
            };
            if let Err(why) = usable_name(&peer) {
                message::warning(&format!(
                    "{} is not offered: nothing can be saved for `{}` ({why})",
                    suggestion(root, desk),
                    Shown::new(&peer)
                ));
                continue;
            }
            if !offers.iter().any(|known| known.path == path && known.peer == peer) {
                offers.push(Offer { root, path, peer, file, server });
            }
        }
    }
    offers
}

/// The directory and where it is named.
fn told(offer: &Offer<'_>, desk: &Desk) -> String {
    let file: &PathBuf = &offer.file.file;
    let server = offer.server.map(|name| format!("server `{}` of ", Shown::new(name))).unwrap_or_default();
    format!("{} ({server}{}, `{}`)", suggestion(offer.root, desk), offer.file.client, desk.shown(file))
}
