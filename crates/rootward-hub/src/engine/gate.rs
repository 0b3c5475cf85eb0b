//! The gate: every path in a client's message is checked and audited before the message is forwarded.

use std::path::Path;
use std::time::SystemTime;

use rootward_core::{Access, AuditEvent, Cause, Code, Decision, Denial, Guard, Occasion, Shown};
use rootward_protocol::frame::{Envelope, Id};
use rootward_protocol::message::{self, INTERNAL_ERROR, INVALID_PARAMS, Results};
use rootward_protocol::session::{Published, Turn};
use rootward_protocol::{Era, Refusal, method, shown};
use serde_json::json;

use super::rules::{Enforce, TreatedBy};
use super::session::{Session, Way};
use super::{ChildId, Effect, Entries, MessageNumber, OnRecord};
use crate::check::{Finding, Named, RefusedPath, Verdict, paths};
use crate::scan::{Call, Evidence, ScanError, Tool, acts, tool_name};

/// How much of a method's or tool's name is shown, in characters.
const LONGEST_NAME: usize = 200;

/// How often a message is audited again because the process that gets it has changed.
const MOST_RECORDED: u8 = 3;

/// What happens to a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Judgement {
    Pass,
    /// The roots or the child are not ready.
    Wait,
    /// Refused, with this answer if it is a request.
    Refused(Option<String>),
}

/// The decision about a message, until it is in the audit log.
#[derive(Debug)]
pub(super) struct Decided {
    /// The guard that decided.
    guard: Guard,
    verdict: Verdict,
    /// The child that gets the message.
    child: Option<u64>,
    /// `None` until the result is known.
    on_record: Option<OnRecord>,
}

impl Session {
    /// Checks a client's request or notification.
    pub(super) fn judge(&mut self, envelope: &Envelope<'_>, way: &mut Way) -> Judgement {
        let method = envelope.method().unwrap_or_default();
        let id = envelope.id().map(Id::as_str);
        let of = &self.links[way.link];
        let tool = match (method, envelope.params()) {
            (method::CALL_TOOL, Some(params)) => {
                tool_name(params).map(|name| of.tools.get(&name, &of.rules.treatments))
            }
            _ => None,
        };
        let call = Call { method, params: envelope.params(), tool: tool.as_deref() };
        if let Some(judgement) = self.judged_on_record(id, &call, way) {
            return judgement;
        }
        let guard = self.guard().filter(|_| self.is_ready(way)).cloned();
        let checked = match &guard {
            Some(guard) => {
                // SECURITY: resolved for each decision, since links may have changed
                // (test: limits_follow_links_again_for_each_call)
                let limits = way.limits.as_ref().map(|limits| limits.place_ambient(guard));
                self.links[way.link].rules.check(guard, limits.as_ref(), &call).map(Some)
            }
            None => self.first_path(way.link, &call).map(|found| found.is_none().then(Verdict::default)),
        };
        match checked {
            Err(error) => {
                self.record_undecided(way.link, &call, Code::InvalidPath);
                Judgement::Refused(id.map(|id| malformed(id, method, &error)))
            }
            Ok(Some(verdict)) if verdict.findings.is_empty() => match self.turn_without_paths(&call, way) {
                Turn::GoOn => Judgement::Pass,
                Turn::Wait { .. } => self.wait_or_give_up(id, &call, way),
                Turn::Overdue => self.pending(id, &call, way.link),
            },
            // SECURITY: from `list_changed` until the client has answered, no call is checked against the old roots
            // (test: a_revoked_root_is_gone_for_the_next_call)
            Ok(found) => match (self.turn(way), found, guard) {
                (Turn::Overdue, ..) => self.pending(id, &call, way.link),
                // Only the current roots may decide.
                (Turn::GoOn, Some(verdict), Some(guard)) if self.is_ready(way) && self.is_still(&guard) => {
                    let child = self.links[way.link].current;
                    self.decide(id, &call, Decided { guard, verdict, child, on_record: None }, way)
                }
                _ => self.wait_or_give_up(id, &call, way),
            },
        }
    }

