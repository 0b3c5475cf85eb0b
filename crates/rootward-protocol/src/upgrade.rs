//! Translates between a legacy client and a server that speaks only the modern era.
//!
//! Like [`bridge`](crate::bridge), this is pure text: what both eras have in common keeps its bytes.

use serde_json::json;
use serde_json::value::RawValue;

use crate::era::MODERN_REVISION;
use crate::frame::{Members, object};
use crate::message::{INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, UNSUPPORTED_VERSION};
use crate::offer::revision;
use crate::passing::TASKS;
use crate::{keys, method};

/// Server capabilities that mean the same to a legacy client. `tasks` is not one of them: legacy tasks work differently.
const SHARED_CAPABILITIES: [&str; 7] =
    ["tools", "prompts", "resources", "completions", "logging", "experimental", "extensions"];

/// Members of a result that only modern clients read.
const MODERN_MEMBERS: [&str; 3] = [keys::RESULT_TYPE, keys::TTL, keys::CACHE_SCOPE];

/// Whether this error, in answer to `initialize`, may mean that the server has no handshake.
pub fn may_be_modern(error: &RawValue) -> bool {
    let code = Members::read(error).and_then(|error| error.get("code")?.get().parse().ok());
    code.is_some_and(|code: i32| {
        [METHOD_NOT_FOUND, INVALID_PARAMS, INVALID_REQUEST, UNSUPPORTED_VERSION].contains(&code)
    })
}

/// The `_meta` of each modern request for the client that sent these params of `initialize`. `None` if they are not an
/// object, or have a duplicate key.
pub fn modern_meta(hello: &RawValue, log_level: Option<&RawValue>) -> Option<String> {
    let hello = Members::read(hello)?;
    let capabilities = match hello.get("capabilities").filter(|given| given.get() != "null") {
        Some(given) => {
            let given = Members::read(given)?;
            // The modern era has no `listChanged` for roots.
            object(given.iter().map(|(key, value)| (key, if key == "roots" { "{}" } else { value.get() })))
        }
        None => "{}".to_owned(),
    };
    let unnamed = json!({"name": "unnamed", "version": "0"}).to_string();
    let version = json!(MODERN_REVISION).to_string();
    let info = hello.get("clientInfo").map_or(unnamed.as_str(), RawValue::get);
    let level = log_level.map(|level| (keys::LOG_LEVEL, level.get()));
    let said = [(keys::VERSION, version.as_str()), (keys::CLIENT_INFO, info), (keys::CAPABILITIES, &capabilities)];
    Some(object(said.into_iter().chain(level)))
}

/// Params with the members of `meta` added to their `_meta`. `None` if they are not an object, or have a duplicate key.
pub fn modern_params(params: Option<&RawValue>, meta: &str) -> Option<Box<RawValue>> {
    let Some(params) = params.filter(|params| params.get() != "null") else {
        return RawValue::from_string(object([(keys::META, meta)])).ok();
    };
    let params = Members::read(params)?;
    let own: &RawValue = serde_json::from_str(meta).ok()?;
    let own = Members::read(own)?;
    let given = match params.get(keys::META).filter(|given| given.get() != "null") {
        Some(given) => Some(Members::read(given)?),
        None => None,
    };
    let kept = given.iter().flat_map(Members::iter).filter(|(key, _)| own.get(key).is_none());
    let meta = object(own.iter().chain(kept).map(|(key, value)| (key, value.get())));
    RawValue::from_string(params.with(keys::META, &meta)).ok()
}

/// The server's answer to `server/discover` as an answer to `initialize`.
pub fn legacy_handshake(hello: &RawValue, discovered: &RawValue) -> Option<String> {
    let asked = Members::read(hello)?.text(keys::HANDSHAKE_VERSION);
    let discovered = Members::read(discovered)?;
    let declared = discovered.object("capabilities");
    let shared = declared.iter().flat_map(Members::iter).filter(|(name, _)| SHARED_CAPABILITIES.contains(name));
    let shared: Vec<(&str, String)> = shared
        .map(|(name, value)| match Members::read(value).filter(|_| name == "extensions") {
            Some(extensions) => (name, extensions.without(TASKS).unwrap_or_else(|| value.get().to_owned())),
            None => (name, value.get().to_owned()),
        })
        .collect();
    let capabilities = object(shared.iter().map(|(name, value)| (*name, value.as_str())));
    let unnamed = json!({"name": "unnamed", "version": "0"}).to_string();
    let info = discovered.object(keys::META).and_then(|meta| meta.get(keys::SERVER_INFO));
    let info = info.or_else(|| discovered.get("serverInfo")).map_or(unnamed.as_str(), RawValue::get);
    let version = json!(revision(asked.as_deref())).to_string();
    let instructions = discovered.get("instructions").map(|told| ("instructions", told.get()));
    let told = [(keys::HANDSHAKE_VERSION, version.as_str()), ("capabilities", &capabilities), ("serverInfo", info)];
    Some(object(told.into_iter().chain(instructions)))
}

