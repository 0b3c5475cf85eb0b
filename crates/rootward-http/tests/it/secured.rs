//! TLS, with a certificate made for the test.

use std::sync::Arc;

use rootward_http::{Config, Tls};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::client::Ask;
use crate::script::{Running, hello};

#[tokio::test]
async fn sessions_are_served_over_tls() {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let tls = Tls { certificates: made.cert.pem().into_bytes(), key: made.signing_key.serialize_pem().into_bytes() };
    let running = Running::with(Config { tls: Some(tls), ..Config::default() });
    let mut trusted = RootCertStore::empty();
    trusted.add(made.cert.der().clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(trusted)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let connector = TlsConnector::from(Arc::new(config));
    let stream = TcpStream::connect(running.address).await.unwrap();
    let stream = connector.connect("localhost".try_into().unwrap(), stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"http/1.1".as_slice()));
    let mut answer = hello("2025-11-25").send_on(stream).await;
    assert_eq!(answer.status, 200);
    let id = answer.header("mcp-session-id").unwrap().to_owned();
    answer.message().await;
    let mut called = Ask::post(crate::script::call(1, "large", serde_json::json!({})))
        .session(&id)
        .send_on(answer.into_stream())
        .await;
    assert_eq!(called.message().await["result"]["text"].as_str().unwrap().len(), 2 << 20);
    // Plain HTTP does not work.
    let mut plain = TcpStream::connect(running.address).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut plain, &Ask::new("GET", "/healthz").bytes()).await.unwrap();
    let mut said = Vec::new();
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut plain, &mut said).await;
    assert!(!said.starts_with(b"HTTP"), "{said:?}");
}

#[tokio::test]
async fn an_unusable_certificate_is_reported_at_startup() {
    let tls = Tls { certificates: b"nonsense".to_vec(), key: b"nonsense".to_vec() };
    let mut running = Running::with(Config { tls: Some(tls), ..Config::default() });
    let error = (&mut running.served).await.unwrap().unwrap_err();
    assert!(error.to_string().contains("cannot be read"), "{error}");
}
