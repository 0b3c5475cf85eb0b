//! Assembles and runs a hub: on standard input and output, or behind a door.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rootward_core::Audit;
use rootward_protocol::session::{Given, Terms};
use rootward_sandbox::SealedProcess;

use super::{Clients, Hub, Served};
use crate::config::{HubSettings, Isolation, Prefix, ToolFilter};
use crate::engine::{Begin, Effect, Server};
use crate::front::{Backing, Backings, Door, MemoryFile, OuterDoor, Serving, new_door};
use crate::principal::Principal;
use crate::status::{Kind, StatusFile};
use crate::wrap::{Launch, Operator, Rules, SourceWatcher, Wrap};

/// A server behind the hub.
#[derive(Debug)]
pub struct HubServer {
    /// Its name in the configuration.
    pub name: String,
    /// The prefix of its tools.
    pub prefix: String,
    /// Which of its tools are offered.
    pub tools: ToolFilter,
    /// Which clients share a process of it.
    pub isolation: Isolation,
    /// The roots, policy and restrictions.
    pub rules: Rules,
    /// How it is started.
    pub launch: Launch,
}

/// A hub with its servers.
pub struct ConfiguredHub {
    /// The servers, in configuration order.
    pub servers: Vec<HubServer>,
    /// How they are offered.
    pub settings: HubSettings,
    /// The terms for the client's own roots, which `get-roots` shows.
    pub terms: Terms,
    /// The root sources of the operator and the user.
    pub given: Given,
    /// The directory that caches handshakes, if any.
    pub handshakes: Option<PathBuf>,
    /// The directory for the status file, if any.
    pub status: Option<PathBuf>,
    /// The longest message that is forwarded.
    pub longest: usize,
    /// The audit log.
    pub audit: Option<Arc<dyn Audit>>,
    /// Watches the root sources for changes, if set.
    pub follow: Option<Box<dyn SourceWatcher>>,
    /// Watches the configuration for changes, if set.
    pub reload: Option<Box<dyn Reload>>,
}

impl fmt::Debug for ConfiguredHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfiguredHub").field("servers", &self.servers).finish_non_exhaustive()
    }
}

/// Checks whether the configuration changed.
pub trait Reload: fmt::Debug {
    /// The new configuration; `None` if it is unchanged or not valid.
    fn look_ambient(&mut self) -> Option<Reloaded>;
}

/// A changed configuration.
#[derive(Debug)]
pub struct Reloaded {
    /// The names of all servers, in order.
    pub names: Vec<String>,
    /// The new or changed servers.
    pub changed: Vec<HubServer>,
    /// How they are offered.
    pub settings: HubSettings,
}

/// Watches the configuration, and knows how to add servers.
#[derive(Debug)]
pub(crate) struct Reloading {
    reload: Box<dyn Reload>,
    handshakes: Option<PathBuf>,
}

impl Reloading {
    /// Checks for changes, and applies them to the hub.
    pub(super) fn look_ambient(&mut self, now: Duration, hub: &mut Hub) -> Option<(Backings, Vec<Effect>)> {
        let Reloaded { names, changed, settings } = self.reload.look_ambient()?;
        let mut backings = Vec::new();
        let mut added = Vec::new();
        for server in changed {
            let (shown, configured, backing) = parts_ambient(server, self.handshakes.clone(), settings.idle);
            added.push((shown, configured));
            backings.push(backing);
        }
        let (ids, effects) = hub.reconfigure(now, added, &names, settings);
        Some((ids.into_iter().zip(backings).collect(), effects))
    }
}

impl ConfiguredHub {
    /// A hub with one server, whose tools keep their names.
    pub fn of_one(wrap: Wrap) -> ConfiguredHub {
        let Wrap { rules, launch, handshakes, status, longest, follow } = wrap;
        let (terms, given, audit) = (rules.terms_ambient(), rules.given(), rules.audit.clone());
        let server = HubServer {
            name: launch.server_name(),
            prefix: String::new(),
            tools: ToolFilter::default(),
            isolation: Isolation::Session,
            rules,
            launch,
        };
        ConfiguredHub {
            terms,
            given,
            audit,
            servers: vec![server],
            settings: HubSettings { prefix: Prefix::Never, ..HubSettings::default() },
            handshakes,
            status,
            longest,
            follow,
            reload: None,
        }
    }

    /// Serves the client on standard input and output until it is gone. Returns the exit code. The program must be
    /// single-threaded and call [`rootward_sandbox::launcher`] first.
    pub fn run(self, operator: &mut dyn Operator) -> io::Result<i32> {
        let (mut parts, FrontSetup { longest, audit, follow, status }) = self.put_together_ambient(Vec::new());
        let client = parts.0.hub.open().ok_or(io::ErrorKind::QuotaExceeded)?;
        Serving::stdio(client, parts, audit, longest, operator)?.following(follow).telling(status).run()
    }

    /// Serves the principals that come through a door until the process at its other side has ended. Returns the exit
    /// code. `begin` starts that process with the outer side of the door. The program must be single-threaded and
    /// call [`rootward_sandbox::launcher`] first.
    pub fn run_behind<E: From<io::Error>>(
        self,
        principals: Vec<Principal>,
        begin: impl FnOnce(OuterDoor) -> Result<SealedProcess, E>,
        operator: &mut dyn Operator,
    ) -> Result<i32, E> {
        let principals = principals.into_iter().map(Arc::new).collect();
        let (inner, outer) = new_door()?;
        let door = Door::new(inner, begin(outer)?);
        let (parts, FrontSetup { longest, audit, follow, status }) = self.put_together_ambient(principals);
        let front = Serving::door(door, parts, audit, longest, operator)?;
        Ok(front.following(follow).telling(status).run()?)
    }

    fn put_together_ambient(self, principals: Vec<Arc<Principal>>) -> ((Clients, Backings), FrontSetup) {
        let ConfiguredHub { servers, settings, terms, given, handshakes, status, longest, audit, follow, reload } =
            self;
        // A random name, so that sessions in the audit log do not share one.
        let name = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
        let idle = settings.idle;
        let mut hub = Hub::new(name, settings, (terms, given), longest).admitting(principals);
        let mut backings = Backings::new();
        for server in servers {
            let (shown, configured, backing) = parts_ambient(server, handshakes.clone(), idle);
            backings.insert(hub.add(shown, configured), backing);
        }
        let reloading = reload.map(|reload| Reloading { reload, handshakes });
        let status = status.and_then(|directory| StatusFile::new_ambient(&directory, Kind::Hub));
        ((Clients { hub, reloading }, backings), FrontSetup { longest, audit, follow, status })
    }
}

/// What a front needs besides the hub and its servers.
struct FrontSetup {
    longest: usize,
    audit: Option<Arc<dyn Audit>>,
    follow: Option<Box<dyn SourceWatcher>>,
    status: Option<StatusFile>,
}

/// Splits a server into the parts for clients, the engine and the front.
fn parts_ambient(server: HubServer, handshakes: Option<PathBuf>, idle: Duration) -> (Served, Server, Backing) {
    let HubServer { name, prefix, tools, isolation, rules, launch } = server;
    let memory_file = MemoryFile::new_ambient(handshakes, &launch.program, &launch.arguments).of_server(&name);
    let server = Server {
        learners: launch.learners(),
        begin: Begin::WhenNeeded { idle },
        memory: Arc::new(memory_file.recall_ambient()),
        ..Server::new_ambient(&name, rules, launch.change())
    };
    (
        Served { isolation, runs: launch.runs, ..Served::new(name, prefix, tools) },
        server,
        Backing::new(launch, memory_file),
    )
}
