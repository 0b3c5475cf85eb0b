//! Tools whose schemas use features that derived schemas do not: all of JSON Schema 2020-12, and an argument that is also an HTTP
//! header.

use std::sync::Arc;

use rmcp::model::JsonObject;
use rmcp::{tool, tool_router};
use serde_json::{Value, json};

use crate::server::Server;

#[tool_router(router = schema_tools, vis = "pub(crate)")]
impl Server {
    #[tool(description = "Tool with JSON Schema 2020-12 features", input_schema = contact())]
    fn json_schema_2020_12_tool(arguments: JsonObject) -> String {
        Value::Object(arguments).to_string()
    }

    #[tool(description = "Return the region it ran in", input_schema = region())]
    fn test_header_argument(arguments: JsonObject) -> String {
        format!("ran in {}", arguments.get("region").unwrap_or(&Value::Null))
    }
}

fn contact() -> Arc<JsonObject> {
    object(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    }))
}

fn region() -> Arc<JsonObject> {
    object(json!({
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    }))
}

fn object(value: Value) -> Arc<JsonObject> {
    Arc::new(value.as_object().cloned().unwrap_or_default())
}
