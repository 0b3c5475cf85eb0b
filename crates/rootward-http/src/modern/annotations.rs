//! Which arguments of which tools are repeated in headers, learned from passing lists of tools.
//!
//! A tool's schema names the header of an argument with `x-mcp-header`. The schema comes from the backend, so the
//! front learns it from answers to `tools/list`, separately for each principal. Before the first call of an unknown
//! tool, it asks the backend for the list.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use http::HeaderName;
use rootward_protocol::frame::Members;
use rootward_protocol::header;
use serde_json::Value;
use serde_json::value::RawValue;

/// How many tools are remembered per principal.
const MOST_TOOLS: usize = 10_000;

/// How often the backend is asked about tools that it does not list.
const ASK_AGAIN: Duration = Duration::from_secs(30);

/// The tools of one principal.
#[derive(Debug, Default)]
pub(crate) struct Annotations {
    tools: HashMap<String, Vec<Annotation>>,
    asked: Option<Instant>,
}

/// An argument that is repeated in a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Annotation {
    /// The keys that lead to it from the arguments.
    pub(crate) path: Vec<String>,
    /// The header.
    pub(crate) header: HeaderName,
}

impl Annotations {
    /// The annotations of a tool; `None` if it has not been listed.
    pub(crate) fn of(&self, tool: &str) -> Option<&[Annotation]> {
        self.tools.get(tool).map(Vec::as_slice)
    }

    /// Whether to ask the backend about a tool. If true, the request counts as sent.
    pub(crate) fn ask(&mut self, tool: &str, now: Instant) -> bool {
        let is_due = self.asked.is_none_or(|asked| now.saturating_duration_since(asked) >= ASK_AGAIN);
        if is_due && !self.tools.contains_key(tool) {
            self.asked = Some(now);
            return true;
        }
        false
    }

    /// The tools have changed, so the known ones may be wrong.
    pub(crate) fn forget(&mut self) {
        self.tools.clear();
        self.asked = None;
    }

    /// Learns the tools of a list. Returns the cursor of the next page.
    pub(crate) fn learn(&mut self, result: &RawValue) -> Option<String> {
        let result = Members::read(result)?;
        let tools: Vec<&RawValue> = result.get("tools").and_then(|tools| serde_json::from_str(tools.get()).ok())?;
        for tool in tools {
            let Some((name, schema)) =
                Members::read(tool).and_then(|tool| Some((tool.text("name")?, tool.get("inputSchema"))))
            else {
                continue;
            };
            if self.tools.len() < MOST_TOOLS || self.tools.contains_key(&name) {
                self.tools.insert(name, schema.map(annotations).unwrap_or_default());
            }
        }
        result.text("nextCursor")
    }
}

/// The annotations of a schema. They are not validated, because a client must not offer a tool with invalid ones.
fn annotations(schema: &RawValue) -> Vec<Annotation> {
    // Most schemas have none, and searching the text is cheaper than parsing the schema.
    if memchr::memmem::find(schema.get().as_bytes(), header::ANNOTATION.as_bytes()).is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let schema: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    collect(&schema, &mut Vec::new(), &mut found);
    found
}

/// Only arguments reached through `properties` alone have a header: section "Schema Extension" of the transport's
/// specification.
fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Annotation>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, property) in properties {
        path.push(name.clone());
        let header = property.get(header::ANNOTATION).and_then(Value::as_str).filter(|name| !name.is_empty());
        let header = header.and_then(|name| HeaderName::try_from(format!("{}{name}", header::PARAM)).ok());
        found.extend(header.map(|header| Annotation { path: path.clone(), header }));
        collect(property, path, found);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn annotations_are_learned_and_replaced() {
        let mut known = Annotations::default();
        let now = Instant::now();
        assert!(known.ask("query", now) && !known.ask("query", now));
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "in": {"properties": {"deep": {"x-mcp-header": "Deep"}}},
            "bad": {"x-mcp-header": "a b"},
            "empty": {"x-mcp-header": ""},
            "list": {"items": {"properties": {"x": {"x-mcp-header": "Lost"}}}},
        }});
        let list =
            json!({"tools": [{"name": "query", "inputSchema": schema}, {"name": "plain"}, 7], "nextCursor": "2"});
        assert_eq!(known.learn(&to_raw_value(&list).unwrap()).as_deref(), Some("2"));
        let mut shown: Vec<String> =
            known.of("query").unwrap().iter().map(|one| format!("{} {}", one.path.join("."), one.header)).collect();
        shown.sort();
        assert_eq!(shown, ["in.deep mcp-param-deep", "region mcp-param-region"]);
        assert_eq!(known.of("plain"), Some([].as_slice()));
        assert!(!known.ask("plain", now + ASK_AGAIN) && known.ask("new", now + ASK_AGAIN));
        known.learn(&to_raw_value(&json!({"tools": [{"name": "query", "inputSchema": {}}]})).unwrap());
        assert_eq!(known.of("query"), Some([].as_slice()));
        known.forget();
        assert!(known.of("query").is_none() && known.ask("query", now));
    }
}
