//! The Responses API of `OpenAI`, which Codex uses. Tools may be in namespaces.

use serde_json::{Value, json};

use super::dialect::{DONE, Delivery, Reply, Tool, Turn, elements, event, text};
use super::said::words;

pub(super) fn read(body: &Value) -> Turn {
    let results = elements(&body["input"]).filter(|item| item["type"] == "function_call_output");
    Turn {
        tools: elements(&body["tools"]).flat_map(tools).collect(),
        results: results.map(|item| (text(&item["call_id"]), words(&item["output"]))).collect(),
    }
}

fn tools(tool: &Value) -> Vec<Tool> {
    let name = text(&tool["name"]);
    if tool["type"] == "namespace" {
        let within = elements(&tool["tools"]);
        within.map(|tool| Tool { space: Some(name.clone()), name: text(&tool["name"]) }).collect()
    } else {
        vec![Tool { space: None, name }]
    }
}

pub(super) fn write(reply: &Reply, delivery: Delivery) -> String {
    let item = match reply {
        Reply::Call { id, tool, arguments } => {
            let mut item = json!({
                "type": "function_call", "id": "item_1", "call_id": id, "name": tool.name,
                "arguments": arguments.to_string(), "status": "completed",
            });
            if let Some(space) = &tool.space {
                item["namespace"] = json!(space);
            }
            item
        }
        Reply::Done => json!({
            "type": "message", "id": "item_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": DONE, "annotations": []}],
        }),
    };
    let response = |status: &str, output: Value| {
        json!({
            "id": "response_1", "object": "response", "created_at": 1, "status": status, "model": "scripted", "output": output,
            "usage": {
                "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2,
            },
        })
    };
    if delivery == Delivery::Whole {
        return response("completed", json!([item])).to_string();
    }
    let events = [
        json!({"type": "response.created", "response": response("in_progress", json!([]))}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": response("completed", json!([item]))}),
    ];
    events.iter().map(|data| event(data["type"].as_str(), data)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_and_results_are_read() {
        let turn = read(&json!({
            "tools": [
                {"type": "function", "name": "shell"},
                {"type": "namespace", "name": "mcp__npm", "tools": [{"name": "read_text_file"}]},
            ],
            "input": [
                {"type": "message", "role": "user"},
                {"type": "function_call_output", "call_id": "call_0", "output": "[{\"text\": \"one\"}]"},
            ],
        }));
        let spaces: Vec<_> = turn.tools.iter().map(|tool| (tool.space.as_deref(), tool.name.as_str())).collect();
        assert_eq!(spaces, [(None, "shell"), (Some("mcp__npm"), "read_text_file")]);
        assert_eq!(turn.results, [("call_0".to_owned(), "one".to_owned())]);
    }
}
