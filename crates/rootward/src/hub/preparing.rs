//! Prepares a configured server: its command, its roots, its confinement.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use rootward_core::env::NamedRoot;
use rootward_core::session::{Follow, Policy, Sources};
use rootward_core::{Audit, Base, Material, Mode, Origin, Root, RootSet, Shown, Validation};
use rootward_hub::config::{
    ConfigVariables, ExpandError, Expanded, ExpandedKind, RecipeChoice, RootValues, SandboxLevel, ServerConfig,
    ServerKind, Surroundings, Template, UnixSocketLevel, expand, read_env_file,
};
use rootward_hub::has_root_template;
use rootward_hub::hub::HubServer;
use rootward_hub::recipe::{Book, Takes};
use rootward_hub::scan::Expansion;
use rootward_hub::wrap::{Confine, Enforce, Inject, Launch, Rules, Runs, Tells, TreatedBy};
use rootward_sandbox::{Options, Trace};

use crate::confinement_flags::SocketSwitch;
use crate::ground::Ground;
use crate::known_server::{KnownServer, add_variables};
use crate::message::{self, Hinted};
use crate::recipes;
use crate::settings::{Source, read_text_ambient};
use crate::withheld;
use crate::wrap;

/// The largest `envFile` to read.
const LARGEST_ENV_FILE: u64 = 1 << 20;

/// What all servers of a configuration share.
pub(super) struct Preparing<'p> {
    pub(super) ground: &'p Ground,
    pub(super) book: &'p Book,
    /// The roots of the operator, the user's saved choice, the fallback.
    pub(super) sources: &'p Sources,
    pub(super) environment: &'p ConfigVariables,
    pub(super) audit: Option<Arc<dyn Audit>>,
}

/// A server's roots.
pub(super) struct ItsRoots {
    pub(super) policy: Policy,
    pub(super) sources: Sources,
}

