//! `list_allowed_directories`: the current roots, in the reference server's format.

use rootward_core::session::Reach;
use rootward_server::{Roots, roots};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::name::on_one_line;
use crate::tool::{About, Effect, FileTool, Output};
use crate::workspace;

pub(crate) struct ListAllowedDirectories;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {}

impl FileTool for ListAllowedDirectories {
    const ABOUT: About = About {
        name: "list_allowed_directories",
        title: "List Allowed Directories",
        description: "List the shared directories.",
        effect: Effect::Reads,
        output: Output::Text,
    };
    type Arguments = Arguments;

    fn about_roots(roots: Option<&Roots>) -> Option<String> {
        Some(workspace::sentence(roots))
    }

    async fn call(_: Arguments, _: &Call) -> Result<Answer, Failure> {
        let roots = roots().await?;
        let mut text = String::from("Allowed directories:\n");
        if roots.reach() == Reach::AllowAll {
            text.push('/');
        }
        for (position, placed) in roots.list().iter().enumerate() {
            if position > 0 {
                text.push('\n');
            }
            text.push_str(&on_one_line(placed.root.path.as_os_str()));
        }
        Ok(Answer::Text(text))
    }
}
