//! What a tool's input schema says about its arguments, parsed once for all calls.
//!
//! The server's own marker (`x-rootward-access`, or `"format": "rooted-path"`) ranks highest, then other formats and descriptions. A schema
//! can only add paths to what keys and values indicate, with one exception: a format that declares the string to be
//! something else, such as a date.

use std::collections::BTreeMap;

use rootward_protocol::fold_case;
use serde_json::{Map, Value};

use super::access::Need;
use super::words::{KeySays, key_says, speaks_of_globs, speaks_of_paths};

/// Maximum depth. Below it, only keys and values decide.
const DEEPEST: usize = 16;

/// Maximum number of nodes. Beyond it, only keys and values decide.
const MOST_NODES: usize = 4096;

/// One node of a schema.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// What the node's key indicates; `None` if the node applies to any key.
    pub(super) says: Option<KeySays>,
    pub(super) format: Format,
    /// The description mentions paths.
    pub(super) is_described_as_path: bool,
    /// The description mentions file name patterns.
    pub(super) is_described_as_glob: bool,
    properties: BTreeMap<String, Node>,
    /// The names of the properties, by what a parser without case compares.
    folded: BTreeMap<String, Vec<String>>,
    pub(super) items: Option<Box<Node>>,
    /// The node for properties that are not listed by name.
    others: Option<Box<Node>>,
}

/// What `format` says. If several apply, the last of these wins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    /// Something other than a path.
    Other,
    Unsaid,
    Path,
    /// The server's own marker.
    Marker(Need),
}

/// Whether a schema applies on its own, or is one of several alternatives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Own,
    Branch,
}

impl Format {
    fn rank(self) -> u8 {
        match self {
            Format::Other => 0,
            Format::Unsaid => 1,
            Format::Path => 2,
            Format::Marker(_) => 3,
        }
    }

    /// Of two formats, the one that makes a string a path.
    pub(super) fn stricter(self, other: Format) -> Format {
        match (self, other) {
            (Format::Marker(one), Format::Marker(another)) => Format::Marker(one.and(another)),
            _ if other.rank() > self.rank() => other,
            _ => self,
        }
    }

    fn read(schema: &Map<String, Value>) -> Format {
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let marker = text("x-rootward-access");
        match text("format") {
            Some("rooted-path") => Format::Marker(Need::from_marker(marker)),
            _ if marker.is_some() => Format::Marker(Need::from_marker(marker)),
            Some(
                "date" | "date-time" | "time" | "duration" | "email" | "idn-email" | "uuid" | "regex" | "byte"
                | "base64" | "hostname",
            ) => Format::Other,
            // Covers `uri`, `uri-reference`, `iri`, `path`, `file-path`, `filepath`, `directory-path`, but not
            // `json-pointer`.
            Some(format)
                if ["path", "file", "dir", "folder", "uri", "url", "iri"].iter().any(|part| format.contains(part)) =>
            {
                Format::Path
            }
            _ if text("contentEncoding").is_some() => Format::Other,
            _ => Format::Unsaid,
        }
    }
}

/// The node of a property that a schema says nothing about.
pub(super) static NOT_LISTED: Node = Node::empty(None);

impl Node {
    pub(super) fn read(schema: &Value) -> Node {
        let mut left = MOST_NODES;
        let mut node = Node::empty(None);
        node.merge(schema, schema, Part::Own, 0, &mut left);
        node.fold();
        node
    }

    const fn empty(says: Option<KeySays>) -> Node {
        Node {
            says,
            format: Format::Unsaid,
            is_described_as_path: false,
            is_described_as_glob: false,
            properties: BTreeMap::new(),
            folded: BTreeMap::new(),
            items: None,
            others: None,
        }
    }

    /// The node for a property.
    pub(super) fn property(&self, key: &str) -> Option<&Node> {
        self.properties.get(key).or(self.others.as_deref())
    }

    /// The listed properties that a case-insensitive parser takes `key` for, if `key` itself is not listed.
    pub(super) fn alike(&self, key: &str) -> &[String] {
        if self.properties.is_empty() || self.properties.contains_key(key) {
            return &[];
        }
        let folded: String = fold_case(key).collect();
        self.folded.get(&folded).map_or(&[], Vec::as_slice)
    }

    /// Folds the names of the properties, at any depth.
    fn fold(&mut self) {
        for name in self.properties.keys() {
            self.folded.entry(fold_case(name).collect()).or_default().push(name.clone());
        }
        let below = self.properties.values_mut();
        for node in below.chain(self.items.as_deref_mut()).chain(self.others.as_deref_mut()) {
            node.fold();
        }
    }

