//! `roots`: the current roots and the access that each gives.

use rootward_core::PlacedRoot;
use rootward_core::session::Reach;
use rootward_server::roots;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::name::on_one_line;
use crate::schemas::strings;
use crate::tool::{About, Effect, FileTool, Output};

pub(crate) struct ListRoots;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {}

impl FileTool for ListRoots {
    const ABOUT: About = About {
        name: "roots",
        title: "Roots",
        description: "List the shared directories and files, and what may be done in each: read, write, delete, execute.",
        effect: Effect::Reads,
        output: Output::Data(properties),
    };
    type Arguments = Arguments;

    async fn call(_: Arguments, _: &Call) -> Result<Answer, Failure> {
        let roots = roots().await?;
        let text = match (roots.reach(), roots.list()) {
            (Reach::AllowAll, _) => "no roots are set: everything is allowed except closed places".to_owned(),
            (_, []) => "nothing is shared: every path is refused".to_owned(),
            (_, list) => list.iter().map(line).collect::<Vec<_>>().join("\n"),
        };
        let list: Vec<Value> = roots.list().iter().map(data).collect();
        Ok(Answer::with_data(text, json!({ "roots": list })))
    }
}

fn line(PlacedRoot { root, .. }: &PlacedRoot) -> String {
    let path = on_one_line(root.path.as_os_str());
    match &root.name {
        Some(name) => format!("{path} ({}) \"{}\"", root.access, on_one_line(name.as_ref())),
        None => format!("{path} ({})", root.access),
    }
}

fn data(PlacedRoot { root, .. }: &PlacedRoot) -> Value {
    let mut data = json!({"path": on_one_line(root.path.as_os_str()), "access": root.access});
    if let Some(uri) = root.uri() {
        data["uri"] = json!(uri.as_str());
    }
    if let Some(name) = &root.name {
        data["name"] = json!(name);
    }
    data
}

fn properties() -> Value {
    let root = json!({
        "type": "object",
        "properties": {
            "uri": {"type": "string"},
            "name": {"type": "string"},
            "path": {"type": "string"},
            "access": strings(),
        },
    });
    json!({"roots": {"type": "array", "items": root}})
}
