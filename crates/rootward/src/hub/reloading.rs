//! Reads the configuration again when its file changes. A file that became invalid changes nothing, and is reported.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rootward_core::session::Sources;
use rootward_hub::config::{
    ConfigChange, ConfigVariables, HubConfig, LONGEST, RootValues, Surroundings, changes, expand,
};
use rootward_hub::hub::{Reload, Reloaded};
use rootward_hub::recipe::Book;
use std::sync::Arc;

use rootward_core::{Audit, Validation};

use super::preparing::Preparing;
use super::{refuse_planted, wrong};
use crate::ground::Ground;
use crate::message;
use crate::patterns::Patterns;
use crate::settings::read_text_ambient;

/// A configuration that is watched.
pub(super) struct Reloading {
    pub(super) path: PathBuf,
    pub(super) config: HubConfig,
    pub(super) ground: Ground,
    pub(super) book: Book,
    pub(super) sources: Sources,
    pub(super) environment: ConfigVariables,
    pub(super) audit: Option<Arc<dyn Audit>>,
    pub(super) seen: Option<Stamp>,
    /// Patterns among the operator's roots.
    pub(super) patterns: Patterns,
    pub(super) flags: Vec<OsString>,
    /// Patterns among the roots that the configuration sets for a server.
    pub(super) of_servers: BTreeMap<String, Patterns>,
}

/// Distinguishes a changed file from the one before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    length: u64,
    changed: (i64, i64),
    modified: Option<SystemTime>,
}

impl Stamp {
    /// The stamp of a file, if it exists.
    #[expect(clippy::disallowed_methods, reason = "the operator's own file")]
    pub(super) fn of_ambient(path: &Path) -> Option<Stamp> {
        let found = std::fs::metadata(path).ok()?;
        Some(Stamp {
            device: found.dev(),
            inode: found.ino(),
            length: found.len(),
            changed: (found.ctime(), found.ctime_nsec()),
            modified: found.modified().ok(),
        })
    }
}

impl std::fmt::Debug for Reloading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reloading").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Reloading {
    /// The current configuration; an error if it is not valid.
    fn read_ambient(&self) -> anyhow::Result<HubConfig> {
        let text = match read_text_ambient(&self.path, LONGEST as u64) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => anyhow::bail!("the configuration was removed"),
            Err(error) => return Err(error.into()),
        };
        refuse_planted(&self.ground, &self.path)?;
        HubConfig::read(&text).map_err(|error| wrong(&self.path, &error))
    }
}

impl Reloading {
    /// The servers whose patterns now match other directories. They are prepared again, as if their entry had
    /// changed.
    pub(super) fn matching_ambient(&mut self) -> Vec<String> {
        let all = self.patterns.changed_ambient();
        if all && let Ok(operator) = self.ground.ceiling(&self.flags) {
            self.sources.ceiling = operator.set;
        }
        let servers: Vec<_> = self.config.enabled().cloned().collect();
        self.of_servers.retain(|name, _| servers.iter().any(|server| server.name == *name));
        let mut matching = Vec::new();
        for server in servers {
            let known = self.of_servers.entry(server.name.clone()).or_insert_with(|| {
                let around =
                    Surroundings { environment: &self.environment, home: self.ground.home(), roots: RootValues::Later };
                let roots = expand(&server, &around).map(|expanded| expanded.roots.into_iter().chain(expanded.ceiling));
                let roots = roots.map(|roots| roots.flatten().collect::<Vec<_>>()).unwrap_or_default();
                Patterns::new_ambient(roots, Validation::of(&self.ground.directories))
            });
            if known.changed_ambient() || all {
                matching.push(server.name);
            }
        }
        matching
    }
}

impl Reload for Reloading {
    fn look_ambient(&mut self) -> Option<Reloaded> {
        let stamp = Stamp::of_ambient(&self.path);
        let matching = self.matching_ambient();
        if stamp == self.seen && matching.is_empty() {
            return None;
        }
        let same = stamp == self.seen;
        self.seen = stamp;
        let config = if same { Ok(self.config.clone()) } else { self.read_ambient() };
        let config = match config {
            Ok(config) => config,
            Err(error) => {
                let says = message::in_one_line(&error);
                message::line_in_passing(&format!("rootward: the servers stay as they are: {says}"));
                return None;
            }
        };
        let changes = changes(&self.config, &config);
        if changes.is_empty() && matching.is_empty() {
            return None;
        }
        let preparing = Preparing {
            ground: &self.ground,
            book: &self.book,
            sources: &self.sources,
            environment: &self.environment,
            audit: self.audit.clone(),
        };
        let is_new = |name: &str| {
            matching.iter().any(|of| of == name)
                || changes
                    .iter()
                    .any(|change| matches!(change, ConfigChange::Added(of) | ConfigChange::Changed(of) if of == name))
        };
        let mut prepared = Vec::new();
        let mut names = Vec::new();
        for server in config.enabled() {
            if !is_new(&server.name) {
                names.push(server.name.clone());
                continue;
            }
            match preparing.server_ambient(server) {
                Ok(ready) => {
                    names.push(server.name.clone());
                    prepared.push(ready);
                }
                // A server that cannot run does not stop the others.
                Err(error) => message::failure(&error),
            }
        }
        let told: Vec<String> = changes.iter().map(told).collect();
        if !told.is_empty() {
            message::line_in_passing(&format!("rootward: the configuration changed: {}", told.join(", ")));
        }
        let settings = config.hub.clone();
        if !same {
            self.of_servers.clear();
        }
        self.config = config;
        Some(Reloaded { names, changed: prepared, settings })
    }
}

fn told(change: &ConfigChange) -> String {
    let shown = |name: &str| rootward_core::Shown::new(name).to_string();
    match change {
        ConfigChange::Added(name) => format!("server `{}` is new", shown(name)),
        ConfigChange::Changed(name) => format!("server `{}` changed", shown(name)),
        ConfigChange::Removed(name) => format!("server `{}` is gone", shown(name)),
        ConfigChange::Hub => "the hub's own settings changed".to_owned(),
        ConfigChange::Order => "the order changed".to_owned(),
    }
}
