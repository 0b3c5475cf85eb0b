//! The input for a kernel sandbox: the roots as pinned handles, the access they give, and the closed places that exist
//! below them.
//!
//! The guard decides each path when it is used; a sandbox is set up once. The code that sets one up must know what the
//! sandbox cannot express.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::Guard;
use super::root_handle::RootTrouble;
use crate::access::Access;
use crate::os;
use crate::resolve::open;
use crate::restriction::Closed;
use crate::root::RootKind;

/// A name that no rule matches. Access that is taken away at this name is taken by rules about its parent.
const INNOCENT: &[u8] = b"/\x01";

/// A closed place that exists below a root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClosedPlace {
    /// Its resolved path.
    pub place: PathBuf,
    /// The pattern of the restriction that closes it.
    pub pattern: String,
    /// The access that is taken away there.
    pub taken: Access,
    /// Whose files are protected.
    pub protects: Protects,
}

/// Whose files a closed place protects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Protects {
    /// The user's: secrets, and files that run code for the user.
    User,
    /// Rootward's own. Such a place is listed even if it does not exist.
    Rootward,
}

/// The closed places below a root, as far as it was scanned.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClosedPlaces {
    /// The topmost place of each kind on each branch.
    pub found: Vec<ClosedPlace>,
    /// How much of the root was scanned.
    pub extent: Extent,
}

/// How much of a root was scanned.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Extent {
    /// Everything that this user can list.
    #[default]
    Whole,
    /// The scan stopped at the maximum number of entries.
    Part,
}

impl Guard {
    /// A handle of the root with this number, verified to be the object that was found when the set was placed.
    pub fn pin_root(&self, root: usize) -> io::Result<OwnedFd> {
        let index = self.index(root)?;
        let handle = self.handle(index).map_err(|trouble| match trouble {
            RootTrouble::Changed => io::Error::from(Errno::STALE),
            RootTrouble::System(error) => error.into(),
        })?;
        let placed = self.placed(index);
        match (placed.kind, placed.place.file_name()) {
            (RootKind::File, Some(name)) => Ok(open(self.0.resolver, handle.as_fd(), name.as_bytes(), os::PIN)?),
            _ => handle.try_clone(),
        }
    }

    /// The access that the root with this number gives, minus what restrictions take away because of where it lies.
    pub fn access_of_root(&self, root: usize) -> Access {
        let Ok(index) = self.index(root) else { return Access::NONE };
        self.placed(index).root.access.without(self.0.taken_at_root[index as usize].0)
    }

    /// The closed places that exist below the root with this number, and Rootward's own places even if they do not
    /// exist. Scans at most `most` entries. Skips what lies in another root of the set, and directories that cannot be
    /// listed: this user's processes cannot list them either.
    pub fn closed_places_below(&self, root: usize, most: usize) -> io::Result<ClosedPlaces> {
        let placed = self.placed(self.index(root)?);
        if placed.kind == RootKind::File {
            return Ok(ClosedPlaces::default());
        }
        let top = placed.place.as_os_str().as_bytes();
        let start = self.pin_root(root)?;
        let mut closed_places = self.existing_below(top, start.as_fd(), most);
        let own = self.0.restrictions.rules().iter().filter_map(|rule| Some((rule, rule.own_place()?)));
        for (rule, place) in own {
            let rest = place.strip_prefix(&placed.place).ok().filter(|rest| !rest.as_os_str().is_empty());
            let Some(rest) = rest else { continue };
            // SECURITY: a confined process must not create a place that does not exist yet; an existing place, or one
            // that may exist, is secret (test: own_places_are_closed_before_they_exist)
            let taken = match open(self.0.resolver, start.as_fd(), rest.as_os_str().as_bytes(), os::PIN) {
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Closed::ForWriting.access(),
                _ => rule.closed().access(),
            };
            let (place, pattern) = (place.to_owned(), rule.pattern().to_owned());
            closed_places.found.push(ClosedPlace { place, pattern, taken, protects: Protects::Rootward });
        }
        Ok(closed_places)
    }

