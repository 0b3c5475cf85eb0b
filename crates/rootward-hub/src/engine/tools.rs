//! What is known about a server's tools, learned from its lists.

use std::collections::HashMap;
use std::sync::Arc;

use rootward_protocol::method;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::link::Link;
use super::lists::is_last_page;
use super::rules::Treatments;
use super::session::Session;
use super::unmatched::unmatched;
use crate::scan::Tool;

/// How many tools are kept: more than any server has.
const MOST_TOOLS: usize = 10_000;

/// Maximum total size of their listings, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// The listed tools.
#[derive(Debug, Default)]
pub(super) struct Tools {
    known: HashMap<String, Listed>,
    /// The total size of their listings.
    bytes: usize,
    /// The lists (or first pages) that the client got last, by method: to notice if another child has different ones.
    told: HashMap<&'static str, Box<str>>,
    /// Whether any list of tools was received.
    listed: bool,
    /// Whether the user's overrides were compared with a whole list.
    compared: bool,
}

/// A listed tool.
#[derive(Debug)]
struct Listed {
    tool: Arc<Tool>,
    /// The length of its listing.
    bytes: usize,
}

#[derive(Deserialize)]
struct Listing<'j> {
    #[serde(borrow, default)]
    tools: Vec<&'j RawValue>,
}

impl Session {
    /// Learns from a list, or a page of it. After the last page, reports overrides for arguments that no tool has.
    pub(super) fn learn_list(&mut self, link: usize, list: &str, result: &RawValue) {
        let of = &mut self.links[link];
        of.learn_list(list, result);
        if list == method::LIST_TOOLS && is_last_page(result) && !of.tools.compared {
            of.tools.compared = true;
            let tools = of.tools.known.values().map(|listed| &*listed.tool);
            for says in unmatched(&of.rules.treatments, &tools.collect::<Vec<_>>()) {
                self.say(says);
            }
        }
    }
}

impl Link {
    fn learn_list(&mut self, list: &str, result: &RawValue) {
        if list == method::LIST_TOOLS {
            self.tools.learn(result, &self.rules.treatments);
        }
    }

    /// Records that the client got this list.
    pub(super) fn told_list(&mut self, list: &'static str, result: &str) {
        self.tools.told.insert(list, result.into());
    }

    /// Whether the client got a list.
    pub(super) fn is_told(&self, list: &str) -> bool {
        self.tools.told.contains_key(list)
    }

    /// Whether this list differs from what the client got.
    pub(super) fn is_news(&self, list: &str, result: &str) -> bool {
        self.tools.told.get(list).is_some_and(|told| **told != *result)
    }
}

impl Tools {
    /// Learns from the result of a `tools/list`.
    pub(super) fn learn(&mut self, result: &RawValue, treatments: &Treatments) {
        self.listed = true;
        let Ok(listing) = serde_json::from_str::<Listing<'_>>(result.get()) else { return };
        for (listed, tool) in listing.tools.into_iter().filter_map(|listed| Some((listed, Tool::from_listing(listed)?)))
        {
            self.keep(listed.get().len(), treatments.apply(tool));
        }
    }

    // SECURITY: a server that lists different tools each time must not exhaust memory. An unknown tool is judged by
    // its name and keys alone
    // (test: tools_are_not_kept_without_bound)
    fn keep(&mut self, bytes: usize, tool: Tool) {
        let name = tool.name().to_owned();
        if let Some(before) = self.known.remove(&name) {
            self.bytes -= before.bytes;
        }
        if self.known.len() == MOST_TOOLS || self.bytes + bytes > MOST_BYTES {
            self.known.clear();
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.known.insert(name, Listed { tool: Arc::new(tool), bytes });
    }

    /// The tool with this name, as far as it is known.
    pub(super) fn get(&self, name: &str, treatments: &Treatments) -> Arc<Tool> {
        let known = self.known.get(name).map(|listed| Arc::clone(&listed.tool));
        known.unwrap_or_else(|| Arc::new(treatments.apply(Tool::named(name))))
    }

    /// Whether a list was received at all.
    pub(super) fn are_listed(&self) -> bool {
        self.listed
    }

    /// Stops waiting for a list.
    pub(super) fn will_not_be_listed(&mut self) {
        self.listed = true;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn tools_are_not_kept_without_bound() {
        let mut tools = Tools::default();
        let page = |turn: usize, count: usize| {
            let list: Vec<_> = (0..count).map(|number| json!({"name": format!("{turn}-{number}")})).collect();
            to_raw_value(&json!({"tools": list})).unwrap()
        };
        for turn in 0..25 {
            tools.learn(&page(turn, 1000), &Treatments::default());
            assert!(tools.known.len() <= MOST_TOOLS && tools.known.contains_key(&format!("{turn}-999")), "{turn}");
        }
        tools.learn(&page(99, 3 * MOST_TOOLS), &Treatments::default());
        assert!(tools.known.len() <= MOST_TOOLS, "{}", tools.known.len());
        // The same list again forgets nothing.
        let mut tools = Tools::default();
        let long = "x".repeat(MOST_BYTES / 10);
        let list = to_raw_value(&json!({"tools": [{"name": "a", "description": long}]})).unwrap();
        for _ in 0..25 {
            tools.learn(&list, &Treatments::default());
            assert!(tools.bytes < MOST_BYTES / 9, "{}", tools.bytes);
        }
    }
}
