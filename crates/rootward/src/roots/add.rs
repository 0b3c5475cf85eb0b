//! `rootward roots add`: a directory that is shared from now on, by the user's yes.

use std::ffi::OsString;

use anyhow::{Result, anyhow};
use clap::Args;
use rootward_client::store::{
    Audience, Document, Insistence, Record, Restrict, SavedRoot, access_text, usable_name, usable_pattern,
};
use rootward_core::env::NamedRoot;
use rootward_core::{Closed, Origin, PlacedRoot, Root, RootSet, Shown, Validation, WhyRefused};

use super::asking::{Answer, Scripted};
use super::desk::Desk;
use super::shown::{self, Done, tell};
use crate::Outcome;
use crate::message::{self, Hinted, for_shell};

pub(super) mod preview;

/// Share directories from now on
///
/// Shows what would be shared and what stays closed in it, and asks. A link is followed once, now: what is saved is the place it leads
/// to.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Add {
    /// A directory or file: a path or `file:` URI, with `:ro` (read), `:rw` (read, write, delete; the default), `:add` (read, write) or
    /// `:rwx` (all) at its end
    #[arg(value_name = "DIR", required = true)]
    roots: Vec<OsString>,
    /// What it is called
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Share it only with the client or server of this name (`--as` of `serve` and `wrap`); may be repeated
    #[arg(long = "for", value_name = "NAME")]
    peers: Vec<String>,
    #[command(flatten)]
    closing: Closing,
    /// Share a system or secret place all the same
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    scripted: Scripted,
}

const AFTER_HELP: &str = "Exit codes: 0 shared, 1 the answer was no, 2 wrong use or failure";

/// What stays closed below a root.
#[derive(Args, Debug)]
pub(super) struct Closing {
    /// Close what this glob matches below it; may be repeated
    #[arg(long, value_name = "GLOB")]
    close: Vec<String>,
    /// Close what this glob matches below it for writing; may be repeated
    #[arg(long, value_name = "GLOB")]
    read_only: Vec<String>,
}

impl Closing {
    pub(super) fn restrict(&self) -> Vec<Restrict> {
        let of = |globs: &[String], closed| {
            globs.iter().cloned().map(move |pattern| Restrict { pattern, closed }).collect::<Vec<_>>()
        };
        [of(&self.close, Closed::Entirely), of(&self.read_only, Closed::ForWriting)].concat()
    }
}

/// Roots as they would be saved, and where they were found.
pub(super) struct Wanted(Vec<(SavedRoot, PlacedRoot)>);

impl Add {
    /// One root for one client or server, as something suggests it.
    pub(super) fn suggested(root: OsString, peer: String, scripted: Scripted) -> Add {
        let closing = Closing { close: Vec::new(), read_only: Vec::new() };
        Add { roots: vec![root], name: None, peers: vec![peer], closing, force: false, scripted }
    }

    pub(super) fn run(&self, desk: &Desk) -> Result<Outcome> {
        let wanted = self.wanted(desk)?;
        let Some(saved) = self.share(wanted, "add", desk)? else {
            message::line("nothing was shared");
            return Ok(Outcome::Denied);
        };
        tell(Done::Shared, &saved, self.scripted.json, desk)?;
        Ok(Outcome::Done)
    }

    /// What is to be shared, if it can be.
    pub(super) fn wanted(&self, desk: &Desk) -> Result<Wanted> {
        if self.name.is_some() && self.roots.len() > 1 {
            return Err(anyhow!("`--name` names one root, and there are {}", self.roots.len()));
        }
        for name in self.name.iter().chain(&self.peers) {
            usable_name(name).map_err(|why| anyhow!("not a usable name: `{}` ({why})", Shown::new(name)))?;
        }
        let mut wanted = Vec::new();
        for text in &self.roots {
            wanted.push(self.wanted_ambient(&desk.ground.typed_root(text)?, desk)?);
        }
        let kept = desk.store.load_ambient()?;
        for (saved, _) in &wanted {
            known(saved, &kept.roots, desk)?;
        }
        Ok(Wanted(wanted))
    }

