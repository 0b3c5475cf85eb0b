//! Finds the deepest root that contains a path.
//!
//! It is a tree of components: the cost depends on the depth of the path, not on the number of roots. A root that was
//! named through a link is in the tree twice: under the path as named and under its resolved place.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::root::PlacedRoot;

/// The index of a root in the guard's set.
pub(crate) type RootIndex = u32;

#[derive(Default, Debug)]
struct Node {
    /// The root that lies here.
    placed: Option<RootIndex>,
    /// The root that was named by this path.
    named: Option<RootIndex>,
    children: HashMap<Box<[u8]>, usize>,
}

#[derive(Debug)]
pub(crate) struct RootTree {
    nodes: Vec<Node>,
    /// The node of each root's place.
    places: Vec<usize>,
    /// The common prefix of all roots. Nearly every path inside a root begins with these bytes, and one comparison is
    /// faster than looking up each component.
    trunk: Vec<u8>,
    /// The node that the trunk leads to: the first one that is a root or has several children.
    trunk_end: usize,
}

/// The components of a path, each with the position after it; skips empty ones and `.`.
pub(crate) fn components(path: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    let mut end = 0;
    path.split(|byte| *byte == b'/').filter_map(move |component| {
        let behind = end + component.len();
        end = behind + 1;
        (!component.is_empty() && component != b".").then_some((component, behind))
    })
}

impl RootTree {
    /// The tree of these roots. `known` paths are not roots but are included: missing roots, which may come back, and
    /// the directories where paths start.
    pub(crate) fn new<'k>(roots: &[PlacedRoot], known: impl IntoIterator<Item = &'k Path>) -> RootTree {
        let places = Vec::with_capacity(roots.len());
        let mut tree = RootTree { nodes: vec![Node::default()], places, trunk: Vec::new(), trunk_end: 0 };
        for (index, root) in (0..).zip(roots) {
            let place = tree.node(&root.place);
            tree.nodes[place].placed.get_or_insert(index);
            tree.places.push(place);
            // Only the file system knows where a path with `..` leads; it was followed when the root was placed.
            if !has_parent_component(&root.root.path) {
                let named = tree.node(&root.root.path);
                tree.nodes[named].named.get_or_insert(index);
            }
        }
        for path in known {
            if !has_parent_component(path) {
                tree.node(path);
            }
        }
        tree.grow_trunk();
        tree
    }

    fn grow_trunk(&mut self) {
        let mut node = &self.nodes[0];
        while node.placed.is_none() && node.named.is_none() && node.children.len() == 1 {
            let Some((component, child)) = node.children.iter().next() else { break };
            self.trunk.push(b'/');
            self.trunk.extend_from_slice(component);
            self.trunk_end = *child;
            node = &self.nodes[*child];
        }
    }

    /// Where to start searching an absolute path: a node, and how much of the path leads to it.
    fn beginning(&self, path: &[u8]) -> (usize, usize) {
        match path.strip_prefix(self.trunk.as_slice()) {
            // The prefix must end at a whole component.
            Some([] | [b'/', ..]) => (self.trunk_end, self.trunk.len()),
            _ => (0, 0),
        }
    }

    fn node(&mut self, path: &Path) -> usize {
        let mut node = 0;
        for (component, _) in components(path.as_os_str().as_bytes()) {
            node = match self.nodes[node].children.get(component) {
                Some(child) => *child,
                None => {
                    let child = self.nodes.len();
                    self.nodes.push(Node::default());
                    self.nodes[node].children.insert(component.into(), child);
                    child
                }
            };
        }
        node
    }

    /// The deepest root that the components of an absolute path lead into, by either spelling, and the rest of the
    /// path.
    pub(crate) fn deepest<'p>(&self, path: &'p [u8]) -> Option<(RootIndex, &'p [u8])> {
        let (start, from) = self.beginning(path);
        let (root, behind) = self.descend(start, path, from, |node| node.placed.or(node.named))?;
        Some((root, &path[behind..]))
    }

    /// The deepest root that contains `place`, which must be resolved and absolute, and the rest of the path.
    pub(crate) fn deepest_place<'p>(&self, place: &'p [u8]) -> Option<(RootIndex, &'p [u8])> {
        let (start, from) = self.beginning(place);
        let (root, behind) = self.descend(start, place, from, |node| node.placed)?;
        Some((root, &place[behind..]))
    }

    /// A root deeper than `root` that `rest` leads into, ignoring links, and the position after it.
    pub(crate) fn deeper(&self, root: RootIndex, rest: &[u8]) -> Option<(RootIndex, usize)> {
        let node = self.places[root as usize];
        if self.nodes[node].children.is_empty() {
            return None;
        }
        self.descend(node, rest, 0, |node| node.placed).filter(|(deeper, _)| *deeper != root)
    }

    /// Whether a resolved, absolute place is a root or a known path, or an ancestor of one.
    pub(crate) fn leads_to_a_known_path(&self, place: &[u8]) -> bool {
        self.find(0, place).is_some()
    }

    /// Whether the place `rest` below `root` is a link by which another root was named.
    pub(crate) fn names_a_root(&self, root: RootIndex, rest: &[u8]) -> bool {
        self.find(self.places[root as usize], rest).is_some_and(|node| self.nodes[node].named.is_some())
    }

    fn find(&self, start: usize, path: &[u8]) -> Option<usize> {
        components(path).try_fold(start, |node, (component, _)| self.nodes[node].children.get(component).copied())
    }

    /// The roots that lie strictly below the place `rest` of `root`.
    pub(crate) fn roots_below(&self, root: RootIndex, rest: &[u8]) -> Vec<RootIndex> {
        let Some(node) = self.find(self.places[root as usize], rest) else { return Vec::new() };
        let mut found = Vec::new();
        let mut waiting: Vec<usize> = self.nodes[node].children.values().copied().collect();
        while let Some(node) = waiting.pop() {
            found.extend(self.nodes[node].placed);
            waiting.extend(self.nodes[node].children.values());
        }
        found
    }

    fn descend(
        &self,
        start: usize,
        path: &[u8],
        from: usize,
        root_at: impl Fn(&Node) -> Option<RootIndex>,
    ) -> Option<(RootIndex, usize)> {
        let mut node = &self.nodes[start];
        let mut found = root_at(node).map(|root| (root, from));
        let mut ahead = components(&path[from..]);
        while !node.children.is_empty() {
            // `..` is not collapsed: only the kernel knows where it leads. No node is called `..`.
            let Some((component, behind)) = ahead.next() else { break };
            let Some(child) = node.children.get(component) else { break };
            node = &self.nodes[*child];
            if let Some(root) = root_at(node) {
                found = Some((root, from + behind));
            }
        }
        found
    }
}

