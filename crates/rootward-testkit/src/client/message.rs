//! The MCP messages that tests send, as JSON.

use std::fmt::Display;

use serde_json::{Value, json};

/// The protocol version of legacy sessions.
pub const LEGACY: &str = "2025-11-25";
/// The protocol version without sessions.
pub const MODERN: &str = "2026-07-28";
/// The key of Rootward's `roots/list` request in a modern response.
pub const ROOTS_QUESTION: &str = "rootward.dev/roots";

/// A request. `null` parameters are omitted.
pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    with_params(json!({"jsonrpc": "2.0", "id": id.into(), "method": method}), params)
}

/// A notification. `null` parameters are omitted.
pub fn notification(method: &str, params: Value) -> Value {
    with_params(json!({"jsonrpc": "2.0", "method": method}), params)
}

/// The response to a request from the other side.
pub fn answer(id: impl Into<Value>, result: Value) -> Value {
    let mut answer = json!({"jsonrpc": "2.0", "id": id.into()});
    answer["result"] = result;
    answer
}

fn with_params(mut message: Value, params: Value) -> Value {
    if !params.is_null() {
        message["params"] = params;
    }
    message
}

/// The parameters of `initialize`.
pub fn hello(capabilities: Value) -> Value {
    let mut hello = json!({"protocolVersion": LEGACY, "clientInfo": {"name": "test", "version": "1"}});
    hello["capabilities"] = capabilities;
    hello
}

/// The parameters of `tools/call`.
pub fn call(tool: &str, arguments: Value) -> Value {
    let mut call = json!({"name": tool});
    call["arguments"] = arguments;
    call
}

/// The result of `roots/list`.
pub fn roots(uris: impl IntoIterator<Item = impl Display>) -> Value {
    let roots: Vec<Value> = uris.into_iter().map(|uri| json!({"uri": uri.to_string()})).collect();
    json!({"roots": roots})
}

/// The parameters of a modern request, with the client's capabilities.
pub fn modern(capabilities: &Value, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    params
}

/// The parameters of a repeated modern request, with the state from the server and the roots that it requested.
pub fn again(mut params: Value, state: &Value, list: &Value) -> Value {
    params["requestState"] = state.clone();
    params["inputResponses"] = json!({ROOTS_QUESTION: list});
    params
}
