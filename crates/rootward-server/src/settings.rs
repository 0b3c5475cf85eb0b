//! What a server's author decides once, for all sessions.

use std::path::PathBuf;
use std::sync::Arc;

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
}

impl RootsService {
    /// A service with these settings.
    pub fn new(settings: Settings) -> RootsService {
        let everything = (settings.policy.no_roots == NoRoots::AllowAll)
            .then(|| Root::from_path("/", Origin::Fallback).ok())
            .flatten()
            .map(|root| RootSet::place_ambient([root], &settings.validation));
        RootsService(Arc::new(Ground { settings, everything }))
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
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

impl Ground {
    pub(crate) fn guard(&self, set: RootSet, generation: u64) -> Guard {
        Guard::new(set, GuardOptions { generation, ..self.settings.guard.clone() })
    }

    pub(crate) fn everything(&self) -> RootSet {
        self.everything.clone().unwrap_or_default()
    }
}
