//! For any file content, a detector returns: pieces of manifests in any order, cut anywhere.

use proptest::collection::vec;
use proptest::prelude::*;
use rootward_testkit::fuzz;

use super::of_file;
use crate::detect::found::More;

const FILES: [&str; 9] = [
    "Cargo.toml",
    "package.json",
    "pnpm-workspace.yaml",
    "pyproject.toml",
    "go.mod",
    "go.work",
    ".gitmodules",
    ".git",
    "a.code-workspace",
];

/// Pieces of the formats, and a few multi-byte characters.
const PIECES: [&str; 46] = [
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "\"",
    "'",
    ":",
    ",",
    "=",
    "-",
    "- ",
    "? ",
    "| ",
    "&a ",
    "*a",
    "!",
    "!!x ",
    "%",
    "#",
    "//",
    "/*",
    "*/",
    "\\",
    "\\u12",
    "\n",
    "\r\n",
    "\t",
    "  ",
    "ä",
    "\u{feff}",
    "\0",
    "\u{2028}",
    "name",
    "package",
    "packages",
    "workspace",
    "members",
    "[workspace]\n",
    "folders",
    "path",
    "gitdir: ",
    "/worktrees/",
    "modules",
    "use (",
];

#[test]
fn any_text_is_answered() {
    let text =
        vec(prop_oneof![8 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned), 1 => ".{0,3}"], 0..40);
    let file = proptest::sample::select(&FILES[..]);
    fuzz::run(&(file, text), |(file, text)| {
        let detector = of_file(file.as_bytes()).ok_or_else(|| TestCaseError::fail(file))?;
        for found in detector(file, &text.concat()) {
            prop_assert!(found.name.is_none_or(|name| !name.chars().any(char::is_control) && name.len() <= 128));
            if let More::Members(members) | More::Submodules(members) = found.more {
                members.into_matcher();
            }
        }
        Ok(())
    });
}
