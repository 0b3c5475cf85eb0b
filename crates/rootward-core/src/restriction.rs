//! Places that stay closed, or closed for writing, whatever root holds them.
//!
//! A restriction belongs to a place: it is matched against the resolved, absolute path and each directory above it, so no
//! link and no other spelling of a root gets around it. Names are compared without regard to ASCII case, because some
//! file systems do so, and closing too much is the safe mistake.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use globset::{Candidate, Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use thiserror::Error;

use crate::access::Access;
use crate::places;
use crate::root::Origin;
use crate::tree::components;

/// Rootward's own settings, store and audit log, at their usual places: never inside a grant, whoever names them.
const OWN: &[&str] = &[".config/rootward", ".local/state/rootward"];

/// How far a place is closed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Closed {
    /// For every access.
    Entirely,
    /// For writing and deleting.
    ForWriting,
}

impl Closed {
    /// The access that is taken away.
    pub const fn access(self) -> Access {
        match self {
            Closed::Entirely => Access::ALL,
            Closed::ForWriting => Access::READ_WRITE.without(Access::READ),
        }
    }
}

/// Whether a restriction covers what lies below its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Reach {
    Below,
    EntryOnly,
}

/// Whether the operator lifts a restriction by naming a root at or below its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Holds {
    Always,
    UnlessNamedByOperator,
}

/// One rule.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Restriction {
    /// As it is shown.
    pattern: String,
    /// As it is matched, against an absolute path.
    glob: String,
    closed: Closed,
    reach: Reach,
    holds: Holds,
}

impl Restriction {
    /// Closes whatever `glob` matches, at any depth: `*.pem`, `private/keys`.
    pub fn anywhere(glob: &str, closed: Closed) -> Restriction {
        let matched = format!("**/{}", glob.trim_start_matches('/'));
        Restriction { pattern: glob.into(), glob: matched, closed, reach: Reach::Below, holds: Holds::Always }
    }

    /// Closes what `glob` matches below `place`. A glob with a `/` counts from `place`, another matches at any depth.
    pub fn below(place: &Path, glob: &str, closed: Closed) -> Result<Restriction, RestrictionError> {
        let anchor = globset::escape(utf8(place)?.trim_end_matches('/'));
        let between = if glob.trim_end_matches('/').contains('/') { "" } else { "**/" };
        let matched = format!("{anchor}/{between}{}", glob.trim_start_matches('/'));
        Ok(Restriction { pattern: glob.into(), glob: matched, closed, reach: Reach::Below, holds: Holds::Always })
    }

    /// Closes one place and all below it.
    pub fn place(place: &Path, closed: Closed) -> Result<Restriction, RestrictionError> {
        let text = utf8(place)?;
        let glob = globset::escape(text.trim_end_matches('/'));
        Ok(Restriction { pattern: text.into(), glob, closed, reach: Reach::Below, holds: Holds::Always })
    }

    /// What is closed below any root unless something else is said: secret places, and places that run code for the user.
    /// The operator lifts one by naming a root at or below its place; a client cannot.
    pub fn standard() -> Vec<Restriction> {
        let rule = |pattern: &&str, closed, reach| Restriction {
            pattern: (*pattern).into(),
            glob: format!("**/{pattern}"),
            closed,
            reach,
            holds: Holds::UnlessNamedByOperator,
        };
        let secret = places::SECRET.iter().map(|place| rule(place, Closed::Entirely, Reach::Below));
        let code = places::RUNS_CODE.iter().map(|place| rule(place, Closed::ForWriting, Reach::Below));
        // Replacing `.git` itself would replace its hooks: a file `.git` may point to any directory (gitrepository-layout(5)).
        let git = rule(&".git", Closed::ForWriting, Reach::EntryOnly);
        let own =
            OWN.iter().map(|place| Restriction { holds: Holds::Always, ..rule(place, Closed::Entirely, Reach::Below) });
        secret.chain(code).chain([git]).chain(own).collect()
    }

    /// The pattern as it was given.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// How far its place is closed.
    pub fn closed(&self) -> Closed {
        self.closed
    }
}

fn utf8(place: &Path) -> Result<&str, RestrictionError> {
    place.to_str().ok_or_else(|| RestrictionError::NotUtf8(place.into()))
}

/// Why a restriction cannot be set up.
#[derive(Error, Debug)]
pub enum RestrictionError {
    /// The pattern is no glob.
    #[error("not a usable restriction: `{pattern}` ({source})")]
    Glob {
        /// As it was given.
        pattern: String,
        /// What `globset` says.
        source: globset::Error,
    },
    /// A place whose name is not UTF-8 cannot be part of a pattern.
    #[error("not a usable restriction: `{}` (the name is not UTF-8)", .0.display())]
    NotUtf8(PathBuf),
}

