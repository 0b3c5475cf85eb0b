//! Which arguments of which tools a modern request repeats in its headers, according to `tools/list`
//! (`x-mcp-header`).
//!
//! A tool whose annotations break the rules must not be offered to the client (2026-07-28, Streamable HTTP, "Schema
//! Extension").

use std::collections::{HashMap, HashSet};

use http::HeaderName;
use rootward_protocol::frame::Members;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The schema keyword.
const KEY: &str = "x-mcp-header";
/// The prefix of these headers.
const PREFIX: &str = "mcp-param-";
/// How many tools are remembered.
const MOST_TOOLS: usize = 10_000;

/// What is known about a server's tools.
#[derive(Debug, Default)]
pub(super) struct Annotations(HashMap<String, Vec<Annotation>>);

/// An argument that is repeated in a header.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Annotation {
    /// The keys that lead to it.
    path: Vec<String>,
    header: HeaderName,
}

/// The result of learning from a list of tools.
#[derive(Debug, Default)]
pub(super) struct Learned {
    /// The result without tools that break the rules, if there are any.
    pub(super) result: Option<String>,
    /// The rejected tools, with the reason.
    pub(super) rejected: Vec<String>,
}

impl Annotations {
    /// Learns from the result of a `tools/list`.
    pub(super) fn learn(&mut self, result: &RawValue) -> Learned {
        let mut learned = Learned::default();
        let Some(members) = Members::read(result) else { return learned };
        let tools = members.get("tools").and_then(|tools| serde_json::from_str::<Vec<&RawValue>>(tools.get()).ok());
        let mut kept = Vec::new();
        for tool in tools.into_iter().flatten() {
            let Some(name) = Members::read(tool).and_then(|tool| tool.text("name")) else {
                kept.push(tool.get());
                continue;
            };
            match annotations(tool) {
                Ok(found) => {
                    kept.push(tool.get());
                    self.0.remove(&name);
                    if !found.is_empty() && self.0.len() < MOST_TOOLS {
                        self.0.insert(name, found);
                    }
                }
                Err(why) => learned.rejected.push(format!("{name}: {why}")),
            }
        }
        if !learned.rejected.is_empty() {
            learned.result = Some(members.with("tools", &format!("[{}]", kept.join(","))));
        }
        learned
    }

    /// The headers of a call, with the values of its arguments.
    pub(super) fn of_call<'s>(&'s self, tool: &str, arguments: &Value) -> Vec<(&'s HeaderName, String)> {
        let annotations = self.0.get(tool).map(Vec::as_slice).unwrap_or_default();
        let one = |annotation: &'s Annotation| {
            let value = annotation.path.iter().try_fold(arguments, |value, key| value.get(key))?;
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Bool(boolean) => boolean.to_string(),
                Value::Number(number) => number.to_string(),
                _ => return None,
            };
            Some((&annotation.header, text))
        };
        annotations.iter().filter_map(one).collect()
    }
}

/// The annotations of one tool; an error if they break the rules.
fn annotations(tool: &RawValue) -> Result<Vec<Annotation>, String> {
    if !tool.get().contains(KEY) {
        return Ok(Vec::new());
    }
    let tool: Value = serde_json::from_str(tool.get()).map_err(|error| error.to_string())?;
    let Some(Value::Object(schema)) = tool.get("inputSchema") else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    read_schema(schema, &mut Vec::new(), &mut found)?;
    let mut seen = HashSet::new();
    match found.iter().find(|annotation| !seen.insert(&annotation.header)) {
        Some(twice) => Err(format!("duplicate `{KEY}` of `{}`", twice.header)),
        None => Ok(found),
    }
}

/// Reads a schema that is reached from the top through `properties` alone.
fn read_schema(schema: &Map<String, Value>, path: &mut Vec<String>, to: &mut Vec<Annotation>) -> Result<(), String> {
    for (key, value) in schema {
        match (key.as_str(), value) {
            (KEY, _) if path.is_empty() => return Err(format!("`{KEY}` at the top of the schema")),
            (KEY, header) => to.push(annotation(schema, header, path)?),
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    if let Value::Object(property) = property {
                        path.push(name.clone());
                        read_schema(property, path, to)?;
                        path.pop();
                    }
                }
            }
            // Data, not schemas.
            ("default" | "const" | "enum" | "examples", _) => {}
            (_, other) if has_annotation(other) => return Err(format!("`{KEY}` below `{key}`")),
            _ => {}
        }
    }
    Ok(())
}

fn annotation(schema: &Map<String, Value>, header: &Value, path: &[String]) -> Result<Annotation, String> {
    let name = header.as_str().filter(|name| !name.is_empty()).ok_or_else(|| format!("`{KEY}` is not a name"))?;
    let header = format!("{PREFIX}{name}").parse();
    let header = header.map_err(|_| format!("`{KEY}`: not the name of a header"))?;
    match schema.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => Ok(Annotation { path: path.to_vec(), header }),
        _ => Err(format!("`{KEY}` on `{}`, which is not a string, an integer or a boolean", path.join("."))),
    }
}

/// Whether there is an annotation where none is allowed.
fn has_annotation(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(key, value)| {
            key == KEY || !matches!(key.as_str(), "default" | "const" | "enum" | "examples") && has_annotation(value)
        }),
        Value::Array(items) => items.iter().any(has_annotation),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn learn(annotations: &mut Annotations, properties: &Value) -> Learned {
        let schema = json!({"type": "object", "properties": properties});
        let tools = json!([{"name": "plain", "inputSchema": {}}, {"name": "tool", "inputSchema": schema}]);
        annotations.learn(&to_raw_value(&json!({"tools": tools, "nextCursor": "n"})).unwrap())
    }

    #[test]
    fn arguments_are_repeated_in_headers() {
        let mut annotations = Annotations::default();
        let properties = json!({
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"count": {"type": "integer", "x-mcp-header": "Count"}}},
            "other": {"type": "string", "default": {"x-mcp-header": "No"}},
        });
        assert!(learn(&mut annotations, &properties).result.is_none());
        let check = |arguments: Value, expect: &[(&str, &str)]| {
            let found = annotations.of_call("tool", &arguments);
            let mut found: Vec<_> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            found.sort_unstable();
            assert_eq!(found, expect, "{arguments}");
        };
        let both = [("mcp-param-count", "-7"), ("mcp-param-region", "eu")];
        check(json!({"region": "eu", "deep": {"count": -7}}), &both);
        check(json!({"region": null, "deep": 1}), &[]);
        assert!(annotations.of_call("plain", &json!({"region": "eu"})).is_empty());
    }

    #[test]
    fn tools_that_break_the_rules_are_left_out() {
        for properties in [
            json!({"a": {"type": "number", "x-mcp-header": "A"}}),
            json!({"a": {"type": "string", "x-mcp-header": ""}}),
            json!({"a": {"type": "string", "x-mcp-header": "A b"}}),
            json!({"a": {"type": "string", "x-mcp-header": 7}}),
            json!({"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}),
            json!({"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}),
            json!({"a": {"anyOf": [{"type": "string", "x-mcp-header": "A"}]}}),
        ] {
            let learned = learn(&mut Annotations::default(), &properties);
            let result: Value = serde_json::from_str(&learned.result.unwrap()).unwrap();
            assert_eq!(result["tools"], json!([{"name": "plain", "inputSchema": {}}]), "{properties}");
            assert_eq!(result["nextCursor"], "n");
            assert!(learned.rejected[0].starts_with("tool: "), "{:?}", learned.rejected);
        }
    }
}