fn has_parent_component(path: &Path) -> bool {
    components(path.as_os_str().as_bytes()).any(|(component, _)| component == b"..")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, FileId, Origin, Root, RootKind, Spelling};

    fn tree(roots: &[(&str, &str)]) -> RootTree {
        let placed: Vec<PlacedRoot> = roots
            .iter()
            .map(|(path, place)| PlacedRoot {
                root: Root {
                    path: path.into(),
                    name: None,
                    access: Access::READ,
                    origin: Origin::Flag,
                    spelling: Spelling::Path,
                    meta: None,
                    pattern: None,
                },
                place: place.into(),
                kind: RootKind::Directory,
                id: FileId { device: 0, inode: 0, born: None },
            })
            .collect();
        RootTree::new(&placed, [])
    }

    #[test]
    fn the_deepest_root_wins() {
        let tree = tree(&[("/a", "/a"), ("/a/b/c", "/a/b/c"), ("/link", "/real/d")]);
        let check = |path: &str, expect: Option<(RootIndex, &str)>| {
            let found = tree.deepest(path.as_bytes());
            assert_eq!(found, expect.map(|(root, rest)| (root, rest.as_bytes())), "{path}");
        };
        check("/a", Some((0, "")));
        check("/a/", Some((0, "/")));
        check("/a/b/x", Some((0, "/b/x")));
        check("//a/./b//c/x", Some((1, "/x")));
        check("/a/b/../b/c/x", Some((0, "/b/../b/c/x")));
        check("/a-evil", None);
        check("/x/../a/b", None);
        check("/link/x", Some((2, "/x")));
        check("/real/d/x", Some((2, "/x")));
        check("/real", None);
        assert_eq!(tree.deepest_place(b"/link/x"), None);
    }

    #[test]
    fn deeper_roots_are_seen_from_above() {
        let tree = tree(&[("/link", "/a"), ("/a/b", "/a/b"), ("/a/b/c/d", "/a/b/c/d")]);
        assert_eq!(tree.deeper(0, b"b/x"), Some((1, 1)));
        assert_eq!(tree.deeper(0, b"x/b"), None);
        assert_eq!(tree.deeper(1, b"x"), None);
        assert_eq!(tree.roots_below(0, b"b"), [2]);
        assert_eq!(tree.roots_below(0, b"b/c"), [2]);
        assert!(tree.roots_below(0, b"x").is_empty());
    }

    #[test]
    fn the_common_prefix_is_compared_at_once() {
        let check = |roots: &[(&str, &str)], trunk: &str, path: &str, expect: Option<(RootIndex, &str)>| {
            let tree = tree(roots);
            assert_eq!(tree.trunk, trunk.as_bytes());
            let expect = expect.map(|(root, rest)| (root, rest.as_bytes()));
            assert_eq!(tree.deepest(path.as_bytes()), expect, "{path}");
        };
        let one: &[(&str, &str)] = &[("/home/me/app", "/home/me/app")];
        check(one, "/home/me/app", "/home/me/app/x", Some((0, "/x")));
        check(one, "/home/me/app", "/home/me/app", Some((0, "")));
        check(one, "/home/me/app", "/home/me/app/../x", Some((0, "/../x")));
        check(one, "/home/me/app", "/home/me/./app/x", Some((0, "/x")));
        check(one, "/home/me/app", "/home/me/app-evil/x", None);
        check(one, "/home/me/app", "/home/me/ap", None);
        let two: &[(&str, &str)] = &[("/home/me/app", "/home/me/app"), ("/home/me/app/deep", "/home/me/app/deep")];
        check(two, "/home/me/app", "/home/me/app/deep/x", Some((1, "/x")));
        check(two, "/home/me/app", "/home/me/app/deeper", Some((0, "/deeper")));
        check(&[("/a/b", "/a/b"), ("/a/c", "/a/c")], "/a", "/a/c/x", Some((1, "/x")));
        check(&[("/link", "/a/c")], "", "/a/c/x", Some((0, "/x")));
        check(&[], "", "/a", None);
    }

    #[test]
    fn the_root_of_the_file_system_can_be_a_root() {
        let tree = tree(&[("/", "/")]);
        assert_eq!(tree.deepest(b"/etc/x"), Some((0, b"/etc/x".as_slice())));
    }
}
