//! Splits a rule for a directory into rules for its entries if something below must stay closed.
//!
//! Landlock gives a directory's access to everything below it, permanently. So a directory above a closed place gets no
//! rule, or one that gives no more than the closed place may have, and never write access: then nothing in it can be
//! created, renamed or removed, and the closed place cannot be created or swapped in. Its other entries get the rule
//! that the directory would have had, minus what is taken away there.
//!
//! ```text
//! ~:rw with ~/.ssh           ~ nothing        ~/notes.txt rw   ~/src rw   ~/.bashrc r   ~/.ssh nothing
//! ~/.config/rootward absent  ~/.config read   ~/.config/git r   ~/.config/htop rw
//! ```
//!
//! Entries are pinned below the directory's own handle, and no link is followed. An entry that is created later has no
//! rule until the next start.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rootward_core::{Access, RootKind, names_in, pin_entry};
use rustix::io::Errno;

use crate::closed::{ClosedAt, ClosedTree};
use crate::enforcement::SplitDirectory;
use crate::open_files::RaisedLimit;
use crate::places::Rule;
use crate::profile::RUN;

/// The maximum number of rules that a start makes from entries. Each is a handle that the supervisor holds.
const MOST_PIECES: usize = 8_192;

/// The number of pieces from which on the limit of open files is raised.
const MANY: usize = 128;

/// The rules of a start that come from entries.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// Sorted by bytes: one for each place, from whatever rules it came.
    rules: BTreeMap<PathBuf, Rule>,
    directories: Vec<SplitDirectory>,
    raised: Option<RaisedLimit>,
    most: usize,
}

/// Rules that respect what must stay closed.
#[derive(Debug)]
pub(crate) struct SplitRules {
    pub(crate) rules: Vec<Rule>,
    /// The directories that were split.
    pub(crate) directories: Vec<SplitDirectory>,
    /// Keeps the limit of open files raised while the handles of the rules are open.
    pub(crate) raised: Option<RaisedLimit>,
}

/// Why a rule was not split.
#[derive(Debug)]
pub(crate) enum SplitError {
    /// This directory has too many entries to make a rule for each.
    TooMany(PathBuf),
    /// The limit of open files could not be raised.
    Limit(io::Error),
}

/// A directory above a closed place.
#[derive(Debug)]
struct Directory<'c> {
    place: PathBuf,
    handle: OwnedFd,
    access: Access,
    closed: ClosedAt<'c>,
    /// The access that the directories above give to everything in it.
    given: Access,
}

/// Whether something below a rule's place must stay closed for the access it gives.
pub(crate) fn must_split(rule: &Rule, closed: &ClosedTree) -> bool {
    rule.kind == RootKind::Directory && closed.at(&rule.place).is_some_and(|closed| reaches(rule.access, closed))
}

/// Whether a rule with this access would reach a place below that must stay closed, or could move it away.
fn reaches(access: Access, closed: ClosedAt<'_>) -> bool {
    let below = closed.taken_below();
    let moving = access & (Access::WRITE | Access::DELETE);
    !below.is_empty() && !(access & below | moving).is_empty()
}

impl Pieces {
    pub(crate) fn new() -> Pieces {
        Pieces { most: MOST_PIECES, ..Pieces::default() }
    }

    /// Splits a rule.
    pub(crate) fn add(&mut self, rule: &Rule, closed: &ClosedTree) -> Result<(), SplitError> {
        let Some(closed) = closed.at(&rule.place) else { return Ok(()) };
        let (place, access, given) = (rule.place.clone(), rule.access, Access::NONE);
        let Some(handle) = self.with_room(&place, || rule.handle.try_clone())? else { return Ok(()) };
        let mut waiting = vec![Directory { place, handle, access, closed, given }];
        // A list instead of recursion: a hostile command can nest directories as deep as a path is long.
        while let Some(directory) = waiting.pop() {
            self.split(directory, &mut waiting)?;
        }
        Ok(())
    }

    /// These rules and those that were not split.
    pub(crate) fn with(mut self, whole: Vec<Rule>) -> SplitRules {
        self.directories.sort_by(|one, other| one.place.cmp(&other.place));
        self.directories.dedup_by(|one, other| one.place == other.place);
        let rules = whole.into_iter().chain(self.rules.into_values()).collect();
        SplitRules { rules, directories: self.directories, raised: self.raised }
    }

