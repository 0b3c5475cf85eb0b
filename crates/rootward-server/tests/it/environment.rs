//! Settings in environment variables, and their effect on a client.

use rootward_core::env::Environment;
use rootward_core::session::Follow;
use rootward_server::{RootsService, Settings};
use serde_json::{Value, json};

use crate::client::{self, Client, Read as _, roots};
use crate::rooted::Files;
use crate::stage::Stage;

fn service(variables: &[(&str, &str)]) -> RootsService {
    let environment: Environment = variables.iter().map(|(name, value)| (*name, *value)).collect();
    RootsService::new(Settings::from_environment(&environment).unwrap())
}

async fn start(variables: &[(&str, &str)], capabilities: Value) -> Client {
    client::start_rooted(service(variables).install(Files::new()), capabilities).await
}

#[tokio::test]
async fn roots_of_the_environment_are_a_ceiling() {
    let stage = Stage::new();
    let (a, b) = (stage.path("a"), stage.path("b"));
    let mut client = start(&[("ROOTWARD_ROOTS", &a)], json!({"roots": {}})).await;
    client.read(1, &stage.path("a/file")).await;
    client.answer_roots(roots(&[&a, &b])).await;
    assert_eq!(client.said(1).await, "a");
    assert_eq!(client.reads(2, &stage.path("b/file")).await, "outside_roots");

    let union = [("ROOTWARD_ROOTS", a.as_str()), ("ROOTWARD_MODE", "union")];
    let mut client = start(&union, json!({"roots": {}})).await;
    client.read(1, &stage.path("a/file")).await;
    client.answer_roots(roots(&[&b])).await;
    assert_eq!(client.said(1).await, "a");
}

#[tokio::test]
async fn the_fallback_and_the_switches() {
    let stage = Stage::new();
    let (a, b) = (stage.path("a"), stage.path("b"));
    let check = async |variables: &[(&str, &str)], expect: &str| {
        let mut client = start(variables, json!({})).await;
        assert_eq!(client.reads(1, &stage.path("a/file")).await, expect, "{variables:?}");
    };
    check(&[], "no_roots").await;
    check(&[("ROOTWARD_FALLBACK_DIR", &a)], "a").await;
    check(&[("ROOTWARD_FALLBACK_DIR", &a), ("ROOTWARD_ROOTS", &b)], "outside_roots").await;
    check(&[("ROOTWARD_FALLBACK_DIR", &a), ("ROOTWARD_ROOTS", &b), ("ROOTWARD_FALLBACK_ONLY", "1")], "a").await;
    check(&[("ROOTWARD_FALLBACK_DIR", &a), ("ROOTWARD_STRICT", "1")], "no_roots").await;
    check(&[("ROOTWARD_ROOTS", &a), ("ROOTWARD_IGNORE_CLIENT", "1")], "a").await;
}

#[test]
fn invalid_variables_are_errors() {
    let read = |name: &str, value: &str| Settings::from_environment(&[(name, value)].into()).unwrap_err();
    assert_eq!(
        read("ROOTWARD_ROOTS", "relative").says,
        "environment variable ROOTWARD_ROOTS: not a usable root: `relative` (not an absolute path)"
    );
    assert!(!read("ROOTWARD_STRICT", "perhaps").hint.is_empty());
    let settings = Settings::from_environment(&[("ROOTWARD_STRICT", "1")].into()).unwrap();
    assert_eq!(settings.policy.follow, Follow::Strict);
}

/// Rootward's directories stay closed even if a variable puts them below a root.
#[tokio::test]
async fn rootwards_own_places_are_closed() {
    let stage = Stage::new();
    let own = stage.path("a/settings/rootward");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(format!("{own}/config.toml"), "").unwrap();
    let variables =
        [("XDG_CONFIG_HOME", stage.path("a/settings")), ("HOME", stage.path("b")), ("ROOTWARD_ROOTS", stage.path("a"))];
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut client = start(&variables, json!({})).await;
    assert_eq!(client.reads(1, &format!("{own}/config.toml")).await, "restricted");
    assert_eq!(client.reads(2, &stage.path("a/file")).await, "a");
}