/// Whether a handshake offers notifications of changes.
pub fn has_news(handshake: &RawValue) -> bool {
    let capabilities = Members::read(handshake).and_then(|handshake| handshake.object("capabilities"));
    let is_true = |list: &Members<'_>, key: &str| list.get(key).is_some_and(|value| value.get() == "true");
    capabilities.is_some_and(|capabilities| {
        let lists = ["tools", "prompts", "resources"].into_iter().filter_map(|name| capabilities.object(name));
        lists.into_iter().any(|list| is_true(&list, "listChanged") || is_true(&list, "subscribe"))
    })
}

/// A modern result without the members that only modern clients read. `None` if it is not an object, or has a duplicate key.
pub fn legacy_result(result: &RawValue) -> Option<Box<RawValue>> {
    let members = Members::read(result)?;
    let kept = members.iter().filter(|(key, _)| !MODERN_MEMBERS.contains(key));
    RawValue::from_string(object(kept.map(|(key, value)| (key, value.get())))).ok()
}

/// Whether this method is a request that a legacy server may send.
pub fn is_question(method: &str) -> bool {
    [method::LIST_ROOTS, method::SAMPLE, method::ELICIT].contains(&method)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use serde_json::value::to_raw_value;

    use super::*;

    fn raw(value: &Value) -> Box<RawValue> {
        to_raw_value(value).unwrap()
    }

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    fn hello() -> Box<RawValue> {
        raw(&json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"roots": {"listChanged": true}, "sampling": {}},
            "clientInfo": {"name": "c", "version": "1"},
        }))
    }

    #[test]
    fn every_request_says_what_the_handshake_said() {
        let level = raw(&json!("info"));
        let meta = modern_meta(&hello(), Some(&level)).unwrap();
        let expect = json!({
            keys::VERSION: MODERN_REVISION,
            keys::CLIENT_INFO: {"name": "c", "version": "1"},
            keys::CAPABILITIES: {"roots": {}, "sampling": {}},
            keys::LOG_LEVEL: "info",
        });
        assert_eq!(read(&meta), expect);
        let params = raw(&json!({"name": "a", "_meta": {"progressToken": 7, keys::CAPABILITIES: {"forged": {}}}}));
        let params = read(modern_params(Some(&params), &meta).unwrap().get());
        assert_eq!((&params["name"], &params["_meta"]["progressToken"]), (&json!("a"), &json!(7)));
        assert_eq!(params["_meta"][keys::CAPABILITIES], expect[keys::CAPABILITIES]);
        assert_eq!(read(modern_params(None, &meta).unwrap().get()), json!({"_meta": expect}));
        for bad in ["[]", "7", r#"{"a":1,"a":2}"#, r#"{"_meta":{"a":1,"a":2}}"#] {
            assert!(modern_params(Some(serde_json::from_str(bad).unwrap()), &meta).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_discovery_becomes_a_handshake() {
        let discovered = raw(&json!({
            "resultType": "complete",
            "supportedVersions": [MODERN_REVISION],
            "capabilities": {"tools": {"listChanged": true}, "tasks": {}, "extensions": {TASKS: {}, "x/y": {}}},
            "instructions": "be kind",
            "_meta": {keys::SERVER_INFO: {"name": "s", "version": "2"}},
        }));
        let told = legacy_handshake(&hello(), &discovered).unwrap();
        let expect = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": true}, "extensions": {"x/y": {}}},
            "serverInfo": {"name": "s", "version": "2"},
            "instructions": "be kind",
        });
        assert_eq!(read(&told), expect);
        assert!(has_news(&raw(&expect)));
        assert!(!has_news(&raw(&json!({"capabilities": {"tools": {}, "resources": {"subscribe": false}}}))));
    }

    #[test]
    fn a_result_loses_what_only_modern_clients_read() {
        let result = raw(&json!({"resultType": "complete", "ttlMs": 5, "cacheScope": "public", "tools": [1.0]}));
        assert_eq!(legacy_result(&result).unwrap().get(), r#"{"tools":[1.0]}"#);
        assert!(legacy_result(serde_json::from_str("7").unwrap()).is_none());
    }

    #[test]
    fn which_refusals_may_mean_a_modern_server() {
        for (code, expect) in
            [(-32601, true), (-32022, true), (-32602, true), (-32600, true), (-32603, false), (1, false)]
        {
            assert_eq!(may_be_modern(&raw(&json!({"code": code, "message": "m"}))), expect, "{code}");
        }
    }
}
