//! Tells the servers of a host which roots are shared, and tells them again when that changes.
//!
//! For hosts that speak to servers with rmcp, in both protocol eras. One [`Provider`] serves all connections; each handler is served
//! through [`Provider::install`]. From then on the capability is declared, `roots/list` is answered, also where a modern server asks in place of
//! a result, and every legacy server hears once of each change of what *it* sees.
//!
//! ```
//! use std::sync::Arc;
//!
//! use rmcp::model::ClientConfig;
//! use rootward_client::consent::Consents;
//! use rootward_client::provider::{Provider, Server, Settings, Shares};
//! use rootward_client::store::Store;
//!
//! # struct Quiet;
//! # impl rmcp::ServerHandler for Quiet {}
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let store = Store::new(directory.path().join("roots.toml"), None);
//! # let home = None;
//! # let (pipe, other) = tokio::io::duplex(4096);
//! # tokio::spawn(async move { Box::pin(rmcp::ServiceExt::serve(Quiet, other)).await.map(|server| tokio::spawn(server.waiting())) });
//! // What the user said yes to, for always and for this session.
//! let consents = Consents::default();
//! let provider = Provider::new(Settings::default());
//! provider.share(Shares::new(Arc::new(store.load_ambient()?), &consents, home));
//!
//! // The one line: the handler is served behind the provider. `git` is the name that roots can be saved for.
//! let handler = ClientConfig::default();
//! let git = provider.install(handler, Server::local("git")).serve(pipe).await?;
//!
//! // The user chose otherwise: whoever sees something else by that is told.
//! # let home = None;
//! provider.share(Shares::new(Arc::new(store.load_ambient()?), &consents, home));
//! # git.cancel().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What is told
//!
//! Only what has the user's yes: [`Shares`] is made of the store and of the [`Consents`](crate::consent::Consents) of the session, a
//! [`Permit`] of a yes for once. [`Choice`] takes away from that for one server; [`Choice::HostVouches`] alone goes beyond it, on the host's
//! word. Only what is there: a root that is missing or replaced by a link is left out, and so is one whose path is not UTF-8. A server
//! elsewhere ([`Locality::Remote`]) is told nothing unless the user says so.
//!
//! Each root says in `_meta["rootward.dev/access"]` what it is shared for; servers on `rootward-server` hold to it, to others it is a hint.
//! A root with no access is named only where it lies in another, to close a part of it. The patterns that close places below a
//! root are not told: a server is held to those by `rootward wrap`, not by its own good will.
//!
//! # When it changes
//!
//! A question is answered with what is true at that moment. Changes are announced once they have settled ([`Settings::quiet`]). A server that
//! cannot be written to has at most one announcement on its way and holds up nobody; a connection that ends is forgotten. The provider does not
//! watch the disk: [`Provider::look_again`] after something happened to a root.
//!
//! Every yes went on record when it was given; that it is passed on is no decision, and is not recorded again.
//!
//! # Paging
//!
//! Servers that declare `rootward.dev/roots-paging` get long lists in parts, with cursors of one version of the list. rmcp's transports lose
//! the cursor of a legacy question; [`Provided::serve_pipes`] keeps it, and elsewhere legacy servers get the list in one piece.
//!
//! | a server that | gets |
//! |---|---|
//! | asks with a cursor of another version, or one that nobody made | -32602 |
//! | was told of no roots ([`Declaration::NotDeclared`]) and asks | -32601 `Roots not supported` |
//! | asks before [`Provider::share`], or after [`Provider::fail`] | -32603 `Roots not known` |

mod answer;
mod connection;
mod pipes;
mod provided;
mod server;
mod shares;
mod telling;
mod view;
mod wire;

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::ClientHandler;
use rootward_core::cursor::PAGE_SIZE;
use tokio::sync::Notify;

use crate::consent::Permit;

use connection::Connection;

pub use answer::refused_root;
pub use provided::Provided;
pub use server::{Choice, Declaration, LocalPaths, Locality, Server};
pub use shares::Shares;

