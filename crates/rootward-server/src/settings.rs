//! What a server's author decides once, for all sessions.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::RequestStateCodec;
use rootward_core::env::{Directories, Environment, EnvironmentError, Said};
use rootward_core::session::{Policy, Sources};
use rootward_core::{
    Audit, GuardOptions, Restriction, Restrictions, Root, RootSet, Validation, make_private_directory_ambient,
};
use rootward_protocol::RefusalForm;
use rootward_protocol::session::{LeftOut, LeftOutNews, Terms};

use crate::given::GivenNow;
use crate::principal::Principal;
use crate::session::Session;

/// Called with each root of a client's that is left out.
pub type TellLeftOut = Arc<dyn Fn(&LeftOut) + Send + Sync>;

/// The settings of all sessions of a server.
#[derive(Clone)]
pub struct Settings {
    /// Who is listened to, and for how long.
    pub policy: Policy,
    /// The roots of the operator, the user's saved choice, the fallback. [`RootsService::change`] has others take their place.
    pub sources: Sources,
    /// What guards are made with; the generation is filled in.
    pub guard: GuardOptions,
    /// Which places a client may name.
    pub validation: Validation,
    /// Who keeps the record of every decision. Where it cannot be kept, access is refused. In the user's own log, where
    /// `rootward audit` looks for it:
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
    /// What the server is called on record, where that is not what it calls itself (`serverInfo.name`).
    pub server: Option<String>,
    /// How a refused tool call is answered.
    pub refusals: RefusalForm,
    /// Who is told which of a client's roots are left out, and why: once for each root and change. It goes on record, too.
    pub left_out: Option<TellLeftOut>,
    /// How a person names a root for this server: the end of the refusal that a client reads which shared no directories. For
    /// example ``name one in `ROOTWARD_ROOTS` ``, which [`Settings::from_environment`] says.
    pub way: Option<&'static str>,
    /// Who requests come from. By default all come from one without a name.
    pub principal: Principal,
    /// How long a modern client may take to send a call again.
    pub round_lifetime: Duration,
    /// Seals what a modern client carries from one round to the next. Without it a key is made that lasts as long as the
    /// process; several processes that serve one address need a common one.
    pub request_state: Option<RequestStateCodec>,
}

impl Settings {
    /// The defaults, for the user whose home this is. A client may share what lies in it; other homes it may not.
    pub fn new(home: Option<PathBuf>) -> Settings {
        Settings::with_guard(GuardOptions { home, ..GuardOptions::default() })
    }

    /// The defaults for the rest, where guards are made with this.
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
    /// What the environment says (`ROOTWARD_ROOTS` and its like, see [`rootward_core::env`]), and the defaults for the rest.
    /// Rootward's own files are closed wherever the environment puts them. A value that means nothing is an error: to pass over a
    /// ceiling that was misspelt would widen what it holds down.
    pub fn from_environment(environment: &Environment) -> Result<Settings, EnvironmentError> {
        let directories = Directories::new(environment);
        let home = directories.home.clone();
        let said = Said::read(environment, home.as_deref())?;
        let mut settings = Settings { validation: Validation::of(&directories), ..Settings::new(home) };
        settings.policy = said.policy()?;
        settings.way = Some("name one in `ROOTWARD_ROOTS`");
        if let (Some((fallback, _)), Some(home)) = (&said.fallback_dir, &settings.guard.home)
            && fallback.root.pattern.is_none()
        {
            // One that lies elsewhere is looked for until it exists; so is one that cannot be made.
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

    /// The defaults for the user and the places that the environment names; what else it says is not asked.
    fn of_user(environment: &Environment) -> Settings {
        let directories = Directories::new(environment);
        let home = directories.home.clone();
        let mut settings = Settings { validation: Validation::of(&directories), ..Settings::new(home) };
        // SECURITY: a server that can write Rootward's settings chooses its own roots, wherever those settings are
        // (test: the_defaults_close_rootwards_own_places)
        settings.close(directories.closed_ambient(settings.guard.resolver).unwrap_or_else(|_| {
            // Where one cannot be looked at, as they are spelled.
            directories.own().map(|place| Restriction::own(place)).collect()
        }));
        settings
    }

    /// Closes these places, too.
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

/// The defaults, for the user whose home is `HOME` in the environment. Rootward's own files are closed wherever it puts them.
impl Default for Settings {
    fn default() -> Settings {
        Settings::of_user(&std::env::vars_os().collect())
    }
}

/// Makes sessions that share their settings. Cheap to clone; a server has one.
#[derive(Clone, Debug)]
pub struct RootsService(Arc<Ground>);

#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) settings: Settings,
    /// What the owners of all sessions' roots have in common.
    pub(crate) terms: Arc<Terms>,
    /// None where the system has no randomness to make a key from: then there are no rounds.
    pub(crate) seal: Option<RequestStateCodec>,
    /// Sessions by the names that HTTP has for them.
    pub(crate) http: crate::http::HttpSessions,
    /// What may change while sessions run: the sources, and what is closed.
    pub(crate) given: GivenNow,
    /// Which roots of the last modern request are left out: a request has no session that would know what was told before.
    pub(crate) left_out: Mutex<LeftOutNews>,
    /// Counts sessions, to tell them apart on record.
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

    /// A service with what the environment of the process says.
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

    /// The roots of a new session. Its state goes when the last clone does.
    pub fn session(&self) -> Session {
        self.session_of(String::new)
    }

    /// The same, of a server that calls itself so.
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

    /// What asks, for the record; nothing where none is kept.
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
