//! The escape corpus: one table of attacks, and of harmless paths that an overcautious check would refuse.
//!
//! Every door of the product runs it. Each row names its source, the files it needs, the request and the expected
//! answer, so that the table reads as the specification of "inside". A test compares the table with where the kernel
//! says that each path leads.

use crate::door::Failure;
use crate::tree::Item;

mod access;
mod changes;
mod encoding;
mod forms;
mod lengths;
mod links;
mod magic;
mod names;
mod published;
mod restricted;
mod roots;
mod slashes;
mod special;
mod traversal;

#[cfg(test)]
mod oracle;

/// The files in every row's tree; a row lists only what it adds.
///
/// The root is `{T}/root`. Names that contain `secret` and files that contain `SECRET` lie outside.
pub const YARD: &[Item] = &[
    Item::Inside("root/in.txt"),
    Item::Inside("root/dir/in.txt"),
    Item::Inside("root/dir/deep/in.txt"),
    Item::Secret("outside/secret.txt"),
    Item::Secret("outside/dir/secret.txt"),
    Item::Secret("root-evil/secret.txt"),
];

/// The operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// Say whether the path is inside.
    Check,
    /// Read a file.
    Read,
    /// List a directory.
    List,
    /// Look at the metadata of what the path leads to.
    Stat,
    /// Open a file to run it.
    Execute,
    /// Replace a file's content, or create the file.
    Put,
    /// Append to a file.
    Append,
    /// Create a file that must not exist.
    CreateNew,
    /// Create a directory.
    MakeDirectory,
    /// Remove a file, a link or an empty directory.
    Remove,
    /// Move to the second path.
    Rename,
    /// Copy to the second path.
    Copy,
}

impl Act {
    /// Whether the operation changes the tree.
    pub const fn changes(self) -> bool {
        !matches!(self, Act::Check | Act::Read | Act::List | Act::Stat | Act::Execute)
    }

    /// Whether the operation acts on a link at the end of the path, instead of its target.
    pub const fn takes_the_link_itself(self) -> bool {
        matches!(self, Act::CreateNew | Act::MakeDirectory | Act::Remove | Act::Rename)
    }
}

/// A root of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RootSpec {
    /// The path, a template.
    pub path: &'static str,
    /// `ro`, `rw`, `rw-nodelete` or `rwx`.
    pub access: &'static str,
}

/// The expected answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expect {
    /// The door does it, on this object (a template; for moves and copies, the new path).
    Allow {
        /// The object.
        target: &'static str,
    },
    /// The door refuses with this code.
    Deny {
        /// The code.
        code: &'static str,
    },
    /// The path lies inside, and the system call fails.
    Error {
        /// The kind of error.
        kind: Failure,
    },
    /// The door refuses; the design does not say with which code.
    Refused,
    /// Any answer is right that reveals and changes nothing outside.
    Harmless,
}

/// What building a row's tree requires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    /// Nothing in particular.
    Nothing,
    /// The superuser: mounts and device nodes.
    Root,
}

/// One row. All strings except `name` and `source` are templates, see [`crate::text`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// A unique name.
    pub name: &'static str,
    /// The source: a CVE, a manual page, an RFC, an issue, a measured fact.
    pub source: &'static str,
    /// The files of the tree besides [`YARD`].
    pub tree: &'static [Item],
    /// The current roots, in order. By default, `{T}/root` for reading and writing.
    pub roots: &'static [RootSpec],
    /// Where relative paths start. By default, at the first root.
    pub base: Option<&'static str>,
    /// The directory that `~` means.
    pub home: Option<&'static str>,
    /// The operation.
    pub act: Act,
    /// The path.
    pub path: &'static str,
    /// The second path, for moves and copies.
    pub to: Option<&'static str>,
    /// The expected answer.
    pub expect: Expect,
    /// What building the tree requires.
    pub needs: Needs,
}

/// Why a path is refused that leaves the roots and ends inside: its answer would reveal whether the directory outside
/// exists.
const DETOUR: &str = "design: what lies outside is never described to a peer";

/// The whole table.
pub fn table() -> impl Iterator<Item = &'static Row> {
    let parts = [
        traversal::ROWS,
        slashes::ROWS,
        links::ROWS,
        changes::ROWS,
        encoding::ROWS,
        forms::ROWS,
        names::ROWS,
        lengths::ROWS,
        special::ROWS,
        magic::ROWS,
        roots::ROWS,
        access::ROWS,
        restricted::ROWS,
        published::ROWS,
    ];
    parts.into_iter().flatten()
}

const ROOT: &[RootSpec] = &[rw("{T}/root")];

const fn rw(path: &'static str) -> RootSpec {
    RootSpec { path, access: "rw" }
}

const fn ro(path: &'static str) -> RootSpec {
    RootSpec { path, access: "ro" }
}

const fn rw_nodelete(path: &'static str) -> RootSpec {
    RootSpec { path, access: "rw-nodelete" }
}

const fn rwx(path: &'static str) -> RootSpec {
    RootSpec { path, access: "rwx" }
}

/// Starts a row. The expected answer comes last.
const fn row(name: &'static str, source: &'static str, act: Act, path: &'static str) -> Row {
    Row {
        name,
        source,
        tree: &[],
        roots: ROOT,
        base: None,
        home: None,
        act,
        path,
        to: None,
        expect: Expect::Refused,
        needs: Needs::Nothing,
    }
}

impl Row {
    const fn tree(self, tree: &'static [Item]) -> Row {
        Row { tree, ..self }
    }

    const fn roots(self, roots: &'static [RootSpec]) -> Row {
        Row { roots, ..self }
    }

    const fn base(self, base: &'static str) -> Row {
        Row { base: Some(base), ..self }
    }

    const fn home(self, home: &'static str) -> Row {
        Row { home: Some(home), ..self }
    }

    const fn to(self, to: &'static str) -> Row {
        Row { to: Some(to), ..self }
    }

    const fn as_superuser(self) -> Row {
        Row { needs: Needs::Root, ..self }
    }

    const fn allow(self, target: &'static str) -> Row {
        Row { expect: Expect::Allow { target }, ..self }
    }

    const fn deny(self, code: &'static str) -> Row {
        Row { expect: Expect::Deny { code }, ..self }
    }

    const fn outside(self) -> Row {
        self.deny("outside_roots")
    }

    const fn error(self, kind: Failure) -> Row {
        Row { expect: Expect::Error { kind }, ..self }
    }

    const fn missing(self) -> Row {
        self.error(Failure::NotFound)
    }

    const fn refused(self) -> Row {
        Row { expect: Expect::Refused, ..self }
    }

    const fn harmless(self) -> Row {
        Row { expect: Expect::Harmless, ..self }
    }
}
