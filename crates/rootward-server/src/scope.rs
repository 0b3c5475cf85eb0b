//! The scope of a call: its current roots, and what was refused while its arguments were deserialized.
//!
//! Deserializing is synchronous: it can neither wait for a client nor answer instead of the tool. So it takes the roots
//! from the scope, and if it fails it leaves the reason there, for the wrapper that runs the call.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rmcp::ErrorData;
use rmcp::service::{Peer, RoleServer};
use rootward_core::{Access, Code, Denial};
use rootward_protocol::{HostLimits, Refusal, RefusalForm};
use tokio_util::sync::CancellationToken;

use crate::error::PathError;
use crate::record::{Decided, Parties, record};
use crate::roots::Roots;
use crate::session::Session;
use crate::settings::Ground;

/// How many refusals of a call to remember, so that none is recorded twice.
const MOST_KEPT: usize = 64;

tokio::task_local! {
    static SCOPE: Arc<Scope>;
}

/// The scope of one call.
pub(crate) struct Scope {
    /// Set at most once: a call sees one generation from start to end.
    roots: OnceLock<Roots>,
    source: Source,
    ground: Arc<Ground>,
    /// What the client's own sandbox allows the call.
    limits: Option<Arc<HostLimits>>,
    /// Client, server and principal, for the record.
    parties: Arc<Parties>,
    /// The requester, for the record.
    requester: String,
    /// The last refusals that were recorded.
    recorded: Mutex<VecDeque<Denial>>,
    outcome: Mutex<Option<Outcome>>,
    used: AtomicBool,
}

/// Where to get roots that are not known yet.
pub(crate) enum Source {
    /// Ask the client, unless it cancels the call.
    Legacy(Session, Peer<RoleServer>, CancellationToken),
    /// Ask nobody: a tool list or a notification of a legacy session.
    Told(Session),
    /// The client sends the call again with its roots.
    Modern,
}

/// Why a call could not use its paths; only the first reason is kept.
pub(crate) enum Outcome {
    /// The roots are not known. Includes the path that needs them, if any.
    NotKnown(Option<(String, Access)>),
    /// The path was refused.
    Denied(Refusal),
}

impl Scope {
    pub(crate) fn new(
        roots: Option<Roots>,
        source: Source,
        ground: &Arc<Ground>,
        (parties, requester): (Arc<Parties>, String),
        limits: Option<&Arc<HostLimits>>,
    ) -> Arc<Scope> {
        let roots = roots.map(|roots| roots.within(limits));
        Arc::new(Scope {
            roots: roots.map_or_else(OnceLock::new, OnceLock::from),
            source,
            ground: Arc::clone(ground),
            limits: limits.cloned(),
            parties,
            requester,
            recorded: Mutex::default(),
            outcome: Mutex::default(),
            used: AtomicBool::new(false),
        })
    }

    /// Runs a call in this scope.
    pub(crate) async fn run<F: Future>(self: &Arc<Scope>, call: F) -> F::Output {
        SCOPE.scope(Arc::clone(self), call).await
    }

    /// The scope of the running call.
    pub(crate) fn current() -> Result<Arc<Scope>, PathError> {
        // SECURITY: without a scope nothing is known to be shared, so refuse everything
        // (test: without_the_service_every_path_is_refused)
        SCOPE.try_with(Arc::clone).map_err(|_| PathError::NotInstalled)
    }

    /// The roots, if they are known. If not, notes that for the wrapper.
    pub(crate) fn known(&self, path: Option<(&str, Access)>) -> Result<&Roots, PathError> {
        self.used.store(true, Ordering::Relaxed);
        self.roots.get().ok_or_else(|| {
            self.note(Outcome::NotKnown(path.map(|(path, access)| (path.to_owned(), access))));
            PathError::NotKnown
        })
    }

    /// The roots, fetched from the client if it can be asked.
    pub(crate) async fn fetched(&self) -> Result<Roots, PathError> {
        match (&self.source, self.roots.get()) {
            (Source::Legacy(session, peer, stopped), None) => match session.roots_unless_stopped(peer, stopped).await {
                Ok(roots) => Ok(self.roots.get_or_init(|| roots.within(self.limits.as_ref())).clone()),
                Err(_) => {
                    // The call has already waited; running it again would wait again.
                    self.note(Outcome::Denied(Refusal::pending()));
                    Err(PathError::NotKnown)
                }
            },
            _ => self.known(None).cloned(),
        }
    }