impl Preparing<'_> {
    /// A configured server, ready to be started.
    pub(super) fn server_ambient(&self, server: &ServerConfig) -> Result<HubServer> {
        let around = Surroundings { environment: self.environment, home: self.ground.home(), roots: RootValues::Later };
        // A server that starts in its first root needs no directory here: that root is not known yet.
        let mut server = server.clone();
        let starts_in_root = takes_root_out(&mut server);
        let server = &server;
        let expanded = expand(server, &around).map_err(|error| hinted(&error))?;
        let (command, args, env, env_file, cwd) = match expanded.what.clone() {
            ExpandedKind::Stdio { command, args, env, env_file, cwd } => (command, args, env, env_file, cwd),
            ExpandedKind::Http { url, headers } => return self.remote_ambient(server, &expanded, &url, &headers),
        };
        let paths = server.path_pairs(&around).map_err(|error| hinted(&error))?;
        let mut variables = self.env_file_ambient(server, env_file.as_deref())?;
        variables.retain(|(name, _)| !env.iter().any(|(known, _)| OsString::from(known) == *name));
        variables.extend(env.into_iter().map(|(name, value)| (name.into(), value)));
        let roots = self.roots_ambient(server, &expanded)?;
        let wanted = match &server.rootward.recipe {
            RecipeChoice::Fitting => recipes::Wanted::Fitting,
            RecipeChoice::Named(name) => recipes::Wanted::Named(name.clone()),
            RecipeChoice::Off => recipes::Wanted::Off,
        };
        let find = |material: &Material| wanted.find_ambient(self.book, &command, &args, material);
        let known = KnownServer::read_ambient(self.ground, roots.sources.ceiling.clone(), &args, &find)?;
        let mut confine = self.confine(server, &expanded);
        if let Confine::To(_) = &confine {
            add_variables(&mut variables, recipes::set_variables_ambient(&server.rootward.set, self.ground, &[]));
        }
        let (appended, note) = known.apply_ambient(self.ground, &args, &mut confine, &mut variables)?;
        if let Some(note) = note {
            message::line_in_passing(&format!("server `{}`: {note}", Shown::new(&server.name)));
        }
        let launch = Launch {
            homes: known.homes_ambient(server.rootward.home, self.ground, &command, &args),
            inject: known.inject(inject(server), inject_by_name(server, &args)),
            program: command,
            arguments: [args, appended].concat(),
            runs: Runs::Here,
            typed_in: cwd.clone().filter(|cwd| cwd.is_absolute()),
            withheld: withheld::from_server_ambient(&confine, &variables),
            variables,
            file_server: known.file_server.clone(),
            paths,
            secrets: [wrap::secrets(&confine), expanded.secrets].concat(),
            confine,
            trace: Trace::Off,
        };
        let base = match cwd {
            _ if starts_in_root => Base::FirstRoot,
            Some(cwd) => Base::Within(cwd),
            None => self.ground.base_of_server(),
        };
        Ok(self.ready(server, launch, known, roots, base))
    }

    /// A server of the hub, with its rules.
    pub(super) fn ready(
        &self,
        server: &ServerConfig,
        launch: Launch,
        known: KnownServer,
        roots: ItsRoots,
        base: Base,
    ) -> HubServer {
        let own = server.rootward.arguments.iter().map(|(place, treatment)| (place, *treatment));
        let rules = Rules {
            policy: roots.policy,
            treatments: known.treatments(self.ground, own),
            sources: Sources { ceiling: known.ceiling, ..roots.sources },
            guard: self.ground.guard_options(base),
            validation: Validation::of(&self.ground.directories),
            // The meaning of variables and `~` in another file system is not known here.
            expansion: if launch.paths.is_empty() { wrap::expansion() } else { Expansion::default() },
            protection: launch.protection(),
            way: Some("name one with `--root DIR` in the hub's command, or save one with `rootward roots add DIR`"),
            refusals: self.ground.settings.refusal.value,
            enforce: Enforce::Refuse,
            treated_by: TreatedBy::Configuration,
            paths: launch.paths.clone(),
            tells: if server.tells_roots() { Tells::Roots } else { Tells::Nothing },
            audit: self.audit.clone(),
        };
        HubServer {
            name: server.name.clone(),
            prefix: server.prefix(),
            tools: server.rootward.tools.clone(),
            isolation: server.rootward.isolation,
            rules,
            launch,
        }
    }

    /// This build cannot reach any remote server.
    #[cfg(not(feature = "connect"))]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    fn remote_ambient(
        &self,
        server: &ServerConfig,
        _: &Expanded,
        _: &str,
        _: &[(String, String)],
    ) -> Result<HubServer> {
        let name = Shown::new(&server.name);
        bail!("server `{name}` is remote, and this `rootward` was built without the feature `connect`")
    }

    /// The variables of a server's `envFile`.
    fn env_file_ambient(&self, server: &ServerConfig, file: Option<&Path>) -> Result<Vec<(OsString, OsString)>> {
        let Some(file) = file else { return Ok(Vec::new()) };
        let wrong = |says: String| anyhow!("server `{}`: `envFile` {says}", Shown::new(&server.name));
        let text = read_text_ambient(file, LARGEST_ENV_FILE)
            .map_err(|error| wrong(format!("`{}` cannot be read: {error}", Shown::new(file))))?;
        // SECURITY: a variable such as `NODE_OPTIONS` runs code
        // (test: an_env_file_that_a_server_could_write_is_refused)
        let material = Validation::of(&self.ground.directories).material_ambient();
        if material.may_be_planted_ambient(file) {
            let says = format!("`{}` is where a confined server could have written it", Shown::new(file));
            bail!(wrong(says));
        }
        let read = read_env_file(&text).map_err(|error| wrong(format!("`{}`, {error}", Shown::new(file))))?;
        Ok(read.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// Which of the client's roots a server gets, or which roots instead.
    pub(super) fn roots_ambient(&self, server: &ServerConfig, expanded: &Expanded) -> Result<ItsRoots> {
        let policy = self.ground.settings.policy();
        if let Some(fixed) = &expanded.roots {
            let ceiling = self.placed(server, fixed);
            let policy = Policy { follow: Follow::IgnoreClient, ..policy };
            return Ok(ItsRoots { policy, sources: Sources { ceiling, ..Sources::default() } });
        }
        let mut ceiling = self.sources.ceiling.clone();
        if let Some(narrower) = &expanded.ceiling {
            ceiling = narrowed(&self.placed(server, narrower), &ceiling);
        }
        if let Some(access) = server.rootward.access {
            // All of the client's roots, but only with this access.
            let everything = Root { access, ..Root::from_path(Path::new("/"), Origin::Config)? };
            ceiling = narrowed(&self.placed(server, &[everything]), &ceiling);
        }
        Ok(ItsRoots { policy, sources: Sources { ceiling, ..self.sources.clone() } })
    }

    /// The configured roots, found on disk.
    fn placed(&self, server: &ServerConfig, roots: &[Root]) -> RootSet {
        let named: Vec<NamedRoot> = roots
            .iter()
            .map(|root| NamedRoot { text: Shown::new(&root.path).to_string(), root: root.clone() })
            .collect();
        let placed = self.ground.place(&named, Source::File);
        for left_out in &placed.left_out {
            message::warning(&format!("server `{}`: {left_out}", Shown::new(&server.name)));
        }
        placed.set
    }

    /// How a server is confined, besides what its recipe opens.
    fn confine(&self, server: &ServerConfig, expanded: &Expanded) -> Confine {
        let settings = &server.rootward;
        if settings.sandbox == SandboxLevel::Off {
            message::warning(&format!(
                "server `{}` is not confined (`sandbox`: `off`): only the paths in its calls are checked",
                Shown::new(&server.name)
            ));
            return Confine::Off;
        }
        let set = self.ground.settings.sandbox.options();
        let switch = settings.unix_sockets.map(|level| match level {
            UnixSocketLevel::On => SocketSwitch::On,
            UnixSocketLevel::Off => SocketSwitch::Off,
            UnixSocketLevel::None => SocketSwitch::None,
        });
        let of_file = &self.ground.settings.sandbox;
        let sockets =
            if expanded.sockets.is_empty() { of_file.sockets.value.clone() } else { expanded.sockets.clone() };
        Confine::To(Box::new(Options {
            network: settings.network.unwrap_or(set.network),
            unix_sockets: switch.unwrap_or(of_file.unix_sockets.value).with(sockets),
            filesystem: of_file.filesystem(expanded.filesystem.clone()),
            variables: if settings.env.is_empty() { set.variables.clone() } else { settings.env.clone() },
            ..set
        }))
    }
}

pub(super) fn hinted(error: &ExpandError) -> anyhow::Error {
    anyhow!(Hinted { says: error.to_string(), hint: error.hint.clone() })
}

/// Removes the working directory from a configuration if it is the first root; returns whether it was.
fn takes_root_out(server: &mut ServerConfig) -> bool {
    let ServerKind::Stdio(stdio) = &mut server.what else { return false };
    let is_root = |cwd: &mut Template| ["${root}", "${workspaceFolder}"].contains(&cwd.written());
    stdio.cwd.take_if(is_root).is_some()
}

/// How a server gets its directories, as its own settings say.
fn inject(server: &ServerConfig) -> Inject {
    match &server.rootward.directories {
        Some(Takes::Variable(name)) => Inject::Variable(name.into()),
        Some(Takes::Arguments { .. }) => Inject::Arguments,
        None => Inject::Known,
    }
}

/// The usual name of a file server in configurations, for any command.
const FILE_SERVER: &str = "filesystem";

/// A server called `filesystem` gets its directories after its arguments, unless these say where the roots go.
fn inject_by_name(server: &ServerConfig, arguments: &[OsString]) -> Inject {
    let says_where = arguments.iter().any(|word| has_root_template(word));
    if server.name == FILE_SERVER && !says_where { Inject::Arguments } else { Inject::Known }
}

/// The intersection; `narrower` if the other names nothing.
fn narrowed(narrower: &RootSet, ceiling: &RootSet) -> RootSet {
    if ceiling.names_any() { RootSet::combine(Mode::Narrow, narrower, ceiling) } else { narrower.clone() }
}
