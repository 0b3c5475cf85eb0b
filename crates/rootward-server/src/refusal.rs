//! How a refusal reaches a peer: in which form of the protocol.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use rootward_core::session::Why;
use rootward_core::{Denial, PlacedRoot};
use serde_json::Value;

use crate::roots::Roots;

/// A refusal as a peer sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal(rootward_peer::Refusal);

impl Refusal {
    /// The refusal of a path, with the roots in force where they are known.
    pub fn new(denial: &Denial, roots: Option<&Roots>) -> Refusal {
        Refusal::among(denial, roots.map(|roots| (roots.why(), roots.list())))
    }

    /// The same, for whoever keeps roots in another way: why these are in force, and which.
    pub fn among(denial: &Denial, roots: Option<(Why, &[PlacedRoot])>) -> Refusal {
        Refusal(rootward_peer::Refusal::among(denial, roots))
    }

    /// The refusal of a call that needs roots nobody could name in time.
    pub fn pending() -> Refusal {
        Refusal(rootward_peer::Refusal::pending())
    }

    /// The sentence.
    pub fn sentence(&self) -> &str {
        self.0.sentence()
    }

    /// `{code, path, access, roots}`.
    pub fn data(&self) -> &Value {
        self.0.data()
    }

    /// As the result of a tool call, with `isError`.
    pub fn into_tool_result(self) -> CallToolResult {
        let (sentence, data) = self.0.into_parts();
        let mut result = CallToolResult::error(vec![ContentBlock::text(sentence)]);
        result.structured_content = Some(data);
        result
    }

    /// As a JSON-RPC error: -32602.
    pub fn into_error(self) -> ErrorData {
        let (sentence, data) = self.0.into_parts();
        ErrorData::invalid_params(sentence, Some(data))
    }
}

impl From<Refusal> for ErrorData {
    fn from(refusal: Refusal) -> ErrorData {
        refusal.into_error()
    }
}
