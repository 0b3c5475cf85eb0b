//! Translates between a modern client and a legacy server.
//!
//! This works on text: params, results, errors and questions are rewritten member by member, and everything that both
//! eras share keeps its bytes.

use rootward_core::session::Support;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::era::MODERN_REVISION;
use crate::fold::is_same_but_for_case;
use crate::frame::{Members, object};
use crate::message::{
    ADDRESS_REQUIRED, INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, UNSUPPORTED_VERSION, error,
};
use crate::offer::{OfferedList, hub_info};
use crate::passing::TASKS;
use crate::round::{ModernRequest, is_no_round};
use crate::{keys, method};

/// The value of `resultType` in a final answer.
pub(crate) const COMPLETE: &str = "complete";

/// The revision that the hub uses with servers on behalf of modern clients.
const LEGACY_REVISION: &str = "2025-11-25";

/// Capabilities that mean the same to a legacy server.
const SHARED_CAPABILITIES: [&str; 2] = ["sampling", "elicitation"];

/// Extensions that a legacy server must not see: the hub handles roots, and legacy tasks are different.
const OWN_EXTENSIONS: [&str; 2] = [keys::PAGING, TASKS];

/// Members of a request's `_meta` that only exist in the modern era.
const MODERN_META: [&str; 4] = [keys::VERSION, keys::CLIENT_INFO, keys::CAPABILITIES, keys::LOG_LEVEL];

/// Members of a result that the hub writes itself, or that a legacy result must not contain.
const OWN_MEMBERS: [&str; 5] =
    [keys::RESULT_TYPE, keys::INPUT_REQUESTS, keys::REQUEST_STATE, keys::TTL, keys::CACHE_SCOPE];

/// The codes that the modern specification reserves. From a legacy server they mean something else.
const RESERVED_CODES: std::ops::RangeInclusive<i64> = -32099..=-32020;

