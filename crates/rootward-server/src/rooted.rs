//! The wrapper that makes a handler's paths safe: it runs each call in a scope that knows the roots.
//!
//! Only calls that can carry a path are scoped; everything else goes straight to the handler. If a call's arguments
//! need roots that are not known yet, deserializing them fails before the tool's body runs. The wrapper then fetches
//! the roots and runs the call again, so a call without paths never makes the client answer a question.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam, CompleteRequestParams,
    CompleteResult, CustomNotification, CustomRequest, CustomResult, DiscoverResult, GetPromptRequestParams,
    GetPromptResponse, GetTaskParams, GetTaskResult, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{
    NotificationContext, RequestContext, RoleServer, RunningService, ServerInitializeError, SubscriptionContext,
};
use rmcp::transport::IntoTransport;
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use rootward_core::session::State;
use rootward_protocol::round::Said;
use rootward_protocol::session::SessionGuard;
use rootward_protocol::{Refusal, RefusalForm, method};

use crate::announce::{Limits, Paging, RootsResource};
use crate::describe::Described;
use crate::http;
use crate::in_order::{Heard, InOrder, is_list_changed_method};
use crate::listening::{Beginning, ToolsNameRoots};
use crate::modern::{self, Retried, Rounds};
use crate::record::Parties;
use crate::refusal::RefusalAnswer;
use crate::roots::Roots;
use crate::scope::{Outcome, Scope, Source, roots_cached};
use crate::session::Session;
use crate::settings::{Ground, RootsService};
use crate::stdio::stdio;
use crate::wire;

/// A handler whose calls see the roots of their session. Like the handler itself, there is one per session.
#[derive(Debug)]
pub struct Rooted<H> {
    handler: H,
    session: Session,
    service: RootsService,
    pub(crate) resource: RootsResource,
    paging: Paging,
    asks: Asks,
    pub(crate) tools: ToolsNameRoots,
    /// Listeners that have not started yet.
    pub(crate) beginning: Beginning,
    described: Option<Described>,
}

/// When the server may ask a legacy client for its roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asks {
    /// At any time: the connection can carry the server's own requests.
    AtOnce,
    /// Only during one of the client's calls: a request outside a call would go out on a stream that many HTTP clients
    /// do not open.
    InCalls,
}

impl RootsService {
    /// Wraps a handler for one session: serve the return value. Over HTTP, call this in the factory that makes the
    /// handlers.
    pub fn install<H: ServerHandler>(&self, handler: H) -> Rooted<H> {
        Rooted {
            session: self.session_of(|| handler.get_info().server_info.name),
            handler,
            service: self.clone(),
            resource: RootsResource::NotOffered,
            paging: Paging::NotDeclared,
            asks: Asks::AtOnce,
            tools: ToolsNameRoots::No,
            beginning: Beginning::default(),
            described: None,
        }
    }
}

impl<H> Rooted<H> {
    /// The wrapped handler.
    pub fn handler(&self) -> &H {
        &self.handler
    }

    /// The roots of the session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Offers the resource `rootward://roots`, which lists the current roots, and mentions it in the server's
    /// instructions, so that models ask only for paths they can get.
    #[must_use]
    pub fn with_roots_resource(self) -> Rooted<H> {
        Rooted { resource: RootsResource::Offered, ..self }
    }

    /// Declares that the handler's tool list names the current roots, for example in descriptions. A modern client that
    /// listens for changes of the list (`subscriptions/listen`) is then notified when the operator's or the user's
    /// roots change. The handler itself declares `tools.listChanged`.
    #[must_use]
    pub fn with_roots_in_tools(self) -> Rooted<H> {
        Rooted { tools: ToolsNameRoots::Yes, ..self }
    }

    /// Adds the roots to the descriptions of all tools that take a [`RootedPath`](crate::RootedPath), and notifies the
    /// client when this changes the tool list.
    #[must_use]
    pub fn with_described_tools(self) -> Rooted<H> {
        Rooted { described: Some(Described::new()), ..self.with_roots_in_tools() }
    }

    /// Adds capabilities if the tools are described with the roots.
    fn declare_described(&self, capabilities: &mut ServerCapabilities) {
        if self.described.is_some() {
            Described::declare(capabilities);
        }
    }

