//! Prompts, one of them with its own round.

use rmcp::ErrorData;
use rmcp::model::{
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt, PromptArgument, PromptMessage,
    ResourceContents, Role,
};
use serde_json::Value;

use crate::content::PICTURE;
use crate::question::{elicit, round};
use crate::rounds::field;

const SIMPLE: &str = "test_simple_prompt";
const WITH_ARGUMENTS: &str = "test_prompt_with_arguments";
const WITH_RESOURCE: &str = "test_prompt_with_embedded_resource";
const WITH_IMAGE: &str = "test_prompt_with_image";
const WITH_ROUND: &str = "test_input_required_result_prompt";

/// All prompts.
pub(crate) fn list() -> Vec<Prompt> {
    let prompt = |name: &str, description: &str, arguments: &[&str]| {
        let arguments = arguments.iter().map(|name| PromptArgument::new(*name).with_required(true)).collect();
        Prompt::new(name, Some(description), Some(arguments))
    };
    vec![
        prompt(SIMPLE, "Only text", &[]),
        prompt(WITH_ARGUMENTS, "Text with its arguments", &["arg1", "arg2"]),
        prompt(WITH_RESOURCE, "A resource and text", &["resourceUri"]),
        prompt(WITH_IMAGE, "An image and text", &[]),
        prompt(WITH_ROUND, "Text with the user's input", &[]),
    ]
}

/// Builds a prompt.
pub(crate) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let messages = match request.name.as_str() {
        SIMPLE => vec![text("This is a simple prompt for testing.")],
        WITH_ARGUMENTS => {
            let (first, second) = (argument(request, "arg1")?, argument(request, "arg2")?);
            vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        WITH_RESOURCE => {
            let resource =
                ResourceContents::text("Embedded resource content for testing.", argument(request, "resourceUri")?);
            vec![message(ContentBlock::resource(resource)), text("Please process the embedded resource above.")]
        }
        WITH_IMAGE => {
            vec![message(ContentBlock::image(PICTURE, "image/png")), text("Please analyze the image above.")]
        }
        WITH_ROUND => match field(request.input_responses.as_ref(), "user_context", "context") {
            Some(context) => vec![text(&format!("Use this context: {context}"))],
            None => {
                let question = elicit("What context should the prompt use?", "context", "string");
                return Ok(round([("user_context", question)], None)?.into());
            }
        },
        name => return Err(ErrorData::invalid_params(format!("no prompt `{name}`"), None)),
    };
    Ok(GetPromptResult::new(messages).into())
}

fn argument<'a>(request: &'a GetPromptRequestParams, name: &str) -> Result<&'a str, ErrorData> {
    let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
    value
        .and_then(Value::as_str)
        .ok_or_else(|| ErrorData::invalid_params(format!("argument `{name}` is missing"), None))
}

fn message(content: ContentBlock) -> PromptMessage {
    PromptMessage::new(Role::User, content)
}

fn text(text: &str) -> PromptMessage {
    message(ContentBlock::text(text))
}
