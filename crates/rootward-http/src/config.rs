//! The configuration of a front: principals, limits, names, certificate. Everything is a value, because a front opens
//! no files.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::names::{BadName, Names};

/// The configuration of a front.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The credentials of those who may connect. The index of a principal in this list is its [`PrincipalId`](crate::PrincipalId).
    pub principals: Vec<Credential>,
    /// Upper limits.
    pub limits: Limits,
    /// The host names by which clients reach this front, besides the loopback names and addresses: `example.org`, or
    /// `example.org:8443` for this port only.
    pub hosts: Vec<String>,
    /// The web pages that may send requests and read the answers: `https://example.org`. Pages from the loopback
    /// address may send requests without being listed.
    pub origins: Vec<String>,
    /// The certificate, for TLS.
    pub tls: Option<Tls>,
}

impl Config {
    /// Whether all names are valid.
    pub fn check(&self) -> Result<(), BadName> {
        Names::new(&self.hosts, &self.origins).map(drop)
    }
}

/// The name and the token of a principal.
#[derive(Clone)]
pub struct Credential {
    /// The name in logs and metrics.
    pub name: String,
    /// The secret that it sends with every request.
    pub token: String,
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // SECURITY: a token must not appear in a log (test: a_token_is_not_shown)
        f.debug_struct("Credential").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A certificate with its chain, and its key, both in PEM.
#[derive(Clone)]
pub struct Tls {
    /// The certificate and its chain.
    pub certificates: Vec<u8>,
    /// The private key.
    pub key: Vec<u8>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// Upper limits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Concurrent connections. More wait until one ends.
    pub connections: usize,
    /// Maximum size of a request body, in bytes.
    pub body: usize,
    /// Time to send the head of a request.
    pub head_time: Duration,
    /// Time to send the body of a request.
    pub body_time: Duration,
    /// Time that a connection may wait for its next request.
    pub connection_idle: Duration,
    /// Time within which a client must read at least some of the pending data.
    pub write_time: Duration,
    /// Total sessions.
    pub sessions: usize,
    /// Sessions per principal.
    pub sessions_per_principal: usize,
    /// Time after which a session without an open stream ends.
    pub session_idle: Duration,
    /// Open streams per session: requests that wait for their answer, and GET streams.
    pub streams: usize,
    /// Concurrent modern requests per principal.
    pub requests: usize,
    /// Messages that one stream holds for a client that does not read them.
    pub queue: usize,
    /// Total size of these messages, in bytes.
    pub queue_bytes: usize,
    /// Messages per session that are kept for resumption.
    pub replay: usize,
    /// Total size of these messages, in bytes.
    pub replay_bytes: usize,
    /// How long a finished stream can be resumed.
    pub replay_time: Duration,
    /// How long a message waits for a backend that does not accept it.
    pub backend_time: Duration,
    /// How long to wait for a legacy answer before its stream begins. An answer within this time is a plain JSON
    /// document. With zero, every answer except an error with its own status is a stream, in both eras.
    pub answer_wait: Duration,
    /// The keep-alive interval of a silent stream.
    pub keep_alive: Duration,
    /// Average requests per second that one principal may send.
    pub rate: u32,
    /// Burst size: requests that one principal may send at once.
    pub burst: u32,
    /// How long running requests may take after shutdown was requested.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 16_384,
            body: 4 << 20,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(30),
            connection_idle: Duration::from_mins(2),
            write_time: Duration::from_secs(30),
            sessions: 20_000,
            sessions_per_principal: 16_384,
            session_idle: Duration::from_mins(30),
            streams: 64,
            requests: 1024,
            queue: 4096,
            queue_bytes: 16 << 20,
            replay: 256,
            replay_bytes: 1 << 20,
            replay_time: Duration::from_mins(2),
            backend_time: Duration::from_secs(30),
            answer_wait: Duration::from_millis(100),
            keep_alive: Duration::from_secs(15),
            rate: 20_000,
            burst: 20_000,
            grace: Duration::from_secs(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_not_shown() {
        let principal = Credential { name: "ada".to_owned(), token: "secret".to_owned() };
        let shown = format!("{principal:?}");
        assert!(shown.contains("ada") && !shown.contains("secret"), "{shown}");
    }
}
