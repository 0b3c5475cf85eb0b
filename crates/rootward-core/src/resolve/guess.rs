//! Guesses where a path leads, following links like the kernel. The guess must then be proven by opening.

use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::{Leaf, Resolver};
use crate::os;
use crate::root::FileId;
use crate::tree::components;

/// The maximum number of links, same as in the kernel (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

/// Where a path seems to lead.
#[derive(Debug)]
pub(crate) struct Guess {
    /// The place: absolute, without links or dot segments.
    pub(crate) place: Vec<u8>,
    /// The object there; `None` if nothing exists (yet).
    pub(crate) id: Option<FileId>,
}

/// A path that cannot be followed.
#[derive(Debug)]
pub(crate) struct Lost {
    /// The reason.
    pub(crate) why: Why,
    /// The place where following stopped; empty if unknown.
    pub(crate) at: Vec<u8>,
}

/// Why a path is not followed further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// A system error.
    System(Errno),
    /// It climbs from a place where that is not allowed.
    Climbs,
    /// It goes through a magic link, which leads to an object instead of naming a path.
    MagicLink,
}

impl From<Errno> for Lost {
    fn from(error: Errno) -> Lost {
        Lost { why: Why::System(error), at: Vec::new() }
    }
}

/// From where a path may climb with `..`.
#[derive(Clone, Copy)]
pub(crate) enum Climb<'c> {
    /// Anywhere.
    Anywhere,
    /// Only from places that pass this check. If a path climbs back, its outcome shows whether the place it climbed
    /// from exists.
    From(&'c dyn Fn(&[u8]) -> bool),
}

