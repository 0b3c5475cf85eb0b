//! The input and output schemas of the tools.
//!
//! They are short, because a client passes them to a model with every list: no `$schema`, no `format` (clients warn
//! about unknown formats), no default that means "off" or "none", no second branch for `null`.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::tool::Output;

/// The input schema of a tool.
pub(crate) fn input_schema<A: JsonSchema>() -> JsonObject {
    let generator = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator();
    let mut schema = generator.into_root_schema_for::<A>().to_value();
    shorten(&mut schema);
    object(schema)
}

/// Removes parts that are useless to a client, recursively.
fn shorten(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(shorten),
        Value::Object(members) => {
            // Below `properties`, a key is an argument's name and its value is an object.
            members.retain(|key, value| {
                !matches!(key.as_str(), "$schema" | "title" | "format" | "default") || value.is_object()
            });
            without_null(members);
            members.values_mut().for_each(shorten);
        }
        _ => {}
    }
}

/// An optional argument need not also allow `null`, which some models cannot handle.
fn without_null(schema: &mut JsonObject) {
    if let Some(Value::Array(words)) = schema.get_mut("type") {
        words.retain(|word| word != "null");
        if let [word] = words.as_mut_slice() {
            let word = word.take();
            schema.insert("type".to_owned(), word);
        }
    }
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
        branches.retain(|branch| branch["type"] != "null");
        if let [Value::Object(only)] = branches.as_mut_slice() {
            let only = std::mem::take(only);
            schema.remove("anyOf");
            schema.extend(only);
        }
    }
}

/// The output schema of a tool.
///
/// A refused path returns different data: `code`, `message`, `path`, `access`, `roots`. Some clients, such as the
/// TypeScript SDK, also validate errors against the schema, so it requires nothing
/// (test: `refusals_match_the_schema_of_the_result`).
pub(crate) fn output_schema(output: Output) -> JsonObject {
    let properties = match output {
        Output::Text => json!({"content": {"type": "string"}}),
        Output::TextInPart => json!({"content": {"type": "string"}, "note": {"type": "string"}}),
        Output::Data(properties) => properties(),
    };
    object(json!({"type": "object", "properties": properties}))
}

/// The schema of a nullable value. It has two branches, because some models expect `type` to be a single string.
pub(crate) fn or_null(word: &str) -> Value {
    json!({"anyOf": [{"type": word}, {"type": "null"}]})
}

/// The schema of a list of strings.
pub(crate) fn strings() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Arguments {
        /// How many
        count: Option<u64>,
        #[serde(default)]
        #[schemars(range(max = 50))]
        format: usize,
        default: bool,
        title: Option<Either>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Either {
        One(String),
        Many(Vec<String>),
    }

    #[test]
    fn schemas_are_short() {
        let expect = json!({
            "type": "object",
            "properties": {
                "count": {"type": "integer", "minimum": 0, "description": "How many"},
                "format": {"type": "integer", "minimum": 0, "maximum": 50},
                "default": {"type": "boolean"},
                "title": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            },
            "required": ["default"],
        });
        assert_eq!(Value::Object(input_schema::<Arguments>()), expect);
    }
}
