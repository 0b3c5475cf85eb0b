//! `rootward roots detect`: suggests what to share.

pub(super) mod lines;
mod progress;

use std::ffi::OsString;
use std::io::{self, Write};

use anyhow::{Result, anyhow};
use clap::Args;
use rootward_client::detect::{Bound, DetectOptions, Detection, Limits, detect};
use rootward_core::env::NamedRoot;
use rootward_core::{Access, Grant, RootKind, Shown, Validation};

use crate::Outcome;
use crate::ground::Ground;
use crate::message;
use crate::settings::Source;

/// Find what could be shared: repositories, projects and workspaces
///
/// Only suggests: nothing is shared, stored or run. Looks for git repositories, worktrees and submodules, for
/// project manifests, and for editor workspaces. Skips what ignore files name, and directories that tools fill, such
/// as `node_modules` and `target`. Does not follow links.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Detect {
    #[command(flatten)]
    place: Place,
    /// Print one JSON object: `suggestions` (each with `path`, `name`, `reasons`, `certainty`, `presence`,
    /// `within`), `visited`, `bounds` (the limits that were reached) and `unreadable`. JSON holds only text: a byte
    /// that is not UTF-8 becomes `\xNN`
    #[arg(long)]
    json: bool,
}

/// Where to look, and how deep.
#[derive(Args, Debug)]
pub(super) struct Place {
    /// Where to look: a path or `file:` URI [default: the working directory]
    #[arg(value_name = "DIR")]
    directories: Vec<OsString>,
    /// How many directories down to look; 0 looks only at DIR itself
    #[arg(long, value_name = "N", default_value_t = Limits::default().depth)]
    depth: usize,
}

const AFTER_HELP: &str = "Exit codes: 0 something found, 1 nothing found, 2 wrong use or failure";

impl Detect {
    pub(crate) fn run(self) -> Result<Outcome> {
        let ground = Ground::load_ambient()?;
        let detection = self.place.look(&ground)?;
        let mut out = io::stdout().lock();
        if self.json {
            serde_json::to_writer_pretty(&mut out, &detection)?;
            out.write_all(b"\n")?;
        } else {
            lines::write(&mut out, &detection.suggestions, ground.home())?;
        }
        out.flush()?;
        if !self.json {
            remarks(&detection, &self.place.limits(), &ground);
        }
        Ok(if detection.suggestions.is_empty() { Outcome::Denied } else { Outcome::Done })
    }
}

impl Place {
    pub(super) fn limits(&self) -> Limits {
        Limits { depth: self.depth, ..Limits::default() }
    }

    /// Scans, and shows progress.
    pub(super) fn look(&self, ground: &Ground) -> Result<Detection> {
        let here = [OsString::from(".")];
        let directories = if self.directories.is_empty() { &here[..] } else { &self.directories };
        let grants = directories.iter().map(|text| grant(ground, text)).collect::<Result<Vec<_>>>()?;
        let validation = Validation::new(ground.directories.home.clone());
        let options = DetectOptions { limits: self.limits(), validation, ..DetectOptions::default() };
        let shown = progress::Shown::on_terminal();
        let detection = detect(&grants, &options, &|progress| shown.tell(progress));
        shown.clear();
        Ok(detection?)
    }
}

/// The directory, opened for reading: closed places stay closed.
pub(super) fn grant(ground: &Ground, text: &OsString) -> Result<Grant> {
    let NamedRoot { text, root } = ground.typed_root(text)?;
    let named = NamedRoot { text: text.clone(), root: root.with_access(Access::READ) };
    let found = ground.place(&[named], Source::Flag);
    let left_out = found.left_out.first().map(|left_out| left_out.reason.clone());
    let is_file = found.set.roots().iter().any(|placed| placed.kind == RootKind::File);
    if let Some(reason) = left_out.or_else(|| is_file.then(|| "not a directory".to_owned())) {
        return Err(anyhow!("cannot look below `{text}`: {reason}"));
    }
    let place = found.set.roots().first().map(|placed| placed.place.clone()).unwrap_or_default();
    let guard = ground.guard(found.set, place.clone());
    guard.check(&place, Access::READ).map_err(|denial| anyhow!("{}", denial.for_operator()))
}

/// Remarks: what was not seen, and what to do next.
pub(super) fn remarks(detection: &Detection, limits: &Limits, ground: &Ground) {
    for unreadable in detection.unreadable.iter().take(MOST_UNREADABLE) {
        let path = message::from_home(&unreadable.path, ground.home());
        message::warning(&format!("`{path}` cannot be listed: {}", Shown::new(&unreadable.reason)));
    }
    if let Some(more @ 1..) = detection.unreadable.len().checked_sub(MOST_UNREADABLE) {
        message::warning(&format!("{more} more directories cannot be listed; `--json` names them"));
    }
    let mut hints = Vec::new();
    for bound in &detection.bounds {
        let (says, hint) = match bound {
            Bound::Depth => {
                let levels = if limits.depth == 1 { "level" } else { "levels" };
                (format!("did not look more than {} {levels} down", limits.depth), "`--depth` looks deeper")
            }
            Bound::Entries => (format!("stopped after {} files and directories", limits.entries), SMALLER),
            Bound::Time => (format!("stopped after {} s", limits.time.as_secs()), SMALLER),
            Bound::Suggestions => (format!("stopped after {} suggestions", limits.suggestions), SMALLER),
        };
        message::warning(&says);
        hints.push(hint.to_owned());
    }
    if detection.suggestions.is_empty() {
        message::line("nothing found that could be shared");
        hints
            .push("directories listed in `.gitignore` and similar files are skipped; share any directory with `rootward roots add DIR`".to_owned());
    }
    hints.dedup();
    message::hints(&hints);
}

/// How many unreadable directories to name one by one.
const MOST_UNREADABLE: usize = 5;

const SMALLER: &str = "name a smaller directory to see all of it";