    /// Gives each entry its rule; entries that must be split themselves are added to `waiting`.
    fn split<'c>(&mut self, directory: Directory<'c>, waiting: &mut Vec<Directory<'c>>) -> Result<(), SplitError> {
        let Directory { place, handle, access, closed, given } = directory;
        // SECURITY: Landlock gives a directory's access to everything below it: no write access, and nothing that is
        // closed there (test: a_secret_below_a_root_is_neither_read_nor_listed, rootwards_own_places_cannot_be_planted)
        let itself = (access & RUN).without(closed.taken_below());
        let given = given | itself;
        // If this user cannot list it, its command cannot either: then there is no entry to open.
        let names = self.with_room(&place, || names_in(handle.as_fd()))?.unwrap_or_default();
        if self.rules.len() + waiting.len() + names.len() > self.most {
            return Err(SplitError::TooMany(place));
        }
        for name in names {
            let node = closed.entry(name.as_bytes());
            // SECURITY: an entry that is closed, or closed for writing, gets no more than it may have
            // (test: entries_closed_for_writing_are_read_only_where_a_split_arrives)
            let access = access.without(node.map_or(Access::NONE, ClosedAt::taken));
            let below = node.filter(|node| reaches(access, *node));
            if below.is_none() && given.contains(access) {
                continue;
            }
            if self.rules.len() >= MANY {
                self.raise_limit()?;
            }
            // A link, or something that cannot be pinned: it opens nothing.
            let Some((handle, kind)) = self.with_room(&place, || pin_entry(handle.as_fd(), &name))?.flatten() else {
                continue;
            };
            let place = place.join(&name);
            match below {
                Some(closed) if kind == RootKind::Directory => {
                    waiting.push(Directory { place, handle, access, closed, given });
                }
                _ => self.push(Rule { place, handle, access, kind }),
            }
        }
        let because = closed.example().unwrap_or(&place).to_owned();
        self.directories.push(SplitDirectory { place: place.clone(), lost: access.without(given), because });
        if !itself.is_empty() {
            self.push(Rule { place, handle, access: itself, kind: RootKind::Directory });
        }
        Ok(())
    }

    fn push(&mut self, rule: Rule) {
        match self.rules.get_mut(&rule.place) {
            Some(known) => known.access = known.access | rule.access,
            None => drop(self.rules.insert(rule.place.clone(), rule)),
        }
    }

    /// Runs something that needs a descriptor, and raises the limit if there are none left. `None` if it failed for
    /// another reason.
    fn with_room<T>(&mut self, place: &Path, act: impl Fn() -> io::Result<T>) -> Result<Option<T>, SplitError> {
        let no_room = |error: &io::Error| {
            [Errno::MFILE, Errno::NFILE].iter().any(|number| error.raw_os_error() == Some(number.raw_os_error()))
        };
        match act() {
            Err(error) if no_room(&error) => {}
            done => return Ok(done.ok()),
        }
        self.raise_limit()?;
        match act() {
            Err(error) if no_room(&error) => Err(SplitError::TooMany(place.to_owned())),
            done => Ok(done.ok()),
        }
    }

    fn raise_limit(&mut self) -> Result<(), SplitError> {
        if self.raised.is_none() {
            self.raised = Some(RaisedLimit::new().map_err(SplitError::Limit)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closed::Closed;
    use crate::enforcement::UnenforcedRule;

    #[test]
    fn what_could_move_a_closed_place_away_reaches_it() {
        let check = |taken: Access, access: Access, expect: bool| {
            let closed = Closed { place: "/p/a/b".into(), taken, rule: UnenforcedRule::Denied };
            let tree = ClosedTree::new([&closed]);
            let reached = ["/p", "/p/a"].map(|place| reaches(access, tree.at(Path::new(place)).unwrap()));
            assert_eq!(reached, [expect; 2], "{taken} {access}");
            assert!(!reaches(access, tree.at(&closed.place).unwrap()), "the place itself");
        };
        check(RUN, Access::READ, true);
        check(RUN, Access::WRITE, true);
        check(RUN, Access::DELETE, true);
        check(Access::WRITE, Access::READ, false);
        check(Access::WRITE, RUN, false);
        check(Access::WRITE, Access::READ_WRITE, true);
        check(Access::EXECUTE, Access::READ, false);
    }
}
