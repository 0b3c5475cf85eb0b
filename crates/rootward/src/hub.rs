//! `rootward hub`: many servers behind one endpoint, each confined to the roots.

#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod line_socket;
mod preparing;
mod reloading;
#[cfg(feature = "connect")]
mod remote;
mod told;

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use rootward_core::session::Sources;
use rootward_core::{PlacedRoot, Shown, Validation};
use rootward_hub::config::{ConfigError, HubConfig, LONGEST as LONGEST_FILE, SCHEMA};
use rootward_hub::hub::{ConfiguredHub, HubServer, Terms};
use rootward_hub::wrap::{Given, LONGEST, Launch, Operator, SourceWatcher};
use rootward_sandbox::{Enforcement, Refused, StartError};

use crate::Outcome;
use crate::ground::Ground;
#[cfg(feature = "http")]
use crate::http::HttpFlags;
use crate::message::{self, Hinted};
use crate::recipes;
use crate::recording::Recording;
use crate::sandbox::told as sandbox_told;
use crate::saved::AskingAs;
use crate::settings::read_text_ambient;
#[cfg(feature = "http")]
pub(crate) use http::FrontProcess;
use preparing::Preparing;
use reloading::{Reloading, Stamp};

/// The configuration in the settings directory.
const FILE: &str = "mcp.json";

/// Run many MCP servers behind one endpoint, each confined to the roots
///
/// The servers are those of a file that you may already have: `mcpServers` of Claude Desktop, Claude Code or Cursor,
/// or `servers` of VS Code. Each server starts when it is needed, in the client's roots. Their tools, prompts and
/// resources are offered as one list. The tool `get-roots` shows which directories each server gets.
#[derive(Args, Debug)]
#[command(after_help = "Exit codes: 0 the client left, 2 wrong use or failure")]
pub(crate) struct Hub {
    /// The file that names the servers. Without it, `mcp.json` in the settings directory. If that does not exist, the hub serves
    /// Rootward's own file tools
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A directory or file that limits what the client may share, with `:ro`, `:rw`, `:rw-nodelete` or `:rwx` at its
    /// end; may be repeated. If the client names no roots, these are the roots. Without any, those of
    /// `ROOTWARD_ROOTS`, else those of the settings file. If nobody names any, the saved roots (`rootward roots`)
    #[arg(long = "root", value_name = "DIR")]
    roots: Vec<OsString>,
    #[command(flatten)]
    asking: AskingAs,
    /// Print what would run, with which directories, variables and network, and exit
    #[arg(long)]
    check: bool,
    /// With `--check`, print JSON
    #[arg(long, requires = "check")]
    json: bool,
    /// Print the JSON Schema of the file, for editors, and exit
    #[arg(long, conflicts_with_all = ["check", "config"])]
    schema: bool,
    #[command(flatten)]
    recording: Recording,
    #[cfg(feature = "http")]
    #[command(flatten)]
    http: HttpFlags,
}