/// The params of `initialize` for a legacy server, on behalf of the client that sent this request.
pub fn legacy_hello(request: &ModernRequest<'_>, support: Support) -> String {
    let mut capabilities: Vec<(&str, String)> = Vec::new();
    if let Some(declared) = request.capabilities() {
        for name in SHARED_CAPABILITIES {
            capabilities.extend(declared.get(name).map(|value| (name, value.get().to_owned())));
        }
        if let Some(extensions) = declared.object("extensions") {
            let passed = extensions.iter().filter(|(name, _)| !OWN_EXTENSIONS.contains(name));
            capabilities.push(("extensions", object(passed.map(|(name, value)| (name, value.get())))));
        }
    }
    if support != Support::No {
        capabilities.push(("roots", "{}".to_owned()));
    }
    let capabilities = object(capabilities.iter().map(|(name, value)| (*name, value.as_str())));
    let info = request.meta_member(keys::CLIENT_INFO).filter(|info| Members::read(info).is_some());
    let unnamed = json!({"name": "unnamed", "version": "0"}).to_string();
    let revision = format!(r#""{LEGACY_REVISION}""#);
    object([
        ("protocolVersion", revision.as_str()),
        ("capabilities", capabilities.as_str()),
        ("clientInfo", info.map_or(unnamed.as_str(), RawValue::get)),
    ])
}

/// The params of a request for a legacy server. `token` replaces its progress token, if it has one.
pub fn legacy_params(request: &ModernRequest<'_>, token: &str) -> String {
    let (params, meta) = request.members();
    let kept = meta.iter().filter(|(key, _)| !MODERN_META.contains(key));
    let meta = object(kept.map(|(key, value)| (key, if key == keys::PROGRESS_TOKEN { token } else { value.get() })));
    let kept = params.iter().filter(|member| is_no_round(member) && member.0 != keys::TASK);
    let kept = kept.map(|(key, value)| (key, if key == keys::META { meta.as_str() } else { value.get() }));
    object(kept.filter(|(key, value)| !(*key == keys::META && *value == "{}")))
}

/// A legacy server's result in modern form. `None` if it is not an object or has a duplicate key.
pub fn modern_result(method: &str, result: &RawValue) -> Option<String> {
    let members = Members::read(result)?;
    let info = hub_info().to_string();
    let meta = match members.object(keys::META) {
        Some(meta) => meta.with(keys::SERVER_INFO, &info),
        None => object([(keys::SERVER_INFO, info.as_str())]),
    };
    // SECURITY: if a result asks questions, the client would answer them itself, even with its roots; a client may
    // ignore the case of keys (test: a_result_of_a_legacy_server_asks_nothing)
    let is_own = |key: &str| key == keys::META || OWN_MEMBERS.iter().any(|own| is_alike(key, own));
    let complete = format!(r#""{COMPLETE}""#);
    let hints = [(keys::TTL, "0"), (keys::CACHE_SCOPE, r#""private""#)];
    let hints = hints.into_iter().filter(|_| is_kept(method));
    let written = [(keys::RESULT_TYPE, complete.as_str()), (keys::META, meta.as_str())];
    let passed = members.iter().filter(|(key, _)| !is_own(key)).map(|(key, value)| (key, value.get()));
    Some(object(written.into_iter().chain(hints).chain(passed)))
}

/// Whether clients may cache answers to this method, so that they need a lifetime.
fn is_kept(method: &str) -> bool {
    OfferedList::of(method).is_some() || method == method::READ_RESOURCE
}

fn is_alike(key: &str, own: &str) -> bool {
    is_same_but_for_case(key, &own.to_ascii_lowercase())
}

/// A legacy server's error in modern form.
pub fn modern_error(id: &str, told: &RawValue) -> String {
    let told: Value = serde_json::from_str(told.get()).unwrap_or_default();
    let code = match told["code"].as_i64() {
        Some(code) if code == i64::from(RESOURCE_NOT_FOUND) => INVALID_PARAMS,
        Some(code) if code == i64::from(ADDRESS_REQUIRED) || RESERVED_CODES.contains(&code) => INTERNAL_ERROR,
        Some(code) => i32::try_from(code).unwrap_or(INTERNAL_ERROR),
        None => INTERNAL_ERROR,
    };
    error(id, code, told["message"].as_str().unwrap_or("the server gave no reason"), told.get("data"))
}

/// The error for a request with a revision that the hub does not support.
pub fn unsupported_version(id: &str, requested: &str) -> String {
    let data = json!({"supported": [MODERN_REVISION], "requested": requested});
    error(id, UNSUPPORTED_VERSION, "Unsupported protocol version", Some(&data))
}

/// A legacy server's question in modern form, and the capability that the client needs for it. `None` if the modern era
/// does not have this question.
pub fn modern_question(method: &str, params: Option<&RawValue>) -> Option<(&'static str, String)> {
    let capability = match method {
        method::SAMPLE => "sampling",
        method::ELICIT => "elicitation",
        _ => return None,
    };
    // Nobody reports progress for it, and the modern era has no elicitation ids.
    let left_out = [keys::META, "elicitationId"];
    let members = match params {
        Some(params) => Some(Members::read(params)?),
        None => None,
    };
    let members = members.iter().flat_map(Members::iter);
    let kept = members.filter(|(key, _)| !left_out.contains(key)).map(|(key, value)| (key, value.get()));
    let (name, params) = (Value::from(method).to_string(), object(kept));
    Some((capability, object([("method", name.as_str()), ("params", params.as_str())])))
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    fn request(capabilities: &Value, more: &Value) -> Box<RawValue> {
        let mut params = json!({"name": "a", "requestState": "s", "inputResponses": {}, "task": {}, "_meta": {
            keys::VERSION: MODERN_REVISION,
            keys::CLIENT_INFO: {"name": "c", "version": "1"},
            keys::CAPABILITIES: capabilities,
            keys::LOG_LEVEL: "info",
        }});
        for (key, value) in more.as_object().unwrap() {
            params["_meta"][key] = value.clone();
        }
        to_raw_value(&params).unwrap()
    }

    #[test]
    fn a_legacy_server_sees_a_legacy_client() {
        let params = request(
            &json!({"roots": {}, "sampling": {"tools": {}}, "extensions": {keys::PAGING: {}, "x/y": {}}}),
            &json!({"progressToken": 7, "codex/sandbox-state": {"a": 1}}),
        );
        let request = ModernRequest::read(&params).unwrap();
        let hello: Value = serde_json::from_str(&legacy_hello(&request, Support::Listed)).unwrap();
        let capabilities = json!({"roots": {}, "sampling": {"tools": {}}, "extensions": {"x/y": {}}});
        let info = json!({"name": "c", "version": "1"});
        assert_eq!(
            hello,
            json!({"protocolVersion": LEGACY_REVISION, "capabilities": capabilities, "clientInfo": info})
        );
        let hello: Value = serde_json::from_str(&legacy_hello(&request, Support::No)).unwrap();
        assert_eq!(hello["capabilities"].get("roots"), None);
        let seen: Value = serde_json::from_str(&legacy_params(&request, "\"t\"")).unwrap();
        assert_eq!(seen, json!({"name": "a", "_meta": {"progressToken": "t", "codex/sandbox-state": {"a": 1}}}));
    }

    #[test]
    fn modern_members_are_left_out() {
        let params = request(&json!({}), &json!({}));
        let request = ModernRequest::read(&params).unwrap();
        assert_eq!(legacy_params(&request, "1"), r#"{"name":"a"}"#);
    }

    #[test]
    fn a_result_of_a_legacy_server_asks_nothing() {
        let asks = r#"{"resultType":"input_required","ResultType":"input_required","inputRequests":{"r":{"method":"roots/list"}},
            "requestſtate":"s","requestState":"s","content":[1.0],"_meta":{"a":1}}"#;
        let asks: &RawValue = serde_json::from_str(asks).unwrap();
        let told: Value = serde_json::from_str(&modern_result(method::CALL_TOOL, asks).unwrap()).unwrap();
        let meta = json!({"a": 1, keys::SERVER_INFO: hub_info()});
        assert_eq!(told, json!({"resultType": "complete", "content": [1.0], "_meta": meta}));
        for unclear in ["[]", "7", r#"{"a":1,"a":2}"#] {
            assert_eq!(modern_result(method::CALL_TOOL, serde_json::from_str(unclear).unwrap()), None);
        }
    }

    #[test]
    fn cacheable_answers_have_a_lifetime() {
        for (method, kept) in [(method::LIST_TOOLS, true), (method::READ_RESOURCE, true), (method::GET_PROMPT, false)] {
            let told = modern_result(method, serde_json::from_str("{}").unwrap()).unwrap();
            let told: Value = serde_json::from_str(&told).unwrap();
            assert_eq!(told.get(keys::TTL).is_some() && told[keys::CACHE_SCOPE] == "private", kept, "{told}");
        }
    }

    #[test]
    fn codes_keep_their_meaning() {
        for (code, expect) in [(-32002, -32602), (-32042, -32603), (-32022, -32603), (-32601, -32601), (7, 7)] {
            let told = to_raw_value(&json!({"code": code, "message": "m", "data": {"a": 1}})).unwrap();
            let told: Value = serde_json::from_str(&modern_error("1", &told)).unwrap();
            assert_eq!(told["error"], json!({"code": expect, "message": "m", "data": {"a": 1}}));
        }
    }

    #[test]
    fn a_question_omits_what_nobody_can_answer() {
        let params =
            to_raw_value(&json!({"message": "m", "elicitationId": "e", "_meta": {"progressToken": 1}})).unwrap();
        let (capability, question) = modern_question(method::ELICIT, Some(&params)).unwrap();
        assert_eq!(
            (capability, question.as_str()),
            ("elicitation", r#"{"method":"elicitation/create","params":{"message":"m"}}"#)
        );
        assert_eq!(modern_question(method::LIST_ROOTS, Some(&params)), None);
    }
}
