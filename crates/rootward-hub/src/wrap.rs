//! One client and one server on standard input and output. The server is confined to the roots; the client notices
//! only refusals.
//!
//! ```text
//!  client ──stdin──▶ pump ──▶ engine ──▶ pump ──▶ server, confined to the roots
//!         ◀─stdout──                     ◀──
//! ```
//!
//! # What Rootward changes
//!
//! Everything passes byte for byte, except:
//!
//! - In `initialize` to the server, `capabilities.roots` is replaced, because the server asks Rootward for roots. The
//!   answer to the client may be cached, or come from a process that was started only to learn it: a legacy client
//!   sends its roots only after the handshake, and the real server starts with those roots.
//! - Rootward answers the server's `roots/list`. It handles the client's `notifications/roots/list_changed`, then
//!   notifies or restarts the server.
//! - Rootward answers a call with a refused path. Calls wait while the server restarts with other roots.
//! - The members of a batch are forwarded one by one.
//! - Lines that are not messages, or are too long, are dropped. If one of them is a request, its sender gets an
//!   error.
//! - A server's request gets a new id if another open request has the same one.
//!
//! The logic is in `engine/`, the byte handling in `front/`.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rootward_core::PlacedRoot;
use rootward_sandbox::{Enforcement, Refused, StartError};

pub use crate::engine::{About, Enforce, Rules, SourceWatcher, Tells, TreatedBy, Treatments};
pub use crate::front::{Confine, FileServerCommand, Homes, Inject, Launch, Runs};
pub use rootward_protocol::session::Given;

use crate::engine::{Engine, Server};
use crate::front::{Backing, Backings, MemoryFile, OneServer, Serving};
use crate::status::{Kind, StatusFile};

/// The default limit on the length of a message.
pub const LONGEST: usize = 64 << 20;

/// A server to wrap.
#[derive(Debug)]
pub struct Wrap {
    /// The roots, policy and restrictions.
    pub rules: Rules,
    /// How the server is started.
    pub launch: Launch,
    /// The directory that caches handshakes, if any.
    pub handshakes: Option<PathBuf>,
    /// The directory for the status file, if any.
    pub status: Option<PathBuf>,
    /// The longest message that is forwarded.
    pub longest: usize,
    /// Watches the rules' sources and restrictions for changes, if set.
    pub follow: Option<Box<dyn SourceWatcher>>,
}

/// The person who runs the program. These messages go to standard error.
pub trait Operator {
    /// The server was started with these roots and this enforcement.
    fn started(&mut self, roots: &[PlacedRoot], enforcement: &Enforcement);
    /// The server was not started. Returns the message for the client.
    fn not_started(&mut self, launch: &Launch, error: StartError) -> String;
    /// A traced server has ended. `refused` lists what the kernel denied it.
    fn refused(&mut self, refused: &[Refused]);
    /// Any other message.
    fn says(&mut self, text: &str);
}

impl Wrap {
    /// Serves the client on standard input and output until the client or the server is gone. Returns the exit code,
    /// which is the server's own if it has one. The program must be single-threaded and call
    /// [`rootward_sandbox::launcher`] first.
    pub fn run(self, operator: &mut dyn Operator) -> io::Result<i32> {
        let Wrap { rules, launch, longest, follow, handshakes, status } = self;
        let memory_file = MemoryFile::new_ambient(handshakes, &launch.program, &launch.arguments);
        let mut engine = Engine::new(longest);
        let audit = rules.audit.clone();
        let server = engine.add(Server {
            learners: launch.learners(),
            memory: Arc::new(memory_file.recall_ambient()),
            ..Server::new_ambient(&launch.server_name(), rules, launch.change())
        });
        // A random name, so that sessions in the audit log do not share one.
        let name = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
        let session = engine.open(server, name).ok_or(io::ErrorKind::NotFound)?;
        let servers = Backings::from([(server, Backing::new(launch, memory_file))]);
        let status = status.and_then(|directory| StatusFile::new_ambient(&directory, Kind::Wrap));
        let front = Serving::stdio(
            OneServer::CLIENT,
            (OneServer { engine, server, session }, servers),
            audit,
            longest,
            operator,
        )?;
        front.following(follow).telling(status).run()
    }
}
