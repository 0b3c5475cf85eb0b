//! A hub put together and run: on standard input and output, or behind a door.

use std::collections::BTreeMap;
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
use crate::front::{Backing, Backings, Door, Keeping, OuterDoor, Serving, new_door};
use crate::principal::Principal;
use crate::status::{Kind, StatusFile};
use crate::wrap::{Launch, Lookout, Operator, Rules, Wrap};

/// A server behind the hub.
#[derive(Debug)]
pub struct HubServer {
    /// Its name in the configuration.
    pub name: String,
    /// What the names of its tools begin with.
    pub prefix: String,
    /// Which of its tools are offered.
    pub tools: ToolFilter,
    /// Which clients share a process of it.
    pub isolation: Isolation,
    /// What holds for it.
    pub rules: Rules,
    /// How it is started.
    pub launch: Launch,
}

/// A hub with its servers.
pub struct ConfiguredHub {
    /// The servers, in the order of the configuration.
    pub servers: Vec<HubServer>,
    /// How they are offered.
    pub settings: HubSettings,
    /// What holds for the client's own roots, which `get-roots` tells of.
    pub terms: Terms,
    /// What the operator and the user give.
    pub given: Given,
    /// Where handshakes are remembered, if anywhere.
    pub handshakes: Option<PathBuf>,
    /// Where is told what runs, if anywhere.
    pub status: Option<PathBuf>,
    /// The longest message that is passed on.
    pub longest: usize,
    /// Who keeps the record.
    pub audit: Option<Arc<dyn Audit>>,
    /// Who looks whether what is given is still what it was, if anybody.
    pub follow: Option<Box<dyn Lookout>>,
    /// Who looks whether the configuration changed, if anybody.
    pub reload: Option<Box<dyn Reload>>,
}

impl fmt::Debug for ConfiguredHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfiguredHub").field("servers", &self.servers).finish_non_exhaustive()
    }
}

/// Looks whether the configuration changed.
pub trait Reload: fmt::Debug {
    /// What it says now; none where it says what it said before, or is not valid.
    fn look_ambient(&mut self) -> Option<Reloaded>;
}

/// A configuration that changed.
#[derive(Debug)]
pub struct Reloaded {
    /// The names of all servers, in order.
    pub names: Vec<String>,
    /// Those that are new or have changed.
    pub changed: Vec<HubServer>,
    /// How they are offered.
    pub settings: HubSettings,
}

/// Who looks, and how servers are added.
#[derive(Debug)]
pub(crate) struct Reloading {
    reload: Box<dyn Reload>,
    handshakes: Option<PathBuf>,
}

impl Reloading {
    /// Looks, and has the hub go on with what it finds.
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
        let mut terms = Terms::new_ambient(rules.policy.clone(), rules.guard.clone(), rules.validation.clone());
        terms.way = rules.way;
        terms.refusals = rules.refusals;
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
            given: Given {
                sources: server.rules.sources.clone(),
                restrictions: Arc::clone(&server.rules.guard.restrictions),
            },
            audit: server.rules.audit.clone(),
            servers: vec![server],
            settings: HubSettings { prefix: Prefix::Never, ..HubSettings::default() },
            handshakes,
            status,
            longest,
            follow,
            reload: None,
        }
    }

    /// Serves the client on standard input and output until it is gone; the exit code. For a program with one thread, which calls
    /// [`rootward_sandbox::launcher`] first.
    pub fn run(self, operator: &mut dyn Operator) -> io::Result<i32> {
        let (mut parts, Around { longest, audit, follow, status }) = self.put_together_ambient(Vec::new());
        let client = parts.0.hub.open().ok_or(io::ErrorKind::QuotaExceeded)?;
        Serving::stdio(client, parts, audit, longest, operator)?.following(follow).telling(status).run()
    }

    /// Serves the principals that come through a door until the process at its other side has ended; the exit code. `begin` starts that
    /// process, with the outer side of the door. For a program with one thread, which calls [`rootward_sandbox::launcher`] first.
    pub fn run_behind<E: From<io::Error>>(
        self,
        principals: Vec<Principal>,
        begin: impl FnOnce(OuterDoor) -> Result<SealedProcess, E>,
        operator: &mut dyn Operator,
    ) -> Result<i32, E> {
        let principals = principals.into_iter().map(Arc::new).collect();
        let (inner, outer) = new_door()?;
        let door = Door::new(inner, begin(outer)?);
        let (parts, Around { longest, audit, follow, status }) = self.put_together_ambient(principals);
        let front = Serving::door(door, parts, audit, longest, operator)?;
        Ok(front.following(follow).telling(status).run()?)
    }

    fn put_together_ambient(self, principals: Vec<Arc<Principal>>) -> ((Clients, Backings), Around) {
        let ConfiguredHub { servers, settings, terms, given, handshakes, status, longest, audit, follow, reload } =
            self;
        // No other session on record has this name.
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
        ((Clients { hub, reloading }, backings), Around { longest, audit, follow, status })
    }
}

/// What a front needs besides the hub and its servers.
struct Around {
    longest: usize,
    audit: Option<Arc<dyn Audit>>,
    follow: Option<Box<dyn Lookout>>,
    status: Option<StatusFile>,
}

/// A server as clients, the engine and the front have it.
fn parts_ambient(server: HubServer, handshakes: Option<PathBuf>, idle: Duration) -> (Served, Server, Backing) {
    let HubServer { name, prefix, tools, isolation, rules, launch } = server;
    let keeping = Keeping::new_ambient(handshakes, &launch.program, &launch.arguments).of_server(&name);
    let mut terms = Terms::new_ambient(rules.policy.clone(), rules.guard.clone(), rules.validation.clone());
    terms.way = rules.way;
    terms.refusals = rules.refusals;
    let given = Given { sources: rules.sources.clone(), restrictions: Arc::clone(&rules.guard.restrictions) };
    let server = Server {
        name: name.as_str().into(),
        rules: Arc::new(rules),
        terms: Arc::new(terms),
        given: Arc::new(given),
        change: launch.change(),
        learners: launch.learners(),
        begin: Begin::WhenNeeded { idle },
        memory: Arc::new(keeping.recall_ambient()),
        of_principals: BTreeMap::new(),
    };
    (Served { isolation, runs: launch.runs, ..Served::new(name, prefix, tools) }, server, Backing::new(launch, keeping))
}
