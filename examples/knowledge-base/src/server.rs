//! The tools, and the resource that says what they can do.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResult, Implementation, ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, tool, tool_handler, tool_router};
use rootward_server::{Access, RootedPath, Roots, Write, roots, roots_cached};
use serde_json::json;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::prolog::{Outcome, Prolog, PrologError, Request};
use crate::settings::FALLBACK;
use crate::sources::Sources;
use crate::{answer, capabilities, refusal, sources};

/// How long a call may take unless it says otherwise.
pub(crate) const TIME: Duration = Duration::from_secs(10);
/// How long it may take at most.
pub(crate) const MOST_TIME: Duration = Duration::from_mins(1);
/// How many answers a query has unless it says otherwise.
pub(crate) const ANSWERS: usize = 20;
/// How many it has at most.
pub(crate) const MOST_ANSWERS: usize = 1000;
/// How many characters the answers may have together.
const MOST_CHARACTERS: usize = 200_000;

/// The server of one session.
pub(crate) struct KnowledgeBase {
    prolog: Arc<Mutex<Prolog>>,
    tools: ToolRouter<KnowledgeBase>,
}

impl Default for KnowledgeBase {
    fn default() -> KnowledgeBase {
        KnowledgeBase { prolog: Arc::default(), tools: KnowledgeBase::tool_router() }
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Load {
    /// The Prolog file: absolute, or relative to the first root
    #[schemars(with = "RootedPath")]
    path: String,
    /// The milliseconds after which loading is stopped: 10000 unless given, 60000 at most
    timeout_ms: Option<u64>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Dump {
    /// The file to write: absolute, or relative to the first root
    #[schemars(with = "RootedPath<Write>")]
    path: String,
    /// Replace a file that is there
    #[serde(default)]
    overwrite: bool,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Assert {
    /// Facts and rules, each with a period at its end: `parent(ann, bob). parent(bob, cid).`
    clauses: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Retract {
    /// What to remove: a fact or a rule, with variables where it does not matter: `parent(ann, _)`
    clause: String,
    /// Remove every clause that matches, not only the first
    #[serde(default)]
    all: bool,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Query {
    /// A goal: `parent(ann, Who)`
    #[serde(rename = "query")]
    goal: String,
    /// How many answers to give: 20 unless given, 1000 at most
    limit: Option<usize>,
    /// The milliseconds after which it is stopped: 10000 unless given, 60000 at most
    timeout_ms: Option<u64>,
}

/// What a call asks of Prolog.
struct Asked {
    verb: &'static str,
    texts: Vec<String>,
    limit: Duration,
    /// What the call may read.
    roots: Option<Roots>,
    /// The file that it loads.
    loads: Option<PathBuf>,
}

impl Asked {
    fn new(verb: &'static str, texts: impl IntoIterator<Item = String>) -> Asked {
        Asked { verb, texts: texts.into_iter().collect(), limit: TIME, roots: None, loads: None }
    }
}

impl KnowledgeBase {
    /// Asks Prolog, apart from everything else: a goal may take its time.
    async fn ask(&self, asked: Asked, stopped: &CancellationToken) -> Result<Outcome, PrologError> {
        let mut prolog = Arc::clone(&self.prolog).lock_owned().await;
        let stopped = stopped.child_token();
        // A call that is given up stops its goal, too.
        let _stops = stopped.clone().drop_guard();
        let asking = tokio::task::spawn_blocking(move || {
            let Asked { verb, texts, limit, roots, loads } = asked;
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let sources = Sources { roots };
            let outcome = prolog.ask(Request { verb, texts: &texts, limit }, &sources, || !stopped.is_cancelled())?;
            if let Some(file) = loads {
                prolog.files.retain(|loaded| *loaded != file);
                prolog.files.push(file);
            }
            Ok(outcome)
        });
        asking.await.unwrap_or_else(|error| Err(PrologError::NotStarted(error.to_string())))
    }
}

fn time(milliseconds: Option<u64>) -> Result<Duration, CallToolResult> {
    match milliseconds.map_or(TIME, Duration::from_millis) {
        Duration::ZERO => Err(answer::failure("`timeout_ms` must be at least 1")),
        time if time > MOST_TIME => {
            Err(answer::failure(format!("`timeout_ms` must be at most {}", MOST_TIME.as_millis())))
        }
        time => Ok(time),
    }
}

#[tool_router]
impl KnowledgeBase {
    #[tool(description = "Load a Prolog file into the knowledge base. It may load others in the roots.")]
    async fn knowledge_base_load(
        &self,
        Parameters(Load { path, timeout_ms }): Parameters<Load>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let roots = roots().await?;
        let limit = match time(timeout_ms) {
            Ok(limit) => limit,
            Err(answer) => return Ok(answer),
        };
        let grant = match roots.check(&path, Access::READ) {
            Ok(grant) => grant,
            Err(denial) => return Ok(refusal::answer(&denial, &roots)),
        };
        let text = match sources::read(&grant) {
            Ok(text) => text,
            Err(why) => return Ok(answer::failure(why)),
        };
        let file = grant.named_path();
        let texts = [file.to_string_lossy().into_owned(), text];
        let asked = Asked { limit, roots: Some(roots), loads: Some(file.clone()), ..Asked::new("load", texts) };
        Ok(match self.ask(asked, &context.ct).await {
            Ok(outcome) => loaded(&file, &outcome),
            Err(error) => error.into(),
        })
    }

    #[tool(
        description = "Write the knowledge base (the predicates that symbols_list names) to a Prolog file, which can be loaded again."
    )]
    async fn knowledge_base_dump(
        &self,
        Parameters(Dump { path, overwrite }): Parameters<Dump>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let roots = roots().await?;
        let grant = match roots.check(&path, Access::WRITE) {
            Ok(grant) => grant,
            Err(denial) => return Ok(refusal::answer(&denial, &roots)),
        };
        if grant.exists() && !overwrite {
            return Ok(answer::failure(format!("`{path}` exists; with `overwrite` it is replaced")));
        }
        let outcome = match self.ask(Asked::new("dump", []), &context.ct).await {
            Ok(outcome) => outcome,
            Err(error) => return Ok(error.into()),
        };
        let text: String = outcome.parts.iter().flat_map(|(_, fields)| fields.iter().map(String::as_str)).collect();
        let text = text.trim_start();
        let written = if overwrite { grant.replace(text.as_bytes()) } else { grant.create_new(text.as_bytes()) };
        Ok(match written {
            Ok(()) => {
                let file = grant.named_path();
                let says = format!("wrote {} bytes to {}", text.len(), file.display());
                answer::success(says, json!({"path": file.to_string_lossy(), "bytes": text.len()}))
            }
            Err(error) => match error.denial() {
                Some(denial) => refusal::answer(denial, &roots),
                None => answer::failure(error.to_string()),
            },
        })
    }

    #[tool(description = "Add facts and rules to the knowledge base: all of them, or none where one cannot be read.")]
    async fn knowledge_base_assert(
        &self,
        Parameters(Assert { clauses }): Parameters<Assert>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        match self.ask(Asked::new("assert", [clauses]), &context.ct).await {
            Ok(outcome) => counted("added", &outcome),
            Err(error) => error.into(),
        }
    }

    #[tool(description = "Remove the first clause of the knowledge base that matches, or all that do.")]
    async fn knowledge_base_retract(
        &self,
        Parameters(Retract { clause, all }): Parameters<Retract>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let which = if all { "all" } else { "one" };
        match self.ask(Asked::new("retract", [clause, which.to_owned()]), &context.ct).await {
            Ok(outcome) => counted("removed", &outcome),
            Err(error) => error.into(),
        }
    }

    #[tool(
        description = "Run a Prolog goal against the knowledge base, and answer with the values of its variables. Bounded in time, memory \
                          and number of answers; it reaches no file outside the roots, no network and no program."
    )]
    async fn query(
        &self,
        Parameters(Query { goal, limit, timeout_ms }): Parameters<Query>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        // A goal may load files.
        let roots = roots().await?;
        let time = match time(timeout_ms) {
            Ok(time) => time,
            Err(answer) => return Ok(answer),
        };
        let most = limit.unwrap_or(ANSWERS);
        if !(1..=MOST_ANSWERS).contains(&most) {
            return Ok(answer::failure(format!("`limit` must be between 1 and {MOST_ANSWERS}")));
        }
        let texts = [goal, most.to_string(), MOST_CHARACTERS.to_string()];
        let asked = Asked { limit: time, roots: Some(roots), ..Asked::new("query", texts) };
        Ok(match self.ask(asked, &context.ct).await {
            Ok(outcome) => answer::query(&outcome),
            Err(error) => error.into(),
        })
    }

    #[tool(
        description = "List the predicates of the knowledge base: name and arity, how many clauses, from which file."
    )]
    async fn symbols_list(&self, context: RequestContext<RoleServer>) -> CallToolResult {
        let outcome = match self.ask(Asked::new("symbols", []), &context.ct).await {
            Ok(outcome) => outcome,
            Err(error) => return error.into(),
        };
        let (mut text, mut symbols) = (String::new(), Vec::new());
        for (_, fields) in &outcome.parts {
            let [symbol, kind, clauses, file] = &fields[..] else { continue };
            let from = if file.is_empty() { String::new() } else { format!(", from {file}") };
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{symbol}: {kind}, clauses: {clauses}{from}");
            let clauses: u64 = clauses.parse().unwrap_or_default();
            symbols.push(json!({"symbol": symbol, "dynamic": kind == "dynamic", "clauses": clauses, "file": file}));
        }
        if symbols.is_empty() {
            text.push_str("the knowledge base is empty");
        }
        answer::success(text, json!({"symbols": symbols}))
    }