    /// Records a refusal and returns it in the form for the peer.
    fn refused(&self, denial: &Denial) -> Refusal {
        let denial = self.on_record(denial);
        self.roots.get().map_or_else(|| Refusal::among(&denial, None), |roots| roots.refusal(&denial))
    }

    /// Like `refused`, and notes it as the call's outcome.
    pub(crate) fn refuse(&self, denial: &Denial) -> Refusal {
        let refusal = self.refused(denial);
        self.note(Outcome::Denied(refusal.clone()));
        refusal
    }

    /// The refusal of a call whose roots did not arrive in time.
    pub(crate) fn still_pending(&self, path: Option<(String, Access)>) -> Refusal {
        match path {
            Some((path, access)) => {
                Refusal::among(&self.on_record(&Denial::new(Code::RootsPending, path, access)), None)
            }
            None => Refusal::pending(),
        }
    }

    /// Notes that a refusal has been recorded.
    pub(crate) fn recorded(&self, denial: &Denial) {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.truncate(MOST_KEPT - 1);
        recorded.push_front(denial.clone());
    }

    /// Records a refusal that [`Roots`] did not decide: of an operation on a grant, or of a path that came too early.
    fn on_record<'d>(&self, denial: &'d Denial) -> Cow<'d, Denial> {
        if self.ground.settings.audit.is_none()
            || self.recorded.lock().unwrap_or_else(PoisonError::into_inner).contains(denial)
        {
            return Cow::Borrowed(denial);
        }
        let generation = self.roots.get().map_or(0, Roots::generation);
        let decided = Decided { parties: &self.parties, requester: &self.requester, generation };
        match record(&self.ground, decided, denial.path(), denial.access(), Err(denial)) {
            Ok(()) => {
                self.recorded(denial);
                Cow::Borrowed(denial)
            }
            Err(_) => Cow::Owned(Denial::new(Code::AuditUnavailable, denial.path(), denial.access())),
        }
    }

    pub(crate) fn requester(&self) -> &str {
        &self.requester
    }

    /// What the client's own sandbox allows the call, if the client says so.
    pub(crate) fn limits(&self) -> Option<Arc<HostLimits>> {
        self.limits.clone()
    }

    pub(crate) fn session(&self) -> Option<&Session> {
        match &self.source {
            Source::Legacy(session, ..) | Source::Told(session) => Some(session),
            Source::Modern => None,
        }
    }

    /// Whether the call asked for its roots.
    pub(crate) fn was_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn form(&self) -> RefusalForm {
        self.ground.settings.refusals
    }

    pub(crate) fn take_outcome(&self) -> Option<Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The result of a call, or the refusal that it failed with.
    pub(crate) fn judged<R>(
        &self,
        result: Result<R, ErrorData>,
        failed: impl Fn(&Result<R, ErrorData>) -> bool,
    ) -> Result<Result<R, ErrorData>, Refusal> {
        match self.take_outcome() {
            Some(Outcome::Denied(refusal)) if failed(&result) => Err(refusal),
            Some(Outcome::NotKnown(path)) if failed(&result) => Err(self.still_pending(path)),
            _ => Ok(result),
        }
    }

    fn note(&self, outcome: Outcome) {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(outcome);
    }
}

/// The current roots of the running call. In a legacy session this asks the client if necessary, and the call waits.
/// With a modern client, a call whose roots are missing fails here and runs again from its start when the client has
/// sent them. So do nothing before this call that must not happen twice.
pub async fn roots() -> Result<Roots, PathError> {
    Scope::current()?.fetched().await
}

/// The last known roots of the running call, without waiting. `None` if they were never known, and while they are out
/// of date: see [`Session::roots_cached`].
pub fn roots_cached() -> Option<Roots> {
    let scope = Scope::current().ok()?;
    scope.roots.get().cloned().or_else(|| scope.session()?.roots_cached())
}

/// Whether `path` is inside the current roots of the running call; `None` if that is not known yet. For display only:
/// to use the path, get a grant.
pub fn path_in_roots(path: impl AsRef<std::ffi::OsStr>) -> Option<bool> {
    let scope = Scope::current().ok()?;
    match scope.roots.get() {
        Some(roots) => Some(roots.check(path, Access::NONE).is_ok()),
        None => scope.session()?.path_in_roots(path),
    }
}

/// The refusal of one path among others, for a call that continues without it: recorded, and in the form for a peer.
pub fn refused(denial: &Denial) -> Refusal {
    Scope::current().map_or_else(|_| Refusal::among(denial, None), |scope| scope.refused(denial))
}

/// The session of the running call, if it belongs to one: legacy calls do.
pub fn session() -> Option<Session> {
    Scope::current().ok()?.session().cloned()
}
