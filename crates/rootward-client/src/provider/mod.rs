//! Tells a host's servers which roots are shared, and tells them again when that changes.
//!
//! For hosts that talk to servers with rmcp, in both protocol eras. One [`Provider`] serves all connections; each
//! handler is served through [`Provider::install`]. From then on the capability is declared, `roots/list` is
//! answered, even if a modern server asks in place of a result, and every legacy server is notified once of each
//! change in what *it* sees.
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
//! // What the user consented to, for always and for this session.
//! let consents = Consents::default();
//! let provider = Provider::new(Settings::default());
//! provider.share(Shares::new(Arc::new(store.load_ambient()?), &consents, home));
//!
//! // The one line: the handler is served behind the provider. `git` is the name that roots can be saved for.
//! let handler = ClientConfig::default();
//! let git = provider.install(handler, Server::local("git")).serve(pipe).await?;
//!
//! // The user made another choice: servers that now see something else are notified.
//! # let home = None;
//! provider.share(Shares::new(Arc::new(store.load_ambient()?), &consents, home));
//! # git.cancel().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What servers learn
//!
//! Servers are told only what the user consented to: [`Shares`] is built from the store and the session's
//! [`Consents`](crate::consent::Consents), and a [`Permit`] from a consent for once. [`RootChoice`] narrows that for one
//! server; only [`RootChoice::HostVouches`] goes beyond it, on the host's responsibility. They are told only what
//! exists: a root that is missing or replaced by a link is left out, and so is one whose path is not UTF-8. A remote
//! server ([`Locality::Remote`]) is told nothing unless the user says so.
//!
//! Each root states its access in `_meta["rootward.dev/access"]`; servers built on `rootward-server` enforce it, for
//! others it is a hint. A root without access is listed only inside another root, to close a part of it. The
//! patterns that close places below a root are not sent: `rootward wrap` enforces those, without the server's
//! cooperation.
//!
//! # When it changes
//!
//! A request is answered with the state at that moment. Changes are announced once they have settled
//! ([`Settings::quiet`]). A server that does not read has at most one announcement pending and blocks nobody; a
//! closed connection is forgotten. The provider does not watch the disk: call [`Provider::look_again`] after
//! something happened to a root.
//!
//! Every consent was recorded when it was given; passing it on is not a decision, and is not recorded again.
//!
//! # Paging
//!
//! Servers that declare `rootward.dev/roots-paging` get long lists in pages, with cursors for one version of the
//! list. rmcp's transports lose the cursor of a legacy request; [`Provided::serve_pipes`] keeps it, and over other
//! transports legacy servers get the whole list at once.
//!
//! | a server that | gets |
//! |---|---|
//! | asks with a cursor of another version, or one that this provider did not create | -32602 |
//! | was not offered roots ([`Declaration::NotDeclared`]) and asks | -32601 `Roots not supported` |
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
pub use server::{Declaration, LocalPaths, Locality, RootChoice, Server};
pub use shares::Shares;

/// How changes are announced and how lists are split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// A change is announced after this much time without another one.
    pub quiet: Duration,
    /// It is announced after this much time even if changes continue.
    pub longest: Duration,
    /// How many roots a page has.
    pub page: NonZeroUsize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { quiet: Duration::from_millis(250), longest: Duration::from_secs(2), page: PAGE_SIZE }
    }
}

/// The roots of a host, for all its servers. Clones share one state.
#[derive(Clone, Debug)]
pub struct Provider {
    shared: Arc<Shared>,
}

/// The state that all connections share.
#[derive(Debug)]
struct Shared {
    settings: Settings,
    state: Mutex<State>,
    /// Wakes the announcing task, which holds only this and a weak reference, so that it notices the end of `Shared`.
    changed: Arc<Notify>,
    announcing: OnceLock<()>,
}

#[derive(Debug)]
struct State {
    shares: Arc<Result<Shares, String>>,
    /// Counts changes to what servers see.
    generation: u64,
    connections: HashMap<u64, Arc<Connection>>,
    /// The number of the last connection.
    last: u64,
}

impl Provider {
    /// A provider that knows nothing yet. All connections are served on the runtime of the first.
    pub fn new(settings: Settings) -> Provider {
        let unknown = Arc::new(Err("the host has not shared anything yet".to_owned()));
        let state = State { shares: unknown, generation: 0, connections: HashMap::new(), last: 0 };
        let shared =
            Shared { settings, state: Mutex::new(state), changed: Arc::default(), announcing: OnceLock::new() };
        Provider { shared: Arc::new(shared) }
    }

    /// Shares this from now on, and nothing else.
    pub fn share(&self, shares: Shares) {
        self.shared.change(|state| state.shares = Arc::new(Ok(shares)));
    }

    /// What is shared is no longer known, for this reason. Servers that ask get this as an error.
    pub fn fail(&self, reason: impl Into<String>) {
        let reason = reason.into();
        self.shared.change(|state| state.shares = Arc::new(Err(reason)));
    }

    /// Call this after something may have happened to a root on disk.
    pub fn look_again(&self) {
        self.shared.change(|_| ());
    }

    /// Changes which roots the connected servers of this name are told.
    pub fn choose(&self, name: &str, choice: &RootChoice) {
        self.shared.change(|state| {
            for connection in state.named(Some(name)) {
                connection.choose(choice.clone());
            }
        });
    }

    /// Grants a permit to the connected servers that it names, until they disconnect; returns how many. A consent
    /// for always or for the session is part of [`Shares`] for servers that connect later; one for once is used up.
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

    /// Changes what servers see, and announces it.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = {
            let mut state = self.state();
            state.generation += 1;
            change(&mut state)
        };
        self.changed.notify_one();
        result
    }

    /// The current generation, and what is shared in it.
    fn now(&self) -> (u64, Arc<Result<Shares, String>>) {
        let state = self.state();
        (state.generation, Arc::clone(&state.shares))
    }
}

impl State {
    /// The connected servers with this name; all if `None`.
    fn named<'s>(&'s self, name: Option<&'s str>) -> impl Iterator<Item = &'s Arc<Connection>> {
        let meant = move |connection: &&Arc<Connection>| name.is_none() || connection.server().name.as_deref() == name;
        self.connections.values().filter(meant)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The announcing task notices that nothing is left to announce.
        self.changed.notify_one();
    }
}