    #[tool(
        description = "What this server can do: its tools, its limits, the roots it may use files in, and what is loaded."
    )]
    async fn capabilities(&self) -> Result<CallToolResult, ErrorData> {
        let roots = roots().await?;
        let (text, data) = capabilities::summary(&roots, &self.prolog.lock().await.files);
        Ok(answer::success(text, data))
    }
}

fn loaded(file: &std::path::Path, outcome: &Outcome) -> CallToolResult {
    let count = |position: usize| outcome.last.get(position).and_then(|count| count.parse().ok()).unwrap_or(0_u64);
    let (errors, warnings) = (count(0), count(1));
    let printed = answer::printed(&outcome.printed);
    let path = file.display();
    let mut result = answer::success(
        match (errors, warnings) {
            (0, 0) => format!("loaded {path}\n{printed}"),
            (0, _) => format!("loaded {path}, warnings: {warnings}\n{printed}"),
            _ => format!("loaded {path} in part, errors: {errors}\n{printed}"),
        },
        json!({"path": file.to_string_lossy(), "errors": errors, "warnings": warnings, "output": outcome.printed}),
    );
    result.is_error = Some(errors > 0);
    result
}

fn counted(done: &str, outcome: &Outcome) -> CallToolResult {
    let count: u64 = outcome.last.first().and_then(|count| count.parse().ok()).unwrap_or_default();
    answer::success(format!("clauses {done}: {count}"), json!({"clauses": count}))
}

#[tool_handler(router = self.tools)]
impl ServerHandler for KnowledgeBase {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("knowledge-base", env!("CARGO_PKG_VERSION")).with_title("Knowledge base (SWI-Prolog)"),
            )
            .with_instructions(format!(
                "A knowledge base in SWI-Prolog. Load Prolog files with knowledge_base_load, ask with query. Files must lie in the \
                 allowed roots, or in {FALLBACK} where the client shares none; `capabilities` names them."
            ))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let files = match roots_cached() {
            Some(roots) => format!("Files in these roots:\n{}", refusal::listed(&roots)),
            None => "Files in the roots that the client names.".to_owned(),
        };
        let resource = Resource::new(capabilities::URI, "capabilities")
            .with_title("Capabilities")
            .with_description(format!("What the knowledge base can do, and where. {files}"))
            .with_mime_type("text/plain");
        Ok(ListResourcesResult::with_all_items(vec![resource]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != capabilities::URI {
            return Err(ErrorData::resource_not_found("resource not found", Some(json!({"uri": request.uri}))));
        }
        let roots = roots().await?;
        let (text, _) = capabilities::summary(&roots, &self.prolog.lock().await.files);
        let contents = ResourceContents::text(text, capabilities::URI).with_mime_type("text/plain");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
