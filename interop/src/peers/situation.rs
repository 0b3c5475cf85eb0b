//! The situations that the clients in other languages go through, each with its expected outcome.

use serde_json::{Value, json};

use super::step::Answer::{Error, Never, Roots};
use super::step::Era;
use super::step::Outcome::{Gives, Refused, Unanswered};
use super::step::Step::{self, Announce, GiveUp, List, Read, ReadBesideList};

/// Whether a client declares the `roots` capability.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Capability {
    Declared,
    Undeclared,
}

/// How often the client must have been asked for its roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    Times {
        legacy: u64,
        modern: u64,
    },
    /// At least once. A failed request for roots is repeated, and how often depends on the clock. Invalid arguments may
    /// be refused before roots are requested.
    Some,
}

/// A conversation between a client and a server.
#[derive(Debug)]
pub(crate) struct Situation {
    pub(crate) name: &'static str,
    pub(super) capability: Capability,
    /// The directories on the command line of a file server. Other servers ignore them.
    pub(super) served: &'static [&'static str],
    pub(super) steps: &'static [Step],
    pub(super) asked: Asked,
}

/// The directories of the stage, each with a file that contains the directory's name. The second name needs escapes in a URI.
pub(crate) const DIRECTORIES: [&str; 3] = ["first", "second #2 ü%", "third"];

pub(super) const FIRST: &str = DIRECTORIES[0];
pub(super) const SECOND: &str = DIRECTORIES[1];
pub(super) const THIRD: &str = DIRECTORIES[2];

/// The situations, slowest first: those wait more than they work.
pub(crate) const SITUATIONS: [Situation; 11] = [
    Situation {
        name: "never answers",
        capability: Capability::Declared,
        served: &[],
        steps: &[
            Step::Answer(Never),
            ReadBesideList(FIRST, Unanswered(Never)),
            Step::Answer(Roots(&[FIRST])),
            Announce,
            Read(FIRST, Gives(FIRST)),
        ],
        asked: Asked::Some,
    },
    Situation {
        name: "gives up a call",
        capability: Capability::Declared,
        served: &[],
        steps: &[
            Step::Answer(Never),
            GiveUp(FIRST),
            Step::Answer(Roots(&[FIRST])),
            Announce,
            Read(FIRST, Gives(FIRST)),
        ],
        asked: Asked::Times { legacy: 2, modern: 2 },
    },
    Situation {
        name: "two roots",
        capability: Capability::Declared,
        served: &[],
        steps: &[
            Step::Answer(Roots(&[FIRST, SECOND])),
            List,
            Read(FIRST, Gives(FIRST)),
            Read(SECOND, Gives(SECOND)),
            Read(THIRD, Refused("outside_roots")),
        ],
        asked: Asked::Times { legacy: 1, modern: 3 },
    },
    Situation {
        name: "other roots",
        capability: Capability::Declared,
        served: &[],
        steps: &[
            Step::Answer(Roots(&[FIRST, SECOND])),
            List,
            Read(FIRST, Gives(FIRST)),
            Step::Answer(Roots(&[SECOND, THIRD])),
            Announce,
            Read(FIRST, Refused("outside_roots")),
            Read(SECOND, Gives(SECOND)),
            Read(THIRD, Gives(THIRD)),
        ],
        asked: Asked::Times { legacy: 2, modern: 4 },
    },
    Situation {
        name: "all removed",
        capability: Capability::Declared,
        served: &[],
        steps: &[
            Step::Answer(Roots(&[FIRST])),
            Read(FIRST, Gives(FIRST)),
            Step::Answer(Roots(&[])),
            Announce,
            Read(FIRST, Refused("no_roots")),
        ],
        asked: Asked::Times { legacy: 2, modern: 2 },
    },
    Situation {
        name: "none to begin with",
        capability: Capability::Declared,
        served: &[],
        steps: &[
            Step::Answer(Roots(&[])),
            Read(FIRST, Refused("no_roots")),
            Step::Answer(Roots(&[FIRST])),
            Announce,
            Read(FIRST, Gives(FIRST)),
        ],
        asked: Asked::Times { legacy: 2, modern: 2 },
    },
    Situation {
        name: "one missing root",
        capability: Capability::Declared,
        served: &[],
        steps: &[
            Step::Answer(Roots(&["missing", FIRST])),
            Read(FIRST, Gives(FIRST)),
            Read("missing", Refused("outside_roots")),
        ],
        asked: Asked::Times { legacy: 1, modern: 2 },
    },
    Situation {
        name: "answers that the method is unknown",
        capability: Capability::Declared,
        served: &[],
        steps: &[
            Step::Answer(Error(-32601)),
            Read(FIRST, Unanswered(Error(-32601))),
            Step::Answer(Roots(&[FIRST])),
            Announce,
            Read(FIRST, Gives(FIRST)),
        ],
        asked: Asked::Some,
    },
    Situation {
        name: "answers with an internal error",
        capability: Capability::Declared,
        served: &[],
        steps: &[Step::Answer(Error(-32603)), Read(FIRST, Unanswered(Error(-32603)))],
        asked: Asked::Some,
    },
    Situation {
        name: "fails after it had roots",
        capability: Capability::Declared,
        served: &[],
        steps: &[
            Step::Answer(Roots(&[FIRST])),
            Read(FIRST, Gives(FIRST)),
            Step::Answer(Error(-32603)),
            Announce,
            Read(FIRST, Unanswered(Error(-32603))),
        ],
        asked: Asked::Some,
    },
    Situation {
        name: "no roots capability",
        capability: Capability::Undeclared,
        served: &[],
        steps: &[Read(FIRST, Refused("no_roots"))],
        asked: Asked::Times { legacy: 0, modern: 0 },
    },
];

