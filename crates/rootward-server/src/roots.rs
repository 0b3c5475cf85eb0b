//! The current roots, as a handler sees them: a guard, and the reason for these roots.

use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::sync::Arc;

use rootward_core::cursor::{self, PAGE_SIZE, Page};
use rootward_core::session::{Reach, State, Support, Why};
use rootward_core::{Access, Code, Denial, Grant, Guard, Mode, OtherRoot, PlacedRoot};
use rootward_protocol::session::{LeftOut, Published};
use rootward_protocol::{HostLimits, Refusal};

use crate::error::PageError;
use crate::path::{Last, OtherReading};
use crate::record::{Decided, Parties, record};
use crate::scope::Scope;
use crate::settings::Ground;

/// The current roots at one moment. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Roots {
    published: Published,
    /// The session that sees them.
    parties: Arc<Parties>,
    ground: Arc<Ground>,
    /// What the client's own sandbox allows the call, if the client says so.
    limits: Option<Arc<HostLimits>>,
}

impl Roots {
    pub(crate) fn new(published: Published, parties: &Arc<Parties>, ground: &Arc<Ground>) -> Roots {
        Roots { published, parties: Arc::clone(parties), ground: Arc::clone(ground), limits: None }
    }

    /// The same roots, for a call that its client limits.
    pub(crate) fn within(self, limits: Option<&Arc<HostLimits>>) -> Roots {
        Roots { limits: limits.cloned(), ..self }
    }

    /// Decides whether `path` may be used for `access`, opens it, and records the decision.
    pub fn check(&self, path: impl AsRef<OsStr>, access: Access) -> Result<Grant, Denial> {
        let decision = self.guard().check(&path, access).and_then(|grant| self.limited(path.as_ref(), grant));
        self.on_record(path.as_ref(), access, decision)
    }

    /// Like [`Roots::check`], but for a directory entry: a link itself rather than its target. Use it for paths that
    /// are to be created, removed or renamed.
    pub fn check_entry(&self, path: impl AsRef<OsStr>, access: Access) -> Result<Grant, Denial> {
        let decision = self.guard().check_entry(&path, access).and_then(|grant| self.limited(path.as_ref(), grant));
        self.on_record(path.as_ref(), access, decision)
    }

    /// Like [`Roots::check`], for text that may have a second reading because a list showed a name escaped.
    ///
    /// The literal text is used if something exists at that path, or if that path is refused. Otherwise the second
    /// reading is used if something exists there, or if it is refused. For a new file, the second reading is used only
    /// if its parent directory exists and the one named by the literal text does not. The chosen path is checked in
    /// full like any other and recorded, and the grant opens that path.
    pub fn check_either(
        &self,
        text: &str,
        other: Option<&OtherReading>,
        access: Access,
        last: Last,
    ) -> Result<Grant, Denial> {
        let text = OsStr::new(text);
        let decide = |path: &OsStr| {
            let guard = self.guard();
            let decision = match last {
                Last::Followed => guard.check(path, access),
                Last::Meant => guard.check_entry(path, access),
            };
            decision.and_then(|grant| self.limited(path, grant))
        };
        // SECURITY: choose one reading, then check it; a grant is always for the path that was checked
        // (test: a_name_that_is_not_utf8_is_checked_as_the_file_that_it_names)
        let is_absent = |decision: &Result<Grant, Denial>| decision.as_ref().is_ok_and(|grant| !grant.exists());
        let decision = decide(text);
        let Some(other) = other.filter(|_| is_absent(&decision)) else { return self.on_record(text, access, decision) };
        let existing = decide(&other.existing);
        if !is_absent(&existing) {
            return self.on_record(&other.existing, access, existing);
        }
        let exists = |path: &OsStr| self.guard().check(path, Access::NONE).is_ok_and(|grant| grant.exists());
        match &other.new {
            Some(new) if !exists(new.as_text.as_ref()) && exists(&new.directory) => {
                self.on_record(&new.path, access, decide(&new.path))
            }
            _ => self.on_record(text, access, decision),
        }
    }

