//! What a host sends to a server: its first message, and the roots that it shares.

use std::path::Path;

use serde_json::Value;

/// Prefix of the members that replace the handshake in the modern era.
const META: &str = "io.modelcontextprotocol/";

/// What a host sent to a server.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Heard {
    /// Its first message, with the revision.
    pub(super) first: String,
    /// The roots that it shares.
    pub(super) roots: String,
}

/// What a host and a server sent each other over HTTP.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct HeardOverHttp {
    pub(super) heard: Heard,
    /// How the server asked for roots.
    pub(super) asked: String,
}

impl Heard {
    /// Reads the lines that a host in `project` sent.
    pub(super) fn read(lines: &str, project: &Path) -> Heard {
        let messages: Vec<Value> = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let first = messages.first().map_or_else(|| "nothing".to_owned(), first);
        Heard { first, roots: roots(&messages, project) }
    }
}

fn first(message: &Value) -> String {
    let (method, params) = (message["method"].as_str().unwrap_or("an answer"), &message["params"]);
    let revision = &params["_meta"][format!("{META}protocolVersion")];
    let revision = revision.as_str().or_else(|| params["protocolVersion"].as_str()).unwrap_or("no revision");
    format!("`{method}`, {revision}")
}

fn roots(messages: &[Value], project: &Path) -> String {
    let declared = messages.iter().find_map(|message| {
        let params = &message["params"];
        let of = |value: &Value| value.get("roots").cloned();
        of(&params["_meta"][format!("{META}clientCapabilities")]).or_else(|| of(&params["capabilities"]))
    });
    let Some(declared) = declared else {
        return "none".to_owned();
    };
    let lists: Vec<&Value> = messages.iter().flat_map(lists).collect();
    let uri = format!("file://{}", project.display());
    let shared = match lists.last().and_then(|list| list.as_array()) {
        None => "no answer".to_owned(),
        Some(list) if list.is_empty() => "an empty list".to_owned(),
        Some(list)
            if list.iter().all(|root| root["uri"].as_str().is_some_and(|it| it.trim_end_matches('/') == uri)) =>
        {
            "the project".to_owned()
        }
        Some(list) => format!("{} directories", list.len()),
    };
    if declared["listChanged"] == true { format!("{shared}, `listChanged`") } else { shared }
}

/// The lists of roots in a message: in its result, or in its answers to a server's input requests.
fn lists(message: &Value) -> impl Iterator<Item = &Value> {
    let answers = message["params"]["inputResponses"].as_object().into_iter().flat_map(|answers| answers.values());
    let own = message.get("result");
    own.into_iter().chain(answers).filter_map(|answer| answer.get("roots").or_else(|| answer["result"].get("roots")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_in_both_eras() {
        let check = |lines: &[&str], first: &str, roots: &str| {
            let expect = Heard { first: first.to_owned(), roots: roots.to_owned() };
            assert_eq!(Heard::read(&lines.join("\n"), Path::new("/p/one")), expect);
        };
        check(
            &[
                r#"{"method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {"roots": {"listChanged": true}}}}"#,
                r#"{"id": 1, "result": {"roots": [{"uri": "file:///p/one"}]}}"#,
            ],
            "`initialize`, 2025-11-25",
            "the project, `listChanged`",
        );
        check(
            &[r#"{"method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}}"#],
            "`initialize`, 2025-06-18",
            "none",
        );
        check(
            &[
                r#"{"method": "server/discover", "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {"roots": {}}}}}"#,
                r#"{"method": "tools/call", "params": {"inputResponses": {"q": {"roots": [{"uri": "file:///p/one"}, {"uri": "file:///p/two"}]}}}}"#,
            ],
            "`server/discover`, 2026-07-28",
            "2 directories",
        );
        check(
            &[
                r#"{"method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}}}"#,
                r#"{"id": 1, "result": {"roots": []}}"#,
            ],
            "`initialize`, 2025-11-25",
            "an empty list",
        );
        check(&[], "nothing", "none");
    }
}
