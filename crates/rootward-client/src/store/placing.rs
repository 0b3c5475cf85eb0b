//! Saved roots found on disk.

use std::path::{Path, PathBuf};

use rootward_core::{
    Access, Origin, PlacedRoot, Refusal, RefusedRoot, Resolver, Restriction, RestrictionError, Root, RootSet,
    Validation, spellings_ambient,
};

use super::Record;
use super::saved::{Audience, Given, Insistence, Kept, SavedRoot};

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
        SavedRoot { given: Some(Given { by: record.requester.to_owned(), at: record.time }), ..self }
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
    pub fn find_ambient(&self, home: Option<&Path>) -> Result<PlacedRoot, Refusal> {
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
        set.roots().first().cloned().ok_or(refusal.unwrap_or(Refusal::Missing))
    }

    /// What is closed below it, as it is spelled and where that leads.
    fn closed_ambient(&self, resolver: Resolver) -> Result<Vec<Restriction>, RestrictionError> {
        let mut rules = Vec::new();
        if self.restrict.is_empty() {
            return Ok(rules);
        }
        // A path that leads nowhere, as a loop of links, is closed as it is spelled: it is not shared in any other way.
        let places = spellings_ambient(&self.path, resolver).unwrap_or_else(|_| vec![self.path.clone()]);
        for place in places {
            for restrict in &self.restrict {
                rules.push(Restriction::below(&place, &restrict.pattern, restrict.closed)?);
            }
        }
        Ok(rules)
    }
}

impl Kept {
    /// The roots that a peer is meant to have, found on disk, and those kept out with the reasons. `home` is the user's own.
    pub fn set_ambient(&self, peer: Option<&str>, home: Option<&Path>) -> RootSet {
        let mut placed = Vec::new();
        let mut refused = Vec::new();
        for saved in self.for_peer(peer) {
            // What gives nothing is only of use where it takes something away from a root above.
            let above = |other: &SavedRoot| other.path != saved.path && saved.path.starts_with(&other.path);
            if saved.access.is_empty() && !self.for_peer(peer).any(above) {
                continue;
            }
            match saved.find_ambient(home) {
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
        let each = self.roots.iter().map(|saved| saved.closed_ambient(resolver));
        each.collect::<Result<Vec<_>, _>>().map(|rules| rules.concat())
    }
}

/// Where a place lies.
fn real_ambient(place: &Path) -> PathBuf {
    let spellings = spellings_ambient(place, Resolver::detect()).ok();
    spellings.and_then(|mut spellings| spellings.pop()).unwrap_or_else(|| place.to_owned())
}
