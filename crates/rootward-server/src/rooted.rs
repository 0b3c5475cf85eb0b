//! The wrapper that makes a handler's paths safe: it runs each call in a scope that knows the roots.
//!
//! Only calls that a path can come in with are scoped; everything else goes straight to the handler. A call whose
//! arguments need roots that are not known yet fails while they are read, before the tool's body. Then the roots are
//! fetched and the call is run again, so that a call without paths costs the client no question.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam, CompleteRequestParams,
    CompleteResult, CustomNotification, CustomRequest, CustomResult, DiscoverResult, GetPromptRequestParams,
    GetPromptResponse, GetTaskParams, GetTaskResult, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{
    NotificationContext, RequestContext, RoleServer, RunningService, ServerInitializeError, SubscriptionContext,
};
use rmcp::transport::IntoTransport;
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use rootward_core::session::State;
use rootward_protocol::Refusal;
use rootward_protocol::round::Said;

use crate::announce::{Limits, Paging, RootsResource};
use crate::http;
use crate::in_order::{Heard, InOrder, is_list_changed_method};
use crate::modern::{self, Retried, Rounds};
use crate::record::Parties;
use crate::refusal::RefusalAnswer;
use crate::scope::{Outcome, Scope, Source};
use crate::session::Session;
use crate::settings::{RefusalForm, RootsService};
use crate::stdio::stdio;
use crate::wire;

/// A handler whose calls see the roots of their session. One per session, like the handler itself.
#[derive(Debug)]
pub struct Rooted<H> {
    handler: H,
    session: Session,
    service: RootsService,
    resource: RootsResource,
    paging: Paging,
    asks: Asks,
}

/// When a legacy client may be asked for its roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asks {
    /// At any time: the connection carries questions of its own.
    AtOnce,
    /// While one of its calls is under way: a question outside a call would leave on a stream that many HTTP clients do not open.
    InCalls,
}

impl RootsService {
    /// Wraps a handler, for one session: serve what this returns. Over HTTP, call it in the factory that makes the handlers.
    pub fn install<H: ServerHandler>(&self, handler: H) -> Rooted<H> {
        Rooted {
            session: self.session_of(|| handler.get_info().server_info.name),
            handler,
            service: self.clone(),
            resource: RootsResource::NotOffered,
            paging: Paging::NotDeclared,
            asks: Asks::AtOnce,
        }
    }
}

impl<H> Rooted<H> {
    /// The handler inside.
    pub fn handler(&self) -> &H {
        &self.handler
    }

    /// The roots of the session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Offers the resource `rootward://roots`, which tells what is in force, and says so in the server's instructions: for
    /// models, which then ask for what they can have.
    #[must_use]
    pub fn with_roots_resource(self) -> Rooted<H> {
        Rooted { resource: RootsResource::Offered, ..self }
    }

