//! `review_change`: which files changed, what the change is for, and how to test it.

use std::fmt::Write;

use rmcp::ErrorData;
use rmcp::model::{PromptMessage, Role};
use rootward_core::{FileKind, Shown};

use super::{decided, embedded};
use crate::call::Call;
use crate::failure::Failure;
use crate::name::on_one_line;
use crate::project::manifest::{Purpose, joined};
use crate::project::overview::{Detail, Overview};
use crate::project::survey::{Budget, Places};
use crate::resources::told;

/// The longest file to embed, in bytes.
const LONGEST_FILE: u64 = 64 << 10;

/// How many commands to name.
const MOST_COMMANDS: usize = 10;

const QUESTION: &str = "Review a change in this project. Find out what changed: run `git diff` and `git log` where a tool runs commands; \
                        else read the files and ask me for the diff. Then report, with file and line: what is wrong, what is not handled, \
                        what is not tested, and what else has to change with it. Say so if it is correct as it is.";

pub(super) async fn messages(
    path: Option<&str>,
    intent: Option<&str>,
    call: &Call,
) -> Result<Vec<PromptMessage>, ErrorData> {
    let (roots, grant) = decided(path).await?;
    let mut text = String::from(QUESTION);
    if let (Some(grant), Some(path)) = (&grant, path) {
        let what = match grant.kind() {
            Some(FileKind::Directory) => "below",
            Some(_) => "in",
            // A deleted file is also a change.
            None => "in (it is not there now)",
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "\n\nThe change is {what} `{}`.", Shown::new(path));
    }
    if let Some(intent) = intent {
        let _ = write!(text, "\n\nWhat it is meant to do: {intent}");
    }
    let places = Places::of(None, &roots).map_err(|failure| told(failure, ""))?;
    let made = call.apart("entries", move |work| {
        let budget = Budget::new(work);
        let mut commands = Vec::new();
        for place in places.list {
            let overview = Overview::of(place, Detail::Manifests, &roots, &budget)?;
            for manifest in &overview.manifests {
                let directory = joined(&overview.path, manifest.directory());
                let tests = manifest
                    .facts
                    .commands
                    .iter()
                    .filter(|command| matches!(command.purpose, Purpose::Test | Purpose::Lint));
                commands.extend(
                    tests.map(|command| format!("- `{}` in `{}`", command.line, on_one_line(directory.as_os_str()))),
                );
            }
        }
        commands.truncate(MOST_COMMANDS);
        let file = grant.as_ref().and_then(|grant| embedded(grant, LONGEST_FILE));
        Ok::<_, Failure>((commands, file))
    });
    let (commands, file) = made.await.map_err(|failure| told(failure, path.unwrap_or_default()))?;
    if !commands.is_empty() {
        let _ = write!(text, "\n\nHow the project is checked:\n{}", commands.join("\n"));
    }
    let question = PromptMessage::new_text(Role::User, text);
    Ok([question].into_iter().chain(file).collect())
}
