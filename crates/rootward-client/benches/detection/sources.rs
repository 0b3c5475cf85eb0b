//! The sources of the crates that Cargo has fetched: real projects whose directories are named after them.

use std::fs;
use std::path::{Path, PathBuf};

use rootward_client::detect::{Detection, Kind};
use rootward_testkit::bench::listing::list;
use rootward_testkit::bench::measure::{in_turns, one_turn};
use rootward_testkit::bench::table::{Bar, Table};

use crate::{Outcome, THREADS, detect};

const ROUNDS: usize = 11;

pub(crate) fn measure(table: &mut Table) -> Outcome {
    let Some(sources) = sources() else {
        table.add_missing("detection over the sources of fetched crates", "", "Cargo has fetched none");
        return Ok(());
    };
    let found = detect(&sources);
    let crates = compare_names(&sources, &found)?;
    assert_eq!(found.bounds, []);
    let listed = list(&sources, THREADS);
    let row = in_turns(
        ROUNDS,
        || one_turn(1, &mut || assert_eq!(detect(&sources).visited, found.visited)),
        || one_turn(1, &mut || assert_eq!(list(&sources, THREADS), listed)),
    );
    eprintln!("detection saw {} entries, the listing {listed}; {} suggestions", found.visited, found.suggestions.len());
    let what =
        format!("detection over the sources of {crates} crates, {listed} files, {} found", found.suggestions.len());
    table.add(&what, "listing by `ignore`, as `fd` does", &row, Bar::Information);
    Ok(())
}

/// Where Cargo unpacks crates: `registry/src/REGISTRY/NAME-VERSION`.
fn sources() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    home.join("registry/src").canonicalize().ok()
}

/// Checks that detection finds every crate under its right name. Returns the number of crates.
fn compare_names(sources: &Path, found: &Detection) -> Outcome<usize> {
    let mut crates = 0;
    for registry in fs::read_dir(sources)? {
        for package in fs::read_dir(registry?.path())? {
            let path = package?.path();
            if !path.join("Cargo.toml").is_file() {
                continue;
            }
            let suggestion = found.suggestions.binary_search_by(|suggestion| suggestion.path.cmp(&path));
            let suggestion = &found.suggestions[suggestion.map_err(|_| format!("{} was not found", path.display()))?];
            let directory = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let name = suggestion.name.as_deref().unwrap_or("");
            let version = directory.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
            let fits = version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()));
            assert!(fits && suggestion.is(Kind::CargoPackage), "{} is called `{name}`", path.display());
            crates += 1;
        }
    }
    Ok(crates)
}
