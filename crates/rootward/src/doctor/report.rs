//! The report of `doctor`, for people and for programs.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};

use anyhow::Result;
use rootward_core::{Origin, RootKind, Shown};
use serde::Serialize;

use super::confinement::Confinement;
use super::kernel::Kernel;
use super::packages::Packages;
#[cfg(feature = "wrap")]
use super::recipes::Recipes;
use super::unenforced;
use super::values::{Line, title, values};
use crate::answer::text;
use crate::ground::Ground;
use crate::message::{Hinted, causes, told};
use crate::settings::{SettingsFile, Source, unknown_variables};
use rootward_core::env::{Directories, Environment};

/// How many places to list for people.
const MOST_PLACES: usize = 16;

/// How many variable names fit in one line.
const NAMES_IN_LINE: usize = 4;

/// The whole report.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    version: &'static str,
    kernel: Kernel,
    confinement: Confinement,
    settings_file: File,
    saved_roots: SavedRoots,
    given_for_writing: GivenForWriting,
    #[cfg(feature = "wrap")]
    recipes: Recipes,
    packages: Packages,
    /// Why the settings cannot be used; then nothing can be decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    mistake: Option<Mistake>,
    settings: Vec<Line>,
    roots: Vec<ShownRoot>,
    left_out: Vec<Left>,
    /// Places below the roots that should be closed for writing but that the kernel cannot close; without roots,
    /// below the working directory.
    open_for_writing: Vec<String>,
    /// Variables that look like settings but are not.
    unknown_variables: Vec<String>,
    /// For each of them, the variable that was probably meant.
    #[serde(skip)]
    variable_hints: Vec<Option<&'static str>>,
    /// Variables that should name an absolute directory but do not.
    relative_variables: Vec<&'static str>,
    /// Variables that a confined command does not get unless they are named.
    withheld_variables: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Mistake {
    error: String,
    hint: Option<String>,
}

#[derive(Debug, Serialize)]
struct File {
    path: Option<String>,
    /// Null if another mistake kept it from being read.
    exists: Option<bool>,
}

/// What `rootward roots` saved.
#[derive(Debug, Default, Serialize)]
struct SavedRoots {
    path: Option<String>,
    count: usize,
}

/// The places that confined commands could ever write; files there are not trusted.
#[derive(Debug, Default, Serialize)]
struct GivenForWriting {
    record: Option<String>,
    places: Vec<String>,
    /// Why the record cannot be used; then no command is started.
    #[serde(skip_serializing_if = "Option::is_none")]
    mistake: Option<String>,
}

impl GivenForWriting {
    fn look_ambient(directories: &Directories) -> GivenForWriting {
        let Some(record) = directories.writable_record() else { return GivenForWriting::default() };
        let (places, mistake) = match record.read_ambient() {
            Ok(material) => (material.places().map(|place| text(place.as_os_str()).into_owned()).collect(), None),
            Err(error) => (Vec::new(), Some(causes(&error))),
        };
        GivenForWriting { record: Some(text(record.path().as_os_str()).into_owned()), places, mistake }
    }
}

#[derive(Debug, Serialize)]
struct ShownRoot {
    path: String,
    /// Its real location.
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

/// The variables that no setting passes on.
fn withheld(ground: &Ground) -> Vec<String> {
    let variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let variables = variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
    let names = rootward_sandbox::withheld_variables(variables, &ground.settings.sandbox.variables.value);
    let mut names: Vec<String> = names.iter().map(|name| Shown::new(name).to_string()).collect();
    names.sort();
    names
}

impl Report {
    pub(super) fn new(kernel: Kernel, ground: &Ground) -> Result<Report> {
        let found = ground.roots(&[], None)?;
        let (path, exists) = match &ground.settings.file {
            SettingsFile::Read(path) => (Some(path), Some(true)),
            SettingsFile::Missing(path) => (Some(path), Some(false)),
            SettingsFile::Nowhere => (None, Some(false)),
        };
        let roots = found.set.roots().iter().map(|placed| ShownRoot {
            path: text(placed.root.path.as_os_str()).into_owned(),
            place: text(placed.place.as_os_str()).into_owned(),
            kind: placed.kind,
            access: placed.root.access,
            origin: placed.root.origin,
        });
        let saved_roots = ground.directories.saved_roots();
        let saved_roots = SavedRoots {
            path: saved_roots.map(|path| text(path.as_os_str()).into_owned()),
            count: ground.saved.count(),
        };
        Ok(Report {
            saved_roots,
            #[cfg(feature = "wrap")]
            recipes: Recipes::look_ambient(ground),
            settings_file: File { path: path.map(|path| text(path.as_os_str()).into_owned()), exists },
            settings: values(&ground.settings),
            roots: roots.collect(),
            withheld_variables: withheld(ground),
            open_for_writing: unenforced::look_ambient(ground, &found.set),
            left_out: found.left_out.into_iter().map(|left| Left { root: left.text, reason: left.reason }).collect(),
            ..Report::without_settings(kernel, &ground.environment)
        })
    }

