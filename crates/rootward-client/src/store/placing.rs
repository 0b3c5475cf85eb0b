//! Finds saved roots on disk.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rootward_core::{
    Access, Cause, Material, Origin, Pattern, PlacedRoot, RefusedRoot, Resolver, Restriction, RestrictionError, Root,
    RootKind, RootSet, Validation, WhyRefused, lookout_ambient, spellings_ambient,
};

use super::Record;
use super::saved::{Audience, Insistence, Kept, SavedRoot, YesOnRecord};

/// An arbitrary name, to check whether a directory can be entered.
const ANY_NAME: &str = ".rootward";

/// What was found for a saved root: itself, or its matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundRoots {
    /// What is shared.
    pub placed: Vec<PlacedRoot>,
    /// Matches of a pattern that are not shared.
    pub left_out: Vec<RefusedRoot>,
}

impl FoundRoots {
    /// Itself, or why nothing is shared.
    fn or_why(self) -> Result<FoundRoots, WhyRefused> {
        match (self.placed.first(), self.left_out.first()) {
            (None, Some(refused)) => Err(refused.reason.clone()),
            (None, None) => Err(WhyRefused::Missing),
            (Some(_), _) => Ok(self),
        }
    }
}

impl SavedRoot {
    /// A root for everybody, with only the standard restrictions.
    pub fn new(path: impl Into<PathBuf>, access: Access) -> SavedRoot {
        SavedRoot {
            path: path.into(),
            pattern: None,
            name: None,
            access,
            restrict: Vec::new(),
            audience: Audience::All,
            insistence: Insistence::Judged,
            given: None,
        }
    }

    /// The same root with the consent it is saved with.
    #[must_use]
    pub fn given(self, record: &Record<'_>) -> SavedRoot {
        SavedRoot { given: Some(YesOnRecord { by: record.requester.to_owned(), at: record.time }), ..self }
    }

    /// The root as named to others.
    pub fn root(&self) -> Root {
        Root {
            path: self.path.clone(),
            name: self.name.clone(),
            access: self.access,
            origin: Origin::Store,
            spelling: rootward_core::Spelling::Path,
            meta: None,
            pattern: self.pattern.clone(),
        }
    }

    /// Finds it on disk, or says why it cannot be shared. For a pattern, the first match.
    pub fn find_ambient(&self, home: Option<&Path>) -> Result<PlacedRoot, WhyRefused> {
        let found = self.find_all_ambient(home)?;
        found.placed.into_iter().next().ok_or(WhyRefused::Missing)
    }

    /// Finds it, or its matches, on disk.
    pub(crate) fn find_all_ambient(&self, home: Option<&Path>) -> Result<FoundRoots, WhyRefused> {
        let real = home.map(real_ambient);
        let mut validation = Validation::new(home.map(Path::to_owned));
        if let Some(real) = &real {
            validation = validation.with_home(real.clone());
        }
        if self.insistence == Insistence::Forced {
            validation = validation.forced();
        }
        let mut root = self.root();
        if let (Some(home), Some(real)) = (home, &real) {
            root = in_real_home(root, home, real);
        }
        let set = RootSet::place_ambient([root], &validation);
        if let (true, Some(refused)) = (set.is_empty(), set.refused().first()) {
            return Err(refused.reason.clone());
        }
        let mut found = FoundRoots { placed: Vec::new(), left_out: set.refused().to_vec() };
        for placed in set.roots() {
            match may_be_entered_ambient(placed) {
                Ok(()) => found.placed.push(placed.clone()),
                Err(reason) if self.pattern.is_none() => return Err(reason),
                Err(reason) => found.left_out.push(left_out(placed, reason)),
            }
        }
        found.or_why()
    }

    /// Where its path leads, even if nothing exists there. A path that leads nowhere, such as a loop of links, leads
    /// to itself.
    pub(crate) fn leads_to_ambient(&self, resolver: Resolver) -> PathBuf {
        let spellings = spellings_ambient(&self.path, resolver).ok();
        spellings.and_then(|mut spellings| spellings.pop()).unwrap_or_else(|| self.path.clone())
    }

    /// What is closed below it, both as spelled and where that leads.
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
    /// The roots for a peer, found on disk, and those left out with the reasons. `home` is the user's own.
    pub fn set_ambient(&self, peer: Option<&str>, home: Option<&Path>) -> RootSet {
        self.set_of(peer, &self.written_ambient(), |saved| saved.find_all_ambient(home))
    }

    /// What confined commands could write, if there are patterns: no pattern matches there.
    pub(crate) fn written_ambient(&self) -> Material {
        match &self.record {
            // SECURITY: if the record cannot be read, trust nothing
            // (test: a_saved_pattern_matches_nothing_if_the_record_is_damaged)
            Some(record) if self.has_patterns() => record.read_ambient().unwrap_or_else(|_| Material::everything()),
            _ => Material::default(),
        }
    }

    /// Whether a pattern is saved.
    pub(crate) fn has_patterns(&self) -> bool {
        self.roots.iter().any(|root| root.pattern.is_some())
    }

