//! The names of the protocol's methods.

/// A legacy client begins.
pub const INITIALIZE: &str = "initialize";
/// It has heard the answer.
pub const INITIALIZED: &str = "notifications/initialized";
/// A modern client asks what a server is.
pub const DISCOVER: &str = "server/discover";
/// Somebody asks whether the other end lives.
pub const PING: &str = "ping";

/// A request that no server has: what it answers shows that the server itself runs, not only what is remembered of it.
pub const PROBE: &str = "rootward.dev/probe";

/// Somebody does not await an answer any more.
pub const CANCELLED: &str = "notifications/cancelled";
/// How far a request has come.
pub const PROGRESS: &str = "notifications/progress";
/// A line of a server's log.
pub const MESSAGE: &str = "notifications/message";
/// What every notification begins with.
pub const NOTIFICATION: &str = "notifications/";

/// A server asks the client's model something.
pub const SAMPLE: &str = "sampling/createMessage";
/// A server asks the person something.
pub const ELICIT: &str = "elicitation/create";
/// A server asks for the roots.
pub const LIST_ROOTS: &str = "roots/list";
/// The client's roots changed.
pub const ROOTS_CHANGED: &str = "notifications/roots/list_changed";

/// The tools of a server.
pub const LIST_TOOLS: &str = "tools/list";
/// A tool is to do its work.
pub const CALL_TOOL: &str = "tools/call";
/// The tools changed.
pub const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// The prompts of a server.
pub const LIST_PROMPTS: &str = "prompts/list";
/// One of them.
pub const GET_PROMPT: &str = "prompts/get";
/// The prompts changed.
pub const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";

/// The resources of a server.
pub const LIST_RESOURCES: &str = "resources/list";
/// The templates of its resources.
pub const LIST_TEMPLATES: &str = "resources/templates/list";
/// One resource.
pub const READ_RESOURCE: &str = "resources/read";
/// A client wants to hear of changes to a resource.
pub const SUBSCRIBE: &str = "resources/subscribe";
/// It does not any more.
pub const UNSUBSCRIBE: &str = "resources/unsubscribe";
/// The resources changed.
pub const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";
/// A resource that the client subscribed to has changed.
pub const RESOURCE_UPDATED: &str = "notifications/resources/updated";

/// What an argument may be completed to.
pub const COMPLETE: &str = "completion/complete";
/// How much a server is to log.
pub const SET_LEVEL: &str = "logging/setLevel";
/// How far a task has come.
pub const GET_TASK: &str = "tasks/get";
/// What came of it.
pub const TASK_RESULT: &str = "tasks/result";
/// A modern client answers what a task asked.
pub const UPDATE_TASK: &str = "tasks/update";
/// It need not go on.
pub const CANCEL_TASK: &str = "tasks/cancel";
/// A modern client wants to hear of changes for as long as the request is open.
pub const LISTEN: &str = "subscriptions/listen";
/// The first message of a server on such a request.
pub const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// The requests that a modern server may answer with a question. The client sends them again, with the answer.
pub const RETRIED: [&str; 3] = [CALL_TOOL, GET_PROMPT, READ_RESOURCE];
