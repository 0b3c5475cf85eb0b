//! Finds places and opens handles on them: those that the operator names, and those that a profile needs.
//!
//! A profile needs many, most of them the system's own, and every start opens them all, so each takes as few calls as
//! possible.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rootward_core::{
    Access, Base, Guard, GuardOptions, Origin, Resolver, Restrictions, Root, RootKind, RootSet, Validation, WhyRefused,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2, readlinkat};
use rustix::io::Errno;

use crate::profile::{Need, Says};

/// An open place with its handle.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) place: PathBuf,
    pub(crate) handle: OwnedFd,
    pub(crate) access: Access,
    pub(crate) kind: RootKind,
}

impl Rule {
    /// Whether this rule gives everything that the other does. Landlock gives a directory's access to everything in it.
    pub(crate) fn covers(&self, other: &Rule) -> bool {
        // Compared by bytes, since both are resolved: comparing name by name takes longer than the kernel's lookup.
        let is_in = |place: &[u8], around: &[u8]| {
            place.strip_prefix(around).is_some_and(|rest| matches!(rest, [] | [b'/', ..]) || around == b"/")
        };
        let (place, around) = (other.place.as_os_str().as_bytes(), self.place.as_os_str().as_bytes());
        self.kind == RootKind::Directory && self.access.contains(other.access) && is_in(place, around)
    }
}

/// The rules for a profile's needs. A missing place is not an error: the list covers many systems.
pub(crate) fn needed_ambient(needs: &[Need]) -> Vec<Rule> {
    let (system, others): (Vec<_>, Vec<_>) = needs.iter().partition(|need| need.says == Says::System);
    let mut rules: Vec<Rule> = Vec::with_capacity(needs.len());
    let mut add = |need: &Need| {
        let Ok(rule) = find_ambient(need) else { return };
        if !rules.iter().any(|around| around.covers(&rule)) {
            rules.push(rule);
        }
    };
    // The system's own come first: many other needs lie in them.
    system.into_iter().chain(others).for_each(&mut add);
    rules
}

/// Finds a place and opens a handle on it.
fn find_ambient(need: &Need) -> Result<Rule, Errno> {
    let straight = spelled(&need.path).map(|place| (pin_ambient(&place, ResolveFlags::NO_SYMLINKS), place));
    let (handle, place) = match straight {
        // Without a link on the way, the name is the resolved path.
        Some((Ok(handle), place)) => (handle, place),
        // SECURITY: only the system's own places may be reached through links. The others were judged at their resolved
        // paths; a link there now was added later (test: a_place_that_became_a_link_is_not_opened)
        None | Some((Err(Errno::LOOP), _)) if need.says == Says::System => {
            let handle = pin_ambient(&need.path, ResolveFlags::NO_MAGICLINKS)?;
            let place = lies_at_ambient(&handle)?;
            (handle, place)
        }
        None => return Err(Errno::INVAL),
        Some((Err(error), _)) => return Err(error),
    };
    let kind = match FileType::from_raw_mode(fstat(&handle)?.st_mode) {
        FileType::Directory => RootKind::Directory,
        _ => RootKind::File,
    };
    Ok(Rule { place, handle, access: need.access, kind })
}

/// An absolute path if it consists only of names: `..` after a link leads elsewhere than the text says.
fn spelled(path: &Path) -> Option<PathBuf> {
    let plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    (path.is_absolute() && path.components().all(plain)).then(|| path.components().collect())
}

#[expect(clippy::disallowed_methods, reason = "names from a profile or the operator; pinned, not opened")]
fn pin_ambient(path: &Path, resolve: ResolveFlags) -> Result<OwnedFd, Errno> {
    openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)
}

#[expect(clippy::disallowed_methods, reason = "this process's own handle")]
fn lies_at_ambient(handle: &OwnedFd) -> Result<PathBuf, Errno> {
    let place = readlinkat(CWD, format!("/proc/self/fd/{}", handle.as_raw_fd()), Vec::new())?;
    Ok(PathBuf::from(OsString::from_vec(place.into_bytes())))
}

