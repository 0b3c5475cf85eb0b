//! `cargo xtask tidy`: the house rules that neither the compiler nor clippy can check.
//!
//! A rule is a pure function over the files that git tracks or would add, so its tests need only a few made-up files.

mod links;
mod machine;
mod manifests;
mod promises;
mod protocol;
mod security;
mod source;
mod white_space;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use taskkit::call::Call;

/// The input of the rules.
#[derive(Debug, Default)]
struct Repository {
    /// The path of the checkout.
    top: String,
    /// The text files, sorted by path.
    files: Vec<File>,
    /// Every path, text or not.
    paths: BTreeSet<String>,
}

/// A text file.
#[derive(Debug)]
struct File {
    /// Relative to the top, with `/`.
    path: String,
    text: String,
}

/// A broken rule, and its place.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Finding {
    path: String,
    line: usize,
    says: String,
}

type Rule = fn(&Repository) -> Vec<Finding>;

const RULES: [Rule; 15] = [
    source::opens_with_its_purpose,
    source::is_short,
    source::is_finished,
    source::has_a_telling_name,
    source::has_no_tabs,
    source::is_safe,
    white_space::is_clean,
    machine::names_no_machine_path,
    machine::names_no_registry_host,
    security::names_its_test,
    manifests::inherit_the_lints,
    manifests::keep_the_layers,
    links::lead_somewhere,
    protocol::is_spoken_in_one_crate,
    promises::are_kept_or_explained,
];

/// Applies every rule. Returns a note for the table of steps.
pub(crate) fn run(top: &Path) -> Result<String> {
    let repository = Repository::read(top)?;
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&repository)).collect();
    findings.sort();
    for finding in &findings {
        println!("{}:{}: {}", finding.path, finding.line, finding.says);
    }
    match findings.len() {
        0 => Ok(format!("{} files tidy", repository.paths.len())),
        1 => bail!("one finding"),
        count => bail!("{count} findings"),
    }
}

impl Repository {
    fn read(top: &Path) -> Result<Repository> {
        let listed = Call::program("git")
            .arguments(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .stdout(top)
            .context("tidy needs git to list the files")?;
        let mut repository = Repository { top: top.display().to_string(), ..Repository::default() };
        for path in listed.split_terminator('\0') {
            // A file that was deleted but not yet staged is still listed.
            let place = top.join(path);
            if !place.is_file() {
                continue;
            }
            let bytes = fs::read(&place).with_context(|| format!("cannot read `{path}`"))?;
            repository.paths.insert(path.to_owned());
            if let Ok(text) = String::from_utf8(bytes)
                && !text.contains('\0')
            {
                repository.files.push(File { path: path.to_owned(), text });
            }
        }
        if repository.paths.is_empty() {
            bail!("git lists no files");
        }
        repository.files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(repository)
    }

    fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.has_extension("rs"))
    }

    /// A made-up repository for the rules' tests.
    #[cfg(test)]
    fn of(files: &[(&str, &str)]) -> Repository {
        let file = |&(path, text): &(&str, &str)| File { path: path.to_owned(), text: text.to_owned() };
        Repository {
            top: "/home/alice/src/rootward".to_owned(),
            files: files.iter().map(file).collect(),
            paths: files.iter().map(|(path, _)| (*path).to_owned()).collect(),
        }
    }
}

impl File {
    fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|own| own == extension)
    }

    fn is_called(&self, name: &str) -> bool {
        self.path.rsplit('/').next() == Some(name)
    }

    /// The lines with their numbers from one.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(position, line)| (position + 1, line))
    }

    fn finding(&self, line: usize, says: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line, says: says.into() }
    }
}

/// Applies `rule` to one made-up file and compares the lines of its findings.
#[cfg(test)]
fn check_lines(rule: Rule, path: &str, text: &str, lines: &[usize]) {
    let found: Vec<usize> = rule(&Repository::of(&[(path, text)])).iter().map(|finding| finding.line).collect();
    assert_eq!(found, lines, "{path}: {text:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_repository_is_read_from_git() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let repository = Repository::read(top).unwrap();
        assert!(repository.paths.contains("xtask/src/tidy.rs"));
        assert!(repository.rust_files().any(|file| file.path == "xtask/src/main.rs"));
        assert!(!repository.paths.iter().any(|path| path.starts_with("target/")));
    }
}