impl Hub {
    pub(crate) fn run(self) -> Result<u8> {
        if self.schema {
            writeln!(io::stdout().lock(), "{}", SCHEMA.trim_end())?;
            return Ok(Outcome::Done.into());
        }
        let ground = Ground::load_ambient()?;
        let Some((path, seen, config)) = self.config_ambient(&ground)? else {
            return self.serve_files(&ground);
        };
        for note in &config.notes {
            message::warning(&note.to_string());
        }
        #[cfg(feature = "http")]
        let http = if self.check { None } else { self.http.prepare_ambient(&ground, &self.roots)? };
        let operator = ground.ceiling(&self.roots)?;
        operator.warn();
        let book = recipes::book_ambient(&ground)?;
        let audit = if self.check { None } else { self.recording.open_ambient(&ground)? };
        let saved = ground.saved(self.asking.name());
        let fallback = ground.fallback_for_server_ambient();
        fallback.warn();
        if !operator.set.names_any() {
            saved.warn();
        }
        let sources = Sources { ceiling: operator.set, saved: saved.set, fallback: fallback.set, bound: None };
        let environment = std::env::vars_os().collect();
        let preparing = Preparing {
            ground: &ground,
            book: &book,
            sources: &sources,
            environment: &environment,
            audit: audit.clone(),
        };
        let mut servers: Vec<HubServer> = Vec::new();
        let mut checked = Vec::new();
        for server in config.enabled() {
            let prepared = preparing.server_ambient(server);
            let prepared = if self.check { prepared.and_then(found_ambient) } else { prepared };
            checked.push(told::Checked::new(server, prepared.as_ref()));
            match prepared {
                Ok(prepared) => servers.push(prepared),
                // A server that cannot run does not stop the others.
                Err(error) if !self.check => message::failure(&error),
                Err(_) => {}
            }
        }
        if self.check {
            return Ok(told::write(&checked, self.json, &mut io::stdout().lock())?.into());
        }
        if config.enabled().next().is_some() && servers.is_empty() {
            return Err(anyhow!("no server of the configuration can run"));
        }
        // The other copy goes to the code that follows the saved roots.
        let mut reload = Reloading {
            path,
            ground: Ground::load_ambient()?,
            book,
            sources: sources.clone(),
            environment,
            audit: audit.clone(),
            config: config.clone(),
            seen,
            patterns: ground.patterns_of_operator(&self.roots)?,
            flags: self.roots.clone(),
            of_servers: std::collections::BTreeMap::new(),
        };
        // Record what matches now: the servers were prepared with it.
        reload.matching_ambient();
        let guard = ground.guard_options(ground.base_of_server());
        let hub = ConfiguredHub {
            servers,
            settings: config.hub.clone(),
            terms: Terms::new_ambient(ground.settings.policy(), guard.clone(), Validation::of(&ground.directories)),
            given: Given { sources: sources.clone(), restrictions: Arc::clone(&guard.restrictions) },
            handshakes: ground.directories.state.as_ref().map(|state| state.join("handshakes")),
            status: ground.directories.state.as_ref().map(|state| state.join(crate::status::DIRECTORY)),
            longest: LONGEST,
            audit,
            follow: self.follow_ambient(ground, sources)?,
            reload: Some(Box::new(reload)),
        };
        message::never_wait();
        #[cfg(feature = "http")]
        let code = match http {
            // Saved roots are only for clients on this machine.
            Some(http) => http::run(ConfiguredHub { follow: None, ..hub }, http, &mut Terminal)?,
            None => run_stdio(hub)?,
        };
        #[cfg(not(feature = "http"))]
        let code = run_stdio(hub)?;
        Ok(code.try_into().unwrap_or(u8::MAX))
    }

    /// Without a configuration, the hub offers its own file tools.
    #[cfg(feature = "serve")]
    fn serve_files(self, ground: &Ground) -> Result<u8> {
        message::line_in_passing(&format!(
            "note: no server is configured, so the hub serves Rootward's own file tools; name servers in `{}` or with `--config FILE`",
            usual_file(ground)
        ));
        if self.check {
            if self.json {
                told::write(&[], true, &mut io::stdout().lock())?;
            }
            return Ok(Outcome::Done.into());
        }
        let serve = crate::serve::Serve::for_hub(self.roots, self.asking, self.recording);
        #[cfg(feature = "http")]
        let serve = serve.over(self.http);
        Ok(serve.run()?.into())
    }

