//! Tools with their own rounds, for the modern era: they return requests, and the client calls them again with the responses.
//!
//! States are plain text here. The wrapper seals them together with the roots, so the tools need not check for tampering.

use rmcp::handler::server::tool::{InputResponses, RequestState};
use rmcp::model::CallToolResponse;
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, tool, tool_router};
use rootward_server::Roots;
use serde_json::Value;

use crate::content::text;
use crate::question::{elicit, list_roots, round, sample};
use crate::server::Server;

type Round = Result<CallToolResponse, ErrorData>;

#[tool_router(router = round_tools, vis = "pub(crate)")]
impl Server {
    #[tool(description = "Greet the user by name")]
    fn test_input_required_result_elicitation(InputResponses(answers): InputResponses) -> Round {
        match field(answers.as_ref(), "user_name", "name") {
            Some(name) => Ok(text(format!("Hello, {name}!")).into()),
            None => Ok(round([("user_name", elicit("What is your name?", "name", "string"))], None)?.into()),
        }
    }

    #[tool(description = "Ask the user, without a separate request")]
    fn test_streaming_elicitation(InputResponses(answers): InputResponses) -> Round {
        Server::test_input_required_result_elicitation(InputResponses(answers))
    }

    #[tool(description = "Ask the client's model")]
    fn test_input_required_result_sampling(InputResponses(answers): InputResponses) -> Round {
        match answers.as_ref().and_then(|answers| answers.get("capital_question")) {
            Some(answer) => Ok(text(format!("The model says: {}", answer["content"]["text"])).into()),
            None => Ok(round([("capital_question", sample("What is the capital of France?"))], None)?.into()),
        }
    }

    /// Taking the argument is enough: if the roots are not known, the wrapper requests them.
    #[tool(description = "Return the number of current roots")]
    fn test_input_required_result_list_roots(roots: Roots) -> String {
        format!("{} current roots", roots.list().len())
    }

    #[tool(description = "Remember something from one round to the next")]
    fn test_input_required_result_request_state(
        InputResponses(answers): InputResponses,
        RequestState(state): RequestState,
    ) -> Round {
        match (field(answers.as_ref(), "confirm", "ok"), state.as_deref()) {
            (Some(_), Some("confirming")) => Ok(text("state-ok").into()),
            _ => Ok(round([("confirm", elicit("Please confirm", "ok", "boolean"))], Some("confirming"))?.into()),
        }
    }

    #[tool(description = "Refuse a state that was tampered with")]
    fn test_input_required_result_tampered_state(answers: InputResponses, state: RequestState) -> Round {
        Server::test_input_required_result_request_state(answers, state)
    }

    #[tool(description = "Ask the user, the model and for the roots at once")]
    fn test_input_required_result_multiple_inputs(
        InputResponses(answers): InputResponses,
        RequestState(state): RequestState,
    ) -> Round {
        let answers = answers.unwrap_or_default();
        let asked = ["user_name", "greeting", "client_roots"];
        if state.as_deref() == Some("asked") && asked.iter().all(|name| answers.contains_key(*name)) {
            return Ok(text(format!("All answered: {}", Value::from_iter(answers))).into());
        }
        let questions = [
            ("user_name", elicit("What is your name?", "name", "string")),
            ("greeting", sample("Generate a greeting")),
            ("client_roots", list_roots()),
        ];
        Ok(round(questions, Some("asked"))?.into())
    }

    #[tool(description = "Ask twice")]
    fn test_input_required_result_multi_round(
        InputResponses(answers): InputResponses,
        RequestState(state): RequestState,
    ) -> Round {
        let answers = answers.as_ref();
        match (state.as_deref(), field(answers, "step1", "name"), field(answers, "step2", "color")) {
            (Some("first"), Some(_), _) => {
                let question = elicit("Step 2: What is your favorite color?", "color", "string");
                Ok(round([("step2", question)], Some("second"))?.into())
            }
            (Some("second"), _, Some(color)) => Ok(text(format!("Both steps done, the last with {color}")).into()),
            _ => {
                let question = elicit("Step 1: What is your name?", "name", "string");
                Ok(round([("step1", question)], Some("first"))?.into())
            }
        }
    }

    #[tool(description = "Ask only what the client can answer")]
    fn test_input_required_result_capabilities(
        InputResponses(answers): InputResponses,
        context: RequestContext<RoleServer>,
    ) -> Round {
        if answers.is_some() {
            return Ok(text("answered").into());
        }
        let capabilities = context.client_capabilities().unwrap_or_default();
        if capabilities.sampling.is_some() {
            return Ok(round([("greeting", sample("Generate a greeting"))], None)?.into());
        }
        if capabilities.elicitation.is_some() {
            return Ok(round([("user_name", elicit("What is your name?", "name", "string"))], None)?.into());
        }
        Ok(text("nothing to ask").into())
    }
}

/// A field of the user's input, if the user filled it in.
pub(crate) fn field<'a>(
    answers: Option<&'a rmcp::model::InputResponses>,
    question: &str,
    field: &str,
) -> Option<&'a Value> {
    answers?.get(question)?.get("content")?.get(field)
}
