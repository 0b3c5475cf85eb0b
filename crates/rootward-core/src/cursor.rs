//! Paging through a list that may change: a cursor belongs to one version of the list.
//!
//! The protocol does not page `roots/list`; peers that agreed on the extension `rootward.dev/roots-paging` do. A cursor
//! contains the version of its list, so that nobody gets half of one list and half of another.

use std::num::NonZeroUsize;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use thiserror::Error;

/// The default number of entries per page.
pub const PAGE_SIZE: NonZeroUsize = NonZeroUsize::new(50).unwrap();

/// A position in one version of a list. To a peer it is an opaque string.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cursor {
    /// The version of the list.
    pub version: u64,
    /// How many entries come before it.
    pub offset: u64,
}

/// Why a cursor cannot be used. Peers see these messages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
pub enum CursorError {
    /// It was not made here.
    #[error("Malformed cursor for roots/list")]
    Malformed,
    /// The list has changed since.
    #[error("Stale cursor for roots/list; please restart pagination")]
    Stale {
        /// The current version of the list.
        expected: u64,
        /// The version that the cursor was made for.
        received: u64,
    },
}

/// A part of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page<'a, T> {
    /// The entries, in order.
    pub entries: &'a [T],
    /// Where the next part begins; `None` for the last part.
    pub next: Option<Cursor>,
}

impl Cursor {
    /// The string that a peer sees: base64url without padding.
    pub fn encode(self) -> String {
        URL_SAFE_NO_PAD.encode([self.version.to_be_bytes(), self.offset.to_be_bytes()].concat())
    }

    /// Decodes a string from a peer. Each cursor has exactly one encoding; everything else is malformed.
    pub fn decode(text: &str) -> Result<Cursor, CursorError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| CursorError::Malformed)?;
        let bytes: [u8; 16] = bytes.try_into().map_err(|_| CursorError::Malformed)?;
        let number = u128::from_be_bytes(bytes);
        #[expect(clippy::cast_possible_truncation, reason = "the two halves of the number")]
        let (version, offset) = ((number >> 64) as u64, number as u64);
        Ok(Cursor { version, offset })
    }
}

/// The part of `list` that begins at `cursor`; `version` is the version of `list`.
pub fn page<'a, T>(
    list: &'a [T],
    version: u64,
    cursor: Option<&str>,
    size: NonZeroUsize,
) -> Result<Page<'a, T>, CursorError> {
    let offset = match cursor.map(Cursor::decode).transpose()? {
        None => 0,
        Some(cursor) if cursor.version != version => {
            return Err(CursorError::Stale { expected: version, received: cursor.version });
        }
        // Cursors of the current version are only made for positions inside the list.
        Some(cursor) => usize::try_from(cursor.offset)
            .ok()
            .filter(|offset| (1..list.len()).contains(offset))
            .ok_or(CursorError::Malformed)?,
    };
    let end = offset.saturating_add(size.get()).min(list.len());
    let next = (end < list.len()).then_some(Cursor { version, offset: end as u64 });
    Ok(Page { entries: &list[offset..end], next })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn size(size: usize) -> NonZeroUsize {
        NonZeroUsize::new(size).unwrap()
    }

    #[test]
    fn a_cursor_is_good_for_one_version() {
        let list: Vec<u32> = (0..120).collect();
        let first = page(&list, 7, None, PAGE_SIZE).unwrap();
        assert_eq!((first.entries, first.next), (&list[..50], Some(Cursor { version: 7, offset: 50 })));
        let cursor = first.next.unwrap().encode();
        assert_eq!(page(&list, 7, Some(&cursor), PAGE_SIZE).unwrap().entries, &list[50..100]);
        let stale = page(&list, 8, Some(&cursor), PAGE_SIZE).unwrap_err();
        assert_eq!(stale, CursorError::Stale { expected: 8, received: 7 });
        assert_eq!(stale.to_string(), "Stale cursor for roots/list; please restart pagination");
    }

    #[test]
    fn foreign_cursors_are_malformed() {
        let list = [1, 2, 3];
        let check = |text: &str| {
            let seen = page(&list, 7, Some(text), PAGE_SIZE).unwrap_err();
            assert_eq!(seen.to_string(), "Malformed cursor for roots/list", "{text}");
        };
        let made = Cursor { version: 7, offset: 1 }.encode();
        for text in ["", "1", "AAAA", "not base64!", "näh", &format!("{made}="), &format!("{made} "), &made[1..]] {
            check(text);
        }
        // The last character has unused bits, so a lenient decoder would accept two strings for one cursor.
        check(&format!("{}R", &made[..made.len() - 1]));
        for offset in [0, 3, 4, u64::MAX] {
            check(&Cursor { version: 7, offset }.encode());
        }
    }

    proptest! {
        #[test]
        fn pages_put_together_are_the_list(length in 0..300_usize, a_page in 1..70_usize, version: u64) {
            let list: Vec<usize> = (0..length).collect();
            let mut seen = Vec::new();
            let mut cursor: Option<String> = None;
            loop {
                let page = page(&list, version, cursor.as_deref(), size(a_page)).unwrap();
                prop_assert!(page.entries.len() <= a_page);
                seen.extend_from_slice(page.entries);
                match page.next {
                    Some(next) => cursor = Some(next.encode()),
                    None => break,
                }
            }
            prop_assert_eq!(seen, list);
        }

        #[test]
        fn any_text_is_read_or_refused(text: String, version: u64, offset: u64) {
            let cursor = Cursor { version, offset };
            prop_assert_eq!(Cursor::decode(&cursor.encode()), Ok(cursor));
            if let Ok(read) = Cursor::decode(&text) {
                prop_assert_eq!(read.encode(), text);
            }
        }
    }
}
