//! Tools that answer with content of each kind, and one that tells its progress.

use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock, ProgressNotificationParam, ResourceContents};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, tool, tool_router};
use serde_json::json;

use crate::server::Server;

/// A picture of one pixel, in base64.
pub(crate) const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A sound without a single sample, in base64.
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

#[tool_router(router = content_tools, vis = "pub(crate)")]
impl Server {
    #[tool(description = "Answer with text")]
    fn test_simple_text() -> CallToolResult {
        text("This is a simple text response for testing.")
    }

    #[tool(description = "Answer with a picture")]
    fn test_image_content() -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::image(PICTURE, "image/png")])
    }

    #[tool(description = "Answer with a sound")]
    fn test_audio_content() -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::audio(SOUND, "audio/wav")])
    }

    #[tool(description = "Answer with a resource")]
    fn test_embedded_resource() -> CallToolResult {
        let resource = ResourceContents::text("This is an embedded resource content.", "test://embedded-resource");
        CallToolResult::success(vec![ContentBlock::resource(resource)])
    }

    #[tool(description = "Answer with text, a picture and a resource")]
    fn test_multiple_content_types() -> CallToolResult {
        let data = json!({"test": "data", "value": 123}).to_string();
        let resource = ResourceContents::text(data, "test://mixed-content-resource").with_mime_type("application/json");
        CallToolResult::success(vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PICTURE, "image/png"),
            ContentBlock::resource(resource),
        ])
    }

    #[tool(description = "Answer with an error")]
    fn test_error_handling() -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text("This tool intentionally returns an error for testing")])
    }

    #[tool(description = "Report progress on the way")]
    async fn test_tool_with_progress(context: RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
        for done in [0.0, 50.0, 100.0] {
            if let Some(token) = context.meta.get_progress_token() {
                let progress = ProgressNotificationParam::new(token, done).with_total(100.0);
                context.peer.notify_progress(progress).await.map_err(unheard)?;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(text("done"))
    }
}

/// For a client that cannot be told anything any more.
pub(crate) fn unheard(error: rmcp::ServiceError) -> ErrorData {
    ErrorData::internal_error(format!("cannot tell the client: {error}"), None)
}

/// A result of nothing but text.
pub(crate) fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}