    /// The judgement for a message whose decision was sent to the audit log; `None` if it has to be checked again or
    /// for the first time.
    fn judged_on_record(&mut self, id: Option<&str>, call: &Call<'_>, way: &mut Way) -> Option<Judgement> {
        let decided = way.decided.take()?;
        match decided.on_record {
            None => {
                way.decided = Some(decided);
                Some(Judgement::Wait)
            }
            // SECURITY: a call that cannot be audited is refused (test: without_a_record_no_call_with_paths_passes)
            Some(OnRecord::No) => {
                let finding = decided.verdict.findings.iter().find(|finding| finding.is_on_record())?;
                let denial = Denial::new(Code::AuditUnavailable, &*finding.path, finding.need.access);
                Some(self.refused(id, call, &denial, None))
            }
            // SECURITY: writing the audit entry takes time, and the roots may have changed since
            // (test: a_message_is_checked_against_the_current_roots_when_it_leaves)
            Some(OnRecord::Yes)
                if self.is_ready(way)
                    && self.is_still(&decided.guard)
                    // The audited process must be the one that gets the call. Calls with other roots may replace it
                    // each time.
                    && (self.links[way.link].current == decided.child || way.recorded >= MOST_RECORDED) =>
            {
                Some(self.act(id, call, &decided.verdict, way.link))
            }
            Some(OnRecord::Yes) => None,
        }
    }

    /// The decision about a message is in the audit log, or could not be written.
    pub(super) fn recorded(&mut self, message: MessageNumber, on_record: OnRecord) {
        if let Some(decided) = self.way_of(message).and_then(|way| way.decided.as_mut()) {
            decided.on_record = Some(on_record);
        }
    }

    /// What a message without paths does now. Even without a path, a call acts in the server's directories; a message
    /// that only the protocol uses never waits.
    fn turn_without_paths(&mut self, call: &Call<'_>, way: &mut Way) -> Turn {
        if !acts(call.method) {
            return Turn::GoOn;
        }
        // SECURITY: the server still has the roots from before `list_changed` and can read them even if the call
        // names none
        // (test: calls_without_paths_wait_until_the_roots_are_known_again)
        let is_known = self.era() == Era::Legacy && self.published().is_some();
        match if is_known { self.turn(way) } else { Turn::GoOn } {
            Turn::GoOn if !self.is_in_place(way.link) => Turn::Wait { until: self.now },
            turn => turn,
        }
    }

    /// Lets a message wait, but not forever.
    fn wait_or_give_up(&mut self, id: Option<&str>, call: &Call<'_>, way: &Way) -> Judgement {
        if self.now < way.arrived + self.patience() {
            return Judgement::Wait;
        }
        if self.published().is_none() {
            return self.pending(id, call, way.link);
        }
        let says = "the server could not be restarted with the current roots";
        Judgement::Refused(id.map(|id| message::error(id, INTERNAL_ERROR, says, None)))
    }

    /// Refuses a call because its roots did not arrive in time.
    fn pending(&mut self, id: Option<&str>, call: &Call<'_>, link: usize) -> Judgement {
        self.record_undecided(link, call, Code::RootsPending);
        let form = (self.terms.refusals, results(call.tool));
        Judgement::Refused(id.map(|id| message::refusal(id, call.method, self.era(), form, &Refusal::pending())))
    }

    /// Whether this guard decides the same as the current roots.
    fn is_still(&self, guard: &Guard) -> bool {
        self.guard().is_some_and(|now| guard.decides_as(now))
    }

    /// Audits a call that was refused before its paths were checked. It is refused even if that fails.
    fn record_undecided(&mut self, link: usize, call: &Call<'_>, code: Code) {
        if self.links[link].rules.audit.is_none() {
            return;
        }
        let path = self.first_path(link, call).ok().flatten().unwrap_or_default();
        let denial = Denial::new(code, path, Access::NONE);
        let (requester, generation) = (requester(call.method, call.tool), self.guard().map_or(0, Guard::generation));
        let occasion = self.occasion(link, &requester, generation);
        let event = AuditEvent::new(occasion, denial.path(), Access::NONE, Err(&denial));
        let entries = Entries { child: self.current_child(link), events: vec![event] };
        self.push(Effect::Record(self.id, MessageNumber::NONE, entries));
    }

