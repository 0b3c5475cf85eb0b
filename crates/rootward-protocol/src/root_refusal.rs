//! The JSON-RPC error for a root that cannot be added or shared.

use std::fmt;

use serde_json::{Value, json};

use crate::message::{INTERNAL_ERROR, INVALID_PARAMS};

/// A root that cannot be added or shared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RootRefusal {
    /// The kind of problem.
    pub kind: RootRefusalKind,
    /// The root as named.
    pub uri: String,
    /// The reason.
    pub reason: String,
}

/// The kind of problem with a root.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RootRefusalKind {
    /// Its text does not name a place: -32602 `Invalid root URI`.
    InvalidUri,
    /// Its place cannot be shared: -32603 `Root access denied`.
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
