//! A scripted model on loopback, in place of the one that a host would reach over the network.
//!
//! It makes its calls in order, one per turn, and records what the host sends back for each. It keeps no other state: a host sends the
//! whole conversation with every request.

mod anthropic;
mod chat;
mod dialect;
mod gemini;
mod http;
mod responses;
mod said;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use serde_json::Value;

use dialect::{Dialect, Reply, Turn};
pub(super) use said::words;

/// A call that the model makes.
#[derive(Clone, Debug)]
pub(super) struct ToolCall {
    /// The server's name in the host's settings.
    pub(super) server: &'static str,
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
}

/// The outcome of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// The host sent this back to the model.
    Sent(String),
    /// The host did not offer the tool. It offered this many others.
    NotOffered(usize),
    /// The conversation ended before this call.
    NotReached,
}

/// The model. It listens until the program ends.
#[derive(Debug)]
pub(super) struct Model {
    /// Its base URL.
    pub(super) address: String,
    script: Arc<Mutex<Script>>,
}

/// The calls and their outcomes.
#[derive(Debug, Default)]
struct Script {
    calls: Vec<ToolCall>,
    outcomes: Vec<Outcome>,
}

impl Model {
    /// Starts listening on loopback.
    pub(super) fn start() -> Result<Model> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("the model cannot listen on loopback")?;
        let address = format!("http://{}", listener.local_addr()?);
        let script = Arc::new(Mutex::new(Script::default()));
        let followed = Arc::clone(&script);
        http::serve(listener, move |request| {
            let mut script = locked(&followed);
            dialect::answer(request, |dialect, turn| script.reply(dialect, turn))
        });
        Ok(Model { address, script })
    }

    /// Sets the calls for the next conversation.
    pub(super) fn will_call(&self, calls: Vec<ToolCall>) {
        let outcomes = vec![Outcome::NotReached; calls.len()];
        *locked(&self.script) = Script { calls, outcomes };
    }

    /// The outcomes of the calls, in order.
    pub(super) fn outcomes(&self) -> Vec<Outcome> {
        locked(&self.script).outcomes.clone()
    }
}

/// A thread that panicked leaves the script as it was.
fn locked(script: &Mutex<Script>) -> MutexGuard<'_, Script> {
    script.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The id of a call; the host returns it with the result.
fn id(kind: &str, position: usize) -> String {
    format!("{kind}_{position}")
}

impl Script {
    fn reply(&mut self, dialect: Dialect, turn: &Turn) -> Reply {
        // Hosts also ask for titles and summaries. They offer no tools then.
        if turn.tools.is_empty() {
            return Reply::Done;
        }
        let results: BTreeMap<&str, &str> =
            turn.results.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
        for (position, call) in self.calls.iter().enumerate() {
            if let Some(text) = results.get(id("call", position).as_str()) {
                self.outcomes[position] = Outcome::Sent((*text).to_owned());
                continue;
            }
            if let Some(tool) = turn.tools.iter().find(|tool| tool.is(call.server, call.tool)) {
                return Reply::Call { id: id("call", position), tool: tool.clone(), arguments: call.arguments.clone() };
            }
            let search = id("search", position);
            if !results.contains_key(search.as_str())
                && let Some((tool, arguments)) = dialect.search(turn, call)
            {
                return Reply::Call { id: search, tool, arguments };
            }
            self.outcomes[position] = Outcome::NotOffered(turn.tools.len());
        }
        Reply::Done
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::dialect::Tool;
    use super::*;

    fn call(server: &'static str) -> ToolCall {
        ToolCall { server, tool: "read_text_file", arguments: json!({"path": "/a"}) }
    }

    fn turn(tools: &[&str], results: &[(&str, &str)]) -> Turn {
        let tool = |name: &&str| Tool { space: None, name: (*name).to_owned() };
        let result = |(id, text): &(&str, &str)| ((*id).to_owned(), (*text).to_owned());
        Turn { tools: tools.iter().map(tool).collect(), results: results.iter().map(result).collect() }
    }

    #[test]
    fn calls_are_made_in_order_and_their_results_kept() {
        let calls = vec![call("serve"), call("absent"), call("npm")];
        let mut script = Script { outcomes: vec![Outcome::NotReached; calls.len()], calls };
        let offered = ["serve_read_text_file", "npm_read_text_file"];
        let mut check = |tools: &[&str], results: &[(&str, &str)], expect: Option<(&str, &str)>| {
            let reply = script.reply(Dialect::Chat, &turn(tools, results));
            let made = match &reply {
                Reply::Call { id, tool, .. } => Some((id.as_str(), tool.name.as_str())),
                Reply::Done => None,
            };
            assert_eq!(made, expect, "{results:?}");
        };
        check(&[], &[], None);
        check(&offered, &[], Some(("call_0", offered[0])));
        check(&offered, &[("call_0", "one")], Some(("call_2", offered[1])));
        check(&offered, &[("call_0", "one"), ("call_2", "two")], None);
        let sent = |text: &str| Outcome::Sent(text.to_owned());
        assert_eq!(script.outcomes, [sent("one"), Outcome::NotOffered(2), sent("two")]);
    }

    #[test]
    fn a_deferred_tool_is_searched_for_once() {
        let mut script = Script { calls: vec![call("npm")], outcomes: vec![Outcome::NotReached] };
        let reply = script.reply(Dialect::Anthropic, &turn(&["ToolSearch"], &[]));
        let Reply::Call { id, arguments, .. } = reply else { panic!("{reply:?}") };
        assert_eq!((id.as_str(), &arguments["query"]), ("search_0", &json!("select:mcp__npm__read_text_file")));
        assert_eq!(script.reply(Dialect::Anthropic, &turn(&["ToolSearch"], &[("search_0", "none")])), Reply::Done);
        assert_eq!(script.outcomes, [Outcome::NotOffered(1)]);
    }

    #[test]
    fn the_model_answers_over_http() {
        use std::io::{Read, Write};

        let model = Model::start().unwrap();
        model.will_call(vec![call("npm")]);
        let ask = |body: Value| {
            let address = model.address.trim_start_matches("http://");
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            let (body, mut answer) = (body.to_string(), String::new());
            write!(stream, "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len())
                .unwrap();
            stream.read_to_string(&mut answer).unwrap();
            serde_json::from_str::<Value>(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
        };
        let tools = json!([{"type": "function", "function": {"name": "npm_read_text_file"}}]);
        let first = ask(json!({"tools": tools, "messages": []}));
        assert_eq!(first["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "npm_read_text_file");
        let result = json!([{"role": "tool", "tool_call_id": "call_0", "content": "one"}]);
        assert_eq!(ask(json!({"tools": tools, "messages": result}))["choices"][0]["finish_reason"], "stop");
        assert_eq!(model.outcomes(), [Outcome::Sent("one".to_owned())]);
    }
}
