//! Numbers the roots of a request without a session: a hash of their content, field by field.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rootward_core::session::{CurrentRoots, Reach};
use rootward_core::{FileId, Origin, Pattern, PlacedRoot, RefusedRoot, Root, RootKind, Spelling};

use crate::ContentNumber;

/// The number of these roots. Different roots get different numbers, and so does another object at the same place.
pub(super) fn of_content(current: &CurrentRoots) -> u64 {
    let CurrentRoots { roots, reach, .. } = current;
    let mut number = ContentNumber::default();
    number.add(match reach {
        Reach::Roots => "roots",
        Reach::AllowAll => "allow-all",
    });
    number.add_number(roots.roots().len() as u64);
    for root in roots.roots() {
        add_placed(&mut number, root);
    }
    number.add_number(roots.refused().len() as u64);
    for root in roots.refused() {
        add_refused(&mut number, root);
    }
    for other in roots.others() {
        number.add(&other.uri);
        number.add_optional(other.name.as_ref());
        number.add_optional(other.meta.as_deref());
    }
    number.finish()
}

fn add_placed(number: &mut ContentNumber, placed: &PlacedRoot) {
    let PlacedRoot { root, place, kind, id: FileId { device, inode, born } } = placed;
    add_root(number, root);
    add_path(number, place);
    number.add(match kind {
        RootKind::Directory => "directory",
        RootKind::File => "file",
    });
    number.add_number(*device);
    number.add_number(*inode);
    number.add_optional(born.map(|(seconds, nanoseconds)| format!("{seconds}.{nanoseconds}")));
}

fn add_refused(number: &mut ContentNumber, refused: &RefusedRoot) {
    let RefusedRoot { text, root, reason } = refused;
    number.add(text);
    number.add(reason.to_string());
    number.add_number(u64::from(root.is_some()));
    if let Some(root) = root {
        add_root(number, root);
    }
}

fn add_root(number: &mut ContentNumber, root: &Root) {
    let Root { path, name, access, origin, spelling, meta, pattern } = root;
    add_path(number, path);
    number.add_optional(name.as_ref());
    number.add(access.to_string());
    number.add(match origin {
        Origin::Client => "client",
        Origin::Flag => "flag",
        Origin::Env => "env",
        Origin::Config => "config",
        Origin::Store => "store",
        Origin::Fallback => "fallback",
    });
    number.add(match spelling {
        Spelling::Uri => "uri",
        Spelling::Path => "path",
    });
    number.add_optional(meta.as_deref());
    match pattern {
        None => number.add("no pattern"),
        Some(Pattern::Named { fixed }) => {
            number.add("pattern");
            number.add_number(*fixed as u64);
        }
        Some(Pattern::Matched { by, fixed }) => {
            number.add("matched");
            add_path(number, by);
            number.add_number(*fixed as u64);
        }
    }
}

fn add_path(number: &mut ContentNumber, path: &Path) {
    number.add(path.as_os_str().as_bytes());
}

#[cfg(test)]
mod tests {
    use rootward_core::RootSet;
    use rootward_core::session::{State, Why};

    use super::*;

    #[test]
    fn no_roots_have_a_fixed_number_for_each_reach() {
        let number = |reach: Reach| {
            let (state, why) = (State::Unsupported, Why::Unheard);
            of_content(&CurrentRoots { roots: RootSet::default(), reach, state, why, generation: 1 })
        };
        assert_eq!([number(Reach::Roots), number(Reach::AllowAll)], [1_005_142_968_069_049, 5_698_233_534_170_421]);
    }
}
