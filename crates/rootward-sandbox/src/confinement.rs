//! A confinement: a guard's roots and a profile, turned into the rules for one command.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use rootward_core::{Access, Guard, GuardOptions, Material, RootKind, RootSet, Shown, Validation, follow_ambient};

use crate::closed::{self, Closed, ClosedTree};
use crate::enforcement::{Enforcement, NamedSocket, Strength, Unenforced, UnenforcedRule, Withheld, gaps};
use crate::error::ConfinementError;
use crate::kernel::{landlock_abi, unix_sockets_here};
use crate::open_files::RaisedLimit;
use crate::options::{Options, UnenforcedPolicy, UnixSockets};
use crate::places::{Rule, named_ambient, needed_ambient, root};
use crate::profile::Profile;
use crate::sockets::{SessionSockets, SocketKind};
use crate::split::{Pieces, SplitError, SplitRules, must_split};

/// The command to confine.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    /// The program, as typed.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its arguments as typed, if roots were inserted into them since. The packages it fetches are cached under these,
    /// independent of the roots.
    pub typed: Option<Vec<OsString>>,
    /// The directory where it starts. Without it: the working directory if that lies in a root, else the first root.
    pub directory: Option<PathBuf>,
    /// Variables with fixed values, which override the environment. `${home}` in them is the command's own home.
    pub variables: Vec<(OsString, OsString)>,
}

/// Roots and options, ready to confine commands.
#[derive(Debug)]
pub struct Confinement {
    pub(crate) guard: Guard,
    pub(crate) options: Options,
    pub(crate) abi: i32,
    /// What must stay closed below the roots and additions.
    closed: Vec<Closed>,
    /// The roots that are too large to search.
    too_large: Vec<Unenforced>,
    /// The operator's additions.
    additions: Vec<Rule>,
    /// The wanted unix sockets that this system can supervise.
    pub(crate) unix_sockets: UnixSockets,
    /// The sockets that the operator named, in the order of the options.
    pub(crate) sockets: Vec<NamedSocket>,
    /// The sockets of the user's session.
    pub(crate) session: SessionSockets,
}

/// What a command may access.
#[derive(Debug)]
pub(crate) struct Wall {
    pub(crate) rules: Vec<Rule>,
    pub(crate) enforcement: Enforcement,
    /// Keeps the limit of open files raised while the handles of the rules are open.
    pub(crate) raised: Option<RaisedLimit>,
}

impl Confinement {
    /// Checks the kernel and the roots. Fails if the kernel cannot confine at all. What it cannot enforce for a command
    /// is found when the command is prepared, which then fails unless the options allow it.
    pub fn new(guard: Guard, options: Options) -> Result<Confinement, ConfinementError> {
        let abi = landlock_abi().map_err(ConfinementError::Kernel)?;
        let additions = additions(&options)?;
        let unix_sockets = unix_sockets_here(&options.unix_sockets);
        let session = SessionSockets::of_ambient(std::env::vars_os());
        let sockets = match (&options.unix_sockets, &unix_sockets) {
            (UnixSockets::Named(named), UnixSockets::Named(_)) => named_sockets_ambient(named, &session)?,
            (UnixSockets::Named(named), _) if !named.is_empty() => return Err(ConfinementError::NoSupervisedSockets),
            _ => Vec::new(),
        };
        let (mut closed, mut too_large) = closed::below_roots(&guard)?;
        closed.extend(closed::nested(&guard));
        if !additions.is_empty() {
            let (below, large) = closed::below_roots(&guard_around(&guard, additions.iter().map(|rule| &rule.place)))?;
            closed.extend(below);
            too_large.extend(large);
        }
        Ok(Confinement { guard, options, abi, closed, too_large, additions, unix_sockets, sockets, session })
    }

    /// The places that are open for every command: roots and additions.
    pub(crate) fn open_places(&self) -> Vec<PathBuf> {
        let roots = self.guard.roots().iter().map(|placed| &placed.place);
        roots.chain(self.additions.iter().map(|rule| &rule.place)).cloned().collect()
    }

