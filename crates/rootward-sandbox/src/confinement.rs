//! A confinement: a guard's roots and a profile, turned into the rules of one command.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use rootward_core::{Access, Extent, Guard, GuardOptions, RootKind, RootSet, Validation};

use crate::enforcement::{Enforcement, Strength, Unheld, UnheldRule, Withheld, gaps};
use crate::error::ConfinementError;
use crate::kernel::landlock_abi;
use crate::options::{Options, UnheldPolicy};
use crate::places::{Rule, is_secret_ambient, named_ambient, needed_ambient, root};
use crate::profile::{Finding, Profile, Trust};

/// How many entries of a root are looked through for closed places.
const MOST_ENTRIES: usize = 1_000_000;

/// The command to confine.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    /// The program, as typed.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Where it starts; without it, in the working directory if that lies in a root, else in the first root.
    pub directory: Option<PathBuf>,
    /// Variables that it gets with these values, whatever the environment says.
    pub variables: Vec<(OsString, OsString)>,
}

/// Roots and options, ready to confine commands.
#[derive(Debug)]
pub struct Confinement {
    pub(crate) guard: Guard,
    pub(crate) options: Options,
    pub(crate) abi: i32,
    /// What the roots ask for and the kernel cannot hold.
    unheld: Vec<Unheld>,
    /// What the operator added.
    additions: Vec<Rule>,
}

impl Confinement {
    /// Looks at the kernel and the roots. Refuses where the kernel cannot confine at all; what it cannot hold is known from then on
    /// ([`Confinement::unheld`]), and keeps commands from being prepared unless the options allow it.
    pub fn new(guard: Guard, options: Options) -> Result<Confinement, ConfinementError> {
        let abi = landlock_abi().map_err(ConfinementError::Kernel)?;
        let additions = additions(&options)?;
        let mut unheld = nested(&guard);
        unheld.extend(closed_below(&guard)?);
        if !additions.is_empty() {
            unheld.extend(closed_below(&added_guard(&guard, &additions))?);
        }
        Ok(Confinement { guard, options, abi, unheld, additions })
    }

    /// The rules that cannot be held.
    pub fn unheld(&self) -> &[Unheld] {
        &self.unheld
    }

    fn judge(&self, unheld: Vec<Unheld>) -> Result<Vec<Unheld>, ConfinementError> {
        let serious = unheld.iter().any(Unheld::is_serious);
        if serious && self.options.unheld == UnheldPolicy::Refuse {
            return Err(ConfinementError::Unheld(unheld));
        }
        Ok(unheld)
    }

    /// The enforcement of a command whose rules these are.
    pub(crate) fn enforcement(&self, unheld: Vec<Unheld>, withheld: Vec<Withheld>) -> Enforcement {
        Enforcement {
            strength: Strength::Landlock,
            landlock_abi: Some(self.abi),
            network: self.options.network,
            unheld,
            withheld,
            gaps: gaps(self.abi, self.options.network, self.options.unix_sockets),
        }
    }

    /// What is open whatever the command is: roots and additions.
    pub(crate) fn open_places(&self) -> Vec<PathBuf> {
        let roots = self.guard.roots().iter().map(|placed| &placed.place);
        roots.chain(self.additions.iter().map(|rule| &rule.place)).cloned().collect()
    }

    /// Whether a place is secret, lies in one that is, or holds one. Known runtimes are not looked through.
    // SECURITY: a link among the surroundings of a program leads to no secret, whoever put it there
    // (test: the_profile_opens_no_secret_place)
    pub(crate) fn holds_secrets_ambient(&self, found: &Finding, trust: &Trust<'_>) -> bool {
        let place = &found.place;
        if is_secret_ambient(place) {
            return true;
        }
        if trust.runtimes.iter().any(|runtime| place.starts_with(&runtime.top)) {
            return false;
        }
        let reads = |unheld: &Unheld| unheld.open.contains(Access::READ);
        if self.guard.roots().iter().any(|root| place.starts_with(&root.place)) {
            // The roots have been looked through.
            return self.unheld.iter().any(|unheld| reads(unheld) && unheld.place.starts_with(place));
        }
        let Some(root) = root(place, found.access) else { return true };
        let set = RootSet::place_ambient([root], &Validation::new(None));
        let around =
            Guard::new(set, GuardOptions { restrictions: self.guard.restrictions(), ..GuardOptions::default() });
        closed_below(&around).map_or(true, |closed| closed.iter().any(reads))
    }

    /// Every open place, with what of it cannot be held.
    pub(crate) fn rules(&self, profile: &Profile) -> Result<(Vec<Rule>, Vec<Unheld>), ConfinementError> {
        let mut rules = Vec::new();
        for (index, placed) in self.guard.roots().iter().enumerate() {
            let place = placed.place.clone();
            let handle = self.guard.pin_root(index);
            let handle = handle.map_err(|source| ConfinementError::Root { place: place.clone(), source })?;
            rules.push(Rule { place, handle, access: self.guard.access_of_root(index), kind: placed.kind });
        }
        for rule in &self.additions {
            let handle = rule.handle.try_clone();
            let handle = handle.map_err(|source| ConfinementError::Root { place: rule.place.clone(), source })?;
            rules.push(Rule { place: rule.place.clone(), handle, access: rule.access, kind: rule.kind });
        }
        rules.extend(needed_ambient(&profile.needs));
        let mut unheld = self.unheld.clone();
        unheld.extend(self.deny(&mut rules)?);
        let rules = merged(rules);
        // SECURITY: what Landlock cannot hold is refused or named, never passed over
        // (test: a_secret_below_a_root_keeps_the_command_from_starting)
        Ok((rules, self.judge(unheld)?))
    }

