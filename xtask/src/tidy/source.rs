//! Rules for Rust source files: each says its purpose, is short and finished, and has a meaningful name.

use super::{File, Finding, Repository};

/// About 400 lines is plenty. A file longer than this contains more than one concept.
const LONGEST: usize = 800;

/// Placeholders for missing work, debug output, and skipped tests. In pieces, so that this file does not contain them.
const UNFINISHED: [&str; 4] =
    [concat!("to", "do!("), concat!("unimpl", "emented!("), concat!("db", "g!("), concat!("#[ig", "nore")];

/// Names that say nothing about a file's contents.
const VAGUE: [&str; 9] = ["utils", "util", "common", "helpers", "helper", "types", "manager", "misc", "shared"];

/// A file opens with `//!`.
pub(super) fn opens_with_its_purpose(repository: &Repository) -> Vec<Finding> {
    let silent = |file: &&File| !file.text.starts_with("//!");
    let says = "the first line must be `//!`: what this is, why it exists";
    repository.rust_files().filter(silent).map(|file| file.finding(1, says)).collect()
}

/// A file is not too long.
pub(super) fn is_short(repository: &Repository) -> Vec<Finding> {
    let long = |file: &&File| file.text.lines().count() > LONGEST;
    let says = format!("more than {LONGEST} lines: split it by concept");
    repository.rust_files().filter(long).map(|file| file.finding(LONGEST + 1, says.as_str())).collect()
}

/// No placeholders, and no disabled tests.
pub(super) fn is_finished(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repository.rust_files() {
        for (number, line) in file.lines() {
            for word in UNFINISHED.iter().filter(|word| line.contains(**word)) {
                findings.push(file.finding(number, format!("`{word}` has no place in finished code")));
            }
            if line.contains("cfg_attr(") && line.contains(concat!(", ig", "nore")) {
                findings.push(file.finding(number, "a disabled test proves nothing"));
            }
        }
    }
    findings
}

/// A file's name says what it contains.
pub(super) fn has_a_telling_name(repository: &Repository) -> Vec<Finding> {
    let vague = |file: &&File| {
        file.path
            .trim_end_matches(".rs")
            .trim_end_matches("/mod")
            .rsplit('/')
            .next()
            .is_some_and(|stem| VAGUE.contains(&stem))
    };
    repository.rust_files().filter(vague).map(|file| file.finding(1, "the file's name says nothing")).collect()
}

/// Only one file, and the tests of its crate, may allow unsafe code.
pub(super) fn is_safe(repository: &Repository) -> Vec<Finding> {
    // As the first lint of an attribute, as a later one, or on a separate line.
    let lifts = [concat!("(unsafe", "_code"), concat!(", unsafe", "_code"), concat!("    unsafe", "_code,")];
    let may = |file: &File| {
        file.path == "crates/rootward-sandbox/src/sys.rs" || file.path.starts_with("crates/rootward-sandbox/tests/")
    };
    let mut findings = Vec::new();
    for file in repository.rust_files().filter(|file| !may(file)) {
        let lifted = file.lines().filter(|(_, line)| lifts.iter().any(|lift| line.contains(lift)));
        findings.extend(
            lifted.map(|(number, _)| file.finding(number, "unsafe code belongs in rootward-sandbox's `sys.rs`")),
        );
    }
    findings
}

/// Indentation is spaces.
pub(super) fn has_no_tabs(repository: &Repository) -> Vec<Finding> {
    repository
        .rust_files()
        .flat_map(|file| file.lines().map(move |(number, line)| (file, number, line)))
        .filter(|(_, _, line)| line.contains('\t'))
        .map(|(file, number, _)| file.finding(number, "a tab: write `\\t` in a string, spaces elsewhere"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::check_lines;
    use super::*;

    #[test]
    fn a_file_without_its_purpose_is_found() {
        check_lines(opens_with_its_purpose, "a.rs", "//! Says it.\n", &[]);
        check_lines(opens_with_its_purpose, "a.rs", "// Says it.\n", &[1]);
        check_lines(opens_with_its_purpose, "a.rs", "\n//! Too late.\n", &[1]);
        check_lines(opens_with_its_purpose, "a.rs", "", &[1]);
        check_lines(opens_with_its_purpose, "a.md", "no Rust", &[]);
    }

    #[test]
    fn a_long_file_is_found() {
        check_lines(is_short, "a.rs", &"x\n".repeat(LONGEST), &[]);
        check_lines(is_short, "a.rs", &"x\n".repeat(LONGEST + 1), &[LONGEST + 1]);
        check_lines(is_short, "a.md", &"x\n".repeat(LONGEST + 1), &[]);
    }

    #[test]
    fn unfinished_code_is_found() {
        for word in UNFINISHED {
            check_lines(is_finished, "a.rs", &format!("//!\n    {word}"), &[2]);
        }
        check_lines(is_finished, "a.rs", &format!("#[cfg_attr(miri{})]", concat!(", ig", "nore")), &[1]);
        check_lines(is_finished, "a.rs", "use ignore::gitignore;\nlet todo = debug!();", &[]);
    }

    #[test]
    fn a_vague_name_is_found() {
        check_lines(has_a_telling_name, "crates/a/src/utils.rs", "", &[1]);
        check_lines(has_a_telling_name, "crates/a/src/common/mod.rs", "", &[1]);
        check_lines(has_a_telling_name, "types.rs", "", &[1]);
        check_lines(has_a_telling_name, "crates/a/src/types_of_roots.rs", "", &[]);
        check_lines(has_a_telling_name, "crates/common/src/walk.rs", "", &[]);
    }

    #[test]
    fn unsafe_code_is_found() {
        let lifts = concat!("//!\n#![expect(unsafe", "_code, reason = \"fast\")]");
        check_lines(is_safe, "crates/rootward-core/src/os.rs", lifts, &[2]);
        check_lines(is_safe, "crates/rootward-sandbox/src/launch.rs", lifts, &[2]);
        check_lines(is_safe, "crates/rootward-sandbox/src/sys.rs", lifts, &[]);
        check_lines(is_safe, "crates/rootward-sandbox/tests/it/scene.rs", lifts, &[]);
    }

    #[test]
    fn a_tab_is_found() {
        check_lines(has_no_tabs, "a.rs", "//!\n\tlet x;\n", &[2]);
        check_lines(has_no_tabs, "a.rs", "let x = '\\t';\n", &[]);
        check_lines(has_no_tabs, "Makefile", "\tmake\n", &[]);
    }
}
