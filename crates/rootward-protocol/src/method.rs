//! The names of the protocol's methods.

/// A legacy client starts a session.
pub const INITIALIZE: &str = "initialize";
/// The client has received the answer to `initialize`.
pub const INITIALIZED: &str = "notifications/initialized";
/// A modern client asks for a description of the server.
pub const DISCOVER: &str = "server/discover";
/// A peer checks that the other end is alive.
pub const PING: &str = "ping";

/// A request that no server implements. Any answer shows that the server itself is running, rather than cached data.
pub const PROBE: &str = "rootward.dev/probe";

/// A peer no longer needs an answer.
pub const CANCELLED: &str = "notifications/cancelled";
/// The progress of a request.
pub const PROGRESS: &str = "notifications/progress";
/// A log message of a server.
pub const MESSAGE: &str = "notifications/message";
/// The prefix of every notification.
pub const NOTIFICATION: &str = "notifications/";

/// A server asks the client's model.
pub const SAMPLE: &str = "sampling/createMessage";
/// A server asks the user.
pub const ELICIT: &str = "elicitation/create";
/// A server asks for the roots.
pub const LIST_ROOTS: &str = "roots/list";
/// The client's roots changed.
pub const ROOTS_CHANGED: &str = "notifications/roots/list_changed";

/// Lists a server's tools.
pub const LIST_TOOLS: &str = "tools/list";
/// Calls a tool.
pub const CALL_TOOL: &str = "tools/call";
/// The tools changed.
pub const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// Lists a server's prompts.
pub const LIST_PROMPTS: &str = "prompts/list";
/// Gets a prompt.
pub const GET_PROMPT: &str = "prompts/get";
/// The prompts changed.
pub const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";

/// Lists a server's resources.
pub const LIST_RESOURCES: &str = "resources/list";
/// Lists a server's resource templates.
pub const LIST_TEMPLATES: &str = "resources/templates/list";
/// Reads a resource.
pub const READ_RESOURCE: &str = "resources/read";
/// A client subscribes to changes of a resource.
pub const SUBSCRIBE: &str = "resources/subscribe";
/// A client ends a subscription.
pub const UNSUBSCRIBE: &str = "resources/unsubscribe";
/// The resources changed.
pub const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";
/// A subscribed resource changed.
pub const RESOURCE_UPDATED: &str = "notifications/resources/updated";

/// Completes an argument.
pub const COMPLETE: &str = "completion/complete";
/// Sets a server's log level.
pub const SET_LEVEL: &str = "logging/setLevel";
/// The status of a task.
pub const GET_TASK: &str = "tasks/get";
/// The result of a task.
pub const TASK_RESULT: &str = "tasks/result";
/// A modern client answers a task's questions.
pub const UPDATE_TASK: &str = "tasks/update";
/// Cancels a task.
pub const CANCEL_TASK: &str = "tasks/cancel";
/// A modern client listens for changes while the request is open.
pub const LISTEN: &str = "subscriptions/listen";
/// A server's first message on such a request.
pub const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// The requests that a modern server may answer with questions. The client then sends them again with the answers.
pub const RETRIED: [&str; 3] = [CALL_TOOL, GET_PROMPT, READ_RESOURCE];
