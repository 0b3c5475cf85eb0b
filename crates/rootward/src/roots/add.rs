//! `rootward roots add`: shares a directory from now on, with the user's consent.

use std::ffi::OsString;
use std::io::{self, Write};

use anyhow::{Context, Result, anyhow};
use clap::Args;
use rootward_client::store::{
    Audience, Document, Insistence, Record, Restrict, SavedRoot, access_text, usable_name, usable_pattern,
};
use rootward_client::watch::State;
use rootward_core::env::NamedRoot;
use rootward_core::{Access, Closed, Origin, PlacedRoot, Root, RootKind, RootSet, Shown, Validation, WhyRefused};
use rootward_protocol::{RootRefusal, RootRefusalKind};

use super::asking::{Answer, Scripted};
use super::desk::Desk;
use super::shown::{self, Done, tell};
use crate::Outcome;
use crate::message::{self, Hinted, for_shell};

pub(super) mod preview;

/// Share directories from now on
///
/// Shows what would be shared and what stays closed in it, and asks for your consent, then for a name, with a
/// suggestion. A link is followed once, now: the place it leads to is saved.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Add {
    /// A directory or file: a path or `file:` URI, or a pattern such as `'~/src/*'`, which shares every directory
    /// that it matches, even those created later; with `:ro` (read), `:rw` (read, write, delete; the default),
    /// `:rw-nodelete` (read, write) or `:rwx` (all) at its end
    #[arg(value_name = "DIR", required = true)]
    roots: Vec<OsString>,
    /// A name for it
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Share it only with the client or server of this name (`--as` of `serve` and `wrap`); may be repeated
    #[arg(long = "for", value_name = "NAME")]
    peers: Vec<String>,
    #[command(flatten)]
    closing: Closing,
    /// Share it even if it is a system or secret place
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    scripted: Scripted,
}

/// The hint if `*` was meant as a literal character.
const BY_ITS_URI: &str = "a directory with `*` in its name is named by its `file:` URI";

/// The verb, as recorded in the audit log.
const VERB: &str = "add";

const AFTER_HELP: &str = "Exit codes: 0 shared, 1 the answer was no, 2 wrong use or failure";

/// What stays closed below a root.
#[derive(Args, Debug)]
pub(super) struct Closing {
    /// Close what this glob matches below the root; may be repeated
    #[arg(long, value_name = "GLOB")]
    close: Vec<String>,
    /// Close what this glob matches below the root for writing; may be repeated
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
pub(super) struct Wanted(Vec<(SavedRoot, Vec<PlacedRoot>)>);

impl Add {
    /// One root for one client or server, suggested by another verb.
    pub(super) fn suggested(root: OsString, peer: String, scripted: Scripted) -> Add {
        let closing = Closing { close: Vec::new(), read_only: Vec::new() };
        Add { roots: vec![root], name: None, peers: vec![peer], closing, force: false, scripted }
    }

    pub(super) fn run(&self, desk: &Desk) -> Result<Outcome> {
        let before = desk.store.load_ambient()?.roots;
        let wanted = self.wanted(desk)?;
        let Some(saved) = self.share(wanted, VERB, desk)? else {
            message::line("nothing was shared");
            return Ok(Outcome::Denied);
        };
        if self.scripted.json {
            tell(Done::Shared, &saved, true, desk)?;
            return Ok(Outcome::Done);
        }
        let (known, new): (Vec<_>, Vec<_>) = saved.into_iter().partition(|root| before.contains(root));
        tell(Done::SharedBefore, &known, false, desk)?;
        tell(Done::Shared, &new, false, desk)?;
        Ok(Outcome::Done)
    }

    /// The roots to share, if they can be shared.
    pub(super) fn wanted(&self, desk: &Desk) -> Result<Wanted> {
        if self.name.is_some() && self.roots.len() > 1 {
            return Err(anyhow!("`--name` names one root, and there are {}", self.roots.len()));
        }
        for name in self.name.iter().chain(&self.peers) {
            usable_name(name).map_err(|why| anyhow!("not a usable name: `{}` ({why})", Shown::new(name)))?;
        }
        let mut wanted = Vec::new();
        for text in &self.roots {
            let named = desk.ground.typed_root(text).map_err(|error| {
                let uri = Shown::new(text).to_string();
                self.told(RootRefusalKind::InvalidUri, uri, error)
            })?;
            let found = self.wanted_ambient(&named, desk).map_err(|error| {
                let uri = named.root.uri().map_or_else(|| named.text.clone(), |uri| uri.as_str().to_owned());
                self.told(RootRefusalKind::AccessDenied, uri, error)
            });
            wanted.push(found?);
        }
        let kept = desk.store.load_ambient()?;
        for (saved, _) in &wanted {
            known(saved, self.typed_name(), &kept.roots, desk)?;
        }
        Ok(Wanted(wanted))
    }

