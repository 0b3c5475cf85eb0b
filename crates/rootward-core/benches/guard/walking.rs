//! Walking a hundred thousand files over handles, against `ignore`, which walks by name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use rootward_core::{Access, Grant, Ignore, Visit, WalkOptions};

use crate::Outcome;
use crate::places::guard;
use rootward_testkit::bench::measure::{in_turns, one_turn};
use rootward_testkit::bench::table::{Bar, Table};

const THREADS: usize = 2;
const ROUNDS: usize = 30;

/// A tree of 100,000 files, besides those that ignore files leave out.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    pub(crate) files: Vec<PathBuf>,
}

/// Makes the tree: 50 projects with an ignore file each, of ten times ten directories with twenty files.
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
    let (own, theirs) = (walk(&grant), walk_by_name(&tree.root));
    assert_eq!(own, theirs, "both must see the same entries");
    assert!(own > 100_000, "the files and their directories");
    let row = in_turns(
        ROUNDS,
        || one_turn(1, &mut || assert_eq!(walk(&grant), own)),
        || one_turn(1, &mut || assert_eq!(walk_by_name(&tree.root), own)),
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

/// With the settings that ours has: hidden files too, nothing from above the start, no global file, no need of a repository.
fn walk_by_name(root: &Path) -> u64 {
    let mut builder = WalkBuilder::new(root);
    builder.hidden(false).parents(false).git_global(false).require_git(false).threads(THREADS);
    let total = AtomicU64::new(0);
    builder.build_parallel().visit(&mut Counting(&total));
    total.into_inner()
}

struct Counting<'t>(&'t AtomicU64);

/// Counts by itself, so that the threads do not wait for each other over a number.
struct Counter<'t> {
    total: &'t AtomicU64,
    seen: u64,
}

impl<'t> ParallelVisitorBuilder<'t> for Counting<'t> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 't> {
        Box::new(Counter { total: self.0, seen: 0 })
    }
}

impl ParallelVisitor for Counter<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        let entry = entry.expect("the tree can be walked");
        // The start itself is no entry of the tree.
        self.seen += u64::from(std::hint::black_box(entry.path()) != Path::new("") && entry.depth() > 0);
        WalkState::Continue
    }
}

impl Drop for Counter<'_> {
    fn drop(&mut self) {
        self.total.fetch_add(self.seen, Ordering::Relaxed);
    }
}