    /// Takes away what is denied; returns what lies below an open place and so cannot be.
    fn deny(&self, rules: &mut [Rule]) -> Result<Vec<Unheld>, ConfinementError> {
        let read = self.options.filesystem.deny_read.iter().map(|path| (path, crate::profile::RUN));
        let writing = Access::READ_WRITE.without(Access::READ);
        let write = self.options.filesystem.deny_write.iter().map(|path| (path, writing));
        let mut unheld = Vec::new();
        for (path, denied) in read.chain(write) {
            // SECURITY: a denial whose path compares with no rule would be passed over in silence
            // (test: denials_hold_however_they_are_spelled)
            let place = spelled_out_ambient(path);
            let place = place.map_err(|reason| ConfinementError::Denial { path: path.clone(), reason })?;
            for rule in rules.iter_mut() {
                if rule.place.starts_with(&place) {
                    rule.access = rule.access.without(denied);
                } else if place.starts_with(&rule.place) && !(rule.access & denied).is_empty() {
                    let open = rule.access & denied;
                    unheld.push(Unheld { place: place.clone(), open, rule: UnheldRule::Denied });
                }
            }
        }
        Ok(unheld)
    }
}

/// One rule for each place, with what any of them gives; none for a place in another that gives as much.
fn merged(rules: Vec<Rule>) -> Vec<Rule> {
    let mut merged: BTreeMap<OsString, Rule> = BTreeMap::new();
    for rule in rules {
        match merged.get_mut(rule.place.as_os_str()) {
            Some(known) => known.access = known.access | rule.access,
            None => drop(merged.insert(rule.place.clone().into(), rule)),
        }
    }
    let mut kept: Vec<Rule> = Vec::new();
    // In the order of their bytes, whatever holds a place comes before it.
    for rule in merged.into_values().filter(|rule| !rule.access.is_empty()) {
        if !kept.iter().any(|around| around.covers(&rule)) {
            kept.push(rule);
        }
    }
    kept
}

/// Roots that lie in another root of more access: Landlock gives them the sum.
fn nested(guard: &Guard) -> Vec<Unheld> {
    let mut unheld = Vec::new();
    for (inner, placed) in guard.roots().iter().enumerate() {
        let outside = guard.roots().iter().enumerate().filter(|(outer, around)| {
            *outer != inner && around.kind == RootKind::Directory && placed.place.starts_with(&around.place)
        });
        let sum = outside.fold(Access::NONE, |sum, (outer, _)| sum | guard.access_of_root(outer));
        let open = sum.without(guard.access_of_root(inner));
        if !open.is_empty() {
            unheld.push(Unheld { place: placed.place.clone(), open, rule: UnheldRule::NestedRoot });
        }
    }
    unheld
}

/// The closed places that exist below the roots.
fn closed_below(guard: &Guard) -> Result<Vec<Unheld>, ConfinementError> {
    let mut unheld = Vec::new();
    for (index, placed) in guard.roots().iter().enumerate() {
        let place = placed.place.clone();
        if place == Path::new("/") {
            return Err(ConfinementError::WholeDisk);
        }
        let access = guard.access_of_root(index);
        let closed = guard.closed_places_below(index, MOST_ENTRIES);
        let closed = closed.map_err(|source| ConfinementError::Root { place: place.clone(), source })?;
        for found in closed.found {
            let (open, rule) = (access & found.taken, UnheldRule::Restriction { pattern: found.pattern });
            if !open.is_empty() {
                unheld.push(Unheld { place: found.place, open, rule });
            }
        }
        if closed.extent == Extent::Part {
            unheld.push(Unheld { place, open: access, rule: UnheldRule::TooLarge });
        }
    }
    Ok(unheld)
}

/// What `allowRead` and `allowWrite` name. The operator's word: one that cannot be had is an error.
fn additions(options: &Options) -> Result<Vec<Rule>, ConfinementError> {
    let read = options.filesystem.allow_read.iter().map(|path| (path, crate::profile::RUN));
    let write = options.filesystem.allow_write.iter().map(|path| (path, Access::READ_WRITE));
    let rule = |(path, access): (&PathBuf, Access)| {
        spelled_out_ambient(path)
            .and_then(|path| named_ambient(&path, access))
            .map_err(|reason| ConfinementError::Addition { path: path.clone(), reason })
    };
    read.chain(write).map(rule).collect()
}

/// Where a path leads, as far as it exists: links and dots are gone, names that are not there yet stay.
#[expect(clippy::disallowed_methods, reason = "the operator's own word")]
fn spelled_out_ambient(path: &Path) -> Result<PathBuf, String> {
    if !path.is_absolute() {
        return Err("not an absolute path".to_owned());
    }
    let lies_at = |above: &Path| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?.to_owned()));
    let (above, rest) = path.ancestors().find_map(lies_at).ok_or("does not exist")?;
    if rest.components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err("a `..` behind what does not exist".to_owned());
    }
    Ok(if rest.as_os_str().is_empty() { above } else { above.join(rest) })
}

/// A guard over what the operator added, to find the closed places below.
fn added_guard(guard: &Guard, additions: &[Rule]) -> Guard {
    let roots = additions.iter().filter(|rule| rule.kind == RootKind::Directory);
    let roots = roots.filter_map(|rule| root(&rule.place, rule.access));
    let set = RootSet::place_ambient(roots, &Validation::new(None));
    Guard::new(set, GuardOptions { restrictions: guard.restrictions(), ..GuardOptions::default() })
}
