//! What a server offers according to its answer to `initialize`, and the answers to requests for what it does not
//! offer.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::bridge::COMPLETE;
use crate::era::MODERN_REVISIONS;
use crate::frame::Members;
use crate::passing::TASKS;
use crate::{keys, method};

/// The legacy revisions, oldest first. They sort by age as strings.
const REVISIONS: [&str; 4] = crate::era::LEGACY_REVISIONS;

/// The name in an improvised answer, while the server's own name is unknown.
const IMPROVISED: &str = "rootward";

/// The lists of a server: the method that requests one, the capability that offers it, and the notification of a
/// change.
pub const LISTS: [OfferedList; 4] = [
    OfferedList { method: method::LIST_TOOLS, capability: "tools", changed: method::TOOLS_CHANGED },
    OfferedList { method: method::LIST_PROMPTS, capability: "prompts", changed: method::PROMPTS_CHANGED },
    OfferedList { method: method::LIST_RESOURCES, capability: "resources", changed: method::RESOURCES_CHANGED },
    OfferedList { method: method::LIST_TEMPLATES, capability: "resources", changed: method::RESOURCES_CHANGED },
];

/// A list that servers may offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfferedList {
    /// The method that requests it.
    pub method: &'static str,
    /// The capability that offers it.
    pub capability: &'static str,
    /// The notification that announces a change.
    pub changed: &'static str,
}

impl OfferedList {
    /// The list that this method requests.
    pub fn of(method: &str) -> Option<OfferedList> {
        LISTS.into_iter().find(|list| list.method == method)
    }
}

/// A parsed answer to `initialize`.
#[derive(Debug)]
pub struct Offer<'j> {
    result: Option<Members<'j>>,
    capabilities: Option<Members<'j>>,
}

impl<'j> Offer<'j> {
    /// Parses the result of `initialize`.
    pub fn read(result: &'j RawValue) -> Offer<'j> {
        let result = Members::read(result);
        let capabilities = result.as_ref().and_then(|result| result.object("capabilities"));
        Offer { result, capabilities }
    }

    /// Whether the server declares this capability.
    pub fn has(&self, capability: &str) -> bool {
        let declared = self.capabilities.as_ref().and_then(|capabilities| capabilities.get(capability));
        declared.is_some_and(|declared| declared.get() != "null")
    }

    /// The revision that the server chose.
    pub fn revision(&self) -> Option<String> {
        self.result.as_ref()?.text("protocolVersion")
    }

    /// The server's instructions for a model.
    pub fn instructions(&self) -> Option<String> {
        self.result.as_ref()?.text("instructions")
    }

    /// Whether this answer is [`improvised`], from before the server's own answer was known.
    pub fn is_improvised(&self) -> bool {
        let info = self.result.as_ref().and_then(|result| result.object("serverInfo"));
        info.and_then(|info| info.text("name")).as_deref() == Some(IMPROVISED)
    }

    /// Whether the server chose a later revision than a client was told before. That client cannot continue with it.
    pub fn is_newer_than(&self, told: &Offer<'_>) -> bool {
        matches!((self.revision(), told.revision()), (Some(chosen), Some(told)) if chosen > told)
    }
}

/// The revision for a client that asked for this one: the same if it is known, else the latest legacy revision.
pub fn revision(asked: Option<&str>) -> &str {
    asked.filter(|asked| REVISIONS.contains(asked)).unwrap_or(REVISIONS[REVISIONS.len() - 1])
}

/// The answer to `initialize` while it is unknown what the server will offer: everything that an empty list can take
/// back. `asked` is the revision that the client asked for.
pub fn improvised(asked: Option<&str>) -> String {
    let revision = revision(asked);
    let list = json!({"listChanged": true});
    let capabilities = json!({"tools": list, "prompts": list, "resources": list, "completions": {}, "logging": {}});
    let info = json!({"name": IMPROVISED, "version": env!("CARGO_PKG_VERSION")});
    json!({"protocolVersion": revision, "capabilities": capabilities, "serverInfo": info}).to_string()
}

/// The hub's answer to `initialize`: what its servers may offer, as far as the hub can pass it on. `asked` is the
/// revision that the client asked for.
pub fn of_hub(asked: Option<&str>, instructions: &str) -> String {
    json!({
        "protocolVersion": revision(asked),
        "capabilities": hub_capabilities(),
        "serverInfo": hub_info(),
        "instructions": instructions,
    })
    .to_string()
}

/// The hub's answer to `server/discover`. Clients ask again each time, because servers come and go.
pub fn discovered_hub(instructions: &str) -> String {
    let mut capabilities = hub_capabilities();
    capabilities["extensions"] = json!({TASKS: {}});
    let supported: Vec<&str> = REVISIONS.iter().chain(&MODERN_REVISIONS).rev().copied().collect();
    json!({
        keys::RESULT_TYPE: COMPLETE,
        "supportedVersions": supported,
        "capabilities": capabilities,
        "instructions": instructions,
        keys::TTL: 0,
        keys::CACHE_SCOPE: "private",
        keys::META: {keys::SERVER_INFO: hub_info()},
    })
    .to_string()
}

/// The hub's name.
pub(crate) fn hub_info() -> Value {
    json!({"name": "rootward-hub", "title": "Rootward hub", "version": env!("CARGO_PKG_VERSION")})
}

fn hub_capabilities() -> Value {
    let list = json!({"listChanged": true});
    let resources = json!({"listChanged": true, "subscribe": true});
    json!({"tools": list, "prompts": list, "resources": resources, "completions": {}, "logging": {}})
}

/// A result of `initialize` or `server/discover` that also asks the client for its limits, with all other bytes
/// unchanged; see [`HostLimits`](crate::HostLimits). `None` if the result already asks, or cannot be parsed.
pub fn asking_for_limits(result: &str) -> Option<String> {
    let result: &RawValue = serde_json::from_str(result).ok()?;
    let result = Members::read(result)?;
    let given = |members: &Members<'_>, key: &str| {
        let value = members.get(key).map(RawValue::get).filter(|value| *value != "null").unwrap_or("{}");
        RawValue::from_string(value.to_owned()).ok()
    };
    let capabilities = given(&result, "capabilities")?;
    let capabilities = Members::read(&capabilities)?;
    let experimental = given(&capabilities, "experimental")?;
    let experimental = Members::read(&experimental)?;
    if experimental.get(keys::SANDBOX_STATE).is_some() {
        return None;
    }
    let experimental = experimental.with(keys::SANDBOX_STATE, "{}");
    Some(result.with("capabilities", &capabilities.with("experimental", &experimental)))
}

