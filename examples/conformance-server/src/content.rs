//! Tools that return content of each kind, and one that reports progress.

use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock, ProgressNotificationParam, ResourceContents};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, tool, tool_router};
use serde_json::json;

use crate::server::Server;

/// An image of one pixel, in base64.
pub(crate) const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// An empty audio file, in base64.
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

#[tool_router(router = content_tools, vis = "pub(crate)")]
impl Server {
    #[tool(description = "Return text")]
    fn test_simple_text() -> CallToolResult {
        text("This is a simple text response for testing.")
    }

    #[tool(description = "Return an image")]
    fn test_image_content() -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::image(PICTURE, "image/png")])
    }

    #[tool(description = "Return audio")]
    fn test_audio_content() -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::audio(SOUND, "audio/wav")])
    }

    #[tool(description = "Return a resource")]
    fn test_embedded_resource() -> CallToolResult {
        let resource = ResourceContents::text("This is an embedded resource content.", "test://embedded-resource");
        CallToolResult::success(vec![ContentBlock::resource(resource)])
    }

    #[tool(description = "Return text, an image and a resource")]
    fn test_multiple_content_types() -> CallToolResult {
        let data = json!({"test": "data", "value": 123}).to_string();
        let resource = ResourceContents::text(data, "test://mixed-content-resource").with_mime_type("application/json");
        CallToolResult::success(vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PICTURE, "image/png"),
            ContentBlock::resource(resource),
        ])
    }

    #[tool(description = "Return an error")]
    fn test_error_handling() -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text("This tool intentionally returns an error for testing")])
    }

    #[tool(description = "Report progress")]
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

/// The error if a notification cannot be sent.
pub(crate) fn unheard(error: rmcp::ServiceError) -> ErrorData {
    ErrorData::internal_error(format!("cannot notify the client: {error}"), None)
}

/// A result that contains only text.
pub(crate) fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}
