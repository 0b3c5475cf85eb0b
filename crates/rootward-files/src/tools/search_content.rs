//! `search_content`: finds matching lines in files.

use std::fmt::Write;
use std::path::Path;

use rootward_core::RootKind;
use rootward_server::{Access, roots};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::call::Call;
use crate::count::Count;
use crate::failure::Failure;
use crate::name::on_one_line;
use crate::path::FilePath;
use crate::search::{
    self, Asked, Case, Found, FoundIn, Full, Hidden, LineKind, MOST_BYTES, MOST_MATCHES, Query, Reading,
};
use crate::tool::{About, Effect, FileTool, Output};

/// The default limit for matches.
const USUAL_LIMIT: usize = 200;

pub(crate) struct SearchContent;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// A regular expression, as ripgrep takes it; it is searched for in each line
    pattern: String,
    /// The directory or file to search; by default the first root
    path: Option<FilePath>,
    /// Which files, relative to `path`: `*.rs`, `src/**/*.{ts,tsx}`; `!` at the start excludes matches
    glob: Option<Globs>,
    /// Lines to show before and after each match
    #[serde(default)]
    #[schemars(range(max = 50))]
    context: usize,
    /// Stop after this many matches: 200 by default, at most 5000
    limit: Option<Count>,
    /// Ignore case
    #[serde(default)]
    ignore_case: bool,
    /// Treat `pattern` as plain text
    #[serde(default)]
    literal: bool,
    /// Also search dot files
    #[serde(default)]
    hidden: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "`glob` must be a string or a list of strings")]
enum Globs {
    One(String),
    Many(Vec<String>),
}

impl FileTool for SearchContent {
    const ABOUT: About = About {
        name: "search_content",
        title: "Search Content",
        description: "Find lines that match a regular expression in the files below a directory. Skips binary files, hidden files and \
                      files that `.gitignore` names. Shows paths and numbered lines, as ripgrep does.",
        effect: Effect::Reads,
        output: Output::Data(data_schema),
    };
    type Arguments = Arguments;

    async fn call(arguments: Arguments, call: &Call) -> Result<Answer, Failure> {
        let Arguments { pattern, path, glob, context, limit, ignore_case, literal, hidden } = arguments;
        let globs = match glob {
            None => Vec::new(),
            Some(Globs::One(glob)) => vec![glob],
            Some(Globs::Many(globs)) => globs,
        };
        let limit = match limit {
            None => USUAL_LIMIT,
            Some(limit) => usize::try_from(limit.whole("limit")?).unwrap_or(usize::MAX),
        };
        let query = Query::new(&Asked {
            pattern: &pattern,
            reading: if literal { Reading::Literal } else { Reading::Expression },
            case: if ignore_case { Case::Ignored } else { Case::Matters },
            globs: &globs,
            hidden: if hidden { Hidden::Searched } else { Hidden::LeftOut },
            context,
            limit,
        })?;
        let grant = match path {
            Some(path) => path.into_grant(),
            None => {
                let roots = roots().await?;
                // The start of relative paths; if all roots are files, the first of them.
                let directory = roots.list().iter().find(|placed| placed.kind == RootKind::Directory);
                let first = directory.or(roots.list().first());
                roots.check(first.map_or(Path::new("."), |placed| &placed.root.path), Access::READ)?
            }
        };
        call.apart("files searched", move |work| {
            let found = search::run(&grant, &query, work)?;
            Ok(Answer::with_data(text(&found, query.limit), data(&found)))
        })
        .await
    }
}

fn data_schema() -> Value {
    json!({
        "matches": {"type": "array", "items": {"type": "object"}},
        "truncated": {"type": "boolean"},
        "files": {"type": "integer"},
    })
}

/// The result in the format of `rg --heading`, followed by notes.
fn text(found: &Found, limit: usize) -> String {
    let mut text = String::new();
    for FoundIn { path, lines } in &found.files {
        let gap = if text.is_empty() { "" } else { "\n" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{gap}{}", on_one_line(path.as_os_str()));
        let around = lines.iter().any(|line| line.kind != LineKind::Match);
        let mut last: Option<u64> = None;
        for line in lines {
            if around && last.is_some_and(|last| last + 1 < line.number) {
                text.push_str("--\n");
            }
            last = Some(line.number);
            let sign = if line.kind == LineKind::Match { ':' } else { '-' };
            let _ = writeln!(text, "{}{sign}{}", line.number, line.text);
        }
    }
    if found.files.is_empty() {
        text.push_str("No matches found\n");
    }
    for note in notes(found, limit) {
        let _ = write!(text, "\n{note}\n");
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// Notes about limits, and about files that were not searched.
fn notes(found: &Found, limit: usize) -> Vec<String> {
    let narrow = "narrow `pattern`, `path` or `glob`";
    let mut notes = Vec::new();
    match found.full {
        None => {}
        Some(Full::Matches) if limit < MOST_MATCHES => {
            notes.push(format!(
                "Stopped after {limit} matches; to see others, {narrow}, or raise `limit` (at most {MOST_MATCHES})"
            ));
        }
        Some(Full::Matches) => notes.push(format!("Stopped after {limit} matches; to see others, {narrow}")),
        Some(Full::Bytes) => {
            let size = MOST_BYTES >> 10;
            notes.push(format!("Stopped after {size} KiB; to see the rest, {narrow}, or ask for less `context`"));
        }
    }
    if found.searched == 1 && found.binary == 1 {
        notes.push("The file is binary and was not searched to the end".to_owned());
    }
    match found.unread {
        0 => {}
        1 => notes.push("One file or directory could not be read completely".to_owned()),
        count => notes.push(format!("{count} files or directories could not be read completely")),
    }
    if found.searched == 0 && found.unread == 0 {
        notes.push("No file was searched: check `path`, `glob`, `hidden` and `.gitignore`".to_owned());
    }
    notes
}

fn data(found: &Found) -> Value {
    let mut matches: Vec<Value> = Vec::new();
    for FoundIn { path, lines } in &found.files {
        let mut before: Vec<&str> = Vec::new();
        for line in lines {
            match line.kind {
                LineKind::Before => before.push(&line.text),
                LineKind::Match => {
                    let mut one =
                        json!({"path": on_one_line(path.as_os_str()), "line": line.number, "text": line.text});
                    if !before.is_empty() {
                        one["before"] = json!(before);
                        before.clear();
                    }
                    matches.push(one);
                }
                LineKind::After => {
                    if let Some(last) = matches.last_mut().and_then(Value::as_object_mut) {
                        let after = last.entry("after").or_insert_with(|| json!([]));
                        after.as_array_mut().into_iter().for_each(|after| after.push(json!(line.text)));
                    }
                }
            }
        }
    }
    json!({"matches": matches, "truncated": found.full.is_some(), "files": found.searched})
}
