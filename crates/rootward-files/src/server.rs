//! What the protocol asks of a server: it lists its tools, runs them, and lists them again when the roots change.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use rootward_sandbox::Options;
use rootward_server::{Roots, Session, roots_cached, session};

use crate::call::Call;
use crate::schemas::ReadSchemas;
use crate::tool::Offered;
use crate::tools::TOOLS;
use crate::workspace;

/// A name for roots that no list of tools was made with.
const NO_LIST: u64 = u64::MAX;

/// The file server. One for each session, and to be served behind a roots service: by itself it refuses every path.
#[derive(Debug)]
pub struct FileServer {
    surroundings: Arc<Surroundings>,
    /// The roots that the list last named, by generation.
    listed: Arc<AtomicU64>,
    tells: Tells,
}

/// When a client is told that the list of tools has changed with its roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tells {
    /// At once: a task follows the roots, and asks for them at the start.
    AtOnce,
    /// After a call. An idle session then has no task of its own, and no question leaves outside a call.
    AfterCalls,
}

impl Default for FileServer {
    fn default() -> FileServer {
        FileServer { surroundings: Arc::default(), listed: Arc::new(AtomicU64::new(NO_LIST)), tells: Tells::AtOnce }
    }
}

impl FileServer {
    /// Has the commands of the tool `shell` confined in this way. That tool is offered only where a root may be executed in; a
    /// program that serves it calls [`rootward_sandbox::launcher`] first thing in its `main`.
    #[must_use]
    pub fn with_confinement(self, confinement: Options) -> FileServer {
        FileServer { surroundings: Arc::new(Surroundings { confinement }), ..self }
    }

    /// A server for another session, with the same surroundings.
    #[must_use]
    pub fn for_another_session(&self) -> FileServer {
        FileServer { surroundings: Arc::clone(&self.surroundings), ..FileServer::default() }
    }

    pub(crate) fn telling(self, tells: Tells) -> FileServer {
        FileServer { tells, ..self }
    }

    /// Tells the client that the list of tools has changed, if the roots have since it was made.
    async fn tell_if_changed(&self, peer: &Peer<RoleServer>) {
        let Some(session) = session() else { return };
        let before = self.listed.load(Ordering::Relaxed);
        let now = generation(session.roots_cached().as_ref());
        // Told once for each change: the list names these roots when it is made again.
        if before != NO_LIST
            && before != now
            && self.listed.compare_exchange(before, NO_LIST, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            // A client that is gone is not told.
            let _ = peer.notify_tool_list_changed().await;
        }
    }
}

/// What the operator decided, for all calls.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    /// How commands are confined.
    pub(crate) confinement: Options,
}

/// The generation that tells roots apart; unknown ones are their own.
fn generation(roots: Option<&Roots>) -> u64 {
    roots.map_or(NO_LIST - 1, Roots::generation)
}

/// The tools as they are described for these roots. Made anew for each list: few are asked for, and schemas take much memory.
fn tools(roots: Option<&Roots>) -> Result<Vec<Tool>, ErrorData> {
    let mut schemas = ReadSchemas::default();
    let sentence = workspace::sentence(roots);
    let offered = TOOLS.iter().filter(|listed| match listed.about.offered {
        Offered::Always | Offered::WithRoots => true,
        Offered::ToExecute => workspace::may_execute(roots),
    });
    let named = offered.map(|listed| {
        let mut tool = listed.describe(schemas.of(listed.about.name)?);
        if listed.about.offered != Offered::Always {
            tool.description = Some(format!("{} {sentence}", listed.about.description).into());
        }
        Ok(tool)
    });
    named.collect()
}

impl ServerHandler for FileServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        let version = env!("CARGO_PKG_VERSION");
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("rootward", version).with_title("Rootward files"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let roots = roots_cached();
        self.listed.store(generation(roots.as_ref()), Ordering::Relaxed);
        Ok(ListToolsResult::with_all_items(tools(roots.as_ref())?))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let listed = TOOLS.iter().find(|listed| listed.about.name == name)?;
        Some(listed.describe(ReadSchemas::default().of(name).ok()?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = TOOLS.iter().find(|tool| tool.about.name == request.name) else {
            return Err(ErrorData::invalid_params(format!("no tool is called `{}`", request.name), None));
        };
        let peer = (self.tells == Tells::AfterCalls).then(|| context.peer.clone());
        let call = Call::new(context, Arc::clone(&self.surroundings));
        let answer = tool.call(request.arguments.unwrap_or_default(), &call).await;
        if let Some(peer) = peer {
            self.tell_if_changed(&peer).await;
        }
        match answer {
            Ok(answer) => Ok(CallToolResult::from(answer).into()),
            Err(failure) => failure.into_call_tool_result(),
        }
    }

    /// Asks for the roots at once, where that may be, so that descriptions can name them.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.tells == Tells::AtOnce
            && let Some(session) = session()
        {
            tokio::spawn(follow(session, context.peer, Arc::clone(&self.listed)));
        }
    }
}

/// Tells the client that the list of tools changed whenever it was made with other roots than those in force.
async fn follow(session: Session, peer: Peer<RoleServer>, listed: Arc<AtomicU64>) {
    let mut changes = session.subscribe();
    // What comes of it is in the subscription.
    let _ = session.roots(&peer).await;
    // The subscription ends with the session, which nothing here may keep.
    drop(session);
    loop {
        let now = generation(changes.borrow_and_update().as_ref());
        let before = listed.load(Ordering::Relaxed);
        if before != NO_LIST && before != now && peer.notify_tool_list_changed().await.is_err() {
            return;
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}
