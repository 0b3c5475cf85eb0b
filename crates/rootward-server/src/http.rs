//! Streamable HTTP with two guarantees that rmcp's service lacks: root changes are handled in order of arrival, and
//! cursors of `roots/list` are kept.
//!
//! rmcp handles each message in its own task, and answers a notification before handling it: a call posted after
//! `list_changed` could run before it, and get a root that was just revoked.

use std::convert::Infallible;
use std::fmt::Display;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use memchr::memmem;
use rmcp::model::Extensions;
use rootward_protocol::keep_next_cursor;
use rootward_protocol::session::{WeakTable, Weakly};
use serde::Deserialize;
use tower_service::Service;

use crate::in_order::{Heard, is_list_changed_method};
use crate::session::{Session, WeakSession};
use crate::settings::RootsService;

/// The response of rmcp's service.
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The session id header.
const SESSION: &str = "mcp-session-id";
/// The longest body accepted, as in rmcp.
const LONGEST_BODY: usize = 4 << 20;

/// An HTTP service of rmcp behind a roots service: the result of [`RootsService::http`].
#[derive(Clone, Debug)]
pub struct RootedHttp<S> {
    service: S,
    roots: RootsService,
    longest_body: usize,
}

impl RootsService {
    /// Wraps rmcp's `StreamableHttpService`, whose handlers this service installs: serve the return value. A legacy
    /// client's root change then applies to every call that it posts afterwards.
    pub fn http<S>(&self, service: S) -> RootedHttp<S> {
        RootedHttp { service, roots: self.clone(), longest_body: LONGEST_BODY }
    }
}

impl<S> RootedHttp<S> {
    /// Accepts bodies up to this many bytes instead of 4 MiB; rmcp's service has its own limit.
    #[must_use]
    pub fn with_longest_body(self, bytes: usize) -> RootedHttp<S> {
        RootedHttp { longest_body: bytes, ..self }
    }
}

impl<S, B> Service<Request<B>> for RootedHttp<S>
where
    S: Service<Request<Full<Bytes>>, Response = Answer, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Answer;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // Keep the clone for later: this instance is the one that reported ready.
        let next = self.service.clone();
        let mut service = std::mem::replace(&mut self.service, next);
        let (roots, longest_body) = (self.roots.clone(), self.longest_body);
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            let body = match Limited::new(body, longest_body).collect().await {
                Ok(body) => body.to_bytes(),
                Err(error) if error.is::<LengthLimitError>() => {
                    return Ok(refused(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long"));
                }
                Err(error) => return Ok(refused(StatusCode::BAD_REQUEST, error)),
            };
            if parts.method == Method::POST && says_list_changed(&body) {
                // SECURITY: handle the change before passing the message on, so before any call posted after its answer
                // (test: a_change_over_http_is_heard_before_the_call_that_follows)
                if let Some(session) = session_of(&parts).and_then(|id| roots.ground().http.find(id)) {
                    session.hear_list_changed();
                    parts.extensions.insert(Heard(session.number()));
                }
            }
            parts.extensions.insert(KeptCursors);
            let body = keep_next_cursor(&body).map_or(body, Bytes::from);
            service.call(Request::from_parts(parts, Full::new(body))).await
        })
    }
}

fn refused(status: StatusCode, reason: impl Display) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(reason.to_string())).boxed());
    *answer.status_mut() = status;
    answer
}

fn session_of(parts: &Parts) -> Option<&str> {
    parts.headers.get(SESSION)?.to_str().ok()
}

/// Whether a body is the notification, or a batch that contains it.
fn says_list_changed(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Posted {
        One(Message),
        Batch(Vec<Message>),
    }
    #[derive(Deserialize)]
    struct Message {
        method: Option<String>,
    }
    let is_it = |message: &Message| message.method.as_deref().is_some_and(is_list_changed_method);
    memmem::find(body, b"list_changed").is_some()
        && match serde_json::from_slice(body) {
            Ok(Posted::One(message)) => is_it(&message),
            Ok(Posted::Batch(messages)) => messages.iter().any(is_it),
            Err(_) => false,
        }
}

/// The session that handled a root change when its notification was posted.
pub(crate) fn heard(extensions: &Extensions) -> Option<&Heard> {
    extensions.get::<Parts>()?.extensions.get()
}

/// Marks a request whose body passed through this service.
#[derive(Clone, Copy, Debug)]
struct KeptCursors;

/// Whether cursors survive in the requests of this connection.
pub(crate) fn keeps_cursors(extensions: &Extensions) -> bool {
    extensions.get::<Parts>().is_some_and(|parts| parts.extensions.get::<KeptCursors>().is_some())
}

/// Sessions by HTTP session id. rmcp passes the id to a handler with each request.
#[derive(Debug, Default)]
pub(crate) struct HttpSessions(Mutex<WeakTable<String, WeakSession>>);

impl Weakly for WeakSession {
    fn is_gone(&self) -> bool {
        self.upgrade().is_none()
    }
}

impl HttpSessions {
    /// Notes the id of the session that a request belongs to.
    pub(crate) fn note(&self, extensions: &Extensions, session: &Session) {
        if let Some(id) = extensions.get::<Parts>().and_then(session_of)
            && session.is_named_first()
        {
            let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // SECURITY: rmcp vouches for an id only if it keeps the sessions itself; any other sender of an id must
            // not take it from the session that has it (test: a_name_stays_with_its_session)
            if table.get(id).is_none_or(Weakly::is_gone) {
                table.insert(id.to_owned(), session.downgrade());
            }
        }
    }

    fn find(&self, id: &str) -> Option<Session> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id)?.upgrade()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_name_stays_with_its_session() {
        let service = RootsService::default();
        let sessions = HttpSessions::default();
        let note = |session: &Session| {
            let (parts, ()) = Request::builder().header(SESSION, "name").body(()).unwrap().into_parts();
            let mut extensions = Extensions::new();
            extensions.insert(parts);
            sessions.note(&extensions, session);
            sessions.find("name").map(|session| session.number())
        };
        let (first, second, third) = (service.session(), service.session(), service.session());
        assert_eq!(note(&first), Some(first.number()));
        assert_eq!(note(&second), Some(first.number()));
        drop(first);
        assert_eq!(note(&third), Some(third.number()));
    }

    #[test]
    fn the_notification_is_recognised() {
        let check = |body: Value, expect: bool| assert_eq!(says_list_changed(body.to_string().as_bytes()), expect);
        let change = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
        check(change.clone(), true);
        check(json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}, change]), true);
        check(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}), false);
        check(json!({"method": "tools/call", "params": {"x": "notifications/roots/list_changed"}}), false);
        check(json!({"id": 1, "result": "notifications/roots/list_changed"}), false);
        assert!(says_list_changed(br#"{"method":"notifications\/roots\/list_changed"}"#));
        assert!(!says_list_changed(br#"{"method":"notifications/roots/list_changed""#));
    }
}