    #[cfg(not(feature = "serve"))]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    fn serve_files(self, ground: &Ground) -> Result<u8> {
        let says = format!("no server is configured: `{}` does not exist", usual_file(ground));
        let hint = "name the file of your client with `--config FILE`, or write one there".to_owned();
        Err(Hinted { says, hint }.into())
    }

    /// The configuration, its path, and its file's stamp when it was read; none if no file is named and the usual
    /// one does not exist.
    fn config_ambient(&self, ground: &Ground) -> Result<Option<(PathBuf, Option<Stamp>, HubConfig)>> {
        let usual = ground.directories.settings.as_ref().map(|settings| settings.join(FILE));
        let (path, is_named) = match (&self.config, usual) {
            (Some(named), _) => (ground.typed_path(named.as_os_str())?, true),
            (None, Some(usual)) => (usual, false),
            (None, None) => return Ok(None),
        };
        // Taken before reading, so that a change in the meantime triggers another read.
        let seen = Stamp::of_ambient(&path);
        let text = match read_text_ambient(&path, LONGEST_FILE as u64) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound && !is_named => return Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(anyhow!("configuration `{}` does not exist", Shown::new(&path)));
            }
            Err(error) => {
                return Err(error).with_context(|| format!("configuration `{}` cannot be read", Shown::new(&path)));
            }
        };
        refuse_planted(ground, &path)?;
        let config = HubConfig::read(&text).map_err(|error| wrong(&path, &error))?;
        Ok(Some((path, seen, config)))
    }

    #[cfg(feature = "roots")]
    fn follow_ambient(&self, ground: Ground, sources: Sources) -> Result<Option<Box<dyn SourceWatcher>>> {
        let peer = self.asking.name().map(str::to_owned);
        let patterns = ground.patterns_of_operator(&self.roots)?;
        let flags = self.roots.clone();
        let look_ambient = Box::new(move |ground: &Ground| Some(ground.ceiling(&flags).ok()?.set));
        let ceiling = crate::following::Ceiling { patterns, look_ambient };
        let watcher = crate::following::PollingWatcher::begin_ambient(ground, peer, sources, ceiling);
        Ok(watcher.map(|watcher| Box::new(watcher) as Box<dyn SourceWatcher>))
    }

    #[cfg(not(feature = "roots"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
    fn follow_ambient(&self, _: Ground, _: Sources) -> Result<Option<Box<dyn SourceWatcher>>> {
        Ok(None)
    }
}

/// The server, if its program exists.
fn found_ambient(server: HubServer) -> Result<HubServer> {
    match server.launch.find_program_ambient() {
        Ok(()) => Ok(server),
        Err(error) => Err(sandbox_told::not_started(&server.launch.program, error)),
    }
}

fn run_stdio(hub: ConfiguredHub) -> io::Result<i32> {
    message::warn_on_terminal("hub");
    hub.run(&mut Terminal)
}

fn wrong(path: &Path, error: &ConfigError) -> anyhow::Error {
    let says = format!("configuration `{}`, {error}", Shown::new(path));
    anyhow!(Hinted { says, hint: error.hint.clone() })
}

/// Refuses a configuration that a confined server could have written: it names commands to run and what they get.
// SECURITY: this applies to any file name: `.mcp.json` is closed for writing in a root, but the kernel cannot close
// a name that did not exist yet
// (test: a_configuration_that_a_server_could_write_is_refused)
fn refuse_planted(ground: &Ground, path: &Path) -> Result<()> {
    let material = Validation::of(&ground.directories).material_ambient();
    if !material.may_be_planted_ambient(path) {
        return Ok(());
    }
    let says = format!("configuration `{}` is where a confined server could have written it", Shown::new(path));
    let hint = format!("review it and copy it to `{}`", usual_file(ground));
    Err(Hinted { says, hint }.into())
}

/// The usual path of the configuration, if none is named.
fn usual_file(ground: &Ground) -> String {
    let usual = ground.directories.settings.as_ref().map(|settings| Shown::new(&settings.join(FILE)).to_string());
    usual.unwrap_or_else(|| FILE.to_owned())
}

/// The operator, who reads standard error.
struct Terminal;

impl Operator for Terminal {
    fn started(&mut self, _: &[PlacedRoot], enforcement: &Enforcement) {
        sandbox_told::enforcement(enforcement);
    }

    fn not_started(&mut self, launch: &Launch, error: StartError) -> String {
        let error = sandbox_told::not_started(&launch.program, error);
        message::failure(&error);
        message::in_one_line(&error)
    }

    fn refused(&mut self, _: &[Refused]) {}

    fn says(&mut self, text: &str) {
        message::line_in_passing(&format!("rootward: {text}"));
    }
}
