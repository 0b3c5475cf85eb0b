//! The protocol's roots types, in one place: rmcp marks them deprecated, as revision 2026-07-28 does with roots.
#![expect(deprecated, reason = "roots are deprecated in the protocol, and what this crate is about")]

use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, ClientResult, CustomRequest, GetExtensions, GetMeta, InputRequest, ListRootsRequest,
    RequestMetaObject, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};
use rootward_core::session::Support;
use rootward_protocol::round::Paging;
use rootward_protocol::{HostLimits, keys, method};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// The `roots/list` request; with a cursor, for the page that begins there.
pub(crate) fn list_roots(cursor: Option<&str>) -> ServerRequest {
    match cursor {
        None => ServerRequest::ListRootsRequest(ListRootsRequest::default()),
        Some(cursor) => {
            ServerRequest::CustomRequest(CustomRequest::new(method::LIST_ROOTS, Some(json!({"cursor": cursor}))))
        }
    }
}

/// Removes the progress token from a request: rmcp adds one to every request, but a list reports no progress. Without
/// it the request has no `params`.
pub(crate) fn without_progress_token(request: &mut ServerRequest) {
    let pages = matches!(request, ServerRequest::CustomRequest(custom) if custom.method == method::LIST_ROOTS);
    if pages || matches!(request, ServerRequest::ListRootsRequest(_)) {
        let meta = request.get_meta_mut();
        meta.remove(keys::PROGRESS_TOKEN);
        if meta.is_empty() {
            request.extensions_mut().remove::<RequestMetaObject>();
        }
    }
}

/// The question as a modern server asks it: instead of a result.
pub(crate) fn list_roots_input(cursor: Option<&str>) -> InputRequest {
    let mut question = ListRootsRequest::default();
    if let Some(cursor) = cursor {
        let mut meta = RequestMetaObject::default();
        meta.insert(keys::CURSOR.to_owned(), json!(cursor));
        question.extensions.insert(meta);
    }
    InputRequest::ListRoots(question)
}

/// Whether the client declared that it pages its list.
pub(crate) fn paging(capabilities: Option<&ClientCapabilities>) -> Paging {
    let declared = capabilities.is_some_and(|capabilities| {
        capabilities.extensions.as_ref().is_some_and(|extensions| extensions.contains_key(keys::PAGING))
            || capabilities.experimental.as_ref().is_some_and(|experimental| experimental.contains_key(keys::PAGING))
    });
    if declared { Paging::Declared } else { Paging::NotDeclared }
}

/// What the client's own sandbox allows a request to touch, if the client says so.
pub(crate) fn limits(context: &RequestContext<RoleServer>) -> Option<Arc<HostLimits>> {
    let states = keys::SANDBOX_STATES.iter().filter_map(|key| context.meta.get(*key));
    let states: Vec<_> =
        states.map(|state| to_raw_value(state).unwrap_or_else(|_| RawValue::NULL.to_owned())).collect();
    (!states.is_empty()).then(|| Arc::new(HostLimits::read_all(states.iter().map(|state| &**state))))
}

/// The answer as sent, as far as rmcp kept it: rmcp parses results by trial, and one bad entry turns the list into a
/// custom result.
pub(crate) fn raw(result: ClientResult) -> Value {
    match result {
        ClientResult::CustomResult(custom) => custom.0,
        other => serde_json::to_value(other).unwrap_or(Value::Null),
    }
}

/// The client's declared support for roots.
pub(crate) fn support(capabilities: Option<&ClientCapabilities>) -> Support {
    match capabilities.and_then(|capabilities| capabilities.roots.as_ref()) {
        None => Support::No,
        Some(roots) if roots.list_changed == Some(true) => Support::Announced,
        Some(_) => Support::Listed,
    }
}

/// Whether the protocol defines params for this method.
pub(crate) fn is_known_request(method: &str) -> bool {
    matches!(
        method,
        method::CALL_TOOL
            | method::LIST_TOOLS
            | method::READ_RESOURCE
            | method::LIST_RESOURCES
            | method::LIST_TEMPLATES
            | method::GET_PROMPT
            | method::LIST_PROMPTS
            | method::COMPLETE
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_keep_what_was_sent() {
        let check = |sent: Value| {
            let result: ClientResult = serde_json::from_value(sent.clone()).unwrap();
            assert_eq!(raw(result), sent);
        };
        check(json!({"roots": []}));
        check(json!({"roots": [{"uri": "file:///a", "name": "a", "_meta": {"rootward.dev/access": "ro"}}]}));
        check(json!({"roots": [{"uri": "file:///a"}, {"uri": 7}, 8]}));
        check(json!({"roots": null}));
        check(json!({}));
        check(json!({"something": "else"}));
    }

    #[test]
    fn questions_have_no_empty_parameters() {
        let question = json!({"method": "roots/list"});
        assert_eq!(serde_json::to_value(list_roots(None)).unwrap(), question);
        assert_eq!(serde_json::to_value(list_roots_input(None)).unwrap(), question);
        let question = json!({"method": "roots/list", "params": {"cursor": "c"}});
        assert_eq!(serde_json::to_value(list_roots(Some("c"))).unwrap(), question);
        let question = json!({"method": "roots/list", "params": {"_meta": {keys::CURSOR: "c"}}});
        assert_eq!(serde_json::to_value(list_roots_input(Some("c"))).unwrap(), question);
    }

    #[test]
    fn a_question_has_no_progress_token() {
        let mut request = list_roots(None);
        request.get_meta_mut().insert("progressToken".to_owned(), json!(7));
        without_progress_token(&mut request);
        assert_eq!(serde_json::to_value(&request).unwrap(), json!({"method": "roots/list"}));
        request.get_meta_mut().extend(serde_json::from_value(json!({"progressToken": 7, "x": 8})).unwrap());
        without_progress_token(&mut request);
        assert_eq!(
            serde_json::to_value(&request).unwrap(),
            json!({"method": "roots/list", "params": {"_meta": {"x": 8}}})
        );
    }

    #[test]
    fn declared_support() {
        let check = |capabilities: Value, expect| {
            let capabilities: ClientCapabilities = serde_json::from_value(capabilities).unwrap();
            assert_eq!(support(Some(&capabilities)), expect);
        };
        check(json!({}), Support::No);
        check(json!({"roots": {}}), Support::Listed);
        check(json!({"roots": {"listChanged": false}}), Support::Listed);
        check(json!({"roots": {"listChanged": true}}), Support::Announced);
        assert_eq!(support(None), Support::No);
        let pages =
            |capabilities: Value| paging(Some(&serde_json::from_value(capabilities).unwrap())) == Paging::Declared;
        assert!(pages(json!({"extensions": {keys::PAGING: {}}})) && pages(json!({"experimental": {keys::PAGING: {}}})));
        assert!(!pages(json!({"roots": {}, "extensions": {"other": {}}})));
    }
}
