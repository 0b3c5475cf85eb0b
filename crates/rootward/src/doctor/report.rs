//! What `doctor` says, for people and for programs.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::Duration;

use anyhow::Result;
use rootward_core::session::{NoRoots, Policy};
use rootward_core::{Origin, RootKind, Shown};
use serde::Serialize;
use serde_json::Value;

use super::kernel::Kernel;
use crate::answer::text;
use crate::ground::Ground;
use crate::settings::{Setting, SettingsFile};

/// Everything there is to say.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    version: &'static str,
    kernel: Kernel,
    settings_file: File,
    settings: Vec<Line>,
    roots: Vec<InForce>,
    left_out: Vec<Left>,
    /// Variables that look like settings and are none.
    unknown_variables: Vec<String>,
}

#[derive(Debug, Serialize)]
struct File {
    path: Option<String>,
    exists: bool,
}

#[derive(Debug, Serialize)]
struct Line {
    name: &'static str,
    value: Value,
    source: &'static str,
    /// Value and source as people read them.
    #[serde(skip)]
    shown: (String, String),
}

#[derive(Debug, Serialize)]
struct InForce {
    path: String,
    /// Where it really lies.
    place: String,
    kind: RootKind,
    access: rootward_core::Access,
    origin: Origin,
}

#[derive(Debug, Serialize)]
struct Left {
    root: String,
    reason: String,
}

impl Report {
    pub(super) fn new(kernel: Kernel, ground: &Ground) -> Result<Report> {
        let in_force = ground.in_force(&[])?;
        let unknown = ground.environment.unknown_settings().map(|name| Shown::new(&name).to_string());
        let (path, exists) = match &ground.settings.file {
            SettingsFile::Read(path) => (Some(path), true),
            SettingsFile::Missing(path) => (Some(path), false),
            SettingsFile::Nowhere => (None, false),
        };
        let roots = in_force.set.roots().iter().map(|placed| InForce {
            path: text(placed.root.path.as_os_str()).into_owned(),
            place: text(placed.place.as_os_str()).into_owned(),
            kind: placed.kind,
            access: placed.root.access,
            origin: placed.root.origin,
        });
        Ok(Report {
            version: env!("CARGO_PKG_VERSION"),
            kernel,
            settings_file: File { path: path.map(|path| text(path.as_os_str()).into_owned()), exists },
            settings: values(ground),
            roots: roots.collect(),
            left_out: in_force.left_out.into_iter().map(|left| Left { root: left.text, reason: left.reason }).collect(),
            unknown_variables: unknown.collect(),
        })
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "rootward {}\n", self.version)?;
        self.write_kernel(out)?;
        self.write_settings(out)?;
        self.write_roots(out)
    }

    fn write_kernel(&self, out: &mut impl Write) -> io::Result<()> {
        let kernel = &self.kernel;
        writeln!(out, "kernel")?;
        row(out, "release", &Shown::new(&kernel.release))?;
        row(
            out,
            "openat2",
            &if kernel.openat2 {
                "yes: a path is decided and pinned by one call of the kernel"
            } else {
                "no (older than 5.6, or forbidden): paths are walked name by name, as safe and slower"
            },
        )?;
        row(out, "/proc", &if kernel.proc { "mounted" } else { "not mounted: links are followed name by name" })?;
        row(out, "landlock", &kernel.landlock)?;
        row(out, "user namespaces", &kernel.user_namespaces)?;
        row(out, "seccomp", &kernel.seccomp)?;
        match kernel.open_files {
            Some(most) => row(out, "open files", &format_args!("at most {most}"))?,
            None => row(out, "open files", &"no limit")?,
        }
        writeln!(out, "\nenforced")?;
        row(out, "paths", &"`check` and `explain` decide by handle: no swap of names slips past the decision")?;
        row(out, "processes", &"not built yet: nothing here confines the process of a server")
    }

    fn write_settings(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\nsettings")?;
        match &self.settings_file {
            File { path: Some(path), exists: true } => row(out, "file", &Shown::new(path))?,
            File { path: Some(path), exists: false } => {
                row(out, "file", &format_args!("{} (does not exist)", Shown::new(path)))?;
            }
            File { path: None, .. } => row(out, "file", &"none: neither HOME nor XDG_CONFIG_HOME is set")?,
        }
        for Line { name, shown: (value, source), .. } in &self.settings {
            row(out, name, &format_args!("{value:<28} {source}"))?;
        }
        for name in &self.unknown_variables {
            row(out, "unknown", &format_args!("{name} in the environment is not a setting"))?;
        }
        Ok(())
    }

    fn write_roots(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\nroots in force")?;
        if self.roots.is_empty() {
            writeln!(out, "  none: every path is denied")?;
        }
        for InForce { path, place, kind, access, .. } in &self.roots {
            let kind = if *kind == RootKind::File { "file" } else { "directory" };
            let leads = if place == path { String::new() } else { format!(", lies at {}", Shown::new(place)) };
            writeln!(out, "  {} ({kind}; {access}{leads})", Shown::new(path))?;
        }
        if !self.left_out.is_empty() {
            writeln!(out, "\nroots left out")?;
        }
        for Left { root, reason } in &self.left_out {
            writeln!(out, "  {root}: {reason}")?;
        }
        Ok(())
    }
}

