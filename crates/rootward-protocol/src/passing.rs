//! Passes a modern client's requests to a modern server behind the hub, and the server's answers back. They stay
//! unchanged, except for what the hub answers itself and for ids that are only valid on one side.

use rootward_core::session::Support;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::era::MODERN_REVISION;
use crate::frame::{Members, object};
use crate::message::{MISSING_CAPABILITY, error};
use crate::round::{ModernRequest, with_round};
use crate::{keys, method};

/// The extension for tasks.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The value of `resultType` in an answer that names a task.
const TASK: &str = "task";

/// The value of `resultType` in an answer that asks questions.
const ASKS: &str = "input_required";

/// A request's `_meta` for a server behind the hub. `token` replaces its progress token, if it has one; `support` says
/// whether the hub has roots for it.
pub fn passed_meta(request: &ModernRequest<'_>, support: Support, token: &str) -> String {
    let (_, meta) = request.members();
    let capabilities = passed_capabilities(request, support);
    object(meta.iter().map(|(key, value)| match key {
        keys::PROGRESS_TOKEN => (key, token),
        keys::CAPABILITIES => (key, capabilities.as_str()),
        _ => (key, value.get()),
    }))
}

/// The same for the hub's own requests on behalf of this client.
pub fn own_meta(request: &ModernRequest<'_>, support: Support) -> String {
    let (_, meta) = request.members();
    let capabilities = passed_capabilities(request, support);
    let info = meta.get(keys::CLIENT_INFO).map(|info| (keys::CLIENT_INFO, info.get()));
    let version = meta.get(keys::VERSION).map(|version| (keys::VERSION, version.get()));
    object(version.into_iter().chain(info).chain([(keys::CAPABILITIES, capabilities.as_str())]))
}

fn passed_capabilities(request: &ModernRequest<'_>, support: Support) -> String {
    let mut passed: Vec<(&str, String)> = Vec::new();
    for (name, value) in request.capabilities().into_iter().flat_map(Members::iter) {
        match (name, Members::read(value)) {
            ("roots", _) => {}
            // The hub asks for roots itself and has the whole list.
            ("extensions", Some(extensions)) => {
                let kept = extensions.iter().filter(|(name, _)| *name != keys::PAGING);
                passed.push((name, object(kept.map(|(name, value)| (name, value.get())))));
            }
            _ => passed.push((name, value.get().to_owned())),
        }
    }
    if support != Support::No {
        passed.push(("roots", "{}".to_owned()));
    }
    object(passed.iter().map(|(name, value)| (*name, value.as_str())))
}

/// Params with this `_meta`, and with the answers and state of a round.
pub fn passed_params(
    params: Option<&RawValue>,
    meta: &str,
    responses: &[(&str, &str)],
    state: Option<&str>,
) -> Option<Box<RawValue>> {
    let with_meta = match params.filter(|params| params.get() != "null") {
        Some(params) => Members::read(params)?.with(keys::META, meta),
        None => object([(keys::META, meta)]),
    };
    let with_meta = RawValue::from_string(with_meta).ok()?;
    RawValue::from_string(with_round(&with_meta, responses, state)).ok()
}

