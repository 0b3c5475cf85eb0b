//! These tests run every command in the documentation unchanged, and compare its output with what the page shows.
//!
//! A `sh` block holds commands that must succeed. A `console` block holds commands after `$ `, each with its output. The commands of a
//! page run in order, in one shell. A table lists those that cannot run here, with the reason ([`exceptions`]). Commands in a sentence
//! or in a `text` block are not run, but their verbs and flags must exist ([`words`]).

mod exceptions;
mod markdown;
mod running;
mod words;
mod world;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use exceptions::EXCEPTIONS;
use markdown::{Page, is_command};
use words::Verbs;

/// The top of the repository.
fn top() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// All pages, sorted by path.
fn pages() -> Vec<Page> {
    let mut found = Vec::new();
    look(Path::new(""), &mut found);
    found.sort();
    assert!(found.len() > 40, "only {} pages were found", found.len());
    found
        .iter()
        .map(|path| Page::read(path.to_str().unwrap(), &fs::read_to_string(top().join(path)).unwrap()))
        .collect()
}

fn look(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(top().join(folder)).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let path = folder.join(&name);
        if entry.file_type().unwrap().is_dir() {
            if !name.starts_with('.') && !["target", "node_modules", "testdata"].contains(&name.as_str()) {
                look(&path, found);
            }
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

#[test]
fn commands_of_every_page_run() {
    let failures: Vec<String> = pages().iter().filter_map(|page| running::run(page).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn every_exception_is_still_needed() {
    let pages = pages();
    for exception in EXCEPTIONS {
        let page = pages.iter().find(|page| page.path == exception.page);
        let lines = page.into_iter().flat_map(Page::commands);
        let used = lines.filter(|line| line.starts_with(exception.line)).count();
        assert!(used > 0, "{} no longer has the command `{}`", exception.page, exception.line);
    }
    // Each replacement is a command in CONTRIBUTING.md, or a test.
    let known = fs::read_to_string(top().join("CONTRIBUTING.md")).unwrap();
    for place in EXCEPTIONS.iter().filter_map(exceptions::Exception::runs_elsewhere) {
        let is_test =
            place.strip_suffix(".rs").is_some() && top().join("crates/rootward/tests/it").join(place).is_file();
        assert!(is_test || known.contains(&format!("`{place}")), "`{place}` is neither a test nor in CONTRIBUTING.md");
    }
}

/// No test would run a command in a block without a language.
#[test]
fn commands_are_in_blocks_that_are_run() {
    // The pages of the tools show answers, which another check compares (`cargo xtask files`).
    for page in pages().into_iter().filter(|page| !page.path.starts_with("docs/tools/")) {
        for block in page.blocks.iter().filter(|block| block.language.is_empty()) {
            for line in block.text.lines() {
                assert!(
                    !is_command(line),
                    "{}:{}: mark the block as `sh`, `console` or `text`: {line}",
                    page.path,
                    block.line
                );
            }
        }
    }
}

#[test]
fn commands_in_sentences_exist() {
    let verbs = Verbs::of_program();
    let mut checked = BTreeSet::new();
    for page in pages() {
        let lines = page.blocks.iter().filter(|block| block.language == "text").flat_map(|block| block.text.lines());
        for command in page.inline.iter().map(String::as_str).chain(lines) {
            // Another program follows a pipe.
            let own = command.split(" | ").next().unwrap_or(command);
            if let Some(words) = own.strip_prefix("rootward ") {
                let wrong = verbs.judge(words).err();
                assert!(wrong.is_none(), "{}: `{command}`: {}", page.path, wrong.unwrap_or_default());
                checked.insert(command.to_owned());
            }
        }
    }
    assert!(checked.len() > 50, "only {} commands were found", checked.len());
}
