//! Merges the offers of all servers into one list with unique names. Pure values.

use std::collections::HashMap;
use std::sync::Arc;

use rootward_protocol::frame::Members;
use rootward_protocol::method;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Served;
use crate::config::{HubSettings, Prefix, exposed_name};

/// Entries per page. Many clients read only the first page.
const PAGE: usize = 1000;

/// A merged list.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// The entries as the client sees them, ordered by server and then by its list.
    entries: Vec<String>,
    /// The owner of each name or URI, with the server's own name for it.
    owners: HashMap<String, Owner>,
    /// Entries that were left out, as messages for the operator.
    pub(super) left_out: Vec<String>,
}

/// Who offers an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Owner {
    /// The index of the server.
    pub(super) server: usize,
    /// The server's own name for it.
    pub(super) name: Arc<str>,
}

/// The member that names an entry, and the member of the result that contains the entries.
pub(super) fn members_of(list: &str) -> (&'static str, &'static str) {
    match list {
        method::LIST_PROMPTS => ("name", "prompts"),
        method::LIST_RESOURCES => ("uri", "resources"),
        method::LIST_TEMPLATES => ("uriTemplate", "resourceTemplates"),
        _ => ("name", "tools"),
    }
}

/// One server's part of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'p> {
    /// The index of the server.
    pub(super) position: usize,
    pub(super) server: &'p Served,
    pub(super) entries: &'p [Box<RawValue>],
}

