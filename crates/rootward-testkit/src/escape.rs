//! The escape corpus: one table of attacks, and of harmless paths that a nervous check would refuse.
//!
//! Every door of the product is run through it. Each row says where it comes from, what it needs on disk, what is asked
//! and the one right answer, so that the table reads as the specification of "inside". A test beside it asks the kernel
//! where each path leads and holds the table to that.

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

/// What every row's tree starts from; a row lists only what it adds.
///
/// The root is `{T}/root`; names that hold `secret` and contents that say `SECRET` lie outside.
pub const YARD: &[Item] = &[
    Item::Inside("root/in.txt"),
    Item::Inside("root/dir/in.txt"),
    Item::Inside("root/dir/deep/in.txt"),
    Item::Secret("outside/secret.txt"),
    Item::Secret("outside/dir/secret.txt"),
    Item::Secret("root-evil/secret.txt"),
];

/// What to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// Say whether it is inside.
    Check,
    /// Read a file.
    Read,
    /// List a directory.
    List,
    /// Look at the metadata of what the path leads to.
    Stat,
    /// Open a file to run it.
    Execute,
    /// Replace a file's content, or make the file.
    Put,
    /// Write at a file's end.
    Append,
    /// Make a file that must not exist.
    CreateNew,
    /// Make a directory.
    MakeDirectory,
    /// Remove a file, a link or an empty directory.
    Remove,
    /// Move to the second path.
    Rename,
    /// Copy to the second path.
    Copy,
}

impl Act {
    /// Whether doing it changes the tree.
    pub const fn changes(self) -> bool {
        !matches!(self, Act::Check | Act::Read | Act::List | Act::Stat | Act::Execute)
    }

    /// Whether a link in the path's last place is acted on itself, instead of what it names.
    pub const fn takes_the_link_itself(self) -> bool {
        matches!(self, Act::CreateNew | Act::MakeDirectory | Act::Remove | Act::Rename)
    }
}

/// A root of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RootSpec {
    /// Its path, a template.
    pub path: &'static str,
    /// `ro`, `rw`, `rw-nodelete` or `rwx`.
    pub access: &'static str,
}

/// The right answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expect {
    /// It is done, on this object (a template; for moves and copies the new one).
    Allow {
        /// The object.
        target: &'static str,
    },
    /// It is refused with this code of the design.
    Deny {
        /// The code.
        code: &'static str,
    },
    /// It lies inside, and the system says no.
    Error {
        /// How.
        kind: Failure,
    },
    /// It is refused; the design leaves open with which code.
    Refused,
    /// Any answer is right that shows and changes nothing outside; the design leaves open which.
    Harmless,
}

/// What a row's tree takes to build.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    /// Nothing in particular.
    Nothing,
    /// The superuser: mounts and device nodes.
    Root,
}

/// One row. All texts but `name` and `source` are templates, see [`crate::text`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name, unlike any other.
    pub name: &'static str,
    /// Where it comes from: a CVE, a manual page, an RFC, an issue, a measured fact.
    pub source: &'static str,
    /// What the tree holds beyond [`YARD`].
    pub tree: &'static [Item],
    /// The current roots, in order; `{T}/root`, read and write, unless said.
    pub roots: &'static [RootSpec],
    /// Where relative paths start; at the first root unless said.
    pub base: Option<&'static str>,
    /// What `~` stands for.
    pub home: Option<&'static str>,
    /// What is asked.
    pub act: Act,
    /// Of which path.
    pub path: &'static str,
    /// And the second one.
    pub to: Option<&'static str>,
    /// The right answer.
    pub expect: Expect,
    /// What the tree takes to build.
    pub needs: Needs,
}

/// Why a path that ends inside is refused for the way it takes: by climbing back from a directory outside it would tell
/// whether that directory exists.
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

/// Starts a row; what it expects comes last.
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
