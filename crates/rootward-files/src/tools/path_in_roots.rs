//! `path_in_roots`: whether a path is shared, without using it.

use rootward_core::{Access, Code, Shown};
use rootward_server::{PathError, Refusal, roots, session};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::path::check;
use crate::schemas::{or_null, strings};
use crate::tool::{About, Effect, FileTool, Output};

pub(crate) struct PathInRoots;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    path: String,
}

impl FileTool for PathInRoots {
    const ABOUT: About = About {
        name: "path_in_roots",
        title: "Path in Roots",
        description: "Check whether a path is shared, and if not, why. `inRoots` is null if the client has not named its roots.",
        effect: Effect::Reads,
        output: Output::Data(properties),
    };
    type Arguments = Arguments;

    async fn call(Arguments { path }: Arguments, _: &Call) -> Result<Answer, Failure> {
        let shown = Shown::new(&path).to_string();
        let roots = match roots().await {
            Ok(roots) => roots,
            // The client was asked, but did not answer in time. A modern client has not been asked yet: the call fails
            // and the client sends it again.
            Err(PathError::NotKnown) if session().is_some() => {
                return Ok(unknown(
                    &path,
                    Code::RootsPending,
                    &format!("not known: {}", Refusal::pending().sentence()),
                ));
            }
            Err(error) => return Err(error.into()),
        };
        // SECURITY: a refusal does not reveal whether a path outside the roots exists
        // (test: path_in_roots_does_not_reveal_what_exists_outside)
        Ok(match check(&roots, &path, Access::NONE) {
            Ok(grant) => {
                let root = &grant.root().root;
                let root_path = Shown::new(&root.path).to_string();
                let text = format!("yes: `{shown}` is in `{root_path}` ({})", root.access);
                let data = json!({"inRoots": true, "path": path, "root": root_path, "access": root.access});
                Answer::with_data(text, data)
            }
            Err(denial) if denial.code() == Code::RootsFailed => {
                unknown(&path, Code::RootsFailed, &format!("not known: {}", roots.refusal(&denial).sentence()))
            }
            Err(denial) => {
                let refusal = roots.refusal(&denial);
                let data = json!({"inRoots": false, "path": path, "reason": denial.code().for_peer()});
                Answer::with_data(format!("no: {}", refusal.sentence()), data)
            }
        })
    }
}

/// The answer if the roots are not known.
fn unknown(path: &str, reason: Code, text: &str) -> Answer {
    Answer::with_data(text.to_owned(), json!({"inRoots": null, "path": path, "reason": reason}))
}

fn properties() -> Value {
    json!({
        "inRoots": or_null("boolean"),
        "path": or_null("string"),
        "root": {"type": "string"},
        "access": strings(),
        "reason": {"type": "string"},
    })
}
