//! The rounds of a modern call: a call that needs roots is answered with a question, and the client sends it again with
//! the answer.
//!
//! Data between rounds travels in `requestState`. The server either seals it or stores it and sends the client a
//! reference; this module defines its contents and which call it belongs to.

use rootward_core::session::Support;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::era;
use crate::frame::{Members, object};
use crate::implementation::read_peer_name;
use crate::pages::{Pages, Turned};
use crate::{keys, method};

/// The message for a state that belongs to another call or was not made here.
pub const NOT_OF_THIS_REQUEST: &str = "`requestState` does not belong to this request";

/// The value of `resultType` in an answer that asks questions.
const ASKS: &str = r#""input_required""#;

/// What a client has said about its roots during a call.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Said {
    /// It was not asked.
    #[default]
    Nothing,
    /// It was asked: the pages so far.
    Asked(Pages),
    /// The complete result of `roots/list`, as sent.
    List(Value),
    /// It answered with something that is not a list, or repeated the call without an answer.
    Failed(String),
}

/// Whether a client declares that it sends its list in pages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Paging {
    /// It does.
    Declared,
    /// It cannot be asked for more than one page.
    NotDeclared,
}

impl Said {
    /// What is known after the client repeated the call with this answer.
    #[must_use]
    pub fn heard(self, answer: Option<Value>, paging: Paging) -> Said {
        let Said::Asked(mut pages) = self else { return self };
        let Some(page) = answer else { return Said::Failed("the call was repeated without them".to_owned()) };
        match pages.add(page) {
            Ok(Turned::Whole(list)) => Said::List(list),
            Ok(Turned::Next) if paging == Paging::Declared => Said::Asked(pages),
            Ok(Turned::Next) => {
                Said::Failed("the list has more pages, and the client did not declare paging".to_owned())
            }
            Err(error) => Said::Failed(error.to_string()),
        }
    }

    /// Whether to ask for another page. One page is not the list: the next one may close a part of what this one opens.
    pub fn goes_on(&self) -> bool {
        matches!(self, Said::Asked(pages) if pages.cursor().is_some())
    }

    /// The approximate size in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Said::Nothing => 0,
            Said::Asked(pages) => pages.bytes(),
            Said::List(list) => list.to_string().len(),
            Said::Failed(reason) => reason.len(),
        }
    }
}

/// Identifies a call across its rounds; a state belongs to one call.
pub fn call_identity(method: &str, mut params: Value) -> Value {
    if let Some(params) = params.as_object_mut() {
        // Progress tokens and the like differ between rounds.
        for key in [keys::META, keys::REQUEST_STATE, keys::INPUT_RESPONSES] {
            params.remove(key);
        }
    }
    // The order of members does not matter, but `serde_json` may preserve it.
    params.sort_all_objects();
    json!([method, params])
}

/// A modern request, with its client's description parsed.
#[derive(Debug)]
pub struct ModernRequest<'m> {
    params: Members<'m>,
    meta: Members<'m>,
    capabilities: Option<Members<'m>>,
}

impl<'m> ModernRequest<'m> {
    /// Parses the params of a request. `None` for a legacy request, which has no revision.
    pub fn read(params: &'m RawValue) -> Option<ModernRequest<'m>> {
        let params = Members::read(params)?;
        let meta = params.object(keys::META).filter(|meta| meta.get(keys::VERSION).is_some())?;
        let capabilities = meta.object(keys::CAPABILITIES);
        Some(ModernRequest { params, meta, capabilities })
    }

    /// The client's description of itself as JSON, for Rootward's own requests.
    pub fn meta(&self) -> Option<&'m RawValue> {
        self.params.get(keys::META)
    }

    /// Identifies everything that a server's description of itself depends on.
    pub fn fingerprint(&self) -> String {
        let text = |key: &str| self.meta.get(key).map(RawValue::get).unwrap_or_default();
        format!("modern {} {}", text(keys::VERSION), text(keys::CAPABILITIES))
    }

    /// The client's name for itself, ready to display.
    pub fn client(&self) -> Option<String> {
        self.meta.object(keys::CLIENT_INFO).as_ref().and_then(read_peer_name)
    }

    /// The revision of the request; `None` if it is not a string.
    pub fn revision(&self) -> Option<String> {
        self.meta.text(keys::VERSION)
    }

    /// A member of `_meta`, as JSON.
    pub fn meta_member(&self, key: &str) -> Option<&'m RawValue> {
        self.meta.get(key)
    }

    /// The client's capabilities; `None` if it does not declare any.
    pub fn capabilities(&self) -> Option<&Members<'m>> {
        self.capabilities.as_ref()
    }

    /// The members of the params, and of their `_meta`.
    pub(crate) fn members(&self) -> (&Members<'m>, &Members<'m>) {
        (&self.params, &self.meta)
    }

    /// What it declares about roots. A request is too short to announce changes.
    pub fn support(&self) -> Support {
        match self.capabilities.as_ref().map(era::support) {
            None | Some(Support::No) => Support::No,
            Some(Support::Listed | Support::Announced) => Support::Listed,
        }
    }

    /// Whether the client sends its list in pages.
    pub fn paging(&self) -> Paging {
        if self.capabilities.as_ref().is_some_and(era::pages) { Paging::Declared } else { Paging::NotDeclared }
    }

    /// The state that it carries.
    pub fn state(&self) -> Option<&'m RawValue> {
        self.params.get(keys::REQUEST_STATE)
    }

    /// Its answers to questions, by key.
    pub fn responses(&self) -> Vec<(String, &'m RawValue)> {
        let responses = self.params.object(keys::INPUT_RESPONSES);
        responses.iter().flat_map(Members::iter).map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// The params for a server behind Rootward, without the round: Rootward is the server's client, and has roots.
    pub fn params_for_server(&self) -> Option<String> {
        let text = object(self.params.iter().filter(is_no_round).map(raw));
        let declares = |capabilities: &Members<'_>| capabilities.get("roots").is_some();
        let capabilities = match &self.capabilities {
            Some(capabilities) if declares(capabilities) => return Some(text),
            Some(capabilities) => capabilities.with("roots", "{}"),
            None => r#"{"roots":{}}"#.to_owned(),
        };
        let meta = self.meta.with(keys::CAPABILITIES, &capabilities);
        let text = RawValue::from_string(text).ok()?;
        Members::read(&text).map(|params| params.with(keys::META, &meta))
    }
}

