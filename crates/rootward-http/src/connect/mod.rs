//! A remote server as lines: JSON-RPC messages go in and come out, and Streamable HTTP of either era is spoken to an address.
//!
//! The hub knows servers as processes. A remote server is one, too: this code runs in a process of its own (`rootward connect`), which
//! the kernel holds to no directory at all. What a hostile server sends is read there and nowhere else.
//!
//! - `target.rs`: the address and its headers; which addresses are allowed.
//! - `relay.rs`: every message from the client, in order; `exchange.rs`: one request and its answer; `listening.rs`: the stream of a legacy
//!   session; `streaming.rs`: a stream of events that may be cut and resumed.
//! - `session.rs`: the state that these share; `open_requests.rs`: requests that have no answer yet.
//! - `http_client.rs`: connections and TLS; `outbound.rs`: the body of a request; `failure.rs`: what went wrong, and what helps.
//! - `events.rs`: `text/event-stream`; `mirrored.rs`, `annotations.rs`: what a modern request repeats in its headers; `relearning.rs`:
//!   tools listed again if a header was missing.
//! - `stdio.rs`: the same on standard input and output.

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

/// The longest message, either way, in bytes.
pub const LONGEST: usize = 16 << 20;
