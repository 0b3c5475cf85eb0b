//! `find_documentation`: the documents of each root.

use std::fmt::Write;

use rootward_server::roots;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::analyze_project::size;
use crate::answer::Answer;
use crate::call::Call;
use crate::count::Count;
use crate::failure::Failure;
use crate::name::on_one_line;
use crate::path::FilePath;
use crate::project::documents::{self, Document};
use crate::project::manifest::joined;
use crate::project::survey::{Budget, Place, Places};
use crate::tool::{About, Effect, FileTool, Output};

/// The default and the highest limit for the number of documents.
const USUAL_LIMIT: usize = 200;
const MOST: usize = 2000;

/// How many documents to open for their titles.
const MOST_TITLES: usize = 100;

pub(crate) struct FindDocumentation;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The directory to look in: absolute, or relative to the first root; without it, every root
    path: Option<FilePath>,
    /// How many documents to name: 200 unless it is set, at most 2000
    limit: Option<Count>,
}

impl FileTool for FindDocumentation {
    const ABOUT: About = About {
        name: "find_documentation",
        title: "Find Documentation",
        description: "Find the documentation of a project: READMEs, changelogs, `docs` directories, Markdown and reStructuredText, the \
                      most general first, with their titles. Skips files that `.gitignore` names, dependencies and caches.",
        effect: Effect::Reads,
        output: Output::Data(properties),
    };
    type Arguments = Arguments;

    async fn call(Arguments { path, limit }: Arguments, call: &Call) -> Result<Answer, Failure> {
        let limit = match limit {
            None => USUAL_LIMIT,
            Some(limit) => usize::try_from(limit.whole("limit")?).unwrap_or(usize::MAX).min(MOST),
        };
        let roots = roots().await?;
        let asked = path.is_some();
        let places = Places::of(path, &roots)?;
        call.apart("entries", move |work| {
            let budget = Budget::new(work);
            let mut found = Vec::new();
            let mut more = places.more;
            for Place { path, grant, .. } in places.list {
                // Skip a root that cannot be read; `analyze_project` says why.
                let Ok(grant) = grant else { continue };
                match documents::find(&grant, &budget) {
                    Ok((documents, cut)) => {
                        more |= cut;
                        found.extend(documents.into_iter().map(|document| (path.clone(), document)));
                    }
                    Err(failure @ Failure::Stopped) => return Err(failure),
                    Err(failure) if asked => return Err(failure),
                    Err(_) => {}
                }
            }
            // The most general documents first, then in the order of the roots.
            found.sort_by_key(|(_, Document { kind, .. })| *kind);
            let total = found.len();
            found.truncate(limit);
            let mut text = String::new();
            let mut list = Vec::new();
            for (number, (top, document)) in found.iter().enumerate() {
                budget.goes_on()?;
                let path = joined(top, &document.below);
                let title = if number < MOST_TITLES { documents::title(&roots, &path) } else { None };
                let shown = on_one_line(path.as_os_str());
                let title_shown = title.as_ref().map(|title| format!(" \"{title}\"")).unwrap_or_default();
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{shown} ({}, {}){title_shown}", document.kind.word(), size(document.bytes));
                let mut data = json!({"path": shown, "kind": document.kind.word(), "bytes": document.bytes});
                if let Some(title) = title {
                    data["title"] = json!(title);
                }
                list.push(data);
            }
            if list.is_empty() {
                text.push_str("No documentation found\n");
            }
            if total > limit {
                let _ = writeln!(
                    text,
                    "\n{} more: raise `limit` (at most {MOST}), or name a directory as `path`",
                    total - limit
                );
            }
            if let Some(short) = budget.short() {
                let _ = writeln!(text, "\n{}", short.sentence());
            }
            text.truncate(text.trim_end().len());
            let truncated = more || total > limit || budget.short().is_some();
            Ok(Answer::with_data(text, json!({"documents": list, "truncated": truncated})))
        })
        .await
    }
}

fn properties() -> Value {
    let document = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "kind": {"type": "string", "enum": ["readme", "changelog", "contributing", "guide", "page"]},
            "bytes": {"type": "integer"},
            "title": {"type": "string", "description": "Its first heading"},
        },
        "required": ["path", "kind", "bytes"],
    });
    json!({
        "documents": {"type": "array", "items": document, "description": "The most general first"},
        "truncated": {"type": "boolean", "description": "Whether there are more"},
    })
}
