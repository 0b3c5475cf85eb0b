//! The gate: every path of a client's message is decided and put on record before the message is passed on.

use std::time::{Duration, SystemTime};

use rootward_core::{Access, AuditEvent, Code, Decision, Denial, Guard, Occasion, Shown};
use rootward_protocol::frame::{Envelope, Id};
use rootward_protocol::message::{self, INTERNAL_ERROR, INVALID_PARAMS, Results};
use rootward_protocol::session::{Published, Turn};
use rootward_protocol::{Era, Refusal, method, shown};

use super::engine::{Engine, GRACE};
use super::rules::Enforce;
use crate::check::{Finding, Verdict, check};
use crate::scan::{Call, ScanError, Tool, acts, scan, tool_name};

/// On record there is one session: a log is of one process, and that has one client.
const SESSION: &str = "1";

/// How much of a method's or a tool's name is shown, in characters.
const LONGEST_NAME: usize = 200;

/// What becomes of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Judgement {
    Pass,
    /// The roots or the child are not ready.
    Wait,
    /// It is refused, with this answer where somebody waits for one.
    Refused(Option<String>),
}

impl Engine {
    /// Decides a request or notification of the client's.
    pub(super) fn judge(&mut self, envelope: &Envelope<'_>, arrived: Duration) -> Judgement {
        let method = envelope.method().unwrap_or_default();
        let id = envelope.id().map(Id::as_str);
        let tool = match (method, envelope.params()) {
            (method::CALL_TOOL, Some(params)) => {
                tool_name(params).map(|name| self.tools.get(&name, &self.rules.treatments))
            }
            _ => None,
        };
        let call = Call { method, params: envelope.params(), tool: tool.as_deref() };
        let guard = self.guard().filter(|_| self.is_ready(arrived)).cloned();
        let checked = match &guard {
            Some(guard) => check(guard, &self.rules.expansion, &call).map(Some),
            _ => first_path(&call).map(|found| if found.is_some() { None } else { Some(Verdict::default()) }),
        };
        match checked {
            Err(error) => {
                self.record_undecided(&call, Code::InvalidPath);
                Judgement::Refused(id.map(|id| malformed(id, method, &error)))
            }
            Ok(Some(verdict)) if verdict.findings.is_empty() => match self.stands(&call, arrived) {
                Turn::GoOn => Judgement::Pass,
                Turn::Wait { .. } => self.wait_or_give_up(id, &call, arrived),
                Turn::Overdue => self.pending(id, &call),
            },
            // SECURITY: from `list_changed` until the client has answered, no call is decided by the old roots
            // (test: a_revoked_root_is_gone_for_the_next_call)
            Ok(found) => match (self.turn(arrived), found) {
                (Turn::Overdue, _) => self.pending(id, &call),
                // By the roots that are in force now, or not at all.
                (Turn::GoOn, Some(verdict)) if self.is_ready(arrived) && self.is_still(guard.as_ref()) => {
                    self.decide(envelope, tool.as_deref(), &verdict)
                }
                _ => self.wait_or_give_up(id, &call, arrived),
            },
        }
    }

    /// What a message without paths does now. What acts without naming a path acts where the server is; what only the protocol reads
    /// never waits.
    fn stands(&mut self, call: &Call<'_>, arrived: Duration) -> Turn {
        if !acts(call.method) {
            return Turn::GoOn;
        }
        // SECURITY: the server still has the roots from before `list_changed`, and reads them without being named one
        // (test: calls_without_paths_wait_until_the_roots_are_known_again)
        let is_known = self.era() == Era::Legacy && self.published().is_some();
        match if is_known { self.turn(arrived) } else { Turn::GoOn } {
            Turn::GoOn if !self.is_in_place(arrived) => Turn::Wait { until: self.now },
            turn => turn,
        }
    }

    /// Whether the server is where it should be, or nobody can tell where that is.
    fn is_in_place(&self, arrived: Duration) -> bool {
        if self.roots.is_none() {
            return true;
        }
        // A modern call says by its paths that it needs roots; without any, it is not asked for them.
        if self.era() == Era::Modern {
            return true;
        }
        let Some(guard) = self.guard() else { return self.now >= arrived + GRACE };
        let child = self.current.and_then(|number| self.children.get(&number));
        child.is_some_and(|child| child.guard.decides_as(guard))
    }

    /// Lets a message wait, but not for ever.
    fn wait_or_give_up(&self, id: Option<&str>, call: &Call<'_>, arrived: Duration) -> Judgement {
        if self.now < arrived + self.patience() {
            return Judgement::Wait;
        }
        if self.published().is_none() {
            return self.pending(id, call);
        }
        let says = "the server does not run in the roots in force";
        Judgement::Refused(id.map(|id| message::error(id, INTERNAL_ERROR, says, None)))
    }

    /// The refusal of a call whose roots nobody could name in time.
    fn pending(&self, id: Option<&str>, call: &Call<'_>) -> Judgement {
        self.record_undecided(call, Code::RootsPending);
        Judgement::Refused(
            id.map(|id| message::refusal(id, call.method, self.era(), results(call.tool), &Refusal::pending())),
        )
    }

    /// Whether what was decided by this guard is decided by the roots in force.
    fn is_still(&self, guard: Option<&Guard>) -> bool {
        matches!((guard, self.guard()), (Some(guard), Some(now)) if guard.decides_as(now))
    }

