//! Half a million files in 250 projects, each a repository and a workspace with ten members.

use std::fs;
use std::path::Path;

use rootward_testkit::bench::listing::list;
use rootward_testkit::bench::measure::{in_turns, one_turn};
use rootward_testkit::bench::table::{Bar, Table};

use crate::{Outcome, THREADS, detect};

const PROJECTS: usize = 250;
const ROUNDS: usize = 11;

pub(crate) fn measure(top: &Path, table: &mut Table) -> Outcome {
    let tree = top.join("tree");
    plant(&tree)?;
    let (found, listed) = (detect(&tree), list(&tree, THREADS));
    // The side that sees fewer entries would have an unfair advantage.
    assert_eq!(found.visited, listed, "both must see the same entries");
    assert!(listed > 500_000, "the files and their directories");
    assert_eq!((found.suggestions.len(), found.bounds.as_slice()), (11 * PROJECTS, &[][..]));
    let row = in_turns(
        ROUNDS,
        || one_turn(1, &mut || assert_eq!(detect(&tree).suggestions.len(), 11 * PROJECTS)),
        || one_turn(1, &mut || assert_eq!(list(&tree, THREADS), listed)),
    );
    let what = "detection over 500,000 files, 2,750 manifests, 2 threads";
    table.add(what, "listing by `ignore`, as `fd` does", &row, Bar::AtMost(1.0));
    fs::remove_dir_all(tree)?;
    Ok(())
}

fn plant(tree: &Path) -> Outcome {
    eprintln!("making 500,000 files");
    for number in 0..PROJECTS {
        let project = tree.join(format!("project-{number:03}"));
        fs::create_dir_all(project.join(".git/objects"))?;
        fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        fs::write(project.join(".gitignore"), "*.tmp\n/generated/*.rs\nbuild/\n")?;
        fs::create_dir_all(project.join("build/objects"))?;
        fs::write(project.join("build/objects/left-out.o"), b"")?;
        fs::write(project.join("Cargo.toml"), "[workspace]\nmembers = [\"part-*\"]\nresolver = \"3\"\n")?;
        for part in 0..10 {
            let part = project.join(format!("part-{part}"));
            for section in 0..10 {
                let directory = part.join(format!("section-{section}"));
                fs::create_dir_all(&directory)?;
                for module in 0..20 {
                    fs::write(directory.join(format!("module_{module:02}.rs")), b"")?;
                }
            }
            let name = part.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let dependencies = "serde = \"1\"\nthiserror = \"2\"\ntokio = { version = \"1\", features = [\"rt\"] }\n";
            let manifest =
                format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\n\n[dependencies]\n{dependencies}");
            fs::write(part.join("Cargo.toml"), manifest)?;
        }
    }
    Ok(())
}
