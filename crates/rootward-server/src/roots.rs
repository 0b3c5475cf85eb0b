//! The roots in force, as a handler sees them: a guard, and why it is this one.

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

/// The roots in force at one moment. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Roots {
    published: Published,
    /// Whose session sees them.
    parties: Arc<Parties>,
    ground: Arc<Ground>,
    /// What the client's own sandbox allows the call, where the client says so.
    limits: Option<Arc<HostLimits>>,
}

impl Roots {
    pub(crate) fn new(published: Published, parties: &Arc<Parties>, ground: &Arc<Ground>) -> Roots {
        Roots { published, parties: Arc::clone(parties), ground: Arc::clone(ground), limits: None }
    }

    /// The same roots for a call that its client limits.
    pub(crate) fn within(self, limits: Option<&Arc<HostLimits>>) -> Roots {
        Roots { limits: limits.cloned(), ..self }
    }

    /// Decides whether `path` may be used for `access`, and pins what it names. The decision goes on record.
    pub fn check(&self, path: impl AsRef<OsStr>, access: Access) -> Result<Grant, Denial> {
        let decision = self.guard().check(&path, access).and_then(|grant| self.limited(path.as_ref(), grant));
        self.on_record(path.as_ref(), access, decision)
    }

    /// The same for a directory entry, a link itself rather than what it leads to: how a path is named that is to be
    /// created, removed or renamed.
    pub fn check_entry(&self, path: impl AsRef<OsStr>, access: Access) -> Result<Grant, Denial> {
        let decision = self.guard().check_entry(&path, access).and_then(|grant| self.limited(path.as_ref(), grant));
        self.on_record(path.as_ref(), access, decision)
    }

    /// The same for a text that may have another reading, because a list showed a name escaped.
    ///
    /// The text itself counts where something has it as its path, and where that path is refused. Else the other reading counts, if something is there, or
    /// if it is refused. For something new, a directory above it must exist by the other reading and not by the text. Whichever it is, that path is
    /// decided whole, like any other, goes on record, and is what the grant opens.
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
        // SECURITY: one reading is chosen, then decided; a grant is never for another path than the one that was decided
        // (test: a_name_that_is_not_utf8_is_decided_as_the_file_that_it_names)
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

    /// Refuses an act that can touch everything in the roots, for a call whose client allows it less. `grant` is where it begins.
    pub fn check_unbounded(&self, path: impl AsRef<OsStr>, grant: &Grant) -> Result<(), Denial> {
        match self.limits_now() {
            Some(limits) => limits.place_ambient(self.guard()).check_unbounded(grant, path.as_ref()),
            None => Ok(()),
        }
    }

    /// What the guard gives, if the client's own sandbox allows it, too.
    pub(crate) fn limited(&self, path: &OsStr, grant: Grant) -> Result<Grant, Denial> {
        // SECURITY: the roots alone do not decide where the client allows less (test: a_call_is_held_to_what_codex_allows)
        if let Some(limits) = self.limits_now() {
            limits.place_ambient(self.guard()).check(&grant, path)?;
        }
        Ok(grant)
    }

    /// The limits of the call that these roots are for; those of a session are for the call that is running.
    fn limits_now(&self) -> Option<Arc<HostLimits>> {
        self.limits.clone().or_else(|| Scope::current().ok()?.limits())
    }

    /// The guard that decides. What is decided by it directly does not go on record, and is not held to what the client's own sandbox
    /// allows the call.
    pub fn guard(&self) -> &Guard {
        self.published.guard()
    }

    /// The roots, in the order in which they were named. Those of a server without bounds are none.
    pub fn list(&self) -> &[PlacedRoot] {
        self.published.list()
    }

    /// A part of the list that begins at `cursor`, 50 roots at the most. A cursor is good for the roots it was made for;
    /// when they have changed since, it is stale.
    pub fn page(&self, cursor: Option<&str>) -> Result<Page<'_, PlacedRoot>, PageError> {
        self.page_of(cursor, PAGE_SIZE)
    }

    /// The same, with `size` roots at the most.
    pub fn page_of(&self, cursor: Option<&str>, size: NonZeroUsize) -> Result<Page<'_, PlacedRoot>, PageError> {
        Ok(cursor::page(self.list(), self.generation(), cursor, size)?)
    }

    /// What a peer is told of a denial: with the roots in force, and why these are.
    pub fn refusal(&self, denial: &Denial) -> Refusal {
        self.published.refusal(denial)
    }

    /// The client's roots of other schemes, such as `https://api.example.com/v1/`. They open nothing.
    pub fn others(&self) -> &[OtherRoot] {
        self.published.others()
    }

    /// The number of these roots; it moves on when they change.
    pub fn generation(&self) -> u64 {
        self.published.generation()
    }

    /// The client's state they follow from.
    pub fn state(&self) -> State {
        self.published.state()
    }

    /// Why these.
    pub fn why(&self) -> Why {
        self.published.why()
    }

    /// Whether the roots bound what is allowed.
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

    /// The roots that the client named and that are left out.
    pub fn left_out(&self) -> &[LeftOut] {
        self.published.left_out()
    }

    /// How the client's roots and the ceiling combine.
    pub fn mode(&self) -> Mode {
        self.ground.settings.policy.mode
    }

    /// Puts a decision of the guard's on record.
    pub(crate) fn on_record(
        &self,
        path: &OsStr,
        access: Access,
        decision: Result<Grant, Denial>,
    ) -> Result<Grant, Denial> {
        let decision = decision.map_err(|denial| self.published.told(denial));
        if self.ground.settings.audit.is_none() {
            return decision;
        }
        let scope = Scope::current().ok();
        let requester = scope.as_ref().map_or("", |scope| scope.requester());
        let decided = Decided { parties: &self.parties, requester, generation: self.generation() };
        // SECURITY: what is not on record does not happen (test: without_a_record_there_is_no_access)
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
