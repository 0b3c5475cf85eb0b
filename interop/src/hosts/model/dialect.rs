//! The four APIs that hosts use for models, behind one interface.

use serde_json::{Value, json};

use super::http::{Request, Response};
use super::{ToolCall, anthropic, chat, gemini, responses};

/// A tool that a host offers to its model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Tool {
    /// The namespace, if the host keeps it apart from the name.
    pub(super) space: Option<String>,
    pub(super) name: String,
}

impl Tool {
    /// Whether this is `tool` of `server`. Every host joins the two names in its own way, and some write `_` for `-`.
    pub(super) fn is(&self, server: &str, tool: &str) -> bool {
        let [name, tool] = [&self.name, tool].map(|name| name.replace('-', "_"));
        let before = match &self.space {
            Some(space) if name == tool => space.as_str(),
            Some(_) => return false,
            None => match name.strip_suffix(tool.as_str()) {
                Some(before) => before,
                None => return false,
            },
        };
        before.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| word == server)
    }
}

/// What a request contains.
#[derive(PartialEq, Eq, Debug, Default)]
pub(super) struct Turn {
    pub(super) tools: Vec<Tool>,
    /// The ids of earlier calls, with the text of their results.
    pub(super) results: Vec<(String, String)>,
}

/// What the model answers.
#[derive(PartialEq, Debug)]
pub(super) enum Reply {
    Call {
        id: String,
        tool: Tool,
        arguments: Value,
    },
    /// A text that ends the conversation.
    Done,
}

/// The text that ends a conversation.
pub(super) const DONE: &str = "done";

/// An API for models.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    Anthropic,
    Chat,
    Responses,
    Gemini,
}

/// How an answer is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Delivery {
    Whole,
    Stream,
}

impl Dialect {
    fn of(path: &str) -> Option<Dialect> {
        if path.ends_with("/messages") {
            Some(Dialect::Anthropic)
        } else if path.ends_with("/chat/completions") {
            Some(Dialect::Chat)
        } else if path.ends_with("/responses") {
            Some(Dialect::Responses)
        } else if path.ends_with("enerateContent") {
            Some(Dialect::Gemini)
        } else {
            None
        }
    }

    fn read(self, body: &Value) -> Turn {
        match self {
            Dialect::Anthropic => anthropic::read(body),
            Dialect::Chat => chat::read(body),
            Dialect::Responses => responses::read(body),
            Dialect::Gemini => gemini::read(body),
        }
    }

    fn delivery(self, path: &str, body: &Value) -> Delivery {
        let streamed = match self {
            Dialect::Gemini => path.contains("streamGenerateContent"),
            Dialect::Anthropic | Dialect::Chat | Dialect::Responses => body["stream"] == true,
        };
        if streamed { Delivery::Stream } else { Delivery::Whole }
    }

    fn write(self, reply: &Reply, delivery: Delivery) -> String {
        match self {
            Dialect::Anthropic => anthropic::write(reply, delivery),
            Dialect::Chat => chat::write(reply, delivery),
            Dialect::Responses => responses::write(reply, delivery),
            Dialect::Gemini => gemini::write(reply, delivery),
        }
    }

    /// The call that makes a host offer a deferred tool.
    pub(super) fn search(self, turn: &Turn, call: &ToolCall) -> Option<(Tool, Value)> {
        match self {
            Dialect::Anthropic => anthropic::search(turn, call),
            Dialect::Chat | Dialect::Responses | Dialect::Gemini => None,
        }
    }
}

/// Answers a request; `reply` decides what the model says.
pub(super) fn answer(request: &Request, reply: impl FnOnce(Dialect, &Turn) -> Reply) -> Response {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let Some(dialect) = Dialect::of(&request.path) else {
        return Response { kind: "application/json", body: answer_other(&request.path).to_string() };
    };
    let delivery = dialect.delivery(&request.path, &body);
    let reply = reply(dialect, &dialect.read(&body));
    let kind = match delivery {
        Delivery::Whole => "application/json",
        Delivery::Stream => "text/event-stream",
    };
    Response { kind, body: dialect.write(&reply, delivery) }
}

/// The answer to requests that are not part of a conversation: the list of models, the number of tokens.
fn answer_other(path: &str) -> Value {
    if path.ends_with("/models") {
        let model = json!({"id": "scripted", "slug": "scripted", "object": "model", "owned_by": "nobody"});
        json!({"object": "list", "data": [model], "models": [model]})
    } else {
        json!({"input_tokens": 1, "totalTokens": 1})
    }
}

/// An event of an SSE stream.
pub(super) fn event(name: Option<&str>, data: &Value) -> String {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}

/// The elements of an array. Any other value has none.
pub(super) fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A string. Any other value gives an empty string.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_by_its_server_and_its_name() {
        let check = |space: Option<&str>, name: &str, expect: bool| {
            let tool = Tool { space: space.map(str::to_owned), name: name.to_owned() };
            assert_eq!(tool.is("npm", "read_text_file"), expect, "{tool:?}");
        };
        check(None, "mcp__npm__read_text_file", true);
        check(None, "npm-read_text_file", true);
        check(None, "npm_read_text_file", true);
        check(None, "mcp_npm_read_text_file", true);
        check(None, "serve_read_text_file", false);
        check(None, "npm_read_file", false);
        check(None, "read_text_file", false);
        check(None, "mcp__npm__read-text-file", true);
        check(Some("mcp__npm__"), "read_text_file", true);
        check(Some("mcp__npm"), "read_file", false);
        check(Some("mcp__serve"), "read_text_file", false);
    }

    #[test]
    fn a_dialect_is_known_by_its_path() {
        let check = |path: &str, expect: Option<Dialect>| assert_eq!(Dialect::of(path), expect, "{path}");
        check("/v1/messages", Some(Dialect::Anthropic));
        check("/v1/messages/count_tokens", None);
        check("/v1/chat/completions", Some(Dialect::Chat));
        check("/v1/responses", Some(Dialect::Responses));
        check("/v1beta/models/a:streamGenerateContent", Some(Dialect::Gemini));
        check("/v1beta/models/a:generateContent", Some(Dialect::Gemini));
        check("/v1/models", None);
    }
}
