//! What a tool is: how it is described, what it takes, what it does. One file below `tools/` for each.

use std::pin::Pin;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;

/// A tool of the server.
pub(crate) trait FileTool: 'static {
    /// How it is described.
    const ABOUT: About;
    /// What it takes.
    type Arguments: DeserializeOwned + JsonSchema + Send;

    /// Does it.
    fn call(arguments: Self::Arguments, call: &Call) -> impl Future<Output = Result<Answer, Failure>> + Send;
}

/// How a tool is described.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) effect: Effect,
    pub(crate) output: Output,
    pub(crate) offered: Offered,
}

/// What a call of it does to the user's files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing.
    Reads,
    /// Makes something where nothing was; once more changes nothing.
    Makes,
    /// Puts something in the place of what was there; once more changes nothing.
    Replaces,
    /// Changes what is there; once more, it changes again.
    Changes,
    /// Whatever the command that it runs does.
    Runs,
}

/// What it answers with, besides text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Output {
    /// The same text as `content`.
    Text,
    /// The same, and a `note` where that is not all.
    TextInPart,
    /// Data with these properties, a schema for each; the one that is named is always there.
    Data(&'static str, fn() -> Value),
}

/// When it is in the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Offered {
    /// Always; its paths are checked, so its description names the roots.
    WithRoots,
    /// Always; it takes no path.
    Always,
    /// Where a root in force may be executed in.
    ToExecute,
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let annotations = ToolAnnotations::new().read_only(self == Effect::Reads).open_world(self == Effect::Runs);
        match self {
            Effect::Reads => annotations,
            Effect::Makes => annotations.destructive(false).idempotent(true),
            Effect::Replaces => annotations.destructive(true).idempotent(true),
            Effect::Changes | Effect::Runs => annotations.destructive(true).idempotent(false),
        }
    }
}

impl Output {
    /// The schema of what is answered: the answer, or else the refusal of a path, which is data as well. Some clients hold errors
    /// to the schema, too.
    fn schema(self) -> JsonObject {
        let (required, properties) = match self {
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

type Called<'c> = Pin<Box<dyn Future<Output = Result<Answer, Failure>> + Send + 'c>>;

/// A tool in the list of all.
pub(crate) struct Listed {
    pub(crate) about: About,
    takes: fn() -> JsonObject,
    run: for<'c> fn(JsonObject, &'c Call) -> Called<'c>,
}

impl Listed {
    pub(crate) const fn of<T: FileTool>() -> Listed {
        Listed { about: T::ABOUT, takes: input_schema::<T::Arguments>, run: run::<T> }
    }

    /// The tool as a client sees it, but for the roots.
    pub(crate) fn describe(&self) -> Tool {
        let About { name, title, description, effect, output, .. } = self.about;
        Tool::new(name, description, Arc::new((self.takes)()))
            .with_title(title)
            .with_raw_output_schema(Arc::new(output.schema()))
            .with_annotations(effect.annotations())
    }

    pub(crate) fn call<'c>(&self, arguments: JsonObject, call: &'c Call) -> Called<'c> {
        (self.run)(arguments, call)
    }
}

fn run<T: FileTool>(arguments: JsonObject, call: &Call) -> Called<'_> {
    Box::pin(async move {
        let arguments = serde_json::from_value(Value::Object(arguments)).map_err(|error| Failure::arguments(&error))?;
        T::call(arguments, call).await
    })
}

fn input_schema<A: JsonSchema>() -> JsonObject {
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
