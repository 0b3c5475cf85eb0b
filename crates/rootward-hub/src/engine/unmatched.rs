//! Reports overrides for arguments that no tool of the server has: probably a misspelled name, so the call would
//! still be refused.

use std::cmp::Reverse;

use super::rules::{Treatments, argument};
use crate::scan::{Need, Tool, Treatment};

/// How many names are suggested.
const MOST_NAMES: usize = 8;

/// The longest name that is suggested, in bytes. Tool names are the server's own text.
const LONGEST_NAME: usize = 200;

/// A message for each `--treat` that names no argument of these tools.
pub(super) fn unmatched(treatments: &Treatments, tools: &[&Tool]) -> Vec<String> {
    treatments.about_this_server().filter_map(|(place, treatment)| sentence(place, treatment, tools)).collect()
}

fn sentence(place: &str, treatment: Treatment, tools: &[&Tool]) -> Option<String> {
    let named = || tools.iter().filter_map(|tool| Some((*tool, argument(place, tool.name())?)));
    // `arguments` means all of them: a server may take a list, or a map with any keys.
    if named().any(|(tool, key)| key == "arguments" || tool.arguments().contains(&key)) {
        return None;
    }
    let flag = format!("`--treat {place}={}`", word(treatment));
    let (tool, key) = place.rsplit_once('.').unwrap_or((place, ""));
    Some(match named().next() {
        Some((tool, _)) => {
            let known = offered(key, "arguments", &tool.arguments());
            format!("{flag} matches no argument of `{}`{known}", tool.name())
        }
        None => {
            let tools: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
            format!("{flag} matches no tool of this server{}", offered(tool, "tools", &tools))
        }
    })
}

fn word(treatment: Treatment) -> &'static str {
    match treatment {
        Treatment::Text => "text",
        Treatment::Path(Need::READ) => "read",
        Treatment::Path(_) => "write",
    }
}

/// The end of the message: the available names, most similar to `wanted` first.
fn offered(wanted: &str, what: &str, names: &[&str]) -> String {
    let mut names: Vec<&str> = names.iter().copied().filter(|name| name.len() <= LONGEST_NAME).collect();
    let wanted = wanted.get(..LONGEST_NAME).unwrap_or(wanted).to_lowercase();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1000")]
    let likeness = |name: &str| (strsim::jaro_winkler(&wanted, &name.to_lowercase()) * 1000.0) as u32;
    names.sort_unstable();
    names.sort_by_cached_key(|name| Reverse(likeness(name)));
    let shown: Vec<String> = names.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(MOST_NAMES) {
        _ if names.is_empty() => ", which lists none".to_owned(),
        0 => format!("; its {what} are {}", shown.join(", ")),
        more => format!("; its {what} are {} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;
    use crate::engine::rules::About;

    fn tools() -> Vec<Tool> {
        let list = [
            json!({"name": "get-library-docs", "inputSchema": {"properties": {"libraryId": {}, "topic": {}}}}),
            json!({"name": "resolve-library-id", "inputSchema": {"properties": {"libraryName": {}}}}),
            json!({"name": "create_entities", "inputSchema": {
                "properties": {"entities": {"type": "array", "items": {"properties": {"name": {"type": "string"}}}}},
                "additionalProperties": false,
            }}),
            json!({"name": "git.log", "inputSchema": {"properties": {"repo.path": {}}}}),
            json!({"name": "ping"}),
        ];
        list.iter().map(|tool| Tool::from_listing(&to_raw_value(tool).unwrap()).unwrap()).collect()
    }

    #[track_caller]
    fn check(place: &str, expect: &[&str]) {
        let mut treatments = Treatments::default();
        treatments.add(place, Treatment::Text, About::ThisServer);
        let tools = tools();
        assert_eq!(unmatched(&treatments, &tools.iter().collect::<Vec<_>>()), expect, "{place}");
    }

    #[test]
    fn a_name_that_matches_nothing_is_reported() {
        for place in ["get-library-docs.libraryId", "create_entities.name", "git.log.repo.path", "ping.arguments"] {
            check(place, &[]);
        }
        check(
            "get-librarydocs.libraryId",
            &["`--treat get-librarydocs.libraryId=text` matches no tool of this server; its tools are \
               `get-library-docs`, `resolve-library-id`, `git.log`, `create_entities`, `ping`"],
        );
        check(
            "get-library-docs.library_id",
            &[
                "`--treat get-library-docs.library_id=text` matches no argument of `get-library-docs`; its arguments are \
               `libraryId`, `topic`",
            ],
        );
        check("ping.x", &["`--treat ping.x=text` matches no argument of `ping`, which lists none"]);
    }

    #[test]
    fn overrides_for_every_server_are_not_reported() {
        let mut treatments = Treatments::default();
        treatments.add("no.such", Treatment::Text, About::EveryServer);
        assert!(unmatched(&treatments, &[]).is_empty());
    }

    #[test]
    fn not_every_name_is_offered() {
        let names: Vec<String> = (0..20).map(|number| format!("tool{number}")).collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        let long = "tool".repeat(100);
        names.push(&long);
        let said = offered("tool19", "tools", &names);
        assert!(said.starts_with("; its tools are `tool19`, `tool1") && said.ends_with(" and 12 more"), "{said}");
    }
}