    /// The scope of a list request: it uses the roots already known, never waits and cannot ask.
    async fn listing(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Scope>, ErrorData>
    where
        H: ServerHandler,
    {
        let ground = self.service.ground();
        let (known, source, parties) = if is_modern(context) {
            let parties = self.modern_parties(context);
            (modern::known(ground, context, &parties, Said::Nothing).await, Source::Modern, parties)
        } else {
            if let Err(error) = self.session.begin(&context.peer) {
                return Err(ErrorData::internal_error(error.to_string(), None));
            }
            (self.session.roots_settled(), Source::Told(self.session.clone()), self.session.parties())
        };
        Ok(Scope::new(known, source, ground, (parties, String::new()), None))
    }

    pub(crate) fn ground(&self) -> &Arc<Ground> {
        self.service.ground()
    }

    /// Serves a session over `transport`. Use this instead of rmcp's method of the same name, which it shadows: it
    /// handles a root change before any call that arrived after it.
    pub async fn serve<T, E, A>(
        self,
        transport: T,
    ) -> Result<RunningService<RoleServer, Rooted<H>>, ServerInitializeError>
    where
        H: ServerHandler,
        T: IntoTransport<RoleServer, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let transport = InOrder::new(transport.into_transport(), self.session.clone());
        // Boxed so that the session does not keep the memory of the handshake.
        Box::pin(ServiceExt::serve(self, transport)).await
    }

    /// Serves a session on standard input and output.
    pub async fn serve_stdio(self) -> Result<RunningService<RoleServer, Rooted<H>>, ServerInitializeError>
    where
        H: ServerHandler,
    {
        Rooted { paging: Paging::Declared, ..self }.serve(stdio()).await
    }

    /// Sets what a transport over channels can do.
    pub(crate) fn over_channels(self, paging: Paging, asks: Asks) -> Rooted<H> {
        Rooted { paging, asks, ..self }
    }

    /// Client, server and principal of a modern request.
    pub(crate) fn modern_parties(&self, context: &RequestContext<RoleServer>) -> Arc<Parties>
    where
        H: ServerHandler,
    {
        modern::parties(self.service.ground(), context, || self.handler.get_info().server_info.name)
    }

    /// The roots of a new session, if the server need not ask its client for them.
    fn known_before(&self, request: &InitializeRequestParams) -> Option<Roots> {
        let ground = self.service.ground();
        let support = wire::support(Some(&request.capabilities));
        let owner = SessionGuard::new(Arc::clone(&ground.terms), ground.given.now(), support);
        owner.published().map(|published| Roots::new(published.clone(), &self.session.parties(), ground))
    }

    /// Whether cursors survive the transport of a request.
    fn paging_over(&self, context: &RequestContext<RoleServer>) -> Paging {
        if http::keeps_cursors(&context.extensions) { Paging::Declared } else { self.paging }
    }

    /// Handles a root change. On a dedicated connection it asks the client at once, so that the next call finds the
    /// roots ready and subscribers are notified. Over HTTP it does not: a request outside a call would go out on a
    /// stream that many clients do not open.
    async fn list_changed(&self, context: &NotificationContext<RoleServer>) {
        let posted = http::heard(&context.extensions);
        // If another session handled the change, this one would miss it.
        let mine = Heard(self.session.number());
        let heard = context.extensions.get() == Some(&mine);
        if heard && self.asks == Asks::AtOnce {
            self.session.follow(&context.peer).await;
        } else if heard || posted == Some(&mine) {
            self.session.tell_cancelled().await;
        } else {
            self.session.list_changed().await;
        }
    }

    /// Runs a legacy call, and runs it again if it needs roots that are not known yet. `Err` is a refusal.
    async fn run_in_session<P, R, F>(
        &self,
        parameters: P,
        requester: String,
        context: RequestContext<RoleServer>,
        call: impl Fn(P, RequestContext<RoleServer>) -> F,
        failed: impl Fn(&Result<R, ErrorData>) -> bool,
    ) -> Result<Result<R, ErrorData>, Refusal>
    where
        P: Clone,
        F: Future<Output = Result<R, ErrorData>>,
    {
        let (peer, stopped) = (context.peer.clone(), context.ct.clone());
        let ground = self.service.ground();
        let source = || Source::Legacy(self.session.clone(), peer.clone(), stopped.clone());
        if let Err(error) = self.session.begin(&peer) {
            return Ok(Err(ErrorData::internal_error(error.to_string(), None)));
        }
        ground.http.note(&context.extensions, &self.session);
        ground.given.look_for_fallback(&ground.settings.validation).await;
        let limits = wire::limits(&context);
        self.session.land().await;
        // Only calls that need it look at the disk.
        if let Some(roots) = self.session.roots_settled().filter(|_| !self.session.is_look_due()) {
            let failing = roots.state() == State::Failed;
            let parties = (self.session.parties(), requester);
            let scope = Scope::new(Some(roots), source(), ground, parties, limits.as_ref());
            let result = scope.run(call(parameters, context)).await;
            if failing && scope.was_used() {
                // This call keeps its roots.
                self.session.ask_again(&peer).await;
            }
            return scope.judged(result, failed);
        }
        let parties = (self.session.parties(), requester.clone());
        let first = Scope::new(None, source(), ground, parties, limits.as_ref());
        let result = first.run(call(parameters.clone(), context.clone())).await;
        match first.take_outcome() {
            // Run again only a call that failed: a call that succeeded has done its work.
            Some(Outcome::NotKnown(path)) if failed(&result) => {
                let roots = self.session.roots_unless_stopped(&peer, &stopped).await;
                let roots = roots.map_err(|_| first.still_pending(path))?;
                let parties = (self.session.parties(), requester);
                let second = Scope::new(Some(roots), source(), ground, parties, limits.as_ref());
                let result = second.run(call(parameters, context)).await;
                second.judged(result, failed)
            }
            Some(Outcome::Denied(refusal)) if failed(&result) => Err(refusal),
            _ => Ok(result),
        }
    }

