//! Where a path leads, links followed with the kernel's meaning: a guess, to be proven by opening.

use std::os::fd::AsFd;
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

/// A path that leads nowhere.
#[derive(Debug)]
pub(crate) struct Lost {
    /// Why.
    pub(crate) why: Why,
    /// The place where that was; empty if it is not known.
    pub(crate) at: Vec<u8>,
}

/// Why a path is not followed further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// The system says so.
    System(Errno),
    /// It climbs from a place that it may not climb from.
    Climbs,
    /// It goes over a link that jumps to an object instead of naming a path.
    MagicLink,
}

impl From<Errno> for Lost {
    fn from(error: Errno) -> Lost {
        Lost { why: Why::System(error), at: Vec::new() }
    }
}

/// From where a path may climb by `..`.
#[derive(Clone, Copy)]
pub(crate) enum Climb<'c> {
    /// Anywhere.
    Anywhere,
    /// Only from places that pass. Whether a path that climbs back leads somewhere says whether what it climbed from exists.
    From(&'c dyn Fn(&[u8]) -> bool),
}

/// Follows an absolute path.
pub(crate) fn guess(resolver: Resolver, path: &[u8], leaf: Leaf, climb: Climb<'_>) -> Result<Guess, Lost> {
    if resolver == Resolver::Kernel && matches!(climb, Climb::Anywhere) {
        match by_kernel(path, leaf) {
            Ok(Some(guess)) => return Ok(guess),
            Err(error @ (Errno::AGAIN | Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => return Err(error.into()),
            // The kernel does not say where a lookup ended; a walk does. Nor does it say anything without `/proc`.
            Ok(None) | Err(_) => {}
        }
    }
    by_walk(path, leaf, climb, &mut |_| {})
}

/// Follows an absolute path, links included, and says which links were on the way: each by its own place.
pub(crate) fn follow(path: &[u8]) -> Result<(Guess, Vec<Vec<u8>>), Lost> {
    if let Some(guess) = without_links(path) {
        return Ok((guess, Vec::new()));
    }
    let mut links = Vec::new();
    let guess = by_walk(path, Leaf::Follow, Climb::Anywhere, &mut |link| links.push(link.to_vec()))?;
    Ok((guess, links))
}

/// Where a path leads that passes no link: there, by its text. One call of the kernel, where a walk takes four for each name.
fn without_links(path: &[u8]) -> Option<Guess> {
    let place: Vec<u8> = components(path).flat_map(|(name, _)| [b"/", name].concat()).collect();
    if place.is_empty() || components(path).any(|(name, _)| matches!(name, b"." | b"..")) {
        return None;
    }
    match os::pin_without_links(path) {
        Ok(pinned) => Some(Guess { place, id: Some(os::identity(&pinned).ok()?) }),
        // The kernel looks at one name after the other: what it did not find has no link before it.
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
    // What is reachable by no path from here (another mount namespace, a pipe) has no place.
    Ok(place.starts_with(b"/").then_some(Guess { place, id: Some(id) }))
}

/// Component by component, the way the kernel does it. Only the present directory is held: where it changes its place
/// meanwhile, the guess is wrong, and will be found out. `passes` is told the place of each link.
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
            // SECURITY: a peer must not learn which directories exist outside (test: a_peer_cannot_ask_which_directories_exist_outside)
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
                // SECURITY: magic links jump to objects instead of naming paths
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

/// A path that ends where nothing is: its place is known unless it would climb back from there.
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