/// How changes are announced and lists are cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// A change is announced after this much time without another one.
    pub quiet: Duration,
    /// It is announced after this much time at the latest.
    pub longest: Duration,
    /// How many roots a page has.
    pub page: NonZeroUsize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { quiet: Duration::from_millis(250), longest: Duration::from_secs(2), page: PAGE_SIZE }
    }
}

/// The roots of a host, for all its servers. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Provider {
    shared: Arc<Shared>,
}

/// What all connections have in common.
#[derive(Debug)]
struct Shared {
    settings: Settings,
    state: Mutex<State>,
    /// Wakes the task that announces. Outside of what it announces, so that it can see that end.
    changed: Arc<Notify>,
    announcing: OnceLock<()>,
}

#[derive(Debug)]
struct State {
    shares: Arc<Result<Shares, String>>,
    /// Counts what changes what servers see.
    generation: u64,
    connections: HashMap<u64, Arc<Connection>>,
    /// The number of the last connection.
    last: u64,
}

impl Provider {
    /// One that knows nothing yet. Connections are served on one runtime, that of the first.
    pub fn new(settings: Settings) -> Provider {
        let unknown = Arc::new(Err("nobody has said yet what is shared".to_owned()));
        let state = State { shares: unknown, generation: 0, connections: HashMap::new(), last: 0 };
        let shared =
            Shared { settings, state: Mutex::new(state), changed: Arc::default(), announcing: OnceLock::new() };
        Provider { shared: Arc::new(shared) }
    }

    /// Shares this from now on, and nothing else.
    pub fn share(&self, shares: Shares) {
        self.shared.change(|state| state.shares = Arc::new(Ok(shares)));
    }

    /// It is not known any more what is shared, for this reason. Servers that ask are told so.
    pub fn fail(&self, reason: impl Into<String>) {
        let reason = reason.into();
        self.shared.change(|state| state.shares = Arc::new(Err(reason)));
    }

    /// Something may have happened to a root on disk.
    pub fn look_again(&self) {
        self.shared.change(|_| ());
    }

    /// Has the connected servers of this name told other roots from now on.
    pub fn choose(&self, name: &str, choice: &Choice) {
        self.shared.change(|state| {
            for connection in state.named(Some(name)) {
                connection.choose(choice.clone());
            }
        });
    }

    /// Gives what a permit is for to the servers that it names and that are connected now, for as long as they are; says to how
    /// many. A yes for always or for the session is part of [`Shares`] for whoever connects later; one for once is used up.
    pub fn give(&self, permit: Permit) -> usize {
        let wish = permit.wish;
        self.shared.change(|state| {
            let meant = state.named(wish.peer.as_deref());
            meant.map(|connection| connection.give(wish.clone())).count()
        })
    }

    /// How many servers are connected.
    pub fn connected(&self) -> usize {
        self.shared.state().connections.len()
    }

    /// Wraps a handler, for one connection to this server: serve what this returns.
    pub fn install<H: ClientHandler>(&self, handler: H, server: Server) -> Provided<H> {
        Provided::new(handler, Arc::clone(&self.shared), Arc::new(Connection::new(server)))
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what servers see, and has it announced.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = {
            let mut state = self.state();
            state.generation += 1;
            change(&mut state)
        };
        self.changed.notify_one();
        result
    }

    /// Which generation it is, and what is shared in it.
    fn now(&self) -> (u64, Arc<Result<Shares, String>>) {
        let state = self.state();
        (state.generation, Arc::clone(&state.shares))
    }
}

impl State {
    /// The connected servers of this name; all, where there is none.
    fn named<'s>(&'s self, name: Option<&'s str>) -> impl Iterator<Item = &'s Arc<Connection>> {
        let meant = move |connection: &&Arc<Connection>| name.is_none() || connection.server().name.as_deref() == name;
        self.connections.values().filter(meant)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The task that announces sees that there is nothing left to announce.
        self.changed.notify_one();
    }
}
