//! Reads a request body, within its limits on size and time.

use std::future::poll_fn;
use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use hyper::Request;
use hyper::body::Incoming;
use tokio::time::timeout;

use crate::config::Limits;
use crate::reply::Rejection;

/// How much memory is reserved because of a client's `Content-Length`.
const TRUSTED: usize = 1 << 16;

/// Refuses a request whose end is ambiguous, because a proxy in front may see it elsewhere.
// SECURITY: what one side takes for a body, the other may take for a request
// (test: a_request_is_not_hidden_in_another)
pub(crate) fn check_framing(headers: &HeaderMap) -> Result<(), Rejection> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let is_clear = match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(coding), None) => {
            coding.as_bytes().eq_ignore_ascii_case(b"chunked") && !headers.contains_key(CONTENT_LENGTH)
        }
        (Some(_), Some(_)) => false,
    };
    let says = "a body needs either one `Content-Length` or `Transfer-Encoding: chunked`";
    if is_clear { Ok(()) } else { Err(Rejection::bad(says).closing()) }
}

/// The whole body of a request.
pub(crate) async fn read(request: &mut Request<Incoming>, limits: &Limits) -> Result<Bytes, Rejection> {
    let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > limits.body) {
        return Err(too_large(limits));
    }
    let read = timeout(limits.body_time, collect(request.body_mut(), length.unwrap_or(0), limits)).await;
    read.unwrap_or_else(|_| {
        Err(Rejection::refused(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive").closing())
    })
}

fn too_large(limits: &Limits) -> Rejection {
    let says = format!("the body has more than {} bytes", limits.body);
    Rejection::refused(StatusCode::PAYLOAD_TOO_LARGE, says).closing()
}

async fn collect(body: &mut Incoming, length: usize, limits: &Limits) -> Result<Bytes, Rejection> {
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    loop {
        let frame = match poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await {
            None => break,
            Some(Ok(frame)) => frame,
            Some(Err(_)) => return Err(Rejection::bad("the body ended early").closing()),
        };
        let Ok(data) = frame.into_data() else { continue };
        let so_far = first.as_ref().map_or(0, Bytes::len).max(rest.len());
        // SECURITY: a body without a length could fill the memory (test: oversized_bodies_are_refused)
        if so_far + data.len() > limits.body {
            return Err(too_large(limits));
        }
        match (first.take(), rest.is_empty()) {
            // Most bodies arrive in one piece, which need not be copied.
            (None, true) => first = Some(data),
            (known, _) => {
                if let Some(known) = known {
                    rest.reserve(length.min(TRUSTED).max(known.len() + data.len()));
                    rest.extend_from_slice(&known);
                }
                rest.extend_from_slice(&data);
            }
        }
    }
    Ok(first.unwrap_or_else(|| rest.freeze()))
}