    /// Refuses an addition that a confined command could have redirected.
    // SECURITY: if the operator named a link, a command that can replace the link chooses the place
    // (test: an_addition_is_not_moved_by_a_link)
    pub(crate) fn check_additions_ambient(&self, material: &Material) -> Result<(), ConfinementError> {
        let filesystem = &self.options.filesystem;
        let paths = filesystem.allow_read.iter().chain(&filesystem.allow_write);
        let places = paths.zip(self.additions.iter().map(|rule| &rule.place));
        let sockets = match &self.options.unix_sockets {
            UnixSockets::Named(named) => named.as_slice(),
            UnixSockets::None | UnixSockets::Open => &[],
        };
        // SECURITY: a command that can replace a link on the way would choose which socket the next start opens
        // (test: a_named_socket_is_not_moved_by_a_link)
        let sockets = sockets.iter().zip(self.sockets.iter().map(|socket| &socket.place));
        for (path, place) in places.chain(sockets) {
            let Some(followed) = follow_ambient(path) else { continue };
            let refuse = |reason| Err(ConfinementError::Addition { path: path.clone(), reason });
            if let Some(link) = followed.links.iter().find(|link| material.holds(link)) {
                let link = Shown::new(link);
                return refuse(format!("`{link}` is a link that a confined server could have made; name its target"));
            }
            // SECURITY: a link that existed when the handle was opened may be gone by now
            // (test: an_addition_is_what_was_judged)
            if followed.place != *place {
                return refuse("it was moved at the same time".to_owned());
            }
        }
        Ok(())
    }

    /// Whether the operator added this place or a directory above it.
    pub(crate) fn is_added(&self, place: &Path) -> bool {
        self.additions.iter().any(|rule| place.starts_with(&rule.place))
    }

    /// All rules, and what of them cannot be enforced.
    pub(crate) fn wall(&self, profile: &Profile, withheld: Vec<Withheld>) -> Result<Wall, ConfinementError> {
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
        let denied = self.deny(&mut rules)?;
        // SECURITY: a secret below a directory that a program needs is protected like one below a root
        // (test: secrets_below_what_a_program_needs_stay_closed)
        let (found, too_large) = closed::below_roots(&guard_around(&self.guard, &profile.unknown))?;
        let made_since = closed::made_since_ambient(&self.closed);
        let closed: Vec<&Closed> = self.closed.iter().chain(&denied).chain(&found).chain(&made_since).collect();
        let mut unenforced: Vec<Unenforced> = self.too_large.iter().cloned().chain(too_large).collect();
        let SplitRules { rules, directories: split, raised } = split_around(rules, &closed, &mut unenforced)?;
        // SECURITY: what Landlock cannot enforce is refused or reported, never ignored
        // (test: a_root_that_cannot_be_split_prevents_the_start)
        unenforced.extend(still_open(&rules, &closed));
        let (unenforced, open_for_writing): (Vec<_>, Vec<_>) = unenforced.into_iter().partition(Unenforced::is_serious);
        if self.options.unenforced == UnenforcedPolicy::Refuse && !unenforced.is_empty() {
            return Err(ConfinementError::Unenforced(unenforced));
        }
        let enforcement = Enforcement {
            strength: Strength::Landlock,
            landlock_abi: Some(self.abi),
            network: self.options.network,
            unenforced,
            open_for_writing,
            split,
            withheld,
            sockets: self.sockets.clone(),
            own_proc: self.options.own_proc,
            gaps: gaps(self.abi, self.options.network, &self.unix_sockets),
        };
        Ok(Wall { rules, enforcement, raised })
    }

