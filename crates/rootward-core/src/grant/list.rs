//! Listing a directory.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;

use super::{FileKind, Grant, GrantError};
use crate::access::Access;
use crate::guard::Guard;
use crate::os;
use crate::resolve::Rest;
use crate::tree::RootIndex;

/// One entry of a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// Its kind; links are not followed.
    pub kind: FileKind,
}

impl Grant {
    /// The entries that may be read, in no particular order.
    pub fn list(&self) -> Result<Vec<Entry>, GrantError> {
        self.need(Access::READ)?;
        let mut entries = Vec::new();
        for (name, kind) in os::entries(self.object()?.as_fd()).map_err(|error| self.failed(error))? {
            if self.guard.shows_entry(self.root, &self.rest.join(&name), &name) {
                entries.push(Entry { name: OsString::from_vec(name), kind: kind.into() });
            }
        }
        Ok(entries)
    }
}

impl Guard {
    /// Whether an entry of a readable directory may be read itself.
    pub(crate) fn shows_entry(&self, root: RootIndex, entry: &Rest, name: &[u8]) -> bool {
        // SECURITY: judge the entry at its own place, by its own root and restrictions
        // (test: closed_places_are_neither_listed_nor_walked)
        match self.0.tree.deeper(root, entry.as_bytes()) {
            Some((deeper, behind)) => self.permits(deeper, entry.behind(behind), Access::READ).is_ok(),
            // Its directory passed, so only a rule that ends in this name can close it.
            None if !self.0.restrictions.may_end_in(name) => true,
            None => self.permits(root, entry.as_bytes(), Access::READ).is_ok(),
        }
    }
}
