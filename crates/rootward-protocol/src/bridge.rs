//! A modern client's words for a legacy server, and a legacy server's words for a modern client.
//!
//! Pure text: params, results, errors and questions are rewritten member by member, and everything that the two eras have in common
//! keeps its bytes.

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

/// The value of `resultType` in an answer that asks nothing.
pub(crate) const COMPLETE: &str = "complete";

/// The revision in which the hub greets servers for modern clients.
const LEGACY_REVISION: &str = "2025-11-25";

/// Capabilities that mean the same to a legacy server.
const SHARED_CAPABILITIES: [&str; 2] = ["sampling", "elicitation"];

/// Extensions that a legacy server must not see: the hub answers for roots, and legacy tasks are other tasks.
const OWN_EXTENSIONS: [&str; 2] = [keys::PAGING, TASKS];

/// What only the modern era says in `_meta` of a request.
const MODERN_META: [&str; 4] = [keys::VERSION, keys::CLIENT_INFO, keys::CAPABILITIES, keys::LOG_LEVEL];

/// Members of a result that the hub writes itself, or that no legacy result may bring.
const OWN_MEMBERS: [&str; 5] =
    [keys::RESULT_TYPE, keys::INPUT_REQUESTS, keys::REQUEST_STATE, keys::TTL, keys::CACHE_SCOPE];

/// The codes that the modern specification has reserved. From a legacy server they mean something else.
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

/// The params of a request as a legacy server is to see them. `token` takes the place of its progress token, if it has one.
pub fn legacy_params(request: &ModernRequest<'_>, token: &str) -> String {
    let (params, meta) = request.members();
    let kept = meta.iter().filter(|(key, _)| !MODERN_META.contains(key));
    let meta = object(kept.map(|(key, value)| (key, if key == keys::PROGRESS_TOKEN { token } else { value.get() })));
    let kept = params.iter().filter(|member| is_no_round(member) && member.0 != keys::TASK);
    let kept = kept.map(|(key, value)| (key, if key == keys::META { meta.as_str() } else { value.get() }));
    object(kept.filter(|(key, value)| !(*key == keys::META && *value == "{}")))
}

/// The result of a legacy server as a modern client wants it. `None` where it is not an object, or a key stands twice.
pub fn modern_result(method: &str, result: &RawValue) -> Option<String> {
    let members = Members::read(result)?;
    let info = hub_info().to_string();
    let meta = match members.object(keys::META) {
        Some(meta) => meta.with(keys::SERVER_INFO, &info),
        None => object([(keys::SERVER_INFO, info.as_str())]),
    };
    // SECURITY: an answer that asks is answered by the client itself, also with its roots; a client may ignore the case of a key
    // (test: a_result_of_a_legacy_server_asks_nothing)
    let is_own = |key: &str| key == keys::META || OWN_MEMBERS.iter().any(|own| is_alike(key, own));
    let complete = format!(r#""{COMPLETE}""#);
    let hints = [(keys::TTL, "0"), (keys::CACHE_SCOPE, r#""private""#)];
    let hints = hints.into_iter().filter(|_| is_kept(method));
    let written = [(keys::RESULT_TYPE, complete.as_str()), (keys::META, meta.as_str())];
    let passed = members.iter().filter(|(key, _)| !is_own(key)).map(|(key, value)| (key, value.get()));
    Some(object(written.into_iter().chain(hints).chain(passed)))
}

/// Whether clients may keep answers to this method, so that these say for how long.
fn is_kept(method: &str) -> bool {
    OfferedList::of(method).is_some() || method == method::READ_RESOURCE
}

fn is_alike(key: &str, own: &str) -> bool {
    is_same_but_for_case(key, &own.to_ascii_lowercase())
}

/// The answer with a legacy server's error, as a modern client wants it.
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

/// The answer to a request of a revision that the hub does not speak.
pub fn unsupported_version(id: &str, requested: &str) -> String {
    let data = json!({"supported": [MODERN_REVISION], "requested": requested});
    error(id, UNSUPPORTED_VERSION, "Unsupported protocol version", Some(&data))
}

/// A legacy server's question as one of a modern answer's; the capability that a client must declare for it. `None` for a question that
/// the modern era does not have.
pub fn modern_question(method: &str, params: Option<&RawValue>) -> Option<(&'static str, String)> {
    let capability = match method {
        method::SAMPLE => "sampling",
        method::ELICIT => "elicitation",
        _ => return None,
    };
    // No progress is told about it, and the modern era knows no id of an elicitation.
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
    fn what_only_the_modern_era_says_is_left_out() {
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
    fn answers_that_clients_may_keep_say_for_how_long() {
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
    fn a_question_is_told_without_what_nobody_can_answer() {
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
