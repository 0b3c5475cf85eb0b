//! `rootward --version`, and with `--verbose` the details for a bug report: how it was built, which protocol
//! versions it speaks, what the kernel offers, and where its files are.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::{ArgAction, Args};
use rootward_core::Shown;
use rootward_core::env::{Directories, Environment};
use rootward_protocol::era::{LEGACY_REVISIONS, MODERN_REVISIONS};
use serde::Serialize;

use crate::Outcome;
use crate::answer::text;
use crate::doctor::landlock;

#[derive(Args, Debug)]
pub(crate) struct VersionFlags {
    /// Print version
    #[arg(short = 'V', long, action = ArgAction::SetTrue)]
    version: bool,
    /// With `--version`: also how it was built, what the kernel offers, and where its files are
    #[arg(short, long, requires = "version")]
    verbose: bool,
    /// With `--version --verbose`: as one JSON object
    #[arg(long, requires = "verbose")]
    json: bool,
}

/// Everything about this binary and the machine it runs on. Null means unknown at build time.
#[derive(Debug, Serialize)]
struct About {
    version: &'static str,
    commit: Option<&'static str>,
    target: &'static str,
    profile: &'static str,
    compiler: Option<&'static str>,
    features: Vec<&'static str>,
    protocol_revisions: Vec<&'static str>,
    landlock: String,
    /// Null if the environment does not say where they would be.
    settings: Option<String>,
    saved_roots: Option<String>,
    state: Option<String>,
    audit_log: Option<String>,
}

impl About {
    fn look_ambient() -> About {
        let environment: Environment = std::env::vars_os().collect();
        let directories = Directories::new(&environment);
        let path = |path: Option<PathBuf>| path.map(|path| text(path.as_os_str()).into_owned());
        About {
            version: env!("CARGO_PKG_VERSION"),
            commit: option_env!("ROOTWARD_COMMIT"),
            target: env!("ROOTWARD_TARGET"),
            profile: env!("ROOTWARD_PROFILE"),
            compiler: option_env!("ROOTWARD_COMPILER"),
            features: env!("ROOTWARD_FEATURES").split(',').filter(|name| !name.is_empty()).collect(),
            protocol_revisions: LEGACY_REVISIONS.into_iter().chain(MODERN_REVISIONS).collect(),
            landlock: landlock().to_string(),
            settings: path(directories.settings_file()),
            saved_roots: path(directories.saved_roots()),
            audit_log: path(directories.audit_log()),
            state: path(directories.state),
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let list = |names: &[&str]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let path = |path: &Option<String>| {
            let nowhere = || "nowhere: neither HOME nor an XDG variable names an absolute path".to_owned();
            path.as_ref().map_or_else(nowhere, |path| Shown::new(path).to_string())
        };
        writeln!(out, "rootward {}\n", self.version)?;
        let mut row = |name: &str, value: &str| writeln!(out, "{name:<18}{value}");
        if let Some(commit) = self.commit {
            row("commit", commit)?;
        }
        row("target", self.target)?;
        row("profile", self.profile)?;
        if let Some(compiler) = self.compiler {
            row("compiler", compiler)?;
        }
        row("features", &list(&self.features))?;
        row("MCP revisions", &list(&self.protocol_revisions))?;
        row("landlock", &self.landlock)?;
        row("settings", &path(&self.settings))?;
        row("saved roots", &path(&self.saved_roots))?;
        row("state", &path(&self.state))?;
        row("audit log", &path(&self.audit_log))
    }
}

impl VersionFlags {
    pub(crate) fn run(self) -> Result<Outcome> {
        let mut out = io::stdout().lock();
        if !self.verbose {
            writeln!(out, "rootward {}", env!("CARGO_PKG_VERSION"))?;
        } else if self.json {
            serde_json::to_writer_pretty(&mut out, &About::look_ambient())?;
            out.write_all(b"\n")?;
        } else {
            About::look_ambient().write(&mut out)?;
        }
        out.flush()?;
        Ok(Outcome::Done)
    }
}
