//! Decides which findings a start may use.
//!
//! A finding is trusted if no confined command could have written anything that named it. Otherwise it may only choose
//! among places that are open anyway, places that the command line itself names, and the known runtimes.

use std::path::{Path, PathBuf};

use rootward_core::places::SECRET;
use rootward_core::{Material, Shown};
use thiserror::Error;

use super::finding::{Anchor, Finding};

/// The data for judging a finding.
#[derive(Debug)]
pub(crate) struct Trust<'t> {
    /// What confined commands could have written.
    pub(crate) material: &'t Material,
    /// The places that are open anyway: roots and additions.
    pub(crate) open: &'t [PathBuf],
    pub(crate) runtimes: &'t [Anchor],
    /// The user's home, as spelled and resolved.
    pub(crate) homes: &'t [PathBuf],
}

/// Why a place is not given.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Untrusted {
    /// A confined command could have written the link or file that names it.
    #[error("a confined server could have written `{}`, which names it", Shown::new(.0))]
    Planted(PathBuf),
    /// It is the user's home, or contains the home or one of its secret places.
    #[error("it contains the home directory or one of its secret places")]
    HoldsHome,
    /// It is, lies in, or contains a secret place.
    #[error("it is or contains a secret place")]
    Secret,
}

impl Trust<'_> {
    /// The finding to use: this one, or its alternative if this one cannot be trusted.
    pub(crate) fn judge<'f>(&self, finding: &'f Finding) -> Result<&'f Finding, Untrusted> {
        let planted = finding.trail.named_in.iter().find(|named_in| self.material.holds(named_in));
        let untrusted = match planted {
            // SECURITY: a directory that contains the home contains its secrets
            // (test: no_place_that_holds_the_home_is_given)
            _ if self.holds_home(&finding.place) => Untrusted::HoldsHome,
            // SECURITY: a command that can write what names a place would choose what the next start opens
            // (test: a_writable_file_cannot_name_another_place)
            Some(planted) if !self.may_be_chosen(finding) => Untrusted::Planted(planted.clone()),
            _ => return Ok(finding),
        };
        finding.otherwise.as_ref().map_or(Err(untrusted), |otherwise| self.judge(otherwise))
    }

    /// Whether files of a confined command may lead to this place.
    fn may_be_chosen(&self, finding: &Finding) -> bool {
        let place = &finding.place;
        let holds = |anchor: &Anchor| anchor.holds(place, self.material);
        let in_runtime = |runtime: &Anchor| holds(runtime) && !self.material.holds(&runtime.top);
        self.open.iter().any(|open| place.starts_with(open))
            || finding.trail.own.iter().any(holds)
            || self.runtimes().any(in_runtime)
    }

    /// The known runtimes, except any that contains the home: `~/shims` in `PATH` does not make the home a runtime.
    fn runtimes(&self) -> impl Iterator<Item = &Anchor> {
        self.runtimes.iter().filter(|runtime| !self.holds_home(&runtime.top))
    }

    /// Whether a place need not be searched for secrets: the roots have been, and runtimes contain none.
    pub(crate) fn is_known(&self, place: &Path) -> bool {
        let runtimes = self.runtimes().map(|runtime| &runtime.top);
        self.open.iter().chain(runtimes).any(|known| place.starts_with(known))
    }

    /// Whether a place is the home, lies above it, or contains one of its secret places.
    pub(crate) fn holds_home(&self, place: &Path) -> bool {
        let holds = |home: &PathBuf| {
            home.starts_with(place)
                || place.starts_with(home) && SECRET.iter().any(|secret| home.join(secret).starts_with(place))
        };
        place.parent().is_none() || self.homes.iter().any(holds)
    }
}

#[cfg(test)]
mod tests {
    use rootward_core::Access;

    use super::super::finding::{NeededAs, Trail};
    use super::*;

