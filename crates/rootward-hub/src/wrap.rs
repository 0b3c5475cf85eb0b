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
//!   remembered from the last time, or come from a process that was started only to learn it: a legacy client names its roots only
//!   afterwards, and the server starts in them.
//! - `roots/list` of the server's is answered here; `notifications/roots/list_changed` of the client's is heard here, and the server is
//!   told of changes, or started anew.
//! - A call with a path that is refused is answered here. Calls wait for a server that is being started in other roots.
//! - The members of a batch are passed on one by one.
//! - Lines that are no message are left out, and lines that are too long; whoever waits for an answer gets an error.
//! - A question of the server's whose id another open question has gets another id.
//!
//! The logic is in `engine/`, the bytes in `front/stdio.rs`.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rootward_core::PlacedRoot;
use rootward_protocol::session::Terms;
use rootward_sandbox::{Enforcement, Refused, StartError};

pub use crate::engine::{About, Enforce, Lookout, Rules, Tells, TreatedBy, Treatments};
pub use crate::front::{Confine, FileServer, Homes, Inject, Launch, Runs};
pub use rootward_protocol::session::Given;

use crate::engine::{Begin, Engine, Server};
use crate::front::{Backing, Backings, Keeping, OneServer, Serving};
use crate::status::{Kind, StatusFile};

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
    /// Where is told what runs, if anywhere.
    pub status: Option<PathBuf>,
    /// The longest message that is passed on.
    pub longest: usize,
    /// Who looks whether the rules' sources and restrictions are still what they were, if anybody.
    pub follow: Option<Box<dyn Lookout>>,
}

/// The one who runs the program: told what happens, on standard error.
pub trait Operator {
    /// The server was started, in these roots, held so strongly.
    fn started(&mut self, roots: &[PlacedRoot], enforcement: &Enforcement);
    /// It was not; what the client is told of that.
    fn not_started(&mut self, launch: &Launch, error: StartError) -> String;
    /// A server has ended that was traced: what it tried and was refused.
    fn refused(&mut self, refused: &[Refused]);
    /// Anything else, in a sentence.
    fn says(&mut self, text: &str);
}

impl Wrap {
    /// Serves the client on standard input and output until it is gone, or the server is; the exit code, which is the server's own
    /// where it has one. For a program with one thread, which calls [`rootward_sandbox::launcher`] first.
    pub fn run(self, operator: &mut dyn Operator) -> io::Result<i32> {
        let Wrap { rules, launch, longest, follow, handshakes, status } = self;
        let keeping = Keeping::new_ambient(handshakes, &launch.program, &launch.arguments);
        let mut terms = Terms::new_ambient(rules.policy.clone(), rules.guard.clone(), rules.validation.clone());
        terms.way = rules.way;
        terms.refusals = rules.refusals;
        let restrictions = Arc::clone(&rules.guard.restrictions);
        let given = Given { sources: rules.sources.clone(), restrictions };
        let mut engine = Engine::new(longest);
        let memory = Arc::new(keeping.recall_ambient());
        let audit = rules.audit.clone();
        let name = launch.server_name().into();
        let server = engine.add(Server {
            name,
            rules: Arc::new(rules),
            terms: Arc::new(terms),
            given: Arc::new(given),
            change: launch.change(),
            learners: launch.learners(),
            begin: Begin::AtOnce,
            memory,
            of_principals: BTreeMap::new(),
        });
        // No other session on record has this name.
        let name = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
        let session = engine.open(server, name).ok_or(io::ErrorKind::NotFound)?;
        let servers = Backings::from([(server, Backing::new(launch, keeping))]);
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
