//! What surrounds a call: the roots in force for it, and what was refused while its arguments were read.
//!
//! Reading arguments is synchronous and can neither wait for a client nor answer in place of the tool. So it takes the
//! roots from here, and where it fails it leaves the reason here, for the wrapper that runs the call.

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

/// How many refusals of a call are kept in mind, so that none of them is recorded twice.
const MOST_KEPT: usize = 64;

tokio::task_local! {
    static SCOPE: Arc<Scope>;
}

/// The surroundings of one call.
pub(crate) struct Scope {
    /// Set at most once: a call sees one generation from start to end.
    roots: OnceLock<Roots>,
    source: Source,
    ground: Arc<Ground>,
    /// What the client's own sandbox allows the call.
    limits: Option<Arc<HostLimits>>,
    /// Who asks whom, for the record.
    parties: Arc<Parties>,
    /// What asks, for the record.
    requester: String,
    /// The last refusals that went on record.
    recorded: Mutex<VecDeque<Denial>>,
    outcome: Mutex<Option<Outcome>>,
    used: AtomicBool,
}

/// Where roots come from that are not known yet.
pub(crate) enum Source {
    /// The client is asked, unless it stops the call.
    Legacy(Session, Peer<RoleServer>, CancellationToken),
    /// Nobody is asked: a list of tools, or a notification, of a legacy session.
    Told(Session),
    /// The client sends the call again, with its roots.
    Modern,
}

/// What kept a call from its paths; the first such thing counts.
pub(crate) enum Outcome {
    /// The roots are not known, and perhaps which path needs them.
    NotKnown(Option<(String, Access)>),
    /// They are, and the path is refused.
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

    /// Runs a call in these surroundings.
    pub(crate) async fn run<F: Future>(self: &Arc<Scope>, call: F) -> F::Output {
        SCOPE.scope(Arc::clone(self), call).await
    }

    /// The surroundings of the call that is running.
    pub(crate) fn current() -> Result<Arc<Scope>, PathError> {
        // SECURITY: without surroundings nothing is known to be shared, so nothing is
        // (test: without_the_service_every_path_is_refused)
        SCOPE.try_with(Arc::clone).map_err(|_| PathError::NotInstalled)
    }

    /// The roots, where they are known. Where not, the wrapper is told.
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
                    // It was waited for; to run the call again would wait once more.
                    self.note(Outcome::Denied(Refusal::pending()));
                    Err(PathError::NotKnown)
                }
            },
            _ => self.known(None).cloned(),
        }
    }

    /// Puts a refusal on record, and makes it what a peer sees.
    fn refused(&self, denial: &Denial) -> Refusal {
        let denial = self.on_record(denial);
        self.roots.get().map_or_else(|| Refusal::among(&denial, None), |roots| roots.refusal(&denial))
    }

    /// The same, and takes note of it.
    pub(crate) fn refuse(&self, denial: &Denial) -> Refusal {
        let refusal = self.refused(denial);
        self.note(Outcome::Denied(refusal.clone()));
        refusal
    }

    /// The refusal of a call whose roots nobody could tell in time.
    pub(crate) fn still_pending(&self, path: Option<(String, Access)>) -> Refusal {
        match path {
            Some((path, access)) => {
                Refusal::among(&self.on_record(&Denial::new(Code::RootsPending, path, access)), None)
            }
            None => Refusal::pending(),
        }
    }

    /// Notes that a refusal is on record.
    pub(crate) fn recorded(&self, denial: &Denial) {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.truncate(MOST_KEPT - 1);
        recorded.push_front(denial.clone());
    }

    /// Puts a refusal on record that [`Roots`] did not decide: of an act on a grant, or of a path that came too early.
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

    /// What the client's own sandbox allows the call, where the client says so.
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

/// The roots in force for the call that is running. In a legacy session the client is asked where need be, and the call
/// waits. In the modern era a call whose roots are missing fails here and is run again from its start when the client has sent
/// them: do nothing before that must not be done twice.
pub async fn roots() -> Result<Roots, PathError> {
    Scope::current()?.fetched().await
}

/// The roots last known to the call that is running, without waiting. `None` if they were never known, and while they are out of
/// date: see [`Session::roots_cached`].
pub fn roots_cached() -> Option<Roots> {
    let scope = Scope::current().ok()?;
    scope.roots.get().cloned().or_else(|| scope.session()?.roots_cached())
}

/// Whether `path` lies in the roots in force for the call that is running; `None` where that is not known yet. An answer to
/// show: to use the path, take a grant.
pub fn path_in_roots(path: impl AsRef<std::ffi::OsStr>) -> Option<bool> {
    let scope = Scope::current().ok()?;
    match scope.roots.get() {
        Some(roots) => Some(roots.check(path, Access::NONE).is_ok()),
        None => scope.session()?.path_in_roots(path),
    }
}

/// The refusal of one path among others, for a call that goes on without it: on record, and in the words that a peer reads.
pub fn refused(denial: &Denial) -> Refusal {
    Scope::current().map_or_else(|_| Refusal::among(denial, None), |scope| scope.refused(denial))
}

/// The session of the call that is running, if it belongs to one: legacy calls do.
pub fn session() -> Option<Session> {
    Scope::current().ok()?.session().cloned()
}
