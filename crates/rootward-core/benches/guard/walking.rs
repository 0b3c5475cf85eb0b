//! Walking a hundred thousand files over handles, compared with `ignore`, which walks by name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rootward_core::{Access, Grant, Ignore, Visit, WalkOptions};

use crate::Outcome;
use crate::places::guard;
use rootward_testkit::bench::listing::list;
use rootward_testkit::bench::measure::{in_turns, one_turn};
use rootward_testkit::bench::table::{Bar, Table};

const THREADS: usize = 2;
const ROUNDS: usize = 30;

/// A tree of 100,000 files, plus some that ignore files exclude.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    pub(crate) files: Vec<PathBuf>,
}

/// Creates the tree: 50 projects with an ignore file each, of ten times ten directories with twenty files.
pub(crate) fn plant(top: &Path) -> io::Result<Tree> {
    eprintln!("making 100,000 files");
    let root = top.join("tree");
    let mut files = Vec::new();
    fs::create_dir(&root)?;
    fs::write(root.join(".gitignore"), "build/\n*.log\n/local\n!keep.log\n")?;
    for project in 0..50 {
        let project = root.join(format!("project-{project:02}"));
        fs::create_dir_all(project.join("build/objects"))?;
        fs::write(project.join("build/objects/left-out.o"), b"")?;
        fs::write(project.join(".gitignore"), "*.tmp\n/generated/*.rs\n.cache\n")?;
        for (part, section) in (0..10).flat_map(|part| (0..10).map(move |section| (part, section))) {
            let directory = project.join(format!("part-{part}/section-{section}"));
            fs::create_dir_all(&directory)?;
            fs::write(directory.join("left-out.log"), b"")?;
            for number in 0..20 {
                let file = directory.join(format!("module_{number:02}.rs"));
                fs::write(&file, b"")?;
                files.push(file);
            }
        }
    }
    Ok(Tree { root, files })
}

pub(crate) fn measure(tree: &Tree, table: &mut Table) -> Outcome {
    let guard = guard([tree.root.clone()]);
    let grant = guard.check(&tree.root, Access::READ)?;
    let (own, theirs) = (walk(&grant), list(&tree.root, THREADS));
    assert_eq!(own, theirs, "both must see the same entries");
    assert!(own > 100_000, "the files and their directories");
    let row = in_turns(
        ROUNDS,
        || one_turn(1, &mut || assert_eq!(walk(&grant), own)),
        || one_turn(1, &mut || assert_eq!(list(&tree.root, THREADS), own)),
    );
    table.add("walk of 100,000 files, gitignore on, 2 threads", "`ignore`'s parallel walk", &row, Bar::AtMost(1.3));
    Ok(())
}

fn walk(grant: &Grant) -> u64 {
    let options = WalkOptions { threads: THREADS, ignore: Ignore::Gitignore, ..WalkOptions::default() };
    let summary = grant.walk(options, |entry| {
        std::hint::black_box(entry.path());
        Visit::Continue
    });
    summary.expect("the tree can be walked").visited
}
