//! Saved roots found on disk.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rootward_core::{
    Access, Cause, Origin, PlacedRoot, RefusedRoot, Resolver, Restriction, RestrictionError, Root, RootKind, RootSet,
    Validation, WhyRefused, lookout_ambient, spellings_ambient,
};

use super::Record;
use super::saved::{Audience, Insistence, Kept, SavedRoot, YesOnRecord};

/// Any name will do to ask whether a directory lets one in.
const ANY_NAME: &str = ".rootward";

impl SavedRoot {
    /// A root for everybody, with nothing closed below it but what is closed everywhere.
    pub fn new(path: impl Into<PathBuf>, access: Access) -> SavedRoot {
        SavedRoot {
            path: path.into(),
            name: None,
            access,
            restrict: Vec::new(),
            audience: Audience::All,
            insistence: Insistence::Judged,
            given: None,
        }
    }

    /// The same root with the yes it is saved by.
    #[must_use]
    pub fn given(self, record: &Record<'_>) -> SavedRoot {
        SavedRoot { given: Some(YesOnRecord { by: record.requester.to_owned(), at: record.time }), ..self }
    }

    /// The root as it is named to others.
    pub fn root(&self) -> Root {
        Root {
            path: self.path.clone(),
            name: self.name.clone(),
            access: self.access,
            origin: Origin::Store,
            spelling: rootward_core::Spelling::Path,
            meta: None,
        }
    }

    /// Looks it up: where it lies, or why it cannot be shared.
    pub fn find_ambient(&self, home: Option<&Path>) -> Result<PlacedRoot, WhyRefused> {
        let real = home.map(real_ambient);
        let mut validation = Validation::new(home.map(Path::to_owned));
        if let Some(real) = &real {
            validation = validation.with_home(real.clone());
        }
        if self.insistence == Insistence::Forced {
            validation = validation.forced();
        }
        let mut root = self.root();
        if let (Some(home), Some(real)) = (home, &real)
            && let Ok(below) = root.path.strip_prefix(home)
        {
            // A home that is reached by a link is the user's own all the same (`/home` is a link on some systems).
            root.path = real.join(below).components().collect();
        }
        let set = RootSet::place_ambient([root], &validation);
        let refusal = set.refused().first().map(|refused| refused.reason.clone());
        let found = set.roots().first().cloned().ok_or(refusal.unwrap_or(WhyRefused::Missing))?;
        may_be_entered_ambient(&found)?;
        Ok(found)
    }

    /// Where its path leads, whatever is there. One that leads nowhere, as a loop of links, leads to itself.
    pub(crate) fn leads_to_ambient(&self, resolver: Resolver) -> PathBuf {
        let spellings = spellings_ambient(&self.path, resolver).ok();
        spellings.and_then(|mut spellings| spellings.pop()).unwrap_or_else(|| self.path.clone())
    }

    /// What is closed below it, as it is spelled and where that leads.
    pub(crate) fn closed_at(&self, leads_to: &Path) -> Result<Vec<Restriction>, RestrictionError> {
        let mut rules = Vec::new();
        let elsewhere = (leads_to != self.path).then_some(leads_to);
        for place in std::iter::once(self.path.as_path()).chain(elsewhere) {
            for restrict in &self.restrict {
                rules.push(Restriction::below(place, &restrict.pattern, restrict.closed)?);
            }
        }
        Ok(rules)
    }
}

impl Kept {
    /// The roots that a peer is meant to have, found on disk, and those kept out with the reasons. `home` is the user's own.
    pub fn set_ambient(&self, peer: Option<&str>, home: Option<&Path>) -> RootSet {
        self.set_of(peer, |saved| saved.find_ambient(home))
    }

    /// The same, with what somebody found who looked.
    pub(crate) fn set_of(
        &self,
        peer: Option<&str>,
        find: impl Fn(&SavedRoot) -> Result<PlacedRoot, WhyRefused>,
    ) -> RootSet {
        let mut placed = Vec::new();
        let mut refused = Vec::new();
        for saved in self.for_peer(peer) {
            // What gives nothing is only of use where it takes something away from a root above.
            let above = |other: &SavedRoot| other.path != saved.path && saved.path.starts_with(&other.path);
            if saved.access.is_empty() && !self.for_peer(peer).any(above) {
                continue;
            }
            match find(saved) {
                Ok(found) => placed.push(found),
                Err(reason) => {
                    let text = saved.path.display().to_string();
                    refused.push(RefusedRoot { text, root: Some(saved.root()), reason });
                }
            }
        }
        RootSet::new(placed, refused)
    }

    /// What is closed below all of them. Restrictions belong to places: they hold however a root above or below is named, and by
    /// whom.
    pub fn closed_ambient(&self, resolver: Resolver) -> Result<Vec<Restriction>, RestrictionError> {
        let closing = self.roots.iter().filter(|saved| !saved.restrict.is_empty());
        let each = closing.map(|saved| saved.closed_at(&saved.leads_to_ambient(resolver)));
        each.collect::<Result<Vec<_>, _>>().map(|rules| rules.concat())
    }
}

/// A directory that nobody lets one into is found, and nothing in it is: whatever its name, looking for it says so.
fn may_be_entered_ambient(found: &PlacedRoot) -> Result<(), WhyRefused> {
    if found.kind != RootKind::Directory {
        return Ok(());
    }
    let below = lookout_ambient(Resolver::detect()).check(found.place.join(ANY_NAME), Access::NONE);
    match below.map_err(|denial| denial.cause().clone()) {
        Err(Cause::System(ErrorKind::PermissionDenied)) => Err(WhyRefused::Unreachable(ErrorKind::PermissionDenied)),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Where a place lies.
fn real_ambient(place: &Path) -> PathBuf {
    let spellings = spellings_ambient(place, Resolver::detect()).ok();
    spellings.and_then(|mut spellings| spellings.pop()).unwrap_or_else(|| place.to_owned())
}
