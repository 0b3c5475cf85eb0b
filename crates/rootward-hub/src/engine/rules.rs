//! Rules that are fixed before the first message: whose roots count, what is restricted, and how calls are refused.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use rootward_core::session::{Policy, Sources};
use rootward_core::{Audit, Guard, GuardOptions, RootSet, Validation};
use rootward_protocol::session::{Given, Terms};
use rootward_protocol::{PlacedLimits, RefusalForm, message};

use crate::check::{CheckContext, Verdict, check_within};
use crate::config::PathPairs;
use crate::scan::{Call, Expansion, Protection, ScanError, Tool, Treatment};

/// The rules of one wrapped server.
pub struct Rules {
    /// Which sources count, and how long to wait.
    pub policy: Policy,
    /// The operator's roots, the user's saved roots, the fallback.
    pub sources: Sources,
    /// The options for new guards; the generation is filled in.
    pub guard: GuardOptions,
    /// Which places a client may name.
    pub validation: Validation,
    /// The values of variables and `~` for the server.
    pub expansion: Expansion,
    /// What confines the server besides the check of its calls: [`Launch::protection`](crate::wrap::Launch::protection).
    pub protection: Protection,
    /// How the user can name a root, for refusals if there is none: ``name one with `--root DIR` ``.
    pub way: Option<&'static str>,
    /// How a refused tool call is answered.
    pub refusals: RefusalForm,
    /// What happens to a call whose path is refused.
    pub enforce: Enforce,
    /// The user's overrides for arguments of tools.
    pub treatments: Treatments,
    /// Where the user can set such an override.
    pub treated_by: TreatedBy,
    /// The server's own names for directories of this machine, if they differ.
    pub paths: PathPairs,
    /// Whether it may see its roots when it asks.
    pub tells: Tells,
    /// The audit log. If it cannot be written, calls with paths are refused.
    pub audit: Option<Arc<dyn Audit>>,
}

/// What happens to a call whose path is refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Enforce {
    /// It does not reach the server.
    #[default]
    Refuse,
    /// It is audited as refused but forwarded, to see what would be refused.
    Report,
}

/// Where the user overrides arguments, for hints.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TreatedBy {
    /// On the command line of `wrap`.
    #[default]
    Flag,
    /// In the configuration of the hub.
    Configuration,
}

/// Whether a server may see its roots when it asks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Tells {
    /// It gets its roots.
    #[default]
    Roots,
    /// It gets an empty list.
    Nothing,
}

impl Rules {
    /// How sessions of the server learn their roots.
    pub(crate) fn terms_ambient(&self) -> Terms {
        let mut terms = Terms::new_ambient(self.policy.clone(), self.guard.clone(), self.validation.clone());
        terms.way = self.way;
        terms.refusals = self.refusals;
        terms
    }

    /// The root sources of the operator and the user, until they change.
    pub(crate) fn given(&self) -> Given {
        Given { sources: self.sources.clone(), restrictions: Arc::clone(&self.guard.restrictions) }
    }

    /// Rules that override nothing.
    #[cfg(test)]
    pub(crate) fn plain(policy: Policy, sources: Sources, guard: GuardOptions, validation: Validation) -> Rules {
        Rules {
            policy,
            sources,
            guard,
            validation,
            expansion: Expansion::default(),
            protection: Protection::default(),
            way: None,
            refusals: RefusalForm::default(),
            enforce: Enforce::default(),
            treatments: Treatments::default(),
            treated_by: TreatedBy::default(),
            paths: PathPairs::default(),
            tells: Tells::default(),
            audit: None,
        }
    }

    /// Checks a call against a guard's roots and the host's limits.
    pub(super) fn check(
        &self,
        guard: &Guard,
        limits: Option<&PlacedLimits>,
        call: &Call<'_>,
    ) -> Result<Verdict, ScanError> {
        let map = self.paths.map(guard);
        check_within(CheckContext { guard, limits, map: map.as_ref() }, &self.expansion, self.protection, call)
    }

    /// The answer to the server's `roots/list`, for a guard's roots.
    pub(super) fn roots_told(&self, guard: &Guard) -> String {
        let map = self.paths.map(guard);
        match (self.tells, map) {
            (Tells::Nothing, _) => message::roots(&RootSet::default()),
            (Tells::Roots, Some(map)) => message::roots_as(guard.root_set(), |root| map.uri_to_child(root)),
            (Tells::Roots, None) => message::roots(guard.root_set()),
        }
    }
}