    /// The closed places that exist below a directory.
    fn existing_below(&self, top: &[u8], start: BorrowedFd<'_>, most: usize) -> ClosedPlaces {
        let mut closed_places = ClosedPlaces::default();
        let mut looked_at = 0;
        // The path below the root, and the access already known to be taken away there.
        let mut waiting = vec![(Vec::new(), Access::NONE)];
        while let Some((rest, taken_above)) = waiting.pop() {
            let flags = os::PIN.union(OFlags::DIRECTORY);
            let opened = open(self.0.resolver, start, &rest, flags);
            let Ok(entries) = opened.and_then(|directory| os::entries(directory.as_fd())) else { continue };
            for (name, kind) in entries {
                looked_at += 1;
                if looked_at > most {
                    closed_places.extent = Extent::Part;
                    return closed_places;
                }
                let below = if rest.is_empty() { name.clone() } else { [&rest, b"/".as_slice(), &name].concat() };
                let place = [top.strip_suffix(b"/").unwrap_or(top), b"/", &below].concat();
                if self.roots().iter().any(|other| other.place.as_os_str().as_bytes() == place) {
                    continue;
                }
                let mut taken = taken_above;
                if self.0.restrictions.may_end_in(&name) {
                    // Guarded files are not included: a project's own programs need them.
                    let closed = self.0.restrictions.taken_from_processes(top, &below);
                    if let (Some(rule), false) = (closed.rule, taken_above.contains(closed.access)) {
                        let pattern = rule.pattern().to_owned();
                        let place = OsString::from_vec(place.clone()).into();
                        let (taken, protects) = (closed.access, Protects::User);
                        closed_places.found.push(ClosedPlace { place, pattern, taken, protects });
                    }
                    // Some rules are about the entry alone and do not apply to what it contains.
                    taken = self.0.restrictions.taken_from_processes(top, &[&below, INNOCENT].concat()).access;
                }
                if kind == FileType::Directory && taken != Access::ALL {
                    waiting.push((below, taken));
                }
            }
        }
        closed_places
    }

    /// The places that stay closed.
    pub fn restrictions(&self) -> std::sync::Arc<crate::restriction::Restrictions> {
        std::sync::Arc::clone(&self.0.restrictions)
    }

    fn index(&self, root: usize) -> io::Result<crate::tree::RootIndex> {
        let index = u32::try_from(root).ok().filter(|_| root < self.roots().len());
        index.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GuardOptions, Origin, Root, RootSet, Validation};