impl Merged {
    /// Merges all servers' entries. `own` are the hub's own entries, which come first.
    pub(super) fn of(list: &'static str, own: &[Value], parts: &[Part<'_>], settings: &HubSettings) -> Merged {
        let (key, _) = members_of(list);
        let mut merged = Merged { entries: own.iter().map(Value::to_string).collect(), ..Merged::default() };
        let mut taken: HashMap<String, String> =
            own.iter().filter_map(|entry| Some((entry.get(key)?.as_str()?.to_owned(), "the hub".to_owned()))).collect();
        let several = names_of_several(key, parts);
        for Part { position, server, entries } in parts.iter().copied() {
            for entry in entries {
                let read = Members::read(entry);
                let Some((read, name)) = read.and_then(|read| read.text(key).map(|name| (read, name))) else {
                    merged.left_out.push(format!("server `{}` lists an entry without `{key}`", server.name));
                    continue;
                };
                if list == method::LIST_TOOLS && !server.allows(&name) {
                    continue;
                }
                let is_named = key == "name";
                let prefixed = is_named
                    && match settings.prefix {
                        Prefix::Always => true,
                        Prefix::Collisions => several.contains_key(&name) || taken.contains_key(&name),
                        Prefix::Never => false,
                    };
                let exposed =
                    if prefixed { exposed_name(&server.prefix, &settings.separator, &name) } else { name.clone() };
                if let Some(first) = taken.get(&exposed) {
                    let says = format!("`{exposed}` of server `{}` is hidden: {first} has the same name", server.name);
                    merged.left_out.push(says);
                    continue;
                }
                taken.insert(exposed.clone(), format!("server `{}`", server.name));
                let text = if exposed == name {
                    entry.get().to_owned()
                } else {
                    read.with(key, &Value::from(exposed.as_str()).to_string())
                };
                merged.entries.push(text);
                merged.owners.insert(exposed, Owner { server: position, name: name.into() });
            }
        }
        merged
    }

    /// The owner of an exposed name.
    pub(super) fn owner(&self, name: &str) -> Option<&Owner> {
        self.owners.get(name)
    }

    /// The server with the best matching template, by the text before its first variable.
    pub(super) fn owner_by_template(&self, uri: &str) -> Option<usize> {
        let fitting = self.owners.iter().filter_map(|(template, owner)| {
            let (fixed, _) = template.split_once('{')?;
            (!fixed.is_empty() && uri.starts_with(fixed)).then_some((fixed.len(), owner.server))
        });
        // The longest match wins; among equal ones, the first server.
        fitting.max_by_key(|(length, server)| (*length, usize::MAX - server)).map(|(_, server)| server)
    }

    /// A page of the list, starting at `cursor`. `None` if the cursor is not from this generation.
    pub(super) fn page(&self, list: &'static str, generation: u64, cursor: Option<&str>) -> Option<String> {
        let (_, member) = members_of(list);
        let begin = match cursor {
            None => 0,
            Some(cursor) => {
                let (of, position) = cursor.split_once('.')?;
                let position = position.parse().ok().filter(|position| *position < self.entries.len())?;
                (of.parse() == Ok(generation)).then_some(position)?
            }
        };
        let end = self.entries.len().min(begin + PAGE);
        let is_last = end == self.entries.len();
        let next = if is_last { String::new() } else { format!(r#","nextCursor":"{generation}.{end}""#) };
        Some(format!(r#"{{"{member}":[{}]{next}}}"#, self.entries[begin..end].join(",")))
    }
}

/// The names that more than one server has.
fn names_of_several(key: &str, parts: &[Part<'_>]) -> HashMap<String, usize> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let all = parts.iter().flat_map(|part| part.entries);
    for name in all.filter_map(|entry| Members::read(entry)?.text(key)) {
        *counts.entry(name).or_default() += 1;
    }
    counts.retain(|_, count| *count > 1);
    counts
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn served(name: &str) -> Arc<Served> {
        Arc::new(Served::named(name))
    }

    fn entries(key: &str, names: &[&str]) -> Vec<Box<RawValue>> {
        names.iter().map(|name| to_raw_value(&json!({key: name, "x": 1})).unwrap()).collect()
    }

    fn parts<'p>(servers: &'p [Arc<Served>], entries: &[&'p [Box<RawValue>]]) -> Vec<Part<'p>> {
        let parts = servers.iter().zip(entries).enumerate();
        parts.map(|(position, (server, entries))| Part { position, server, entries }).collect()
    }

    fn names(prefix: Prefix) -> HubSettings {
        HubSettings { prefix, ..HubSettings::default() }
    }

    #[test]
    fn names_tell_servers_apart() {
        let (first, second) = (entries("name", &["read", "list"]), entries("name", &["read"]));
        let servers = [served("a"), served("b")];
        let check = |naming: Prefix, expect: &[&str], left_out: usize| {
            let merged = Merged::of(
                method::LIST_TOOLS,
                &[json!({"name": "get-roots"})],
                &parts(&servers, &[&first, &second]),
                &names(naming),
            );
            let page: Value = serde_json::from_str(&merged.page(method::LIST_TOOLS, 1, None).unwrap()).unwrap();
            let listed: Vec<&str> =
                page["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
            assert_eq!(listed, expect, "{naming:?}");
            assert_eq!(merged.left_out.len(), left_out, "{:?}", merged.left_out);
            for name in &expect[1..] {
                let owner = merged.owner(name).unwrap();
                assert!(name.ends_with(&*owner.name), "{name} {owner:?}");
            }
            assert_eq!(merged.owner("get-roots"), None);
        };
        check(Prefix::Always, &["get-roots", "a__read", "a__list", "b__read"], 0);
        check(Prefix::Collisions, &["get-roots", "a__read", "list", "b__read"], 0);
        check(Prefix::Never, &["get-roots", "read", "list"], 1);
    }

    #[test]
    fn the_hubs_own_names_are_reserved() {
        let entries = entries("name", &["get-roots"]);
        let own = [json!({"name": "get-roots"})];
        let merged = Merged::of(method::LIST_TOOLS, &own, &parts(&[served("a")], &[&entries]), &names(Prefix::Never));
        assert_eq!((merged.owner("get-roots"), merged.left_out.len()), (None, 1));
        let merged =
            Merged::of(method::LIST_TOOLS, &own, &parts(&[served("a")], &[&entries]), &names(Prefix::Collisions));
        assert_eq!(merged.owner("a__get-roots").map(|owner| &*owner.name), Some("get-roots"));
    }

    #[test]
    fn long_lists_have_pages_and_stale_cursors_are_refused() {
        let all: Vec<String> = (0..PAGE + 7).map(|number| format!("t{number}")).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let entries = entries("name", &all);
        let merged = Merged::of(method::LIST_TOOLS, &[], &parts(&[served("a")], &[&entries]), &names(Prefix::Always));
        let count = |cursor: Option<&str>| -> Option<(usize, Option<String>)> {
            let page: Value = serde_json::from_str(&merged.page(method::LIST_TOOLS, 3, cursor)?).unwrap();
            Some((page["tools"].as_array().unwrap().len(), page["nextCursor"].as_str().map(str::to_owned)))
        };
        let (first, next) = count(None).unwrap();
        assert_eq!((first, next.as_deref()), (PAGE, Some("3.1000")));
        assert_eq!(count(next.as_deref()), Some((7, None)));
        for cursor in ["2.1000", "3.9999", "3.", "x", "3.-1", ""] {
            assert_eq!(count(Some(cursor)), None, "{cursor}");
        }
    }

    #[test]
    fn addresses_keep_their_text_and_templates_are_found_by_their_beginning() {
        let resources = [entries("uri", &["file:///a", "demo://x"]), entries("uri", &["file:///a", "file:///b"])];
        let (servers, lists) = ([served("a"), served("b")], [&resources[0][..], &resources[1][..]]);
        let merged = Merged::of(method::LIST_RESOURCES, &[], &parts(&servers, &lists), &names(Prefix::Always));
        assert_eq!(merged.owner("file:///a").map(|owner| owner.server), Some(0));
        assert_eq!(merged.owner("file:///b").map(|owner| owner.server), Some(1));
        assert_eq!(merged.left_out.len(), 1);
        let templates =
            [entries("uriTemplate", &["demo://{x}"]), entries("uriTemplate", &["demo://text/{x}", "{any}"])];
        let lists = [&templates[0][..], &templates[1][..]];
        let merged = Merged::of(method::LIST_TEMPLATES, &[], &parts(&servers, &lists), &names(Prefix::Always));
        assert_eq!(merged.owner_by_template("demo://text/1"), Some(1));
        assert_eq!(merged.owner_by_template("demo://other"), Some(0));
        assert_eq!(merged.owner_by_template("other://x"), None);
    }
}
