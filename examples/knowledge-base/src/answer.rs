//! The results of tools: text for people and models, and the same as data.

use std::fmt::Write;

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use crate::prolog::{Outcome, PrologError};

/// The maximum length of a result's text, in bytes.
const MOST: usize = 256 << 10;

/// The result of a successful call.
pub(crate) fn success(text: String, data: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(cut(text))]);
    result.structured_content = Some(data);
    result
}

/// The result of a failed call.
pub(crate) fn failure(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(cut(text.into()))])
}

/// The result of a call that Prolog could not answer.
impl From<PrologError> for CallToolResult {
    fn from(error: PrologError) -> CallToolResult {
        failure(error.to_string())
    }
}

/// The answers to a query.
pub(crate) fn query(outcome: &Outcome) -> CallToolResult {
    let more = outcome.last.first().is_some_and(|status| status == "more");
    let (mut text, mut answers) = (String::new(), Vec::new());
    let mut shown = 0;
    for (_, fields) in outcome.parts.iter().filter(|(kind, _)| kind == "answer") {
        let (line, data) = one(fields);
        if shown + line.len() > MOST {
            break;
        }
        shown += line.len();
        text.push_str(&line);
        text.push('\n');
        answers.push(data);
    }
    let found = outcome.parts.iter().filter(|(kind, _)| kind == "answer").count();
    let more = more || answers.len() < found;
    if found == 0 {
        text.push_str("false\n");
    } else if more {
        text.push_str("There are more answers: raise `limit`, or narrow the query.\n");
    }
    // Writing to a string cannot fail.
    let _ = write!(text, "{}", printed(&outcome.printed));
    success(text, json!({"answers": answers, "more": more, "output": outcome.printed}))
}

/// One answer, as Prolog shows it and as data.
fn one(fields: &[String]) -> (String, Value) {
    let (mut parts, mut bindings, mut constraints) = (Vec::new(), Map::new(), Vec::new());
    for pair in fields.chunks_exact(2) {
        if pair[0].is_empty() {
            parts.push(pair[1].clone());
            constraints.push(pair[1].clone());
        } else {
            parts.push(format!("{} = {}", pair[0], pair[1]));
            bindings.insert(pair[0].clone(), pair[1].clone().into());
        }
    }
    let line = if parts.is_empty() { "true".to_owned() } else { parts.join(", ") };
    let data = if constraints.is_empty() {
        json!({"bindings": bindings})
    } else {
        json!({"bindings": bindings, "constraints": constraints})
    };
    (line, data)
}

/// The printed output, if there is any.
pub(crate) fn printed(printed: &str) -> String {
    let printed = printed.trim_end();
    if printed.trim().is_empty() { String::new() } else { format!("[printed]\n{printed}\n") }
}

fn cut(mut text: String) -> String {
    let trimmed = text.trim_end().len();
    text.truncate(trimmed);
    if text.len() > MOST {
        let end = (0..=MOST).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push_str("\n[truncated]");
    }
    text
}
