//! What all connections of a front share.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::StatusCode;

use crate::config::{Config, Limits};
use crate::figures::Figures;
use crate::modern::annotations::Annotations;
use crate::names::Names;
use crate::rate::Bucket;
use crate::reply::Rejection;
use crate::sessions::Sessions;
use crate::shared_timer::SharedTimer;
use crate::tokens::Tokens;
use crate::wire::{Backend, PrincipalId};

/// How long the backend's answer about being ready is cached.
const READY_FOR: Duration = Duration::from_millis(500);

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Front<B> {
    pub(crate) backend: B,
    pub(crate) limits: Arc<Limits>,
    pub(crate) tokens: Tokens,
    pub(crate) names: Names,
    pub(crate) sessions: Sessions,
    pub(crate) guests: Vec<Guest>,
    pub(crate) figures: Arc<Figures>,
    /// The wait for an answer before its stream begins.
    pub(crate) answer_timer: SharedTimer,
    draining: AtomicBool,
    /// Whether the backend was ready, and when it said so.
    ready: tokio::sync::Mutex<Option<(Instant, bool)>>,
}

/// The state of one principal.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) name: String,
    /// Running modern requests.
    pub(crate) requests: Arc<AtomicUsize>,
    pub(crate) annotations: Arc<Mutex<Annotations>>,
    bucket: Mutex<Bucket>,
}

impl<B> Front<B> {
    pub(crate) fn new(config: &Config, backend: B) -> Result<Front<B>, crate::names::BadName> {
        let now = Instant::now();
        let guest = |name: &str| Guest {
            name: name.to_owned(),
            requests: Arc::default(),
            annotations: Arc::default(),
            bucket: Mutex::new(Bucket::new(config.limits.burst, now)),
        };
        Ok(Front {
            backend,
            limits: Arc::new(config.limits.clone()),
            tokens: Tokens::new(&config.principals),
            names: Names::new(&config.hosts, &config.origins)?,
            sessions: Sessions::new(config.principals.len()),
            guests: config.principals.iter().map(|principal| guest(&principal.name)).collect(),
            figures: Arc::new(Figures::new()),
            answer_timer: SharedTimer::new(config.limits.answer_wait),
            draining: AtomicBool::new(false),
            ready: tokio::sync::Mutex::default(),
        })
    }

    /// Whether new requests are refused.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// Whether the backend accepts sessions, now or a moment ago.
    pub(crate) async fn is_ready(&self) -> bool
    where
        B: Backend,
    {
        // SECURITY: this needs no token, so it must not keep the backend busy
        // (test: readiness_probes_cost_the_backend_little)
        let mut known = self.ready.lock().await;
        if let Some((when, is_ready)) = *known
            && when.elapsed() < READY_FOR
        {
            return is_ready && !self.is_draining();
        }
        let is_ready = self.backend.is_ready().await;
        *known = Some((Instant::now(), is_ready));
        is_ready && !self.is_draining()
    }

    /// Counts a request against the rate limit of its principal.
    pub(crate) fn admit(&self, principal: PrincipalId) -> Result<(), Rejection> {
        let mut bucket = self.guests[principal.0].bucket.lock().unwrap_or_else(PoisonError::into_inner);
        bucket
            .take(self.limits.rate, self.limits.burst, Instant::now())
            .map_err(|wait| Rejection::later(StatusCode::TOO_MANY_REQUESTS, wait.as_secs() + 1, "too many requests"))
    }
}
