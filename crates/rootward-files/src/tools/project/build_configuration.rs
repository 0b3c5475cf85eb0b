//! `build_configuration`: the commands to run, for all roots.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use rootward_server::roots;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::name::on_one_line;
use crate::path::FilePath;
use crate::project::manifest::{Command, Manifest, Purpose, joined};
use crate::project::marker::System;
use crate::project::overview::{Detail, Overview};
use crate::project::survey::{Budget, Places};
use crate::tool::{About, Effect, FileTool, Output};

/// How many manifests to show, and how many commands per purpose.
const MOST_BUILDS: usize = 100;
const MOST_OF_PURPOSE: usize = 50;

pub(crate) struct BuildConfiguration;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The directory to look in: absolute, or relative to the first root; without it, every root
    path: Option<FilePath>,
}

/// A manifest and its location.
struct Build {
    directory: PathBuf,
    manifest: Manifest,
    top: PathBuf,
    /// Whether a workspace above it runs its commands.
    member: bool,
}

impl FileTool for BuildConfiguration {
    const ABOUT: About = About {
        name: "build_configuration",
        title: "Build Configuration",
        description: "Show how to install, build, test and run a project: the commands of npm, cargo, make, gradle, maven, pyproject \
                      and go, with the directory to run each in, merged over all roots. Nothing is run.",
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
            let mut builds = Vec::new();
            let mut more = places.more;
            // A root may be inside another one.
            let mut seen = BTreeSet::new();
            for place in places.list {
                let overview = Overview::of(place, Detail::Manifests, &roots, &budget)?;
                if let (Some(problem), true) = (&overview.problem, asked) {
                    return Err(Failure::said(problem.clone()));
                }
                more |= overview.more;
                for build in of_root(overview) {
                    if seen.insert(joined(&build.top, &build.manifest.below)) {
                        builds.push(build);
                    }
                }
            }
            more |= builds.len() > MOST_BUILDS || budget.short().is_some();
            builds.truncate(MOST_BUILDS);
            let merged = merged(&builds);
            let mut text = text(&builds, &merged);
            if let Some(short) = budget.short() {
                let _ = write!(text, "\n\n{}", short.sentence());
            }
            let data = json!({
                "builds": builds.iter().map(data).collect::<Vec<_>>(),
                "run": merged.iter().map(|(purpose, steps)| (purpose.word().to_owned(), steps_data(steps))).collect::<serde_json::Map<_, _>>(),
                "truncated": more,
            });
            Ok(Answer::with_data(text, data))
        })
        .await
    }
}

/// The manifests of one root that have commands.
fn of_root(overview: Overview) -> Vec<Build> {
    let Overview { path: top, manifests, .. } = overview;
    let workspaces: Vec<(System, PathBuf)> = manifests
        .iter()
        .filter(|manifest| manifest.facts.workspace)
        .map(|manifest| (manifest.system, manifest.directory().to_owned()))
        .collect();
    let read = manifests.into_iter().filter(|manifest| !matches!(manifest.system, System::Other(_)));
    let builds = read.map(|mut manifest| {
        let directory = manifest.directory().to_owned();
        let above = |(system, workspace): &(System, PathBuf)| {
            *system == manifest.system && *workspace != directory && directory.starts_with(workspace)
        };
        let member = workspaces.iter().any(above);
        // The workspace's commands cover all its members; npm scripts belong to each member.
        if member && manifest.system != System::Npm {
            manifest.facts.commands.clear();
        }
        Build { directory: joined(&top, &directory), manifest, top: top.clone(), member }
    });
    builds.collect()
}

type Merged<'b> = BTreeMap<Purpose, Vec<(&'b Path, &'b Command)>>;

/// The commands for each purpose, for all roots.
fn merged(builds: &[Build]) -> Merged<'_> {
    let mut merged = Merged::new();
    for build in builds.iter().filter(|build| !build.member) {
        for command in &build.manifest.facts.commands {
            let steps = merged.entry(command.purpose).or_default();
            if command.purpose != Purpose::Other && steps.len() < MOST_OF_PURPOSE {
                steps.push((&build.directory, command));
            }
        }
    }
    merged.retain(|_, steps| !steps.is_empty());
    merged
}

fn text(builds: &[Build], merged: &Merged<'_>) -> String {
    if builds.is_empty() {
        return "No manifest of npm, cargo, make, gradle, maven, pyproject or go found".to_owned();
    }
    let mut text = String::new();
    for purpose in Purpose::ALL {
        let Some(steps) = merged.get(&purpose) else { continue };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}:", purpose.word());
        for (directory, command) in steps {
            let _ = writeln!(text, "  {}  (in {})", command.line, on_one_line(directory.as_os_str()));
        }
    }
    text.push_str("manifests:\n");
    for Build { manifest, top, member, .. } in builds {
        let path = joined(top, &manifest.below);
        let _ = write!(text, "  {} {}", manifest.system.word(), on_one_line(path.as_os_str()));
        if let Some(name) = &manifest.facts.name {
            let _ = write!(text, " {name}");
        }
        if *member {
            text.push_str(" (member of a workspace above)");
        }
        if let Some(problem) = &manifest.problem {
            let _ = write!(text, " - {problem}");
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

fn steps_data(steps: &[(&Path, &Command)]) -> Value {
    let steps = steps
        .iter()
        .map(|(directory, command)| json!({"directory": on_one_line(directory.as_os_str()), "command": command.line}));
    steps.collect()
}

fn data(build: &Build) -> Value {
    let mut data = build.manifest.data(&build.top);
    data["directory"] = json!(on_one_line(build.directory.as_os_str()));
    data["member"] = json!(build.member);
    data["commands"] = build.manifest.facts.commands.iter().map(Command::data).collect();
    data
}

fn properties() -> Value {
    let command = json!({
        "type": "object",
        "properties": {
            "purpose": {"type": "string", "enum": ["install", "build", "test", "run", "lint", "format", "other"]},
            "command": {"type": "string"},
            "does": {"type": "string", "description": "What the manifest runs for it"},
        },
        "required": ["purpose", "command"],
    });
    let build = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The manifest"},
            "system": {"type": "string", "enum": ["cargo", "npm", "python", "go", "maven", "gradle", "make"]},
            "directory": {"type": "string", "description": "Where to run its commands"},
            "name": {"type": "string"},
            "version": {"type": "string"},
            "member": {"type": "boolean", "description": "Whether a workspace above it runs its commands"},
            "commands": {"type": "array", "items": command},
            "problem": {"type": "string", "description": "Why the manifest was not read; then only the usual commands are shown"},
        },
        "required": ["path", "system", "directory", "member", "commands"],
    });
    let step = json!({
        "type": "object",
        "properties": {"directory": {"type": "string"}, "command": {"type": "string"}},
        "required": ["directory", "command"],
    });
    json!({
        "builds": {"type": "array", "items": build},
        "run": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": step},
            "description": "What to run by purpose, over all roots",
        },
        "truncated": {"type": "boolean", "description": "Whether there is more than shown"},
    })
}
