//! Deciding one path: compared with the bare call and with `canonicalize`, and the less common kinds of path.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rootward_core::{Access, Code, GuardOptions, Resolver};
use rustix::fs::{Mode, OFlags, ResolveFlags};

use crate::Outcome;
use crate::places::{DEEP, guard, guard_with, with_deep_file};
use rootward_testkit::bench::measure::{Turns, compare};
use rootward_testkit::bench::table::{Bar, Table};

/// The flags of the bare calls: as safe as a single call can be.
pub(crate) const RESOLVE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

const BARE: &str = "`openat2` + `close`";

pub(crate) fn measure(top: &Path, table: &mut Table) -> Outcome {
    let root = top.join("one");
    let file = with_deep_file(&root)?;
    let outside = top.join("outside");
    fs::create_dir(&outside)?;
    fs::write(outside.join("there"), b"x")?;
    // A link next to the deep file: the same depth, one link to follow.
    let link = file.with_file_name("link.txt");
    symlink("f.txt", &link)?;

    let one = guard([root.clone()]);
    let check = |path: &Path| one.check(path, Access::READ).expect("inside the root");
    let handle = rustix::fs::open(&root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let bare = |name: &str| rustix::fs::openat2(&handle, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), RESOLVE);
    let existing = || bare(DEEP).expect("the file is there");

    let row = compare(Turns::SHORT, || check(&file), existing);
    table.add("`check`, depth 6, absolute", BARE, &row, Bar::AtMost(1.3));
    let row = compare(Turns::SHORT, || check(DEEP.as_ref()), existing);
    table.add("`check`, depth 6, relative", BARE, &row, Bar::AtMost(1.3));
    let canonical = || {
        let path = fs::canonicalize(&file).expect("the file is there");
        assert!(path.starts_with(&root), "inside the root");
        path
    };
    let row = compare(Turns::SHORT, || check(&file), canonical);
    table.add("`check`, depth 6, absolute", "`canonicalize` + prefix test", &row, Bar::Faster);

    let row = compare(Turns::SHORT, || check(&link), || bare("a/b/c/d/e/link.txt").expect("the link leads to a file"));
    table.add("`check` through a relative link", BARE, &row, Bar::Information);
    let missing = file.with_file_name("new.txt");
    let row = compare(Turns::SHORT, || check(&missing), || bare("a/b/c/d/e/new.txt").expect_err("not there"));
    table.add("`check` of a missing file", "`openat2` that fails", &row, Bar::Information);
    for (what, name) in [("`check` refused, outside, existing", "there"), ("`check` refused, outside, missing", "new")]
    {
        let path = outside.join(name);
        let refused = || {
            let denial = one.check(&path, Access::READ).expect_err("outside the root");
            assert_eq!(denial.code(), Code::OutsideRoots);
            denial
        };
        let row = compare(Turns::SHORT, refused, existing);
        table.add(what, BARE, &row, Bar::Information);
    }
    let walking = guard_with([root], GuardOptions { resolver: Resolver::Walk, ..GuardOptions::default() });
    let row = compare(Turns::SHORT, || walking.check(&file, Access::READ).expect("inside the root"), existing);
    table.add("`check` without `openat2`", BARE, &row, Bar::Information);
    Ok(())
}