    fn guard(roots: &[&std::path::Path]) -> Guard {
        let roots = roots.iter().map(|path| Root::from_path(path, Origin::Flag).unwrap());
        Guard::new(RootSet::place_ambient(roots, &Validation::new(None)), GuardOptions::default())
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "builds a tree")]
    fn closed_places_that_exist_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        for made in ["a/.git/hooks", "a/.git/objects", "a/b/.ssh/deep/.ssh", ".claude", "own/.aws"] {
            std::fs::create_dir_all(top.join(made)).unwrap();
        }
        std::fs::write(top.join(".claude/.credentials.json"), "").unwrap();
        let whole = guard(&[&top]);
        let places = whole.closed_places_below(0, 1000).unwrap();
        let mut found: Vec<_> =
            places.found.iter().map(|found| (found.place.strip_prefix(&top).unwrap(), found.taken)).collect();
        found.sort_by_key(|(place, _)| *place);
        let writing = Access::WRITE | Access::DELETE;
        let expect = [
            (".claude", writing),
            (".claude/.credentials.json", Access::ALL),
            ("a/.git", writing),
            ("a/.git/hooks", writing),
            ("a/b/.ssh", Access::ALL),
            ("own/.aws", Access::ALL),
        ];
        let expect: Vec<_> = expect.iter().map(|(place, taken)| (std::path::Path::new(place), *taken)).collect();
        assert_eq!(found, expect);
        assert_eq!(places.extent, Extent::Whole);
        assert_eq!(whole.closed_places_below(0, 3).unwrap().extent, Extent::Part);
        // Whatever lies in another root belongs to that root. The operator may share a secret place by naming it.
        let two = guard(&[&top, &top.join("own"), &top.join("own/.aws")]);
        assert_eq!(two.closed_places_below(1, 1000).unwrap().found, []);
        assert_eq!(two.closed_places_below(0, 1000).unwrap().found.len(), 5, "all except those in the other roots");
        assert!(two.closed_places_below(3, 1000).is_err());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "builds a tree")]
    fn own_places_are_closed_before_they_exist() {
        use crate::restriction::{Restriction, Restrictions};
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("there/rootward")).unwrap();
        std::fs::create_dir(top.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", top.join("link")).unwrap();
        let own = ["there/rootward", "a/b/rootward", "there/gone", "link/rootward"].map(|place| top.join(place));
        let mut rules: Vec<_> = own.iter().map(|place| Restriction::own(place)).collect();
        rules.push(Restriction::own_link(&top.join("link")));
        // Closed by the user but absent: nothing to close.
        rules.push(Restriction::place(&top.join("secrets"), Closed::Entirely));
        let found = |root: &std::path::Path| {
            let root = Root::from_path(root, Origin::Flag).unwrap();
            let restrictions = std::sync::Arc::new(Restrictions::new(rules.clone()));
            let options = GuardOptions { restrictions, ..GuardOptions::default() };
            let guard = Guard::new(RootSet::place_ambient([root], &Validation::new(None)), options);
            let places = guard.closed_places_below(0, 1000).unwrap().found;
            let places = places.into_iter().filter(|found| found.protects == Protects::Rootward);
            let shown = |found: ClosedPlace| {
                let place = found.place.strip_prefix(&top).unwrap().display().to_string();
                (place, found.taken.contains(Access::READ))
            };
            places.map(shown).collect::<Vec<_>>()
        };
        let expect = [("there/rootward", true), ("a/b/rootward", false), ("there/gone", false)];
        let expect = expect.into_iter().chain([("link/rootward", false), ("link", false)]);
        let expect: Vec<_> = expect.map(|(place, secret)| (place.to_owned(), secret)).collect();
        assert_eq!(found(&top), expect);
        assert_eq!(found(&top.join("there")), [expect[0].clone(), expect[2].clone()]);
        assert_eq!(found(&top.join("elsewhere")), []);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "builds a tree")]
    fn guarded_files_are_left_to_processes() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("dir.pem/.ssh")).unwrap();
        for file in [".env", ".env.local", "key.pem", "id_rsa", "terraform.tfstate"] {
            std::fs::write(top.join(file), "").unwrap();
        }
        let guard = guard(&[&top]);
        let found = guard.closed_places_below(0, 1000).unwrap().found;
        let places: Vec<_> = found.iter().map(|found| found.place.strip_prefix(&top).unwrap()).collect();
        assert_eq!(places, [std::path::Path::new("dir.pem/.ssh")], "a guarded directory is scanned");
        for file in [".env", ".env.local", "key.pem", "id_rsa", "terraform.tfstate", "dir.pem/x"] {
            let refused = guard.check(file, Access::READ).unwrap_err();
            assert_eq!(refused.code(), crate::Code::Restricted, "{file}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "builds a tree")]
    fn roots_are_pinned_as_they_were_placed() {
        let directory = tempfile::tempdir().unwrap();
        let (one, file) = (directory.path().join("one"), directory.path().join("file"));
        std::fs::create_dir(&one).unwrap();
        std::fs::write(&file, "text").unwrap();
        let pinned = guard(&[&one, &file]);
        let is = |root: usize, path: &std::path::Path| {
            use std::os::unix::fs::MetadataExt;
            os::status(pinned.pin_root(root).unwrap()).unwrap().st_ino == std::fs::metadata(path).unwrap().ino()
        };
        assert!(is(0, &one) && is(1, &file));
        let late = guard(&[&one]);
        std::fs::rename(&one, directory.path().join("two")).unwrap();
        std::fs::create_dir(&one).unwrap();
        assert!(late.pin_root(0).is_err(), "a directory that replaced the root is not the root");
    }
}
