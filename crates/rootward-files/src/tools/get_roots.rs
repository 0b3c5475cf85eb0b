//! `get-roots`: the current roots, and why they are current, in pages.

use rootward_server::roots;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::schemas::strings;
use crate::tool::{About, Effect, FileTool, Output};

pub(crate) struct GetRoots;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The `nextCursor` of the previous page
    cursor: Option<String>,
}

impl FileTool for GetRoots {
    const ABOUT: About = About {
        name: "get-roots",
        title: "Get Roots",
        description: "Show the current roots and why they apply: what the client supports, its state, the mode, and the roots, 50 per page.",
        effect: Effect::Reads,
        output: Output::Data(properties),
    };
    type Arguments = Arguments;

    async fn call(Arguments { cursor }: Arguments, _: &Call) -> Result<Answer, Failure> {
        let summary = roots().await?.summary(cursor.as_deref())?;
        let mut data = serde_json::to_value(summary).map_err(|error| Failure::said(error.to_string()))?;
        // The kernel does not confine this process: decisions and handles protect every path.
        data["confinement"] = json!("none");
        let text = serde_json::to_string_pretty(&data).map_err(|error| Failure::said(error.to_string()))?;
        Ok(Answer::with_data(text, data))
    }
}

fn properties() -> Value {
    json!({
        "supportsRoots": {"type": "boolean"},
        "rootsListChanged": {"type": "boolean"},
        "rootsCount": {"type": "integer"},
        "roots": {"type": "array", "items": {"type": "object"}},
        "filePaths": strings(),
        "leftOut": {"type": "array", "items": {"type": "object"}},
        "state": {"type": "string"},
        "why": {"type": "string"},
        "generation": {"type": "integer"},
        "mode": {"type": "string"},
        "confinement": {"type": "string"},
        "nextCursor": {"type": "string"},
    })
}
