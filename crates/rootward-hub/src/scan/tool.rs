//! What is known about a tool before it is called: name, schema, annotations, and the user's overrides.

use std::collections::BTreeMap;

use rootward_protocol::fold_case;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::access::{Hints, Need};
use super::schema::Node;

/// A tool as its server lists it.
#[derive(Clone, Debug)]
pub struct Tool {
    name: String,
    hints: Hints,
    pub(super) schema: Option<Node>,
    results: Results,
    treatments: BTreeMap<String, Treatment>,
}

/// What a tool declares about its results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Results {
    /// Nothing.
    Unsaid,
    /// The structured content has a schema.
    Structured,
}

/// The user's override for an argument: corrects a false positive or a path that was missed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Treatment {
    /// It is text, whatever it looks like.
    Text,
    /// It is a path, and the call does this with it.
    Path(Need),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    #[serde(default)]
    name: String,
    #[serde(default)]
    input_schema: Value,
    #[serde(default)]
    output_schema: Value,
    #[serde(default)]
    annotations: Value,
}

impl Tool {
    /// A tool with a known name and nothing else.
    pub fn named(name: impl Into<String>) -> Tool {
        Tool {
            name: name.into(),
            hints: Hints::default(),
            schema: None,
            results: Results::Unsaid,
            treatments: BTreeMap::new(),
        }
    }

    /// Parses an entry of `tools/list`; `None` if it cannot be parsed.
    pub fn from_listing(entry: &RawValue) -> Option<Tool> {
        let listed: Listed = serde_json::from_str(entry.get()).ok()?;
        let hint = |key: &str| listed.annotations.get(key).and_then(Value::as_bool).unwrap_or(false);
        let hints = Hints { read_only: hint("readOnlyHint"), destructive: hint("destructiveHint") };
        let schema = listed.input_schema.is_object().then(|| Node::read(&listed.input_schema));
        let results = if listed.output_schema.is_null() { Results::Unsaid } else { Results::Structured };
        Some(Tool { name: listed.name, hints, schema, results, treatments: BTreeMap::new() })
    }

    /// Sets the treatment of the argument `key`, at any depth. If it is text, so is everything inside it.
    #[must_use]
    pub fn with_treatment(mut self, key: impl Into<String>, treatment: Treatment) -> Tool {
        self.treatments.insert(key.into(), treatment);
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its results have a schema, which an error result must not violate.
    pub fn has_structured_results(&self) -> bool {
        self.results == Results::Structured
    }

    /// What the tool does with the argument `key`.
    pub fn need(&self, key: &str) -> Need {
        Need::of_tool(&self.name, key, self.hints)
    }

    /// The names of its arguments, at any depth, sorted.
    pub fn arguments(&self) -> Vec<&str> {
        let mut names = self.schema.as_ref().map(Node::names).unwrap_or_default();
        names.sort_unstable();
        names.dedup();
        names
    }

    pub(super) fn treatment(&self, key: &str) -> Option<Treatment> {
        self.treatments.get(key).copied()
    }

    /// What the tool does with the arguments that are treated as paths and that a case-insensitive parser takes `key` for,
    /// if `key` itself has no treatment.
    // SECURITY: `Treatment::Text` applies to no other case, because the server may not ignore case
    // (test: a_key_that_differs_only_in_case_is_judged_as_the_listed_one)
    pub(super) fn path_but_for_case(&self, key: &str) -> Option<Need> {
        if self.treatments.contains_key(key) {
            return None;
        }
        let alike = self.treatments.iter().filter(|(name, _)| fold_case(key).eq(fold_case(name)));
        let needs = alike.filter_map(|(_, treatment)| match treatment {
            Treatment::Path(need) => Some(*need),
            Treatment::Text => None,
        });
        needs.reduce(Need::and)
    }
}