/// The empty result for a method, and the capability that the method belongs to.
pub fn nothing(method: &str) -> Option<(&'static str, &'static str)> {
    Some(match method {
        method::LIST_TOOLS => ("tools", r#"{"tools":[]}"#),
        method::LIST_PROMPTS => ("prompts", r#"{"prompts":[]}"#),
        method::LIST_RESOURCES => ("resources", r#"{"resources":[]}"#),
        method::LIST_TEMPLATES => ("resources", r#"{"resourceTemplates":[]}"#),
        method::COMPLETE => ("completions", r#"{"completion":{"values":[]}}"#),
        method::SET_LEVEL => ("logging", "{}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_improvised_offer_can_be_taken_back() {
        let check = |asked: Option<&str>, expect: &str| {
            let result: Value = serde_json::from_str(&improvised(asked)).unwrap();
            assert_eq!(result["protocolVersion"], expect);
            for absent in ["tasks", "experimental", "extensions"] {
                assert_eq!(result["capabilities"].get(absent), None);
            }
            assert_eq!(result["capabilities"]["resources"].get("subscribe"), None);
            let declared: Vec<&String> = result["capabilities"].as_object().unwrap().keys().collect();
            for capability in declared {
                let is_answered = |method: &str| nothing(method).is_some_and(|(of, _)| of == capability);
                let methods = LISTS.iter().map(|list| list.method).chain([method::COMPLETE, method::SET_LEVEL]);
                assert!(methods.into_iter().any(is_answered), "{capability}");
            }
        };
        check(Some("2025-06-18"), "2025-06-18");
        check(Some("2024-11-05"), "2024-11-05");
        check(Some("2099-01-01"), "2025-11-25");
        check(Some("2026-07-28"), "2025-11-25");
        check(None, "2025-11-25");
    }

    #[test]
    fn a_result_asks_for_limits_and_keeps_its_bytes() {
        let check = |result: &str, expect: Option<&str>| {
            assert_eq!(asking_for_limits(result).as_deref(), expect, "{result}");
        };
        let asks = r#"{"codex/sandbox-state-meta":{}}"#;
        check("{}", Some(&format!(r#"{{"capabilities":{{"experimental":{asks}}}}}"#)));
        check(
            r#"{"x" : 1.0,"capabilities":{"tools": {}}}"#,
            Some(&format!(r#"{{"x" : 1.0,"capabilities":{{"experimental":{asks},"tools": {{}}}}}}"#)),
        );
        check(
            r#"{"capabilities":{"experimental":null},"y":2}"#,
            Some(&format!(r#"{{"capabilities":{{"experimental":{asks}}},"y":2}}"#)),
        );
        check(
            r#"{"capabilities":{"experimental":{"a":{}}}}"#,
            Some(r#"{"capabilities":{"experimental":{"codex/sandbox-state-meta":{},"a":{}}}}"#),
        );
        for untouched in [
            r#"{"capabilities":{"experimental":{"codex/sandbox-state-meta":{"version":"1"}}}}"#,
            r#"{"capabilities":7}"#,
            r#"{"capabilities":{},"capabilities":{}}"#,
            "[]",
        ] {
            check(untouched, None);
        }
    }

    #[test]
    fn revisions_sort_by_age() {
        let offer = |text: &'static str| -> Offer<'static> { Offer::read(serde_json::from_str(text).unwrap()) };
        assert!(REVISIONS.is_sorted());
        let older = offer(r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{},"prompts":null}}"#);
        let newer = offer(r#"{"protocolVersion":"2025-11-25"}"#);
        assert!(newer.is_newer_than(&older) && !older.is_newer_than(&newer) && !older.is_newer_than(&older));
        assert!(!offer("7").is_newer_than(&older) && !newer.is_newer_than(&offer("{}")));
        assert!(older.has("tools") && !older.has("prompts") && !newer.has("tools"));
    }
}
