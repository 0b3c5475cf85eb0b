//! The author's settings for all sessions of a server.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::RequestStateCodec;
use rootward_core::env::{Directories, Environment, EnvironmentError, VariableSettings};
use rootward_core::session::{Policy, Sources};
use rootward_core::{
    Audit, GuardOptions, Restriction, Restrictions, Root, RootSet, Validation, make_private_directory_ambient,
};
use rootward_protocol::RefusalForm;
use rootward_protocol::session::{LeftOut, LeftOutNews, Terms};

use crate::given::GivenNow;
use crate::principal::Principal;
use crate::session::Session;

/// Called with each root of a client that was excluded.
pub type TellLeftOut = Arc<dyn Fn(&LeftOut) + Send + Sync>;

/// The settings of all sessions of a server.
#[derive(Clone)]
pub struct Settings {
    /// Whose roots to use, and for how long.
    pub policy: Policy,
    /// The operator's roots, the user's saved choice and the fallback. [`RootsService::change`] replaces them.
    pub sources: Sources,
    /// Options for guards; the service fills in the generation.
    pub guard: GuardOptions,
    /// Which places a client may name.
    pub validation: Validation,
    /// Records every decision. If recording fails, access is refused. To use the user's own log, where `rootward audit`
    /// looks for it:
    ///
    /// ```no_run
    /// use std::sync::Arc;
    ///
    /// use rootward_core::env::Directories;
    /// use rootward_server::{AuditLog, RootsService, Settings};
    ///
    /// # fn service() -> Result<RootsService, Box<dyn std::error::Error>> {
    /// let environment = std::env::vars_os().collect();
    /// let mut settings = Settings::from_environment(&environment)?;
    /// if let Some(directory) = Directories::new(&environment).audit_log() {
    ///     settings.audit = Some(Arc::new(AuditLog::open_ambient(&directory)?));
    /// }
    /// # Ok(
    /// RootsService::new(settings)
    /// # )
    /// # }
    /// ```
    pub audit: Option<Arc<dyn Audit>>,
    /// The server's name in the record, if it differs from `serverInfo.name`.
    pub server: Option<String>,
    /// How a refused tool call is answered.
    pub refusals: RefusalForm,
    /// Called once per root and change with each root of a client that was excluded, and why. This is also recorded.
    pub left_out: Option<TellLeftOut>,
    /// How a user can name a root for this server: the last part of the refusal for a client that shared no
    /// directories. For example ``name one in `ROOTWARD_ROOTS` ``, which [`Settings::from_environment`] sets.
    pub way: Option<&'static str>,
    /// Who sends requests. By default all come from one principal without a name.
    pub principal: Principal,
    /// How long a modern client may take to send a call again.
    pub round_lifetime: Duration,
    /// Seals the state that a modern client carries from one round to the next. The default is a new key for each
    /// process; several processes that serve one address need a common key.
    pub request_state: Option<RequestStateCodec>,
}

impl Settings {
    /// The defaults, for the user with this home directory. A client may share directories in it, but not in other
    /// homes.
    pub fn new(home: Option<PathBuf>) -> Settings {
        Settings::with_guard(GuardOptions { home, ..GuardOptions::default() })
    }

    /// The defaults, with these guard options.
    pub fn with_guard(guard: GuardOptions) -> Settings {
        Settings {
            policy: Policy::default(),
            sources: Sources::default(),
            validation: Validation::new(guard.home.clone()),
            guard,
            audit: None,
            server: None,
            refusals: RefusalForm::default(),
            left_out: None,
            way: None,
            principal: Principal::default(),
            round_lifetime: Duration::from_mins(10),
            request_state: None,
        }
    }
}

impl Settings {
    /// The settings from the environment (`ROOTWARD_ROOTS` and so on, see [`rootward_core::env`]), with defaults for
    /// the rest. Rootward's own files are closed wherever the environment puts them. An invalid value is an error:
    /// ignoring a misspelled ceiling would widen access.
    pub fn from_environment(environment: &Environment) -> Result<Settings, EnvironmentError> {
        let directories = Directories::new(environment);
        let home = directories.home.clone();
        let said = VariableSettings::read(environment, home.as_deref())?;
        let mut settings = Settings { validation: Validation::of(&directories), ..Settings::new(home) };
        settings.policy = said.policy()?;
        settings.way = Some("name one in `ROOTWARD_ROOTS`");
        if let (Some((fallback, _)), Some(home)) = (&said.fallback_dir, &settings.guard.home)
            && fallback.root.pattern.is_none()
        {
            // If it is elsewhere or cannot be created, the service looks for it until it exists.
            let _ = make_private_directory_ambient(home, &fallback.root.path);
        }
        let place = |roots: Vec<Root>| RootSet::place_ambient(roots, &settings.validation);
        let ceiling = said.roots.map(|(roots, _)| roots.into_iter().map(|named| named.root).collect());
        settings.sources = Sources {
            ceiling: place(ceiling.unwrap_or_default()),
            saved: RootSet::default(),
            fallback: place(said.fallback_dir.map(|(named, _)| named.root).into_iter().collect()),
            bound: None,
        };
        let own = directories.closed_ambient(settings.guard.resolver).map_err(|denial| EnvironmentError {
            says: denial.for_operator(),
            hint: "Rootward's own files must be where they can be closed: correct XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_CACHE_HOME"
                .to_owned(),
        })?;
        settings.close(own);
        Ok(settings)
    }

