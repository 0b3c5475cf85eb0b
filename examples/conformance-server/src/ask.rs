//! Tools that send requests to a legacy client while they run: to its model or to its user.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ClientCapabilities};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServiceError, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::content::text;
use crate::question;
use crate::server::Server;

#[derive(Deserialize, JsonSchema)]
struct Sampling {
    /// What to ask the model.
    prompt: String,
}

#[derive(Deserialize, JsonSchema)]
struct Elicitation {
    /// What to ask the user.
    message: String,
}

#[tool_router(router = asking_tools, vis = "pub(crate)")]
impl Server {
    #[expect(deprecated, reason = "legacy clients still sample")]
    #[tool(description = "Ask the client's model")]
    async fn test_sampling(
        Parameters(Sampling { prompt }): Parameters<Sampling>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let mut asked = question::sample(&prompt);
        let answer = context.peer.create_message(question::read(asked["params"].take())?).await.map_err(unanswered)?;
        Ok(text(format!("LLM response: {}", json!(answer.message))))
    }

    #[tool(description = "Ask the user")]
    async fn test_elicitation(
        Parameters(Elicitation { message }): Parameters<Elicitation>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let fields = json!({
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        });
        elicit(&context, &message, fields).await
    }

    #[tool(description = "Ask the user, with a default for each kind of field")]
    async fn test_elicitation_sep1034_defaults(
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let fields = json!({
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true},
        });
        elicit(&context, "Please check the values", fields).await
    }

    #[tool(description = "Ask the user, with each kind of choice")]
    async fn test_elicitation_sep1330_enums(context: RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
        let titled = |word: &str| {
            let entry = |number: u8| json!({"const": format!("value{number}"), "title": format!("{word} {number}")});
            json!([entry(1), entry(2), entry(3)])
        };
        let options = ["option1", "option2", "option3"];
        let fields = json!({
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": {"type": "string", "oneOf": titled("Option")},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
        });
        elicit(&context, "Please choose", fields).await
    }

    #[tool(description = "Require a client that supports sampling")]
    fn test_missing_capability(context: RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
        if context.client_capabilities().is_some_and(|capabilities| capabilities.sampling.is_some()) {
            return Ok(text("the client supports sampling"));
        }
        let required: ClientCapabilities = question::read(json!({"sampling": {}}))?;
        Err(ErrorData::missing_required_client_capability(required))
    }
}

async fn elicit(
    context: &RequestContext<RoleServer>,
    message: &str,
    fields: Value,
) -> Result<CallToolResult, ErrorData> {
    let schema = json!({"type": "object", "properties": fields});
    let asked = json!({"mode": "form", "message": message, "requestedSchema": schema});
    let answer = context.peer.create_elicitation(question::read(asked)?).await.map_err(unanswered)?;
    let (action, filled_in) = (json!(answer.action), answer.content.unwrap_or_default());
    Ok(text(format!("Elicitation completed: action={action}, content={filled_in}")))
}

fn unanswered(error: ServiceError) -> ErrorData {
    ErrorData::internal_error(format!("no response from the client: {error}"), None)
}
