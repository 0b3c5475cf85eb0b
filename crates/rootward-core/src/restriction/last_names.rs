//! Finds the few patterns whose places can end in a name. Nearly every name matches none, and that check is fast.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::pattern::{LastName, Pattern};

/// Patterns by the last name of their places.
#[derive(Clone, Debug)]
pub(super) struct LastNames {
    /// The patterns that end in a given name, in lower case.
    by_name: HashMap<Box<[u8]>, SmallVec<[usize; 2]>>,
    /// The patterns that fix the beginning or end of the last name, with its first or last byte.
    parts: Vec<(Part, usize)>,
    first: Bytes,
    last: Bytes,
    /// The patterns that may end in any name.
    any: Vec<usize>,
    /// For each first byte, in lower case: a bitmask of the lengths of the last names that start with it.
    lengths: Box<[u64; 256]>,
}

/// The beginning or end of a last name.
#[derive(Clone, Debug)]
enum Part {
    Start(Box<[u8]>),
    End(Box<[u8]>),
}

impl Part {
    fn is_in(&self, name: &[u8]) -> bool {
        match self {
            Part::Start(start) => LastName::Begins(start).matches(name),
            Part::End(end) => LastName::Ends(end).matches(name),
        }
    }
}

/// A set of bytes, in lower case.
#[derive(Clone, Copy, Default, Debug)]
struct Bytes([u64; 4]);

impl Bytes {
    fn insert(&mut self, byte: u8) {
        let byte = byte.to_ascii_lowercase();
        self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    fn contains(self, byte: u8) -> bool {
        let byte = byte.to_ascii_lowercase();
        self.0[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }
}

impl LastNames {
    pub(super) fn new<'p>(patterns: impl ExactSizeIterator<Item = &'p Pattern>) -> LastNames {
        let by_name = HashMap::with_capacity(patterns.len());
        let (parts, any, lengths) = (Vec::new(), Vec::new(), Box::new([0; 256]));
        let (first, last) = (Bytes::default(), Bytes::default());
        let mut ends = LastNames { by_name, parts, first, last, any, lengths };
        for (index, pattern) in patterns.enumerate() {
            match pattern.last_name() {
                LastName::Is(name @ [first, ..]) if name.len() < 64 => {
                    ends.lengths[usize::from(first.to_ascii_lowercase())] |= 1 << name.len();
                    ends.by_name.entry(name.to_ascii_lowercase().into()).or_default().push(index);
                }
                LastName::Begins(start @ [first, ..]) => {
                    ends.first.insert(*first);
                    ends.parts.push((Part::Start(start.into()), index));
                }
                LastName::Ends(end @ [.., last]) => {
                    ends.last.insert(*last);
                    ends.parts.push((Part::End(end.into()), index));
                }
                _ => ends.any.push(index),
            }
        }
        ends
    }

    /// Whether the place of any pattern can end in this name. Called for every name of every path.
    pub(super) fn may_be(&self, name: &[u8]) -> bool {
        let [first, ..] = name else { return false };
        let last = name.last().unwrap_or(first);
        !self.any.is_empty()
            || name.len() < 64 && self.lengths[usize::from(first.to_ascii_lowercase())] >> name.len() & 1 == 1
            || (self.first.contains(*first) || self.last.contains(*last)) && self.by_part(name).next().is_some()
    }

    /// The patterns whose places can end in this name.
    pub(super) fn of(&self, name: &[u8]) -> impl Iterator<Item = usize> {
        let named = self.by_name.get(name.to_ascii_lowercase().as_slice());
        named.into_iter().flatten().chain(&self.any).copied().chain(self.by_part(name))
    }

    /// There are few, and they are only checked if the first or last byte fits.
    fn by_part(&self, name: &[u8]) -> impl Iterator<Item = usize> {
        self.parts.iter().filter(move |(part, _)| part.is_in(name)).map(|(_, index)| *index)
    }
}
