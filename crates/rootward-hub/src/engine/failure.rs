//! Why a server is not running, for the client that waits for it.

use rootward_protocol::message::{self, INTERNAL_ERROR};
use serde_json::Value;

/// How a child ended, or why it was not started.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Failure {
    /// A few words, for the operator.
    pub(crate) how: String,
    /// A sentence with a remedy, for the client.
    pub(crate) says: String,
    /// Details for programs.
    pub(crate) data: Option<Value>,
}

/// Whether a server that was not started may start later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hope {
    /// With other roots.
    OtherRoots,
    /// Never: its program does not exist, or this machine cannot confine it.
    None,
}

impl Failure {
    pub(crate) fn new(says: impl Into<String>) -> Failure {
        let says = says.into();
        Failure { how: says.clone(), says, data: None }
    }

    /// The answer to a request that needs the server.
    pub(super) fn answer(&self, id: &str) -> String {
        message::error(id, INTERNAL_ERROR, &self.says, self.data.as_ref())
    }
}