    /// Removes denied access from the rules at and below the denied places; the rules above are split.
    fn deny(&self, rules: &mut [Rule]) -> Result<Vec<Closed>, ConfinementError> {
        let read = self.options.filesystem.deny_read.iter().map(|path| (path, crate::profile::RUN));
        let writing = Access::READ_WRITE.without(Access::READ);
        let write = self.options.filesystem.deny_write.iter().map(|path| (path, writing));
        let mut closed = Vec::new();
        for (path, taken) in read.chain(write) {
            // SECURITY: a denial whose path matches no rule would be silently ignored
            // (test: denials_hold_however_they_are_spelled)
            let place = spelled_out_ambient(path);
            let place = place.map_err(|reason| ConfinementError::Denial { path: path.clone(), reason })?;
            for rule in rules.iter_mut().filter(|rule| rule.place.starts_with(&place)) {
                rule.access = rule.access.without(taken);
            }
            closed.push(Closed { place, taken, rule: UnenforcedRule::Denied });
            // SECURITY: redirecting a link on the way would open the denied place at the next start
            // (test: a_link_on_the_way_to_a_denied_place_stays)
            let links = follow_ambient(path).map(|followed| followed.links).unwrap_or_default().into_iter();
            closed.extend(links.map(|place| Closed { place, taken: writing, rule: UnenforcedRule::Denied }));
        }
        Ok(closed)
    }
}

/// The rules, each split if something below must stay closed.
fn split_around(
    rules: Vec<Rule>,
    closed: &[&Closed],
    unenforced: &mut Vec<Unenforced>,
) -> Result<SplitRules, ConfinementError> {
    if !closed.iter().any(|closed| closed.must_hold()) {
        return Ok(Pieces::new().with(merged(rules)));
    }
    let tree = ClosedTree::new(closed.iter().copied());
    // SECURITY: a place that is given inside a closed one, such as the package cache, is not covered by a split rule
    // that leaves out the closed place (test: a_root_inside_a_closed_place_stays_open)
    let (whole, parted): (Vec<_>, Vec<_>) = rules.into_iter().partition(|rule| !must_split(rule, &tree));
    let mut whole = merged(whole);
    let mut pieces = Pieces::new();
    for rule in merged_places(parted) {
        match pieces.add(&rule, &tree) {
            Ok(()) => {}
            Err(SplitError::TooMany(place)) => {
                unenforced.push(Unenforced { place, open: rule.access, rule: UnenforcedRule::TooManyEntries });
                whole.push(rule);
            }
            Err(SplitError::Limit(source)) => return Err(ConfinementError::OpenFiles(source)),
        }
    }
    Ok(pieces.with(whole))
}

/// The closed places that rules above them leave open. A rule at or below such a place is intended.
fn still_open(rules: &[Rule], closed: &[&Closed]) -> Vec<Unenforced> {
    if closed.is_empty() {
        return Vec::new();
    }
    let mut given: HashMap<&Path, Access> = HashMap::new();
    for rule in rules.iter().filter(|rule| rule.kind == RootKind::Directory) {
        let known = given.entry(&rule.place).or_insert(Access::NONE);
        *known = *known | rule.access;
    }
    let open = |closed: &&Closed| {
        let above = closed.place.ancestors().skip(1).filter_map(|above| given.get(above));
        let open = above.fold(Access::NONE, |sum, access| sum | *access) & closed.taken;
        (!open.is_empty()).then(|| Unenforced { place: closed.place.clone(), open, rule: closed.rule.clone() })
    };
    closed.iter().filter_map(open).collect()
}

/// One rule for each place, with the access of all its rules together.
fn merged_places(rules: Vec<Rule>) -> impl Iterator<Item = Rule> {
    let mut merged: BTreeMap<OsString, Rule> = BTreeMap::new();
    for rule in rules {
        match merged.get_mut(rule.place.as_os_str()) {
            Some(known) => known.access = known.access | rule.access,
            None => drop(merged.insert(rule.place.clone().into(), rule)),
        }
    }
    // In byte order, a directory comes before its contents.
    merged.into_values().filter(|rule| !rule.access.is_empty())
}

