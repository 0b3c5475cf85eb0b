//! Tools that run as tasks if the client supports tasks; other clients wait for the result.

use std::time::Duration;

use rmcp::handler::server::tool::InputResponses;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, CreateTaskResult};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::task_manager::{TaskContext, TaskExit, TaskFuture, TaskOptions};
use rmcp::{ErrorData, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::content::text;
use crate::question::{elicit, read, round};
use crate::rounds::field;
use crate::server::Server;

type Response = Result<CallToolResponse, ErrorData>;

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Compute {
    /// How long it takes.
    seconds: u64,
    /// The name of the computation.
    label: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Delete {
    /// The file to delete. Nothing is really deleted.
    filename: Option<String>,
}

#[tool_router(router = task_tools, vis = "pub(crate)")]
impl Server {
    #[tool(description = "Greet at once")]
    fn greet(Parameters(Greet { name }): Parameters<Greet>) -> CallToolResult {
        text(format!("Hello, {name}!"))
    }

    #[tool(description = "Take some time, as a task if the client supports tasks")]
    async fn slow_compute(
        &self,
        Parameters(Compute { seconds, label }): Parameters<Compute>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let done = format!("computed `{}`", label.unwrap_or_default());
        let time = Duration::from_secs(seconds);
        if !supports_tasks(&context) {
            tokio::time::sleep(time).await;
            return text(done).into();
        }
        self.start(move |task| {
            Box::pin(async move {
                tokio::select! {
                    () = tokio::time::sleep(time) => Ok(text(done)),
                    () = task.cancelled() => Err(TaskExit::Cancelled),
                }
            })
        })
    }

    #[tool(description = "Fail as a tool, always as a task")]
    fn failing_job(&self, context: RequestContext<RoleServer>) -> Response {
        self.start_only(&context, |_| {
            Box::pin(async { Ok(CallToolResult::error(vec![ContentBlock::text("this job always fails")])) })
        })
    }

    #[tool(description = "Fail as a request, always as a task")]
    fn protocol_error_job(&self, context: RequestContext<RoleServer>) -> Response {
        self.start_only(&context, |_| {
            Box::pin(async { Err(TaskExit::Error(ErrorData::internal_error("this job breaks", None))) })
        })
    }

    #[tool(description = "Ask the user for confirmation")]
    fn confirm_delete(
        &self,
        Parameters(Delete { filename }): Parameters<Delete>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let filename = filename.unwrap_or_default();
        if !supports_tasks(&context) {
            return text("nothing deleted: this tool needs a task to ask the user").into();
        }
        self.start(move |task| {
            Box::pin(async move {
                let message = format!("Delete {filename}?");
                let answer = ask(&task, "confirm", &message, "confirm", "boolean").await?;
                Ok(text(format!("confirmed: {}", answer["content"]["confirm"])))
            })
        })
    }

    #[tool(description = "Ask the user two things at once, always as a task")]
    fn multi_input(&self, context: RequestContext<RoleServer>) -> Response {
        self.start_only(&context, |task| {
            Box::pin(async move {
                let (name, sure) = tokio::try_join!(
                    ask(&task, "name", "What is your name?", "name", "string"),
                    ask(&task, "sure", "Are you sure?", "confirm", "boolean"),
                )?;
                Ok(text(format!("both answered: {name}, {sure}")))
            })
        })
    }

    #[tool(description = "Ask the user in a round, then continue as a task")]
    fn test_tool_with_task(
        &self,
        InputResponses(answers): InputResponses,
        context: RequestContext<RoleServer>,
    ) -> Response {
        let Some(name) = field(answers.as_ref(), "user_name", "name") else {
            return Ok(round([("user_name", elicit("What is your name?", "name", "string"))], None)?.into());
        };
        let done = format!("done for {name}");
        self.start_only(&context, move |_| Box::pin(async move { Ok(text(done)) }))
    }
}

impl Server {
    fn start(&self, work: impl FnOnce(TaskContext) -> TaskFuture) -> CallToolResponse {
        CreateTaskResult::new(self.shared.tasks.spawn(TaskOptions::default(), work)).into()
    }

    /// For tools that run only as tasks.
    fn start_only(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(TaskContext) -> TaskFuture,
    ) -> Response {
        if supports_tasks(context) {
            return Ok(self.start(work));
        }
        let required = ClientCapabilities::builder().enable_tasks().build();
        Err(ErrorData::missing_required_client_capability(required))
    }
}

fn supports_tasks(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks())
}

async fn ask(task: &TaskContext, name: &str, message: &str, field: &str, kind: &str) -> Result<Value, TaskExit> {
    task.request_input(name, read(elicit(message, field, kind))?).await
}
