//! A tree of entries, collected in any order and written as sorted JSON.
//!
//! All names share one buffer and the JSON is built as text: with owned values, allocating and freeing them would take
//! most of the time.

use std::collections::HashMap;
use std::ops::Range;

use crate::name::escaped;

/// How many entries a tree may have.
pub(crate) const MOST_ENTRIES: usize = 250_000;

/// The longest JSON text, in bytes: in a deep tree most of it is indentation.
const MOST_TEXT: usize = 32 << 20;

/// The total length of its directories' paths: deep ones repeat their parents.
const MOST_PATHS: usize = 64 << 20;

/// The tree has reached its limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Full;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Directory,
    /// Anything else; links are not followed.
    File,
}

struct Entry {
    above: u32,
    name: Range<u32>,
    kind: Kind,
}

/// A tree. Its first entry is the directory where it begins, which has no name.
pub(crate) struct Tree {
    names: Vec<u8>,
    entries: Vec<Entry>,
    directories: HashMap<Box<[u8]>, u32>,
    /// The total length of their paths.
    paths: usize,
    /// The directory of the last entry, which is usually also that of the next one.
    here: (Vec<u8>, u32),
}

impl Tree {
    pub(crate) fn new() -> Tree {
        let start = Entry { above: 0, name: 0..0, kind: Kind::Directory };
        let directories = HashMap::from([(Box::default(), 0)]);
        Tree { names: Vec::new(), entries: vec![start], directories, paths: 0, here: (Vec::new(), 0) }
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len() - 1
    }

    /// Adds an entry by its path from the top of the tree; its directory must have been added before.
    pub(crate) fn add(&mut self, path: &[u8], name: &[u8], kind: Kind) -> Result<(), Full> {
        let directory = path.len().saturating_sub(name.len());
        let directory = &path[..directory.saturating_sub(1)];
        if directory != self.here.0 {
            let Some(&number) = self.directories.get(directory) else { return Ok(()) };
            self.here.0.clear();
            self.here.0.extend_from_slice(directory);
            self.here.1 = number;
        }
        if self.len() >= MOST_ENTRIES || self.paths > MOST_PATHS {
            return Err(Full);
        }
        let place = |length: usize| u32::try_from(length).map_err(|_| Full);
        let (number, start) = (place(self.entries.len())?, place(self.names.len())?);
        self.names.extend_from_slice(name);
        let name = start..place(self.names.len())?;
        self.entries.push(Entry { above: self.here.1, name, kind });
        if kind == Kind::Directory {
            self.directories.insert(path.into(), number);
            self.paths += path.len();
        }
        Ok(())
    }

    fn name(&self, number: u32) -> &[u8] {
        let Range { start, end } = self.entries[number as usize].name;
        &self.names[start as usize..end as usize]
    }

    /// All entries but the first, grouped by directory and sorted by name; and where each directory's group starts.
    fn sorted(&self) -> (Vec<u32>, Vec<u32>) {
        let mut starts = vec![0_u32; self.entries.len() + 1];
        for entry in &self.entries[1..] {
            starts[entry.above as usize + 1] += 1;
        }
        for position in 1..starts.len() {
            starts[position] += starts[position - 1];
        }
        let mut next = starts.clone();
        let mut order = vec![0_u32; self.len()];
        for (number, entry) in (0_u32..).zip(&self.entries).skip(1) {
            let slot = &mut next[entry.above as usize];
            order[*slot as usize] = number;
            *slot += 1;
        }
        for bounds in starts.windows(2) {
            order[bounds[0] as usize..bounds[1] as usize]
                .sort_unstable_by(|one, other| self.name(*one).cmp(self.name(*other)));
        }
        (order, starts)
    }

    /// The tree as JSON, indented by two spaces: `name`, `type`, and `children` of directories.
    pub(crate) fn into_json(self) -> Result<String, Full> {
        let (order, starts) = self.sorted();
        let below = |number: u32| starts[number as usize]..starts[number as usize + 1];
        let mut text = String::with_capacity(self.len() * 80);
        // No recursion: the client controls how deep a tree is.
        let mut open = vec![below(0)];
        text.push('[');
        while let Some(entries) = open.last_mut() {
            let Some(position) = entries.next() else {
                let empty = text.ends_with('[');
                open.pop();
                if !empty {
                    indent(&mut text, open.len() * 2);
                }
                text.push(']');
                if !open.is_empty() {
                    indent(&mut text, open.len() * 2 - 1);
                    text.push('}');
                }
                continue;
            };
            if text.len() > MOST_TEXT {
                return Err(Full);
            }
            if text.ends_with('}') {
                text.push(',');
            }
            let depth = open.len() * 2;
            let number = order[position as usize];
            indent(&mut text, depth - 1);
            text.push('{');
            indent(&mut text, depth);
            text.push_str("\"name\": ");
            quoted(&mut text, self.name(number));
            text.push(',');
            indent(&mut text, depth);
            match self.entries[number as usize].kind {
                Kind::File => {
                    text.push_str("\"type\": \"file\"");
                    indent(&mut text, depth - 1);
                    text.push('}');
                }
                Kind::Directory => {
                    text.push_str("\"type\": \"directory\",");
                    indent(&mut text, depth);
                    text.push_str("\"children\": [");
                    open.push(below(number));
                }
            }
        }
        Ok(text)
    }
}

