//! Prompts that a user picks. Each includes what a model needs to know about the project.

mod review_change;
mod summarize_project;

use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use rootward_core::{FileKind, Grant};
use rootward_server::{Access, PathError, Roots, roots};
use serde_json::Value;

use crate::call::Call;
use crate::resources::{media_type, of_path};

/// A prompt: its name, title, purpose and arguments, all of which are optional.
struct About {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [(&'static str, &'static str)],
}

const PROMPTS: [About; 2] = [
    About {
        name: "summarize_project",
        title: "Summarize a project",
        description: "Explain what a project is, how it is laid out and how to build it, from its README, manifests and files",
        arguments: &[(
            "path",
            "The project's directory, absolute or relative to the first root; every root if it is empty",
        )],
    },
    About {
        name: "review_change",
        title: "Review a change",
        description: "Review what was changed in a root: correctness, tests, and what else has to change with it",
        arguments: &[
            ("path", "The file or directory that was changed, absolute or relative to the first root"),
            ("intent", "What the change is meant to do"),
        ],
    },
];

/// The list of prompts.
pub(crate) fn list() -> Vec<Prompt> {
    let prompts = PROMPTS.iter().map(|About { name, title, description, arguments }| {
        let arguments = arguments
            .iter()
            .map(|(name, about)| PromptArgument::new(*name).with_description(*about).with_required(false));
        Prompt::new(*name, Some(*description), Some(arguments.collect())).with_title(*title)
    });
    prompts.collect()
}

/// The names of a prompt's arguments; `None` if there is no such prompt.
pub(crate) fn arguments(prompt: &str) -> Option<Vec<&'static str>> {
    let about = PROMPTS.iter().find(|about| about.name == prompt)?;
    Some(about.arguments.iter().map(|(name, _)| *name).collect())
}

/// A prompt with its arguments filled in.
pub(crate) async fn get(request: GetPromptRequestParams, call: &Call) -> Result<GetPromptResult, ErrorData> {
    let arguments = request.arguments.unwrap_or_default();
    let path = text(&arguments, "path")?;
    let messages = match request.name.as_str() {
        "summarize_project" => summarize_project::messages(path, call).await?,
        "review_change" => review_change::messages(path, text(&arguments, "intent")?, call).await?,
        _ => return Err(ErrorData::invalid_params(format!("unknown prompt `{}`", request.name), None)),
    };
    Ok(GetPromptResult::new(messages))
}

/// A string argument; an empty one counts as missing, because clients send fields that the user left empty.
fn text<'a>(arguments: &'a JsonObject, name: &str) -> Result<Option<&'a str>, ErrorData> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(ErrorData::invalid_params(format!("`{name}` must be a string"), None)),
    }
}

/// The roots, and the grant for the argument `path`.
async fn decided(path: Option<&str>) -> Result<(Roots, Option<Grant>), ErrorData> {
    let roots = roots().await?;
    let grant = path.map(|path| roots.check(path, Access::READ)).transpose();
    Ok((roots, grant.map_err(PathError::from)?))
}

/// A small text file, as part of a prompt; `None` for anything else.
fn embedded(grant: &Grant, most: u64) -> Option<PromptMessage> {
    if grant.kind() != Some(FileKind::File) {
        return None;
    }
    let path = grant.named_path();
    let text = String::from_utf8(grant.read(most).ok()?).ok().filter(|text| !text.contains('\0'))?;
    let kind = media_type(&path).unwrap_or("text/plain").to_owned();
    Some(PromptMessage::new_resource(Role::User, of_path(&path)?, Some(kind), Some(text), None, None, None))
}
