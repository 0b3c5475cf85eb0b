//! `get-roots`: what is in force, and why, a page at a time.

use rootward_server::roots;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::tool::{About, Effect, FileTool, Offered, Output};

pub(crate) struct GetRoots;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Where a page begins: the `nextCursor` of the one before
    cursor: Option<String>,
}

impl FileTool for GetRoots {
    const ABOUT: About = About {
        name: "get-roots",
        title: "Get Roots",
        description: "Tell which roots are in force and why: what the client can do, its state, the mode, and the roots, 50 at a time.",
        effect: Effect::Reads,
        output: Output::Data("rootsCount", properties),
        offered: Offered::Always,
    };
    type Arguments = Arguments;

    async fn call(Arguments { cursor }: Arguments, _: &Call) -> Result<Answer, Failure> {
        let summary = roots().await?.summary(cursor.as_deref())?;
        let mut data = serde_json::to_value(summary).map_err(|error| Failure::said(error.to_string()))?;
        // The kernel does not hold this process: every path is held by a decision and a handle.
        data["confinement"] = json!("none");
        let text = serde_json::to_string_pretty(&data).map_err(|error| Failure::said(error.to_string()))?;
        Ok(Answer::with_data(text, data))
    }
}

fn properties() -> Value {
    json!({
        "supportsRoots": {"type": "boolean", "description": "Whether the client can be asked"},
        "rootsListChanged": {"type": "boolean", "description": "Whether it says when its roots change"},
        "rootsCount": {"type": "integer", "description": "How many there are in all"},
        "roots": {"type": "array", "description": "Those of this page", "items": {"type": "object"}},
        "filePaths": {"type": "array", "items": {"type": "string"}},
        "leftOut": {
            "type": "array",
            "description": "Roots that the client named and that are left out; `reason` is `unusable`, `refused` or `unavailable`",
            "items": {"type": "object"},
        },
        "state": {"type": "string", "description": "Of the client"},
        "why": {"type": "string", "description": "Why these"},
        "generation": {"type": "integer"},
        "mode": {"type": "string", "description": "How the client's roots and the operator's combine"},
        "confinement": {"type": "string", "description": "How strongly the kernel holds the server's process"},
        "nextCursor": {"type": "string", "description": "Where the next page begins"},
    })
}
