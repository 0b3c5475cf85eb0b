//! `rootward cache clean`: removes unused packages.

use std::io::{self, Write};

use anyhow::Result;
use clap::Args;
use rootward_core::Shown;
use rootward_sandbox::{Contents, Removal, Stored};

use super::Place;
use super::shown::{Told, in_words};
use crate::Outcome;
use crate::message::{self, Hinted};

/// Remove packages that no server runs from
///
/// Removes all of them, or those you name. The next start fetches what it needs.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Clean {
    /// Only these packages, by name (`@scope/name`) or as requested (`@scope/name@1.2`)
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Print one JSON object: `freed` in bytes, `removed`, `kept` (in use) and `failed`, as in `cache list --json`
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Exit codes: 0 done, 1 something is in use and stays, 2 wrong use or failure";

impl Clean {
    pub(super) fn run(&self, place: &Place) -> Result<Outcome> {
        let stored = place.list_ambient()?;
        for name in &self.names {
            if !stored.iter().any(|stored| is_called(stored, name)) {
                let says = format!("there is no package `{}`", Shown::new(name));
                return Err(Hinted { says, hint: "`rootward cache list` names all".to_owned() }.into());
            }
        }
        let is_meant =
            |stored: &&Stored| self.names.is_empty() || self.names.iter().any(|name| is_called(stored, name));
        let (mut removed, mut in_use, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for stored in stored.iter().filter(is_meant) {
            match place.store.remove_ambient(stored) {
                Ok(Removal::Removed) => removed.push(stored),
                Ok(Removal::InUse) => in_use.push(stored),
                Err(error) => {
                    message::warning(&format!("`{}` was not removed: {error}", Shown::new(&stored.directory)));
                    failed.push(stored);
                }
            }
        }
        self.tell(&removed, &in_use, &failed)?;
        Ok(match (in_use.is_empty(), failed.is_empty()) {
            (_, false) => Outcome::Failed,
            (false, true) => Outcome::Denied,
            (true, true) => Outcome::Done,
        })
    }

    /// Prints what was removed and what stays. A warning has already named what could not be removed.
    fn tell(&self, removed: &[&Stored], in_use: &[&Stored], failed: &[&Stored]) -> Result<()> {
        let mut out = io::stdout().lock();
        let freed: u64 = removed.iter().map(|stored| stored.size).sum();
        if self.json {
            let told = |list: &[&Stored]| {
                list.iter().map(|stored| Told::of(stored)).map(serde_json::to_value).collect::<Result<Vec<_>, _>>()
            };
            let (removed, kept, failed) = (told(removed)?, told(in_use)?, told(failed)?);
            let answer = serde_json::json!({"freed": freed, "removed": removed, "kept": kept, "failed": failed});
            serde_json::to_writer(&mut out, &answer)?;
            out.write_all(b"\n")?;
        } else {
            for stored in removed {
                writeln!(out, "removed {}  {}", Shown::new(&stored.contents.label()), in_words(stored.size))?;
            }
            for stored in in_use {
                writeln!(out, "kept {}: a server runs from it", Shown::new(&stored.contents.label()))?;
            }
            match removed {
                [] if in_use.is_empty() && failed.is_empty() => writeln!(out, "nothing to remove")?,
                [] => {}
                _ => writeln!(out, "{} freed", in_words(freed))?,
            }
        }
        Ok(out.flush()?)
    }
}

fn is_called(stored: &Stored, name: &str) -> bool {
    match &stored.contents {
        Contents::Package { name: package, spec, .. } => name == package || name == spec,
        Contents::RunnerCache { .. } | Contents::Leftover => false,
    }
}
