//! Places that stay closed, or closed for writing, whatever root holds them.
//!
//! A restriction belongs to a place: it is matched against the resolved, absolute path and each directory above it, so no
//! link and no other spelling of a root gets around it. Names are compared without regard to ASCII case, because some
//! file systems do so, and closing too much is the safe mistake.

mod last_names;
mod pattern;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};

use thiserror::Error;

use crate::access::Access;
use crate::places;
use crate::root::{Origin, RootKind};
use crate::tree::components;
use last_names::LastNames;
use pattern::Pattern;

/// Rootward's own settings, store, audit log and cache, at their usual places: never inside a grant, whoever names them.
const OWN: &[&str] = &[".config/rootward", ".local/state/rootward", ".cache/rootward"];

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

/// Why a place is closed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// It holds secrets.
    Secret,
    /// It runs code for the user.
    RunsCode,
    /// A project keeps secrets in it that its own programs need: refused in calls, left open by the kernel.
    Guarded,
    /// It is Rootward's own.
    Own,
    /// The operator or the user closed it.
    Chosen,
}

impl Class {
    /// The word for it, in tables and in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Class::Secret => "secret",
            Class::RunsCode => "runs-code",
            Class::Guarded => "guarded",
            Class::Own => "own",
            Class::Chosen => "chosen",
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
#[derive(Clone, Debug)]
pub struct Restriction {
    /// As it is shown.
    shown: Cow<'static, str>,
    pattern: Pattern,
    class: Class,
    closed: Closed,
    reach: Reach,
    holds: Holds,
    /// The place itself, if it protects Rootward's own files.
    own: Option<Box<Path>>,
}

impl Restriction {
    fn new(shown: &str, pattern: Pattern, closed: Closed) -> Restriction {
        let (shown, reach, holds) = (shown.to_owned().into(), Reach::Below, Holds::Always);
        Restriction { shown, pattern, class: Class::Chosen, closed, reach, holds, own: None }
    }

    /// Closes whatever `glob` matches, at any depth: `*.pem`, `private/keys`.
    pub fn anywhere(glob: &str, closed: Closed) -> Result<Restriction, RestrictionError> {
        let below = glob.trim_start_matches('/');
        let pattern = if is_literal(below) { Ok(Pattern::names(below)) } else { Pattern::glob(&format!("**/{below}")) };
        Ok(Restriction::new(glob, pattern.map_err(|source| bad(glob, source))?, closed))
    }

    /// Closes what `glob` matches below `place`, which is resolved. A glob with a `/` counts from `place`, another matches
    /// at any depth.
    pub fn below(place: &Path, glob: &str, closed: Closed) -> Result<Restriction, RestrictionError> {
        let text = place.to_str().ok_or_else(|| RestrictionError::NotUtf8(place.into()))?;
        let anchored = glob.trim_end_matches('/').contains('/');
        if anchored && is_literal(glob) {
            return Ok(Restriction::new(glob, Pattern::place(&place.join(glob.trim_start_matches('/'))), closed));
        }
        let between = if anchored { "" } else { "**/" };
        let anchor = globset::escape(text.trim_end_matches('/'));
        let pattern = Pattern::glob(&format!("{anchor}/{between}{}", glob.trim_start_matches('/')));
        Ok(Restriction::new(glob, pattern.map_err(|source| bad(glob, source))?, closed))
    }

    /// Closes one place, which is resolved, and all below it.
    pub fn place(place: &Path, closed: Closed) -> Restriction {
        Restriction::new(&place.display().to_string(), Pattern::place(place), closed)
    }

    /// Closes one of Rootward's own places, which is resolved, and all below it. A wall holds it before it exists, too.
    pub fn own(place: &Path) -> Restriction {
        Restriction { own: Some(place.into()), class: Class::Own, ..Restriction::place(place, Closed::Entirely) }
    }

    /// Closes a link on the way to one of Rootward's own places: a link that leads elsewhere would bring other settings.
    pub fn own_link(link: &Path) -> Restriction {
        let (own, class) = (Some(link.into()), Class::Own);
        Restriction { own, class, reach: Reach::EntryOnly, ..Restriction::place(link, Closed::ForWriting) }
    }