    /// Puts on record that a call was refused before its paths were decided. It is refused whether or not that succeeds.
    fn record_undecided(&self, call: &Call<'_>, code: Code) {
        let Some(audit) = &self.rules.audit else { return };
        let path = first_path(call).ok().flatten().unwrap_or_default();
        let denial = Denial::new(code, path, Access::NONE);
        let (requester, generation) = (requester(call.method, call.tool), self.guard().map_or(0, Guard::generation));
        let occasion = Occasion { time: SystemTime::now(), session: SESSION, requester: &requester, generation };
        let _ = audit.record(&AuditEvent::new(occasion, denial.path(), Access::NONE, Err(&denial)));
    }

    /// Whether a call with paths can be decided and passed on now.
    fn is_ready(&self, arrived: Duration) -> bool {
        let (Some(roots), Some(guard)) = (&self.roots, self.guard()) else { return false };
        let child = self.current.and_then(|number| self.children.get(&number));
        roots.turn(arrived, self.now) == Turn::GoOn
            && child.is_some_and(|child| child.guard.decides_as(guard) && child.settles_at <= self.now)
    }

    /// Says that a call needs roots, and what it does now.
    fn turn(&mut self, arrived: Duration) -> Turn {
        self.report(|roots, now| roots.needed(now, arrived));
        self.arrange();
        self.roots.as_ref().map_or(Turn::Wait { until: self.now }, |roots| roots.turn(arrived, self.now))
    }

    /// The decision about a message whose paths were checked.
    fn decide(&mut self, envelope: &Envelope<'_>, tool: Option<&Tool>, verdict: &Verdict) -> Judgement {
        let method = envelope.method().unwrap_or_default();
        let requester = requester(method, tool);
        let id = envelope.id().map(Id::as_str);
        let era = self.era();
        let Some(roots) = self.published() else { return Judgement::Wait };
        let refused = |denial: &Denial| {
            let refusal = roots.refusal(denial);
            Judgement::Refused(id.map(|id| message::refusal(id, method, era, results(tool), &refusal)))
        };
        // SECURITY: what is not on record does not happen (test: without_a_record_no_call_with_paths_passes)
        for finding in &verdict.findings {
            let event = event(finding, &requester, roots);
            if self.rules.audit.as_ref().is_some_and(|audit| audit.record(&event).is_err()) {
                return refused(&Denial::new(Code::AuditUnavailable, &*finding.path, finding.need.access));
            }
        }
        let Some((finding, refusal)) = verdict.refused() else { return Judgement::Pass };
        let judgement = refused(&refusal.denial);
        let says = operators_words(&requester, finding, refusal);
        match self.rules.enforce {
            Enforce::Refuse => {
                self.say(format!("refused: {says}"));
                judgement
            }
            Enforce::Report => {
                self.say(format!("would be refused: {says}"));
                Judgement::Pass
            }
        }
    }
}

/// Whether a tool says what its structured results look like.
pub(super) fn results(tool: Option<&Tool>) -> Results {
    if tool.is_some_and(Tool::has_structured_results) { Results::Described } else { Results::Free }
}

/// The first path of a call, if it has any.
fn first_path(call: &Call<'_>) -> Result<Option<String>, ScanError> {
    let mut found = None;
    scan(call, &mut |candidate| {
        found.get_or_insert_with(|| candidate.text.into_owned());
    })?;
    Ok(found)
}

/// What asks, for the record.
fn requester(method: &str, tool: Option<&Tool>) -> String {
    let method = shown(method, LONGEST_NAME);
    match tool {
        Some(tool) => format!("{method} {}", shown(tool.name(), LONGEST_NAME)),
        None => method,
    }
}

/// The answer to params that can be read two ways.
fn malformed(id: &str, method: &str, error: &ScanError) -> String {
    let says = format!("the params of `{}` are refused: {error}", shown(method, LONGEST_NAME));
    message::error(id, INVALID_PARAMS, &says, None)
}

fn event(finding: &Finding, requester: &str, roots: &Published) -> AuditEvent {
    let denial = finding.refusal.as_ref().map(|refusal| match &refusal.reading {
        Some((_, denial)) => denial,
        None => &refusal.denial,
    });
    let shown = |path: &std::path::Path| Shown::new(path).to_string();
    AuditEvent {
        time: SystemTime::now(),
        session: SESSION.to_owned(),
        requester: requester.to_owned(),
        path: Shown::new(&*finding.path).to_string(),
        resolved: denial.and_then(Denial::resolved).map(shown),
        access: finding.need.access,
        decision: if denial.is_some() { Decision::Deny } else { Decision::Allow },
        code: denial.map(|denial| roots.told(denial.clone()).code()),
        root: denial.and_then(Denial::root).map(|root| shown(&root.path)),
        generation: roots.generation(),
    }
}

/// What the operator reads: more than the client does.
fn operators_words(requester: &str, finding: &Finding, refusal: &crate::check::RefusedPath) -> String {
    let (reading, denial) = match &refusal.reading {
        Some((reading, denial)) => (format!(" (read as `{}`)", Shown::new(&**reading)), denial),
        None => (String::new(), &refusal.denial),
    };
    format!("{requester}, `{}`{reading}: {}", Shown::new(&*finding.key), denial.for_operator())
}
