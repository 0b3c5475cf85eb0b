//! Web pages in a browser: preflight requests, and what a page may read.

use rootward_http::Config;
use serde_json::json;

use crate::client::{Answer, Ask};
use crate::script::{Running, hello};

const APP: &str = "https://app.example.org";

fn running() -> Running {
    Running::with(Config { origins: vec![APP.to_owned()], ..Config::default() })
}

/// What a browser sends before a page's request with such headers.
fn preflight(origin: &str, method: &str) -> Ask {
    Ask::new("OPTIONS", "/mcp")
        .with("Origin", origin)
        .with("Access-Control-Request-Method", method)
        .with("Access-Control-Request-Headers", "authorization,content-type,mcp-param-region,cookie")
}

fn granted(answer: &Answer) -> Option<&str> {
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    answer.header("access-control-allow-origin")
}

#[tokio::test]
async fn a_named_page_may_send_and_see() {
    let running = running();
    for method in ["POST", "GET", "DELETE"] {
        let answer = running.send(preflight(APP, method)).await;
        assert_eq!((answer.status, granted(&answer)), (204, Some(APP)));
        assert_eq!(answer.header("access-control-allow-methods"), Some("POST, GET, DELETE"));
        let headers = answer.header("access-control-allow-headers");
        assert_eq!(headers, Some("authorization, content-type, mcp-param-region"));
        assert_eq!(answer.header("vary"), Some("Origin"));
    }
    let exposed = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After";
    let answered = running.send(hello("2025-06-18").with("Origin", APP)).await;
    assert_eq!((answered.status, granted(&answered)), (200, Some(APP)));
    assert_eq!(answered.header("access-control-expose-headers"), Some(exposed));
    let id = answered.header("mcp-session-id").unwrap().to_owned();
    // Streams, refusals and errors can also be read.
    for (ask, status) in [
        (Ask::get().session(&id), 200),
        (Ask::modern("subscriptions/listen", json!({})), 200),
        (Ask::get(), 400),
        (Ask::delete().with("Authorization", "Bearer wrong"), 401),
        (Ask::new("GET", "/healthz"), 200),
        (Ask::new("GET", "/nothing"), 404),
        (Ask::new("PUT", "/mcp").with("Authorization", "Bearer ada-token"), 405),
    ] {
        let answered = running.send(ask.with("Origin", APP)).await;
        assert_eq!((answered.status, granted(&answered)), (status, Some(APP)));
    }
    // A successful preflight does not replace a token.
    assert_eq!(running.send(hello("2025-06-18").with("Origin", APP).with("Authorization", "")).await.status, 401);
}

#[tokio::test]
async fn other_pages_get_no_permission() {
    let running = running();
    let loopback = "http://localhost:3000";
    for (origin, status) in
        [("https://evil.example", 403), ("null", 403), ("http://app.example.org", 403), (loopback, 401)]
    {
        let answer = running.send(preflight(origin, "POST")).await;
        assert_eq!((answer.status, granted(&answer)), (status, None), "{origin}");
        assert_eq!(answer.header("access-control-allow-methods"), None);
    }
    // A page from this machine may send, as any program may, but cannot read the answer.
    let answered = running.send(hello("2025-06-18").with("Origin", loopback)).await;
    assert_eq!((answered.status, granted(&answered)), (200, None));
    // Two origins count as none.
    let two = running.send(preflight(APP, "POST").also("Origin", "https://evil.example")).await;
    assert_eq!((two.status, granted(&two)), (403, None));
    // Without an `Origin`, the answer has no such headers.
    let answered = running.send(hello("2025-06-18")).await;
    assert_eq!((granted(&answered), answered.header("vary")), (None, None));
    // An unknown host name is refused first.
    assert_eq!(running.send(preflight(APP, "POST").with("Host", "evil.example")).await.status, 403);
    assert_eq!(running.send(Ask::new("OPTIONS", "/mcp").with("Origin", APP)).await.status, 401);
}
