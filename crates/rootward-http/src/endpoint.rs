//! Handles every request, from its head to its answer: who may connect, and what each path does.

use std::sync::Arc;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use rootward_protocol::frame::{Kind, Message};
use rootward_protocol::message::{INVALID_REQUEST, PARSE_ERROR};
use rootward_protocol::{frame::EnvelopeError, method};
use tokio::sync::Notify;
use tracing::Instrument;

use crate::body::Body;
use crate::connection::Pace;
use crate::cors::Page;
use crate::exchange::Exchange;
use crate::figures::family;
use crate::front::Front;
use crate::names::NameError;
use crate::posted::Posted;
use crate::reply::{self, Rejection};
use crate::wire::{Backend, PrincipalId};
use crate::{event, incoming, legacy, media, modern, trace};

/// The content type of `/metrics`.
const FIGURES: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(crate) async fn serve<B: Backend>(
    front: Arc<Front<B>>,
    request: Request<Incoming>,
    connection: Arc<Notify>,
    pace: Arc<Pace>,
) -> Response<Body> {
    let traceparent = request.headers().get("traceparent").map(|value| value.as_bytes().to_vec());
    let span = tracing::info_span!(
        "http",
        method = %request.method(),
        path = request.uri().path(),
        trace_id = traceparent.as_deref().and_then(trace::trace_id),
        principal = tracing::field::Empty,
        status = tracing::field::Empty,
    );
    let web_page = Page::of(&front.names, request.headers());
    let mut exchange = Exchange::new(Arc::clone(&front.figures), pace);
    let answered =
        answer(&front, request, web_page.as_ref(), &connection, &mut exchange).instrument(span.clone()).await;
    let mut response = answered.unwrap_or_else(|rejection| {
        tracing::debug!(parent: &span, status = rejection.status.as_u16(), says = ?rejection.says, "refused");
        rejection.into_response()
    });
    if let Some(web_page) = web_page {
        web_page.mark(response.headers_mut());
    }
    span.record("status", response.status().as_u16());
    exchange.status = response.status().as_u16();
    if response.headers().get(http::header::CONTENT_TYPE).is_some_and(|kind| kind == media::EVENTS) {
        exchange.streams();
    }
    response.map(|body| body.counted(exchange))
}

async fn answer<B: Backend>(
    front: &Arc<Front<B>>,
    request: Request<Incoming>,
    page: Option<&Page>,
    connection: &Arc<Notify>,
    exchange: &mut Exchange,
) -> Result<Response<Body>, Rejection> {
    incoming::check_framing(request.headers())?;
    front.names.check(request.uri().authority(), request.headers()).map_err(|error| {
        let status = if error == NameError::NoHost { StatusCode::BAD_REQUEST } else { StatusCode::FORBIDDEN };
        Rejection::refused(status, error.to_string())
    })?;
    match request.uri().path() {
        "/mcp" => match page.and_then(|_| Page::preflight(request.method(), request.headers())) {
            Some(told) => Ok(told),
            None => mcp(front, request, connection, exchange).await,
        },
        "/healthz" => state(request.method(), true),
        "/readyz" => state(request.method(), front.is_ready().await),
        "/metrics" => {
            known(front, request.headers())?;
            read_only(request.method())?;
            let shown = front.figures.text(front.sessions.count(), &front.backend.metrics().await);
            Ok(reply::whole(StatusCode::OK, FIGURES, Bytes::from(shown)))
        }
        _ => Err(Rejection::refused(StatusCode::NOT_FOUND, "not found: the endpoint is `/mcp`")),
    }
}

/// The principal that sends a request.
fn known<B>(front: &Front<B>, headers: &HeaderMap) -> Result<PrincipalId, Rejection> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let authorization = match (given.next(), given.next()) {
        (Some(one), None) => Some(one.as_bytes()),
        _ => None,
    };
    // SECURITY: nothing is served without a token (test: without_a_token_nothing_is_served)
    let principal = front.tokens.principal(authorization).ok_or_else(Rejection::unauthorized)?;
    tracing::Span::current().record("principal", front.guests[principal.0].name.as_str());
    Ok(principal)
}

fn read_only(method: &Method) -> Result<(), Rejection> {
    if matches!(*method, Method::GET | Method::HEAD) { Ok(()) } else { Err(Rejection::method_not_allowed("GET, HEAD")) }
}

