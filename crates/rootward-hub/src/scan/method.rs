//! Which parts of a message's params are looked at, by its method.

use rootward_protocol::{keys, method};

use super::access::Need;

/// What the params of a method are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// Parts of the protocol itself: nothing in them is for the server to open.
    Protocol,
    /// A tool and its arguments.
    ToolCall,
    /// A prompt and its arguments.
    Prompt,
    /// A resource's URI.
    Resource,
    /// An argument being typed: its name stands beside its value.
    Completion,
    /// Not known: every string is looked at.
    Unknown,
}

/// Methods whose params only the protocol reads. A client's notification of a cancelled request tells a reason in words.
const PROTOCOL: [&str; 14] = [
    method::INITIALIZE,
    method::PING,
    method::DISCOVER,
    method::LIST_TOOLS,
    method::LIST_PROMPTS,
    method::LIST_RESOURCES,
    method::LIST_TEMPLATES,
    method::LIST_ROOTS,
    method::SET_LEVEL,
    method::INITIALIZED,
    method::CANCELLED,
    method::PROGRESS,
    method::ROOTS_CHANGED,
    method::MESSAGE,
];

/// Keys at the top of params that are names and tokens, not paths, by shape.
const NAMES: [&str; 4] = ["name", "cursor", keys::REQUEST_STATE, "taskId"];

/// Keys at the top that mean something to the protocol: in another case, some readers take them for these.
pub(super) const KNOWN: [&str; 7] = ["name", "arguments", "uri", "ref", "argument", "context", keys::META];

/// Whether a server may open files for this method: everything but what only the protocol reads.
pub(crate) fn acts(method: &str) -> bool {
    Shape::of(method) != Shape::Protocol
}

impl Shape {
    pub(super) fn of(method: &str) -> Shape {
        match method {
            method::CALL_TOOL => Shape::ToolCall,
            method::GET_PROMPT => Shape::Prompt,
            method::READ_RESOURCE | method::SUBSCRIBE | method::UNSUBSCRIBE => Shape::Resource,
            method::COMPLETE => Shape::Completion,
            method if PROTOCOL.contains(&method) => Shape::Protocol,
            _ => Shape::Unknown,
        }
    }

    /// What is done with a path, where no tool says.
    pub(super) fn need(self) -> Need {
        match self {
            Shape::Prompt | Shape::Resource | Shape::Completion | Shape::Protocol => Need::READ,
            Shape::ToolCall | Shape::Unknown => Need::UNKNOWN,
        }
    }

    /// Whether the string under a key at the top of the params is a name, not a value.
    pub(super) fn is_name(self, key: &str) -> bool {
        match self {
            Shape::Unknown => false,
            _ => NAMES.contains(&key),
        }
    }
}
