//! What a host allows one request to access, according to the host's own statement in `_meta`. Codex sends this with
//! each tool call to a server that declares [`keys::SANDBOX_STATE`](crate::keys::SANDBOX_STATE).
//!
//! These limits only narrow access. A path must be allowed by the roots and by the limits. Limits never add a root, and
//! a server's process stays confined by the roots alone.
//!
//! What is not understood allows nothing:
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

/// The prefix of the names of all clients that send limits.
const CLIENT: &str = "codex";

/// What a host allows one request to access, as the host wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostLimits {
    /// All layers must allow a path; without layers, the host sets no limits. An error says what was not understood.
    layers: Result<Vec<Layer>, &'static str>,
}

/// One list of places with the access allowed there. The entry with the most components decides.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Layer {
    /// No two have the same path.
    entries: Vec<Entry>,
    /// Globs of absolute paths that are closed.
    closed: Vec<String>,
    /// Whether an entry that was not understood may forbid writing anywhere.
    nothing_writable: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Entry {
    /// Absolute, without dot segments.
    path: PathBuf,
    allowed: Allowed,
}

/// The access to a place, the least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Allowed {
    Nothing,
    Reading,
    Writing,
}

/// How a request exceeds what its host allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exceeds {
    /// The place is closed.
    Closed,
    /// The place is read-only.
    Writes,
    /// A place below the directory is closed.
    ClosedBelow,
    /// A place below the directory that is to be removed is read-only.
    WritesBelow,
    /// The operation can access everything in the roots, and the host allows less.
    Unbounded,
    /// The state was not understood.
    Unclear(&'static str),
}

/// The text of a refusal.
impl fmt::Display for Exceeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exceeds::Closed => f.write_str("Codex's sandbox gives no access there"),
            Exceeds::Writes => f.write_str("Codex's sandbox allows only reading there"),
            Exceeds::ClosedBelow => f.write_str("Codex's sandbox gives no access to something below this directory"),
            Exceeds::WritesBelow => {
                f.write_str("Codex's sandbox allows only reading of something below this directory")
            }
            Exceeds::Unbounded => {
                f.write_str("Codex's sandbox allows less than the roots, and this cannot be confined further")
            }
            Exceeds::Unclear(why) => write!(f, "Codex's sandbox state is not understood: {why}"),
        }
    }
}

impl HostLimits {
    /// Reads the state that a host sends in a request's `_meta` under one of [`keys::SANDBOX_STATES`].
    pub fn read(state: &RawValue) -> HostLimits {
        HostLimits { layers: reading::layers(state) }
    }

    /// The same for several states: all of them apply.
    pub fn read_all<'s>(states: impl IntoIterator<Item = &'s RawValue>) -> HostLimits {
        let layers: Result<Vec<Vec<Layer>>, _> = states.into_iter().map(reading::layers).collect();
        HostLimits { layers: layers.map(|layers| layers.into_iter().flatten().collect()) }
    }

    /// Takes the limits out of a request or notification. Returns the limits, and the message without anything that the
    /// host says about its sandbox; all other bytes stay. `None` if there is nothing, or if `_meta` is ambiguous.
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

    /// The approximate size in bytes.
    pub fn bytes(&self) -> usize {
        let entry = |entry: &Entry| size_of::<Entry>() + entry.path.as_os_str().len();
        let layer = |layer: &Layer| {
            layer.entries.iter().map(entry).sum::<usize>() + layer.closed.iter().map(String::len).sum::<usize>()
        };
        self.layers.iter().flatten().map(layer).sum()
    }

    /// Whether the host sets no limits.
    pub fn is_everything(&self) -> bool {
        self.layers.as_ref().is_ok_and(Vec::is_empty)
    }
}

/// Whether a client with this name sends its limits if asked.
pub fn tells_limits(client: &str) -> bool {
    client.starts_with(CLIENT)
}

/// A quick check that rules out most messages. The key may be written with escaped letters or an escaped slash.
fn may_hold_limits(json: &[u8]) -> bool {
    let has = |part: &[u8]| memmem::find(json, part).is_some();
    has(keys::SANDBOX.as_bytes()) || has(br"\u00") || has(br"\/")
}
