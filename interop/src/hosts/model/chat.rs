//! The Chat Completions API of `OpenAI`, which most hosts use for models of other vendors.

use serde_json::{Value, json};

use super::dialect::{DONE, Delivery, Reply, Tool, Turn, elements, event, text};
use super::said::words;

pub(super) fn read(body: &Value) -> Turn {
    let results = elements(&body["messages"]).filter(|message| message["role"] == "tool");
    let name = |tool: &Value| Tool { space: None, name: text(&tool["function"]["name"]) };
    Turn {
        tools: elements(&body["tools"]).map(name).collect(),
        results: results.map(|message| (text(&message["tool_call_id"]), words(&message["content"]))).collect(),
    }
}

pub(super) fn write(reply: &Reply, delivery: Delivery) -> String {
    let (message, reason) = match reply {
        Reply::Call { id, tool, arguments } => {
            let function = json!({"name": tool.name, "arguments": arguments.to_string()});
            let call = json!({"index": 0, "id": id, "type": "function", "function": function});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
        Reply::Done => (json!({"role": "assistant", "content": DONE}), "stop"),
    };
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    let answer = |kind: &str, choice: Value, usage: Value| json!({"id": "chat_1", "object": kind, "created": 1, "model": "scripted", "choices": [choice], "usage": usage});
    if delivery == Delivery::Whole {
        let choice = json!({"index": 0, "message": message, "finish_reason": reason});
        return answer("chat.completion", choice, usage).to_string();
    }
    let part = |delta: Value, reason: Value, usage: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        event(None, &answer("chat.completion.chunk", choice, usage))
    };
    let end = "data: [DONE]\n\n";
    [part(message, Value::Null, Value::Null), part(json!({}), json!(reason), usage), end.to_owned()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_and_results_are_read() {
        let turn = read(&json!({
            "tools": [{"type": "function", "function": {"name": "npm_read_text_file"}}],
            "messages": [{"role": "user", "content": "read it"}, {"role": "tool", "tool_call_id": "call_0", "content": "one"}],
        }));
        assert_eq!(turn.tools[0].name, "npm_read_text_file");
        assert_eq!(turn.results, [("call_0".to_owned(), "one".to_owned())]);
    }
}