    /// Runs a call that may take several rounds with a modern client.
    async fn run<P, R, F>(
        &self,
        parameters: P,
        context: RequestContext<RoleServer>,
        call: impl Fn(P, RequestContext<RoleServer>) -> F,
        failed: impl Fn(&Result<R, ErrorData>) -> bool,
    ) -> Result<Result<R, ErrorData>, Refusal>
    where
        H: ServerHandler,
        P: Retried,
        R: Rounds,
        F: Future<Output = Result<R, ErrorData>>,
    {
        if is_modern(&context) {
            let server = self.handler.get_info().server_info;
            let server = (server.name.as_str(), server.version.as_str());
            modern::run(self.service.ground(), server, parameters, context, call, failed).await
        } else {
            let requester = self.service.ground().requester(P::METHOD, parameters.subject());
            self.run_in_session(parameters, requester, context, call, failed).await
        }
    }
}

impl<H: ServerHandler> Rooted<H> {
    /// Runs a call that takes one round with a modern client: it sees only roots that need no question.
    async fn run_in_one_round<P, R, F>(
        &self,
        method: &str,
        parameters: P,
        context: RequestContext<RoleServer>,
        call: impl Fn(P, RequestContext<RoleServer>) -> F,
    ) -> Result<R, ErrorData>
    where
        P: Clone,
        F: Future<Output = Result<R, ErrorData>>,
    {
        let ground = self.service.ground();
        let requester = ground.requester(method, "");
        if is_modern(&context) {
            let parties = self.modern_parties(&context);
            let known = modern::known(ground, &context, &parties, Said::Nothing).await;
            let limits = wire::limits(&context);
            let scope = Scope::new(known, Source::Modern, ground, (parties, requester), limits.as_ref());
            let result = scope.run(call(parameters, context)).await;
            return scope.judged(result, Result::is_err).map_err(Refusal::into_error)?;
        }
        self.run_in_session(parameters, requester, context, call, Result::is_err).await.map_err(Refusal::into_error)?
    }
}

/// Uses the request's own version: rmcp does not recognize a modern client on stdio, and would send it a request.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

fn tool_failed(result: &Result<CallToolResponse, ErrorData>) -> bool {
    match result {
        Ok(CallToolResponse::Complete(result)) => result.is_error == Some(true),
        Ok(_) => false,
        Err(_) => true,
    }
}

