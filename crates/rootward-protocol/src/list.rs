//! A client's answer to `roots/list`, parsed from raw JSON.
//!
//! Clients send things that no schema allows: entries without a URI, numbers, bare paths, URIs of other systems. A
//! typed parser would reject the whole list for any of them; this one keeps the good entries and reports the others. It
//! only ever narrows access: an invalid entry gives nothing, and a list that cannot be read completely is not a list.

use std::path::Path;

use rootward_core::{Access, OtherRoot, RefusedRoot, Root, RootError, RootSet, TextError, Validation, WhyRefused};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::keys;
use crate::text::shortened;

/// The maximum number of entries in a list.
pub const MOST_ENTRIES: usize = 10_000;
/// The maximum length of a name in characters. The rest is cut off, because a name is only shown.
const LONGEST_NAME: usize = 200;
/// How much of an unusable entry is kept for display, in characters.
const LONGEST_SHOWN: usize = 200;
/// The maximum length of a URI with another scheme, in bytes.
const LONGEST_OTHER: usize = 2048;
/// The maximum size of an entry's `_meta`, in bytes.
const LONGEST_META: usize = 4096;

/// Why an answer is not a list of roots.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ListError {
    /// Not an object.
    #[error("the result is {0}, not an object")]
    NoObject(&'static str),
    /// There is no `roots`. This is not the same as an empty list: treating it as one would revoke roots by mistake, or
    /// fall back to the operator's.
    #[error("the result has no `roots`")]
    NoRoots,
    /// `roots` is something else.
    #[error("`roots` is {0}, not a list")]
    NoList(&'static str),
    /// There are too many entries. The excess cannot be dropped: one of them may close a part of another root.
    #[error("{0} roots, more than {MOST_ENTRIES}")]
    TooMany(usize),
    /// It comes in pages that do not fit together.
    #[error("the list comes in pages, and {0}")]
    BrokenPages(&'static str),
}

/// The roots that a client named, and the entries that name none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClientList {
    roots: Vec<Root>,
    refused: Vec<RefusedRoot>,
    others: Vec<OtherRoot>,
}

/// What an entry names.
enum Named {
    /// A directory or a file.
    Root(Root),
    /// Something else: kept and passed on, but never opened.
    Other(OtherRoot),
}

impl ClientList {
    /// Parses the `result` of a `roots/list`. `home` is the directory that `~` means, for clients that send paths
    /// instead of URIs.
    pub fn read(result: &Value, home: Option<&Path>) -> Result<ClientList, ListError> {
        let object = result.as_object().ok_or(ListError::NoObject(kind(result)))?;
        let entries = match object.get("roots") {
            None => return Err(ListError::NoRoots),
            Some(Value::Array(entries)) => entries,
            Some(other) => return Err(ListError::NoList(kind(other))),
        };
        if entries.len() > MOST_ENTRIES {
            // SECURITY: an entry beyond the limit may close a part of one before it
            // (test: too_many_roots_are_not_a_list)
            return Err(ListError::TooMany(entries.len()));
        }
        let mut list = ClientList::default();
        for entry in entries {
            match read_entry(entry, home) {
                Ok(Named::Root(root)) => list.roots.push(root),
                Ok(Named::Other(other)) => list.others.push(other),
                Err((text, reason)) => {
                    list.refused.push(RefusedRoot { text, root: None, reason: WhyRefused::Unusable(reason) });
                }
            }
        }
        Ok(list)
    }

    /// The roots, in order, including duplicates.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The entries that name no root, with the reasons.
    pub fn refused(&self) -> &[RefusedRoot] {
        &self.refused
    }

    /// The roots of other schemes.
    pub fn others(&self) -> &[OtherRoot] {
        &self.others
    }

    /// Whether it has any entries, usable or not.
    pub fn has_entries(&self) -> bool {
        !(self.roots.is_empty() && self.refused.is_empty() && self.others.is_empty())
    }

    /// Looks up the roots on disk. Every entry of the list becomes a root, a root of another scheme, or a refused root.
    #[must_use]
    pub fn place_ambient(self, validation: &Validation) -> RootSet {
        let found = RootSet::place_ambient(self.roots, validation);
        RootSet::new(found.roots().iter().cloned(), found.refused().iter().cloned().chain(self.refused))
            .with_others(self.others)
    }
}

/// Parses one entry. The error is its text and the reason.
fn read_entry(entry: &Value, home: Option<&Path>) -> Result<Named, (String, String)> {
    let nothing = Map::new();
    let (uri, object) = match entry {
        // No schema allows this, but the meaning is clear.
        Value::String(uri) => (uri, &nothing),
        Value::Object(object) => match object.get("uri") {
            Some(Value::String(uri)) => (uri, object),
            Some(other) => return Err(unusable(entry, format!("`uri` is {}, not a string", kind(other)))),
            None => return Err(unusable(entry, "no `uri`".to_owned())),
        },
        other => return Err(unusable(entry, format!("{} instead of a root", kind(other)))),
    };
    let unreadable = |error: RootError| (shortened(uri, LONGEST_SHOWN), error.reason());
    let meta = object.get("_meta").filter(|meta| meta.is_object()).map(Value::to_string);
    let meta = meta.filter(|meta| meta.len() <= LONGEST_META).map(String::into_boxed_str);
    let name = object.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    let name = name.map(|name| shortened(name, LONGEST_NAME));
    let root = match Root::from_client(uri, home) {
        Err(RootError::Text { reason: TextError::Scheme(_), .. }) if is_kept(uri) => {
            return Ok(Named::Other(OtherRoot { uri: uri.clone(), name, meta }));
        }
        read => read.map_err(unreadable)?,
    };
    // SECURITY: an entry's own statement can only reduce its access (test: an_entry_can_only_narrow_its_access)
    let access = root.access & stated_access(object);
    Ok(Named::Root(Root { name, meta, ..root.with_access(access) }))
}

/// Whether to keep a URI of another scheme: not too long, and without characters that no URI contains.
fn is_kept(uri: &str) -> bool {
    uri.len() <= LONGEST_OTHER && !uri.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// The access in `_meta["rootward.dev/access"]`. Without the key, everything. With an invalid value, nothing, because
/// its author wanted less than everything and it is unknown how much less. Such a root stays in the set as a closed
/// one: without it, a root above it would open what it was meant to close.
fn stated_access(object: &Map<String, Value>) -> Access {
    match object.get("_meta").and_then(|meta| meta.get(keys::ACCESS)) {
        None => Access::ALL,
        Some(Value::String(text)) => {
            Access::from_suffix(text).or_else(|| Access::from_words(text)).unwrap_or(Access::NONE)
        }
        Some(Value::Array(words)) => words
            .iter()
            .map(|word| word.as_str().and_then(Access::from_words))
            .try_fold(Access::NONE, |sum, word| Some(sum | word?))
            .unwrap_or(Access::NONE),
        Some(_) => Access::NONE,
    }
}

fn unusable(entry: &Value, reason: String) -> (String, String) {
    (shortened(&entry.to_string(), LONGEST_SHOWN), reason)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use rootward_core::Spelling;
    use serde_json::json;

    use super::*;

    fn read(result: &Value) -> ClientList {
        ClientList::read(result, Some(Path::new("/home/me"))).unwrap()
    }

    /// One entry between two good ones: checks the entry, and that the good ones stay.
    #[test]
    fn what_real_clients_send() {
        let check = |entry: Value, expect: Result<&str, &str>| {
            let list = read(&json!({"roots": [{"uri": "file:///first"}, entry, {"uri": "file:///last"}]}));
            let paths: Vec<&str> = list.roots().iter().filter_map(|root| root.path.to_str()).collect();
            match expect {
                Ok(path) => assert_eq!((paths, list.refused()), (vec!["/first", path, "/last"], &[][..]), "{entry}"),
                Err(reason) => {
                    assert_eq!(paths, ["/first", "/last"], "{entry}");
                    let refused: Vec<String> = list.refused().iter().map(|root| root.reason.to_string()).collect();
                    assert_eq!(refused, [format!("not a usable root: {reason}")], "{entry}");
                }
            }
        };
        check(json!({"uri": "file:///srv/app"}), Ok("/srv/app"));
        check(json!({"uri": "file:///srv/app/", "name": null, "_meta": null}), Ok("/srv/app"));
        check(json!({"uri": "file:///srv/with%20space"}), Ok("/srv/with space"));
        check(json!({"uri": "file://localhost/srv/app"}), Ok("/srv/app"));
        check(json!({"uri": "/srv/app"}), Ok("/srv/app"));
        check(json!({"uri": "~/src"}), Ok("/home/me/src"));
        check(json!("/srv/app"), Ok("/srv/app"));
        check(json!({"uri": "file:///srv/app", "name": 7, "colour": "red"}), Ok("/srv/app"));

        check(json!({"name": "app"}), Err("no `uri`"));
        check(json!({"uri": null}), Err("`uri` is null, not a string"));
        check(json!({"uri": 7}), Err("`uri` is a number, not a string"));
        check(json!({"uri": ["file:///srv"]}), Err("`uri` is a list, not a string"));
        check(json!(7), Err("a number instead of a root"));
        check(json!(null), Err("null instead of a root"));
        check(json!([]), Err("a list instead of a root"));
    }

    #[test]
    fn texts_that_name_no_place_here() {
        let check = |uri: &str| {
            let list = read(&json!({"roots": [{"uri": uri}, {"uri": "file:///last"}]}));
            assert_eq!((list.roots().len(), list.refused().len()), (1, 1), "{uri}");
            assert_eq!(list.refused()[0].text, uri);
        };
        for uri in [
            "",
            "src",
            "~other/src",
            "file:///c%3A/dev/x",
            "file://d:\\dev\\x",
            "file:///C:/dev/x",
            "C:\\dev\\x",
            "\\\\host\\share",
            "untitled:Untitled-1",
            "https://example.com/a b",
            "file://host/srv/app",
            "file:///home/me/c#-proj",
            "file:///home/me/c?x",
            "file:///srv/..%2F..%2Fetc",
            "file:///srv/../etc",
            "/srv/../etc",
            "file:///srv/%00",
            "file:///srv/%ff",
        ] {
            check(uri);
        }
    }

    #[test]
    fn a_root_of_another_scheme_is_kept_but_opens_nothing() {
        let uris =
            ["https://api.example.com/v1/", "vscode-remote://ssh-remote+host/srv/app", "http://localhost/etc/passwd"];
        for uri in uris {
            let list = read(&json!({"roots": [{"uri": uri, "name": "n", "_meta": {"x": 1}}]}));
            let other = OtherRoot { uri: uri.to_owned(), name: Some("n".to_owned()), meta: Some(r#"{"x":1}"#.into()) };
            assert_eq!((list.roots(), list.refused(), list.others()), (&[][..], &[][..], &[other][..]));
            let set = list.place_ambient(&Validation::new(None));
            assert!(set.is_empty() && set.names_any() && set.others().len() == 1, "{set:?}");
        }
        let long = format!("https://example.com/{}", "x".repeat(LONGEST_OTHER));
        assert_eq!(read(&json!({"roots": [{"uri": long}]})).refused().len(), 1);
    }

    #[test]
    fn answers_that_are_not_a_list() {
        let check = |result: Value, expect| assert_eq!(ClientList::read(&result, None), Err(expect), "{result}");
        check(json!({}), ListError::NoRoots);
        check(json!({"root": []}), ListError::NoRoots);
        check(json!({"roots": null}), ListError::NoList("null"));
        check(json!({"roots": {"uri": "file:///srv"}}), ListError::NoList("an object"));
        check(json!({"roots": "file:///srv"}), ListError::NoList("a string"));
        check(json!(null), ListError::NoObject("null"));
        check(json!([{"uri": "file:///srv"}]), ListError::NoObject("a list"));
        assert_eq!(ClientList::read(&json!({"roots": []}), None), Ok(ClientList::default()));
    }

    #[test]
    fn too_many_roots_are_not_a_list() {
        let list = |count: usize| json!({"roots": vec![json!({"uri": "file:///srv"}); count]});
        assert_eq!(read(&list(MOST_ENTRIES)).roots().len(), MOST_ENTRIES);
        assert_eq!(ClientList::read(&list(MOST_ENTRIES + 1), None), Err(ListError::TooMany(MOST_ENTRIES + 1)));
    }

    #[test]
    fn an_entry_can_only_narrow_its_access() {
        let check = |stated: Value, expect: Access| {
            let list = read(&json!({"roots": [{"uri": "file:///srv", "_meta": {keys::ACCESS: stated}}]}));
            assert_eq!(list.roots()[0].access, expect, "{stated}");
        };
        check(json!("ro"), Access::READ);
        check(json!("rw-nodelete"), Access::READ | Access::WRITE);
        check(json!("rwx"), Access::ALL);
        check(json!("read, write"), Access::READ | Access::WRITE);
        check(json!(["read", "delete"]), Access::READ | Access::DELETE);
        check(json!(["execute"]), Access::EXECUTE);
        check(json!([]), Access::NONE);
        // An invalid value gives nothing.
        check(json!("RO"), Access::NONE);
        check(json!(""), Access::NONE);
        check(json!(["read", "fly"]), Access::NONE);
        check(json!(["read", 7]), Access::NONE);
        check(json!({"read": true}), Access::NONE);
        check(json!(true), Access::NONE);
        check(json!(null), Access::NONE);
        let plain = read(&json!({"roots": [{"uri": "file:///srv", "_meta": "none"}]}));
        assert_eq!(plain.roots()[0].access, Access::ALL);
    }

    #[test]
    fn the_meta_of_an_entry_stays_with_its_root() {
        let check = |meta: Value, expect: Option<&str>| {
            let list = read(&json!({"roots": [{"uri": "file:///srv", "_meta": meta}]}));
            assert_eq!(list.roots()[0].meta.as_deref(), expect, "{meta}");
        };
        check(json!({"x": {"y": [1, null]}}), Some(r#"{"x":{"y":[1,null]}}"#));
        check(json!({keys::ACCESS: "ro"}), Some(r#"{"rootward.dev/access":"ro"}"#));
        check(json!("text"), None);
        check(json!({"x": "y".repeat(LONGEST_META)}), None);
        assert_eq!(read(&json!({"roots": [{"uri": "file:///srv"}]})).roots()[0].meta, None);
    }

    #[test]
    fn names_and_spellings() {
        let name = "n".repeat(LONGEST_NAME + 1);
        let list = read(&json!({"roots": [{"uri": "/srv", "name": name}, {"uri": "file:///srv", "name": ""}]}));
        assert_eq!(list.roots()[0].spelling, Spelling::Path);
        assert_eq!(list.roots()[0].name.as_ref().map(|name| name.chars().count()), Some(LONGEST_NAME + 1));
        assert_eq!((list.roots()[1].spelling, &list.roots()[1].name), (Spelling::Uri, &None));
        let long = format!("file:///{}", "x".repeat(100_000));
        let refused = &read(&json!({"roots": [{"uri": long}]})).refused()[0].text.clone();
        assert_eq!(refused.chars().count(), LONGEST_SHOWN + 1);
    }

    #[test]
    fn placed_with_every_entry_accounted_for() {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path().to_str().unwrap();
        let uri = format!("file://{here}");
        let result = json!({"roots": [
            {"uri": uri, "name": "here"},
            {"uri": format!("{uri}/"), "_meta": {keys::ACCESS: "ro"}},
            {"uri": format!("{uri}/missing")},
            {"uri": "file:///etc"},
            {"uri": 7},
        ]});
        let set = read(&result).place_ambient(&Validation::new(None));
        assert_eq!((set.len(), set.refused().len()), (1, 3));
        assert_eq!((set.roots()[0].root.access, set.roots()[0].root.name.as_deref()), (Access::READ, Some("here")));
        let nothing = read(&json!({"roots": [{"uri": 7}]})).place_ambient(&Validation::new(None));
        assert!(nothing.is_empty() && nothing.names_any());
        assert!(!read(&json!({"roots": []})).place_ambient(&Validation::new(None)).names_any());
    }
}