    /// The defaults for the user and the directories that the environment names; ignores its other variables.
    fn of_user(environment: &Environment) -> Settings {
        let directories = Directories::new(environment);
        let home = directories.home.clone();
        let mut settings = Settings { validation: Validation::of(&directories), ..Settings::new(home) };
        // SECURITY: a server that can write Rootward's settings, wherever they are, could choose its own roots
        // (test: the_defaults_close_rootwards_own_places)
        settings.close(directories.closed_ambient(settings.guard.resolver).unwrap_or_else(|_| {
            // If one cannot be resolved, close it as spelled.
            directories.own().map(|place| Restriction::own(place)).collect()
        }));
        settings
    }

    /// Closes these places as well.
    fn close(&mut self, places: Vec<Restriction>) {
        let rules = Restriction::standard().into_iter().chain(places);
        self.guard.restrictions = Arc::new(Restrictions::new(rules.collect()));
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("policy", &self.policy)
            .field("sources", &self.sources)
            .field("refusals", &self.refusals)
            .finish_non_exhaustive()
    }
}

/// The defaults, for the user whose home is `HOME` in the environment. Rootward's own files are closed wherever the
/// environment puts them.
impl Default for Settings {
    fn default() -> Settings {
        Settings::of_user(&std::env::vars_os().collect())
    }
}

/// Creates sessions that share their settings. Cheap to clone; a server has one.
#[derive(Clone, Debug)]
pub struct RootsService(Arc<Ground>);

#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) settings: Settings,
    /// Terms shared by the owners of all sessions' roots.
    pub(crate) terms: Arc<Terms>,
    /// `None` if the system has no randomness for a key: then modern calls cannot take rounds.
    pub(crate) seal: Option<RequestStateCodec>,
    /// Sessions by HTTP session id.
    pub(crate) http: crate::http::HttpSessions,
    /// The sources and restrictions, which may change while sessions run.
    pub(crate) given: GivenNow,
    /// Which roots of the last modern request were excluded: a request has no session that could remember what was
    /// reported.
    pub(crate) left_out: Mutex<LeftOutNews>,
    /// Counts sessions, to tell them apart in the record.
    sessions: AtomicU64,
}

impl RootsService {
    /// A service with these settings.
    pub fn new(settings: Settings) -> RootsService {
        let (policy, guard) = (settings.policy.clone(), settings.guard.clone());
        let mut terms = Terms::new_ambient(policy, guard, settings.validation.clone());
        terms.way = settings.way;
        let seal = settings.request_state.clone().or_else(random_codec);
        RootsService(Arc::new(Ground {
            given: GivenNow::new(&settings),
            left_out: Mutex::default(),
            settings,
            terms: Arc::new(terms),
            seal,
            http: crate::http::HttpSessions::default(),
            sessions: AtomicU64::new(0),
        }))
    }

    /// A service with the settings from the process environment.
    pub fn from_environment() -> Result<RootsService, EnvironmentError> {
        Ok(RootsService::new(Settings::from_environment(&std::env::vars_os().collect())?))
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn ground(&self) -> &Arc<Ground> {
        &self.0
    }

    /// The roots of a new session. Its state is dropped with the last clone.
    pub fn session(&self) -> Session {
        self.session_of(String::new)
    }

    /// Like [`RootsService::session`], for a server with this name.
    pub(crate) fn session_of(&self, server: impl FnOnce() -> String) -> Session {
        Session::new(Arc::clone(&self.0), self.0.server_name(server))
    }
}

/// The default settings.
impl Default for RootsService {
    fn default() -> RootsService {
        RootsService::new(Settings::default())
    }
}

fn random_codec() -> Option<RequestStateCodec> {
    let mut key = [0; RequestStateCodec::MIN_KEY_LENGTH];
    getrandom::fill(&mut key).ok()?;
    RequestStateCodec::try_new(key).ok()
}

impl Ground {
    /// The number of a new session.
    pub(crate) fn number(&self) -> u64 {
        self.sessions.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The requester for the record; empty if nothing is recorded.
    pub(crate) fn requester(&self, method: &str, subject: &str) -> String {
        match self.settings.audit {
            Some(_) => format!("{method} {subject}").trim_end().to_owned(),
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rootward_core::{Access, Code, Guard, Origin};

    use super::*;

    #[test]
    fn the_defaults_close_rootwards_own_places() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path();
        let settings = Settings::of_user(
            &[("HOME", place.join("home")), ("XDG_CONFIG_HOME", place.join("c")), ("XDG_STATE_HOME", place.join("s"))]
                .into(),
        );
        assert_eq!(settings.guard.home, Some(place.join("home")));
        let root = Root::from_path(place, Origin::Client).unwrap();
        let guard = Guard::new(RootSet::place_ambient([root], &settings.validation), settings.guard);
        for own in ["c/rootward/config.toml", "s/rootward/audit/log"] {
            let refused = guard.check(place.join(own), Access::WRITE).map(drop).map_err(|denial| denial.code());
            assert_eq!(refused, Err(Code::Restricted), "{own}");
        }
        assert!(guard.check(place.join("c/other"), Access::WRITE).is_ok());
    }
}