/// The user's overrides for arguments, by `TOOL.ARGUMENT`, or `*.ARGUMENT` for every tool. Both names may contain
/// dots; every possible split counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Treatments(BTreeMap<String, Said>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Said {
    treatment: Treatment,
    about: About,
}

/// Which servers an override is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum About {
    /// This one: an argument that it does not have is reported as a mistake.
    ThisServer,
    /// Every server, as in the settings file: most of them do not have the argument.
    EveryServer,
}

impl Treatments {
    /// Adds an override for `TOOL.ARGUMENT`, replacing an earlier one.
    pub fn add(&mut self, place: impl Into<String>, treatment: Treatment, about: About) {
        self.0.insert(place.into(), Said { treatment, about });
    }

    /// Applies the overrides to a tool.
    pub(super) fn apply(&self, tool: Tool) -> Tool {
        // In sort order, `*` comes before every name, so an override for one tool wins.
        let said: Vec<_> =
            self.0.iter().filter_map(|(place, said)| Some((argument(place, tool.name())?, said.treatment))).collect();
        said.into_iter().fold(tool, |tool, (key, treatment)| tool.with_treatment(key, treatment))
    }

    /// The overrides for this server in particular.
    pub(super) fn about_this_server(&self) -> impl Iterator<Item = (&str, Treatment)> {
        let said = self.0.iter().filter(|(_, said)| said.about == About::ThisServer);
        said.map(|(place, said)| (place.as_str(), said.treatment))
    }
}

/// The argument that `TOOL.ARGUMENT` names, if it belongs to this tool. `*` matches every tool.
pub(super) fn argument<'p>(place: &'p str, tool: &str) -> Option<&'p str> {
    let of_tool = |name: &str| place.strip_prefix(name)?.strip_prefix('.').filter(|argument| !argument.is_empty());
    of_tool(tool).or_else(|| of_tool("*"))
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("policy", &self.policy)
            .field("sources", &self.sources)
            .field("enforce", &self.enforce)
            .field("treatments", &self.treatments)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;
    use crate::scan::{Need, scan};

    #[test]
    fn the_last_override_wins() {
        let mut treatments = Treatments::default();
        treatments.add("read.path", Treatment::Text, About::EveryServer);
        treatments.add("git.log.repo.path", Treatment::Text, About::EveryServer);
        treatments.add("read.path", Treatment::Path(Need::READ), About::ThisServer);
        let check = |tool: &str, key: &str, expect: &[Need]| {
            let params = to_raw_value(&json!({"name": tool, "arguments": {key: "/x"}})).unwrap();
            let tool = treatments.apply(Tool::named(tool));
            let mut needs = Vec::new();
            let call = Call { method: "tools/call", params: Some(&params), tool: Some(&tool) };
            scan(&call, &mut |candidate| needs.push(candidate.need)).unwrap();
            assert_eq!(needs, expect, "{} {key}", tool.name());
        };
        check("read", "path", &[Need::READ]);
        check("git.log", "repo.path", &[]);
        check("git", "log.repo.path", &[]);
        check("git.log", "path", &[Need::READ]);
        let this: Vec<_> = treatments.about_this_server().map(|(place, _)| place).collect();
        assert_eq!(this, ["read.path"]);
    }

    #[test]
    fn members_of_a_text_argument_are_text() {
        let mut treatments = Treatments::default();
        treatments.add("find.filter", Treatment::Text, About::EveryServer);
        treatments.add("find.file", Treatment::Path(Need::READ), About::EveryServer);
        treatments.add("find.arguments", Treatment::Text, About::EveryServer);
        let tool = treatments.apply(Tool::named("find"));
        let check = |arguments: serde_json::Value, expect: &[&str]| {
            let params = to_raw_value(&json!({"name": "find", "arguments": arguments})).unwrap();
            let mut found = Vec::new();
            let call = Call { method: "tools/call", params: Some(&params), tool: Some(&tool) };
            scan(&call, &mut |candidate| found.push(candidate.text.into_owned())).unwrap();
            assert_eq!(found, expect, "{arguments}");
        };
        check(json!({"filter": {"path": "/x", "/y": [{"name": "/z"}]}}), &[]);
        check(json!({"filter": {"file": "/x"}}), &["/x"]);
        check(json!({"path": "/x"}), &["/x"]);
        check(json!({"arguments": {"path": "/x"}}), &[]);
    }
}