/// Whether a place is closed for reading or lies in such a place. It may still contain one.
pub fn is_closed_ambient(place: &Path, restrictions: Arc<Restrictions>) -> bool {
    let Some(top) = root(Path::new("/"), Access::READ) else { return true };
    let set = RootSet::place_ambient([top], &Validation::new(None));
    Guard::new(set, GuardOptions { restrictions, ..GuardOptions::default() }).check(place, Access::READ).is_err()
}

/// A place that the operator names, with a handle, or why it cannot be opened.
pub(crate) fn named_ambient(path: &Path, access: Access) -> Result<Rule, String> {
    let root = Root::from_path(path, Origin::Flag).map_err(|error| error.reason())?.with_access(access);
    let set = match placed_ambient(root) {
        Err(WhyRefused::Special) => return device_ambient(path, access).map_err(|error| error.to_string()),
        set => set.map_err(|refusal| refusal.to_string())?,
    };
    let placed = set.roots()[0].clone();
    let options = GuardOptions {
        restrictions: Arc::new(Restrictions::none()),
        resolver: Resolver::detect(),
        home: None,
        base: Base::FirstRoot,
        generation: 0,
        most_handles: 1,
    };
    let handle = Guard::new(set, options).pin_root(0).map_err(|error| error.to_string())?;
    Ok(Rule { place: placed.place, handle, access, kind: placed.kind })
}

/// The handle of a device or socket, which cannot be a root.
fn device_ambient(path: &Path, access: Access) -> io::Result<Rule> {
    let handle = pin_ambient(path, ResolveFlags::empty())?;
    Ok(Rule { place: path.to_owned(), handle, access, kind: RootKind::File })
}

pub(crate) fn root(path: &Path, access: Access) -> Option<Root> {
    Root::from_path(path, Origin::Flag).ok().map(|root| root.with_access(access))
}

pub(crate) fn placed_ambient(root: Root) -> Result<RootSet, WhyRefused> {
    let set = RootSet::place_ambient([root], &Validation::new(None));
    match set.refused().first() {
        Some(refused) => Err(refused.reason.clone()),
        None => Ok(set),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests act as the user who creates the directories")]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::profile::NeededAs;

    #[test]
    fn places_are_found_where_links_lead_and_covered_ones_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        symlink(top.join("a/b"), top.join("link")).unwrap();
        let need = |path: &str, access, says| Need { path: top.join(path), access, says };
        let places = |needs: &[Need]| -> Vec<_> {
            let rules = needed_ambient(needs);
            rules.iter().map(|rule| rule.place.strip_prefix(&top).unwrap().display().to_string()).collect()
        };
        let (read, all) = (Access::READ, Access::ALL);
        assert_eq!(places(&[need("link", read, Says::System)]), ["a/b"]);
        assert_eq!(places(&[need("none", read, Says::System), need("a", read, Says::Own)]), ["a"]);
        // Left out inside a place that gives as much, in any order; not inside one that gives less.
        let found = Says::Surroundings(NeededAs::Libraries);
        assert_eq!(places(&[need("a/b", read, found), need("a", read, Says::System)]), ["a"]);
        assert_eq!(places(&[need("a/b", all, found), need("a", read, Says::System)]), ["a", "a/b"]);
        // The text of a path with `..` does not say where it leads.
        assert_eq!(places(&[need("link/../b", read, Says::System)]), ["a/b"]);
        assert!(places(&[need("link/../a", read, Says::System)]).is_empty());
    }

    #[test]
    fn a_place_that_became_a_link_is_not_opened() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("elsewhere/lib")).unwrap();
        symlink(top.join("elsewhere"), top.join("prefix")).unwrap();
        for (says, opened) in [(Says::Surroundings(NeededAs::Libraries), 0), (Says::Own, 0), (Says::System, 1)] {
            let need = Need { path: top.join("prefix/lib"), access: Access::READ, says };
            assert_eq!(needed_ambient(&[need]).len(), opened, "{says:?}");
        }
    }
}
