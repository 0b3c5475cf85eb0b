//! A remote server as lines: JSON-RPC messages go in and come out, and Streamable HTTP of either era is spoken to an
//! address.
//!
//! The hub knows only processes. So this code runs as a separate process (`rootward connect`), which the kernel
//! allows no directory at all. Messages from a hostile server are parsed only there.
//!
//! - `target.rs`: the address and its headers; which addresses are allowed.
//! - `relay.rs`: all messages from the client, in order; `exchange.rs`: one request and its answer; `listening.rs`:
//!   the stream of a legacy session; `streaming.rs`: an event stream that may be cut and resumed.
//! - `session.rs`: the shared state; `open_requests.rs`: requests without an answer.
//! - `http_client.rs`: connections and TLS; `outbound.rs`: the body of a request; `failure.rs`: errors and remedies.
//! - `events.rs`: `text/event-stream`; `mirrored.rs`, `annotations.rs`: what a modern request repeats in its headers;
//!   `relearning.rs`: lists the tools again if a header was missing.
//! - `stdio.rs`: runs it on standard input and output.

mod annotations;
mod events;
mod exchange;
mod failure;
mod http_client;
mod listening;
mod mirrored;
mod open_requests;
mod outbound;
mod relay;
mod relearning;
mod session;
mod stdio;
mod streaming;
mod target;

pub use http_client::SetupError;
pub use relay::{Ended, relay};
pub use session::Says;
pub use stdio::{RunError, run_stdio};
pub use target::{PlainHttp, Target, TargetError, is_loopback, may_be_this_machine};

/// The longest message in either direction, in bytes.
pub const LONGEST: usize = 16 << 20;