/// A compiled list of restrictions.
#[derive(Clone, Debug)]
pub struct Restrictions {
    rules: Vec<Restriction>,
    globs: GlobSet,
    last_names: LastNames,
}

/// The last components of all patterns: lets nearly every path pass without asking the globs.
#[derive(Clone, Debug)]
struct LastNames {
    /// For each first byte, in lower case: a bit for each length that a name with it has.
    lengths: [u64; 256],
    names: HashSet<Box<[u8]>>,
    /// Set when a pattern's last component is no literal, or a very long one: then every name may match.
    any: bool,
}

impl LastNames {
    fn new() -> LastNames {
        LastNames { lengths: [0; 256], names: HashSet::new(), any: false }
    }

    fn add(&mut self, glob: &str) {
        let last = glob.trim_end_matches('/').rsplit('/').next().unwrap_or(glob).to_ascii_lowercase().into_bytes();
        let Some(first) = last.first() else { return };
        if last.len() >= 64 || last.iter().any(|byte| b"*?[]{}\\!".contains(byte)) {
            self.any = true;
            return;
        }
        self.lengths[usize::from(*first)] |= 1 << last.len();
        self.names.insert(last.into());
    }

    fn may_match(&self, name: &[u8]) -> bool {
        if self.any {
            return true;
        }
        let Some(first) = name.first() else { return false };
        if name.len() >= 64 || self.lengths[usize::from(first.to_ascii_lowercase())] >> name.len() & 1 == 0 {
            return false;
        }
        self.names.contains(name.to_ascii_lowercase().as_slice())
    }
}

/// What the restrictions take away at a place, and the first rule that does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken<'r> {
    pub(crate) access: Access,
    pub(crate) rule: Option<&'r Restriction>,
}

impl Restrictions {
    /// Compiles a list.
    pub fn new(rules: Vec<Restriction>) -> Result<Restrictions, RestrictionError> {
        let mut globs = GlobSetBuilder::new();
        let mut last_names = LastNames::new();
        for rule in &rules {
            globs.add(compile(rule)?);
            last_names.add(&rule.glob);
        }
        let globs = globs.build().map_err(|source| RestrictionError::Glob { pattern: "(all)".into(), source })?;
        Ok(Restrictions { rules, globs, last_names })
    }

    /// An empty list: nothing below a root is closed. For those who look after that themselves.
    pub fn none() -> Restrictions {
        Restrictions { rules: Vec::new(), globs: GlobSet::empty(), last_names: LastNames::new() }
    }

    /// The standard list, compiled once.
    pub fn standard() -> Arc<Restrictions> {
        static STANDARD: LazyLock<Arc<Restrictions>> = LazyLock::new(|| {
            #[expect(clippy::expect_used, reason = "constant patterns, compiled by every test of this crate")]
            Arc::new(Restrictions::new(Restriction::standard()).expect("the standard restrictions compile"))
        });
        Arc::clone(&STANDARD)
    }

    /// Whether any rule's place can end in this name.
    pub(crate) fn may_end_in(&self, name: &[u8]) -> bool {
        self.last_names.may_match(name)
    }

    /// The rules.
    pub fn rules(&self) -> &[Restriction] {
        &self.rules
    }

    /// What is taken away at `rest` below `root`, counting places strictly below the root. `rest` is resolved.
    pub(crate) fn taken_below(&self, root: &[u8], rest: &[u8]) -> Taken<'_> {
        let mut taken = Taken { access: Access::NONE, rule: None };
        let root = root.strip_suffix(b"/").unwrap_or(root);
        for (component, behind) in components(rest) {
            if self.last_names.may_match(component) {
                let place = [root, b"/", &rest[..behind]].concat();
                let leaf = behind == rest.len();
                self.take(&mut taken, &place, |rule| leaf || rule.reach == Reach::Below);
            }
        }
        taken
    }

    /// What is taken away everywhere in a root because it lies at or below a closed place.
    pub(crate) fn taken_at_root(&self, root: &[u8], origin: Origin) -> Taken<'_> {
        let mut taken = Taken { access: Access::NONE, rule: None };
        for (_, behind) in components(root) {
            self.take(&mut taken, &root[..behind], |rule| {
                // SECURITY: only the operator lifts a restriction by naming what lies in it, never a client
                // (test: a_client_cannot_lift_a_restriction_by_naming_it)
                rule.reach == Reach::Below && (rule.holds == Holds::Always || origin == Origin::Client)
            });
        }
        taken
    }

    fn take<'r>(&'r self, taken: &mut Taken<'r>, place: &[u8], counts: impl Fn(&Restriction) -> bool) {
        let candidate = Candidate::new(Path::new(OsStr::from_bytes(place)));
        for rule in self.globs.matches_candidate(&candidate) {
            let rule = &self.rules[rule];
            if counts(rule) {
                taken.access = taken.access | rule.closed.access();
                taken.rule.get_or_insert(rule);
            }
        }
    }
}