    /// The report if the settings cannot be used.
    pub(super) fn of_mistake(kernel: Kernel, mistake: &anyhow::Error) -> Report {
        let environment: Environment = std::env::vars_os().collect();
        let hint = mistake.downcast_ref::<Hinted>().map(|hinted| hinted.hint.clone());
        let path = Directories::new(&environment).settings_file();
        Report {
            settings_file: File { path: path.map(|path| text(path.as_os_str()).into_owned()), exists: None },
            mistake: Some(Mistake { error: told(mistake), hint }),
            ..Report::without_settings(kernel, &environment)
        }
    }

    fn without_settings(kernel: Kernel, environment: &Environment) -> Report {
        let unknown = unknown_variables(environment);
        Report {
            version: env!("CARGO_PKG_VERSION"),
            kernel,
            confinement: Confinement::look(),
            settings_file: File { path: None, exists: None },
            saved_roots: SavedRoots::default(),
            given_for_writing: GivenForWriting::look_ambient(&Directories::new(environment)),
            #[cfg(feature = "wrap")]
            recipes: Recipes::default(),
            packages: Packages::look_ambient(&Directories::new(environment)),
            mistake: None,
            settings: Vec::new(),
            roots: Vec::new(),
            left_out: Vec::new(),
            open_for_writing: Vec::new(),
            unknown_variables: unknown.iter().map(|(name, _)| Shown::new(name).to_string()).collect(),
            variable_hints: unknown.into_iter().map(|(_, hint)| hint).collect(),
            relative_variables: relative_directories(environment).collect(),
            withheld_variables: Vec::new(),
        }
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "rootward {}\n", self.version)?;
        self.write_kernel(out)?;
        self.write_settings(out)?;
        self.write_saved(out)?;
        #[cfg(feature = "wrap")]
        self.recipes.write(out)?;
        self.packages.write(out)?;
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
                "yes: one system call resolves and pins a path"
            } else {
                "no (older than 5.6, or forbidden): paths are walked name by name, which is as safe but slower"
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
        row(
            out,
            "paths",
            &"`check` and `explain` decide by handle, so renaming or swapping a file cannot bypass the decision",
        )?;
        row(out, "processes", &self.confinement)?;
        if !self.confinement.open().is_empty() {
            row(out, "still open", &self.confinement.open().join(", "))?;
        }
        row(out, "stronger", &self.confinement.next())?;
        row(out, "each place", &"`rootward sandbox --explain DIR -- COMMAND` prints what a command gets, and why")?;
        match &self.given_for_writing {
            GivenForWriting { mistake: Some(mistake), .. } => row(out, "record", mistake),
            GivenForWriting { record: Some(record), places, .. } => row(
                out,
                "record",
                &format_args!("{} (places that confined commands could write: {})", Shown::new(record), places.len()),
            ),
            GivenForWriting { .. } => {
                row(out, "record", &"none: neither HOME nor XDG_STATE_HOME names an absolute path")
            }
        }
    }

    fn write_settings(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\nsettings")?;
        match &self.settings_file {
            File { path: Some(path), exists: None | Some(true) } => row(out, "file", &Shown::new(path))?,
            File { path: Some(path), exists: Some(false) } => {
                row(out, "file", &format_args!("{} (does not exist)", Shown::new(path)))?;
            }
            File { path: None, .. } => {
                row(out, "file", &"none: neither HOME nor XDG_CONFIG_HOME names an absolute path")?;
            }
        }
        if let Some(Mistake { error, hint }) = &self.mistake {
            row(out, "mistake", error)?;
            if let Some(hint) = hint {
                row(out, "hint", hint)?;
            }
        }
        let of =
            |table: &str| self.settings.iter().filter(move |line| line.name.starts_with(table)).collect::<Vec<_>>();
        let (sandbox, serve, mut http) = (of("sandbox."), of("serve."), of("http."));
        // There are many, and few are ever set; `--json` has all of them.
        http.retain(|line| !line.name.starts_with("http.limits.") || line.source != Source::Default);
        write_lines(out, &self.settings.iter().filter(|line| !line.name.contains('.')).collect::<Vec<_>>())?;
        for (name, hint) in self.unknown_variables.iter().zip(&self.variable_hints) {
            let hint = hint.map(|hint| format!("; did you mean {hint}?")).unwrap_or_default();
            row(out, "unknown", &format_args!("{name} in the environment is not a setting{hint}"))?;
        }
        for name in &self.relative_variables {
            row(out, "passed over", &format_args!("{name} is not an absolute path"))?;
        }
        if sandbox.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", title("serve"))?;
        write_lines(out, &serve)?;
        writeln!(out, "\n{}", title("http"))?;
        write_lines(out, &http)?;
        let is_set = http.iter().any(|line| line.name.starts_with("http.limits."));
        row(out, if is_set { "other limits" } else { "limits" }, &"the defaults; `--json` shows them")?;
        writeln!(out, "\n{}", title("sandbox"))?;
        write_lines(out, &sandbox)?;
        for (number, names) in self.withheld_variables.chunks(NAMES_IN_LINE).enumerate() {
            row(out, if number == 0 { "withheld" } else { "" }, &names.join(", "))?;
        }
        match self.withheld_variables.first() {
            Some(first) => row(out, "", &format_args!("`--env {first}` passes one on")),
            None => Ok(()),
        }
    }

