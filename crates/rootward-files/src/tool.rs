//! What a tool is: its description, its arguments and its code. Each tool has a file in `tools/`.

use std::borrow::Cow;
use std::pin::Pin;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use rootward_server::{Access, Roots};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::schemas::{input_schema, output_schema};

/// A tool of the server.
pub(crate) trait FileTool: 'static {
    /// Its description.
    const ABOUT: About;
    /// Its arguments.
    type Arguments: DeserializeOwned + JsonSchema + Send;

    /// What its description says about these roots; `None` means that they are not known yet.
    fn about_roots(_: Option<&Roots>) -> Option<String> {
        None
    }

    /// Runs the tool.
    fn call(arguments: Self::Arguments, call: &Call) -> impl Future<Output = Result<Answer, Failure>> + Send;
}

/// The description of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) effect: Effect,
    pub(crate) output: Output,
}

/// What a call does to the user's files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Changes nothing.
    Reads,
    /// Creates something new; repeating the call changes nothing.
    Makes,
    /// Replaces something; repeating the call changes nothing.
    Replaces,
    /// Changes something; repeating the call changes it again.
    Changes,
    /// Removes something, or moves it away.
    Removes,
    /// Anything: it runs a command.
    Runs,
}

/// What a call returns besides text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Output {
    /// The same text as `content`.
    Text,
    /// The same text, with a `note` if it is incomplete.
    TextInPart,
    /// Data with these properties, each with a schema.
    Data(fn() -> Value),
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let annotations = ToolAnnotations::new().read_only(self == Effect::Reads).open_world(self == Effect::Runs);
        match self {
            Effect::Reads => annotations,
            Effect::Makes => annotations.destructive(false).idempotent(true),
            Effect::Replaces => annotations.destructive(true).idempotent(true),
            Effect::Changes | Effect::Removes | Effect::Runs => annotations.destructive(true).idempotent(false),
        }
    }

    /// The access that every call needs in order to succeed.
    pub(crate) fn needs(self) -> Access {
        match self {
            Effect::Reads => Access::NONE,
            Effect::Makes | Effect::Replaces | Effect::Changes => Access::WRITE,
            Effect::Removes => Access::DELETE,
            Effect::Runs => Access::EXECUTE,
        }
    }
}

type Called<'c> = Pin<Box<dyn Future<Output = Result<Answer, Failure>> + Send + 'c>>;

/// An entry in the list of tools.
pub(crate) struct Listed {
    pub(crate) about: About,
    takes: fn() -> JsonObject,
    about_roots: fn(Option<&Roots>) -> Option<String>,
    run: for<'c> fn(JsonObject, &'c Call) -> Called<'c>,
}

impl Listed {
    pub(crate) const fn of<T: FileTool>() -> Listed {
        Listed { about: T::ABOUT, takes: input_schema::<T::Arguments>, about_roots: T::about_roots, run: run::<T> }
    }

    /// The tool as a client sees it. Built for each list request: these are rare, and schemas take much memory.
    pub(crate) fn describe(&self, roots: Option<&Roots>) -> Tool {
        let About { name, title, description, effect, output } = self.about;
        let description = match (self.about_roots)(roots) {
            None => Cow::Borrowed(description),
            Some(more) => format!("{description} {more}").into(),
        };
        Tool::new(name, description, (self.takes)())
            .with_title(title)
            .with_raw_output_schema(output_schema(output).into())
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
