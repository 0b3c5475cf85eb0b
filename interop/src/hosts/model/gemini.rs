//! Gemini's `generateContent` API, which Gemini CLI uses.

use serde_json::{Value, json};

use super::dialect::{DONE, Delivery, Reply, Tool, Turn, elements, event, text};
use super::said::words;

pub(super) fn read(body: &Value) -> Turn {
    let declared = elements(&body["tools"]).flat_map(|tool| elements(&tool["functionDeclarations"]));
    let parts = elements(&body["contents"]).flat_map(|content| elements(&content["parts"]));
    let results = parts.map(|part| &part["functionResponse"]).filter(|result| result.is_object());
    Turn {
        tools: declared.map(|tool| Tool { space: None, name: text(&tool["name"]) }).collect(),
        results: results.map(|result| (text(&result["id"]), words(&result["response"]))).collect(),
    }
}

pub(super) fn write(reply: &Reply, delivery: Delivery) -> String {
    let part = match reply {
        Reply::Call { id, tool, arguments } => {
            json!({"functionCall": {"id": id, "name": tool.name, "args": arguments}})
        }
        Reply::Done => json!({"text": DONE}),
    };
    let content = json!({"role": "model", "parts": [part]});
    let answer = json!({
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "scripted", "responseId": "response_1",
    });
    match delivery {
        Delivery::Whole => answer.to_string(),
        Delivery::Stream => event(None, &answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_and_results_are_read() {
        let turn = read(&json!({
            "tools": [{"functionDeclarations": [{"name": "mcp_npm_read_text_file"}]}],
            "contents": [
                {"role": "user", "parts": [{"text": "read it"}]},
                {"role": "user", "parts": [{"functionResponse": {"id": "call_0", "response": {"output": "one"}}}]},
            ],
        }));
        assert_eq!(turn.tools[0].name, "mcp_npm_read_text_file");
        assert_eq!(turn.results, [("call_0".to_owned(), "one".to_owned())]);
    }
}
