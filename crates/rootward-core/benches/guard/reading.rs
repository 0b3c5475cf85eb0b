//! From a path to the first page of a file.

use std::io::Read;
use std::path::Path;

use rootward_core::Access;
use rustix::fs::{FileType, Mode, OFlags};

use crate::Outcome;
use crate::deciding::RESOLVE;
use crate::places::{DEEP, PAGE, guard, with_deep_file};
use rootward_testkit::bench::measure::{Turns, compare};
use rootward_testkit::bench::table::{Bar, Table};

const BARE: &str = "`openat2`, `fstat`, `read`, `close`";

pub(crate) fn measure(top: &Path, table: &mut Table) -> Outcome {
    let root = top.join("reading");
    let file = with_deep_file(&root)?;
    let guard = guard([root.clone()]);
    let handle = rustix::fs::open(&root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut page = [0; PAGE];
    let bare = || {
        let opened = rustix::fs::openat2(&handle, DEEP, flags, Mode::empty(), RESOLVE).expect("the file is there");
        let status = rustix::fs::fstat(&opened).expect("the file is open");
        assert_eq!(FileType::from_raw_mode(status.st_mode), FileType::RegularFile);
        assert_eq!(rustix::io::read(&opened, &mut page), Ok(PAGE));
        opened
    };
    let mut own_page = [0; PAGE];
    let open = || {
        let mut opened = guard.open(&file).expect("inside the root");
        assert_eq!(opened.read(&mut own_page).ok(), Some(PAGE));
        opened
    };
    let row = compare(Turns::SHORT, open, bare);
    table.add("`Guard::open`, first 4 KiB, close", BARE, &row, Bar::AtMost(1.3));

    let mut page = [0; PAGE];
    let in_two_steps = || {
        let mut opened = guard.check(&file, Access::READ).expect("inside the root").open().expect("a regular file");
        assert_eq!(opened.read(&mut page).ok(), Some(PAGE));
        opened
    };
    let mut own_page = [0; PAGE];
    let in_one_step = || {
        let mut opened = guard.open(&file).expect("inside the root");
        assert_eq!(opened.read(&mut own_page).ok(), Some(PAGE));
        opened
    };
    let row = compare(Turns::SHORT, in_two_steps, in_one_step);
    table.add("`check`, `Grant::open`, first 4 KiB, close", "`Guard::open`", &row, Bar::Information);
    Ok(())
}