    /// The same, with what the caller found on disk.
    pub(crate) fn set_of(
        &self,
        peer: Option<&str>,
        written: &Material,
        find: impl Fn(&SavedRoot) -> Result<FoundRoots, WhyRefused>,
    ) -> RootSet {
        let mut placed = Vec::new();
        let mut refused = Vec::new();
        for (saved, found) in self.found_of(peer, written, find) {
            match found {
                Ok(found) => {
                    placed.extend(found.placed);
                    refused.extend(found.left_out);
                }
                Err(reason) => {
                    let text = saved.path.display().to_string();
                    refused.push(RefusedRoot { text, root: Some(saved.root()), reason });
                }
            }
        }
        RootSet::new(placed, refused)
    }

    /// What a saved root shares with its audience, with what the caller found on disk.
    pub(crate) fn found(
        &self,
        saved: &SavedRoot,
        written: &Material,
        find: impl Fn(&SavedRoot) -> Result<FoundRoots, WhyRefused>,
    ) -> Result<FoundRoots, WhyRefused> {
        if saved.pattern.is_none() {
            return find(saved);
        }
        let peer = saved.audience.names().and_then(|names| names.first()).map(String::as_str);
        let mut all = self.found_of(peer, written, &find).into_iter();
        all.find(|(root, _)| *root == saved).map_or_else(|| find(saved), |(_, found)| found)
    }

    /// Each root for a peer, and what was found for it.
    fn found_of<'k>(
        &'k self,
        peer: Option<&'k str>,
        written: &Material,
        find: impl Fn(&SavedRoot) -> Result<FoundRoots, WhyRefused>,
    ) -> Vec<(&'k SavedRoot, Result<FoundRoots, WhyRefused>)> {
        let mut all = Vec::new();
        for saved in self.for_peer(peer) {
            // A root without access only matters if it takes something away from a root above.
            let above = |other: &SavedRoot| other.path != saved.path && saved.path.starts_with(&other.path);
            if saved.access.is_empty() && !self.for_peer(peer).any(above) {
                continue;
            }
            all.push((saved, find(saved)));
        }
        if !self.has_patterns() {
            return all;
        }
        let is_planted = |saved: &SavedRoot, one: &PlacedRoot| {
            let holder = one.place.parent().unwrap_or(&one.place);
            let could_write = |other: &SavedRoot| {
                // For any audience: another peer's server creates directories, too.
                !other.is_at(saved)
                    && other.access.contains(Access::WRITE)
                    && other.reach(holder, None) != super::reach::Reach::Nothing
            };
            saved.pattern.is_some() && (written.holds(holder) || self.roots.iter().any(could_write))
        };
        let firm = all.iter().flat_map(|(saved, found)| {
            let placed = found.iter().flat_map(|found| &found.placed);
            placed.filter(|one| !is_planted(saved, one)).cloned()
        });
        let firm: Vec<PlacedRoot> = firm.collect();
        let is_open_without = |one: &PlacedRoot| {
            firm.iter().any(|other| other.holds(&one.place) && other.root.access.contains(one.root.access))
        };
        let judge = |saved: &SavedRoot, found: FoundRoots| {
            // SECURITY: a directory that a confined server created must not become a root because a pattern matches
            // it
            // (test: a_saved_pattern_matches_nothing_that_a_server_could_have_created)
            let is_kept = |one: &PlacedRoot| !is_planted(saved, one) || is_open_without(one);
            let (placed, planted): (Vec<_>, Vec<_>) = found.placed.into_iter().partition(is_kept);
            let why = |one: &PlacedRoot| {
                let holder = one.place.parent().unwrap_or(&one.place).to_owned();
                left_out(one, WhyRefused::PlantedMatch(holder))
            };
            let left_out = found.left_out.into_iter().chain(planted.iter().map(why)).collect();
            FoundRoots { placed, left_out }.or_why()
        };
        all.into_iter().map(|(saved, found)| (saved, found.and_then(|found| judge(saved, found)))).collect()
    }

    /// What is closed below all of them. Restrictions belong to places: they apply no matter how, and by whom, a
    /// root above or below is named.
    pub fn closed_ambient(&self, resolver: Resolver) -> Result<Vec<Restriction>, RestrictionError> {
        let closing = self.roots.iter().filter(|saved| !saved.restrict.is_empty());
        let each = closing.map(|saved| saved.closed_at(&saved.leads_to_ambient(resolver)));
        each.collect::<Result<Vec<_>, _>>().map(|rules| rules.concat())
    }
}

fn left_out(placed: &PlacedRoot, reason: WhyRefused) -> RefusedRoot {
    RefusedRoot { text: placed.root.path.display().to_string(), root: None, reason }
}

/// A home that is reached through a link is still the user's own (`/home` is a link on some systems).
fn in_real_home(root: Root, home: &Path, real: &Path) -> Root {
    let Ok(below) = root.path.strip_prefix(home) else { return root };
    let path: PathBuf = real.join(below).components().collect();
    let (before, after) = (home.components().count(), real.components().count());
    let pattern = match root.pattern {
        // A `*` before the end of the home: the pattern does not mean this home.
        Some(Pattern::Named { fixed }) if fixed < before => return root,
        Some(Pattern::Named { fixed }) => Some(Pattern::Named { fixed: fixed - before + after }),
        other => other,
    };
    Root { path, pattern, ..root }
}

/// A directory that cannot be entered is found, but nothing in it is: looking for any name shows that.
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

/// The real path of a place.
fn real_ambient(place: &Path) -> PathBuf {
    let spellings = spellings_ambient(place, Resolver::detect()).ok();
    spellings.and_then(|mut spellings| spellings.pop()).unwrap_or_else(|| place.to_owned())
}
