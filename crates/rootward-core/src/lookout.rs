//! Finds out where places lie, for code that sets up a guard. It can look anywhere and gives no access.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::Access;
use crate::denial::Denial;
use crate::guard::{Base, Guard, GuardOptions};
use crate::resolve::Resolver;
use crate::resolve::guess::follow;
use crate::restriction::Restrictions;
use crate::root::{Origin, Root};
use crate::set::RootSet;
use crate::validate::Validation;

/// A guard that covers every place and gives no access. It tells where a place lies and whether it exists.
pub fn lookout_ambient(resolver: Resolver) -> Guard {
    let top = Root::from_path("/", Origin::Flag).map(|root| root.with_access(Access::NONE));
    let restrictions = Arc::new(Restrictions::none());
    let options =
        GuardOptions { home: None, base: Base::FirstRoot, restrictions, resolver, generation: 0, most_handles: 1 };
    Guard::new(RootSet::place_ambient(top, &Validation::new(None)), options)
}

/// Where a path leads, and through which links.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Followed {
    /// The resolved place: absolute, without links or dot segments.
    pub place: PathBuf,
    /// Whether something exists there.
    pub exists: bool,
    /// The place of each link on the way.
    pub links: Vec<PathBuf>,
}

impl Followed {
    /// The directories whose contents determine where the path leads.
    pub fn holders(&self) -> impl Iterator<Item = &Path> {
        self.links.iter().map(|link| link.parent().unwrap_or(link))
    }
}

/// Follows an absolute path; `None` if the system refuses, or if the path goes through a magic link.
pub fn follow_ambient(path: &Path) -> Option<Followed> {
    let path_from = |bytes| PathBuf::from(OsString::from_vec(bytes));
    let (guess, links) = follow(path.as_os_str().as_bytes()).ok()?;
    let exists = guess.id.is_some();
    Some(Followed { place: path_from(guess.place), exists, links: links.into_iter().map(path_from).collect() })
}

/// A place as spelled, and its resolved path if that differs. Restrictions apply to resolved paths.
pub fn spellings_ambient(place: &Path, resolver: Resolver) -> Result<Vec<PathBuf>, Denial> {
    // Asks for no access and opens nothing; the place may be missing.
    let lies_at = lookout_ambient(resolver).check(place, Access::NONE)?.path();
    let spelled: PathBuf = place.components().collect();
    Ok(if spelled == lies_at { vec![spelled] } else { vec![spelled, lies_at] })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "builds a tree")]
    fn every_link_on_the_way_is_found_where_it_lies() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        symlink("a", top.join("one")).unwrap();
        symlink(top.join("one/b"), top.join("two")).unwrap();
        symlink("../b/../gone", top.join("a/b/three")).unwrap();
        symlink("loop", top.join("loop")).unwrap();
        let check = |path: &str, expect: &[&str]| {
            let found = follow_ambient(&top.join(path)).unwrap().links;
            let found: Vec<_> = found.iter().map(|link| link.strip_prefix(&top).unwrap().to_str().unwrap()).collect();
            assert_eq!(found, expect, "{path}");
        };
        check("a/b/none", &[]);
        check("one/x", &["one"]);
        check("two/x", &["two", "one"]);
        check("two/../b/three/x", &["two", "one", "a/b/three"]);
        check("gone/one", &[]);
        assert_eq!(follow_ambient(&top.join("loop/x")), None);
    }
}
