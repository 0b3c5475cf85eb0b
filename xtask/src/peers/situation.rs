//! What the clients of other languages are put through: each situation once, for all of them, with what must come of it.

use serde_json::{Value, json};

/// The two ways in which roots reach a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Era {
    /// The server asks, and the client says when something changed.
    Legacy,
    /// The server answers with the question, and the client sends the call again. It is asked in every call.
    Modern,
    /// The client looks for the modern era first, and finds a server of the legacy one.
    FallsBack,
}

impl Era {
    /// The era that client and server end up in.
    fn spoken(self) -> Era {
        match self {
            Era::Legacy | Era::FallsBack => Era::Legacy,
            Era::Modern => Era::Modern,
        }
    }

    /// Its name, for people and for scripts.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
            Era::FallsBack => "modern, then legacy",
        }
    }
}

/// What a client says when it is asked for its roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// These directories of the stage.
    Roots(&'static [&'static str]),
    /// A JSON-RPC error.
    Error(i64),
    /// Nothing, ever.
    Never,
}

/// What must come of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// The text of the file.
    Gives(&'static str),
    /// A refusal with this code.
    Refused(&'static str),
    /// No roots, because of this answer. In the modern era the client's own call fails with it, and the server hears nothing.
    Unanswered(Answer),
}

/// What a client does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Lists the tools: an SDK then knows what their results must look like.
    List,
    /// Answers like this from now on.
    Answer(Answer),
    /// Says that its roots changed; modern clients cannot.
    Announce,
    /// Reads a file of the stage.
    Read(&'static str, Outcome),
    /// The same, but stops the call while it is being asked for its roots.
    GiveUp(&'static str),
    /// The same, and while it waits for that, lists the tools.
    ReadBesideList(&'static str, Outcome),
}

/// Whether a client says that it has roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Capability {
    Declared,
    Undeclared,
}

/// How often a client must have been asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    Times {
        legacy: u64,
        modern: u64,
    },
    /// Where a question fails it is asked again, when depends on the clock.
    Some,
}

/// One thing that happens between a client and a server.
#[derive(Debug)]
pub(crate) struct Situation {
    pub(crate) name: &'static str,
    capability: Capability,
    steps: &'static [Step],
    asked: Asked,
}

/// The directories that the stage has, each with a file that holds its name. The second has a name that needs care in a URI.
pub(crate) const DIRECTORIES: [&str; 3] = ["first", "second #2 ü%", "third"];

use Answer::{Error, Never, Roots};
use Outcome::{Gives, Refused, Unanswered};
use Step::{Announce, GiveUp, List, Read, ReadBesideList};

const FIRST: &str = DIRECTORIES[0];
const SECOND: &str = DIRECTORIES[1];
const THIRD: &str = DIRECTORIES[2];

/// The longest first: they wait more than they work.
pub(crate) const SITUATIONS: [Situation; 11] = [
    Situation {
        name: "never answers",
        capability: Capability::Declared,
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
        name: "one that is missing",
        capability: Capability::Declared,
        steps: &[
            Step::Answer(Roots(&["missing", FIRST])),
            Read(FIRST, Gives(FIRST)),
            Read("missing", Refused("outside_roots")),
        ],
        asked: Asked::Times { legacy: 1, modern: 2 },
    },
    Situation {
        name: "answers that it knows no such method",
        capability: Capability::Declared,
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
        name: "answers that it failed",
        capability: Capability::Declared,
        steps: &[Step::Answer(Error(-32603)), Read(FIRST, Unanswered(Error(-32603)))],
        asked: Asked::Some,
    },
    Situation {
        name: "fails after it had roots",
        capability: Capability::Declared,
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
        name: "knows no roots",
        capability: Capability::Undeclared,
        steps: &[Read(FIRST, Refused("no_roots"))],
        asked: Asked::Times { legacy: 0, modern: 0 },
    },
];

impl Situation {
    /// The script for a client, on a stage that lies at `stage`.
    pub(crate) fn script(&self, era: Era, stage: &str) -> Value {
        let steps: Vec<Value> = self.steps.iter().filter_map(|step| step.script(era.spoken(), stage)).collect();
        json!({"era": era.name(), "declares": self.capability == Capability::Declared, "steps": steps})
    }

    /// The lines that the client must print, but for the last.
    pub(crate) fn expected(&self, era: Era) -> Vec<Value> {
        let version = match era {
            Era::Legacy | Era::FallsBack => "2025-11-25",
            Era::Modern => "2026-07-28",
        };
        let mut lines = vec![json!({"version": version})];
        for step in self.steps {
            match step {
                Step::Answer(_) | Announce => {}
                List => lines.push(json!({"listed": true})),
                Read(_, outcome) => lines.push(outcome.line(era.spoken())),
                GiveUp(_) => lines.push(json!({"gave_up": true})),
                ReadBesideList(_, outcome) => {
                    lines.push(json!({"listed": true, "waiting": true}));
                    lines.push(outcome.line(era.spoken()));
                }
            }
        }
        lines
    }

    /// Whether `count` questions are as many as there must be.
    pub(crate) fn was_asked_well(&self, era: Era, count: u64) -> bool {
        match (self.asked, era) {
            (Asked::Times { legacy, .. }, Era::Legacy | Era::FallsBack) => count == legacy,
            (Asked::Times { modern, .. }, Era::Modern) => count == modern,
            (Asked::Some, _) => count > 0,
        }
    }
}

impl Step {
    fn script(self, era: Era, stage: &str) -> Option<Value> {
        let file = |directory: &str| format!("{stage}/{directory}/file");
        match (self, era) {
            (Step::Answer(Roots(roots)), _) => {
                let roots: Vec<String> = roots.iter().map(|root| format!("{stage}/{root}")).collect();
                Some(json!({"answer": {"roots": roots}}))
            }
            (Step::Answer(Error(code)), _) => Some(json!({"answer": {"error": code}})),
            (Step::Answer(Never), _) => Some(json!({"answer": "never"})),
            (List, _) => Some(json!({"list": true})),
            (Announce, Era::Modern) => None,
            (Announce, Era::Legacy | Era::FallsBack) => Some(json!({"announce": true})),
            (Read(directory, _), _) => Some(json!({"read": file(directory)})),
            (GiveUp(directory), _) => Some(json!({"give_up": file(directory)})),
            (ReadBesideList(directory, _), _) => Some(json!({"read_beside_list": file(directory)})),
        }
    }
}

impl Outcome {
    fn line(self, era: Era) -> Value {
        match (self, era) {
            (Gives(text), _) => json!({"text": text}),
            (Refused(code), _) => json!({"code": code}),
            (Unanswered(_), Era::Legacy | Era::FallsBack) => json!({"code": "roots_failed"}),
            (Unanswered(Error(code)), Era::Modern) => json!({"error": code}),
            (Unanswered(Never | Roots(_)), Era::Modern) => json!({"gave_up": true}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_situation_says_what_to_do_and_what_must_come_of_it() {
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
        assert!(removed.was_asked_well(Era::Legacy, 2) && !removed.was_asked_well(Era::Legacy, 1));
    }

    #[test]
    fn names_are_told_apart() {
        for (position, situation) in SITUATIONS.iter().enumerate() {
            assert!(SITUATIONS[..position].iter().all(|other| other.name != situation.name), "{}", situation.name);
        }
    }
}
