//! The names of MCP's HTTP headers, in lower case as HTTP libraries store them, and the encoding of values that are not
//! plain ASCII.

/// The session of a legacy request.
pub const SESSION: &str = "mcp-session-id";
/// The revision of the protocol.
pub const REVISION: &str = "mcp-protocol-version";
/// The method of a modern request.
pub const METHOD: &str = "mcp-method";
/// The subject of a modern request: a tool, a prompt, a resource or a task.
pub const NAME: &str = "mcp-name";
/// The prefix of an argument's header.
pub const PARAM: &str = "mcp-param-";
/// The last event that a client received from a stream.
pub const LAST_EVENT: &str = "last-event-id";

/// The member of a tool's schema that names the header of an argument.
pub const ANNOTATION: &str = "x-mcp-header";

/// The prefix of a value that is encoded in Base64.
pub const ENCODED: &str = "=?base64?";
/// Its suffix.
pub const ENCODED_END: &str = "?=";

/// The member of `params` that [`NAME`] repeats, for the methods that have one.
pub fn name_member(method: &str) -> Option<&'static str> {
    match method {
        crate::method::CALL_TOOL | crate::method::GET_PROMPT => Some("name"),
        crate::method::READ_RESOURCE | crate::method::SUBSCRIBE | crate::method::UNSUBSCRIBE => Some("uri"),
        crate::method::GET_TASK | crate::method::UPDATE_TASK | crate::method::CANCEL_TASK => Some(crate::keys::TASK_ID),
        _ => None,
    }
}
