//! What a server's author decides once, for all sessions.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::RequestStateCodec;
use rmcp::service::{RequestContext, RoleServer};
use rootward_core::session::{NoRoots, Policy, Sources};
use rootward_core::{Guard, GuardOptions, Origin, Root, RootSet, Validation};

use crate::session::Session;

/// The settings of all sessions of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who is listened to, and for how long.
    pub policy: Policy,
    /// The roots of the operator, the user's saved choice, the fallback.
    pub sources: Sources,
    /// What guards are made with; the generation is filled in.
    pub guard: GuardOptions,
    /// Which places a client may name.
    pub validation: Validation,
    /// How a refused tool call is answered.
    pub refusals: RefusalForm,
    /// Who a request comes from. A modern call that is sent again must come from the same. By default all requests come
    /// from one: a server with several users says here how to tell them apart.
    pub principal: fn(&RequestContext<RoleServer>) -> String,
    /// How long a modern client may take to send a call again.
    pub round_lifetime: Duration,
    /// Seals what a modern client carries from one round to the next. Without it a key is made that lasts as long as the
    /// process; several processes that serve one address need a common one.
    pub request_state: Option<RequestStateCodec>,
}

/// How a refused tool call is answered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum RefusalForm {
    /// A result with `isError`: a model reads it, and can do better.
    #[default]
    ToolError,
    /// JSON-RPC error -32602: most clients show it to nobody.
    ProtocolError,
}

impl Settings {
    /// The defaults, for the user whose home this is. A client may share what lies in it; other homes it may not.
    pub fn new(home: Option<PathBuf>) -> Settings {
        Settings {
            policy: Policy::default(),
            sources: Sources::default(),
            guard: GuardOptions { home: home.clone(), ..GuardOptions::default() },
            validation: Validation::new(home),
            refusals: RefusalForm::default(),
            principal: |_| String::new(),
            round_lifetime: Duration::from_mins(10),
            request_state: None,
        }
    }
}

/// The defaults, for the user whose home is `HOME` in the environment.
impl Default for Settings {
    fn default() -> Settings {
        Settings::new(std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()))
    }
}

/// Makes sessions that share their settings. Cheap to clone; a server has one.
#[derive(Clone, Debug)]
pub struct RootsService(Arc<Ground>);

#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) settings: Settings,
    /// The guard where `no-roots` is `allow-all` and nobody named a root. Restrictions still hold.
    everything: Option<RootSet>,
    /// None where the system has no randomness to make a key from: then there are no rounds.
    pub(crate) seal: Option<RequestStateCodec>,
}

impl RootsService {
    /// A service with these settings.
    pub fn new(settings: Settings) -> RootsService {
        let everything = (settings.policy.no_roots == NoRoots::AllowAll)
            .then(|| Root::from_path("/", Origin::Fallback).ok())
            .flatten()
            .map(|root| RootSet::place_ambient([root], &settings.validation));
        let seal = settings.request_state.clone().or_else(random_codec);
        RootsService(Arc::new(Ground { settings, everything, seal }))
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
        Session::new(Arc::clone(&self.0))
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
    pub(crate) fn guard(&self, set: RootSet, generation: u64) -> Guard {
        Guard::new(set, GuardOptions { generation, ..self.settings.guard.clone() })
    }

    pub(crate) fn everything(&self) -> RootSet {
        self.everything.clone().unwrap_or_default()
    }
}