/// A modern server's result for the hub's client, with the state and the task id replaced by the hub's own. `None` if
/// it is not an object or has a duplicate key.
pub fn passed_result(result: &RawValue, state: Option<&str>, task: Option<&str>) -> Option<String> {
    let members = Members::read(result)?;
    // SECURITY: a server does not know that the hub has several principals, so an answer that it marks as public may
    // only be for one of them (test: an_answer_is_for_one_principal)
    let private = members.get(keys::CACHE_SCOPE).map(|_| r#""private""#);
    let written = [(keys::REQUEST_STATE, state), (keys::TASK_ID, task), (keys::CACHE_SCOPE, private)];
    let written: Vec<(&str, &str)> = written.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
    if written.is_empty() {
        return Some(result.get().to_owned());
    }
    let is_kept = |key: &str| written.iter().all(|(own, _)| *own != key);
    let kept = members.iter().filter(|(key, _)| is_kept(key)).map(|(key, value)| (key, value.get()));
    Some(object(kept.chain(written.iter().copied())))
}

/// The task that an answer to this method names.
pub fn task_of(method: &str, result: &RawValue) -> Option<String> {
    let members = Members::read(result)?;
    let names_one = is_about_task(method) || members.text(keys::RESULT_TYPE).as_deref() == Some(TASK);
    members.text(keys::TASK_ID).filter(|_| names_one)
}

/// Whether a result asks for another round.
pub fn asks(result: &Members<'_>) -> bool {
    result.text(keys::RESULT_TYPE).as_deref() == Some(ASKS)
}

/// Whether a modern request is about a task.
pub fn is_about_task(method: &str) -> bool {
    [method::GET_TASK, method::UPDATE_TASK, method::CANCEL_TASK].contains(&method)
}

/// Whether a request's client supports tasks.
pub fn knows_tasks(request: &ModernRequest<'_>) -> bool {
    let extensions = request.capabilities().and_then(|capabilities| capabilities.object("extensions"));
    extensions.is_some_and(|extensions| extensions.get(TASKS).is_some())
}

/// The error for a request about a task from a client that does not support tasks.
pub fn tasks_required(id: &str) -> String {
    let data = json!({"requiredCapabilities": {"extensions": {TASKS: {}}}});
    error(id, MISSING_CAPABILITY, "Missing required client capability", Some(&data))
}

/// Whether a server's answer to `server/discover` says that it supports the modern era.
pub fn is_modern(result: &RawValue) -> bool {
    let versions = Members::read(result).and_then(|result| result.get("supportedVersions"));
    let versions: Option<Vec<Value>> = versions.and_then(|versions| serde_json::from_str(versions.get()).ok());
    versions.is_some_and(|versions| versions.iter().any(|version| version == MODERN_REVISION))
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    fn request() -> Box<RawValue> {
        to_raw_value(&json!({"name": "a", "_meta": {
            keys::VERSION: MODERN_REVISION,
            keys::CLIENT_INFO: {"name": "c", "version": "1"},
            keys::CAPABILITIES: {"roots": {}, "sampling": {}, "extensions": {keys::PAGING: {}, TASKS: {}}},
            keys::LOG_LEVEL: "info",
            "progressToken": 7,
            "other": 1.0,
        }}))
        .unwrap()
    }

    fn value(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn roots_are_declared_to_a_server_if_the_hub_has_them() {
        let raw = request();
        let request = ModernRequest::read(&raw).unwrap();
        assert!(knows_tasks(&request));
        let seen = value(&passed_meta(&request, Support::No, "\"t\""));
        assert_eq!(seen[keys::CAPABILITIES], json!({"sampling": {}, "extensions": {TASKS: {}}}));
        assert_eq!((&seen["progressToken"], &seen["other"]), (&json!("t"), &json!(1.0)));
        assert_eq!(seen[keys::LOG_LEVEL], "info");
        let seen = value(&own_meta(&request, Support::Listed));
        assert_eq!(seen[keys::CAPABILITIES]["roots"], json!({}));
        assert_eq!(seen.as_object().unwrap().len(), 3, "{seen}");
    }

    #[test]
    fn a_round_is_carried_into_the_params() {
        let params: &RawValue = serde_json::from_str(r#"{"name":"a","_meta":{},"requestState":"old"}"#).unwrap();
        let passed = passed_params(Some(params), r#"{"m":1}"#, &[("q", "2")], Some("\"s\"")).unwrap();
        let expect = json!({"name": "a", "_meta": {"m": 1}, "inputResponses": {"q": 2}, "requestState": "s"});
        assert_eq!(value(passed.get()), expect);
        let passed = passed_params(None, r#"{"m":1}"#, &[], None).unwrap();
        assert_eq!(value(passed.get()), json!({"_meta": {"m": 1}}));
    }

    #[test]
    fn an_answer_is_for_one_principal() {
        let result: &RawValue =
            serde_json::from_str(r#"{"a":1.0,"cacheScope":"public","requestState":"theirs","taskId":"t"}"#).unwrap();
        let passed = value(&passed_result(result, Some("\"ours\""), None).unwrap());
        assert_eq!(passed, json!({"a": 1.0, "cacheScope": "private", "requestState": "ours", "taskId": "t"}));
        let plain: &RawValue = serde_json::from_str(r#"{ "a" : 1.0 }"#).unwrap();
        assert_eq!(passed_result(plain, None, None).unwrap(), r#"{ "a" : 1.0 }"#);
        assert_eq!(passed_result(serde_json::from_str(r#"{"a":1,"a":2}"#).unwrap(), None, None), None);
    }

    #[test]
    fn only_answers_about_tasks_name_one() {
        let named: &RawValue = serde_json::from_str(r#"{"taskId":"t"}"#).unwrap();
        let begun: &RawValue = serde_json::from_str(r#"{"taskId":"t","resultType":"task"}"#).unwrap();
        assert_eq!(task_of(method::CALL_TOOL, named), None);
        assert_eq!(task_of(method::CALL_TOOL, begun).as_deref(), Some("t"));
        assert_eq!(task_of(method::GET_TASK, named).as_deref(), Some("t"));
    }

    #[test]
    fn a_modern_server_names_the_revision() {
        for (result, expect) in [
            (json!({"supportedVersions": ["2025-11-25", MODERN_REVISION]}), true),
            (json!({"supportedVersions": ["2025-11-25"]}), false),
            (json!({"supportedVersions": 7}), false),
            (json!({}), false),
        ] {
            assert_eq!(is_modern(&to_raw_value(&result).unwrap()), expect, "{result}");
        }
    }
}