/// The same, without rules for a place inside another that gives as much.
fn merged(rules: Vec<Rule>) -> Vec<Rule> {
    let mut kept: Vec<Rule> = Vec::new();
    for rule in merged_places(rules) {
        if !kept.iter().any(|around| around.covers(&rule)) {
            kept.push(rule);
        }
    }
    kept
}

/// The rules for `allowRead` and `allowWrite`. The operator named these, so a place that cannot be opened is an error.
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

/// Resolves the sockets that the operator named. They need not exist yet.
fn named_sockets_ambient(paths: &[PathBuf], session: &SessionSockets) -> Result<Vec<NamedSocket>, ConfinementError> {
    let find = |path: &PathBuf| {
        let refuse = |reason: &str| ConfinementError::Addition { path: path.clone(), reason: reason.to_owned() };
        if !path.is_absolute() {
            return Err(refuse("not an absolute path"));
        }
        let followed = follow_ambient(path).ok_or_else(|| refuse("it goes through a link that cannot be followed"))?;
        let place = followed.place;
        // SECURITY: a command that reaches a service which acts for the user is not confined, no matter which link
        // names the socket (test: sockets_that_act_for_the_user_are_never_named)
        let kind = [session.kind(path), session.kind(&place)].into_iter().max().unwrap_or(SocketKind::Ordinary);
        if kind.is_never() {
            return Err(ConfinementError::ForbiddenSocket { path: path.clone(), kind });
        }
        if followed.exists && !is_socket_ambient(&place) {
            return Err(refuse("it is not a socket"));
        }
        Ok(NamedSocket { place, kind })
    };
    paths.iter().map(find).collect()
}

#[expect(clippy::disallowed_methods, reason = "named by the operator; nothing is opened")]
fn is_socket_ambient(place: &Path) -> bool {
    std::fs::symlink_metadata(place).is_ok_and(|seen| std::os::unix::fs::FileTypeExt::is_socket(&seen.file_type()))
}

/// Resolves the existing part of a path; names that do not exist yet stay.
#[expect(clippy::disallowed_methods, reason = "named by the operator")]
fn spelled_out_ambient(path: &Path) -> Result<PathBuf, String> {
    if !path.is_absolute() {
        return Err("not an absolute path".to_owned());
    }
    let lies_at = |above: &Path| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?.to_owned()));
    let (above, rest) = path.ancestors().find_map(lies_at).ok_or("does not exist")?;
    if rest.components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err("a `..` after a missing directory".to_owned());
    }
    Ok(if rest.as_os_str().is_empty() { above } else { above.join(rest) })
}

/// A guard for other directories, to find the closed places below them. Its access does not matter for that.
fn guard_around<'p>(guard: &Guard, places: impl IntoIterator<Item = &'p PathBuf>) -> Guard {
    let roots = places.into_iter().filter_map(|place| root(place, Access::ALL));
    let set = RootSet::place_ambient(roots, &Validation::new(None));
    Guard::new(set, GuardOptions { restrictions: guard.restrictions(), ..GuardOptions::default() })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "plays the user and a hostile command")]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn an_addition_is_what_was_judged() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("elsewhere")).unwrap();
        std::fs::create_dir_all(top.join("root")).unwrap();
        let (data, material) = (top.join("root/data"), Material::new([top.join("root")]));
        let confinement = || {
            let mut options = Options::default();
            options.filesystem.allow_read.push(data.clone());
            Confinement::new(Guard::new(RootSet::default(), GuardOptions::default()), options).unwrap()
        };
        symlink(top.join("elsewhere"), &data).unwrap();
        let moved = confinement();
        std::fs::remove_file(&data).unwrap();
        std::fs::create_dir(&data).unwrap();
        assert!(moved.check_additions_ambient(&material).is_err(), "its handle is the old target of the link");
        assert!(confinement().check_additions_ambient(&material).is_ok());
    }
}
