//! The result of a tool.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// The result of a successful call.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Text, which is also the data: `{"content": …}`.
    Text(String),
    /// Incomplete text, and a sentence that says so and how to continue.
    Part { text: String, note: String },
    /// Content for a reader, and the same as data.
    Data { shown: Vec<ContentBlock>, data: Value },
}

impl Answer {
    pub(crate) fn text(text: impl Into<String>) -> Answer {
        Answer::Text(text.into())
    }

    /// Text for a reader, and data for a program.
    pub(crate) fn with_data(text: impl Into<String>, data: Value) -> Answer {
        Answer::Data { shown: vec![ContentBlock::text(text)], data }
    }
}

impl From<Answer> for CallToolResult {
    fn from(answer: Answer) -> CallToolResult {
        let (shown, data) = match answer {
            Answer::Text(text) => {
                let data = json!({ "content": text });
                (vec![ContentBlock::text(text)], data)
            }
            Answer::Part { text, note } => {
                let data = json!({ "content": text, "note": note });
                (vec![ContentBlock::text(text), ContentBlock::text(note)], data)
            }
            Answer::Data { shown, data } => (shown, data),
        };
        let mut result = CallToolResult::success(shown);
        result.structured_content = Some(data);
        result
    }
}
