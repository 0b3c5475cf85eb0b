//! Finds the deepest root that a path leads into.
//!
//! A tree of components: the cost depends on how deep the path is, not on how many roots there are. Each root stands in
//! it twice where it was named through a link: under the path as named and under the place where it really lies.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::root::PlacedRoot;

/// Which root of the guard's set.
pub(crate) type RootIndex = u32;

#[derive(Default, Debug)]
struct Node {
    /// The root whose place this is.
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
}

/// The components of a path with the position behind each; empty ones and `.` are passed over.
pub(crate) fn components(path: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    let mut end = 0;
    path.split(|byte| *byte == b'/').filter_map(move |component| {
        let behind = end + component.len();
        end = behind + 1;
        (!component.is_empty() && component != b".").then_some((component, behind))
    })
}

impl RootTree {
    pub(crate) fn new(roots: &[PlacedRoot]) -> RootTree {
        let mut tree = RootTree { nodes: vec![Node::default()], places: Vec::with_capacity(roots.len()) };
        for (index, root) in (0..).zip(roots) {
            let place = tree.node(&root.place);
            tree.nodes[place].placed.get_or_insert(index);
            tree.places.push(place);
            // A path with `..` says where it leads only to the file system; it was followed when the root was placed.
            if !has_parent_component(&root.root.path) {
                let named = tree.node(&root.root.path);
                tree.nodes[named].named.get_or_insert(index);
            }
        }
        tree
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

    /// The deepest root that the components of an absolute path lead into, by either spelling, and what follows it.
    pub(crate) fn deepest<'p>(&self, path: &'p [u8]) -> Option<(RootIndex, &'p [u8])> {
        let (root, behind) = self.descend(0, path, |node| node.placed.or(node.named))?;
        Some((root, &path[behind..]))
    }

    /// The deepest root whose place holds `place`, which is resolved and absolute, and what follows it.
    pub(crate) fn deepest_place<'p>(&self, place: &'p [u8]) -> Option<(RootIndex, &'p [u8])> {
        let (root, behind) = self.descend(0, place, |node| node.placed)?;
        Some((root, &place[behind..]))
    }

    /// A root deeper than `root` that `rest`, links apart, leads into, and the position behind it.
    pub(crate) fn deeper(&self, root: RootIndex, rest: &[u8]) -> Option<(RootIndex, usize)> {
        let node = self.places[root as usize];
        if self.nodes[node].children.is_empty() {
            return None;
        }
        self.descend(node, rest, |node| node.placed).filter(|(deeper, _)| *deeper != root)
    }

    /// The roots whose places lie strictly below the place `rest` of `root`.
    pub(crate) fn roots_below(&self, root: RootIndex, rest: &[u8]) -> Vec<RootIndex> {
        let mut node = self.places[root as usize];
        for (component, _) in components(rest) {
            match self.nodes[node].children.get(component) {
                Some(child) => node = *child,
                None => return Vec::new(),
            }
        }
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
        root_at: impl Fn(&Node) -> Option<RootIndex>,
    ) -> Option<(RootIndex, usize)> {
        let mut node = &self.nodes[start];
        let mut found = root_at(node).map(|root| (root, 0));
        for (component, behind) in components(path) {
            // `..` is not collapsed: where it leads, only the kernel knows. No node is called `..`.
            let Some(child) = node.children.get(component) else { break };
            node = &self.nodes[*child];
            if let Some(root) = root_at(node) {
                found = Some((root, behind));
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
                },
                place: place.into(),
                kind: RootKind::Directory,
                id: FileId { device: 0, inode: 0 },
            })
            .collect();
        RootTree::new(&placed)
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
    fn the_root_of_the_file_system_can_be_a_root() {
        let tree = tree(&[("/", "/")]);
        assert_eq!(tree.deepest(b"/etc/x"), Some((0, b"/etc/x".as_slice())));
    }
}
