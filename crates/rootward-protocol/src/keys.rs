//! Names of members: the protocol's, and those that Rootward has for what the protocol has no place for. Both sides of a connection may
//! be Rootward's, and agree by these.

/// Where a modern request says which revision it is of.
pub const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Where the handshake of a legacy session names a revision, and how [`VERSION`] ends.
pub const HANDSHAKE_VERSION: &str = "protocolVersion";
/// Where a modern request says what the client can do.
pub const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Where a modern request says what the client is called.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// Where a modern request says which logs it wants; none if it does not.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Where a modern answer says what the server is called.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Which `subscriptions/listen` a modern notification belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// What a request asks to be told about its progress with.
pub const PROGRESS_TOKEN: &str = "progressToken";
/// The task that a call began.
pub const TASK: &str = "task";
/// What a task is called.
pub const TASK_ID: &str = "taskId";
/// What a tool found, for programs.
pub const STRUCTURED_CONTENT: &str = "structuredContent";
/// What everybody may add to a message.
pub const META: &str = "_meta";
/// Which request is cancelled.
pub const REQUEST_ID: &str = "requestId";
/// The state that a modern client carries from round to round.
pub const REQUEST_STATE: &str = "requestState";
/// What a modern answer asks.
pub const INPUT_REQUESTS: &str = "inputRequests";
/// What a modern client answers to that.
pub const INPUT_RESPONSES: &str = "inputResponses";
/// Whether a modern answer is a result or a question.
pub const RESULT_TYPE: &str = "resultType";

/// Where the resource that tells the roots names them, in `_meta`.
pub const ROOTS: &str = "rootward.dev/roots";
/// Where it says in which state the client is.
pub const STATE: &str = "rootward.dev/state";

/// How long a client may keep a modern answer, in milliseconds.
pub const TTL: &str = "ttlMs";
/// Who may keep it.
pub const CACHE_SCOPE: &str = "cacheScope";

/// What a server declares that wants to be told by Codex, with each call, what Codex's sandbox allows.
pub const SANDBOX_STATE: &str = "codex/sandbox-state-meta";
/// Where Codex says it: 0.166 under both names.
pub const SANDBOX_STATES: [&str; 2] = [SANDBOX_STATE, "codex/sandbox-state"];
/// How every member begins that Codex adds for such a server.
pub const SANDBOX: &str = "codex/sandbox-";

/// Where an entry of a list of roots says what may be done below it.
pub const ACCESS: &str = "rootward.dev/access";
/// What peers declare that page `roots/list`.
pub const PAGING: &str = "rootward.dev/roots-paging";
/// Where a question for roots has its cursor if it has no parameters of its own: a modern one, or one on its way through an SDK.
pub const CURSOR: &str = "rootward.dev/cursor";
/// Where an answer has the next cursor if it has no other place for it.
pub const NEXT_CURSOR: &str = "rootward.dev/nextCursor";
/// The name of Rootward's question for roots among those of a modern answer.
pub const ROOTS_QUESTION: &str = "rootward.dev/roots";
/// How the names of a server's questions begin among those of a modern answer that the hub gives.
pub const SERVER_QUESTION: &str = "rootward.dev/question-";
/// Where the data of a refusal is that cannot be structured content.
pub const REFUSAL: &str = "rootward.dev/refusal";