    /// The context for an audit entry. The front fills in the process.
    pub(super) fn occasion<'o>(&'o self, link: usize, requester: &'o str, generation: u64) -> Occasion<'o> {
        Occasion {
            time: SystemTime::now(),
            session: &self.party.name,
            principal: self.party.principal.as_ref().map(|principal| &*principal.name),
            client: self.client_name.as_deref(),
            server: Some(&self.links[link].name),
            process: None,
            requester,
            generation,
        }
    }

    fn current_child(&self, link: usize) -> Option<ChildId> {
        self.links[link].current.map(|number| self.child_id(link, number))
    }

    /// The first path in a call, if any.
    fn first_path(&self, link: usize, call: &Call<'_>) -> Result<Option<String>, ScanError> {
        let rules = &self.links[link].rules;
        let mut found = None;
        paths(&rules.expansion, rules.protection, call, &mut |candidate| {
            found.get_or_insert_with(|| candidate.text.into_owned());
        })?;
        Ok(found)
    }

    /// Whether a call with paths can be checked and forwarded now.
    fn is_ready(&self, way: &Way) -> bool {
        let (Some(roots), Some(guard)) = (&self.roots, self.guard()) else { return false };
        let child = self.links[way.link].current();
        roots.turn(way.arrived, self.now) == Turn::GoOn
            && child.is_some_and(|child| child.guard.decides_as(guard) && child.settles_at <= self.now)
    }

    /// Requests roots for a call, and returns what it does now.
    fn turn(&mut self, way: &mut Way) -> Turn {
        way.needs_roots = true;
        let arrived = way.arrived;
        self.report(|roots, now| roots.needed(now, arrived));
        self.roots.as_ref().map_or(Turn::Wait { until: self.now }, |roots| roots.turn(arrived, self.now))
    }

    /// Writes the decision to the audit log, if there is one, and acts on it.
    fn decide(&mut self, id: Option<&str>, call: &Call<'_>, decided: Decided, way: &mut Way) -> Judgement {
        let Some(roots) = self.published() else { return Judgement::Wait };
        if self.links[way.link].rules.audit.is_none() {
            return self.act(id, call, &decided.verdict, way.link);
        }
        let requester = requester(call.method, call.tool);
        let occasion = self.occasion(way.link, &requester, roots.generation());
        let findings = decided.verdict.findings.iter().filter(|finding| finding.is_on_record());
        let events: Vec<AuditEvent> = findings.map(|finding| event(finding, occasion, roots)).collect();
        if events.is_empty() {
            // Nothing in it is a path.
            return self.act(id, call, &decided.verdict, way.link);
        }
        let entries = Entries { child: self.current_child(way.link), events };
        self.push(Effect::Record(self.id, way.number, entries));
        way.recorded = way.recorded.saturating_add(1);
        way.decided = Some(Box::new(decided));
        Judgement::Wait
    }

