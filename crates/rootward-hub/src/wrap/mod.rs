//! One client, one server, on standard input and output: the server is held to the roots, and the client notices nothing but refusals.
//!
//! ```text
//!  client ──stdin──▶ pump ──▶ engine ──▶ pump ──▶ server, confined to the roots
//!         ◀─stdout──                     ◀──
//! ```
//!
//! # What is Rootward's own
//!
//! Everything passes as the bytes it came in, but for these:
//!
//! - `initialize` to the server has `capabilities.roots` replaced: Rootward is the one who is asked. The answer to the client may be
//!   remembered from the last time, because a legacy client names its roots only afterwards, and the server starts in them.
//! - `roots/list` of the server's is answered here; `notifications/roots/list_changed` of the client's is heard here, and the server is
//!   told of changes, or started anew.
//! - A call with a path that is refused is answered here. Calls wait for a server that is being started in other roots.
//! - The members of a batch are passed on one by one.
//! - Lines that are no message are left out, and lines that are too long; whoever waits for an answer gets an error.
//! - A question of the server's whose id another open question has gets another id.
//!
//! # Layout
//!
//! `engine.rs` is the logic without pipes and clock; `from_client.rs` and `from_child.rs` are its two sides, `gate.rs` is where calls
//! are decided, `roots.rs` which roots are in force, `given.rs` that the user chose others, `revoking.rs` what becomes of calls in a root that was removed, `closing.rs` what happens when the client has closed its end. `scripts/` are its tests.
//! `pump.rs`, `pipe.rs` and `process.rs` move bytes, `launch.rs` starts the server, `memory.rs` remembers handshakes.

mod backoff;
mod child;
mod closing;
mod engine;
mod from_child;
mod from_client;
mod gate;
mod given;
mod launch;
mod memory;
mod modern;
mod outlet;
mod pipe;
mod process;
mod pump;
mod revoking;
mod roots;
mod rounds;
mod rules;
#[cfg(test)]
mod scripts;
mod tools;
#[cfg(test)]
mod transcripts;

use std::io;
use std::path::PathBuf;

use rootward_core::PlacedRoot;
use rootward_sandbox::{Enforcement, StartError};

pub use given::Lookout;
pub use launch::{Confine, Inject, Launch};
pub use rootward_protocol::session::Given;
pub use rules::{Enforce, Rules, Treatments};

use engine::Engine;
use memory::Memory;
use pump::Pump;

/// The longest message that is passed on, unless something else is said.
pub const LONGEST: usize = 64 << 20;

/// A server to be wrapped.
#[derive(Debug)]
pub struct Wrap {
    /// What holds.
    pub rules: Rules,
    /// How the server is started.
    pub launch: Launch,
    /// Where handshakes are remembered, if anywhere.
    pub handshakes: Option<PathBuf>,
    /// The longest message that is passed on.
    pub longest: usize,
    /// Who looks whether the rules' sources and restrictions are still what they were, if anybody.
    pub follow: Option<Box<dyn Lookout>>,
}

/// Something that the operator may want to know.
#[derive(Debug)]
pub enum Notice<'n> {
    /// The server was started, in these roots, held so strongly.
    Started(&'n [PlacedRoot], &'n Enforcement),
    /// It was not.
    NotStarted(StartError),
    /// Anything else, in a sentence.
    Event(&'n str),
}

impl Wrap {
    /// Serves the client on standard input and output until it is gone, or the server is; the exit code, which is the server's own
    /// where it has one. For a program with one thread, which calls [`rootward_sandbox::launcher`] first.
    pub fn run(self, notice: &mut dyn FnMut(Notice<'_>)) -> io::Result<i32> {
        let memory = Memory::new(self.handshakes.clone(), &self.launch.program, &self.launch.arguments);
        let Wrap { rules, launch, longest, follow, .. } = self;
        let engine = Engine::new(rules, launch.change(), memory);
        Pump::new(engine, launch, longest, notice)?.following(follow).run()
    }
}
