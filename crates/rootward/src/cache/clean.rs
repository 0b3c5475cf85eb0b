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
    /// Print one JSON object: `freed` in bytes, `removed` and `kept`, as in `cache list --json`
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
        let (mut removed, mut kept) = (Vec::new(), Vec::new());
        for stored in stored.iter().filter(is_meant) {
            match place.store.remove_ambient(stored) {
                Ok(Removal::Removed) => removed.push(stored),
                Ok(Removal::InUse) => kept.push(stored),
                Err(error) => {
                    message::warning(&format!("`{}` was not removed: {error}", Shown::new(&stored.directory)));
                    kept.push(stored);
                }
            }
        }
        self.tell(&removed, &kept)?;
        Ok(if kept.is_empty() { Outcome::Done } else { Outcome::Denied })
    }

    fn tell(&self, removed: &[&Stored], kept: &[&Stored]) -> Result<()> {
        let mut out = io::stdout().lock();
        let freed: u64 = removed.iter().map(|stored| stored.size).sum();
        if self.json {
            let told = |list: &[&Stored]| {
                list.iter().map(|stored| Told::of(stored)).map(serde_json::to_value).collect::<Result<Vec<_>, _>>()
            };
            let answer = serde_json::json!({"freed": freed, "removed": told(removed)?, "kept": told(kept)?});
            serde_json::to_writer(&mut out, &answer)?;
            out.write_all(b"\n")?;
        } else {
            for stored in removed {
                writeln!(out, "removed {}  {}", Shown::new(&stored.contents.label()), in_words(stored.size))?;
            }
            for stored in kept {
                writeln!(out, "kept {}: a server runs from it", Shown::new(&stored.contents.label()))?;
            }
            match (removed, kept) {
                ([], []) => writeln!(out, "nothing to remove")?,
                ([], _) => {}
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
