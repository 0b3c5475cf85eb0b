//! Where a path leads, links followed with the kernel's meaning: a guess, to be proven by opening.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::{Leaf, Resolver};
use crate::os;
use crate::root::FileId;
use crate::tree::components;

/// As many links as the kernel follows (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

/// Where a path seems to lead.
#[derive(Debug)]
pub(crate) struct Guess {
    /// The place: absolute, without links or dot segments.
    pub(crate) place: Vec<u8>,
    /// The object there; `None` where nothing exists (yet).
    pub(crate) id: Option<FileId>,
}

/// Follows an absolute path.
pub(crate) fn guess(resolver: Resolver, path: &[u8], leaf: Leaf) -> Result<Guess, Errno> {
    if resolver == Resolver::Kernel {
        match by_kernel(path, leaf) {
            // Something is missing: only a walk knows where. No `/proc`: only a walk knows anything.
            Err(Errno::NOENT | Errno::NOTDIR) | Ok(None) => {}
            Ok(Some(guess)) => return Ok(guess),
            Err(error) => return Err(error),
        }
    }
    by_walk(path, leaf)
}

fn by_kernel(path: &[u8], leaf: Leaf) -> Result<Option<Guess>, Errno> {
    let flags = if leaf == Leaf::Keep { OFlags::NOFOLLOW } else { OFlags::empty() };
    let pinned = os::pin_anywhere(path, flags)?;
    let id = os::id_of(&os::status(&pinned)?);
    let Ok(place) = os::place_of(pinned.as_fd()) else { return Ok(None) };
    let place = place.into_vec();
    // What is reachable by no path from here (another mount namespace, a pipe) has no place.
    Ok(place.starts_with(b"/").then_some(Guess { place, id: Some(id) }))
}

/// Component by component, the way the kernel does it, with the stack of directories that `..` needs.
fn by_walk(path: &[u8], leaf: Leaf) -> Result<Guess, Errno> {
    let slash = os::pin_slash()?;
    let mut above: Vec<(OwnedFd, Vec<u8>)> = Vec::new();
    let mut ahead: Vec<Vec<u8>> = Vec::new();
    push_reversed(&mut ahead, path);
    let mut links = 0;

    while let Some(name) = ahead.pop() {
        if name == b"." {
            continue;
        }
        if name == b".." {
            above.pop();
            continue;
        }
        let here = above.last().map_or(slash.as_fd(), |(handle, _)| handle.as_fd());
        let next = match os::open_child(here, &name, os::PIN.union(OFlags::NOFOLLOW)) {
            Err(Errno::NOENT) => return not_there(&above, &name, &ahead, Errno::NOENT),
            next => next?,
        };
        let status = os::status(&next)?;
        match os::type_of(&status) {
            FileType::Directory => above.push((next, name)),
            FileType::Symlink if !(ahead.is_empty() && leaf == Leaf::Keep) => {
                links += 1;
                // SECURITY: links on procfs jump to objects instead of naming paths
                // (test: guard_passes_the_escape_corpus_by_walking)
                if links > MOST_LINKS || os::is_procfs(next.as_fd())? {
                    return Err(Errno::LOOP);
                }
                let target = os::target_of(next.as_fd())?;
                if target.is_empty() {
                    return Err(Errno::NOENT);
                }
                if target.starts_with(b"/") {
                    above.clear();
                }
                push_reversed(&mut ahead, &target);
            }
            _ if ahead.is_empty() => {
                return Ok(Guess { place: place(&above, [name.as_slice()]), id: Some(os::id_of(&status)) });
            }
            _ => return not_there(&above, &name, &ahead, Errno::NOTDIR),
        }
    }
    let last = above.last().map_or(slash.as_fd(), |(handle, _)| handle.as_fd());
    Ok(Guess { place: place(&above, []), id: Some(os::id_of(&os::status(last)?)) })
}

/// A path that ends where nothing is: its place is known unless it would climb back from there.
fn not_there(above: &[(OwnedFd, Vec<u8>)], name: &[u8], ahead: &[Vec<u8>], error: Errno) -> Result<Guess, Errno> {
    if ahead.iter().any(|name| name == b"..") {
        return Err(error);
    }
    let names = std::iter::once(name).chain(ahead.iter().rev().map(Vec::as_slice));
    Ok(Guess { place: place(above, names), id: None })
}

fn place<'n>(above: &'n [(OwnedFd, Vec<u8>)], more: impl IntoIterator<Item = &'n [u8]>) -> Vec<u8> {
    let mut place = Vec::new();
    for name in above.iter().map(|(_, name)| name.as_slice()).chain(more) {
        place.push(b'/');
        if name != b"." {
            place.extend_from_slice(name);
        }
    }
    if place.is_empty() {
        place.push(b'/');
    }
    place
}

/// A slash at the end becomes a `.` of its own: what stands before it must be a directory, also where the slash is the end
/// of a link's target.
fn push_reversed(ahead: &mut Vec<Vec<u8>>, path: &[u8]) {
    let from = ahead.len();
    ahead.extend(components(path).map(|(name, _)| name.to_vec()));
    if path.ends_with(b"/") || path.ends_with(b"/.") {
        ahead.push(b".".to_vec());
    }
    ahead[from..].reverse();
}