fn row(out: &mut impl Write, name: &str, says: &dyn Display) -> io::Result<()> {
    writeln!(out, "  {name:<17} {says}")
}

/// Each setting as one line.
fn values(ground: &Ground) -> Vec<Line> {
    let all = &ground.settings;
    let policy: Policy = all.policy();
    let roots: Vec<&str> = all.roots.value.iter().map(|named| named.text.as_str()).collect();
    let roots_shown = match roots.as_slice() {
        [] => "none".to_owned(),
        [one] => (*one).to_owned(),
        more => format!("{} roots", more.len()),
    };
    let lifetime = match policy.lifetime {
        time if time == policy.lifetime_announced => shown_time(time),
        time => format!("{}, announced: {}", shown_time(time), shown_time(policy.lifetime_announced)),
    };
    let no_roots = match policy.no_roots {
        NoRoots::Deny => "deny",
        NoRoots::AllowAll => "allow-all",
    };
    let fallback = all.fallback_dir.value.as_ref().map(|named| named.text.as_str());
    let patterns: Vec<&str> = all.restrict.value.iter().map(|restrict| restrict.pattern.as_str()).collect();
    let restrict_shown = match patterns.len() {
        0 => "standard places only".to_owned(),
        count => format!("standard places and {count} more"),
    };
    vec![
        value("roots", &all.roots, &roots, roots_shown),
        plain("mode", &all.mode, policy.mode.word()),
        plain("strict", &all.strict, all.strict.value),
        plain("ignore_client", &all.ignore_client, all.ignore_client.value),
        value("fallback_dir", &all.fallback_dir, &fallback, fallback.unwrap_or("none").to_owned()),
        plain("fallback_only", &all.fallback_only, all.fallback_only.value),
        plain("no_roots", &all.no_roots, no_roots),
        value("roots_ttl_ms", &all.roots_ttl, &all.roots_ttl.value.map(milliseconds), lifetime),
        plain("roots_timeout_ms", &all.roots_timeout, milliseconds(policy.timeout)),
        plain("debounce_ms", &all.debounce, milliseconds(policy.debounce)),
        value("restrict", &all.restrict, &patterns, restrict_shown),
    ]
}

fn value<T>(name: &'static str, setting: &Setting<T>, value: &impl Serialize, shown: String) -> Line {
    Line {
        name,
        value: serde_json::to_value(value).unwrap_or_default(),
        source: setting.source.word(),
        shown: (shown, setting.source.to_string()),
    }
}

/// A value that people and programs read alike.
fn plain<T>(name: &'static str, setting: &Setting<T>, it: impl Serialize + Display) -> Line {
    value(name, setting, &it, it.to_string())
}

/// What was set as a number of milliseconds.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn shown_time(time: Option<Duration>) -> String {
    time.map_or_else(|| "no limit".to_owned(), |time| milliseconds(time).to_string())
}
