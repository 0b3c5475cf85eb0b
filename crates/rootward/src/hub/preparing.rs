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
use rootward_hub::recipe::{Book, Match, Recipe, Takes};
use rootward_hub::scan::Expansion;
use rootward_hub::wrap::{About, Confine, Enforce, Homes, Inject, Launch, Rules, Runs, Tells, TreatedBy, Treatments};
use rootward_sandbox::{Options, Trace};

use crate::confinement_flags::SocketSwitch;
use crate::ground::Ground;
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
        let ItsRoots { policy, sources } = self.roots_ambient(server, &expanded)?;
        let wanted = match &server.rootward.recipe {
            RecipeChoice::Fitting => recipes::Wanted::Fitting,
            RecipeChoice::Named(name) => recipes::Wanted::Named(name.clone()),
            RecipeChoice::Off => recipes::Wanted::Off,
        };
        let find = |material: &Material| wanted.find_ambient(self.book, &command, &args, material);
        let wrap::arguments::Read { known, file_server, ceiling } =
            wrap::arguments::read_ambient(self.ground, sources.ceiling.clone(), &args, &find)?;
        let recipe = known.as_ref().map(|known| &known.recipe);
        let (confine, appended) = self.confine_ambient(server, &expanded, (known.as_ref(), &args), &mut variables)?;
        let mut secrets = wrap::secrets(&confine);
        secrets.extend(expanded.secrets.iter().cloned());
        let withheld = match &confine {
            Confine::To(options) => {
                withheld::worth_telling(&std::env::vars_os().collect::<Vec<_>>(), &options.variables, &variables)
            }
            Confine::Off => Vec::new(),
        };
        let home = server.rootward.home.or_else(|| recipe?.home).unwrap_or_default();
        let inject = inject(server, recipe, &args);
        let launch = Launch {
            homes: Homes::new_ambient(home, self.ground.directories.state.as_deref(), &command, &args),
            program: command,
            arguments: [args, appended].concat(),
            runs: Runs::Here,
            typed_in: cwd.clone().filter(|cwd| cwd.is_absolute()),
            variables,
            withheld,
            file_server,
            inject,
            paths: paths.clone(),
            confine,
            trace: Trace::Off,
            secrets,
        };
        let base = match cwd {
            _ if starts_in_root => Base::FirstRoot,
            Some(cwd) => Base::Within(cwd),
            None => self.ground.base_of_server(),
        };
        let rules = Rules {
            policy,
            sources: Sources { ceiling, ..sources },
            guard: self.ground.guard_options(base),
            validation: Validation::of(&self.ground.directories),
            // The meaning of variables and `~` in another file system is not known here.
            expansion: if paths.is_empty() { wrap::expansion() } else { Expansion::default() },
            protection: launch.protection(),
            way: Some("name one with `--root DIR` in the hub's command, or save one with `rootward roots add DIR`"),
            refusals: self.ground.settings.refusal.value,
            enforce: Enforce::Refuse,
            treatments: self.treatments(server, recipe),
            treated_by: TreatedBy::Configuration,
            paths,
            tells: if server.tells_roots() { Tells::Roots } else { Tells::Nothing },
            audit: self.audit.clone(),
        };
        Ok(HubServer {
            name: server.name.clone(),
            prefix: server.prefix(),
            tools: server.rootward.tools.clone(),
            isolation: server.rootward.isolation,
            rules,
            launch,
        })
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

    fn confine_ambient(
        &self,
        server: &ServerConfig,
        expanded: &Expanded,
        (known, arguments): (Option<&Match>, &[OsString]),
        variables: &mut Vec<(OsString, OsString)>,
    ) -> Result<(Confine, Vec<OsString>)> {
        let settings = &server.rootward;
        let name = Shown::new(&server.name);
        if settings.sandbox == SandboxLevel::Off {
            message::warning(&format!(
                "server `{name}` is not confined (`sandbox`: `off`): only the paths in its calls are checked"
            ));
            return Ok((Confine::Off, Vec::new()));
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
        let mut options = Options {
            network: settings.network.unwrap_or(set.network),
            unix_sockets: switch.unwrap_or(of_file.unix_sockets.value).with(sockets),
            filesystem: of_file.filesystem(expanded.filesystem.clone()),
            variables: if settings.env.is_empty() { set.variables.clone() } else { settings.env.clone() },
            ..set
        };
        let recipe = known.map(|known| &known.recipe);
        let mut appended = Vec::new();
        if let Some(known) = known {
            let recipe = &known.recipe;
            let mut told = recipes::apply_ambient(recipe, self.ground, &mut options)?;
            let (added, says) = recipes::append_ambient(known, self.ground, arguments, &options.variables);
            appended = added;
            told.extend(says);
            if let Some(line) = recipes::line(recipe, &told) {
                message::line_in_passing(&format!("server `{name}`: {}", line.trim_start_matches("note: ")));
            }
        }
        let of_recipe =
            recipe.map(|recipe| recipes::set_variables_ambient(&recipe.set, self.ground, &options.variables));
        let of_file = recipes::set_variables_ambient(&settings.set, self.ground, &[]);
        // The file overrides the recipe.
        for (name, value) in of_file.into_iter().chain(of_recipe.into_iter().flatten()) {
            if !variables.iter().any(|(known, _)| *known == name) {
                variables.push((name, value));
            }
        }
        Ok((Confine::To(Box::new(options)), appended))
    }

    /// How arguments are treated: the recipe says so, the settings file overrides it, and the configuration
    /// overrides both.
    pub(super) fn treatments(&self, server: &ServerConfig, recipe: Option<&Recipe>) -> Treatments {
        let mut treatments = Treatments::default();
        for (place, treatment) in recipe.iter().flat_map(|recipe| &recipe.arguments) {
            treatments.add(place, *treatment, About::EveryServer);
        }
        for treat in &self.ground.settings.treat.value {
            treatments.add(&treat.place, treat.treatment(), About::EveryServer);
        }
        for (place, treatment) in &server.rootward.arguments {
            treatments.add(place, *treatment, About::ThisServer);
        }
        treatments
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

/// The usual name of a file server in configurations, for any command.
const FILE_SERVER: &str = "filesystem";

/// How a server gets its directories: as its own settings say, else as its recipe says. A server called `filesystem`
/// gets them after its arguments, unless these say where the roots go.
fn inject(server: &ServerConfig, recipe: Option<&Recipe>, arguments: &[OsString]) -> Inject {
    let takes = server.rootward.directories.as_ref().or_else(|| recipe?.directories.as_ref());
    match takes {
        Some(Takes::Variable(name)) => Inject::Variable(name.into()),
        Some(Takes::Arguments { .. }) => Inject::Arguments,
        None if server.name == FILE_SERVER && !arguments.iter().any(|word| has_root_template(word)) => {
            Inject::Arguments
        }
        None => Inject::Known,
    }
}

/// The intersection; `narrower` if the other names nothing.
fn narrowed(narrower: &RootSet, ceiling: &RootSet) -> RootSet {
    if ceiling.names_any() { RootSet::combine(Mode::Narrow, narrower, ceiling) } else { narrower.clone() }
}
