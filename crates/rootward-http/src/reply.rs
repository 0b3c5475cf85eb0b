//! The front's own answers: statuses, and JSON-RPC errors.

use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use rootward_protocol::message::{INTERNAL_ERROR, INVALID_REQUEST, error};
use serde_json::Value;

use crate::body::Body;
use crate::media;

/// Why a request is not served. It becomes an answer with a JSON-RPC error.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Rejection(Box<Details>);

/// The contents of a rejection.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Details {
    pub(crate) status: StatusCode,
    /// The id of the request, as written.
    pub(crate) id: Option<Box<str>>,
    pub(crate) code: i32,
    pub(crate) says: String,
    pub(crate) data: Option<Value>,
    header: Option<(HeaderName, HeaderValue)>,
    /// Whether the rest of the request is left unread, so that the connection cannot be reused.
    closes: bool,
}

impl std::ops::Deref for Rejection {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl Rejection {
    pub(crate) fn new(status: StatusCode, code: i32, says: impl Into<String>) -> Rejection {
        let says = says.into();
        Rejection(Box::new(Details { status, id: None, code, says, data: None, header: None, closes: false }))
    }

    /// A malformed request.
    pub(crate) fn bad(says: impl Into<String>) -> Rejection {
        Rejection::new(StatusCode::BAD_REQUEST, INVALID_REQUEST, says)
    }

    /// A request that is refused with this status.
    pub(crate) fn refused(status: StatusCode, says: impl Into<String>) -> Rejection {
        Rejection::new(status, INVALID_REQUEST, says)
    }

    pub(crate) fn unauthorized() -> Rejection {
        let value = HeaderValue::from_static("Bearer");
        Rejection::refused(StatusCode::UNAUTHORIZED, "a valid bearer token is required").with(WWW_AUTHENTICATE, value)
    }

    pub(crate) fn method_not_allowed(allowed: &'static str) -> Rejection {
        let says = "this HTTP method is not allowed here";
        Rejection::refused(StatusCode::METHOD_NOT_ALLOWED, says).with(ALLOW, HeaderValue::from_static(allowed))
    }

    pub(crate) fn unknown_session() -> Rejection {
        Rejection::refused(StatusCode::NOT_FOUND, "no such session: send `initialize`")
    }

    /// A limit is reached; the client may try again later.
    pub(crate) fn later(status: StatusCode, seconds: u64, says: impl Into<String>) -> Rejection {
        Rejection::new(status, INTERNAL_ERROR, says).with(RETRY_AFTER, HeaderValue::from(seconds.max(1)))
    }

    pub(crate) fn unavailable(says: impl Into<String>) -> Rejection {
        Rejection::later(StatusCode::SERVICE_UNAVAILABLE, 5, says)
    }

    pub(crate) fn for_id(mut self, id: Option<&str>) -> Rejection {
        self.0.id = id.map(Into::into);
        self
    }

    pub(crate) fn closing(mut self) -> Rejection {
        self.0.closes = true;
        self
    }

    pub(crate) fn with_data(mut self, data: Value) -> Rejection {
        self.0.data = Some(data);
        self
    }

    fn with(mut self, name: HeaderName, value: HeaderValue) -> Rejection {
        self.0.header = Some((name, value));
        self
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let body = error(self.id.as_deref().unwrap_or("null"), self.code, &self.says, self.data.as_ref());
        let mut response = json(self.status, Bytes::from(body));
        let headers = response.headers_mut();
        if let Some((name, value)) = &self.header {
            headers.insert(name, value.clone());
        }
        if self.closes {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// An answer with this content type.
pub(crate) fn whole(status: StatusCode, kind: &'static str, content: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::whole(content));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// A message.
pub(crate) fn json(status: StatusCode, message: Bytes) -> Response<Body> {
    whole(status, media::JSON, message)
}

/// An answer without a body.
pub(crate) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::whole(Bytes::new()));
    *response.status_mut() = status;
    response
}

/// A stream of messages.
pub(crate) fn events(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media::EVENTS));
    headers.insert(http::header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    // Without this, proxies such as nginx would hold events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