    /// Acts on a decision.
    fn act(&mut self, id: Option<&str>, call: &Call<'_>, verdict: &Verdict, link: usize) -> Judgement {
        let Some((finding, refused)) = verdict.refused() else { return Judgement::Pass };
        let rules = &self.links[link].rules;
        let hint = match self.guard().and_then(|guard| rules.paths.map(guard)) {
            Some(map) => Some(format!("give the whole path as this server sees it; there, {map}")),
            // A refusal by the client's own sandbox does not depend on how the string is classified.
            None if matches!(refused.denial.cause(), Cause::OwnRules(_)) => None,
            // Without roots the server can do nothing, whatever its arguments are.
            None if refused.denial.code() == Code::NoRoots => None,
            None => if_no_path(call.tool, finding, rules.treated_by),
        };
        let judgement = self.refused(id, call, &refused.denial, hint.as_deref());
        let requester = requester(call.method, call.tool);
        let mut says = match self.published().filter(|_| refused.denial.code() == Code::NoRoots) {
            // The client's sentence says why, and what to do.
            Some(roots) => {
                let key = Shown::new(&*finding.key);
                format!("{requester}, `{key}`: {}", roots.refusal(&refused.denial).sentence())
            }
            None => operators_words(&requester, finding, refused),
        };
        if let Some(hint) = hint {
            says = format!("{says}; {hint}");
        }
        match self.links[link].rules.enforce {
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

    fn refused(&self, id: Option<&str>, call: &Call<'_>, denial: &Denial, hint: Option<&str>) -> Judgement {
        let Some(roots) = self.published() else { return Judgement::Wait };
        let answer = |id| {
            let refusal = roots.refusal(denial);
            let refusal = hint.iter().fold(refusal, |refusal, hint| refusal.with_hint(hint));
            message::refusal(id, call.method, self.era(), (self.terms.refusals, results(call.tool)), &refusal)
        };
        Judgement::Refused(id.map(answer))
    }
}

/// Whether a tool describes its structured results.
pub(super) fn results(tool: Option<&Tool>) -> Results {
    if tool.is_some_and(Tool::has_structured_results) { Results::Described } else { Results::Free }
}

/// The requester for the audit log.
fn requester(method: &str, tool: Option<&Tool>) -> String {
    let method = shown(method, LONGEST_NAME);
    match tool {
        Some(tool) => format!("{method} {}", shown(tool.name(), LONGEST_NAME)),
        None => method,
    }
}

/// The answer to ambiguous params.
fn malformed(id: &str, method: &str, error: &ScanError) -> String {
    let says = format!("the params of `{}` are refused: {error}", shown(method, LONGEST_NAME));
    message::error(id, INVALID_PARAMS, &says, None)
}

fn event(finding: &Finding, occasion: Occasion<'_>, roots: &Published) -> AuditEvent {
    let denial = finding.refusal.as_ref().map(|refusal| match &refusal.reading {
        Some((_, denial)) => denial,
        None => &refusal.denial,
    });
    let shown = |path: &Path| Shown::new(path).to_string();
    let granted = match &finding.named {
        Named::Place(place) => place.as_ref(),
        Named::Nothing => None,
    };
    let resolved = denial.and_then(Denial::resolved).or(granted.map(|place| &*place.path));
    let root = denial.and_then(Denial::root).map(|root| &*root.path).or(granted.map(|place| &*place.root));
    AuditEvent {
        resolved: resolved.map(shown),
        decision: if denial.is_some() { Decision::Deny } else { Decision::Allow },
        code: denial.map(|denial| roots.explained(denial.clone()).code()),
        root: root.map(shown),
        ..occasion.event(Shown::new(&*finding.path).to_string(), finding.need.access)
    }
}

/// A hint in case the string is not a path; `None` if no flag could say so.
fn if_no_path(tool: Option<&Tool>, finding: &Finding, treated_by: TreatedBy) -> Option<String> {
    if finding.why == Evidence::Treatment {
        return None;
    }
    let place = format!("{}.{}", tool?.name(), finding.key);
    // If cut off, or with control characters, it would be a different flag.
    let is_typed = shown(&place, LONGEST_NAME) == place && !finding.key.is_empty();
    is_typed.then(|| match treated_by {
        TreatedBy::Flag => format!("if this is not a path, pass `--treat {place}=text` to `rootward wrap`"),
        TreatedBy::Configuration => {
            let says = json!({"rootward": {"arguments": {&place: "text"}}});
            format!("if this is not a path, add `{says}` to the server in the hub's configuration")
        }
    })
}

/// The message for the operator, with more detail than the client gets.
fn operators_words(requester: &str, finding: &Finding, refusal: &RefusedPath) -> String {
    let (reading, denial) = match &refusal.reading {
        Some((reading, denial)) => (format!(" (read as `{}`)", Shown::new(&**reading)), denial),
        None => (String::new(), &refusal.denial),
    };
    format!("{requester}, `{}`{reading}: {}", Shown::new(&*finding.key), denial.for_operator())
}