/// Follows an absolute path.
pub(crate) fn guess(resolver: Resolver, path: &[u8], leaf: Leaf, climb: Climb<'_>) -> Result<Guess, Lost> {
    if resolver == Resolver::Kernel && matches!(climb, Climb::Anywhere) {
        match by_kernel(path, leaf) {
            Ok(Some(guess)) => return Ok(guess),
            Err(error @ (Errno::AGAIN | Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => return Err(error.into()),
            // The kernel does not report where a lookup failed, and nothing at all without `/proc`; a walk does.
            Ok(None) | Err(_) => {}
        }
    }
    by_walk(path, leaf, climb, &mut |_| {})
}

/// Follows an absolute path and all its links, and returns the place of each link.
pub(crate) fn follow(path: &[u8]) -> Result<(Guess, Vec<Vec<u8>>), Lost> {
    if let Some(guess) = without_links(path) {
        return Ok((guess, Vec::new()));
    }
    let mut links = Vec::new();
    let guess = by_walk(path, Leaf::Follow, Climb::Anywhere, &mut |link| links.push(link.to_vec()))?;
    Ok((guess, links))
}

/// The result for a path without links, which is the path itself. It takes one system call; a walk takes four per name.
fn without_links(path: &[u8]) -> Option<Guess> {
    let place: Vec<u8> = components(path).flat_map(|(name, _)| [b"/", name].concat()).collect();
    if place.is_empty() || components(path).any(|(name, _)| matches!(name, b"." | b"..")) {
        return None;
    }
    match os::pin_without_links(path) {
        Ok(pinned) => Some(Guess { place, id: Some(os::identity(&pinned).ok()?) }),
        // The kernel looks up names in order, so there is no link before the missing one.
        Err(Errno::NOENT) => Some(Guess { place, id: None }),
        Err(_) => None,
    }
}

fn by_kernel(path: &[u8], leaf: Leaf) -> Result<Option<Guess>, Errno> {
    let flags = if leaf == Leaf::Keep { OFlags::NOFOLLOW } else { OFlags::empty() };
    let pinned = os::pin_anywhere(path, flags)?;
    let id = os::identity(&pinned)?;
    let Ok(place) = os::place_of(pinned.as_fd()) else { return Ok(None) };
    let place = place.into_vec();
    // An object that no path reaches (another mount namespace, a pipe) has no place.
    Ok(place.starts_with(b"/").then_some(Guess { place, id: Some(id) }))
}

/// Follows a path component by component, like the kernel. It only holds the current directory open: if that moves
/// meanwhile, the guess is wrong, and opening detects it. Calls `passes` with the place of each link.
fn by_walk(path: &[u8], leaf: Leaf, climb: Climb<'_>, passes: &mut dyn FnMut(&[u8])) -> Result<Guess, Lost> {
    let mut here = os::pin_slash()?;
    let mut place: Vec<u8> = Vec::new();
    let mut ahead: Vec<Vec<u8>> = Vec::new();
    push_reversed(&mut ahead, path);
    let mut links = 0;

    while let Some(name) = ahead.pop() {
        if name == b"." {
            continue;
        }
        if name == b".." {
            // SECURITY: a peer must not learn which directories exist outside
            // (test: a_peer_cannot_ask_which_directories_exist_outside)
            if let Climb::From(passes) = climb
                && !passes(&place)
            {
                return Err(Lost { why: Why::Climbs, at: place });
            }
            here = os::open_child(here.as_fd(), b"..", os::PIN)?;
            place.truncate(place.iter().rposition(|byte| *byte == b'/').unwrap_or(0));
            continue;
        }
        let above = place.len();
        place.push(b'/');
        place.extend_from_slice(&name);
        let lost = |error| Lost { why: Why::System(error), at: place.clone() };
        let next = match os::open_child(here.as_fd(), &name, os::PIN) {
            Err(Errno::NOENT) => return not_there(place, &ahead, Errno::NOENT),
            next => next.map_err(lost)?,
        };
        let status = os::status(&next).map_err(lost)?;
        match os::type_of(&status) {
            FileType::Directory => here = next,
            FileType::Symlink if !(ahead.is_empty() && leaf == Leaf::Keep) => {
                links += 1;
                // SECURITY: magic links lead to objects instead of naming paths
                // (test: guard_passes_the_escape_corpus_by_walking)
                if os::may_be_magic(here.as_fd(), next.as_fd()).map_err(lost)? {
                    return Err(Lost { why: Why::MagicLink, at: place });
                }
                if links > MOST_LINKS {
                    return Err(lost(Errno::LOOP));
                }
                let target = os::target_of(next.as_fd()).map_err(lost)?;
                passes(&place);
                place.truncate(above);
                if target.starts_with(b"/") {
                    here = os::pin_slash()?;
                    place.clear();
                }
                push_reversed(&mut ahead, &target);
            }
            _ if ahead.is_empty() => return Ok(Guess { id: Some(os::identity(&next)?), place }),
            _ => return not_there(place, &ahead, Errno::NOTDIR),
        }
    }
    if place.is_empty() {
        place.push(b'/');
    }
    Ok(Guess { place, id: Some(os::identity(&here)?) })
}

/// The result for a path whose end does not exist. Its place is known unless the rest of the path climbs back.
fn not_there(mut place: Vec<u8>, ahead: &[Vec<u8>], error: Errno) -> Result<Guess, Lost> {
    if ahead.iter().any(|name| name == b"..") {
        return Err(Lost { why: Why::System(error), at: place });
    }
    for name in ahead.iter().rev() {
        place.push(b'/');
        place.extend_from_slice(if name == b"." { b"" } else { name });
    }
    Ok(Guess { place, id: None })
}

/// Turns a trailing slash into a `.` component: the part before it must be a directory, even if the slash is the end of
/// a link's target.
fn push_reversed(ahead: &mut Vec<Vec<u8>>, path: &[u8]) {
    let from = ahead.len();
    ahead.extend(components(path).map(|(name, _)| name.to_vec()));
    if path.ends_with(b"/") || path.ends_with(b"/.") {
        ahead.push(b".".to_vec());
    }
    ahead[from..].reverse();
}
