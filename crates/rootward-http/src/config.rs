//! What a front is given: principals, limits, names, certificate. Everything is a value, because a front opens no file.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::names::{BadName, Names};

/// What a front is given.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Who may come in. The position of a principal in this list is its [`PrincipalId`](crate::PrincipalId).
    pub principals: Vec<Principal>,
    /// How much of everything there may be.
    pub limits: Limits,
    /// The names by which clients reach this front, beside the loopback names and addresses: `example.org`, or `example.org:8443` for
    /// this port only.
    pub hosts: Vec<String>,
    /// The web pages that may send requests and see the answers: `https://example.org`. Those from the loopback address may send
    /// requests without being named.
    pub origins: Vec<String>,
    /// The certificate, for TLS.
    pub tls: Option<Tls>,
}

impl Config {
    /// Whether all names can be used.
    pub fn check(&self) -> Result<(), BadName> {
        Names::new(&self.hosts, &self.origins).map(drop)
    }
}

/// Somebody who may come in.
#[derive(Clone)]
pub struct Principal {
    /// What logs and figures call it.
    pub name: String,
    /// The secret that it shows with every request.
    pub token: String,
}

impl std::fmt::Debug for Principal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // SECURITY: a token does not belong in a log (test: a_token_is_not_shown)
        f.debug_struct("Principal").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A certificate with its chain, and its key, both in PEM.
#[derive(Clone)]
pub struct Tls {
    /// The certificate and those that lead to one that clients trust.
    pub certificates: Vec<u8>,
    /// The private key.
    pub key: Vec<u8>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// How much of everything there may be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Connections at once. More wait until one ends.
    pub connections: usize,
    /// Bytes of a request's body.
    pub body: usize,
    /// Time to send the head of a request.
    pub head_time: Duration,
    /// Time to send the body of a request.
    pub body_time: Duration,
    /// Time that a connection may wait for its next request.
    pub connection_idle: Duration,
    /// Time that a client may take to read anything at all of what is sent to it.
    pub write_time: Duration,
    /// Sessions in all.
    pub sessions: usize,
    /// Sessions of one principal.
    pub sessions_per_principal: usize,
    /// Time after which a session without an open stream ends.
    pub session_idle: Duration,
    /// Open streams of one session: requests that wait for their answer, and GET streams.
    pub streams: usize,
    /// Modern requests of one principal at once.
    pub requests: usize,
    /// Messages that one stream holds for a client that does not read them.
    pub queue: usize,
    /// Bytes of these messages.
    pub queue_bytes: usize,
    /// Messages of one session that are kept for resumption.
    pub replay: usize,
    /// Bytes of these messages.
    pub replay_bytes: usize,
    /// How long a finished stream can be resumed.
    pub replay_time: Duration,
    /// How long a message waits for a backend that does not take it.
    pub backend_time: Duration,
    /// How long a legacy answer is awaited before its stream begins. An answer within this time is a plain JSON document. With zero, every
    /// answer but an error with a status of its own is a stream, in both eras.
    pub answer_wait: Duration,
    /// How often a silent stream shows that it lives.
    pub keep_alive: Duration,
    /// Requests a second that one principal may send on average.
    pub rate: u32,
    /// Requests that one principal may send at once.
    pub burst: u32,
    /// How long running requests may take after the front was told to end.
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
        let principal = Principal { name: "ada".to_owned(), token: "secret".to_owned() };
        let shown = format!("{principal:?}");
        assert!(shown.contains("ada") && !shown.contains("secret"), "{shown}");
    }
}