    fn finding(place: &str, named_in: &[&str], own: &[&str]) -> Finding {
        let own = own.iter().map(|top| Anchor { top: top.into(), links: Vec::new() }).collect();
        let trail = Trail { named_in: named_in.iter().map(PathBuf::from).collect(), own };
        Finding { place: place.into(), access: Access::READ, why: NeededAs::Libraries, trail, otherwise: None }
    }

    fn judge(finding: &Finding) -> Result<PathBuf, Untrusted> {
        let material = Material::new(["/h/me/src", "/h/me/.fnm"].map(PathBuf::from));
        let runtimes = ["/h/me/.pyenv", "/h/me/.fnm", "/h/me"].map(|top| Anchor { top: top.into(), links: Vec::new() });
        let linked = Anchor { top: "/data/conda".into(), links: vec!["/h/me/src/conda".into()] };
        let runtimes: Vec<Anchor> = runtimes.into_iter().chain([linked]).collect();
        let (open, homes) = (["/h/me/src/app".into()], ["/h/me".into()]);
        let trust = Trust { material: &material, open: &open, runtimes: &runtimes, homes: &homes };
        trust.judge(finding).map(|finding| finding.place.clone())
    }

    #[test]
    fn a_writable_file_cannot_name_another_place() {
        let given = |place: &str, named_in: &[&str], own: &[&str], expect: bool| {
            assert_eq!(judge(&finding(place, named_in, own)).is_ok(), expect, "{place} named in {named_in:?}");
        };
        given("/opt/tool/lib", &[], &[], true);
        given("/opt/tool/lib", &["/h/me/bin/tool"], &[], true);
        given("/opt/tool/lib", &["/h/me/bin/tool", "/h/me/src/app/.venv/bin/python"], &[], false);
        given("/h/me/src/other", &["/h/me/src/app/.venv/libexec"], &[], false);
        given("/h/me/src/app/.venv/lib", &["/h/me/src/app/.venv/lib64"], &[], true);
        given("/h/me/.pyenv/versions/3.12/lib", &["/h/me/src/app/.venv/bin/python"], &[], true);
        given("/h/me/.fnm/node/lib", &["/h/me/src/app/x"], &[], false);
        given("/data/conda/lib", &["/h/me/src/app/x"], &[], false);
        given("/h/me/src/tool/lib", &["/h/me/src/tool/lib64"], &["/h/me/src/tool"], true);
    }

    #[test]
    fn no_place_that_holds_the_home_is_given() {
        for place in ["/", "/h", "/h/me", "/h/me/.config", "/h/me/.local/share", "/h/me/.ssh"] {
            assert_eq!(judge(&finding(place, &[], &[])), Err(Untrusted::HoldsHome), "{place}");
        }
        for place in ["/h/me/.local/bin", "/h/me/tools", "/h/other"] {
            assert!(judge(&finding(place, &[], &[])).is_ok(), "{place}");
        }
    }

    #[test]
    fn the_command_line_speaks_where_the_surroundings_cannot() {
        let package = finding("/h/me", &["/h/me/src/tool/dist/index.js"], &[]);
        let or = |otherwise: Finding| Finding { otherwise: Some(Box::new(otherwise)), ..package.clone() };
        assert_eq!(judge(&or(finding("/h/me/src/tool", &[], &[]))), Ok("/h/me/src/tool".into()));
        let planted = Untrusted::Planted("/h/me/src/link".into());
        assert_eq!(judge(&or(finding("/opt/x", &["/h/me/src/link"], &[]))), Err(planted));
    }

    #[test]
    fn a_link_to_a_named_place_is_not_named_itself() {
        let own = Anchor { top: "/opt/x".into(), links: vec!["/h/me/src/app/bin".into()] };
        let mut lib = finding("/opt/x/lib", &["/h/me/src/app/bin"], &[]);
        lib.trail.own.push(own);
        assert!(judge(&lib).is_err());
    }
}
