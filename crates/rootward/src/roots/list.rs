//! `rootward roots list`: what is saved, and its state.

use std::io::{self, Write};

use anyhow::Result;
use clap::Args;
use rootward_client::store::{Insistence, SavedRoot};
use rootward_client::watch::State;
use rootward_core::Shown;
use rootward_core::session::Follow;

use super::desk::Desk;
use super::shown::{Done, audience, matches, patterns, state_word, write_json};
use crate::Outcome;
use crate::message;

/// List the saved roots: where they are, their access, who they are for, and who consented
///
/// A root that is missing, refused or replaced by a link is not shared; the list says why, and the root comes back
/// once it is as it was.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct List {
    /// Print one JSON object: `file` and `roots`, each with `path`, `name`, `access`, `state` (`shared`, `closed` by
    /// access `none`, `missing`, `replaced` by a link, `unreachable`, `refused`), `reason`, `for`, `restrict`, `forced`, `yes` (when) and `by`
    /// (who asked), and for a pattern `matches`, each with `path` and, if it is not shared, `reason`
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Exit codes: 0 done, 1 none is saved, 2 wrong use, a file that cannot be read, or failure";

impl List {
    pub(super) fn run(&self, desk: &Desk) -> Result<Outcome> {
        let kept = desk.store.load_ambient()?;
        let mut out = io::stdout().lock();
        if self.json {
            write_json(Done::Listed, &kept.roots, desk, &mut out)?;
        } else {
            for root in &kept.roots {
                write(root, &State::look_ambient(root, &kept, desk.ground.home()), desk, &mut out)?;
            }
        }
        out.flush()?;
        if kept.roots.is_empty() {
            if !self.json {
                message::line("no root is saved");
                message::hints(&["`rootward roots add DIR` saves one".to_owned()]);
            }
            return Ok(Outcome::Denied);
        }
        if let Some(instead) = instead(desk) {
            message::warning(&format!("the saved roots are not used: {instead}"));
        }
        Ok(Outcome::Done)
    }
}

/// A root with all its details.
pub(super) fn write(root: &SavedRoot, state: &State, desk: &Desk, out: &mut impl Write) -> io::Result<()> {
    let title = match &root.name {
        Some(name) => format!("{}  {}", Shown::new(name), desk.shown(&root.path)),
        None => desk.shown(&root.path),
    };
    let told =
        state.reason().map_or_else(|| state_word(root, state).to_owned(), |reason| format!("not shared: {reason}"));
    writeln!(out, "{title}")?;
    let mut row = |name: &str, says: &str| writeln!(out, "  {name:<8} {says}");
    row("access", &root.access.to_string())?;
    row("state", &told)?;
    row("for", &audience(&root.audience))?;
    for (path, reason) in matches(root, state) {
        let reason = reason.map_or_else(String::new, |reason| format!(", not shared: {reason}"));
        row("matches", &format!("{}{reason}", desk.shown(&path)))?;
    }
    if !root.restrict.is_empty() {
        row("closed", &patterns(&root.restrict))?;
    }
    if root.insistence == Insistence::Forced {
        row("forced", "any place may be shared by this entry")?;
    }
    let consent = root.given.as_ref().map(|given| {
        let at = humantime::format_rfc3339_seconds(given.at);
        format!("always, since {at}, by `{}`", Shown::new(&given.by))
    });
    row("consent", &consent.unwrap_or_else(|| "always, written by hand".to_owned()))
}

/// The source that overrides the saved roots.
pub(super) fn instead(desk: &Desk) -> Option<String> {
    let settings = &desk.ground.settings;
    if settings.follow() != Follow::Client {
        let (switch, source) = settings.switch_on()?;
        return Some(format!("`{switch}` is set in the {source}"));
    }
    (!settings.roots.value.is_empty()).then(|| format!("`roots` is set in the {}", settings.roots.source))
}
