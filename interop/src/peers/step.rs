//! The steps of a client in another language: its script, and the lines that it must print.

use serde_json::{Value, json};

use Answer::{Error, Never, Roots};
use Outcome::{Errs, Fails, Gives, Prints, Refused, RefusedWith, Says, Shows, Unanswered};
use Step::{Announce, Call, CallDuring, Describe, GiveUp, Hear, List, Read, ReadBesideList, TakeBack};

/// A placeholder for the path of the stage, in calls and in expected lines.
pub(super) const STAGE: &str = "STAGE";

/// Matches any text, at the start or the end of an expected string.
const ANYTHING: char = '…';

/// How a client's roots reach the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Era {
    /// The server asks for the roots, and the client announces changes.
    Legacy,
    /// The server answers each call with a request for the roots, and the client sends the call again with them.
    Modern,
    /// The client tries the modern era first, but the server is legacy.
    FallsBack,
}

impl Era {
    /// The era that the client and the server agree on.
    pub(super) fn agreed(self) -> Era {
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

/// How a client answers a request for its roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// These directories of the stage.
    Roots(&'static [&'static str]),
    /// A JSON-RPC error.
    Error(i64),
    /// The client never answers.
    Never,
}

/// The expected outcome of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// The contents of the file.
    Gives(&'static str),
    /// A refusal with this code.
    Refused(&'static str),
    /// No roots, because the client gave this answer. In the modern era, the call fails in the client and never reaches the server again.
    Unanswered(Answer),
    /// This text, also as structured data.
    Says(&'static str),
    /// This content block, as JSON, also as structured data.
    Shows(&'static str),
    /// This output of a command, also as structured data.
    Prints(&'static str),
    /// A failure with this message for the model, without a code.
    Fails(&'static str),
    /// A refusal with this code and this message.
    RefusedWith(&'static str, &'static str),
    /// A JSON-RPC error.
    Errs(i64),
}

/// A tool, and its arguments as JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ToolCall(pub(super) &'static str, pub(super) &'static str);

/// One step of a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Lists the tools. From then on the SDK can validate their results.
    List,
    /// Answers requests for its roots like this from now on.
    Answer(Answer),
    /// Announces that its roots changed. Modern clients cannot.
    Announce,
    /// Reads a file of the stage.
    Read(&'static str, Outcome),
    /// Reads a file of the stage, but cancels the call when it is asked for its roots.
    GiveUp(&'static str),
    /// Reads a file of the stage, and lists the tools while it waits.
    ReadBesideList(&'static str, Outcome),
    /// Lists the tools, compiles all their schemas, and prints the description of `list_allowed_directories`, which differs by era.
    Describe { legacy: &'static str, modern: &'static str },
    /// Calls a tool.
    Call(ToolCall, Outcome),
    /// Calls a tool, and calls another one at the first progress notification.
    CallDuring(ToolCall, Outcome, ToolCall, Outcome),
    /// Calls a tool, and cancels the call at the first progress notification.
    TakeBack(ToolCall),
    /// Waits for `notifications/tools/list_changed`. A modern client gets it only if it subscribes, so it skips this step.
    Hear,
}

impl Step {
    /// The step in a client's script, or `None` if it does not exist in this era. `stage` is the path of the stage.
    pub(super) fn script(self, era: Era, stage: &str) -> Option<Value> {
        let file = |directory: &str| format!("{stage}/{directory}/file");
        match (self, era) {
            (Step::Answer(Roots(roots)), _) => {
                let roots: Vec<String> = roots.iter().map(|root| format!("{stage}/{root}")).collect();
                Some(json!({"answer": {"roots": roots}}))
            }
            (Step::Answer(Error(code)), _) => Some(json!({"answer": {"error": code}})),
            (Step::Answer(Never), _) => Some(json!({"answer": "never"})),
            (List, _) => Some(json!({"list": true})),
            (Announce | Hear, Era::Modern) => None,
            (Announce, Era::Legacy | Era::FallsBack) => Some(json!({"announce": true})),
            (Read(directory, _), _) => Some(json!({"read": file(directory)})),
            (GiveUp(directory), _) => Some(json!({"give_up": file(directory)})),
            (ReadBesideList(directory, _), _) => Some(json!({"read_beside_list": file(directory)})),
            (Describe { .. }, _) => Some(json!({"describe": "list_allowed_directories"})),
            (Call(call, _), _) => Some(json!({"call": call.script(stage)})),
            (CallDuring(call, _, other, _), _) => {
                Some(json!({"call": call.script(stage), "meanwhile": other.script(stage)}))
            }
            (TakeBack(call), _) => Some(json!({"take_back": call.script(stage)})),
            (Hear, Era::Legacy | Era::FallsBack) => Some(json!({"hear": true})),
        }
    }

    /// The lines that a client must print for this step.
    pub(super) fn lines(self, era: Era) -> Vec<Value> {
        match (self, era) {
            (Step::Answer(_) | Announce, _) | (Hear, Era::Modern) => vec![],
            (List, _) => vec![json!({"listed": true})],
            (Read(_, outcome) | Call(_, outcome), _) => vec![outcome.line(era)],
            (GiveUp(_) | TakeBack(_), _) => vec![json!({"gave_up": true})],
            (ReadBesideList(_, outcome), _) => vec![json!({"listed": true, "waiting": true}), outcome.line(era)],
            (Describe { legacy: description, .. }, Era::Legacy | Era::FallsBack)
            | (Describe { modern: description, .. }, Era::Modern) => vec![json!({"description": description})],
            (CallDuring(_, outcome, _, other), _) => vec![other.line(era), outcome.line(era)],
            (Hear, Era::Legacy | Era::FallsBack) => vec![json!({"heard": true})],
        }
    }
}

impl ToolCall {
    fn script(self, stage: &str) -> Value {
        let ToolCall(name, arguments) = self;
        json!({"name": name, "arguments": written(&arguments.replace(STAGE, stage))})
    }
}

/// Parses JSON from a table. Invalid JSON becomes null, and the case fails.
fn written(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

impl Outcome {
    fn line(self, era: Era) -> Value {
        match (self, era) {
            (Gives(text), _) => json!({"text": text}),
            (Refused(code), _) => json!({"code": code}),
            (Unanswered(_), Era::Legacy | Era::FallsBack) => json!({"code": "roots_failed"}),
            (Unanswered(Error(code)), Era::Modern) | (Errs(code), _) => json!({"error": code}),
            (Unanswered(Never | Roots(_)), Era::Modern) => json!({"gave_up": true}),
            (Says(text), _) => json!({"shown": [{"type": "text", "text": text}], "data": {"content": text}}),
            (Shows(block), _) => json!({"shown": [written(block)], "data": {"content": [written(block)]}}),
            (Prints(text), _) => json!({
                "shown": [{"type": "text", "text": text}],
                "data": {
                    "exitCode": 0,
                    "stdout": text,
                    "stderr": "",
                    "timedOut": false,
                    "stdoutMissing": 0,
                    "stderrMissing": 0,
                },
            }),
            (Fails(sentence), _) => json!({"failed": sentence, "code": null}),
            (RefusedWith(code, sentence), _) => json!({"failed": sentence, "code": code}),
        }
    }
}

/// Whether a line is as expected. Strings in `expected` may begin or end with [`ANYTHING`].
pub(super) fn fits(seen: &Value, expected: &Value) -> bool {
    match (seen, expected) {
        (Value::String(seen), Value::String(expected)) => {
            let part = expected.trim_matches(ANYTHING);
            match (expected.starts_with(ANYTHING), expected.ends_with(ANYTHING)) {
                (true, true) => seen.contains(part),
                (true, false) => seen.ends_with(part),
                (false, true) => seen.starts_with(part),
                (false, false) => seen == expected,
            }
        }
        (Value::Array(seen), Value::Array(expected)) => {
            seen.len() == expected.len() && seen.iter().zip(expected).all(|(seen, expected)| fits(seen, expected))
        }
        (Value::Object(seen), Value::Object(expected)) => {
            let same = |(name, expected)| seen.get(name).is_some_and(|seen| fits(seen, expected));
            seen.len() == expected.len() && expected.iter().all(same)
        }
        _ => seen == expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_fits_only_if_every_part_does() {
        let check = |seen: Value, expected: Value, expect: bool| {
            assert_eq!(fits(&seen, &expected), expect, "{seen} {expected}");
        };
        let line = || json!({"list": ["a sentence", 1]});
        check(line(), line(), true);
        check(line(), json!({"list": ["a sen…", 1]}), true);
        check(line(), json!({"list": ["…tence", 1]}), true);
        check(line(), json!({"list": ["…sent…", 1]}), true);
        check(line(), json!({"list": ["a sen", 1]}), false);
        check(line(), json!({"list": ["sen…", 1]}), false);
        check(line(), json!({"list": ["…sen", 1]}), false);
        check(line(), json!({"list": ["…word…", 1]}), false);
        check(line(), json!({"list": ["a sentence", 2]}), false);
        check(line(), json!({"list": ["a sentence"]}), false);
        check(line(), json!({"list": ["a sentence", 1], "more": 1}), false);
        check(json!({"list": 1, "more": 1}), json!({"list": 1}), false);
        check(json!(1), json!("…"), false);
    }

    #[test]
    fn a_call_names_the_stage() {
        let call = Call(ToolCall("read", r#"{"path": "STAGE/first"}"#), Says("…STAGE…"));
        let script = json!({"call": {"name": "read", "arguments": {"path": "/tmp/first"}}});
        assert_eq!(call.script(Era::Modern, "/tmp"), Some(script));
        let line = json!({"shown": [{"type": "text", "text": "…STAGE…"}], "data": {"content": "…STAGE…"}});
        assert_eq!(call.lines(Era::Modern), [line]);
    }

    #[test]
    fn a_modern_client_skips_hear() {
        assert_eq!((Hear.script(Era::Modern, ""), Hear.lines(Era::Modern)), (None, vec![]));
        assert_eq!(Hear.lines(Era::Legacy).len(), 1);
    }
}