fn indent(text: &mut String, steps: usize) {
    const SPACES: &str = "                                                                ";
    text.push('\n');
    let mut missing = steps * 2;
    while missing > 0 {
        let now = missing.min(SPACES.len());
        text.push_str(&SPACES[..now]);
        missing -= now;
    }
}

/// A name as a JSON string; invalid UTF-8 is escaped as in other lists.
fn quoted(text: &mut String, name: &[u8]) {
    let is_plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
    match str::from_utf8(name) {
        Ok(name) if name.bytes().all(is_plain) => {
            text.push('"');
            text.push_str(name);
            text.push('"');
        }
        _ => {
            let name = escaped(name).unwrap_or_else(|| String::from_utf8_lossy(name).into_owned());
            text.push_str(&serde_json::Value::from(name).to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn tree(paths: &[&[u8]]) -> Tree {
        let mut tree = Tree::new();
        for path in paths {
            let (path, kind) = match path.strip_suffix(b"/") {
                Some(path) => (path, Kind::Directory),
                None => (*path, Kind::File),
            };
            let name = path.rsplit(|byte| *byte == b'/').next().unwrap();
            tree.add(path, name, kind).unwrap();
        }
        tree
    }

    #[test]
    fn a_tree_is_written_as_serde_would() {
        let check = |paths: &[&[u8]], expect: Value| {
            let text = tree(paths).into_json().unwrap();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expect);
            // Keys in a different order, the same whitespace.
            let pretty = serde_json::to_string_pretty(&expect).unwrap();
            let (mut ours, mut theirs): (Vec<_>, Vec<_>) = (text.lines().collect(), pretty.lines().collect());
            ours.iter_mut().chain(&mut theirs).for_each(|line| *line = line.trim_end_matches(','));
            ours.sort_unstable();
            theirs.sort_unstable();
            assert_eq!(ours, theirs);
        };
        check(&[], json!([]));
        check(&[b"b", b"a"], json!([{"name": "a", "type": "file"}, {"name": "b", "type": "file"}]));
        check(&[b"d/"], json!([{"name": "d", "type": "directory", "children": []}]));
        let inner = json!({"name": "e", "type": "directory", "children": [{"name": "x", "type": "file"}]});
        let outer = json!({"name": "d", "type": "directory", "children": [inner, {"name": "y", "type": "file"}]});
        check(&[b"z", b"d/", b"d/y", b"d/e/", b"d/e/x"], json!([outer, {"name": "z", "type": "file"}]));
        check(
            &["k\u{e4}\n\"\\".as_bytes(), b"\xff"],
            json!([
                {"name": "k\u{e4}\n\"\\", "type": "file"},
                {"name": "\\xff", "type": "file"},
            ]),
        );
    }

    #[test]
    fn a_tree_is_as_deep_as_it_is() {
        let mut tree = Tree::new();
        let mut path = Vec::new();
        for _ in 0..1000 {
            if !path.is_empty() {
                path.push(b'/');
            }
            path.push(b'a');
            tree.add(&path, b"a", Kind::Directory).unwrap();
        }
        let text = tree.into_json().unwrap();
        assert_eq!(text.matches("\"children\"").count(), 1000);
        assert_eq!(text.matches('[').count(), text.matches(']').count());
    }

    #[test]
    fn a_tree_ends_somewhere() {
        let mut wide = Tree::new();
        let end = (0..=MOST_ENTRIES).find(|number| {
            let name = number.to_string();
            wide.add(name.as_bytes(), name.as_bytes(), Kind::File) == Err(Full)
        });
        assert_eq!(end, Some(MOST_ENTRIES));
        let mut deep = Tree::new();
        let mut path = vec![b'a'];
        for _ in 0..5000 {
            deep.add(&path, b"a", Kind::Directory).unwrap();
            path.extend(b"/a");
        }
        assert_eq!(deep.into_json(), Err(Full));
    }
}
