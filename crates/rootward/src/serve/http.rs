//! The file server behind the HTTP front: one session for each wire, in the directories of the wire's principal.

use std::sync::Arc;

use anyhow::Result;
use rootward_core::session::Sources;
use rootward_core::{Base, Validation};
use rootward_files::FileServer;
use rootward_http::{Backend, OpenError, PrincipalId, Purpose, Wire, wire};
use rootward_server::{Principal, RootsService, Settings};

use super::Serve;
use crate::ground::Ground;
use crate::http::{Counted, Http};

/// How many messages a wire holds in each direction.
const MOST_MESSAGES: usize = 16;

/// The file server of all principals.
#[derive(Debug)]
struct Files {
    /// By the principal's index.
    services: Vec<RootsService>,
    /// The template for the server of each session.
    one: FileServer,
    counted: Arc<Counted>,
}

impl Backend for Files {
    async fn open(&self, principal: PrincipalId, _: Purpose) -> Result<Wire, OpenError> {
        let service = self.services.get(principal.0).ok_or(OpenError::Gone)?.clone();
        let (front, back) = wire(MOST_MESSAGES);
        // A client that never starts a session, or drops one, harms only itself.
        tokio::spawn(self.one.for_another_session().serve_channels(service, back.sender, back.receiver));
        Ok(front)
    }

    async fn metrics(&self) -> String {
        self.counted.metrics()
    }
}

impl Serve {
    /// Serves all principals over HTTP.
    pub(super) fn run_http(&self, ground: &Ground, http: Http, files: FileServer) -> Result<()> {
        let counted = Arc::new(Counted::new(self.recording.open_ambient(ground)?));
        let services = http.principals.iter().map(|principal| {
            let mut settings = Settings::with_guard(ground.guard_options(Base::FirstRoot));
            settings.validation = Validation::of(&ground.directories);
            settings.policy = ground.settings.policy();
            // SECURITY: the user's saved roots and the fallback directory are only for the user of this machine
            // (test: saved_roots_are_not_for_http)
            settings.sources = Sources {
                ceiling: principal.ceiling.set.clone(),
                bound: Some(principal.ceiling.set.clone()),
                ..Sources::default()
            };
            settings.left_out = Some(Arc::new(super::tell_left_out));
            settings.refusals = ground.settings.refusal.value;
            settings.audit = Some(Arc::clone(&counted) as _);
            settings.server = Some("rootward serve".to_owned());
            settings.principal = Principal::named(&principal.name);
            RootsService::new(settings)
        });
        let services = services.collect();
        http.run(Files { services, one: files, counted })
    }
}
