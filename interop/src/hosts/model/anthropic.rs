//! Anthropic's Messages API, which Claude Code uses.

use serde_json::{Value, json};

use super::ToolCall;
use super::dialect::{DONE, Delivery, Reply, Tool, Turn, elements, event, text};
use super::said::words;

/// The tool of Claude Code that finds deferred tools.
const SEARCH: &str = "ToolSearch";

pub(super) fn read(body: &Value) -> Turn {
    let blocks = elements(&body["messages"]).flat_map(|message| elements(&message["content"]));
    let results = blocks.filter(|block| block["type"] == "tool_result");
    Turn {
        tools: elements(&body["tools"]).map(|tool| Tool { space: None, name: text(&tool["name"]) }).collect(),
        results: results.map(|block| (text(&block["tool_use_id"]), words(&block["content"]))).collect(),
    }
}

pub(super) fn search(turn: &Turn, call: &ToolCall) -> Option<(Tool, Value)> {
    let tool = turn.tools.iter().find(|tool| tool.name == SEARCH)?;
    let query = format!("select:mcp__{}__{}", call.server, call.tool);
    Some((tool.clone(), json!({"query": query, "max_results": 1})))
}

pub(super) fn write(reply: &Reply, delivery: Delivery) -> String {
    let (block, opened, delta, reason) = match reply {
        Reply::Call { id, tool, arguments } => (
            json!({"type": "tool_use", "id": id, "name": tool.name, "input": arguments}),
            json!({"type": "tool_use", "id": id, "name": tool.name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
            "tool_use",
        ),
        Reply::Done => (
            json!({"type": "text", "text": DONE}),
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": DONE}),
            "end_turn",
        ),
    };
    let message = |content: Value, reason: Value| {
        json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": content,
            "stop_reason": reason, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
        })
    };
    if delivery == Delivery::Whole {
        return message(json!([block]), json!(reason)).to_string();
    }
    let events = [
        json!({"type": "message_start", "message": message(json!([]), Value::Null)}),
        json!({"type": "content_block_start", "index": 0, "content_block": opened}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 1},
        }),
        json!({"type": "message_stop"}),
    ];
    events.iter().map(|data| event(data["type"].as_str(), data)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_and_results_are_read() {
        let turn = read(&json!({
            "tools": [{"name": "mcp__npm__read_text_file"}],
            "messages": [
                {"role": "user", "content": "read it"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "call_0"}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_0", "content": [{"type": "text", "text": "one"}]}]},
            ],
        }));
        assert_eq!(turn.tools[0].name, "mcp__npm__read_text_file");
        assert_eq!(turn.results, [("call_0".to_owned(), "one\ntext".to_owned())]);
    }
}
