//! Log messages: a legacy client gets them at the level that it set, a modern one if its request asks for them.

#![expect(deprecated, reason = "the protocol deprecates log messages, but the suite still tests them")]

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolResult, LoggingLevel, LoggingMessageNotificationParam, ServerCapabilities, SetLevelRequestParams,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, tool, tool_router};
use serde_json::json;

use crate::content::{text, unheard};
use crate::server::Server;

/// The level that a legacy client set.
pub(crate) struct Level(Mutex<LoggingLevel>);

impl Default for Level {
    fn default() -> Level {
        Level(Mutex::new(LoggingLevel::Debug))
    }
}

impl Level {
    pub(crate) fn set(&self, request: &SetLevelRequestParams) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = request.level;
    }

    fn get(&self) -> LoggingLevel {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Declares the logging capability.
pub(crate) fn enable(capabilities: &mut ServerCapabilities) {
    capabilities.logging = Some(serde_json::Map::new());
}

#[tool_router(router = logging_tools, vis = "pub(crate)")]
impl Server {
    #[tool(description = "Write log messages")]
    async fn test_tool_with_logging(&self, context: RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
        for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            log(&context, self.level.get(), message).await?;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(text("done"))
    }

    #[tool(description = "Write a log message, if the request asks for log messages")]
    async fn test_logging_tool(context: RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
        if let Some(level) = context.meta.log_level() {
            log(&context, level, "requested by the client").await?;
        }
        Ok(text("done"))
    }
}

/// Writes a message at level `info`, unless the client wants only more severe messages.
async fn log(context: &RequestContext<RoleServer>, level: LoggingLevel, message: &str) -> Result<(), ErrorData> {
    if !matches!(level, LoggingLevel::Debug | LoggingLevel::Info) {
        return Ok(());
    }
    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(message));
    context.peer.notify_logging_message(message).await.map_err(unheard)
}
