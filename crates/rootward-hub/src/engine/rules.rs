//! What was decided before the first message: whose roots count, what is closed, what happens to what is refused.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use rootward_core::session::{Policy, Sources};
use rootward_core::{Audit, Guard, GuardOptions, RootSet, Validation};
use rootward_protocol::{PlacedLimits, RefusalForm, message};

use crate::check::{Verdict, Walls, check_within};
use crate::config::PathPairs;
use crate::scan::{Call, Expansion, Held, ScanError, Tool, Treatment};

/// The rules of one wrapped server.
pub struct Rules {
    /// Who is listened to, and for how long.
    pub policy: Policy,
    /// The roots of the operator, the user's saved choice, the fallback.
    pub sources: Sources,
    /// What guards are made with; the generation is filled in.
    pub guard: GuardOptions,
    /// Which places a client may name.
    pub validation: Validation,
    /// What variables and `~` mean to the server.
    pub expansion: Expansion,
    /// What holds the server besides the check of its calls: [`Launch::held`](crate::wrap::Launch::held).
    pub held: Held,
    /// How a person names a root here, for a refusal where nobody did: ``name one with `--root DIR` ``.
    pub way: Option<&'static str>,
    /// How a refused tool call is answered.
    pub refusals: RefusalForm,
    /// What happens to a call whose path is refused.
    pub enforce: Enforce,
    /// What the user says about arguments of tools.
    pub treatments: Treatments,
    /// Where the user says so.
    pub treated_by: TreatedBy,
    /// What the server calls directories of this machine, if it has other names for them.
    pub paths: PathPairs,
    /// Whether it is told its roots when it asks.
    pub tells: Tells,
    /// Who keeps the record. Where it cannot be kept, calls with paths are refused.
    pub audit: Option<Arc<dyn Audit>>,
}

/// What happens to a call whose path is refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Enforce {
    /// It does not reach the server.
    #[default]
    Refuse,
    /// It goes on record as refused, and is passed on: to see what would be refused.
    Report,
}

/// Where the user says what an argument is, for hints.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TreatedBy {
    /// On the command line of `wrap`.
    #[default]
    Flag,
    /// In the configuration of the hub.
    Configuration,
}

/// Whether a server is told its roots when it asks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Tells {
    /// It is.
    #[default]
    Roots,
    /// It hears of none.
    Nothing,
}

impl Rules {
    /// Decides a call in a guard's roots, within what the host allows.
    pub(super) fn check(
        &self,
        guard: &Guard,
        limits: Option<&PlacedLimits>,
        call: &Call<'_>,
    ) -> Result<Verdict, ScanError> {
        let map = self.paths.map(guard);
        check_within(Walls { guard, limits, map: map.as_ref() }, &self.expansion, self.held, call)
    }

    /// The answer of a client to the server's `roots/list`, in a guard's roots.
    pub(super) fn roots_told(&self, guard: &Guard) -> String {
        let map = self.paths.map(guard);
        match (self.tells, map) {
            (Tells::Nothing, _) => message::roots(&RootSet::default()),
            (Tells::Roots, Some(map)) => message::roots_as(guard.root_set(), |root| map.uri_to_child(root)),
            (Tells::Roots, None) => message::roots(guard.root_set()),
        }
    }
}

/// What the user says about arguments, by `TOOL.ARGUMENT`, or `*.ARGUMENT` for every tool. Both names may have dots, and all ways to part
/// them are meant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Treatments(BTreeMap<String, Said>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Said {
    treatment: Treatment,
    about: About,
}

/// Which servers a user speaks of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum About {
    /// This one: an argument that it does not have is a mistake, and reported.
    ThisServer,
    /// Every server, as the settings file does: most of them lack the argument.
    EveryServer,
}

impl Treatments {
    /// Adds what the user says about `TOOL.ARGUMENT`, in place of what was said before about the same.
    pub fn add(&mut self, place: impl Into<String>, treatment: Treatment, about: About) {
        self.0.insert(place.into(), Said { treatment, about });
    }

    /// The tool with what the user says about it.
    pub(super) fn apply(&self, tool: Tool) -> Tool {
        // In this order, `*` comes before every name, and what is said about one tool counts more.
        let said: Vec<_> =
            self.0.iter().filter_map(|(place, said)| Some((argument(place, tool.name())?, said.treatment))).collect();
        said.into_iter().fold(tool, |tool, (key, treatment)| tool.with_treatment(key, treatment))
    }

    /// What is said about this server in particular.
    pub(super) fn about_this_server(&self) -> impl Iterator<Item = (&str, Treatment)> {
        let said = self.0.iter().filter(|(_, said)| said.about == About::ThisServer);
        said.map(|(place, said)| (place.as_str(), said.treatment))
    }
}

/// The argument that `TOOL.ARGUMENT` names, where it is one of this tool's. `*` is every tool.
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
    fn what_is_said_last_about_an_argument_counts() {
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
    fn what_is_in_a_text_is_text() {
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
