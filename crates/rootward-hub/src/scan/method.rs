//! Which parts of a message's params are scanned, by method.

use rootward_protocol::{keys, method};

use super::access::Need;

/// The structure of a method's params.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// Used by the protocol itself: nothing in them makes the server open a file.
    Protocol,
    /// A tool and its arguments.
    ToolCall,
    /// A prompt and its arguments.
    Prompt,
    /// A resource's URI.
    Resource,
    /// An argument being typed, with its name beside its value.
    Completion,
    /// Unknown method: every string is scanned.
    Unknown,
}

/// Methods whose params only the protocol uses. The reason in a cancellation is prose.
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

/// Top-level keys whose values are names and tokens, not paths.
const NAMES: [&str; 4] = ["name", "cursor", keys::REQUEST_STATE, "taskId"];

/// Top-level keys of the protocol. Some parsers match them case-insensitively.
pub(super) const KNOWN: [&str; 7] = ["name", "arguments", "uri", "ref", "argument", "context", keys::META];

/// Keys of the protocol inside `argument`, `ref` and `context` of `completion/complete`.
pub(super) const KNOWN_IN_COMPLETION: [&str; 5] = ["name", "value", "type", "uri", "arguments"];

/// Whether a server may open files for this method.
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

    /// The default need for a path if no tool is known.
    pub(super) fn need(self) -> Need {
        match self {
            Shape::Prompt | Shape::Resource | Shape::Completion | Shape::Protocol => Need::READ,
            Shape::ToolCall | Shape::Unknown => Need::UNKNOWN,
        }
    }

    /// Whether the string under a top-level key is a name, not a value.
    pub(super) fn is_name(self, key: &str) -> bool {
        match self {
            Shape::Unknown => false,
            _ => NAMES.contains(&key),
        }
    }
}
