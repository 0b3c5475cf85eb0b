//! What changes between two configurations, for a running hub.

use std::collections::BTreeMap;

use super::{HubConfig, ServerConfig};

/// One difference between two configurations. A disabled server counts as absent.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ConfigChange {
    /// The named server was removed.
    Removed(String),
    /// The named server has a different command, address or settings.
    Changed(String),
    /// The named server is new.
    Added(String),
    /// The hub's own settings differ.
    Hub,
    /// The remaining servers are in a different order.
    Order,
}

/// The differences: removed, changed and added servers, each in file order, then the rest.
pub fn changes(old: &HubConfig, new: &HubConfig) -> Vec<ConfigChange> {
    let (before, after) = (by_name(old), by_name(new));
    let gone = old.enabled().filter(|server| !after.contains_key(server.name.as_str()));
    let mut all: Vec<ConfigChange> = gone.map(|server| ConfigChange::Removed(server.name.clone())).collect();
    let changed =
        new.enabled().filter(|server| before.get(server.name.as_str()).is_some_and(|known| *known != *server));
    all.extend(changed.map(|server| ConfigChange::Changed(server.name.clone())));
    let added = new.enabled().filter(|server| !before.contains_key(server.name.as_str()));
    all.extend(added.map(|server| ConfigChange::Added(server.name.clone())));
    if old.hub != new.hub {
        all.push(ConfigChange::Hub);
    }
    let stay_before = old.enabled().map(|server| &server.name).filter(|name| after.contains_key(name.as_str()));
    let stay_after = new.enabled().map(|server| &server.name).filter(|name| before.contains_key(name.as_str()));
    if !stay_before.eq(stay_after) {
        all.push(ConfigChange::Order);
    }
    all
}

fn by_name(config: &HubConfig) -> BTreeMap<&str, &ServerConfig> {
    config.enabled().map(|server| (server.name.as_str(), server)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expect: &[ConfigChange]) {
        let read = |servers: &str| HubConfig::read(&format!("{{{servers}}}")).unwrap();
        assert_eq!(changes(&read(old), &read(new)), expect, "{old} {new}");
    }

    #[test]
    fn differences() {
        let named = |name: &str| name.to_owned();
        let two = r#""servers": {"a": {"command": "a"}, "b": {"command": "b"}}"#;
        check(two, two, &[]);
        check(
            two,
            "// moved\n\n\"servers\": {\"a\": {\"command\": \"a\", \"note\": 1}, \"b\": {\"command\": \"b\"}}",
            &[],
        );
        check(two, r#""servers": {"b": {"command": "b"}, "a": {"command": "a"}}"#, &[ConfigChange::Order]);
        check(two, r#""servers": {"b": {"command": "b"}}"#, &[ConfigChange::Removed(named("a"))]);
        check(r#""servers": {"b": {"command": "b"}}"#, two, &[ConfigChange::Added(named("a"))]);
        check(
            two,
            r#""servers": {"a": {"command": "a", "args": ["x"]}, "b": {"command": "b", "disabled": true}, "c": {"url": "http://c"}}"#,
            &[ConfigChange::Removed(named("b")), ConfigChange::Changed(named("a")), ConfigChange::Added(named("c"))],
        );
        check(two, &format!(r#"{two}, "rootward": {{"catalog": "compact"}}"#), &[ConfigChange::Hub]);
        let secret = |value: &str| format!(r#""servers": {{"a": {{"command": "a", "env": {{"T": "{value}"}}}}}}"#);
        check(&secret("one"), &secret("two"), &[ConfigChange::Changed(named("a"))]);
        assert_eq!(changes(&HubConfig::default(), &HubConfig::default()), []);
    }
}
