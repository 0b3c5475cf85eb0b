//! Deciding a path does not allocate in the common case.
//!
//! This is a separate binary, because counting replaces the allocator of the whole program. Not in oracle builds:
//! asking the kernel allocates.

#![cfg(not(rootward_oracle))]
#![expect(clippy::disallowed_methods, reason = "builds the tree for the test")]
#![expect(clippy::unwrap_used, reason = "a test that cannot build its tree must fail")]

use std::fs;
use std::path::Path;

use rootward_core::{Access, Guard, GuardOptions, Origin, Root, RootSet, Validation};

fn guard(roots: impl IntoIterator<Item = impl AsRef<Path>>) -> Guard {
    let roots = roots.into_iter().map(|root| Root::from_path(root.as_ref(), Origin::Flag).unwrap());
    let set = RootSet::place_ambient(roots, &Validation::new(None));
    assert!(set.refused().is_empty());
    Guard::new(set, GuardOptions::default())
}

#[test]
fn a_common_decision_allocates_nothing() {
    let top = tempfile::tempdir().unwrap();
    let directory = top.path().canonicalize().unwrap().join("project/a/b/c/d/e");
    let project = directory.ancestors().nth(5).unwrap();
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("f.txt"), "x").unwrap();
    let one = guard([project]);
    let nested = guard([project.parent().unwrap(), project, &directory]);

    let check = |guard: &Guard, path: &Path, access: Access| {
        // The first decision opens the root's handle, which is then kept.
        guard.check(path, access).unwrap();
        let counted = allocation_counter::measure(|| drop(guard.check(path, access).unwrap()));
        assert_eq!(counted.count_total, 0, "{}", path.display());
    };
    let file = directory.join("f.txt");
    check(&one, &file, Access::READ);
    check(&one, &file, Access::READ_WRITE);
    check(&one, Path::new("a/b/c/d/e/f.txt"), Access::READ);
    check(&one, Path::new("a/./b//c/d/e/f.txt"), Access::READ);
    check(&one, &directory, Access::READ);
    check(&one, project, Access::READ);
    check(&nested, &file, Access::READ);
    check(&nested, Path::new("project/a/b/c/d/e/f.txt"), Access::READ);
}

#[test]
fn the_counter_counts() {
    assert!(allocation_counter::measure(|| drop(std::hint::black_box(vec![0_u8; 16]))).count_total > 0);
}