    /// What is closed below any root unless something else is said: secret places, places that run code for the user, guarded files.
    /// The operator lifts one by naming a root at or below its place; a client cannot.
    pub fn standard() -> Vec<Restriction> {
        let rule = |names: &&'static str, class, closed| Restriction {
            shown: Cow::Borrowed(names),
            pattern: Pattern::written(names),
            class,
            closed,
            reach: Reach::Below,
            holds: Holds::UnlessNamedByOperator,
            own: None,
        };
        let secret = places::SECRET.iter().map(|names| rule(names, Class::Secret, Closed::Entirely));
        // SECURITY: what a project keeps secrets in is read by no call (test: guarded_files)
        let guarded = places::GUARDED.iter().map(|names| rule(names, Class::Guarded, Closed::Entirely));
        let code = places::RUNS_CODE.iter().map(|names| rule(names, Class::RunsCode, Closed::ForWriting));
        // Replacing `.git` itself would replace its hooks: a file `.git` may point to any directory (gitrepository-layout(5)).
        let git = Restriction { reach: Reach::EntryOnly, ..rule(&".git", Class::RunsCode, Closed::ForWriting) };
        let own =
            OWN.iter().map(|names| Restriction { holds: Holds::Always, ..rule(names, Class::Own, Closed::Entirely) });
        secret.chain(code).chain([git]).chain(guarded).chain(own).collect()
    }

    /// The pattern as it was given.
    pub fn pattern(&self) -> &str {
        &self.shown
    }

    /// Why its place is closed.
    pub fn class(&self) -> Class {
        self.class
    }

    /// How far its place is closed.
    pub fn closed(&self) -> Closed {
        self.closed
    }

    /// The place, if it protects Rootward's own files.
    pub fn own_place(&self) -> Option<&Path> {
        self.own.as_deref()
    }
}

/// Whether a pattern is plain names.
fn is_literal(glob: &str) -> bool {
    !glob.contains(['*', '?', '[', ']', '{', '}', '\\', '!'])
        && !glob.split('/').any(|name| name == "." || name == "..")
}

fn bad(pattern: &str, source: globset::Error) -> RestrictionError {
    RestrictionError::Glob { pattern: pattern.into(), source }
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
    /// A place whose name is not UTF-8 cannot be part of a glob.
    #[error("not a usable restriction: `{}` (the name is not UTF-8)", .0.display())]
    NotUtf8(PathBuf),
}

/// A list of restrictions, ready to be asked.
#[derive(Clone, Debug)]
pub struct Restrictions {
    rules: Vec<Restriction>,
    /// The rules by the names that their places end in.
    ends: LastNames,
    /// The directories that hold such a place, as far as rules name them. Only renaming asks, so they wait for the first to ask.
    holders: OnceLock<Vec<Pattern>>,
}

/// Whom a restriction is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum KeptFrom {
    /// A call that names the path.
    Calls,
    /// A process, which the kernel confines.
    Processes,
}

impl KeptFrom {
    fn counts(self, rule: &Restriction) -> bool {
        self == KeptFrom::Calls || rule.class != Class::Guarded
    }
}

/// What the restrictions take away at a place, and the first rule that does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken<'r> {
    pub(crate) access: Access,
    pub(crate) rule: Option<&'r Restriction>,
}

impl Restrictions {
    /// Gets a list ready.
    pub fn new(rules: Vec<Restriction>) -> Restrictions {
        let ends = LastNames::new(rules.iter().map(|rule| &rule.pattern));
        Restrictions { rules, ends, holders: OnceLock::new() }
    }

    /// An empty list: nothing below a root is closed. For those who look after that themselves.
    pub fn none() -> Restrictions {
        Restrictions::new(Vec::new())
    }

    /// The standard list, made once.
    pub fn standard() -> Arc<Restrictions> {
        static STANDARD: LazyLock<Arc<Restrictions>> =
            LazyLock::new(|| Arc::new(Restrictions::new(Restriction::standard())));
        Arc::clone(&STANDARD)
    }

    /// The rules that hold for processes, too: all but those for guarded files.
    #[must_use]
    pub fn for_processes(&self) -> Restrictions {
        Restrictions::new(self.rules.iter().filter(|rule| rule.class != Class::Guarded).cloned().collect())
    }

    /// The rules.
    pub fn rules(&self) -> &[Restriction] {
        &self.rules
    }

    /// Whether any rule's place can end in this name.
    pub(crate) fn may_end_in(&self, name: &[u8]) -> bool {
        self.ends.may_be(name)
    }