    /// Serves a session over `transport`. This, rather than rmcp's method of the same name, which it stands before, takes
    /// notice of changed roots before any call that came after them.
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
        // Boxed: what a handshake needs is not kept for as long as the session lasts.
        Box::pin(ServiceExt::serve(self, transport)).await
    }

    /// Serves a session on standard input and output.
    pub async fn serve_stdio(self) -> Result<RunningService<RoleServer, Rooted<H>>, ServerInitializeError>
    where
        H: ServerHandler,
    {
        Rooted { paging: Paging::Declared, ..self }.serve(stdio()).await
    }

    /// The same, with what a transport over channels can do.
    pub(crate) fn over_channels(self, paging: Paging, asks: Asks) -> Rooted<H> {
        Rooted { paging, asks, ..self }
    }

    /// Who is at either end of a modern request.
    fn modern_parties(&self, context: &RequestContext<RoleServer>) -> Arc<Parties>
    where
        H: ServerHandler,
    {
        modern::parties(self.service.ground(), context, || self.handler.get_info().server_info.name)
    }

    /// Whether cursors arrive with the transport of a request.
    fn paging_over(&self, context: &RequestContext<RoleServer>) -> Paging {
        if http::keeps_cursors(&context.extensions) { Paging::Declared } else { self.paging }
    }

    /// Takes notice of a change. On a connection of its own the client is asked at once, without a call that needs it: the next
    /// one finds the roots there, and whoever subscribed is told. Over HTTP a question outside a call would leave on a stream
    /// that many clients do not open.
    async fn list_changed(&self, context: &NotificationContext<RoleServer>) {
        let posted = http::heard(&context.extensions);
        // Heard by another session, the change would be lost for this one.
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

    /// Runs a legacy call, twice if it turns out that it needs roots which are not known. `Err` is a refusal.
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
        let limits = wire::limits(&context);
        self.session.land().await;
        // A look at the disk is for calls that turn out to need it.
        if let Some(roots) = self.session.roots_settled().filter(|_| !self.session.is_look_due()) {
            let failing = roots.state() == State::Failed;
            let parties = (self.session.parties(), requester);
            let scope = Scope::new(Some(roots), source(), ground, parties, limits.as_ref());
            let result = scope.run(call(parameters, context)).await;
            if failing && scope.was_used() {
                // The roots of this call stay what they were.
                self.session.ask_again(&peer).await;
            }
            return scope.judged(result, failed);
        }
        let parties = (self.session.parties(), requester.clone());
        let first = Scope::new(None, source(), ground, parties, limits.as_ref());
        let result = first.run(call(parameters.clone(), context.clone())).await;
        match first.take_outcome() {
            // Only a call that failed is run again: one that went through has done its work.
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

    /// Runs a call that may take rounds in the modern era.
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

/// By the request's own version: rmcp does not recognise a modern client on stdio, and would ask it.
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
        match (self.run(request, context, call, tool_failed).await, self.service.settings().refusals) {
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
            None => self.handler.read_resource(request, context).await,
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
        let requester = self.service.ground().requester(rootward_protocol::method::COMPLETE, "");
        if is_modern(&context) {
            // A completion takes no rounds: what the client does not need to be asked for is all there is.
            let ground = self.service.ground();
            let parties = self.modern_parties(&context);
            let known = modern::known(ground, &context, &parties, Said::Nothing).await;
            let limits = wire::limits(&context);
            let scope = Scope::new(known, Source::Modern, ground, (parties, requester), limits.as_ref());
            let result = scope.run(call(request, context)).await;
            return scope.judged(result, Result::is_err).map_err(Refusal::into_error)?;
        }
        self.run_in_session(request, requester, context, call, Result::is_err).await.map_err(Refusal::into_error)?
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
        let mut result = self.handler.initialize(request, context).await?;
        self.resource.declare(paging, &mut result.capabilities, &mut result.instructions);
        limits.declare(&mut result.capabilities);
        Ok(result)
    }

    fn negotiate_initialize(&self, request: &InitializeRequestParams) -> Result<InitializeResult, ErrorData> {
        let mut result = self.handler.negotiate_initialize(request)?;
        self.resource.declare(self.paging, &mut result.capabilities, &mut result.instructions);
        Limits::of_client(Some(&request.client_info)).declare(&mut result.capabilities);
        Ok(result)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.handler.supported_protocol_versions()
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let limits = Limits::of_client(context.client_info().as_ref());
        let mut result = self.handler.discover(context).await?;
        limits.declare(&mut result.capabilities);
        // What a modern client answers with is carried as it came.
        self.resource.declare(Paging::Declared, &mut result.capabilities, &mut result.instructions);
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
        let mut resources = self.handler.list_resources(request.clone(), context).await?;
        self.resource.list(request.as_ref(), &mut resources);
        Ok(resources)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.handler.list_resource_templates(request, context).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.handler.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.handler.listen(context).await
    }

    #[expect(deprecated, reason = "a legacy client may still subscribe")]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.handler.subscribe(request, context).await
    }

    #[expect(deprecated, reason = "a legacy client may still subscribe")]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.handler.unsubscribe(request, context).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // A list waits for nobody: it sees what is known, and cannot ask.
        let ground = self.service.ground();
        let (known, source, parties) = if is_modern(&context) {
            let parties = self.modern_parties(&context);
            (modern::known(ground, &context, &parties, Said::Nothing).await, Source::Modern, parties)
        } else {
            if let Err(error) = self.session.begin(&context.peer) {
                return Err(ErrorData::internal_error(error.to_string(), None));
            }
            (self.session.roots_settled(), Source::Told(self.session.clone()), self.session.parties())
        };
        let scope = Scope::new(known, source, ground, (parties, String::new()), None);
        scope.run(self.handler.list_tools(request, context)).await
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
            // rmcp reads a request of its own whose params do not fit as one that it does not know.
            return Err(ErrorData::invalid_params(format!("`params` are not those of `{}`", request.method), None));
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
        self.resource.declare(self.paging, &mut info.capabilities, &mut info.instructions);
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
