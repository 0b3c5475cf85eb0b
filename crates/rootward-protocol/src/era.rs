//! The revisions of the protocol that a peer speaks, and how a client of each era describes itself.

use rootward_core::session::Support;
use serde_json::value::RawValue;

use crate::frame::Members;
use crate::implementation::read_peer_name;
use crate::keys;

/// The revisions of the protocol that a peer speaks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Era {
    /// Up to 2025-11-25: a session begins with a handshake.
    Legacy,
    /// From 2026-07-28: every request describes the client's capabilities.
    Modern,
}

/// The legacy revisions, oldest first.
pub const LEGACY_REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The modern revisions, oldest first.
pub const MODERN_REVISIONS: [&str; 1] = ["2026-07-28"];

/// The only revision with batches.
pub const BATCH_REVISION: &str = "2025-03-26";

/// The first revision whose clients accept events without data, which make a stream resumable.
pub const PRIMING_REVISION: &str = "2025-11-25";
/// The modern revision that the hub uses with clients.
pub const MODERN_REVISION: &str = MODERN_REVISIONS[0];

/// What Rootward declares as the client of a server.
const OWN_ROOTS: &str = r#"{"listChanged":true}"#;

/// The revision that Rootward's own client asks for.
const OWN_REVISION: &str = "2025-06-18";

/// A legacy client's `initialize`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hello {
    /// The params, with Rootward's own `roots` capability instead of the client's: sent to the server behind Rootward.
    pub params: String,
    /// Identifies everything that the server's answer depends on.
    pub fingerprint: String,
    /// The revision that the client asks for.
    pub revision: Option<String>,
    /// What the client declares about roots.
    pub support: Support,
    /// The client's name for itself, ready to display.
    pub client: Option<String>,
}

impl Hello {
    /// Reads the params of `initialize`. `None` if they are not an object or have a duplicate key.
    pub fn read(params: &RawValue) -> Option<Hello> {
        let params = Members::read(params)?;
        let capabilities = params.get("capabilities").unwrap_or(RawValue::NULL);
        let (support, capabilities) = match Members::read(capabilities) {
            Some(capabilities) => (support(&capabilities), capabilities.with("roots", OWN_ROOTS)),
            None if capabilities.get() == "null" => (Support::No, format!(r#"{{"roots":{OWN_ROOTS}}}"#)),
            None => return None,
        };
        let version = params.get("protocolVersion").map(RawValue::get).unwrap_or_default();
        let fingerprint = format!("{version} {capabilities}");
        let revision = params.text("protocolVersion");
        let client = params.object("clientInfo").as_ref().and_then(read_peer_name);
        Some(Hello { params: params.with("capabilities", &capabilities), fingerprint, revision, support, client })
    }
}

/// The params of `initialize` for Rootward's own client, which has roots.
pub fn own_hello(name: &str, version: &str) -> String {
    common_hello(None, Support::Listed, name, version)
}

/// The same for a client that represents several others: with their revision, and with roots if they have any.
pub fn common_hello(revision: Option<&str>, support: Support, name: &str, version: &str) -> String {
    let capabilities = if support == Support::No { serde_json::json!({}) } else { serde_json::json!({"roots": {}}) };
    serde_json::json!({
        "protocolVersion": revision.unwrap_or(OWN_REVISION),
        "capabilities": capabilities,
        "clientInfo": {"name": name, "version": version},
    })
    .to_string()
}

/// What these capabilities say about roots.
pub fn support(capabilities: &Members<'_>) -> Support {
    let announced = capabilities.object("roots").and_then(|roots| roots.get("listChanged"));
    match (capabilities.get("roots").map(RawValue::get), announced.map(RawValue::get)) {
        (None | Some("null"), _) => Support::No,
        (Some(_), Some("true")) => Support::Announced,
        (Some(_), _) => Support::Listed,
    }
}

/// Whether the client declares that it sends its list of roots in pages.
pub fn pages(capabilities: &Members<'_>) -> bool {
    let declares = |key: &str| {
        let extensions = capabilities.object(key);
        extensions.is_some_and(|extensions| extensions.get(keys::PAGING).is_some())
    };
    declares("extensions") || declares("experimental")
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_clients_declare() {
        let check = |capabilities: Value, expect: Support| {
            let params = to_raw_value(&json!({"protocolVersion": "v", "capabilities": capabilities})).unwrap();
            let hello = Hello::read(&params).unwrap();
            assert_eq!(hello.support, expect, "{capabilities}");
            let params: Value = serde_json::from_str(&hello.params).unwrap();
            assert_eq!(params["capabilities"]["roots"], json!({"listChanged": true}), "{capabilities}");
        };
        check(json!({}), Support::No);
        check(json!(null), Support::No);
        check(json!({"roots": null}), Support::No);
        check(json!({"roots": {}}), Support::Listed);
        check(json!({"roots": true}), Support::Listed);
        check(json!({"roots": {"listChanged": false}}), Support::Listed);
        check(json!({"roots": {"listChanged": true}, "sampling": {}}), Support::Announced);
        for params in ["[]", "7", r#"{"capabilities":7}"#, r#"{"capabilities":{},"capabilities":{}}"#] {
            let params: &RawValue = serde_json::from_str(params).unwrap();
            assert_eq!(Hello::read(params), None, "{params}");
        }
    }

    #[test]
    fn what_clients_call_themselves() {
        let check = |info: Value, expect: Option<&str>| {
            let params = to_raw_value(&json!({"capabilities": {}, "clientInfo": info})).unwrap();
            assert_eq!(Hello::read(&params).unwrap().client.as_deref(), expect, "{info}");
        };
        check(json!({"name": "claude-code", "title": "Claude", "version": "2.1.0"}), Some("claude-code 2.1.0"));
        check(json!({"name": "x"}), Some("x"));
        check(json!({"name": "x", "version": 7}), Some("x"));
        for info in [json!(null), json!({}), json!("x"), json!({"name": 7, "version": "1"})] {
            check(info, None);
        }
    }

    #[test]
    fn a_client_of_rootwards_own_is_one() {
        let params = own_hello("rootward-adopt", "1.0");
        let hello = Hello::read(serde_json::from_str(&params).unwrap()).unwrap();
        assert_eq!(hello.support, Support::Listed);
        assert_eq!(hello.revision.as_deref(), Some(OWN_REVISION));
        assert_eq!(hello.client.as_deref(), Some("rootward-adopt 1.0"));
    }

    #[test]
    fn clients_that_page() {
        let check = |capabilities: Value, expect: bool| {
            let raw = to_raw_value(&capabilities).unwrap();
            assert_eq!(pages(&Members::read(&raw).unwrap()), expect, "{capabilities}");
        };
        check(json!({"extensions": {keys::PAGING: {}}}), true);
        check(json!({"experimental": {keys::PAGING: {}}}), true);
        check(json!({"roots": {}, "extensions": {"other": {}}}), false);
    }
}
