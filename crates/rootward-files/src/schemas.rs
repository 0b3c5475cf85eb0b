//! The schemas of the tools: what each takes, and what it answers with.
//!
//! They are short, because a client hands them to a model with every list: no `$schema`, no `format` (clients warn about formats that
//! they do not know), no default that says "off" or "none", no second branch for `null`.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::tool::Output;

/// The schema of what a tool takes.
pub(crate) fn input_schema<A: JsonSchema>() -> JsonObject {
    let generator = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator();
    let mut schema = generator.into_root_schema_for::<A>().to_value();
    shorten(&mut schema);
    object(schema)
}

/// Takes out what says nothing to a client, here and below.
fn shorten(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(shorten),
        Value::Object(members) => {
            // Below `properties`, a key is the name of an argument, and what it has is an object.
            members.retain(|key, value| {
                !matches!(key.as_str(), "$schema" | "title" | "format" | "default") || value.is_object()
            });
            without_null(members);
            members.values_mut().for_each(shorten);
        }
        _ => {}
    }
}

/// An argument that may be left out need not be offered as `null` as well, which some models cannot read.
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

/// The schema of what a tool answers with.
///
/// A refused path is answered with other data: `code`, `message`, `path`, `access`, `roots`. Some clients hold errors to the schema, too (the TypeScript
/// SDK does), so nothing in it is required (test: `a_refusal_is_what_the_schema_says`).
pub(crate) fn output_schema(output: Output) -> JsonObject {
    let properties = match output {
        Output::Text => json!({"content": {"type": "string"}}),
        Output::TextInPart => json!({"content": {"type": "string"}, "note": {"type": "string"}}),
        Output::Data(properties) => properties(),
    };
    object(json!({"type": "object", "properties": properties}))
}

/// The schema of a value that may be missing. In two branches: some models take a type for one word.
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
