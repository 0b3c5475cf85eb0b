//! The result of a tool call.

#![expect(clippy::panic, clippy::missing_panics_doc, reason = "a test whose answer has another form has failed")]

use std::ops::Deref;

use serde_json::Value;

/// The result of a tool call. It can be indexed like the JSON that it is.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolResult(Value);

impl ToolResult {
    /// The result in a response, which must not be an error.
    pub fn of(mut answer: Value) -> ToolResult {
        match answer.get_mut("result") {
            Some(result) => ToolResult(result.take()),
            None => panic!("not a result: {answer}"),
        }
    }

    /// The text of the first content block.
    pub fn text(&self) -> &str {
        self["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {}", self.0))
    }

    /// The structured content.
    pub fn data(&self) -> &Value {
        &self["structuredContent"]
    }

    /// The text of a call that must have succeeded.
    pub fn success(&self) -> &str {
        assert_eq!(self["isError"], false, "{}", self.0);
        self.text()
    }

    /// The text of a call that must have failed.
    pub fn failure(&self) -> &str {
        self.code();
        self.text()
    }

    /// The code of a refusal; the call must have failed.
    pub fn code(&self) -> Option<&str> {
        assert_eq!(self["isError"], true, "{}", self.0);
        self.data()["code"].as_str()
    }

    /// Why the call failed: the code of a refusal, or else the text. The call must have failed.
    pub fn why(&self) -> &str {
        self.code().unwrap_or_else(|| self.text())
    }
}

impl Deref for ToolResult {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

/// The code of a refusal, or else the tool's text.
pub fn said(answer: &Value) -> String {
    let result = ToolResult::of(answer.clone());
    if result.data()["code"].is_string() { result.why() } else { result.text() }.to_owned()
}
