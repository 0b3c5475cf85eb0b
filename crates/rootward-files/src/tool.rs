//! What a tool is: how it is described, what it takes, what it does. One file below `tools/` for each.

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
    /// How it is described.
    const ABOUT: About;
    /// What it takes.
    type Arguments: DeserializeOwned + JsonSchema + Send;

    /// What its description says about these roots; `None` is for roots that are not known yet.
    fn about_roots(_: Option<&Roots>) -> Option<String> {
        None
    }

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
    /// Removes something, or moves it away.
    Removes,
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
    /// Data with these properties, a schema for each.
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

    /// The access without which no call of it can succeed.
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

/// A tool in the list of all.
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

    /// The tool as a client sees it. Made for each list: few are asked for, and schemas take much memory.
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
