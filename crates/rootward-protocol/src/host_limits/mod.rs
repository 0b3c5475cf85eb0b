//! What a host allows one request to touch, as the host itself says in `_meta`: Codex does, with each tool call, to a server that
//! declares [`keys::SANDBOX_STATE`](crate::keys::SANDBOX_STATE).
//!
//! These limits only narrow. A path must be allowed by the roots and by the limits. They never add a root, and the process of a
//! server stays confined to the roots alone.
//!
//! What is not understood gives nothing:
//!
//! | in the state | is read as |
//! |---|---|
//! | a state that is not an object, or without a known profile | every path is refused |
//! | an entry of an unknown kind that grants writing | nothing |
//! | an entry of an unknown kind that grants reading | nothing is writable: it may be an exception from a writable place |
//! | an entry of an unknown kind that denies | every path is refused |
//! | an unknown kind of access to a known place | the place is closed |
//! | a sandbox that others enforce (`external`) | everything is readable, nothing is writable |
//! | members that are not known, `network` | ignored |

#[cfg(test)]
mod laws;
mod placed;
mod reading;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;

use memchr::memmem;
use serde_json::value::RawValue;

use crate::frame::{Envelope, Members};
use crate::keys;

pub use placed::PlacedLimits;

/// How the name of every client begins that tells its limits.
const CLIENT: &str = "codex";

/// What a host allows one request to touch, as the host spelled it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostLimits {
    /// All of these must allow a path; without any, the host limits nothing. An error says what was not understood.
    layers: Result<Vec<Layer>, &'static str>,
}

/// One list of places with what is allowed there. The entry with the most names decides.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Layer {
    /// No two have the same path.
    entries: Vec<Entry>,
    /// Globs of absolute paths that are closed.
    closed: Vec<String>,
    /// Whether an entry that was not understood may take writing from any place.
    nothing_writable: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Entry {
    /// Absolute, without dot segments.
    path: PathBuf,
    allowed: Allowed,
}

/// What is allowed in a place, the least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Allowed {
    Nothing,
    Reading,
    Writing,
}

/// How a request goes beyond what its host allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exceeds {
    /// The place is closed.
    Closed,
    /// The place is only for reading.
    Writes,
    /// A place below the directory is closed.
    ClosedBelow,
    /// A place below the directory that is to go is only for reading.
    WritesBelow,
    /// The act can touch everything in the roots, and the host allows less.
    Unbounded,
    /// The state was not understood.
    Unclear(&'static str),
}

/// What the host allows, as a refusal tells it.
impl fmt::Display for Exceeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exceeds::Closed => f.write_str("Codex's sandbox gives no access there"),
            Exceeds::Writes => f.write_str("Codex's sandbox allows only reading there"),
            Exceeds::ClosedBelow => f.write_str("Codex's sandbox gives no access to something below this directory"),
            Exceeds::WritesBelow => {
                f.write_str("Codex's sandbox allows only reading of something below this directory")
            }
            Exceeds::Unbounded => f.write_str(
                "Codex's sandbox allows less than the roots, and this cannot be held to less than the roots",
            ),
            Exceeds::Unclear(why) => write!(f, "Codex's sandbox state is not understood: {why}"),
        }
    }
}

impl HostLimits {
    /// Reads what a host says in a request's `_meta` under one of [`keys::SANDBOX_STATES`].
    pub fn read(state: &RawValue) -> HostLimits {
        HostLimits { layers: reading::layers(state) }
    }

    /// The same where a host says it more than once: all of it limits.
    pub fn read_all<'s>(states: impl IntoIterator<Item = &'s RawValue>) -> HostLimits {
        let layers: Result<Vec<Vec<Layer>>, _> = states.into_iter().map(reading::layers).collect();
        HostLimits { layers: layers.map(|layers| layers.into_iter().flatten().collect()) }
    }

    /// Takes the limits out of a request or notification: what they are, and the message without them and without all else that the
    /// host says about its sandbox, all other bytes as they came. `None` where there is nothing of it, and where `_meta` can be read in
    /// two ways.
    pub fn take(message: &Envelope<'_>) -> Option<(HostLimits, String)> {
        let params = message.params().filter(|params| may_hold_limits(params.get().as_bytes()))?;
        let meta = Members::read(params)?.get(keys::META)?;
        let members = Members::read(meta)?;
        let told: Vec<&str> = members.iter().map(|(key, _)| key).filter(|key| key.starts_with(keys::SANDBOX)).collect();
        if told.is_empty() {
            return None;
        }
        let mut rest = meta.to_owned();
        for key in told {
            rest = RawValue::from_string(Members::read(&rest)?.without(key)?).ok()?;
        }
        let mut text = Vec::new();
        message.write_replacing(meta.get(), rest.get(), &mut text);
        let mut states: Vec<&RawValue> = keys::SANDBOX_STATES.iter().filter_map(|key| members.get(key)).collect();
        states.dedup_by_key(|state| state.get());
        Some((HostLimits::read_all(states), String::from_utf8(text).ok()?))
    }

    /// How many bytes they take, counted roughly.
    pub fn bytes(&self) -> usize {
        let entry = |entry: &Entry| size_of::<Entry>() + entry.path.as_os_str().len();
        let layer = |layer: &Layer| {
            layer.entries.iter().map(entry).sum::<usize>() + layer.closed.iter().map(String::len).sum::<usize>()
        };
        self.layers.iter().flatten().map(layer).sum()
    }

    /// Whether the host limits nothing.
    pub fn is_everything(&self) -> bool {
        self.layers.as_ref().is_ok_and(Vec::is_empty)
    }
}

/// Whether a client of this name tells its limits where it is asked to.
pub fn tells_limits(client: &str) -> bool {
    client.starts_with(CLIENT)
}

/// A quick look that most messages end with. The name may be written with escapes of its letters or of its slash.
fn may_hold_limits(json: &[u8]) -> bool {
    let has = |part: &[u8]| memmem::find(json, part).is_some();
    has(keys::SANDBOX.as_bytes()) || has(br"\u00") || has(br"\/")
}