    fn write_saved(&self, out: &mut impl Write) -> io::Result<()> {
        let SavedRoots { path: Some(path), count } = &self.saved_roots else { return Ok(()) };
        writeln!(out, "\nsaved roots")?;
        row(out, "file", &Shown::new(path))?;
        match count {
            0 => row(out, "saved", &"none"),
            count => row(out, "saved", &format_args!("{count}, listed by `rootward roots list`")),
        }
    }

    /// Whether everything could be read.
    pub(super) fn is_whole(&self) -> bool {
        #[cfg(feature = "wrap")]
        let recipes = self.recipes.is_whole();
        #[cfg(not(feature = "wrap"))]
        let recipes = true;
        self.mistake.is_none() && recipes
    }

    fn write_open_for_writing(&self, out: &mut impl Write) -> io::Result<()> {
        if self.open_for_writing.is_empty() {
            return Ok(());
        }
        let below = if self.roots.is_empty() { "the working directory" } else { "these roots" };
        writeln!(out, "\nclosed for writing in calls, but open to the processes of a server in {below}")?;
        for place in self.open_for_writing.iter().take(MOST_PLACES) {
            writeln!(out, "  {place}")?;
        }
        match self.open_for_writing.len().saturating_sub(MOST_PLACES) {
            0 => Ok(()),
            more => writeln!(out, "  and {more} more; `doctor --json` names all"),
        }
    }

    fn write_roots(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\ncurrent roots")?;
        if self.mistake.is_some() {
            writeln!(out, "  not known: nothing can be decided until this is fixed")?;
        } else if self.roots.is_empty() {
            writeln!(out, "  none: every path is denied")?;
        }
        for ShownRoot { path, place, kind, access, .. } in &self.roots {
            let kind = if *kind == RootKind::File { "file" } else { "directory" };
            let leads = if place == path { String::new() } else { format!(", located at {}", Shown::new(place)) };
            writeln!(out, "  {} ({kind}; {access}{leads})", Shown::new(path))?;
        }
        if !self.left_out.is_empty() {
            writeln!(out, "\nroots left out")?;
        }
        for Left { root, reason } in &self.left_out {
            writeln!(out, "  {root}: {reason}")?;
        }
        self.write_open_for_writing(out)
    }
}

/// Settings, by the last part of their names.
fn write_lines(out: &mut impl Write, lines: &[&Line]) -> io::Result<()> {
    for line in lines {
        let name = match line.name.strip_prefix("http.") {
            Some(name) => name,
            None => line.name.rsplit('.').next().unwrap_or(line.name),
        };
        // A long name takes room from the value, so that the sources stay in one column.
        let width = 28_usize.saturating_sub(name.len().saturating_sub(NAME_WIDTH));
        row(out, name, &format_args!("{:<width$} {}", line.shown, line.source))?;
        for more in &line.more {
            row(out, "", more)?;
        }
    }
    Ok(())
}

/// The width of the first column: `roots_ttl_announced_ms` fits.
const NAME_WIDTH: usize = 22;

pub(super) fn row(out: &mut impl Write, name: &str, says: &dyn Display) -> io::Result<()> {
    writeln!(out, "  {name:<NAME_WIDTH$} {says}")
}

/// Variables that should name a directory but are ignored because their path is not absolute.
fn relative_directories(environment: &Environment) -> impl Iterator<Item = &'static str> {
    let names = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];
    names.into_iter().filter(|name| environment.get(name).is_some() && environment.directory(name).is_none())
}
