//! `analyze_project`: an overview of each root.

use std::fmt::Write;
use std::path::Path;

use rootward_server::roots;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::name::on_one_line;
use crate::path::FilePath;
use crate::project::manifest::{Manifest, joined};
use crate::project::overview::{Counted, Detail, Overview, Share};
use crate::project::survey::{Budget, Places, Short};
use crate::tool::{About, Effect, FileTool, Output};

/// How many languages to show per root.
const MOST_LANGUAGES: usize = 20;

pub(crate) struct AnalyzeProject;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The directory to look at: absolute, or relative to the first root; without it, every root
    path: Option<FilePath>,
}

impl FileTool for AnalyzeProject {
    const ABOUT: About = About {
        name: "analyze_project",
        title: "Analyze Project",
        description: "Describe a project: number and size of files, languages, manifests, and where its programs start, \
                      for each root or for one directory. Skips files that `.gitignore` names, dependencies and caches.",
        effect: Effect::Reads,
        output: Output::Data(properties),
    };
    type Arguments = Arguments;

    async fn call(Arguments { path }: Arguments, call: &Call) -> Result<Answer, Failure> {
        let roots = roots().await?;
        let asked = path.is_some();
        let places = Places::of(path, &roots)?;
        call.apart("entries", move |work| {
            let budget = Budget::new(work);
            let mut all = Vec::new();
            for place in places.list {
                all.push(Overview::of(place, Detail::Whole, &roots, &budget)?);
            }
            if let ([Overview { problem: Some(problem), .. }], true) = (all.as_slice(), asked) {
                return Err(Failure::said(problem.clone()));
            }
            let short = budget.short();
            let truncated = places.more || short.is_some() || all.iter().any(|one| one.more);
            let data = json!({"projects": all.iter().map(data).collect::<Vec<_>>(), "truncated": truncated});
            Ok(Answer::with_data(text(&all, short, places.more), data))
        })
        .await
    }
}

/// The overview as text.
pub(crate) fn text(all: &[Overview], short: Option<Short>, more_roots: bool) -> String {
    let mut text = String::new();
    for one in all {
        let gap = if text.is_empty() { "" } else { "\n" };
        let path = on_one_line(one.path.as_os_str());
        // Writing to a string cannot fail.
        let _ = match &one.name {
            Some(name) => writeln!(text, "{gap}{path} \"{}\"", on_one_line(name.as_ref())),
            None => writeln!(text, "{gap}{path}"),
        };
        if let Some(problem) = &one.problem {
            let _ = writeln!(text, "  {problem}");
            continue;
        }
        let Counted { files, directories, bytes } = one.counted;
        let _ = writeln!(text, "  {files} files in {directories} directories, {}", size(bytes));
        if !one.languages.is_empty() {
            let shares = one.languages.iter().take(MOST_LANGUAGES);
            let shares =
                shares.map(|(language, Share { files, bytes })| format!("{language} ({files}, {})", size(*bytes)));
            let _ = writeln!(text, "  languages: {}", shares.collect::<Vec<_>>().join(", "));
        }
        for manifest in &one.manifests {
            let _ = writeln!(text, "  {}", line(manifest));
        }
        for start in &one.starts {
            let _ = writeln!(text, "  starts in {}", on_one_line(start.as_os_str()));
        }
        if one.unread > 0 {
            let _ = writeln!(text, "  {} directories could not be listed", one.unread);
        }
        if one.more {
            text.push_str("  there is more: name a directory below as `path`\n");
        }
    }
    if more_roots {
        text.push_str("\nThere are more roots: name one as `path`.\n");
    }
    if let Some(short) = short {
        let _ = writeln!(text, "\n{}", short.sentence());
    }
    text.truncate(text.trim_end().len());
    text
}

fn line(manifest: &Manifest) -> String {
    let mut line = format!("{}: {}", manifest.system.word(), on_one_line(manifest.below.as_os_str()));
    for (before, text) in [(" ", &manifest.facts.name), (" ", &manifest.facts.version), (" - ", &manifest.problem)] {
        if let Some(text) = text {
            line.push_str(before);
            line.push_str(text);
        }
    }
    line
}

fn data(one: &Overview) -> Value {
    let Overview { path, counted: Counted { files, directories, bytes }, .. } = one;
    let languages = one.languages.iter().take(MOST_LANGUAGES);
    let languages = languages
        .map(|(language, share)| json!({"language": language, "files": share.files, "bytes": share.bytes}))
        .collect::<Vec<_>>();
    let starts = one.starts.iter().map(|below| shown(path, below)).collect::<Vec<_>>();
    let mut data = json!({
        "path": on_one_line(path.as_os_str()),
        "files": files,
        "directories": directories,
        "bytes": bytes,
        "languages": languages,
        "manifests": one.manifests.iter().map(|manifest| manifest.data(path)).collect::<Vec<_>>(),
        "entryPoints": starts,
    });
    for (key, text) in [("name", &one.name), ("problem", &one.problem)] {
        if let Some(text) = text {
            data[key] = json!(text);
        }
    }
    data
}

fn shown(top: &Path, below: &Path) -> String {
    on_one_line(joined(top, below).as_os_str()).into_owned()
}

/// A human-readable size.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}

fn properties() -> Value {
    let language = json!({
        "type": "object",
        "properties": {"language": {"type": "string"}, "files": {"type": "integer"}, "bytes": {"type": "integer"}},
        "required": ["language", "files", "bytes"],
    });
    let manifest = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "system": {"type": "string", "description": "`cargo`, `npm`, `python`, `go`, `maven`, `gradle`, `make` or another"},
            "name": {"type": "string"},
            "version": {"type": "string"},
            "problem": {"type": "string", "description": "Why it was not read"},
        },
        "required": ["path", "system"],
    });
    let project = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "name": {"type": "string", "description": "What the user calls this root"},
            "problem": {"type": "string", "description": "Why this root could not be read"},
            "files": {"type": "integer"},
            "directories": {"type": "integer"},
            "bytes": {"type": "integer"},
            "languages": {"type": "array", "items": language, "description": "The largest first"},
            "manifests": {"type": "array", "items": manifest},
            "entryPoints": {"type": "array", "items": {"type": "string"}, "description": "Files where programs start"},
        },
        "required": ["path", "files", "directories", "bytes", "languages", "manifests", "entryPoints"],
    });
    json!({
        "projects": {"type": "array", "items": project},
        "truncated": {"type": "boolean", "description": "Whether there is more than shown"},
    })
}