    /// Asks, and shares. None where the answer was no.
    pub(super) fn share(&self, Wanted(wanted): Wanted, verb: &str, desk: &Desk) -> Result<Option<Vec<SavedRoot>>> {
        let kept = desk.store.load_ambient()?;
        let mut new = Vec::new();
        for (saved, _) in &wanted {
            if known(saved, &kept.roots, desk)?.is_none() {
                new.push(saved.clone());
            }
        }
        let mut about = Vec::new();
        for (saved, placed) in wanted.iter().filter(|(saved, _)| new.contains(saved)) {
            let warnings = preview::warnings(saved, &kept, desk);
            if self.scripted.yes {
                for warning in &warnings {
                    message::warning(warning);
                }
            } else {
                about.extend(preview::lines(saved, placed, &warnings, desk));
            }
        }
        let question = if new.len() == 1 { "share it?" } else { "share them?" };
        if !new.is_empty() && self.scripted.ask(&about, question)? == Answer::No {
            return Ok(None);
        }
        let wanted: Vec<SavedRoot> = wanted.into_iter().map(|(saved, _)| saved).collect();
        let edit = |document: &mut Document, record: &Record<'_>| save(&wanted, document, record, desk);
        desk.edit_ambient(&self.scripted.requester(verb), edit).map(Some)
    }

    /// A root as it would be saved, and where it was found.
    fn wanted_ambient(&self, named: &NamedRoot, desk: &Desk) -> Result<(SavedRoot, PlacedRoot)> {
        let unusable = |why: &str| anyhow!("root `{}` is not shared: {why}", named.text);
        let found = RootSet::place_ambient(
            [Root { origin: Origin::Flag, ..named.root.clone() }],
            &Validation::new(desk.ground.directories.home.clone()),
        );
        if let Some(refused) = found.refused().first() {
            return Err(unusable(&refused.reason.to_string()));
        }
        let Some(placed) = found.roots().first().cloned() else { return Err(unusable("it was not found")) };
        if placed.place.to_str().is_none() {
            return Err(unusable("its path is not UTF-8, and cannot be written down"));
        }
        // SECURITY: Rootward's own places are in no grant, and an entry that says otherwise would mislead
        // (test: places_that_are_not_for_sharing)
        if desk.ground.is_in_own(&placed.place) {
            return Err(unusable("Rootward's own settings, saved roots and audit log are never shared"));
        }
        let restrict = self.closing.restrict();
        for restrict in &restrict {
            usable_pattern(&placed.place, restrict)
                .map_err(|why| anyhow!("not a usable glob: `{}` ({why})", Shown::new(&restrict.pattern)))?;
        }
        let mut saved = SavedRoot {
            name: self.name.clone(),
            restrict,
            audience: Audience::of(self.peers.clone()),
            ..SavedRoot::new(&placed.place, named.root.access)
        };
        match saved.find_ambient(desk.ground.home()) {
            Ok(_) => {}
            Err(WhyRefused::NotShareable(_)) if self.force => saved.insistence = Insistence::Forced,
            Err(WhyRefused::NotShareable(reason)) => {
                return Err(Hinted {
                    says: format!("root `{}` cannot be shared: {reason}", named.text),
                    hint: "pass `--force` to share it all the same".to_owned(),
                }
                .into());
            }
            Err(refusal) => return Err(unusable(&refusal.to_string())),
        }
        Ok((saved, placed))
    }
}

/// The entry of a root that is saved already. One that is saved otherwise is not changed in passing.
fn known<'r>(root: &SavedRoot, roots: &'r [SavedRoot], desk: &Desk) -> Result<Option<&'r SavedRoot>> {
    let found = roots.iter().find(|known| known.path == root.path && known.audience.overlaps(&root.audience));
    let Some(known) = found else { return Ok(None) };
    let same = known.access == root.access
        && known.audience == root.audience
        && known.restrict == root.restrict
        && (root.name.is_none() || known.name == root.name);
    if same {
        return Ok(Some(known));
    }
    let typed = for_shell(&root.path, desk.ground.home(), "");
    Err(Hinted {
        says: format!("root {} is saved already, for {}", shown::line(known, desk), shown::audience(&known.audience)),
        hint: format!("`rootward roots grant {typed} {}` changes what for", access_text(root.access)),
    }
    .into())
}

/// Saves what is not saved yet: others may have saved something since the question was asked.
fn save(wanted: &[SavedRoot], document: &mut Document, record: &Record<'_>, desk: &Desk) -> Result<Vec<SavedRoot>> {
    let mut saved = Vec::new();
    for root in wanted {
        if let Some(known) = known(root, document.roots(), desk)? {
            saved.push(known.clone());
        } else {
            let new = root.clone().given(record);
            document.add(&new);
            saved.push(new);
        }
    }
    Ok(saved)
}
