//! The questions in a modern server's answer, parsed so that no client can read them differently.

use serde_json::value::RawValue;

use crate::fold::is_same_but_for_case;
use crate::frame::Members;
use crate::{keys, method};

/// The keys that make an answer ask questions.
const ASKING: [&str; 3] = [keys::RESULT_TYPE, keys::INPUT_REQUESTS, keys::REQUEST_STATE];

/// The key for the kind of a question.
const METHOD: [&str; 1] = ["method"];

/// An answer and its questions.
#[derive(Debug)]
pub struct Input<'j> {
    /// The members of the result; `None` if it is not an object.
    pub result: Option<Members<'j>>,
    /// The questions; most answers have none.
    pub questions: Vec<InputQuestion<'j>>,
}

/// One question.
#[derive(Debug)]
pub struct InputQuestion<'j> {
    /// Its name among the questions.
    pub key: String,
    /// The question itself.
    pub value: &'j RawValue,
    /// Whether Rootward answers it.
    pub asks_for_roots: bool,
}

/// The answer is ambiguous or cannot be parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unclear;

/// Parses the questions in the result of a call.
pub fn read_input(result: &RawValue) -> Result<Input<'_>, Unclear> {
    if !result.get().starts_with('{') {
        return Ok(Input { result: None, questions: Vec::new() });
    }
    // SECURITY: with a duplicate key, or one in another case, the client may read a question that was not found here,
    // and would tell the server its roots (test: an_ambiguous_request_for_roots_reaches_no_client)
    let members = read(result, &ASKING)?;
    let mut questions = Vec::new();
    if let Some(asked) = members.get(keys::INPUT_REQUESTS).filter(|asked| asked.get() != "null") {
        for (key, value) in Members::read(asked).ok_or(Unclear)?.iter() {
            let asks = read(value, &METHOD)?.text("method").ok_or(Unclear)?;
            questions.push(InputQuestion { key: key.to_owned(), value, asks_for_roots: asks == method::LIST_ROOTS });
        }
    }
    Ok(Input { result: Some(members), questions })
}

/// The members of an object in which none of these keys appears in another case.
fn read<'j>(object: &'j RawValue, keys: &[&str]) -> Result<Members<'j>, Unclear> {
    let members = Members::read(object).ok_or(Unclear)?;
    let is_like =
        |key: &str| keys.iter().any(|known| key != *known && is_same_but_for_case(key, &known.to_ascii_lowercase()));
    if members.iter().any(|(key, _)| is_like(key)) { Err(Unclear) } else { Ok(members) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(result: &str, expect: Result<&[(&str, bool)], Unclear>) {
        let raw: &RawValue = serde_json::from_str(result).unwrap();
        let read = read_input(raw).map(|input| {
            let questions = input.questions.into_iter();
            questions.map(|question| (question.key, question.asks_for_roots)).collect::<Vec<_>>()
        });
        let expect = expect.map(|list| list.iter().map(|(key, roots)| ((*key).to_owned(), *roots)).collect::<Vec<_>>());
        assert_eq!(read, expect, "{result}");
    }

    #[test]
    fn what_an_answer_asks() {
        check("7", Ok(&[]));
        check("[1]", Ok(&[]));
        check(r#"{"content":[],"inputRequests":null}"#, Ok(&[]));
        check(r#"{"content":[{"a":1,"a":2}],"method":"roots/list"}"#, Ok(&[]));
        let asked =
            r#"{"resultType":"input_required","inputRequests":{"r":{"method":"roots\/list"},"w":{"method":"x"}}}"#;
        check(asked, Ok(&[("r", true), ("w", false)]));
        check(
            r#"{"resultType":"input\u005frequired","inputRequests":{"r":{"method":"roots/list"}}}"#,
            Ok(&[("r", true)]),
        );
        check(r#"{"inputRequests":{"r":{"method":"roots/list"}}}"#, Ok(&[("r", true)]));
    }

    #[test]
    fn what_is_unclear() {
        for result in [
            r#"{"inputRequests":{"r":{"method":"roots/list","method":"x"}}}"#,
            r#"{"inputRequests":{"r":{"method":"x","m\u0065thod":"roots/list"}}}"#,
            r#"{"inputRequests":{"r":{"method":"x","Method":"roots/list"}}}"#,
            r#"{"inputRequests":{"r":{"method":"x"},"r":{"method":"roots/list"}}}"#,
            r#"{"inputRequests":{},"inputRequests":{"r":{"method":"roots/list"}}}"#,
            r#"{"InputRequests":{"r":{"method":"roots/list"}}}"#,
            r#"{"resultType":"complete","resultType":"input_required"}"#,
            r#"{"inputRequests":[{"method":"roots/list"}]}"#,
            r#"{"inputRequests":{"r":["roots/list"]}}"#,
            r#"{"inputRequests":{"r":{"method":["roots/list"]}}}"#,
            r#"{"inputRequests":{"r":{}}}"#,
        ] {
            check(result, Err(Unclear));
        }
    }
}
