//! The names of tools for clients.
//!
//! Most models accept tool names that match `^[a-zA-Z0-9_-]{1,64}$`, and a client may add a prefix of its own. So a
//! prefixed name always stays within that set. Names are prefixed by default, because they must not change when
//! another server is added: the user's permissions refer to them.

use sha2::{Digest, Sha256};

/// The longest name that every model accepts.
const LONGEST_NAME: usize = 64;
/// The longest prefix.
pub(super) const LONGEST_PREFIX: usize = 32;
/// Length of the hash at the end of a changed name.
const HASH: usize = 8;

/// The name of a server's tool for clients.
///
/// Without a prefix it is the tool's own name, unchanged. With a prefix, it is limited to `[a-zA-Z0-9_-]` and 64
/// characters; a name that had to be changed ends in a hash of the original. The same input always gives the same
/// name. Names of two servers can still collide (`a` with `b__c`, `a__b` with `c`): keep a table of names, and never
/// split a name at the separator.
///
/// ```
/// use rootward_hub::config::exposed_name;
///
/// assert_eq!(exposed_name("fs", "__", "read_file"), "fs__read_file");
/// assert_eq!(exposed_name("", "__", "read.file"), "read.file");
/// ```
pub fn exposed_name(prefix: &str, separator: &str, tool: &str) -> String {
    if prefix.is_empty() {
        return tool.to_owned();
    }
    let whole = format!("{prefix}{separator}{tool}");
    let plain = in_plain_letters(&whole);
    if plain == whole && plain.len() <= LONGEST_NAME {
        return plain;
    }
    let kept = plain.get(..LONGEST_NAME - HASH - 1).unwrap_or(&plain);
    let digest = Sha256::digest(&whole);
    let hash = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    format!("{kept}_{hash:0HASH$x}")
}

/// The default prefix of a server.
pub(super) fn prefix_of(server: &str) -> String {
    let mut prefix = in_plain_letters(server);
    prefix.truncate(LONGEST_PREFIX);
    prefix
}

pub(super) fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '-'
}

fn in_plain_letters(text: &str) -> String {
    text.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_names_stay() {
        assert_eq!(exposed_name("git-hub_1", "__", "get-Me"), "git-hub_1__get-Me");
        assert_eq!(exposed_name("", "__", "ä b"), "ä b");
        let exact = "x".repeat(60);
        assert_eq!(exposed_name("ab", "__", &exact), format!("ab__{exact}"));
        assert_eq!(prefix_of("@scope/a server"), "_scope_a_server");
        assert_eq!(prefix_of(&"x".repeat(99)).len(), LONGEST_PREFIX);
    }

    #[test]
    fn changed_names_end_in_a_hash() {
        let name = exposed_name("fs", "__", "read.file");
        assert!(name.starts_with("fs__read_file_") && name.len() == 14 + HASH, "{name}");
        assert_ne!(name, exposed_name("fs", "__", "read/file"));
        let long = "x".repeat(61);
        let name = exposed_name("ab", "__", &long);
        assert_eq!(name.len(), LONGEST_NAME);
        assert_ne!(name, exposed_name("ab", "__", &(long + "x")));
    }

    proptest! {
        #[test]
        fn every_name_with_a_prefix_fits_every_model(prefix in "[a-zA-Z0-9_-]{1,32}", tool in any::<String>()) {
            let name = exposed_name(&prefix, "__", &tool);
            prop_assert!((1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_plain), "{}", name);
            prop_assert_eq!(name, exposed_name(&prefix, "__", &tool));
        }
    }
}
