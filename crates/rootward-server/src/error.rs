//! The errors of a tool whose path cannot be used: refused, or allowed but not possible.

use rmcp::ErrorData;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use rootward_core::cursor::CursorError;
use rootward_core::{Denial, GrantError};
use rootward_protocol::Refusal;
use serde_json::json;
use thiserror::Error;

use crate::refusal::RefusalAnswer;
use crate::scope::Scope;
use rootward_protocol::RefusalForm;

/// Why a path could not be used. A tool may return it: the peer gets a [`Refusal`] in the form chosen in the settings.
#[derive(Debug, Error)]
pub enum PathError {
    /// The call does not run within a roots service.
    #[error(
        "no call with roots is running here: serve `RootsService::install(handler)` in place of the handler; in a task that a \
         call spawned, take the roots (`roots().await`) before it starts and move them in"
    )]
    NotInstalled,
    /// The roots are not known yet.
    #[error("the client has not named its roots yet")]
    NotKnown,
    /// The path was refused.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// The path is allowed, but the system call failed.
    #[error(transparent)]
    Failed(GrantError),
}

/// An invalid cursor. A peer gets error -32602.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct PageError(#[from] CursorError);

impl PageError {
    /// Why the cursor is invalid.
    pub fn cursor(self) -> CursorError {
        self.0
    }
}

impl From<PageError> for ErrorData {
    fn from(PageError(error): PageError) -> ErrorData {
        let data = match error {
            CursorError::Malformed => None,
            CursorError::Stale { expected, received } => Some(json!({"expected": expected, "received": received})),
        };
        ErrorData::invalid_params(error.to_string(), data)
    }
}

impl From<GrantError> for PathError {
    fn from(error: GrantError) -> PathError {
        match error {
            GrantError::Denied(denial) => PathError::Denied(denial),
            other => PathError::Failed(other),
        }
    }
}

impl PathError {
    /// The refusal to send to a peer, if this is one.
    fn refusal(&self) -> Option<Refusal> {
        match self {
            PathError::Denied(denial) => {
                Some(Scope::current().map_or_else(|_| Refusal::among(denial, None), |scope| scope.refuse(denial)))
            }
            PathError::NotKnown => Some(Refusal::pending()),
            PathError::NotInstalled | PathError::Failed(_) => None,
        }
    }
}

impl IntoCallToolResult for PathError {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        let form = Scope::current().map_or_else(|_| RefusalForm::default(), |scope| scope.form());
        match (self.refusal(), form) {
            (Some(refusal), RefusalForm::ToolError) => Ok(refusal.into_tool_result().into()),
            (Some(refusal), RefusalForm::ProtocolError) => Err(refusal.into_error()),
            (None, _) => Ok(CallToolResult::error(vec![ContentBlock::text(self.to_string())]).into()),
        }
    }
}

/// For resources, prompts and completions.
impl From<PathError> for ErrorData {
    fn from(error: PathError) -> ErrorData {
        match (error.refusal(), error) {
            (Some(refusal), _) => refusal.into_error(),
            (None, error @ PathError::NotInstalled) => ErrorData::internal_error(error.to_string(), None),
            (None, error) => ErrorData::invalid_params(error.to_string(), None),
        }
    }
}
