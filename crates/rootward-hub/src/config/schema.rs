//! The JSON Schema of the configuration, for editors. Tests compare it with the reader.

/// The JSON Schema of the configuration file.
pub const SCHEMA: &str = include_str!("../../schema/mcp.schema.json");

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::{HubConfig, HubSettings, hub_settings, server, settings, vscode};
    use super::*;
    use crate::recipe::HomeKind;

    fn schema() -> Value {
        serde_json::from_str(SCHEMA).unwrap()
    }

    fn at<'s>(schema: &'s Value, pointer: &str) -> &'s Value {
        schema.pointer(pointer).unwrap_or_else(|| panic!("{pointer}"))
    }

    /// Objects in the schema, the keys that the reader knows there, and whether it rejects others.
    fn objects() -> Vec<(&'static str, Vec<&'static str>, bool)> {
        vec![
            ("", super::super::KEYS.to_vec(), false),
            ("/definitions/server", server::KEYS.to_vec(), false),
            ("/definitions/hub", hub_settings::KEYS.to_vec(), true),
            ("/definitions/hub/properties/limits", hub_settings::LIMIT_KEYS.to_vec(), true),
            ("/definitions/settings", settings::KEYS.to_vec(), true),
            ("/definitions/settings/properties/allow", settings::ALLOW_KEYS.to_vec(), true),
            ("/definitions/settings/properties/deny", settings::DENY_KEYS.to_vec(), true),
            ("/definitions/settings/properties/tools", settings::TOOLS_KEYS.to_vec(), true),
            ("/definitions/settings/properties/paths/items", settings::PATHS_KEYS.to_vec(), true),
            ("/definitions/sandbox", vscode::KEYS.to_vec(), false),
            ("/definitions/sandbox/properties/filesystem", vscode::FILESYSTEM_KEYS.to_vec(), true),
            ("/definitions/sandbox/properties/network", vscode::NETWORK_KEYS.to_vec(), false),
        ]
    }

    #[test]
    fn the_schema_has_the_keys_of_the_reader() {
        let schema = schema();
        for (pointer, mut keys, is_closed) in objects() {
            let object = at(&schema, pointer);
            let mut known: Vec<&str> = object["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            known.sort_unstable();
            keys.sort_unstable();
            assert_eq!(known, keys, "{pointer}");
            assert_eq!(object.get("additionalProperties") == Some(&Value::Bool(false)), is_closed, "{pointer}");
        }
    }

    fn words<T>(all: &[(T, &'static str)]) -> Vec<&'static str> {
        all.iter().map(|(_, word)| *word).collect()
    }

    #[test]
    fn the_schema_has_the_words_of_the_reader() {
        let schema = schema();
        let check =
            |pointer: &str, words: Vec<&str>| assert_eq!(*at(&schema, pointer), serde_json::json!(words), "{pointer}");
        let settings_at = |key: &str| format!("/definitions/settings/properties/{key}/enum");
        check("/definitions/hub/properties/catalog/enum", words(&hub_settings::CATALOG));
        check("/definitions/hub/properties/prefix/enum", words(&hub_settings::PREFIX));
        check(&settings_at("isolation"), words(&settings::ISOLATION));
        check(&settings_at("sandbox"), words(&settings::SANDBOX));
        check(&settings_at("network"), words(&settings::NETWORK));
        check(&settings_at("unix_sockets"), words(&settings::UNIX_SOCKETS));
        check(&settings_at("access"), settings::ACCESS.to_vec());
        check(&settings_at("home"), HomeKind::ALL.into_iter().map(HomeKind::word).collect());
        let types = [server::STDIO].into_iter().chain(server::HTTP).collect();
        check("/definitions/server/properties/type/enum", types);
    }

    #[test]
    fn the_schema_has_the_defaults_of_the_reader() {
        let schema = schema();
        let hub = HubSettings::default();
        let check = |key: &str, value: Value| {
            assert_eq!(*at(&schema, &format!("/definitions/hub/properties/{key}/default")), value, "{key}");
        };
        check("separator", Value::from(hub.separator));
        check("idle_seconds", Value::from(hub.idle.as_secs()));
        check("limits/properties/sessions", Value::from(hub.limits.sessions));
        check("limits/properties/children", Value::from(hub.limits.children));
        check("limits/properties/queued_calls", Value::from(hub.limits.queued_calls));
        check("limits/properties/open_questions", Value::from(hub.limits.open_questions));
    }

    const PAGE: &str = include_str!("../../../../docs/hub.md");

    #[test]
    fn the_page_has_every_key() {
        for (pointer, keys, _) in objects() {
            let within = pointer.rsplit('/').next().unwrap();
            for key in keys {
                let known = [format!("`{key}`"), format!("`{within}.{key}`"), format!("`{key}."), format!("\"{key}\"")];
                assert!(known.iter().any(|text| PAGE.contains(text)), "{pointer} {key}");
            }
        }
    }

    #[test]
    fn the_examples_of_the_page_are_read() {
        let blocks: Vec<&str> = PAGE.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
        assert!(blocks.len() > 5, "{}", blocks.len());
        for block in blocks {
            let text = if block.contains("mcpServers") {
                block.to_owned()
            } else {
                format!("{{\"servers\": {{\"a\": {block}}}}}")
            };
            let config = HubConfig::read(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert!(!config.servers.is_empty() && config.notes.is_empty(), "{text}");
        }
    }

    /// Gives each key of the schema an invalid value. An error proves that the key is read, and below `rootward` that
    /// its type is checked.
    #[test]
    fn every_key_of_the_schema_is_read() {
        let server = |rest: &str| format!(r#"{{"servers": {{"a": {{"command": "a", {rest}}}}}}}"#);
        let settings = |rest: &str| server(&format!(r#""rootward": {{{rest}}}"#));
        let cases =
            objects().into_iter().flat_map(|(pointer, keys, _)| keys.into_iter().map(move |key| (pointer, key)));
        for (pointer, key) in cases {
            let wrong = match (pointer, key) {
                ("/definitions/server", "sandbox") | ("/definitions/sandbox", "network") => "[[0]]",
                _ => "{\"no\": [[0]]}",
            };
            let wrong = format!("\"{key}\": {wrong}");
            let text = match (pointer, key) {
                // Clients may write other values under these keys, or the key accepts several types.
                ("", "sandbox" | "mcp") | ("/definitions/server", "transport" | "command") => continue,
                ("", "mcpServers" | "servers") => format!("{{{wrong}}}"),
                ("", _) => format!("{{\"servers\": {{}}, {wrong}}}"),
                ("/definitions/server", "url" | "serverUrl" | "httpUrl" | "headers") => {
                    let url = if key == "headers" { "\"url\": \"http://a\", " } else { "" };
                    format!(r#"{{"servers": {{"a": {{{url}{wrong}}}}}}}"#)
                }
                ("/definitions/server", _) => server(&wrong),
                ("/definitions/hub", _) => format!(r#"{{"servers": {{}}, "rootward": {{{wrong}}}}}"#),
                ("/definitions/hub/properties/limits", _) => {
                    format!(r#"{{"servers": {{}}, "rootward": {{"limits": {{{wrong}}}}}}}"#)
                }
                ("/definitions/settings", _) => settings(&wrong),
                ("/definitions/settings/properties/paths/items", _) => {
                    let other = if key == "from" { "\"to\": \"/b\"" } else { "\"from\": \"/a\"" };
                    settings(&format!(r#""paths": [{{{other}, {wrong}}}]"#))
                }
                ("/definitions/sandbox", _) => server(&format!(r#""sandbox": {{{wrong}}}"#)),
                (pointer, _) => {
                    let within = pointer.rsplit('/').next().unwrap();
                    let wrong = format!("\"{within}\": {{{wrong}}}");
                    if pointer.starts_with("/definitions/sandbox") {
                        server(&format!(r#""sandbox": {{{wrong}}}"#))
                    } else {
                        settings(&wrong)
                    }
                }
            };
            let error = HubConfig::read(&text).expect_err(&text);
            assert!(error.says.contains(key), "{text}: {error}");
            assert!(!error.hint.is_empty(), "{text}");
        }
    }
}
