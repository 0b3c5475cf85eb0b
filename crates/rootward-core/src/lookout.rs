//! Where places lie, for whoever sets up a guard: looks anywhere, gives access to nothing.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::access::Access;
use crate::denial::Denial;
use crate::guard::{Guard, GuardOptions};
use crate::resolve::Resolver;
use crate::restriction::Restrictions;
use crate::root::{Origin, Root};
use crate::set::RootSet;
use crate::validate::Validation;

/// Sees every place and gives access to none: says where a place lies and whether it exists.
pub fn lookout_ambient(resolver: Resolver) -> Guard {
    let top = Root::from_path("/", Origin::Flag).map(|root| root.with_access(Access::NONE));
    let restrictions = Arc::new(Restrictions::none());
    let options = GuardOptions { home: None, base: None, restrictions, resolver, generation: 0, most_handles: 1 };
    Guard::new(RootSet::place_ambient(top, &Validation::new(None)), options)
}

/// A place as it is spelled, and where that leads; restrictions hold for places without links.
pub fn spellings_ambient(place: &Path, resolver: Resolver) -> Result<Vec<PathBuf>, Denial> {
    // No access is asked for and nothing is opened: only where the place lies, whether or not it exists.
    let lies_at = lookout_ambient(resolver).check(place, Access::NONE)?.path();
    let spelled: PathBuf = place.components().collect();
    Ok(if spelled == lies_at { vec![spelled] } else { vec![spelled, lies_at] })
}

/// How many links a path may pass; the kernel follows no more (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

/// Every link on the way to a place, where it really lies: if one is replaced, the place leads elsewhere.
#[expect(clippy::disallowed_methods, reason = "looks where Rootward's own files lie; opens nothing")]
pub fn links_ambient(place: &Path) -> Vec<PathBuf> {
    let names = |path: &Path| path.components().map(|part| part.as_os_str().to_owned()).collect::<Vec<OsString>>();
    let mut links = Vec::new();
    let mut here = PathBuf::from("/");
    let mut ahead: VecDeque<OsString> = names(place).into();
    while let Some(name) = ahead.pop_front() {
        match Path::new(&name).components().next() {
            Some(Component::ParentDir) => drop(here.pop()),
            Some(Component::RootDir) => here = PathBuf::from("/"),
            Some(Component::Normal(_)) => here.push(&name),
            _ => {}
        }
        // What is no link, or is not there, has no target.
        let Ok(target) = std::fs::read_link(&here) else { continue };
        links.push(here.clone());
        if links.len() >= MOST_LINKS {
            break;
        }
        here.pop();
        for name in names(&target).into_iter().rev() {
            ahead.push_front(name);
        }
    }
    links
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
            let found = links_ambient(&top.join(path));
            let found: Vec<_> = found.iter().map(|link| link.strip_prefix(&top).unwrap().to_str().unwrap()).collect();
            assert_eq!(found, expect, "{path}");
        };
        check("a/b/none", &[]);
        check("one/x", &["one"]);
        check("two/x", &["two", "one"]);
        check("two/../b/three/x", &["two", "one", "a/b/three"]);
        check("gone/one", &[]);
        assert_eq!(links_ambient(&top.join("loop/x")).len(), MOST_LINKS);
    }
}
