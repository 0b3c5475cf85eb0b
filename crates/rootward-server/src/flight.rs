//! One pending `roots/list` request: to be sent, sent, answered.
//!
//! It is separate from the call that drives it, so that nothing is lost when that call is dropped: the call polls it by
//! reference, and moving between stages never waits.

use std::pin::Pin;
use std::task::{Context, Poll};

use rmcp::service::{RequestHandle, RoleServer, ServiceError};
use rootward_core::session::RequestNumber;
use rootward_protocol::session::NoList;
use serde_json::Value;

use crate::wire;

/// A pending question.
#[derive(Debug)]
pub(crate) struct Flight {
    question: RequestNumber,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// The question's cursor.
    ToBeSent(Option<String>),
    Asked(Box<RequestHandle<RoleServer>>),
}

/// The outcome of a question.
#[derive(Debug)]
pub(crate) struct Landed {
    pub(crate) question: RequestNumber,
    pub(crate) answer: Result<Value, NoList>,
}

impl Flight {
    pub(crate) fn new(question: RequestNumber, cursor: Option<String>) -> Flight {
        Flight { question, stage: Stage::ToBeSent(cursor) }
    }

    pub(crate) fn question(&self) -> RequestNumber {
        self.question
    }

    pub(crate) fn is_sent(&self) -> bool {
        matches!(self.stage, Stage::Asked(_))
    }

    /// The question's cursor.
    pub(crate) fn cursor(&self) -> Option<&str> {
        match &self.stage {
            Stage::ToBeSent(cursor) => cursor.as_deref(),
            Stage::Asked(_) => None,
        }
    }

    pub(crate) fn sent(&mut self, handle: RequestHandle<RoleServer>) {
        self.stage = Stage::Asked(Box::new(handle));
    }

    /// The question, if the client still has it.
    pub(crate) fn into_asked(self) -> Option<RequestHandle<RoleServer>> {
        match self.stage {
            Stage::Asked(handle) => Some(*handle),
            Stage::ToBeSent(_) => None,
        }
    }

    /// Makes progress. Ready with `None` if the question must be sent first.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Landed>> {
        let Stage::Asked(handle) = &mut self.stage else {
            return Poll::Ready(None);
        };
        Pin::new(&mut handle.rx).poll(context).map(|answer| {
            let answer = match answer {
                Ok(Ok(answer)) => Ok(wire::raw(answer)),
                Ok(Err(ServiceError::McpError(error))) => {
                    Err(NoList::error(Some(i64::from(error.code.0)), &error.message))
                }
                Ok(Err(error)) => Err(NoList::because(error.to_string())),
                Err(_) => Err(NoList::because("the connection was closed")),
            };
            Some(Landed { question: self.question, answer })
        })
    }
}
