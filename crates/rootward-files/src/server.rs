//! The MCP handler: it lists its tools, runs them, and notifies the client when the roots change.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use rootward_sandbox::Options;
use rootward_server::{PathError, Roots, Session, roots, roots_cached, session};

use crate::call::Call;
use crate::completion;
use crate::failure::Failure;
use crate::prompts;
use crate::resources::listing::{self, Listing, Position};
use crate::resources::telling::Subscriptions;
use crate::resources::templates::templates;
use crate::resources::{decide, listening, reading, told};
use crate::toolset::Toolsets;
use crate::workspace;

/// A generation that no list was made with.
const NO_LIST: u64 = u64::MAX;

/// The maximum number of characters of an unknown tool's name that are compared.
const LONGEST_NAME: usize = 64;

/// The file server, one per session. Serve it behind a roots service: on its own it refuses every path.
#[derive(Debug)]
pub struct FileServer {
    surroundings: Arc<Surroundings>,
    listed: Arc<LastListed>,
    tells: Tells,
    subscriptions: Subscriptions,
}

/// The generation of the roots that each list last named.
#[derive(Debug)]
struct LastListed {
    tools: AtomicU64,
    /// Resources, or resource templates.
    resources: AtomicU64,
}

impl Default for LastListed {
    fn default() -> LastListed {
        LastListed { tools: AtomicU64::new(NO_LIST), resources: AtomicU64::new(NO_LIST) }
    }
}

/// Whether a list was made with other roots than the current ones.
fn is_old(listed: &AtomicU64, now: u64) -> bool {
    let before = listed.load(Ordering::Relaxed);
    before != NO_LIST && before != now
}

/// When to notify a client that its tool list has changed with its roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tells {
    /// At once: a task follows the roots, and asks for them at the start.
    AtOnce,
    /// After a call. An idle session then has no task of its own, and sends no request outside a call.
    AfterCalls,
}

impl Default for FileServer {
    fn default() -> FileServer {
        FileServer {
            surroundings: Arc::default(),
            listed: Arc::default(),
            tells: Tells::AtOnce,
            subscriptions: Subscriptions::default(),
        }
    }
}

impl FileServer {
    /// Confines the commands of the tool `shell` with these options. The server offers that tool only if a root allows
    /// execution. A program that serves it must call [`rootward_sandbox::launcher`] first in its `main`.
    #[must_use]
    pub fn with_confinement(self, confinement: Options) -> FileServer {
        FileServer {
            surroundings: Arc::new(Surroundings { confinement, ..self.surroundings.as_ref().clone() }),
            ..self
        }
    }

    /// Offers the tools of these sets.
    #[must_use]
    pub fn with_tools(self, tools: Toolsets) -> FileServer {
        FileServer { surroundings: Arc::new(Surroundings { tools, ..self.surroundings.as_ref().clone() }), ..self }
    }

    /// Lists these files as resources.
    #[must_use]
    pub fn with_listing(self, listing: Listing) -> FileServer {
        FileServer { surroundings: Arc::new(Surroundings { listing, ..self.surroundings.as_ref().clone() }), ..self }
    }

    /// A server for another session, with the same options.
    #[must_use]
    pub fn for_another_session(&self) -> FileServer {
        FileServer { surroundings: Arc::clone(&self.surroundings), ..FileServer::default() }
    }

    pub(crate) fn telling(self, tells: Tells) -> FileServer {
        FileServer { tells, ..self }
    }

    /// Tells the client which lists are out of date because the roots changed.
    async fn tell_if_changed(&self, peer: &Peer<RoleServer>) {
        let Some(session) = session() else { return };
        // While the roots are out of date there is nothing to report yet.
        let Some(roots) = session.roots_cached() else { return };
        let now = generation(Some(&roots));
        // Notify once per change: the next list names the new roots. Ignore a client that is gone.
        let told_now = |listed: &AtomicU64| is_old(listed, now) && listed.swap(NO_LIST, Ordering::Relaxed) != NO_LIST;
        if told_now(&self.listed.tools) {
            let _ = peer.notify_tool_list_changed().await;
        }
        if told_now(&self.listed.resources) {
            let _ = peer.notify_resource_list_changed().await;
        }
    }

    /// Records which roots a list of resources names.
    fn listed_resources(&self, roots: Option<&Roots>) {
        self.listed.resources.store(generation(roots), Ordering::Relaxed);
    }
}

/// The operator's options, for all calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    /// How commands are confined.
    pub(crate) confinement: Options,
    /// Which tools are offered.
    pub(crate) tools: Toolsets,
    /// Which files are listed as resources.
    pub(crate) listing: Listing,
}

/// The generation of the roots; unknown roots have their own.
fn generation(roots: Option<&Roots>) -> u64 {
    roots.map_or(NO_LIST - 1, Roots::generation)
}