fn state(method: &Method, is_good: bool) -> Result<Response<Body>, Rejection> {
    read_only(method)?;
    let (status, says) =
        if is_good { (StatusCode::OK, "ok\n") } else { (StatusCode::SERVICE_UNAVAILABLE, "not ready\n") };
    Ok(reply::whole(status, "text/plain", Bytes::from_static(says.as_bytes())))
}

/// The endpoint for both eras.
async fn mcp<B: Backend>(
    front: &Arc<Front<B>>,
    mut request: Request<Incoming>,
    connection: &Arc<Notify>,
    exchange: &mut Exchange,
) -> Result<Response<Body>, Rejection> {
    let principal = known(front, request.headers())?;
    front.admit(principal)?;
    match *request.method() {
        Method::POST => {
            let frame = body(front, &mut request).await?;
            post(front, principal, request.headers(), frame, connection, exchange).await
        }
        Method::GET => {
            exchange.family = "get";
            legacy::get(front, principal, request.headers(), connection)
        }
        Method::DELETE => {
            exchange.family = "delete";
            legacy::delete(front, principal, request.headers())
        }
        _ => Err(Rejection::method_not_allowed("POST, GET, DELETE")),
    }
}

/// The body of a POST, as one line.
async fn body<B>(front: &Front<B>, request: &mut Request<Incoming>) -> Result<Bytes, Rejection> {
    let headers = request.headers();
    if !media::is_json(headers) {
        let says = "`Content-Type` must be `application/json`";
        return Err(Rejection::refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, says));
    }
    if !media::accepts(headers, media::JSON) || !media::accepts(headers, media::EVENTS) {
        let says = "`Accept` must include both `application/json` and `text/event-stream`";
        return Err(Rejection::refused(StatusCode::NOT_ACCEPTABLE, says));
    }
    incoming::read(request, &front.limits).await.map(event::in_one_line)
}

async fn post<B: Backend>(
    front: &Arc<Front<B>>,
    principal: PrincipalId,
    headers: &HeaderMap,
    frame: Bytes,
    connection: &Arc<Notify>,
    exchange: &mut Exchange,
) -> Result<Response<Body>, Rejection> {
    let message = Message::parse(&frame).map_err(|bad| {
        let code = match bad.reason {
            EnvelopeError::NotUtf8 | EnvelopeError::NotJson(_) => PARSE_ERROR,
            _ => INVALID_REQUEST,
        };
        let says = format!("the message is refused: {}", bad.reason);
        Rejection::new(StatusCode::BAD_REQUEST, code, says).for_id(bad.id.as_deref())
    })?;
    exchange.family = kind(&message);
    let posted = Posted::of(&message, headers)?;
    if matches!(posted, Posted::Initialize | Posted::Modern) && front.is_draining() {
        return Err(Rejection::unavailable("the server is shutting down"));
    }
    let called = match &message {
        Message::Single(envelope) if envelope.kind() == Kind::Request => envelope.method(),
        _ => None,
    };
    if called == Some(method::CALL_TOOL) {
        front.figures.calls.inc();
    }
    // A listening request does not end on its own.
    if called != Some(method::LISTEN) {
        exchange.awaited();
    }
    match (posted, &message) {
        (Posted::ModernNotification, _) => Ok(reply::empty(StatusCode::ACCEPTED)),
        (Posted::Initialize, Message::Single(envelope)) => {
            legacy::initialize(front, principal, envelope, line(&frame, envelope.text())).await
        }
        (Posted::Modern, Message::Single(envelope)) => {
            modern::serve(front, principal, headers, envelope, line(&frame, envelope.text())).await
        }
        _ => legacy::post(front, principal, headers, &message, &frame, connection).await,
    }
}

/// A message without the blanks around it.
fn line(frame: &Bytes, message: &str) -> Bytes {
    frame.slice_ref(message.trim().as_bytes())
}

/// The label of a POST in the metrics.
fn kind(message: &Message<'_>) -> &'static str {
    match message {
        Message::Batch(_) => "batch",
        Message::Single(envelope) => match envelope.method() {
            Some(method) => family(method),
            None => "response",
        },
    }
}