    fn typed_name(&self) -> TypedName {
        if self.name.is_some() { TypedName::Yes } else { TypedName::No }
    }

    /// Prints why a root is not shared as the protocol's error object, for programs; people read the error.
    fn told(&self, kind: RootRefusalKind, uri: String, error: anyhow::Error) -> anyhow::Error {
        if self.scripted.json {
            let refusal = RootRefusal { kind, uri, reason: message::in_one_line(&error) };
            // If nobody reads it, the exit code still tells.
            let _ = writeln!(io::stdout().lock(), "{:#}", serde_json::json!({"error": refusal.error()}));
        }
        error
    }

    /// Asks, and shares. `None` if the answer was no.
    pub(super) fn share(&self, Wanted(wanted): Wanted, verb: &str, desk: &Desk) -> Result<Option<Vec<SavedRoot>>> {
        let kept = desk.store.load_ambient()?;
        let mut new = Vec::new();
        for (saved, _) in &wanted {
            if known(saved, self.typed_name(), &kept.roots, desk)?.is_none() {
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
        let mut wanted: Vec<SavedRoot> = wanted.into_iter().map(|(saved, _)| saved).collect();
        // Other verbs already showed the name with their offer.
        if self.name.is_none() && !self.scripted.yes && verb == VERB {
            for saved in wanted.iter_mut().filter(|saved| saved.pattern.is_none() && new.contains(saved)) {
                let suggested = saved.name.clone().unwrap_or_else(|| saved.root().title());
                saved.name = Some(ask_name(&suggested)?);
            }
        }
        let typed = self.typed_name();
        let edit = |document: &mut Document, record: &Record<'_>| save(&wanted, typed, document, record, desk);
        desk.edit_ambient(&self.scripted.requester(verb), edit).map(Some)
    }

    /// A root as it would be saved, and where it was found.
    fn wanted_ambient(&self, named: &NamedRoot, desk: &Desk) -> Result<(SavedRoot, Vec<PlacedRoot>)> {
        let unusable = |why: &str| anyhow!("root `{}` is not shared: {why}", named.text);
        if named.root.pattern.is_some() {
            return self.wanted_pattern_ambient(named, desk);
        }
        let found = RootSet::place_ambient(
            [Root { origin: Origin::Flag, ..named.root.clone() }],
            &Validation::new(desk.ground.directories.home.clone()),
        );
        if let Some(refused) = found.refused().first() {
            let refusal = unusable(&refused.reason.to_string());
            let is_missing = refused.reason == WhyRefused::Missing;
            return Err(match desk.ground.mistyped_access(&named.root).filter(|_| is_missing) {
                Some(hint) => Hinted { says: refusal.to_string(), hint }.into(),
                None => refusal,
            });
        }
        let Some(placed) = found.roots().first().cloned() else { return Err(unusable("it was not found")) };
        if placed.place.to_str().is_none() {
            return Err(unusable("its path is not UTF-8 and cannot be saved"));
        }
        // SECURITY: Rootward's own places are never granted, and a saved entry that says otherwise would mislead
        // (test: places_that_cannot_be_shared)
        if desk.ground.is_in_own(&placed.place) {
            return Err(unusable("Rootward's own settings, saved roots and audit log are never shared"));
        }
        let restrict = self.closing.restrict();
        for restrict in &restrict {
            usable_pattern(&placed.place, restrict)
                .map_err(|why| anyhow!("not a usable glob: `{}` ({why})", Shown::new(&restrict.pattern)))?;
        }
        let mut saved = SavedRoot {
            name: self.name.clone().or_else(|| name(&placed, desk)),
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
        Ok((saved, vec![placed]))
    }

    /// A pattern as it would be saved, and its current matches.
    fn wanted_pattern_ambient(&self, named: &NamedRoot, desk: &Desk) -> Result<(SavedRoot, Vec<PlacedRoot>)> {
        let unusable = |why: &str, hint: &str| {
            let says = format!("root `{}` is not shared: {why}", named.text);
            anyhow::Error::from(Hinted { says, hint: hint.to_owned() })
        };
        // SECURITY: a pattern does not say which secret place is meant, so it cannot be forced
        // (test: a_pattern_cannot_be_forced)
        if self.force {
            return Err(unusable("a pattern cannot be forced", "name the directories"));
        }
        if named.root.path.to_str().is_none() {
            return Err(unusable("its path is not UTF-8 and cannot be saved", "name the directories"));
        }
        let saved = SavedRoot {
            pattern: named.root.pattern.clone(),
            name: self.name.clone(),
            restrict: self.closing.restrict(),
            audience: Audience::of(self.peers.clone()),
            ..SavedRoot::new(&named.root.path, named.root.access)
        };
        if !saved.restrict.is_empty() {
            closes_below(&saved, &named.text)?;
        }
        let mut kept = desk.store.load_ambient()?;
        kept.roots.push(saved.clone());
        match State::look_ambient(&saved, &kept, desk.ground.home()) {
            State::Shared(found) => Ok((saved, found.placed)),
            // Matching directories may be created later.
            State::NotShared(WhyRefused::NoMatch) => Ok((saved, Vec::new())),
            State::NotShared(WhyRefused::Linked) => {
                Err(unusable("a link leads to it", "give the path without links, as `realpath` prints it"))
            }
            State::NotShared(WhyRefused::Missing) => Err(unusable(&WhyRefused::Missing.to_string(), BY_ITS_URI)),
            State::NotShared(reason) => Err(anyhow!("root `{}` is not shared: {reason}", named.text)),
        }
    }
}

/// A typed directory or file as it would be saved; refuses what `roots add` refuses.
pub(super) fn typed(text: &str, peers: &[String], desk: &Desk) -> Result<SavedRoot> {
    let scripted = Scripted { yes: false, json: false };
    let closing = Closing { close: Vec::new(), read_only: Vec::new() };
    let add = Add { roots: Vec::new(), name: None, peers: peers.to_vec(), closing, force: false, scripted };
    let named = desk.ground.typed_root(text.as_ref())?;
    if named.root.pattern.is_some() {
        return Err(anyhow!("`rootward roots add` takes patterns; here, name one directory"));
    }
    Ok(add.wanted_ambient(&named, desk)?.0)
}

/// Whether something can be closed below a root: not below the matches of a pattern.
pub(super) fn closes_below(root: &SavedRoot, shown: &str) -> Result<()> {
    if root.pattern.is_none() {
        return Ok(());
    }
    let says = format!("nothing can be closed below the pattern `{shown}`");
    Err(Hinted { says, hint: "`restrict` in the settings file closes it everywhere".to_owned() }.into())
}

/// Whether the user typed the name of a root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TypedName {
    Yes,
    No,
}

/// The default name of a root: the project's own name, else the last part of its git remote, else its directory's
/// name.
fn name(placed: &PlacedRoot, desk: &Desk) -> Option<String> {
    let directory = || {
        let guard = desk.ground.guard(RootSet::new([placed.clone()], []), placed.place.clone());
        rootward_client::detect::name(&guard.check(&placed.place, Access::READ).ok()?)
    };
    let found = (placed.kind == RootKind::Directory).then(directory).flatten();
    let usable = |name: &String| usable_name(name).is_ok();
    found.filter(usable).or_else(|| Some(Root { name: None, ..placed.root.clone() }.title())).filter(usable)
}

/// Asks for the name of a root. An empty answer takes the suggestion.
fn ask_name(suggested: &str) -> Result<String> {
    loop {
        let mut stderr = io::stderr().lock();
        write!(stderr, "name [{}]: ", Shown::new(suggested))?;
        stderr.flush()?;
        drop(stderr);
        let mut said = String::new();
        io::stdin().read_line(&mut said).context("the name cannot be read")?;
        match said.trim() {
            "" => return Ok(suggested.to_owned()),
            name => match usable_name(name) {
                Ok(()) => return Ok(name.to_owned()),
                Err(why) => message::line(&format!("not a usable name: `{}` ({why})", Shown::new(name))),
            },
        }
    }
}

/// The existing entry of a root. An entry with other values is not changed as a side effect.
fn known<'r>(root: &SavedRoot, typed: TypedName, roots: &'r [SavedRoot], desk: &Desk) -> Result<Option<&'r SavedRoot>> {
    let found = roots.iter().find(|known| known.path == root.path && known.audience.overlaps(&root.audience));
    let Some(known) = found else { return Ok(None) };
    let same = known.is_at(root)
        && known.access == root.access
        && known.audience == root.audience
        && known.restrict == root.restrict
        // A name that nobody typed does not count as a difference.
        && (root.name.is_none() || known.name == root.name || typed == TypedName::No);
    if same {
        return Ok(Some(known));
    }
    let typed = for_shell(&root.path, desk.ground.home(), "");
    Err(Hinted {
        says: format!("root {} is saved already, for {}", shown::line(known, desk), shown::audience(&known.audience)),
        hint: format!("`rootward roots grant {typed} {}` changes its access", access_text(root.access)),
    }
    .into())
}

/// Saves what is not saved yet: another process may have saved something since the question was asked.
fn save(
    wanted: &[SavedRoot],
    typed: TypedName,
    document: &mut Document,
    record: &Record<'_>,
    desk: &Desk,
) -> Result<Vec<SavedRoot>> {
    let mut saved = Vec::new();
    for root in wanted {
        if let Some(known) = known(root, typed, document.roots(), desk)? {
            saved.push(known.clone());
        } else {
            let new = root.clone().given(record);
            document.add(&new);
            saved.push(new);
        }
    }
    Ok(saved)
}