    /// The names of all properties, at any depth, possibly with duplicates.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        let mut left = vec![self];
        while let Some(node) = left.pop() {
            names.extend(node.properties.keys().map(String::as_str));
            left.extend(node.properties.values().chain(node.items.as_deref()).chain(node.others.as_deref()));
        }
        names
    }

    /// Merges `schema` into this node. All alternatives are merged.
    fn merge(&mut self, schema: &Value, whole: &Value, part: Part, depth: usize, left: &mut usize) {
        let Some(schema) = schema.as_object() else { return };
        if depth > DEEPEST || *left == 0 {
            return;
        }
        *left -= 1;
        self.format = match (self.format, Format::read(schema)) {
            (Format::Unsaid, Format::Other) if part == Part::Own => Format::Other,
            (known, new) if new.rank() > known.rank() && new != Format::Unsaid => new,
            (known, _) => known,
        };
        for key in ["description", "title"] {
            if let Some(prose) = schema.get(key).and_then(Value::as_str) {
                self.is_described_as_path |= speaks_of_paths(prose);
                self.is_described_as_glob |= speaks_of_globs(prose);
            }
        }
        if let Some(referred) =
            schema.get("$ref").and_then(Value::as_str).and_then(|to| whole.pointer(to.strip_prefix('#')?))
        {
            self.merge(referred, whole, part, depth + 1, left);
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            for branch in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
                self.merge(branch, whole, Part::Branch, depth + 1, left);
            }
        }
        for key in ["if", "then", "else"] {
            if let Some(branch) = schema.get(key) {
                self.merge(branch, whole, Part::Branch, depth + 1, left);
            }
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                let node = self.properties.entry(name.clone()).or_insert_with(|| Node::empty(Some(key_says(name))));
                node.merge(property, whole, Part::Own, depth + 1, left);
            }
        }
        let says = self.says;
        for key in ["items", "prefixItems", "contains"] {
            let several = schema
                .get(key)
                .map_or(&[][..], |items| items.as_array().map_or(std::slice::from_ref(items), Vec::as_slice));
            for item in several {
                self.items.get_or_insert_with(|| Box::new(Node::empty(says))).merge(
                    item,
                    whole,
                    Part::Own,
                    depth + 1,
                    left,
                );
            }
        }
        let patterns = schema.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::values);
        for other in schema.get("additionalProperties").into_iter().chain(patterns).filter(|other| other.is_object()) {
            self.others.get_or_insert_with(|| Box::new(Node::empty(None))).merge(
                other,
                whole,
                Part::Own,
                depth + 1,
                left,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn format(schema: &Value) -> Format {
        Node::read(&json!({"properties": {"a": schema}})).property("a").unwrap().format
    }

    #[test]
    fn formats() {
        for name in ["uri", "uri-reference", "iri", "path", "file-path", "filepath", "directory-path", "file"] {
            assert_eq!(format(&json!({"type": "string", "format": name})), Format::Path, "{name}");
        }
        for name in ["date", "regex", "byte"] {
            assert_eq!(format(&json!({"format": name})), Format::Other, "{name}");
        }
        assert_eq!(format(&json!({"format": "unheard-of"})), Format::Unsaid);
        assert_eq!(format(&json!({"contentEncoding": "base64"})), Format::Other);
        let marked = |word: &str| format(&json!({"format": "rooted-path", "x-rootward-access": word}));
        assert_eq!(marked("read"), Format::Marker(Need::READ));
        assert_eq!(marked("fly"), Format::Marker(Need::UNKNOWN));
        assert_eq!(format(&json!({"format": "rooted-path"})), Format::Marker(Need::UNKNOWN));
    }

    #[test]
    fn the_strongest_of_several_holds() {
        assert_eq!(format(&json!({"anyOf": [{"format": "date"}, {"format": "path"}]})), Format::Path);
        assert_eq!(format(&json!({"format": "date", "anyOf": [{"format": "path"}]})), Format::Path);
        assert_eq!(format(&json!({"oneOf": [{"format": "date"}, {"type": "string"}]})), Format::Unsaid);
        assert_eq!(format(&json!({"format": "date", "oneOf": [{"type": "string"}]})), Format::Other);
    }

    #[test]
    fn references_lists_and_rings() {
        let schema = json!({
            "properties": {"edits": {"type": "array", "items": {"$ref": "#/$defs/Edit"}}},
            "additionalProperties": {"description": "a path"},
            "$defs": {"Edit": {"properties": {"to": {"format": "path"}, "next": {"$ref": "#/$defs/Edit"}}}},
        });
        let node = Node::read(&schema);
        let edit = node.property("edits").unwrap().items.as_deref().unwrap();
        assert_eq!(edit.property("to").unwrap().format, Format::Path);
        assert_eq!(edit.property("next").unwrap().property("to").unwrap().format, Format::Path);
        assert!(node.property("any").unwrap().is_described_as_path);
        for name in ["edits", "to", "next"] {
            assert!(node.names().contains(&name), "{name}");
        }
        let ring = json!({"$ref": "#", "allOf": [{"$ref": "#"}, {"$ref": "#"}], "properties": {"a": {"$ref": "#"}}});
        assert!(Node::read(&ring).property("a").is_some());
        assert!(Node::read(&json!(true)).property("a").is_none());
    }
}