fn compile(rule: &Restriction) -> Result<Glob, RestrictionError> {
    GlobBuilder::new(rule.glob.trim_end_matches('/'))
        .literal_separator(true)
        .case_insensitive(true)
        .backslash_escape(true)
        .build()
        .map_err(|source| RestrictionError::Glob { pattern: rule.pattern.clone(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(rules: Vec<Restriction>, root: &str, rest: &str) -> String {
        let restrictions = Restrictions::new(rules).unwrap();
        restrictions.taken_below(root.as_bytes(), rest.as_bytes()).access.to_string()
    }

    #[test]
    fn standard_places() {
        const ALL: &str = "read, write, execute, delete";
        let check = |root: &str, rest: &str, expect: &str| {
            assert_eq!(taken(Restriction::standard(), root, rest), expect, "{root} {rest}");
        };
        check("/p", "src/main.rs", "none");
        check("/h", ".ssh", ALL);
        check("/h", ".ssh/id_ed25519", ALL);
        check("/h", ".SSH/id_ed25519", ALL);
        check("/h", "x/.ssh.bak/id", "none");
        check("/p", ".git/hooks/pre-commit", "write, delete");
        check("/p/.git", "hooks/pre-commit", "write, delete");
        check("/p/.git", "config", "write, delete");
        check("/p", "config", "none");
        check("/p", ".git/objects/ab", "none");
        check("/p", ".git", "write, delete");
        check("/p", ".git/modules/a/b/hooks/x", "write, delete");
        check("/p", ".vscode/tasks.json", "write, delete");
        check("/h", ".bashrc", "write, delete");
        check("/h", ".config/rootward/roots.toml", ALL);
    }

    #[test]
    fn globs_of_the_user() {
        let check = |rule: Restriction, rest: &str, expect: bool| {
            let pattern = rule.pattern().to_owned();
            assert_eq!(taken(vec![rule], "/p", rest) != "none", expect, "{pattern} {rest}");
        };
        let below = |glob| Restriction::below(Path::new("/p"), glob, Closed::Entirely).unwrap();
        check(below("*.pem"), "a/b/key.pem", true);
        check(below("*.pem"), "a/b/key.pem.txt", false);
        check(below("*.pem"), "dir.pem/inner", true);
        check(below("secrets/**"), "secrets/a/b", true);
        check(below("secrets/**"), "x/secrets/a", false);
        check(below("secrets"), "x/secrets/a", true);
        check(below("/secrets"), "x/secrets/a", false);
        check(below("/secrets"), "secrets/a", true);
        check(Restriction::anywhere("private/keys", Closed::Entirely), "x/private/keys/k", true);
        let place = vec![Restriction::place(Path::new("/h/own"), Closed::Entirely).unwrap()];
        assert_ne!(taken(place, "/", "h/own/x"), "none", "also where `/` itself is the root");
        check(Restriction::place(Path::new("/p/a[1]"), Closed::Entirely).unwrap(), "a[1]/x", true);
        check(Restriction::place(Path::new("/p/a[1]"), Closed::Entirely).unwrap(), "a1/x", false);
        assert!(Restrictions::new(vec![Restriction::anywhere("a[", Closed::Entirely)]).is_err());
    }

    #[test]
    fn a_client_cannot_lift_a_restriction_by_naming_it() {
        let restrictions = Restrictions::new(Restriction::standard()).unwrap();
        let at = |place: &str, origin| restrictions.taken_at_root(place.as_bytes(), origin).access.to_string();
        assert_eq!(at("/p/.git/hooks", Origin::Client), "write, delete");
        assert_eq!(at("/p/.git/hooks/sub", Origin::Client), "write, delete");
        assert_eq!(at("/p/.git/hooks", Origin::Flag), "none");
        assert_eq!(at("/p", Origin::Client), "none");
        assert_eq!(at("/h/.config/rootward", Origin::Flag), "read, write, execute, delete");
    }
}
