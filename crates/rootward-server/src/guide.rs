//! How to write a server: an example for each common task. This module has no code.
//!
//! # A path
//!
//! The type says what the path is used for: [`Read`] (the default), [`Write`], [`ReadWrite`], [`Create`], [`Delete`] or
//! [`Execute`]. A path outside the roots never reaches the body, and the client is told why.
//!
//! ```
//! # use rmcp::handler::server::wrapper::Parameters;
//! # use rmcp::{tool, tool_router};
//! use rootward_server::{PathError, RootedPath};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Count {
//!     /// The file: absolute, or relative to the first root
//!     path: RootedPath,
//! }
//! # struct Server;
//!
//! # #[tool_router(server_handler)]
//! # impl Server {
//! #[tool(description = "Count the lines of a file")]
//! fn count(Parameters(Count { path }): Parameters<Count>) -> Result<String, PathError> {
//!     let contents = path.read(1 << 20)?; // at most 1 MiB
//!     Ok(contents.iter().filter(|byte| **byte == b'\n').count().to_string())
//! }
//! # }
//! ```
//!
//! # Several paths
//!
//! Paths also work in lists, options and nested structures. If one path is refused, the whole call is refused.
//!
//! ```
//! # use rmcp::handler::server::wrapper::Parameters;
//! # use rmcp::{tool, tool_router};
//! use rootward_server::{PathError, RootedPath};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Join {
//!     parts: Vec<RootedPath>,
//! }
//! # struct Server;
//!
//! # #[tool_router(server_handler)]
//! # impl Server {
//! #[tool(description = "Show files one after the other")]
//! fn join(Parameters(Join { parts }): Parameters<Join>) -> Result<String, PathError> {
//!     let mut text = String::new();
//!     for part in &parts {
//!         text += &format!("--- {}\n{}", part.asked(), String::from_utf8_lossy(&part.read(1 << 20)?));
//!     }
//!     Ok(text)
//! }
//! # }
//! ```
//!
//! If a call should continue without a refused path, take strings and check each:
//!
//! ```
//! use rootward_server::{Access, PathError, refused, roots};
//!
//! async fn sizes(paths: Vec<String>) -> Result<Vec<String>, PathError> {
//!     let roots = roots().await?;
//!     let size = |path: &String| match roots.check(path, Access::READ) {
//!         Ok(grant) => grant.metadata().map_or_else(|error| error.to_string(), |found| found.size.to_string()),
//!         Err(denial) => refused(&denial).sentence().to_owned(),
//!     };
//!     Ok(paths.iter().map(size).collect())
//! }
//! ```
//!
//! # A write
//!
//! `replace` writes a whole file atomically: a reader sees either the old or the new contents. `create_new` fails if
//! the file exists, `append` adds to it.
//!
//! ```
//! # use rmcp::handler::server::wrapper::Parameters;
//! # use rmcp::{tool, tool_router};
//! use rootward_server::{PathError, RootedPath, Write};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Save {
//!     path: RootedPath<Write>,
//!     text: String,
//! }
//! # struct Server;
//!
//! # #[tool_router(server_handler)]
//! # impl Server {
//! #[tool(description = "Write a file")]
//! fn save(Parameters(Save { path, text }): Parameters<Save>) -> Result<String, PathError> {
//!     path.replace(text.as_bytes())?;
//!     Ok(format!("wrote {}", path.asked()))
//! }
//! # }
//! ```
//!
//! # A resource
//!
//! [`roots()`] returns the roots in any call, including `resources/read`. A refusal becomes error -32602 with the data.
//!
//! ```
//! use rmcp::model::{ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents};
//! use rmcp::service::{RequestContext, RoleServer};
//! use rmcp::{ErrorData, ServerHandler};
//! use rootward_server::{Access, PathError, roots};
//!
//! struct Server;
//!
//! impl ServerHandler for Server {
//!     async fn read_resource(
//!         &self,
//!         request: ReadResourceRequestParams,
//!         _: RequestContext<RoleServer>,
//!     ) -> Result<ReadResourceResponse, ErrorData> {
//!         let grant = roots().await?.check(&request.uri, Access::READ).map_err(PathError::from)?;
//!         let contents = grant.read(1 << 20).map_err(PathError::from)?;
//!         let text = String::from_utf8_lossy(&contents).into_owned();
//!         Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
//!     }
//! }
//! ```
//!
//! # A prompt
//!
//! Take [`Roots`] as a parameter of a prompt or a tool.
//!
//! ```
//! use rmcp::model::{PromptMessage, Role};
//! use rmcp::{prompt, prompt_router};
//! use rootward_server::{Roots, roots_in_words};
//!
//! struct Server;
//!
//! #[prompt_router]
//! impl Server {
//!     #[prompt(description = "Summarise the project")]
//!     async fn summarise(&self, roots: Roots) -> Vec<PromptMessage> {
//!         let where_to_look = roots_in_words(Some(&roots), None);
//!         vec![PromptMessage::new_text(Role::User, format!("Summarise this project. {where_to_look}"))]
//!     }
//! }
//! ```
//!
//! # A name
//!
//! `#[tool_router(server_handler)]` gives the server rmcp's name. To set your own, which clients and the audit log then
//! show, write out the handler:
//!
//! ```
//! use rmcp::{ServerHandler, tool, tool_handler, tool_router};
//!
//! struct Server;
//!
//! #[tool_router]
//! impl Server {
//!     #[tool(description = "Say hello")]
//!     fn hello(&self) -> String {
//!         "hello".to_owned()
//!     }
//! }
//!
//! #[tool_handler(name = "my-server")]
//! impl ServerHandler for Server {}
//! ```
//!
//! # A command
//!
//! Needs the feature `command`. The kernel confines the command to the roots, whatever it tries;
//! `examples/workspace-shell` is a complete server.
//!
//! ```no_run
//! # #[cfg(feature = "command")]
//! # mod commands {
//! # use rmcp::handler::server::wrapper::Parameters;
//! # use rmcp::service::{RequestContext, RoleServer};
//! # use rmcp::{tool, tool_router};
//! use rootward_server::{CommandError, ConfinedCommand, roots};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Shell {
//!     command: String,
//! }
//! # struct Server;
//!
//! # #[tool_router(server_handler)]
//! # impl Server {
//! #[tool(description = "Run a shell command in the first root")]
//! async fn shell(
//!     &self,
//!     Parameters(Shell { command }): Parameters<Shell>,
//!     context: RequestContext<RoleServer>,
//! ) -> Result<String, CommandError> {
//!     Ok(ConfinedCommand::shell(command).run(&roots().await?, &context.ct).await?.to_string())
//! }
//! # }
//! # }
//! ```
//!
//! Call `rootward_server::sandbox::launcher()` first in `main`: the program starts itself again to apply the
//! confinement.
//!
//! # Settings
//!
//! [`RootsService::from_environment`] reads `ROOTWARD_ROOTS` and related variables. To use your own variable names, see
//! [`OwnVariables`].
//!
//! # HTTP
//!
//! Needs the feature `http`, and serves this machine only; `examples/http-server` is a complete server. Each client
//! gets its own roots.
//!
//! ```no_run
//! # struct Server;
//! # impl rmcp::ServerHandler for Server {}
//! # #[cfg(feature = "http")]
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! use rootward_server::RootsService;
//!
//! let roots = RootsService::from_environment()?;
//! let listener = roots.listen_http("127.0.0.1:8000".parse()?, |roots| roots.install(Server)).await?;
//! listener.serve().await?;
//! # Ok(())
//! # }
//! ```
//!
//! For your own front end, wrap rmcp's `StreamableHttpService` with [`RootsService::http`].
//!
//! # Tests
//!
//! The crate `rootward-testkit` has the MCP client that Rootward's own tests use (`default-features = false`). It
//! starts the server, shares directories and calls tools:
//!
//! ```no_run
//! use std::process::Command;
//!
//! use rootward_testkit::client::Client;
//! use serde_json::json;
//!
//! // In a test: `env!("CARGO_BIN_EXE_my-server")`.
//! let mut client = Client::start(&mut Command::new("my-server"));
//! client.shake_hands(json!({"roots": {"listChanged": true}}));
//! client.name_roots(["file:///tmp/project"]);
//! assert_eq!(client.says("read_file", json!({"path": "notes.txt"})), "hello");
//! assert_eq!(client.why("read_file", json!({"path": "/etc/passwd"})), "outside_roots");
//! ```
//!
//! [`Read`]: crate::Read
//! [`Write`]: crate::Write
//! [`ReadWrite`]: crate::ReadWrite
//! [`Create`]: crate::Create
//! [`Delete`]: crate::Delete
//! [`Execute`]: crate::Execute
//! [`roots()`]: crate::roots()
//! [`Roots`]: crate::Roots
//! [`OwnVariables`]: crate::OwnVariables
//! [`RootsService::from_environment`]: crate::RootsService::from_environment
//! [`RootsService::http`]: crate::RootsService::http