impl<H: ServerHandler> ServerHandler for Rooted<H> {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = |request, context| self.handler.call_tool(request, context);
        let described = self.described.as_ref().filter(|_| !is_modern(&context)).zip(Some(context.peer.clone()));
        let result = self.run(request, context, call, tool_failed).await;
        if let Some((described, peer)) = described {
            described.tell_if_changed(&self.session, &peer).await;
        }
        match (result, self.service.settings().refusals) {
            (Ok(result), _) => result,
            (Err(refusal), RefusalForm::ToolError) => Ok(refusal.into_tool_result().into()),
            (Err(refusal), RefusalForm::ProtocolError) => Err(refusal.into_error()),
        }
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let call = async |request: ReadResourceRequestParams, context| match self.resource.read(&request) {
            Some(answer) => answer,
            None => {
                let uri = request.uri.clone();
                let answer = self.handler.read_resource(request, context).await;
                answer.map_err(|error| self.resource.unknown(&uri, error))
            }
        };
        self.run(request, context, call, Result::is_err).await.map_err(Refusal::into_error)?
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let call = |request, context| self.handler.get_prompt(request, context);
        self.run(request, context, call, Result::is_err).await.map_err(Refusal::into_error)?
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let call = |request, context| self.handler.complete(request, context);
        self.run_in_one_round(method::COMPLETE, request, context, call).await
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.list_changed(&context).await;
        self.handler.on_roots_list_changed(context).await;
    }

    async fn ping(&self, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.handler.ping(context).await
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let paging = self.paging_over(&context);
        let limits = Limits::of_client(Some(&request.client_info));
        let roots = self.known_before(&request);
        let mut result = self.handler.initialize(request, context).await?;
        self.resource.declare(paging, &mut result.capabilities, &mut result.instructions, roots.as_ref());
        self.declare_described(&mut result.capabilities);
        limits.declare(&mut result.capabilities);
        Ok(result)
    }

    fn negotiate_initialize(&self, request: &InitializeRequestParams) -> Result<InitializeResult, ErrorData> {
        let mut result = self.handler.negotiate_initialize(request)?;
        let roots = self.known_before(request);
        self.resource.declare(self.paging, &mut result.capabilities, &mut result.instructions, roots.as_ref());
        self.declare_described(&mut result.capabilities);
        Limits::of_client(Some(&request.client_info)).declare(&mut result.capabilities);
        Ok(result)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.handler.supported_protocol_versions()
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let limits = Limits::of_client(context.client_info().as_ref());
        let roots = modern::known(self.service.ground(), &context, &self.modern_parties(&context), Said::Nothing).await;
        let mut result = self.handler.discover(context).await?;
        limits.declare(&mut result.capabilities);
        // Pass on a modern client's answers unchanged.
        let (capabilities, instructions) = (&mut result.capabilities, &mut result.instructions);
        self.resource.declare(Paging::Declared, capabilities, instructions, roots.as_ref());
        self.resource.declare_updates(&mut result.capabilities);
        self.declare_described(&mut result.capabilities);
        Ok(result)
    }

    #[expect(deprecated, reason = "a legacy client may still set the level")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.handler.set_level(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.handler.list_prompts(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let call = |request, context| self.handler.list_resources(request, context);
        let listed = self.run_in_one_round(method::LIST_RESOURCES, request.clone(), context.clone(), call).await;
        let mut resources = listed?;
        let scope = self.listing(&context).await?;
        let roots = scope.run(async { roots_cached() }).await;
        self.resource.list(request.as_ref(), &mut resources, roots.as_ref());
        Ok(resources)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let call = |request, context| self.handler.list_resource_templates(request, context);
        self.run_in_one_round(method::LIST_TEMPLATES, request, context, call).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.accepted(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.tell_listener(context).await
    }

    #[expect(deprecated, reason = "a legacy client may still subscribe")]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let call = |request, context| self.handler.subscribe(request, context);
        self.run_in_one_round(method::SUBSCRIBE, request, context, call).await
    }

    #[expect(deprecated, reason = "a legacy client may still subscribe")]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let call = |request, context| self.handler.unsubscribe(request, context);
        self.run_in_one_round(method::UNSUBSCRIBE, request, context, call).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let scope = self.listing(&context).await?;
        let mut tools = scope.run(self.handler.list_tools(request, context)).await?;
        if let Some(described) = &self.described {
            let roots = scope.run(async { roots_cached() }).await;
            described.describe(&mut tools, roots.as_ref());
        }
        Ok(tools)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.handler.get_tool(name)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if wire::is_known_request(&request.method) {
            // rmcp treats a known request with invalid params as an unknown request.
            return Err(ErrorData::invalid_params(format!("invalid `params` for `{}`", request.method), None));
        }
        self.handler.on_custom_request(request, context).await
    }

    async fn on_cancelled(&self, notification: CancelledNotificationParam, context: NotificationContext<RoleServer>) {
        self.handler.on_cancelled(notification, context).await;
    }

    async fn on_progress(&self, notification: ProgressNotificationParam, context: NotificationContext<RoleServer>) {
        self.handler.on_progress(notification, context).await;
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let source = Source::Told(self.session.clone());
        let parties = (self.session.parties(), String::new());
        let scope = Scope::new(None, source, self.service.ground(), parties, None);
        scope.run(self.handler.on_initialized(context)).await;
    }

    async fn on_custom_notification(&self, notification: CustomNotification, context: NotificationContext<RoleServer>) {
        if is_list_changed_method(&notification.method) {
            self.list_changed(&context).await;
        }
        self.handler.on_custom_notification(notification, context).await;
    }

    fn get_info(&self) -> ServerConfig {
        let mut info = self.handler.get_info();
        self.resource.declare(self.paging, &mut info.capabilities, &mut info.instructions, None);
        // rmcp compares a listener's filter with this; `initialize` tells legacy clients.
        self.resource.declare_updates(&mut info.capabilities);
        self.declare_described(&mut info.capabilities);
        info
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.handler.get_task(request, context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.handler.update_task(request, context).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.handler.cancel_task(request, context).await
    }
}
