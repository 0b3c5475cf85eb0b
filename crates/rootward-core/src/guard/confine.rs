//! What a kernel's own fence is built from: the roots as pinned handles, what they give, and the closed places that exist
//! below them.
//!
//! The guard decides each path anew; a fence is set up once. Whoever sets one up needs to know what it cannot express.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::Guard;
use super::root_handle::RootTrouble;
use crate::access::Access;
use crate::os;
use crate::resolve::open;
use crate::root::RootKind;

/// A closed place that exists below a root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClosedPlace {
    /// Where it lies, without links.
    pub place: PathBuf,
    /// The pattern of the restriction that closes it.
    pub pattern: String,
    /// What is taken away there.
    pub taken: Access,
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

    /// The closed places that exist below the root with this number, after looking at no more than `most` entries. What lies in
    /// another root of the set is left to that root. Directories that cannot be listed are passed over: what cannot be listed
    /// by this user is not listed by its processes either.
    pub fn closed_places_below(&self, root: usize, most: usize) -> io::Result<ClosedPlaces> {
        let index = self.index(root)?;
        let placed = self.placed(index);
        let mut places = ClosedPlaces::default();
        if placed.kind == RootKind::File {
            return Ok(places);
        }
        let top = placed.place.as_os_str().as_bytes();
        let start = self.pin_root(root)?;
        let mut seen = 0;
        // The names below the root, and what is already known to be taken away there.
        let mut waiting = vec![(Vec::new(), Access::NONE)];
        while let Some((rest, taken_above)) = waiting.pop() {
            let flags = os::PIN.union(OFlags::DIRECTORY);
            let opened = open(self.0.resolver, start.as_fd(), &rest, flags);
            let Ok(entries) = opened.and_then(|directory| os::entries(directory.as_fd())) else { continue };
            for (name, kind) in entries {
                seen += 1;
                if seen > most {
                    places.extent = Extent::Part;
                    return Ok(places);
                }
                let below = if rest.is_empty() { name.clone() } else { [&rest, b"/".as_slice(), &name].concat() };
                let place = [top.strip_suffix(b"/").unwrap_or(top), b"/", &below].concat();
                let mut taken = taken_above;
                if self.0.restrictions.may_end_in(&name) {
                    let closed = self.0.restrictions.taken_below(top, &below);
                    taken = closed.access | taken_above;
                    if let (Some(rule), true) = (closed.rule, taken != taken_above) {
                        let pattern = rule.pattern().to_owned();
                        let place = OsString::from_vec(place.clone()).into();
                        places.found.push(ClosedPlace { place, pattern, taken });
                    }
                }
                let is_root = || self.roots().iter().any(|other| other.place.as_os_str().as_bytes() == place);
                if kind == FileType::Directory && taken != Access::ALL && !is_root() {
                    waiting.push((below, taken));
                }
            }
        }
        Ok(places)
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
