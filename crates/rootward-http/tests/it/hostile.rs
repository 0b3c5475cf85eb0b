//! Hostile requests.

use std::time::Duration;

use rootward_http::Limits;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::{Ask, LONG};
use crate::script::{Running, call, hello};

const HEAD: &str = "Host: 127.0.0.1\r\nAuthorization: Bearer ada-token\r\nContent-Type: application/json\r\n\
                    Accept: application/json, text/event-stream\r\n";

/// A front that closes silent connections soon.
fn impatient(limits: Limits) -> Running {
    let soon = Duration::from_millis(500);
    Running::limited(Limits { head_time: soon, body_time: soon, connection_idle: soon, ..limits })
}

/// Sends these bytes and reads until the front has closed.
async fn raw(running: &Running, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    // The front may have closed while this is sent.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = timeout(LONG, stream.read_to_end(&mut answer)).await.expect("the front neither answers nor closes");
    String::from_utf8_lossy(&answer).into_owned()
}

fn statuses(answers: &str) -> Vec<&str> {
    answers.match_indices("HTTP/1.").map(|(at, _)| &answers[at + 9..at + 12]).collect()
}

/// Request smuggling: only a careless parser sees a second request.
#[tokio::test]
async fn a_request_is_not_hidden_in_another() {
    let running = impatient(Limits::default());
    let id = running.session("2025-06-18").await;
    let head = format!("{HEAD}Mcp-Session-Id: {id}\r\n");
    let body = call(1, "echo", json!({})).to_string();
    let hidden = format!("DELETE /mcp HTTP/1.1\r\n{head}\r\n");
    let length = body.len();
    for framing in [
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"),
        format!("Content-Length: {length}\r\nContent-Length: {}\r\n", length + hidden.len()),
        format!("Content-Length: {length}, {}\r\n", length + hidden.len()),
        format!("Content-Length: +{length}\r\n"),
        format!("Content-Length: {length} \r\nContent-Length : 0\r\n"),
        "Transfer-Encoding: xchunked\r\n".to_owned(),
        "Transfer-Encoding: chunked, identity\r\n".to_owned(),
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n".to_owned(),
        "Transfer-Encoding : chunked\r\n".to_owned(),
        "Transfer-Encoding:\u{b}chunked\r\n".to_owned(),
        "X: y\r\n Transfer-Encoding: chunked\r\n".to_owned(),
    ] {
        for body in [body.clone(), format!("{length:x}\r\n{body}\r\n0\r\n\r\n"), "0\r\n\r\n".to_owned()] {
            let answers =
                raw(&running, format!("POST /mcp HTTP/1.1\r\n{head}{framing}\r\n{body}{hidden}").as_bytes()).await;
            assert!(statuses(&answers).len() <= 1, "{framing}{body}: {answers}");
            assert!(!answers.contains(" 204 "), "{framing}{body}: {answers}");
        }
    }
    let mut alive = running.send(Ask::post(call(2, "echo", json!({}))).session(&id)).await;
    assert_eq!((alive.status, &alive.message().await["id"]), (200, &json!(2)));
}

#[tokio::test]
async fn requests_in_a_row_are_answered_in_order() {
    let running = impatient(Limits::default());
    let id = running.session("2025-06-18").await;
    let asks: Vec<u8> =
        (1..=20).flat_map(|id_of| Ask::post(call(id_of, "echo", json!({}))).session(&id).bytes()).collect();
    let answers = raw(&running, &asks).await;
    assert_eq!(statuses(&answers), ["200"; 20]);
    let positions: Vec<usize> = (1..=20).map(|id| answers.find(&format!("\"id\":{id},")).unwrap()).collect();
    assert!(positions.is_sorted(), "{answers}");
    // A refused body is not read as a request: the second answer, if any, is for the DELETE.
    let mut refused = Ask::post("x".repeat(300)).with("Authorization", "Bearer wrong").bytes();
    refused.extend(Ask::delete().session(&id).bytes());
    let answers = raw(&running, &refused).await;
    assert_eq!(statuses(&answers)[0], "401");
    assert_eq!(statuses(&answers).get(1).copied().unwrap_or("204"), "204", "{answers}");
}

