//! Names of JSON members: the protocol's, and Rootward's own for what the protocol does not cover. If both sides of a
//! connection are Rootward, these are their agreement.

/// The revision of a modern request.
pub const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The revision in the handshake of a legacy session; [`VERSION`] ends in the same word.
pub const HANDSHAKE_VERSION: &str = "protocolVersion";
/// The client's capabilities in a modern request.
pub const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The client's name in a modern request.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The log level that a modern request asks for; without it, no logs are sent.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The server's name in a modern answer.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The `subscriptions/listen` request that a modern notification belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// The token for progress notifications about a request.
pub const PROGRESS_TOKEN: &str = "progressToken";
/// The task that a call started.
pub const TASK: &str = "task";
/// The id of a task.
pub const TASK_ID: &str = "taskId";
/// A tool's result for programs.
pub const STRUCTURED_CONTENT: &str = "structuredContent";
/// Additional data in any message.
pub const META: &str = "_meta";
/// The id of a cancelled request.
pub const REQUEST_ID: &str = "requestId";
/// The state that a modern client carries from round to round.
pub const REQUEST_STATE: &str = "requestState";
/// The questions in a modern answer.
pub const INPUT_REQUESTS: &str = "inputRequests";
/// A modern client's answers to them.
pub const INPUT_RESPONSES: &str = "inputResponses";
/// Whether a modern answer is a result or asks questions.
pub const RESULT_TYPE: &str = "resultType";

/// The roots, in the `_meta` of the resource that lists them.
pub const ROOTS: &str = "rootward.dev/roots";
/// The client's state, in the same place.
pub const STATE: &str = "rootward.dev/state";

/// How long a client may cache a modern answer, in milliseconds.
pub const TTL: &str = "ttlMs";
/// Who may cache it.
pub const CACHE_SCOPE: &str = "cacheScope";

/// Declared by a server that wants Codex to send, with each call, what Codex's sandbox allows.
pub const SANDBOX_STATE: &str = "codex/sandbox-state-meta";
/// The members in which Codex sends it. Version 0.166 uses both.
pub const SANDBOX_STATES: [&str; 2] = [SANDBOX_STATE, "codex/sandbox-state"];
/// The prefix of every member that Codex adds for such a server.
pub const SANDBOX: &str = "codex/sandbox-";

/// The access to a root, in its entry in a list of roots.
pub const ACCESS: &str = "rootward.dev/access";
/// The extension for paging `roots/list`.
pub const PAGING: &str = "rootward.dev/roots-paging";
/// The cursor in a question for roots that has no params: a modern one, or one that passes through an SDK.
pub const CURSOR: &str = "rootward.dev/cursor";
/// The next cursor in an answer that has no other member for it.
pub const NEXT_CURSOR: &str = "rootward.dev/nextCursor";
/// The key of Rootward's question for roots in a modern answer.
pub const ROOTS_QUESTION: &str = "rootward.dev/roots";
/// The prefix of the keys of a server's questions in the hub's modern answers.
pub const SERVER_QUESTION: &str = "rootward.dev/question-";
/// The data of a refusal that cannot be structured content.
pub const REFUSAL: &str = "rootward.dev/refusal";