impl FileServer {
    /// The error for an unknown tool, with the listed name that is most like it.
    fn no_tool(&self, name: &str) -> String {
        const ALIKE: f64 = 0.8;
        let wanted = compared(name);
        let names = self.surroundings.tools.listed().map(|tool| tool.about.name);
        let alike = names.map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name));
        match alike.max_by(|one, other| one.0.total_cmp(&other.0)) {
            Some((likeness, nearest)) if likeness >= ALIKE => {
                format!("unknown tool `{name}`; did you mean `{nearest}`?")
            }
            _ => format!("unknown tool `{name}`"),
        }
    }
}

/// The part of a client's name for a tool that is compared with the names of the tools.
fn compared(name: &str) -> String {
    name.chars().take(LONGEST_NAME).collect::<String>().to_lowercase()
}

impl ServerHandler for FileServer {
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let says = format!("method `{}` is not supported", request.method);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, says, None))
    }

    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_completions()
            .build();
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
        self.listed.tools.store(generation(roots.as_ref()), Ordering::Relaxed);
        let roots = roots.as_ref();
        let offered =
            self.surroundings.tools.listed().filter(|tool| workspace::gives(roots, tool.about.effect.needs()));
        Ok(ListToolsResult::with_all_items(offered.map(|tool| tool.describe(roots)).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Some(self.surroundings.tools.find(name)?.describe(roots_cached().as_ref()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.surroundings.tools.find(&request.name) else {
            return Err(ErrorData::invalid_params(self.no_tool(&request.name), None));
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

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listing = self.surroundings.listing;
        if listing == Listing::Templates {
            return Ok(ListResourcesResult::default());
        }
        let roots = match roots().await {
            Ok(roots) => roots,
            // A list request cannot ask a modern client, so the list is empty.
            Err(PathError::NotKnown) => return Ok(ListResourcesResult::default()),
            Err(error) => return Err(error.into()),
        };
        self.listed_resources(Some(&roots));
        let cursor = request.and_then(|request| request.cursor);
        let from = cursor.map(|cursor| Position::read(&cursor, roots.generation())).transpose()?;
        let call = Call::new(context, Arc::clone(&self.surroundings));
        let page = call.apart("entries", move |work| listing::page(&roots, listing, from.as_ref(), work)).await;
        page.map_err(|failure| told(failure, ""))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let roots = roots_cached();
        self.listed_resources(roots.as_ref());
        Ok(ListResourceTemplatesResult::with_all_items(templates(roots.as_ref())))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let grant = decide(&roots().await?, &uri)?;
        let call = Call::new(context, Arc::clone(&self.surroundings));
        let named = uri.clone();
        let contents = call.apart("bytes", move |_| reading::read(&grant, &named)).await;
        let contents = contents.map_err(|failure| told(failure, &uri))?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        listening::accepted(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        listening::listen(&context).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let roots = roots().await?;
        let session = session().ok_or_else(|| told(Failure::said("this client has no session"), &request.uri))?;
        self.subscriptions.subscribe(&roots, &request.uri, (session, context.peer, self.tells))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let session = session().ok_or_else(|| told(Failure::said("this client has no session"), &request.uri))?;
        self.subscriptions.unsubscribe(&request.uri, &session);
        Ok(())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        completion::complete(&request).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let call = Call::new(context, Arc::clone(&self.surroundings));
        Ok(prompts::get(request, &call).await?.into())
    }

    /// Asks for the roots at once, if allowed, so that descriptions can name them.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.tells == Tells::AtOnce
            && let Some(session) = session()
        {
            tokio::spawn(follow(session, context.peer, Arc::clone(&self.listed)));
        }
    }
}

/// Notifies the client whenever a list was made with other roots than the current ones.
async fn follow(session: Session, peer: Peer<RoleServer>, listed: Arc<LastListed>) {
    let mut changes = session.subscribe();
    // The subscription delivers the result.
    let _ = session.roots(&peer).await;
    // The subscription ends with the session, so this task must not keep it alive.
    drop(session);
    loop {
        let now = generation(changes.borrow_and_update().as_ref());
        if is_old(&listed.tools, now) && peer.notify_tool_list_changed().await.is_err() {
            return;
        }
        if is_old(&listed.resources, now) && peer.notify_resource_list_changed().await.is_err() {
            return;
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_beginning_of_an_unknown_name_is_compared() {
        for name in ["Read_File", "ä"] {
            assert_eq!(compared(name), name.to_lowercase());
        }
        // In the second, byte 64 is inside a character.
        for before in ["", "a"] {
            assert_eq!(compared(&(before.to_owned() + &"ä".repeat(1 << 20))).chars().count(), LONGEST_NAME);
        }
        assert!(FileServer::default().no_tool("read_text_fil").ends_with("; did you mean `read_text_file`?"));
    }
}