/// A client without a token gets little memory, however long the head is.
#[tokio::test]
async fn long_heads_are_refused() {
    let running = impatient(Limits::default());
    let long = "x".repeat(1 << 20);
    let many = (0..2000).map(|number| format!("X-{number}: y\r\n")).collect::<Vec<_>>().concat();
    for head in [
        format!("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: {long}\r\n\r\n"),
        format!("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n{many}\r\n"),
        format!("GET /{long} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
    ] {
        let answers = raw(&running, head.as_bytes()).await;
        // If the connection closes before all was read, a client may not see the answer.
        assert!(matches!(statuses(&answers)[..], [] | ["431" | "414" | "400"]), "{answers}");
        let received = running.metric("rootward_http_received_bytes_total").await;
        assert!(received < 512.0 * 1024.0, "{received}");
    }
    // A head of ordinary length is read.
    let ask = Ask::modern("ping", json!({})).with("X-Long", &"x".repeat(32 << 10));
    assert_eq!(running.send(ask).await.status, 200);
}

#[tokio::test]
async fn bodies_in_odd_pieces_are_read_or_refused() {
    let running = impatient(Limits { body: 1024, ..Limits::default() });
    let id = running.session("2025-06-18").await;
    let head = format!("POST /mcp HTTP/1.1\r\n{HEAD}Mcp-Session-Id: {id}\r\nTransfer-Encoding: chunked\r\n\r\n");
    let body = call(1, "echo", json!({})).to_string();
    let bytewise = body.chars().map(|letter| format!("1\r\n{letter}\r\n")).collect::<Vec<_>>().concat();
    let extended = body.chars().map(|letter| format!("1;a=b\r\n{letter}\r\n")).collect::<Vec<_>>().concat();
    let endless = "1\r\n \r\n".repeat(2000);
    let extension = format!("1;{}\r\n", "x".repeat(1 << 20));
    let trailers = format!("0\r\n{}\r\n", "A: b\r\n".repeat(20_000));
    for (pieces, expect) in [
        (format!("{bytewise}0\r\n\r\n"), &["200"][..]),
        (format!("{extended}0\r\nTrailer: x\r\n\r\n"), &["200"]),
        (endless, &["413"]),
        (extension, &["400", "413"]),
        (trailers, &["400"]),
        ("ffffffffffffffffff\r\n".to_owned(), &["400"]),
        ("-1\r\n".to_owned(), &["400"]),
        ("5\nhello".to_owned(), &["400"]),
    ] {
        let answers = raw(&running, format!("{head}{pieces}").as_bytes()).await;
        let seen = statuses(&answers);
        assert!(seen.is_empty() || (seen.len() == 1 && expect.contains(&seen[0])), "{expect:?}: {answers}");
    }
    assert_eq!(running.send(Ask::post(call(9, "echo", json!({}))).session(&id)).await.status, 200);
}

#[tokio::test]
async fn old_and_other_protocols() {
    let running = impatient(Limits::default());
    let hello = |version: &str, head: &str| {
        let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
        format!("POST /mcp {version}\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len())
    };
    for (bytes, expect) in [
        (hello("HTTP/1.0", HEAD), "200"),
        (hello("HTTP/1.0", &HEAD.replace("Host: 127.0.0.1\r\n", "")), "400"),
        (hello("HTTP/1.1", &HEAD.replace("Host: 127.0.0.1\r\n", "")), "400"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), "400"),
        (format!("GET http://evil.example/mcp HTTP/1.1\r\n{HEAD}\r\n"), "403"),
        ("CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n".to_owned(), "403"),
        ("OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_owned(), "404"),
        ("GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\0b\r\n\r\n".to_owned(), "400"),
        ("\u{16}\u{3}\u{1}\u{2}".to_owned(), "400"),
    ] {
        let answers = raw(&running, bytes.as_bytes()).await;
        let seen = statuses(&answers);
        assert!(seen.is_empty() && expect == "400" || seen == [expect], "{bytes}: {answers}");
    }
}

/// Only the front creates session ids, and only a header carries a token.
#[tokio::test]
async fn clients_cannot_choose_session_ids_or_send_tokens_elsewhere() {
    let running = impatient(Limits::default());
    let chosen = "A".repeat(32);
    let answered = running.send(hello("2025-06-18").session(&chosen)).await;
    assert_eq!(answered.status, 200);
    assert_ne!(answered.header("mcp-session-id").unwrap(), chosen);
    assert_eq!(running.send(Ask::get().session(&chosen)).await.status, 404);
    for path in ["/mcp?access_token=ada-token", "/mcp?token=ada-token&authorization=Bearer%20ada-token"] {
        let body = "{}";
        let head = HEAD.replace("Authorization: Bearer ada-token\r\n", "Cookie: token=ada-token\r\n");
        let answers =
            raw(&running, format!("POST {path} HTTP/1.1\r\n{head}Content-Length: 2\r\n\r\n{body}").as_bytes()).await;
        assert_eq!(statuses(&answers), ["401"], "{answers}");
    }
}

/// Streams are resumed only in their own session.
#[tokio::test]
async fn an_event_of_another_session_resumes_nothing_of_it() {
    let running = Running::start();
    let (mine, other) = (running.session("2025-11-25").await, running.session("2025-11-25").await);
    let count = |id: &str| {
        let arguments = json!({"to": 3, "pad": 0});
        Ask::post(call(1, "count", arguments)).session(id)
    };
    let mut counted = running.send(count(&other)).await;
    let text = counted.text().await;
    let event = text.lines().find_map(|line| line.strip_prefix("id: ")).unwrap_or_default().to_owned();
    assert!(!event.is_empty(), "{text}");
    let mut resumed = running.send(Ask::get().session(&mine).with("Last-Event-ID", &event)).await;
    assert_eq!(resumed.status, 200);
    // End the session, so that the stream has sent everything.
    assert_eq!(running.send(Ask::delete().session(&mine)).await.status, 204);
    let text = resumed.text().await;
    assert!(!text.contains("counted") && !text.contains("\"data\""), "{text}");
}

#[tokio::test]
async fn readiness_probes_cost_the_backend_little() {
    let running = Running::start();
    for _ in 0..100 {
        assert_eq!(running.send(Ask::new("GET", "/readyz")).await.status, 200);
    }
    let asked = running.script.asked.load(std::sync::atomic::Ordering::SeqCst);
    assert!((1..50).contains(&asked), "{asked}");
    // Without a token, a client learns nothing else.
    for (path, expect) in [("/healthz", "ok\n"), ("/readyz", "ok\n")] {
        assert_eq!(running.send(Ask::new("GET", path)).await.text().await, expect);
    }
    assert_eq!(running.send(Ask::new("GET", "/metrics")).await.status, 401);
}
