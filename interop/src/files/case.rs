//! What is asked of both servers, and how their answers are compared.

use rootward_testkit::tree::Item;

/// Calls in a tree that is laid out anew for each server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// The directories that the servers are given, below the tree's top.
    pub(super) roots: &'static [&'static str],
    /// Below the tree's top.
    pub(super) tree: &'static [Item],
    pub(super) calls: &'static [Call],
    /// What the servers leave behind.
    pub(super) after: After,
}

/// A call and how its answers are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) tool: &'static str,
    /// JSON, in which `$ROOT` and `$TOP` stand for the root and what is above it.
    pub(super) arguments: &'static str,
    pub(super) expect: Expect,
}

/// How the answers of both servers are compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expect {
    /// The same, data included.
    Same,
    /// The same lines; the reference leaves their order to the disk.
    SameLines,
    /// The same tree of JSON, whatever the order of the entries in a directory.
    SameTree,
    /// The same lines, but for those that begin with one of these, which all differ: a row of the documentation.
    SameBut(&'static str, &'static [&'static str]),
    /// Both fail, each in its own words.
    Fail,
    /// They differ on purpose: a row of the documentation, what the reference says, what Rootward says.
    Differ(&'static str, Says, Says),
}

/// What a server says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Says {
    /// It goes well, with this text.
    Text(&'static str),
    /// It goes well, with this in its text.
    Part(&'static str),
    /// It goes well, with this in its data.
    Data(&'static str),
    /// It fails, with this in its text.
    Failure(&'static str),
}

/// How what both servers leave behind is compared: names, contents, kinds and permissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum After {
    Same,
    /// On purpose, as one of the calls tells.
    Different,
}

/// A case in one root.
pub(super) const fn case(name: &'static str, tree: &'static [Item], calls: &'static [Call]) -> Case {
    Case { name, roots: &["root"], tree, calls, after: After::Same }
}

pub(super) const fn same(tool: &'static str, arguments: &'static str) -> Call {
    Call { tool, arguments, expect: Expect::Same }
}

pub(super) const fn same_lines(tool: &'static str, arguments: &'static str) -> Call {
    Call { tool, arguments, expect: Expect::SameLines }
}

pub(super) const fn same_tree(arguments: &'static str) -> Call {
    Call { tool: "directory_tree", arguments, expect: Expect::SameTree }
}

pub(super) const fn fail(tool: &'static str, arguments: &'static str) -> Call {
    Call { tool, arguments, expect: Expect::Fail }
}

pub(super) const fn differ(
    tool: &'static str,
    arguments: &'static str,
    row: &'static str,
    there: Says,
    here: Says,
) -> Call {
    Call { tool, arguments, expect: Expect::Differ(row, there, here) }
}

impl Case {
    /// The same case, whose servers leave different things behind.
    pub(super) const fn leaving_another_tree(self) -> Case {
        Case { after: After::Different, ..self }
    }

    /// The same case in other roots.
    pub(super) const fn in_roots(self, roots: &'static [&'static str]) -> Case {
        Case { roots, ..self }
    }
}

impl Call {
    /// The row of the documentation that it shows.
    pub(super) fn row(&self) -> Option<&'static str> {
        match self.expect {
            Expect::Differ(row, ..) | Expect::SameBut(row, _) => Some(row),
            Expect::Same | Expect::SameLines | Expect::SameTree | Expect::Fail => None,
        }
    }
}
