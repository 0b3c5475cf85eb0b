//! The protocol forms in which a refusal reaches a peer.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use rootward_protocol::Refusal;

/// A refusal as rmcp sends it.
pub trait RefusalAnswer {
    /// As the result of a tool call, with `isError`.
    fn into_tool_result(self) -> CallToolResult;

    /// As a JSON-RPC error: -32602.
    fn into_error(self) -> ErrorData;
}

impl RefusalAnswer for Refusal {
    fn into_tool_result(self) -> CallToolResult {
        let (sentence, data) = self.into_parts();
        let mut result = CallToolResult::error(vec![ContentBlock::text(sentence)]);
        result.structured_content = Some(data);
        result
    }

    fn into_error(self) -> ErrorData {
        let (sentence, data) = self.into_parts();
        ErrorData::invalid_params(sentence, Some(data))
    }
}
