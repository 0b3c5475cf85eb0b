//! Reads the expected parts of a tree, and notes what is not as expected.

use rootward_core::Shown;

use super::model::{FileContents, Server, SuggestedRoot};
use super::node::{Entry, Node, Value};
use crate::store::Mistake;

/// How many mistakes of one file to report; its author may have made any number.
const MOST: usize = 1000;
const MOST_MISTAKES: usize = 100;

/// What a client accepts as the value of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Takes {
    Texts,
    /// Numbers, too, and `null` to remove a variable.
    NumbersToo,
}

/// Something is not as expected, and was noted.
#[derive(Debug)]
pub(super) struct Noted;

pub(super) struct Reader<'t> {
    text: &'t str,
    found: FileContents,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Reader<'t> {
        Reader { text, found: FileContents::default() }
    }

    pub(super) fn found(self) -> FileContents {
        self.found
    }

    /// Notes a mistake at a position.
    pub(super) fn note(&mut self, at: usize, says: impl Into<String>) -> Noted {
        if self.found.not_understood.len() < MOST_MISTAKES {
            self.found.not_understood.push(Mistake::at(self.text, Some(at..at), says));
        }
        Noted
    }

    pub(super) fn server(&mut self, at: usize, server: Server) {
        match self.found.servers.len() {
            0..MOST => self.found.servers.push(server),
            MOST => {
                self.note(at, format!("more than {MOST} servers: the rest is left out"));
            }
            _ => {}
        }
    }

    pub(super) fn servers_so_far(&self) -> usize {
        self.found.servers.len()
    }

    pub(super) fn servers_since(&mut self, first: usize) -> &mut [Server] {
        self.found.servers.get_mut(first..).unwrap_or_default()
    }

    pub(super) fn root(&mut self, root: SuggestedRoot) {
        let known = self.found.roots.iter().any(|known| known.text == root.text && known.path == root.path);
        if !known && self.found.roots.len() < MOST {
            self.found.roots.push(root);
        }
    }

    /// The entries of a table under a key, if it exists.
    pub(super) fn table<'n>(&mut self, node: &'n Node, key: &str) -> &'n [Entry] {
        match node.get(key).map(|node| (node, &node.value)) {
            None => &[],
            Some((_, Value::Table(entries))) => entries,
            Some((other, _)) => {
                self.note(other.at, expected(key, "a table", other));
                &[]
            }
        }
    }

    /// A string, if it exists. `within` is what it belongs to.
    pub(super) fn text(&mut self, node: &Node, within: &str, key: &str) -> Result<Option<String>, Noted> {
        match node.get(key).map(|node| (node, &node.value)) {
            None => Ok(None),
            Some((node, Value::Text(text))) if text.contains('\0') => {
                Err(self.note(node.at, format!("{within}: `{key}` contains a NUL byte")))
            }
            Some((_, Value::Text(text))) => Ok(Some(text.clone())),
            Some((other, _)) => Err(self.note(other.at, format!("{within}: {}", expected(key, "a string", other)))),
        }
    }

    pub(super) fn boolean(&mut self, node: &Node, within: &str, key: &str) -> Result<Option<bool>, Noted> {
        match node.get(key).map(|node| (node, &node.value)) {
            None => Ok(None),
            Some((_, Value::Boolean(boolean))) => Ok(Some(*boolean)),
            Some((other, _)) => Err(self.note(other.at, format!("{within}: {}", expected(key, "a boolean", other)))),
        }
    }

    /// A list of strings; empty if it is missing.
    pub(super) fn texts(&mut self, node: &Node, within: &str, key: &str) -> Result<Vec<String>, Noted> {
        let list = match node.get(key).map(|node| (node, &node.value)) {
            None => return Ok(Vec::new()),
            Some((_, Value::List(list))) => list,
            Some((other, _)) => {
                return Err(self.note(other.at, format!("{within}: {}", expected(key, "a list", other))));
            }
        };
        let mut texts = Vec::with_capacity(list.len());
        for one in list {
            match &one.value {
                Value::Text(text) if !text.contains('\0') => texts.push(text.clone()),
                Value::Text(_) => {
                    return Err(self.note(one.at, format!("{within}: `{key}` contains a NUL byte")));
                }
                _ => {
                    let says = format!("{within}: `{key}` must be a list of strings, but contains {}", one.kind());
                    return Err(self.note(one.at, says));
                }
            }
        }
        Ok(texts)
    }

    /// A list of names, each a string or a table with `name`; empty if the key is missing.
    pub(super) fn names(&mut self, node: &Node, within: &str, key: &str) -> Result<Vec<String>, Noted> {
        let list = match node.get(key).map(|node| (node, &node.value)) {
            None => return Ok(Vec::new()),
            Some((_, Value::List(list))) => list,
            Some((other, _)) => {
                return Err(self.note(other.at, format!("{within}: {}", expected(key, "a list", other))));
            }
        };
        let name = |one: &Node| match (&one.value, one.get("name").map(|name| &name.value)) {
            (Value::Text(name), _) | (_, Some(Value::Text(name))) => Some(name.clone()),
            _ => None,
        };
        let mut names = Vec::with_capacity(list.len());
        for one in list {
            let Some(name) = name(one) else {
                let says = format!("{within}: `{key}` must be a list of names, but contains {}", one.kind());
                return Err(self.note(one.at, says));
            };
            names.push(name);
        }
        Ok(names)
    }

    /// Names with strings or other accepted values; empty if they are missing.
    pub(super) fn pairs(
        &mut self,
        node: &Node,
        within: &str,
        key: &str,
        takes: Takes,
    ) -> Result<Vec<(String, String)>, Noted> {
        let entries = match node.get(key).map(|node| (node, &node.value)) {
            None => return Ok(Vec::new()),
            Some((_, Value::Table(entries))) => entries,
            Some((other, _)) => {
                return Err(self.note(other.at, format!("{within}: {}", expected(key, "a table", other))));
            }
        };
        let mut pairs = Vec::with_capacity(entries.len());
        for entry in entries {
            let value = match (&entry.node.value, takes) {
                (Value::Text(value), _) | (Value::Number(value), Takes::NumbersToo) => value.clone(),
                // It removes a variable that would be inherited.
                (Value::Null, Takes::NumbersToo) => continue,
                _ => {
                    let key = format!("{key}.{}", entry.name);
                    return Err(
                        self.note(entry.node.at, format!("{within}: {}", expected(&key, "a string", &entry.node)))
                    );
                }
            };
            pairs.push((entry.name.clone(), value));
        }
        Ok(pairs)
    }
}

fn expected(key: &str, what: &str, found: &Node) -> String {
    format!("`{}` must be {what}, not {}", Shown::new(key), found.kind())
}
