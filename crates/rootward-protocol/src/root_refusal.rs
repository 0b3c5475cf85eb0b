//! Why a root cannot be added or shared, as the error object of a JSON-RPC answer.

use std::fmt;

use serde_json::{Value, json};

use crate::message::{INTERNAL_ERROR, INVALID_PARAMS};

/// A root that cannot be added or shared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RootRefusal {
    /// What is wrong.
    pub kind: RootRefusalKind,
    /// The root as it was named.
    pub uri: String,
    /// Why not.
    pub reason: String,
}

/// What is wrong with a root.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RootRefusalKind {
    /// Its text names no place: -32602 `Invalid root URI`.
    InvalidUri,
    /// It names a place that cannot be shared: -32603 `Root access denied`.
    AccessDenied,
}

impl RootRefusal {
    /// The code of the error.
    pub const fn code(&self) -> i32 {
        match self.kind {
            RootRefusalKind::InvalidUri => INVALID_PARAMS,
            RootRefusalKind::AccessDenied => INTERNAL_ERROR,
        }
    }

    /// The message of the error.
    pub const fn message(&self) -> &'static str {
        match self.kind {
            RootRefusalKind::InvalidUri => "Invalid root URI",
            RootRefusalKind::AccessDenied => "Root access denied",
        }
    }

    /// `{uri, reason}`.
    pub fn data(&self) -> Value {
        json!({"uri": self.uri, "reason": self.reason})
    }

    /// The error object: `{code, message, data}`.
    pub fn error(&self) -> Value {
        json!({"code": self.code(), "message": self.message(), "data": self.data()})
    }
}

impl fmt::Display for RootRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            RootRefusalKind::InvalidUri => "not a usable root",
            RootRefusalKind::AccessDenied => "a root that cannot be shared",
        };
        write!(f, "{kind}: `{}` ({})", rootward_core::Shown::new(&self.uri), rootward_core::Shown::new(&self.reason))
    }
}

impl std::error::Error for RootRefusal {}
