//! Options that a recipe appends to a server's command.
//!
//! Some servers need options to work confined. An option is not added if the user already gave it, or gave one that
//! excludes it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Options that are appended together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Append {
    /// The options, one word each. An option that the user gave is skipped.
    pub arguments: Vec<String>,
    /// Options and variables. If the user gave one of these, nothing is added.
    pub unless: Vec<String>,
    /// Paths. If one of these exists, nothing is added.
    pub missing: Vec<PathBuf>,
}

/// The facts that decide whether options are added.
#[derive(Clone, Copy)]
pub struct LaunchFacts<'a> {
    /// Whether the user sets a variable for the server.
    pub is_set: &'a dyn Fn(&str) -> bool,
    /// Whether a path exists.
    pub exists: &'a dyn Fn(&Path) -> bool,
}

impl fmt::Debug for LaunchFacts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LaunchFacts")
    }
}

impl Append {
    /// The options to append to the server's own arguments.
    pub(super) fn added(&self, own: &[OsString], facts: LaunchFacts<'_>) -> Vec<OsString> {
        let is_given = |name: &str| own.iter().any(|word| gives(word, name));
        let is_excluded = |name: &String| if name.starts_with('-') { is_given(name) } else { (facts.is_set)(name) };
        let mut places = self.arguments.iter().flat_map(|argument| places(argument));
        if self.unless.iter().any(is_excluded)
            || self.missing.iter().any(|place| (facts.exists)(place))
            || !places.all(|place| (facts.exists)(place))
        {
            return Vec::new();
        }
        let kept = self.arguments.iter().filter(|argument| !is_given(option(argument)));
        kept.map(OsString::from).collect()
    }
}

/// The paths in an option's value.
pub(super) fn places(argument: &str) -> impl Iterator<Item = &Path> {
    argument.split('=').skip(1).filter(|value| value.starts_with(['/', '~'])).map(Path::new)
}

/// What identifies an option: its name, or the whole word if its value is itself an option for another program.
fn option(argument: &str) -> &str {
    match argument.split_once('=') {
        Some((name, value)) if !value.starts_with('-') => name,
        _ => argument,
    }
}

/// Whether a word from the user gives an option: `--x`, `--x=value`, `--no-x`.
fn gives(word: &OsStr, option: &str) -> bool {
    let word = word.as_bytes();
    let negated = option.strip_prefix("--").map(|name| format!("--no-{name}"));
    let names = |name: &[u8]| word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"="));
    names(option.as_bytes()) || negated.is_some_and(|negated| names(negated.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_says_counts_more() {
        let append = Append {
            arguments: ["--headless", "--arg=--no-sandbox", "--program=/usr/bin/it"].map(str::to_owned).to_vec(),
            unless: ["--connect", "IT_URL"].map(str::to_owned).to_vec(),
            missing: vec!["/opt/it".into()],
        };
        let check = |own: &str, set: Option<&str>, there: &[&str], expect: &str| {
            let own: Vec<OsString> = own.split_whitespace().map(OsString::from).collect();
            let is_set = |name: &str| Some(name) == set;
            let exists = |place: &Path| there.iter().any(|known| place == Path::new(known));
            let added = append.added(&own, LaunchFacts { is_set: &is_set, exists: &exists });
            let added: Vec<&str> = added.iter().map(|word| word.to_str().unwrap()).collect();
            assert_eq!(added.join(" "), expect, "{own:?} {set:?} {there:?}");
        };
        let (there, all) = (["/usr/bin/it"], "--headless --arg=--no-sandbox --program=/usr/bin/it");
        check("", None, &there, all);
        check("x --headlessly --connected", Some("OTHER"), &there, all);
        check("--arg=--other", None, &there, all);
        check("--headless", None, &there, "--arg=--no-sandbox --program=/usr/bin/it");
        check("--headless=false", None, &there, "--arg=--no-sandbox --program=/usr/bin/it");
        check("--no-headless", None, &there, "--arg=--no-sandbox --program=/usr/bin/it");
        check("--arg=--no-sandbox --program /x", None, &there, "--headless");
        check("--connect=there", None, &there, "");
        check("--connect there", None, &there, "");
        check("", Some("IT_URL"), &there, "");
        check("", None, &["/usr/bin/it", "/opt/it"], "");
        check("", None, &[], "");
    }
}
