//! The schemas of the tools: what each takes, and what it answers with.
//!
//! They are what the types say, written down in `schemas.json`, because reading them is less work for a server that starts than making
//! them. A test holds the file to the types.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, LazyLock};

use rmcp::ErrorData;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::tool::Output;
use crate::tools::{PROJECT_TOOLS, TOOLS};

static WRITTEN_DOWN: &[u8] = include_bytes!("schemas.json");

/// The schemas of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Schemas {
    /// What it takes.
    pub(crate) input: Arc<JsonObject>,
    /// What it answers with.
    pub(crate) output: Arc<JsonObject>,
}

/// The same, as text.
#[derive(Clone, Copy, Deserialize, Debug)]
struct Written<'t> {
    #[serde(borrow)]
    input: &'t RawValue,
    #[serde(borrow)]
    output: &'t RawValue,
}

static BY_TOOL: LazyLock<Result<BTreeMap<&str, Written<'_>>, ErrorData>> =
    LazyLock::new(|| serde_json::from_slice(WRITTEN_DOWN).map_err(broken));

/// The schemas that were read, by their texts: many tools answer alike, and schemas take much memory.
#[derive(Default, Debug)]
pub(crate) struct ReadSchemas {
    read: BTreeMap<&'static str, Arc<JsonObject>>,
}

impl ReadSchemas {
    /// Those of a tool.
    pub(crate) fn of(&mut self, tool: &str) -> Result<Schemas, ErrorData> {
        let by_tool = BY_TOOL.as_ref().map_err(ErrorData::clone)?;
        let Some(Written { input, output }) = by_tool.get(tool).copied() else {
            return Err(ErrorData::internal_error(format!("the schemas of `{tool}` are missing"), None));
        };
        Ok(Schemas { input: self.read(input)?, output: self.read(output)? })
    }

    fn read(&mut self, text: &'static RawValue) -> Result<Arc<JsonObject>, ErrorData> {
        let read = match self.read.entry(text.get()) {
            Entry::Occupied(read) => read.into_mut(),
            Entry::Vacant(new) => new.insert(Arc::new(serde_json::from_slice(text.get().as_bytes()).map_err(broken)?)),
        };
        Ok(Arc::clone(read))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what a failure is turned into takes it")]
fn broken(error: serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("the schemas of the tools are broken: {error}"), None)
}

/// What `schemas.json` has to say: a line for each tool.
#[doc(hidden)]
pub fn schemas_of_types() -> String {
    let lines = TOOLS.iter().chain(PROJECT_TOOLS).map(|tool| {
        let schemas = json!({"input": (tool.takes)(), "output": output_schema(tool.about.output)});
        format!("{}: {schemas}", json!(tool.about.name))
    });
    format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n"))
}

/// The schema of what is answered: the answer, or else the refusal of a path, which is data as well. Some clients hold errors
/// to the schema, too.
fn output_schema(output: Output) -> JsonObject {
    let (required, properties) = match output {
        Output::Text => ("content", json!({"content": {"type": "string"}})),
        Output::TextInPart => {
            let note = json!({"type": "string", "description": "What is missing, and how to get it"});
            ("content", json!({"content": {"type": "string"}, "note": note}))
        }
        Output::Data(required, properties) => (required, properties()),
    };
    let refusal = object(json!({
        "code": {"type": "string", "description": "Where a path is refused: why"},
        "path": or_null("string", "Where a path is refused: the path as it was asked for"),
        "access": access("Where a path is refused: the access that was asked for"),
        "roots": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Where a path is refused: the roots in force",
        },
    }));
    let mut all = object(properties);
    for (name, schema) in refusal {
        all.entry(name).or_insert(schema);
    }
    object(json!({
        "type": "object",
        "properties": all,
        "anyOf": [{"required": [required]}, {"required": ["code"]}],
    }))
}

/// The schema of a value that may be missing. In two branches: some models take a type for one word.
pub(crate) fn or_null(word: &str, description: &str) -> Value {
    json!({"anyOf": [{"type": word}, {"type": "null"}], "description": description})
}

/// The schema of an access.
pub(crate) fn access(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// The schema of what a tool takes.
pub(crate) fn input_schema<A: JsonSchema>() -> JsonObject {
    let generator = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator();
    let mut schema = object(generator.into_root_schema_for::<A>().to_value());
    // The name of a type in this program says nothing to a client.
    schema.remove("title");
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(without_null);
    }
    schema
}

/// An argument that may be left out need not be offered as `null` as well, which some models cannot read.
fn without_null(schema: &mut Value) {
    let Some(Value::Array(words)) = schema.get_mut("type") else { return };
    words.retain(|word| word != "null");
    if let [word] = words.as_slice() {
        schema["type"] = word.clone();
    }
}
