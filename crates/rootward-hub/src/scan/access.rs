//! What a call does with its paths, derived from the schema's marker, the tool's annotations and the verbs in its
//! name.
//!
//! A guess asks for too much access rather than too little, so that nothing writes to a read-only root: if nothing is
//! known, reading and writing are required. Annotations come from the server. They can require more than the name
//! suggests, but less only if the name says nothing.

use rootward_core::{Access, Code, Denial, Grant, Guard};

use super::words::{is_word, words};

/// What a call does with a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Need {
    /// The kinds of access.
    pub access: Access,
    /// How a link as the last component is treated.
    pub last: Last,
}

/// How a link as the last component of a path is treated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Last {
    /// The link is followed; its target is used.
    Followed,
    /// The link itself is used; its target is not touched.
    Meant,
    /// Either: some servers write through a link, others replace it with a new file. The target must be shared, and
    /// the link must not be outside the roots.
    Replaced,
    /// Either, and it is removed: both link and target must be shared.
    Removed,
}

/// A tool's annotations.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Hints {
    pub(super) read_only: bool,
    pub(super) destructive: bool,
}

const READING: [&str; 36] = [
    "read", "get", "list", "show", "view", "search", "find", "grep", "stat", "info", "describe", "cat", "head", "tail",
    "tree", "status", "log", "check", "count", "query", "fetch", "inspect", "open", "load", "lint", "analyze",
    "exists", "hash", "preview", "watch", "blame", "compare", "diff", "validate", "parse", "lookup",
];

const WRITING: [&str; 38] = [
    "write",
    "create",
    "edit",
    "update",
    "add",
    "append",
    "save",
    "put",
    "insert",
    "set",
    "make",
    "mkdir",
    "touch",
    "modify",
    "replace",
    "patch",
    "apply",
    "format",
    "generate",
    "export",
    "download",
    "init",
    "commit",
    "clone",
    "checkout",
    "extract",
    "unzip",
    "unpack",
    "install",
    "build",
    "stage",
    "reset",
    "merge",
    "pull",
    "convert",
    "compress",
    "screenshot",
    "record",
];

const DELETING: [&str; 11] =
    ["delete", "remove", "rm", "unlink", "rmdir", "clean", "purge", "prune", "erase", "trash", "wipe"];

const MOVING: [&str; 3] = ["move", "rename", "mv"];

const COPYING: [&str; 2] = ["copy", "cp"];

/// Argument names for the source and the destination of a move or copy.
const FROM: [&str; 5] = ["source", "src", "from", "old", "original"];
const TO: [&str; 7] = ["destination", "dest", "dst", "to", "target", "new", "into"];

impl Need {
    /// Reading.
    pub const READ: Need = Need { access: Access::READ, last: Last::Followed };

    /// The default if nothing is known.
    pub const UNKNOWN: Need = Need { access: Access::READ_WRITE.without(Access::DELETE), last: Last::Replaced };

    /// Parses the schema's `x-rootward-access`. An unknown word counts as no word.
    pub(super) fn from_marker(word: Option<&str>) -> Need {
        match word {
            Some("read") => Need::READ,
            Some("write") => Need { access: Access::WRITE, last: Last::Followed },
            Some("create") => Need { access: Access::WRITE, last: Last::Replaced },
            Some("delete") => Need { access: Access::DELETE, last: Last::Meant },
            Some("execute") => Need { access: Access::EXECUTE, last: Last::Followed },
            _ => Need::UNKNOWN,
        }
    }

    /// Both together.
    pub(super) fn and(self, other: Need) -> Need {
        // The strictest way to treat a link covers every other.
        let last = if self.last == other.last { self.last } else { Last::Removed };
        Need { access: self.access | other.access, last }
    }

