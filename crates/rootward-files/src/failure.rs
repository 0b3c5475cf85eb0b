//! Why a call failed, with a message that says what to do instead.

use std::io::ErrorKind;

use rmcp::ErrorData;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use rootward_core::Shown;
use rootward_server::{Denial, GrantError, PageError, PathError, refused};
use thiserror::Error;

/// Why a call failed.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// The arguments do not match the tool's schema.
    #[error("invalid arguments: {0}")]
    Arguments(String),
    /// A path was refused, or the system call failed.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A cursor is invalid.
    #[error(transparent)]
    Page(#[from] PageError),
    /// Anything else, in one sentence.
    #[error("{0}")]
    Said(String),
    /// The client cancelled the call.
    #[error("the call was cancelled")]
    Stopped,
}

impl Failure {
    pub(crate) fn said(sentence: impl Into<String>) -> Failure {
        Failure::Said(sentence.into())
    }

    /// The message for one path among others, if the call continues without it.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Failure::Path(PathError::Failed(error)) => of_system(error),
            Failure::Path(PathError::Denied(denial)) => refused(denial).sentence().to_owned(),
            other => other.to_string(),
        }
    }

    /// The failure to create something: if something is missing, it is the parent directory.
    pub(crate) fn of_new(error: GrantError) -> Failure {
        match &error {
            GrantError::Io { path, source } if source.kind() == ErrorKind::NotFound => Failure::said(format!(
                "the directory of `{}` does not exist; `create_directory` creates it",
                Shown::new(path)
            )),
            GrantError::Io { path, source } if source.kind() == ErrorKind::IsADirectory => {
                Failure::said(format!("`{}` is a directory, not a file; choose another name", Shown::new(path)))
            }
            _ => error.into(),
        }
    }

    pub(crate) fn arguments(error: &serde_json::Error) -> Failure {
        Failure::Arguments(error.to_string())
    }
}

impl From<GrantError> for Failure {
    fn from(error: GrantError) -> Failure {
        Failure::Path(error.into())
    }
}

impl From<Denial> for Failure {
    fn from(denial: Denial) -> Failure {
        Failure::Path(denial.into())
    }
}

/// A refusal has its own form; everything else is a sentence for the model.
impl IntoCallToolResult for Failure {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        let sentence = match self {
            Failure::Path(PathError::Failed(error)) => of_system(&error),
            Failure::Path(error) => return error.into_call_tool_result(),
            Failure::Page(error) => return Err(error.into()),
            other => other.to_string(),
        };
        Ok(CallToolResult::error(vec![ContentBlock::text(sentence)]).into())
    }
}

/// A failed system call, and what to try instead.
fn of_system(error: &GrantError) -> String {
    let GrantError::Io { path, source } = error else { return error.to_string() };
    let path = Shown::new(path);
    match source.kind() {
        ErrorKind::NotFound => {
            format!("`{path}` does not exist; `list_directory` and `search_files` show what does")
        }
        ErrorKind::IsADirectory => format!("`{path}` is a directory; `list_directory` shows what is in it"),
        ErrorKind::NotADirectory => format!("`{path}` is not a directory, or a parent is not"),
        ErrorKind::AlreadyExists => format!("`{path}` already exists; choose another name, or `delete_file` it first"),
        ErrorKind::DirectoryNotEmpty => format!("directory `{path}` is not empty; delete what is in it first"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            format!("`{path}` was not changed: no space left on its disk")
        }
        ErrorKind::PermissionDenied => format!("`{path}`: the system denied access"),
        _ => error.to_string(),
    }
}
