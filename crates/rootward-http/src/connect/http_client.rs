//! Connections to a remote server: HTTP/1.1, TLS with the system's certificates, and a connect timeout.
//!
//! Proxies are not used. Redirects are followed only within the same origin, because the headers carry tokens.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;
use tower_service::Service;
use url::Url;

use super::failure::Failure;
use super::outbound::Outbound;
use super::target::{Target, shown};

/// How long connecting may take, including TLS.
const CONNECTS_WITHIN: Duration = Duration::from_secs(20);
/// How long a connection is kept for the next request. Node and uvicorn close theirs after five seconds.
const IDLE: Duration = Duration::from_secs(4);
/// How much of a response is read at once; its headers must fit.
const LARGEST_READ: usize = 256 << 10;
/// How many redirects within the same origin are followed.
const MOST_REDIRECTS: usize = 3;

/// The accepted response types.
const ACCEPTED: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENTS_ONLY: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Why no connection is possible at all.
#[derive(Debug, Error)]
pub enum SetupError {
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[source] rustls::Error),
    /// The system has no certificates.
    #[error(
        "no certificate authority was found on this system{0}: install the package `ca-certificates`, or name a file in `SSL_CERT_FILE`"
    )]
    NoCertificates(String),
}

/// The HTTP client for one remote server.
#[derive(Clone, Debug)]
pub(super) struct HttpClient {
    client: Client<InTime<HttpsConnector<HttpConnector>>, Outbound>,
    target: Arc<Target>,
}

impl HttpClient {
    pub(super) fn new(target: Arc<Target>) -> Result<HttpClient, SetupError> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_keepalive(Some(Duration::from_mins(1)));
        let tls = tls_ambient(target.is_encrypted())?;
        let https = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(tls);
        let https = https.https_or_http().enable_http1().wrap_connector(http);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .http1_max_buf_size(LARGEST_READ)
            .build(InTime(https));
        Ok(HttpClient { client, target })
    }

    /// Sends a message.
    pub(super) async fn post(&self, headers: HeaderMap, body: Outbound, bytes: &Bytes) -> Sending {
        let mut headers = headers;
        headers.insert(ACCEPT, ACCEPTED);
        headers.insert(CONTENT_TYPE, JSON);
        self.send(&Method::POST, headers, body, Some(bytes)).await
    }

    /// Opens a stream.
    pub(super) async fn get(&self, mut headers: HeaderMap) -> Sending {
        headers.insert(ACCEPT, EVENTS_ONLY);
        self.send(&Method::GET, headers, Outbound::default(), None).await
    }

    /// Ends a session.
    pub(super) async fn delete(&self, headers: HeaderMap) -> Sending {
        self.send(&Method::DELETE, headers, Outbound::default(), None).await
    }

    async fn send(&self, method: &Method, headers: HeaderMap, body: Outbound, bytes: Option<&Bytes>) -> Sending {
        let mut all = self.target.headers.clone();
        all.extend(headers);
        let (mut uri, mut url) = (self.target.uri.clone(), self.target.url.clone());
        let mut body = body;
        for _ in 0..=MOST_REDIRECTS {
            let mut request = Request::new(body);
            *request.method_mut() = method.clone();
            *request.uri_mut() = uri;
            *request.headers_mut() = all.clone();
            let sent = self.client.request(request).await;
            let response = sent.map_err(|error| Failure::of_client(&error, error.is_connect()))?;
            let status = response.status();
            if !status.is_redirection() {
                return Ok(response);
            }
            let Some(next) = self.redirected(&url, status, response.headers())? else { return Ok(response) };
            uri = next.as_str().parse::<Uri>().map_err(|_| Failure::Redirect(status, None))?;
            url = next;
            body = bytes.map(|bytes| Outbound::new(bytes.clone())).unwrap_or_default();
        }
        Err(Failure::Redirect(StatusCode::LOOP_DETECTED, None))
    }

    /// Where a redirect leads, if it may be followed.
    fn redirected(&self, from: &Url, status: StatusCode, headers: &HeaderMap) -> Result<Option<Url>, Failure> {
        if status == StatusCode::NOT_MODIFIED {
            return Ok(None);
        }
        let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
        let to = location.and_then(|to| from.join(to).ok());
        // Other redirects turn a POST into a GET.
        let keeps_method = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        match to {
            // SECURITY: another origin would get the headers (test: a_redirect_to_another_origin_is_not_followed)
            Some(to) if keeps_method && to.origin() == self.target.url.origin() => Ok(Some(to)),
            to => Err(Failure::Redirect(status, to.as_ref().filter(|to| to.has_host()).map(shown))),
        }
    }
}

/// A response, up to its headers.
pub(super) type Sending = Result<Response<Incoming>, Failure>;

/// TLS with the system's certificates, which are read only if needed.
fn tls_ambient(is_needed: bool) -> Result<ClientConfig, SetupError> {
    let mut roots = RootCertStore::empty();
    if is_needed {
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            let why = found.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
            return Err(SetupError::NoCertificates(why));
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().map_err(SetupError::Tls)?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// A connector with a timeout.
#[derive(Clone, Debug)]
struct InTime<C>(C);

type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl<C> Service<Uri> for InTime<C>
where
    C: Service<Uri, Error = BoxError>,
    C::Response: Send,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.0.call(uri);
        Box::pin(async move {
            match tokio::time::timeout(CONNECTS_WITHIN, connecting).await {
                Ok(connected) => connected,
                Err(_) => Err(io::Error::from(ErrorKind::TimedOut).into()),
            }
        })
    }
}
