//! The calls that both servers get, and how their answers are compared.

use rootward_testkit::tree::Item;

/// Calls in a tree. Each server gets a fresh copy of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// The roots that the servers get, relative to the tree's top.
    pub(super) roots: &'static [&'static str],
    /// The entries of the tree, relative to its top.
    pub(super) tree: &'static [Item],
    pub(super) calls: &'static [Call],
    /// How the trees compare after the calls.
    pub(super) after: After,
}

/// A call and how the two answers to it are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) tool: &'static str,
    /// JSON. `$ROOT` is replaced by the path of the root, `$TOP` by the path of its parent.
    pub(super) arguments: &'static str,
    pub(super) expect: Expect,
}

/// How the answers of both servers are compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expect {
    /// The same, data included.
    Same,
    /// The same lines in any order: the reference leaves the order to the disk.
    SameLines,
    /// The same JSON tree, with the entries of a directory in any order.
    SameTree,
    /// The row of the documentation, and prefixes of lines. Lines with these prefixes all differ; the others are the same.
    SameBut(&'static str, &'static [&'static str]),
    /// Both fail. The messages may differ.
    Fail,
    /// They differ on purpose: the row of the documentation, the reference's answer, Rootward's answer.
    Differ(&'static str, Says, Says),
}

/// The expected answer of one server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Says {
    /// Success; this is the whole text.
    Text(&'static str),
    /// Success; the text contains this.
    Part(&'static str),
    /// Success; the structured data contains this.
    Data(&'static str),
    /// Failure; the text contains this.
    Failure(&'static str),
}

/// How the two trees compare after the calls: names, contents, kinds and permissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum After {
    Same,
    /// On purpose: one of the calls is expected to differ.
    Different,
}

/// A case whose only root is `root`.
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
    reference: Says,
    rootward: Says,
) -> Call {
    Call { tool, arguments, expect: Expect::Differ(row, reference, rootward) }
}

impl Case {
    /// The same case, but the two trees differ afterwards.
    pub(super) const fn leaving_another_tree(self) -> Case {
        Case { after: After::Different, ..self }
    }

    /// The same case with other roots.
    pub(super) const fn in_roots(self, roots: &'static [&'static str]) -> Case {
        Case { roots, ..self }
    }
}

impl Call {
    /// The row of the documentation that this call demonstrates.
    pub(super) fn row(&self) -> Option<&'static str> {
        match self.expect {
            Expect::Differ(row, ..) | Expect::SameBut(row, _) => Some(row),
            Expect::Same | Expect::SameLines | Expect::SameTree | Expect::Fail => None,
        }
    }
}
