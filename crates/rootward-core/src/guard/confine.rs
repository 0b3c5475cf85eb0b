//! What a kernel's own fence is built from: the roots as pinned handles, what they give, and the closed places that exist
//! below them.
//!
//! The guard decides each path anew; a fence is set up once. Whoever sets one up needs to know what it cannot express.

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

/// A name below a place that no rule knows: what is taken away there is taken by rules about the place.
const INNOCENT: &[u8] = b"/\x01";

/// A closed place that exists below a root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClosedPlace {
    /// Where it lies, without links.
    pub place: PathBuf,
    /// The pattern of the restriction that closes it.
    pub pattern: String,
    /// What is taken away there.
    pub taken: Access,
    /// Whose files are protected.
    pub protects: Protects,
}

/// Whose files a closed place protects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Protects {
    /// The user's: secrets, and what runs code for the user.
    User,
    /// Rootward's own. Such a place is named whether or not it exists.
    Rootward,
}

/// The closed places below a root, as far as it was looked through.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClosedPlaces {
    /// The topmost place of each kind on each way down.
    pub found: Vec<ClosedPlace>,
    /// How much of the root was seen.
    pub extent: Extent,
}

/// How much of a root was looked through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Extent {
    /// All that this user can list.
    #[default]
    Whole,
    /// There were more entries than were asked for.
    Part,
}

impl Guard {
    /// The root with this number as a handle, verified to be the object that was found when the set was placed.
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

    /// What the root with this number gives, less what restrictions take away because of where it lies.
    pub fn access_of_root(&self, root: usize) -> Access {
        let Ok(index) = self.index(root) else { return Access::NONE };
        self.placed(index).root.access.without(self.0.taken_at_root[index as usize].0)
    }

    /// The closed places that exist below the root with this number, after looking at no more than `most` entries, and Rootward's
    /// own places below it whether or not they exist. What lies in another root of the set is left to that root. Directories that
    /// cannot be listed are passed over: what cannot be listed by this user is not listed by its processes either.
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
            // SECURITY: what is not there yet must not be made by whoever is held from it; what is there, or may be, is secret
            // (test: own_places_are_closed_before_they_exist)
            let taken = match open(self.0.resolver, start.as_fd(), rest.as_os_str().as_bytes(), os::PIN) {
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Closed::ForWriting.access(),
                _ => rule.closed().access(),
            };
            let (place, pattern) = (place.to_owned(), rule.pattern().to_owned());
            closed_places.found.push(ClosedPlace { place, pattern, taken, protects: Protects::Rootward });
        }
        Ok(closed_places)
    }

    /// The closed places that are found below a directory.
    fn existing_below(&self, top: &[u8], start: BorrowedFd<'_>, most: usize) -> ClosedPlaces {
        let mut closed_places = ClosedPlaces::default();
        let mut looked_at = 0;
        // The names below the root, and what is already known to be taken away there.
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
                    // A guarded file is not among them: a project's own programs need it.
                    let closed = self.0.restrictions.taken_from_processes(top, &below);
                    if let (Some(rule), false) = (closed.rule, taken_above.contains(closed.access)) {
                        let pattern = rule.pattern().to_owned();
                        let place = OsString::from_vec(place.clone()).into();
                        let (taken, protects) = (closed.access, Protects::User);
                        closed_places.found.push(ClosedPlace { place, pattern, taken, protects });
                    }
                    // Some rules are about the entry alone: what they take is not taken from what lies in it.
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
        // What another root holds is that root's, and the operator may share a secret place by naming it.
        let two = guard(&[&top, &top.join("own"), &top.join("own/.aws")]);
        assert_eq!(two.closed_places_below(1, 1000).unwrap().found, []);
        assert_eq!(two.closed_places_below(0, 1000).unwrap().found.len(), 5, "all but what lies in the others");
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
        // Closed by the user, and absent: nothing to hold.
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
        assert_eq!(places, [std::path::Path::new("dir.pem/.ssh")], "what lies in a guarded directory is looked at");
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
        assert!(late.pin_root(0).is_err(), "another directory that took its place is not the root");
    }
}
