//! Clients that are slow, too large, silent, or gone in the middle of an exchange.

use std::time::Duration;

use rootward_http::Limits;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

use crate::client::{Answer, Ask, LONG};
use crate::script::{Running, call, hello};

#[tokio::test]
async fn oversized_bodies_are_refused() {
    let running = Running::limited(Limits { body: 1000, ..Limits::default() });
    let id = running.session("2025-06-18").await;
    let fits = call(1, "echo", json!({"pad": "x".repeat(800)}));
    assert_eq!(running.send(Ask::post(fits).session(&id)).await.status, 200);
    let large = call(1, "echo", json!({"pad": "x".repeat(1000)}));
    let refused = running.send(Ask::post(&large).session(&id)).await;
    assert_eq!((refused.status, refused.header("connection")), (413, Some("close")));
    // The same without a declared length.
    let ask = Ask::post("").session(&id).with("Transfer-Encoding", "chunked");
    let head = String::from_utf8(ask.bytes()).unwrap().replace("Content-Length: 0\r\n", "");
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(format!("{head}800\r\n{}\r\n", "x".repeat(0x800)).as_bytes()).await.unwrap();
    assert_eq!(Answer::read(Box::new(stream)).await.status, 413);
}

/// Waits for the end of a connection, discarding what comes before.
async fn ends(mut stream: TcpStream) -> bool {
    let mut sink = Vec::new();
    timeout(LONG, stream.read_to_end(&mut sink)).await.is_ok()
}

#[tokio::test]
async fn slow_heads_are_cut_off() {
    let running = Running::limited(Limits { head_time: Duration::from_millis(300), ..Limits::default() });
    let silent = TcpStream::connect(running.address).await.unwrap();
    assert!(ends(silent).await);
    let (read, mut write) = TcpStream::connect(running.address).await.unwrap().into_split();
    let dripping = tokio::spawn(async move {
        for byte in hello("2025-06-18").bytes() {
            if write.write_all(&[byte]).await.is_err() {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
    });
    let mut read = read;
    let mut sink = Vec::new();
    assert!(timeout(Duration::from_secs(3), read.read_to_end(&mut sink)).await.is_ok(), "a slow head was not cut off");
    dripping.abort();
    // The second head of a connection as well.
    let mut answer = running.send(Ask::new("GET", "/healthz")).await;
    answer.text().await;
    let mut stream = answer.into_stream();
    stream.write_all(b"GET /healthz HTTP/1.1\r\n").await.unwrap();
    assert!(timeout(Duration::from_secs(3), stream.read_to_end(&mut sink)).await.is_ok());
    // A connection that only waits for its next request is left alone.
    let mut answer = running.send(Ask::new("GET", "/healthz")).await;
    answer.text().await;
    let stream = answer.into_stream();
    sleep(Duration::from_millis(600)).await;
    assert_eq!(Ask::new("GET", "/healthz").send_on(stream).await.status, 200);
}

#[tokio::test]
async fn slow_bodies_are_cut_off() {
    let running = Running::limited(Limits { body_time: Duration::from_millis(200), ..Limits::default() });
    let bytes = hello("2025-06-18").bytes();
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(&bytes[..bytes.len() - 5]).await.unwrap();
    let answer = Answer::read(Box::new(stream)).await;
    assert_eq!((answer.status, answer.header("connection")), (408, Some("close")));
    running.wires(0).await;
}

#[tokio::test]
async fn idle_connections_end() {
    let running = Running::limited(Limits { connection_idle: Duration::from_millis(200), ..Limits::default() });
    let mut answer = running.send(Ask::new("GET", "/healthz")).await;
    answer.text().await;
    let mut stream = answer.into_stream();
    let mut sink = Vec::new();
    assert!(timeout(LONG, stream.read_to_end(&mut sink)).await.is_ok());
}

/// A connection with the smallest receive buffer that the system allows.
async fn narrow(running: &Running) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(running.address).await.unwrap()
}

#[tokio::test]
async fn a_stalled_reader_does_not_delay_others() {
    let running = Running::limited(Limits { queue: 64, ..Limits::default() });
    let id = running.session("2025-11-25").await;
    let mut stalled = narrow(&running).await;
    let mut flood = call(1, "count", json!({"to": 2000, "pad": 20_000, "method": "notifications/progress"}));
    flood["params"]["_meta"] = json!({"progressToken": 1});
    stalled.write_all(&Ask::post(flood).session(&id).bytes()).await.unwrap();
    // The session still answers other requests, although nobody reads the flood.
    let mut answer = running.send(Ask::post(call(2, "echo", json!({}))).session(&id)).await;
    assert_eq!(answer.message().await["id"], 2);
    // The stalled client is cut off, and can resume.
    assert!(ends(stalled).await);
    let mut rest = running.send(Ask::get().session(&id).with("Last-Event-ID", "0-1")).await;
    assert_eq!(rest.message().await["result"]["counted"], true);
}

#[tokio::test]
async fn a_client_that_never_reads_is_cut_off() {
    let running = Running::limited(Limits { write_time: Duration::from_millis(300), ..Limits::default() });
    let mut stalled = narrow(&running).await;
    let flood = Ask::modern("tools/call", json!({"name": "count", "arguments": {"to": 2000, "pad": 20_000}}));
    stalled.write_all(&flood.bytes()).await.unwrap();
    running.wires(1).await;
    running.wires(0).await;
}

#[tokio::test]
async fn clients_cut_at_every_point_leave_nothing() {
    let running = Running::start();
    let id = running.session("2025-11-25").await;
    let asks = [
        hello("2025-11-25"),
        Ask::modern("tools/call", json!({"name": "slow", "arguments": {"ms": 20}})),
        Ask::post(call(1, "slow", json!({"ms": 20}))).session(&id),
        Ask::post(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).session(&id),
        Ask::get().session(&id),
    ];
    for ask in asks {
        let bytes = ask.bytes();
        for end in (0..=bytes.len()).step_by(7).chain([bytes.len()]) {
            let mut stream = TcpStream::connect(running.address).await.unwrap();
            // The front may already have closed it.
            let _ = stream.write_all(&bytes[..end]).await;
            if end % 2 == 0 {
                sleep(Duration::from_millis(1)).await;
            }
            drop(stream);
        }
    }
    // The session still works.
    let mut answer = running.send(Ask::post(call(77, "echo", json!({}))).session(&id)).await;
    assert_eq!(answer.message().await["id"], 77);
    let (mut streams, mut connections) = (0.0, 0.0);
    for _ in 0..200 {
        streams = running.metric("rootward_http_streams").await;
        connections = running.metric("rootward_http_connections").await;
        // The two connections that requested the metrics may be left.
        if streams < 0.5 && connections < 2.5 {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    assert!(streams < 0.5 && connections < 2.5, "{streams} streams and {connections} connections are left");
    // Each handshake that was sent completely has opened a session, and no other has. Nothing else has a wire.
    let sessions = running.metric("rootward_http_sessions").await;
    assert!((1.0..=3.5).contains(&sessions), "{sessions} sessions");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    running.wires(sessions as usize).await;
}