    /// What a tool with this name does with the argument `key`.
    pub(super) fn of_tool(name: &str, key: &str, hints: Hints) -> Need {
        let named = |verbs: &[&str]| words(name).any(|word| verbs.iter().any(|verb| is_word(word, verb)));
        let keyed = |keys: &[&str]| words(key).any(|word| keys.iter().any(|known| is_word(word, known)));
        let (moves, copies) = (named(&MOVING), named(&COPYING));
        if moves || copies {
            let from = if moves { Access::READ | Access::DELETE } else { Access::READ };
            let to = Access::READ | Access::WRITE;
            let gone = if moves { Last::Removed } else { Last::Followed };
            return match (keyed(&FROM), keyed(&TO)) {
                (true, false) => Need { access: from, last: gone },
                (false, true) => Need { access: to, last: Last::Replaced },
                _ => Need { access: from | to, last: if moves { Last::Removed } else { Last::Replaced } },
            };
        }
        let (reads, writes, deletes) = (named(&READING), named(&WRITING), named(&DELETING));
        let mut access = match (reads, writes, deletes) {
            (false, false, false) if hints.read_only => Access::READ,
            (false, false, false) if hints.destructive => Access::READ_WRITE,
            // SECURITY: a tool that may write must not reach read-only roots (test: what_is_not_known_needs_writing)
            (false, false, false) => return Need::UNKNOWN,
            _ => Access::READ,
        };
        if writes {
            access = access | Access::WRITE;
        }
        if deletes {
            access = access | Access::DELETE;
        }
        // The name suggests reading, but the annotations say otherwise.
        if reads && !writes && !deletes && hints.destructive && !hints.read_only {
            access = access | Access::WRITE;
        }
        let last = match access {
            _ if deletes => Last::Removed,
            Access::READ => Last::Followed,
            _ => Last::Replaced,
        };
        Need { access, last }
    }

    /// Checks the path against a guard.
    pub(crate) fn check(self, guard: &Guard, path: &str) -> Result<Grant, Denial> {
        match self.last {
            Last::Followed => guard.check(path, self.access),
            Last::Meant => guard.check_entry(path, self.access),
            Last::Removed => {
                let grant = guard.check(path, self.access)?;
                // SECURITY: removing a directory removes its contents
                // (test: removing_or_replacing_a_link_needs_access_to_the_link)
                if guard.roots().iter().any(|root| root.place.starts_with(grant.path())) {
                    return Err(Denial::new(Code::AccessDenied, path, self.access));
                }
                // SECURITY: removing a link changes the directory that contains it, wherever it leads
                // (test: removing_or_replacing_a_link_needs_access_to_the_link)
                guard.check_entry(path, self.access)
            }
            Last::Replaced => {
                let grant = guard.check(path, self.access)?;
                // SECURITY: replacing a link changes the directory that contains it, wherever it leads
                // (test: removing_or_replacing_a_link_needs_access_to_the_link)
                match guard.check_entry(path, self.access) {
                    Err(denial) if denial.code().for_peer() == Code::OutsideRoots => Err(denial),
                    _ => Ok(grant),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_and_annotations() {
        const R: &str = "read";
        const W: &str = "read, write";
        let check = |name: &str, key: &str, hints: Option<(bool, bool)>, access: &str| {
            let (read_only, destructive) = hints.unwrap_or_default();
            let need = Need::of_tool(name, key, Hints { read_only, destructive });
            assert_eq!(need.access.to_string(), access, "{name}({key})");
        };
        for name in [
            "read_file",
            "readTextFile",
            "list-directory",
            "directory_tree",
            "get_file_info",
            "git_status",
            "searchFiles",
        ] {
            check(name, "path", None, R);
        }
        for name in ["write_file", "create_directory", "edit", "git_init", "append", "saveAs", "get_or_create"] {
            check(name, "path", None, W);
        }
        check("delete_file", "path", None, "read, delete");
        check("remove", "path", Some((true, false)), "read, delete");
        check("move_file", "source", None, "read, delete");
        check("move_file", "destination", None, W);
        check("move_file", "paths", None, "read, write, delete");
        check("copyFile", "sourcePath", None, R);
        check("copyFile", "new_path", None, W);
        check("read_file", "path", Some((false, true)), W);
        check("read_file", "path", Some((true, true)), R);
    }

    #[test]
    fn what_is_not_known_needs_writing() {
        let need =
            |read_only, destructive| Need::of_tool("frobnicate", "path", Hints { read_only, destructive }).access;
        assert_eq!(need(false, false), Access::READ | Access::WRITE);
        assert_eq!(need(true, false), Access::READ);
        assert_eq!(need(false, true), Access::READ_WRITE);
        assert_eq!(Need::UNKNOWN.access, Access::READ | Access::WRITE);
        assert_eq!(Need::from_marker(Some("fly")), Need::UNKNOWN);
        assert_eq!(Need::from_marker(None), Need::UNKNOWN);
    }
}