impl Situation {
    /// The script for a client. `stage` is the path of the stage.
    pub(crate) fn script(&self, era: Era, stage: &str) -> Value {
        let steps: Vec<Value> = self.steps.iter().filter_map(|step| step.script(era.agreed(), stage)).collect();
        json!({"era": era.name(), "declares": self.capability == Capability::Declared, "steps": steps})
    }

    /// The lines that the client must print, except the last one.
    pub(crate) fn expected(&self, era: Era) -> Vec<Value> {
        let version = match era {
            Era::Legacy | Era::FallsBack => "2025-11-25",
            Era::Modern => "2026-07-28",
        };
        let lines = self.steps.iter().flat_map(|step| step.lines(era.agreed()));
        [json!({"version": version})].into_iter().chain(lines).collect()
    }

    /// Whether the client must be asked for its roots at all.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked != Asked::Times { legacy: 0, modern: 0 }
    }

    /// Whether `count` requests for roots are the expected number.
    pub(crate) fn was_asked_as_expected(&self, era: Era, count: u64) -> bool {
        match (self.asked, era) {
            (Asked::Times { legacy, .. }, Era::Legacy | Era::FallsBack) => count == legacy,
            (Asked::Times { modern, .. }, Era::Modern) => count == modern,
            (Asked::Some, _) => count > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::OF_SERVE;
    use super::*;

    #[test]
    fn a_situation_has_a_script_and_expected_lines() {
        let removed = SITUATIONS.iter().find(|situation| situation.name == "all removed").unwrap();
        let steps = json!([
            {"answer": {"roots": ["/stage/first"]}},
            {"read": "/stage/first/file"},
            {"answer": {"roots": []}},
            {"announce": true},
            {"read": "/stage/first/file"},
        ]);
        assert_eq!(removed.script(Era::Legacy, "/stage")["steps"], steps);
        assert_eq!(removed.script(Era::Modern, "/stage")["steps"].as_array().map(Vec::len), Some(4));
        let lines = [json!({"version": "2026-07-28"}), json!({"text": "first"}), json!({"code": "no_roots"})];
        assert_eq!(removed.expected(Era::Modern), lines);
        assert!(removed.was_asked_as_expected(Era::Legacy, 2) && !removed.was_asked_as_expected(Era::Legacy, 1));
    }

    #[test]
    fn names_are_unique() {
        let all: Vec<&Situation> = SITUATIONS.iter().chain(&OF_SERVE).collect();
        for (position, situation) in all.iter().enumerate() {
            assert!(all[..position].iter().all(|other| other.name != situation.name), "{}", situation.name);
        }
    }
}
