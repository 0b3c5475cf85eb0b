//! The names of MCP's HTTP headers, in lower case as HTTP libraries keep them, and how a header carries a value that is not plain ASCII.

/// The session of a legacy request.
pub const SESSION: &str = "mcp-session-id";
/// The revision of the protocol.
pub const REVISION: &str = "mcp-protocol-version";
/// The method of a modern request.
pub const METHOD: &str = "mcp-method";
/// What a modern request is about: a tool, a prompt, a resource or a task.
pub const NAME: &str = "mcp-name";
/// How the header of an argument begins.
pub const PARAM: &str = "mcp-param-";
/// The last event that a client got from a stream.
pub const LAST_EVENT: &str = "last-event-id";

/// Where a tool's schema names the header of an argument.
pub const ANNOTATION: &str = "x-mcp-header";

/// What a value begins with that is encoded in Base64.
pub const ENCODED: &str = "=?base64?";
/// What it ends with.
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
