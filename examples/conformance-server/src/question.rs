//! Requests to the client as raw JSON, because rmcp's types for some of them are deprecated.

use rmcp::ErrorData;
use rmcp::model::{InputRequest, InputRequests, InputRequiredResult};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The parameters of `elicitation/create`, for one required field.
pub(crate) fn form(message: &str, field: &str, kind: &str) -> Value {
    json!({
        "mode": "form",
        "message": message,
        "requestedSchema": {"type": "object", "properties": {field: {"type": kind}}, "required": [field]},
    })
}

/// Asks the user for one field.
pub(crate) fn elicit(message: &str, field: &str, kind: &str) -> Value {
    json!({"method": "elicitation/create", "params": form(message, field, kind)})
}

/// Asks the model.
pub(crate) fn sample(text: &str) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": text}});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}})
}

/// Asks for the roots.
pub(crate) fn list_roots() -> Value {
    json!({"method": "roots/list"})
}

/// A round: the requests by name, and the state that the client sends back.
pub(crate) fn round<const COUNT: usize>(
    questions: [(&str, Value); COUNT],
    state: Option<&str>,
) -> Result<InputRequiredResult, ErrorData> {
    let mut requests = InputRequests::new();
    for (name, question) in questions {
        requests.insert(name.to_owned(), read::<InputRequest>(question)?);
    }
    Ok(InputRequiredResult::new(Some(requests), state.map(ToOwned::to_owned)))
}

/// Parses JSON as one of rmcp's types.
pub(crate) fn read<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(format!("a bad fixture: {error}"), None))
}
