//! `path_in_roots`: whether a path is shared, without using it.

use rootward_core::{Access, Shown};
use rootward_server::roots;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::schemas::access;
use crate::tool::{About, Effect, FileTool, Offered, Output};

pub(crate) struct PathInRoots;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The path: absolute, or relative to the first root; it need not exist
    path: String,
}

impl FileTool for PathInRoots {
    const ABOUT: About = About {
        name: "path_in_roots",
        title: "Path in Roots",
        description: "Tell whether a path lies in what is shared, and why not where it does not. Whether it exists is not told.",
        effect: Effect::Reads,
        output: Output::Data("inRoots", properties),
        offered: Offered::WithRoots,
    };
    type Arguments = Arguments;

    async fn call(Arguments { path }: Arguments, _: &Call) -> Result<Answer, Failure> {
        let roots = roots().await?;
        let shown = Shown::new(&path).to_string();
        // SECURITY: a refusal says the same of what exists outside and what does not
        // (test: whether_a_path_is_shared_tells_nothing_of_what_lies_outside)
        Ok(match roots.check(&path, Access::NONE) {
            Ok(grant) => {
                let root = &grant.root().root;
                let root_path = Shown::new(&root.path).to_string();
                let text = format!("yes: `{shown}` lies in `{root_path}` ({})", root.access);
                let data = json!({"inRoots": true, "path": path, "root": root_path, "access": root.access});
                Answer::with_data(text, data)
            }
            Err(denial) => {
                let refusal = roots.refusal(&denial);
                let data = json!({"inRoots": false, "path": path, "reason": denial.code().for_peer()});
                Answer::with_data(format!("no: {}", refusal.sentence()), data)
            }
        })
    }
}

fn properties() -> Value {
    json!({
        "inRoots": {"type": "boolean"},
        "path": {"type": "string", "description": "As it was asked for"},
        "root": {"type": "string", "description": "The root it lies in"},
        "access": access("What may be done in that root"),
        "reason": {"type": "string", "description": "The code of the refusal"},
    })
}