    /// Refuses an operation that can touch everything in the roots, if the client allows the call less. `grant` is
    /// where it starts.
    pub fn check_unbounded(&self, path: impl AsRef<OsStr>, grant: &Grant) -> Result<(), Denial> {
        match self.limits_now() {
            Some(limits) => limits.place_ambient(self.guard()).check_unbounded(grant, path.as_ref()),
            None => Ok(()),
        }
    }

    /// Returns the guard's grant, if the client's own sandbox also allows it.
    pub(crate) fn limited(&self, path: &OsStr, grant: Grant) -> Result<Grant, Denial> {
        // SECURITY: if the client allows less, the roots alone do not decide
        // (test: a_call_is_held_to_what_codex_allows)
        if let Some(limits) = self.limits_now() {
            limits.place_ambient(self.guard()).check(&grant, path)?;
        }
        Ok(grant)
    }

    /// The limits of the call that these roots are for. Roots of a session use the limits of the running call.
    fn limits_now(&self) -> Option<Arc<HostLimits>> {
        self.limits.clone().or_else(|| Scope::current().ok()?.limits())
    }

    /// The guard that decides. Decisions made directly through it are not recorded, and ignore what the client's own
    /// sandbox allows the call.
    pub fn guard(&self) -> &Guard {
        self.published.guard()
    }

    /// The roots, in the order in which they were named. Empty for a server without bounds.
    pub fn list(&self) -> &[PlacedRoot] {
        self.published.list()
    }

    /// The page of the list that begins at `cursor`, at most 50 roots. A cursor is valid only for the roots it was made
    /// for; it becomes stale when they change.
    pub fn page(&self, cursor: Option<&str>) -> Result<Page<'_, PlacedRoot>, PageError> {
        self.page_of(cursor, PAGE_SIZE)
    }

    /// Like [`Roots::page`], with at most `size` roots.
    pub fn page_of(&self, cursor: Option<&str>, size: NonZeroUsize) -> Result<Page<'_, PlacedRoot>, PageError> {
        Ok(cursor::page(self.list(), self.generation(), cursor, size)?)
    }

    /// The refusal to send to a peer: it names the current roots, and why they are these.
    pub fn refusal(&self, denial: &Denial) -> Refusal {
        self.published.refusal(denial)
    }

    /// The client's roots with other schemes, such as `https://api.example.com/v1/`. They grant no access.
    pub fn others(&self) -> &[OtherRoot] {
        self.published.others()
    }

    /// The generation of these roots; it increases when they change.
    pub fn generation(&self) -> u64 {
        self.published.generation()
    }

    /// The client state that led to these roots.
    pub fn state(&self) -> State {
        self.published.state()
    }

    /// Why these roots are current.
    pub fn why(&self) -> Why {
        self.published.why()
    }

    /// Whether the roots limit what is allowed.
    pub fn reach(&self) -> Reach {
        self.published.reach()
    }

    /// What the client declared.
    pub fn support(&self) -> Support {
        self.published.support()
    }

    pub(crate) fn published(&self) -> &Published {
        &self.published
    }

    /// The client's roots that were excluded.
    pub fn left_out(&self) -> &[LeftOut] {
        self.published.left_out()
    }

    /// How the client's roots and the ceiling combine.
    pub fn mode(&self) -> Mode {
        self.ground.settings.policy.mode
    }

    /// Records a decision of the guard.
    pub(crate) fn on_record(
        &self,
        path: &OsStr,
        access: Access,
        decision: Result<Grant, Denial>,
    ) -> Result<Grant, Denial> {
        let decision = decision.map_err(|denial| self.published.explained(denial));
        if self.ground.settings.audit.is_none() {
            return decision;
        }
        let scope = Scope::current().ok();
        let requester = scope.as_ref().map_or("", |scope| scope.requester());
        let decided = Decided { parties: &self.parties, requester, generation: self.generation() };
        // SECURITY: an access that cannot be recorded is refused (test: without_a_record_there_is_no_access)
        let decision = match record(&self.ground, decided, path, access, decision.as_ref()) {
            Ok(()) => decision,
            Err(_) => Err(Denial::new(Code::AuditUnavailable, path, access)),
        };
        if let (Some(scope), Err(denial)) = (scope, &decision) {
            scope.recorded(denial);
        }
        decision
    }
}
