//! Finding roots on disk: from what was named to where it really lies.
//!
//! Ambient: these functions look anywhere a root's text leads. They are for whoever sets up a guard, never for a path that
//! a peer asks about.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use crate::os;
use crate::resolve::guess::{Climb, Why, guess};
use crate::resolve::{Leaf, Resolver, open};
use crate::root::{FileId, Origin, PlacedRoot, Root, RootKind};
use crate::set::{Refusal, RefusedRoot, RootSet};
use crate::validate::Validation;

impl RootSet {
    /// Looks each root up. One that cannot be used is kept out with the reason, and costs the others nothing.
    pub fn place_ambient(roots: impl IntoIterator<Item = Root>, validation: &Validation) -> RootSet {
        let resolver = Resolver::detect();
        let mut placed = Vec::new();
        let mut refused = Vec::new();
        for root in roots {
            match place(resolver, &root, validation) {
                Ok(found) => placed.push(found),
                Err(reason) => {
                    let text = root.path.display().to_string();
                    refused.push(RefusedRoot { text, root: Some(root), reason });
                }
            }
        }
        RootSet::new(placed, refused)
    }

    /// Looks all roots up again, those that were kept out too: one that was missing may have come back, a link may lead
    /// elsewhere by now.
    #[must_use]
    pub fn place_again_ambient(&self, validation: &Validation) -> RootSet {
        let known = self.roots().iter().map(|placed| placed.root.clone());
        let kept_out = self.refused().iter().filter_map(|refused| refused.root.clone());
        let unreadable = self.refused().iter().filter(|refused| refused.root.is_none()).cloned();
        let again = RootSet::place_ambient(known.chain(kept_out), validation);
        RootSet::new(again.roots().iter().cloned(), again.refused().iter().cloned().chain(unreadable))
    }
}

fn place(resolver: Resolver, root: &Root, validation: &Validation) -> Result<PlacedRoot, Refusal> {
    judge(validation, root.origin, &root.path)?;
    let found =
        guess(resolver, root.path.as_os_str().as_bytes(), Leaf::Follow, Climb::Anywhere).map_err(
            |lost| match lost.why {
                Why::System(error) => refusal(error),
                Why::Climbs | Why::MagicLink => Refusal::Unreachable(std::io::ErrorKind::PermissionDenied),
            },
        )?;
    if found.id.is_none() {
        return Err(Refusal::Missing);
    }
    let place = PathBuf::from(OsString::from_vec(found.place));
    // SECURITY: judged by where it really lies, too: a link may lead into a system place
    // (test: a_client_root_that_links_to_a_system_place_is_refused)
    judge(validation, root.origin, &place)?;
    // SECURITY: a saved yes is about a place. Whoever can write above it could put a link there and have another place shared
    // (test: a_saved_root_is_not_followed_through_a_link)
    if root.origin == Origin::Store && root.path != place {
        return Err(Refusal::Linked);
    }
    let (kind, id) = look(resolver, &place).map_err(refusal)?;
    let kind = kind.ok_or(Refusal::Special)?;
    Ok(PlacedRoot { root: root.clone(), place, kind, id })
}

fn judge(validation: &Validation, origin: Origin, path: &Path) -> Result<(), Refusal> {
    validation.judge(origin, path).map_err(|reason| Refusal::NotShareable(reason.to_string()))
}

/// What lies at a place, and the id of the directory that stands for it.
fn look(resolver: Resolver, place: &Path) -> Result<(Option<RootKind>, FileId), Errno> {
    let slash = os::pin_slash()?;
    let pin = |path: &Path, flags| {
        let bytes = path.as_os_str().as_bytes();
        open(resolver, slash.as_fd(), bytes.strip_prefix(b"/").unwrap_or(bytes), os::PIN.union(flags))
    };
    let found = pin(place, OFlags::empty())?;
    match os::type_of(&os::status(&found)?) {
        FileType::Directory => Ok((Some(RootKind::Directory), os::identity(&found)?)),
        FileType::RegularFile => {
            let parent = pin(place.parent().unwrap_or(place), OFlags::DIRECTORY)?;
            Ok((Some(RootKind::File), os::identity(&parent)?))
        }
        _ => Ok((None, os::identity(&found)?)),
    }
}

fn refusal(error: Errno) -> Refusal {
    match error {
        Errno::NOENT | Errno::NOTDIR => Refusal::Missing,
        error => Refusal::Unreachable(error.kind()),
    }
}