    /// Whether a place is a directory that rules name on the way to theirs: what stands there decides what they hold.
    pub(crate) fn may_hold(&self, place: &[u8]) -> bool {
        let names: Vec<&[u8]> = components(place).map(|(name, _)| name).collect();
        let holders = || self.rules.iter().flat_map(|rule| rule.pattern.holders()).collect();
        self.holders.get_or_init(holders).iter().any(|holder| holder.matches(place, &names))
    }

    /// What is taken away at `rest` below `root`, counting places strictly below the root. `rest` is resolved.
    pub(crate) fn taken_below(&self, root: &[u8], rest: &[u8]) -> Taken<'_> {
        self.kept_from(KeptFrom::Calls, root, rest)
    }

    /// The same for processes, from which guarded files are not kept.
    pub(crate) fn taken_from_processes(&self, root: &[u8], rest: &[u8]) -> Taken<'_> {
        self.kept_from(KeptFrom::Processes, root, rest)
    }

    fn kept_from(&self, kept_from: KeptFrom, root: &[u8], rest: &[u8]) -> Taken<'_> {
        let nothing = Taken { access: Access::NONE, rule: None };
        if !components(rest).any(|(name, _)| self.ends.may_be(name)) {
            return nothing;
        }
        let place = [root.strip_suffix(b"/").unwrap_or(root), b"/", rest].concat();
        let above = components(root).count();
        self.taken(&place, above, |rule, leaf| (leaf || rule.reach == Reach::Below) && kept_from.counts(rule))
    }

    /// What is taken away everywhere in a root because it lies at or below a closed place.
    pub(crate) fn taken_at_root(&self, root: &[u8], kind: RootKind, origin: Origin) -> Taken<'_> {
        self.taken(root, 0, |rule, leaf| {
            let covers = rule.reach == Reach::Below || leaf && kind == RootKind::File;
            // SECURITY: only the operator lifts a restriction by naming what lies in it, never a client
            // (test: a_client_cannot_lift_a_restriction_by_naming_it)
            covers && (rule.holds == Holds::Always || origin == Origin::Client)
        })
    }

    /// What is taken away by the rules that match `place` or a directory on the way to it, past the first `above` names.
    fn taken(&self, place: &[u8], above: usize, counts: impl Fn(&Restriction, bool) -> bool) -> Taken<'_> {
        let mut taken = Taken { access: Access::NONE, rule: None };
        let names: Vec<(&[u8], usize)> = components(place).collect();
        let only_names: Vec<&[u8]> = names.iter().map(|(name, _)| *name).collect();
        for (index, (name, behind)) in names.iter().enumerate().skip(above) {
            if taken.access == Access::ALL || !self.ends.may_be(name) {
                continue;
            }
            for rule in self.ends.of(name).map(|rule| &self.rules[rule]) {
                let leaf = index + 1 == names.len();
                let open = rule.class == Class::Guarded && places::is_template(name);
                if !open && counts(rule, leaf) && rule.pattern.matches(&place[..*behind], &only_names[..=index]) {
                    taken.access = taken.access | rule.closed.access();
                    taken.rule.get_or_insert(rule);
                }
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(rules: Vec<Restriction>, root: &str, rest: &str) -> String {
        let restrictions = Restrictions::new(rules);
        restrictions.taken_below(root.as_bytes(), rest.as_bytes()).access.to_string()
    }

    #[test]
    fn what_is_written_down_is_plain_names() {
        for rule in Restriction::standard() {
            let names: Vec<&str> = rule.pattern().split('/').collect();
            assert!(names.iter().all(|name| !matches!(*name, "" | "." | ".." | "*")), "{}", rule.pattern());
        }
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
        check("/h", ".cache/rootward/packages", ALL);
        check("/p", ".npmrc", "write, delete");
        check("/p", "web/.yarnrc.yml", "write, delete");
        check("/p", ".gitattributes", "write, delete");
        check("/p", "My.code-workspace", "write, delete");
        check("/p", ".code-workspaces", "none");
        check("/p", ".pre-commit-config.yaml", "write, delete");
    }

    #[test]
    fn guarded_files() {
        const ALL: &str = "read, write, execute, delete";
        let standard = Restrictions::standard();
        let check = |rest: &str, expect: &str| {
            let taken = standard.taken_below(b"/p", rest.as_bytes());
            assert_eq!(taken.access.to_string(), expect, "{rest}");
            let from_processes = standard.taken_from_processes(b"/p", rest.as_bytes());
            assert_eq!(from_processes.access, Access::NONE, "{rest}");
        };
        for name in
            [".env", ".ENV", ".env.local", ".env.production", ".env.example.local", "tls.pem", "TLS.PEM", ".pem"]
        {
            check(name, ALL);
            check(&format!("a/b/{name}"), ALL);
        }
        for name in ["id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk"] {
            check(name, ALL);
            check(&format!("{name}.pub"), "none");
        }
        check("terraform.tfstate", ALL);
        check("infra/terraform.tfstate.backup", ALL);
        for name in [
            ".env.example",
            ".env.sample",
            ".env.template",
            ".env.dist",
            ".env.local.example",
            ".ENV.Example",
            ".environment",
            "env",
            "x.env",
            ".env_",
            "pem",
            "a.pem.txt",
            "id_",
            "my_id_rsa",
            "main.tf",
            "terraform.tfstate.d",
        ] {
            check(name, "none");
        }
        let sealed = format!("{}.pem", "n".repeat(200));
        check(&sealed, ALL);
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
        check(Restriction::anywhere("private/keys", Closed::Entirely).unwrap(), "x/private/keys/k", true);
        let place = vec![Restriction::place(Path::new("/h/own"), Closed::Entirely)];
        assert_ne!(taken(place, "/", "h/own/x"), "none", "also where `/` itself is the root");
        let glob = vec![Restriction::below(Path::new("/h"), "own/*", Closed::Entirely).unwrap()];
        assert_ne!(taken(glob, "/", "h/own/x"), "none", "also where `/` itself is the root");
        check(Restriction::place(Path::new("/p/a[1]"), Closed::Entirely), "a[1]/x", true);
        check(Restriction::place(Path::new("/p/a[1]"), Closed::Entirely), "a1/x", false);
        assert!(Restriction::anywhere("a[", Closed::Entirely).is_err());
    }

    #[test]
    fn what_may_hold_a_closed_place() {
        let mut rules = Restriction::standard();
        rules.push(Restriction::below(Path::new("/p"), "keys/*/private", Closed::Entirely).unwrap());
        rules.push(Restriction::anywhere("*.pem", Closed::Entirely).unwrap());
        let restrictions = Restrictions::new(rules);
        for holder in
            ["/p/.git", "/p/.hg", "/h/.config", "/h/.local/share", "/p/.git/modules/x/y", "/p/keys", "/p/keys/a"]
        {
            assert!(restrictions.may_hold(holder.as_bytes()), "{holder}");
        }
        for other in ["/p/src", "/p/.ssh", "/p/keys/a/b", "/p/modules"] {
            assert!(!restrictions.may_hold(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_client_cannot_lift_a_restriction_by_naming_it() {
        let restrictions = Restrictions::new(Restriction::standard());
        let at = |place: &str, origin| {
            restrictions.taken_at_root(place.as_bytes(), RootKind::Directory, origin).access.to_string()
        };
        assert_eq!(at("/p/.git/hooks", Origin::Client), "write, delete");
        assert_eq!(at("/p/.git/hooks/sub", Origin::Client), "write, delete");
        assert_eq!(at("/p/.git/hooks", Origin::Flag), "none");
        assert_eq!(at("/p", Origin::Client), "none");
        assert_eq!(at("/h/.config/rootward", Origin::Flag), "read, write, execute, delete");
        for guarded in ["/p/.env", "/p/.env.local", "/p/key.pem"] {
            assert_eq!(at(guarded, Origin::Client), "read, write, execute, delete", "{guarded}");
            assert_eq!(at(guarded, Origin::Flag), "none", "{guarded}");
        }
        let start_up = |origin| restrictions.taken_at_root(b"/h/.bashrc", RootKind::File, origin).access.to_string();
        assert_eq!(
            (start_up(Origin::Client), start_up(Origin::Store)),
            ("write, delete".to_owned(), "none".to_owned())
        );
        let file = restrictions.taken_at_root(b"/p/sub/.git", RootKind::File, Origin::Client);
        assert_eq!(file.access.to_string(), "write, delete", "a file `.git` says where git finds its hooks");
    }
}