/// Params with these answers and this state, replacing existing ones.
pub fn with_round(params: &RawValue, responses: &[(&str, &str)], state: Option<&str>) -> String {
    let Some(members) = Members::read(params) else { return params.get().to_owned() };
    let responses = (!responses.is_empty()).then(|| object(responses.iter().copied()));
    let carried = [(keys::INPUT_RESPONSES, responses.as_deref()), (keys::REQUEST_STATE, state)];
    let carried = carried.into_iter().filter_map(|(key, value)| Some((key, value?)));
    object(members.iter().filter(is_no_round).map(raw).chain(carried).collect::<Vec<_>>())
}

/// The result that asks for roots, or for the page that begins at `cursor`; `state` is JSON.
pub fn ask_for_roots(state: &str, cursor: Option<&str>) -> String {
    let question = match cursor {
        None => json!({"method": method::LIST_ROOTS}),
        Some(cursor) => json!({"method": method::LIST_ROOTS, "params": {keys::META: {keys::CURSOR: cursor}}}),
    };
    ask(&[(keys::ROOTS_QUESTION, question.to_string().as_str())], state)
}

/// The result that asks these questions; questions and `state` are JSON.
pub fn ask(questions: &[(&str, &str)], state: &str) -> String {
    let questions = object(questions.iter().copied());
    object([(keys::RESULT_TYPE, ASKS), (keys::INPUT_REQUESTS, questions.as_str()), (keys::REQUEST_STATE, state)])
}

pub(crate) fn is_no_round((key, _): &(&str, &RawValue)) -> bool {
    ![keys::REQUEST_STATE, keys::INPUT_RESPONSES].contains(key)
}

fn raw<'m>((key, value): (&'m str, &'m RawValue)) -> (&'m str, &'m str) {
    (key, value.get())
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn an_answer_counts_where_the_client_was_asked() {
        let list = json!({"roots": []});
        let page = json!({"roots": [], "nextCursor": "b"});
        let asked = || Said::Asked(Pages::default());
        let heard = |said: Said, answer: Option<&Value>| said.heard(answer.cloned(), Paging::Declared);
        assert_eq!(heard(asked(), Some(&list)), Said::List(list.clone()));
        // SECURITY: roots that were not asked for are ignored (test: an_answer_counts_where_the_client_was_asked)
        assert_eq!(heard(Said::Nothing, Some(&list)), Said::Nothing);
        assert_eq!(heard(Said::List(page.clone()), Some(&list)), Said::List(page.clone()));
        assert!(matches!(heard(asked(), None), Said::Failed(_)));
        assert!(matches!(heard(asked(), Some(&json!({"roots": [], "nextCursor": 7}))), Said::Failed(_)));
        let more = heard(asked(), Some(&page));
        assert!(more.goes_on() && !asked().goes_on());
        assert!(matches!(asked().heard(Some(page), Paging::NotDeclared), Said::Failed(_)));
    }

    #[test]
    fn a_call_is_the_same_in_every_round() {
        let first = json!({"name": "read", "arguments": {"b": 1, "a": [2]}, "_meta": {"progressToken": 1}});
        let again = json!({"arguments": {"a": [2], "b": 1}, "name": "read", "requestState": "x", "inputResponses": {}});
        let identity = |method: &str, params: &Value| call_identity(method, params.clone()).to_string();
        assert_eq!(identity(method::CALL_TOOL, &first), identity(method::CALL_TOOL, &again));
        assert_ne!(identity(method::CALL_TOOL, &first), identity(method::GET_PROMPT, &first));
        let other = json!({"name": "read", "arguments": {"b": 1, "a": [3]}});
        assert_ne!(identity(method::CALL_TOOL, &first), identity(method::CALL_TOOL, &other));
    }

    #[test]
    fn a_server_sees_a_client_that_has_roots() {
        let meta = json!({keys::VERSION: "2026-07-28", keys::CAPABILITIES: {"sampling": {}}});
        let params = json!({"name": "a", "requestState": "s", "inputResponses": {"x": 1}, "_meta": meta});
        let raw = to_raw_value(&params).unwrap();
        let request = ModernRequest::read(&raw).unwrap();
        assert_eq!((request.support(), request.paging()), (Support::No, Paging::NotDeclared));
        assert_eq!(request.responses().len(), 1);
        let seen: Value = serde_json::from_str(&request.params_for_server().unwrap()).unwrap();
        assert_eq!(seen["_meta"][keys::CAPABILITIES], json!({"sampling": {}, "roots": {}}));
        assert_eq!((seen.get("requestState"), seen.get("inputResponses")), (None, None));
        let legacy = to_raw_value(&json!({"name": "a", "_meta": {"progressToken": 1}})).unwrap();
        assert!(ModernRequest::read(&legacy).is_none());
    }
}
