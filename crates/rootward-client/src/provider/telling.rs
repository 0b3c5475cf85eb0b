//! Announces changes: one task waits until they have settled, and one task for each server writes.

use std::sync::{Arc, Weak};
use std::time::Duration;

use rmcp::service::{Peer, RoleClient};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};

use super::connection::{Connection, look};
use super::view::View;
use super::{Settings, Shared, wire};

/// The maximum number of lookups for one request, if what is shared keeps changing.
const MOST_LOOKS: usize = 16;

impl Shared {
    /// Starts announcing, with the first connection.
    pub(super) fn announce(self: &Arc<Self>) {
        self.announcing.get_or_init(|| {
            let (shared, changed, settings) = (Arc::downgrade(self), Arc::clone(&self.changed), self.settings);
            tokio::spawn(announce(shared, changed, settings));
        });
    }

    /// Adds a connection; returns its number.
    pub(super) async fn enter(self: &Arc<Self>, connection: &Arc<Connection>) -> u64 {
        let (generation, view) = self.look(connection).await;
        connection.begin(view);
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        state.connections.insert(number, Arc::clone(connection));
        if state.generation != generation {
            // The change may have been announced before this connection existed.
            self.changed.notify_one();
        }
        number
    }

    /// Removes a connection.
    pub(super) fn leave(&self, number: u64) {
        let left = self.state().connections.remove(&number);
        if let Some(connection) = left {
            connection.end();
        }
    }

    /// What a server sees right now, not as of the last announcement.
    pub(super) async fn view_now(self: &Arc<Self>, connection: &Arc<Connection>) -> View {
        // SECURITY: endless requests must not use up all threads
        // (test: a_flooding_server_gets_one_lookup_at_a_time)
        let _one = connection.looking.lock().await;
        for _ in 0..MOST_LOOKS {
            let (generation, view) = self.look(connection).await;
            // SECURITY: do not hand out what was withdrawn during the look at the disk
            // (test: an_answer_is_what_is_true_now)
            if self.state().generation == generation {
                if !connection.answered(&view) {
                    // Something happened on disk that nobody reported.
                    self.changed.notify_one();
                }
                return view;
            }
        }
        View::Unknown("they change too fast".into())
    }

    /// One look at the disk, on a thread that may block, and its generation.
    async fn look(self: &Arc<Self>, connection: &Arc<Connection>) -> (u64, View) {
        let (generation, shares) = self.now();
        let connection = Arc::clone(connection);
        let looking = tokio::task::spawn_blocking(move || connection.look_ambient(&mut look(&shares)));
        (generation, looking.await.unwrap_or_else(|_| View::Unknown("they could not be looked up".into())))
    }

    /// Compares what each server sees with what it knows.
    async fn settle(self: Arc<Self>) {
        let compare = move || {
            let (shares, connections, last) = {
                let state = self.state();
                (Arc::clone(&state.shares), state.connections.values().cloned().collect::<Vec<_>>(), state.last)
            };
            let mut look = look(&shares);
            for connection in connections {
                connection.settle(connection.look_ambient(&mut look));
            }
            if self.state().last != last {
                // A server that connected meanwhile may have seen the old state of the disk.
                self.changed.notify_one();
            }
        };
        // If it failed, the next change or request triggers another look.
        let _ = tokio::task::spawn_blocking(compare).await;
    }
}

/// Announces changes as long as the provider exists.
async fn announce(shared: Weak<Shared>, changed: Arc<Notify>, settings: Settings) {
    loop {
        changed.notified().await;
        settled(&changed, settings.quiet, settings.longest).await;
        match shared.upgrade() {
            Some(shared) => shared.settle().await,
            None => return,
        }
    }
}

/// Waits for a quiet period, but not forever.
async fn settled(changed: &Notify, quiet: Duration, longest: Duration) {
    let latest = Instant::now() + longest;
    let until_quiet = async { while timeout(quiet, changed.notified()).await.is_ok() {} };
    let _ = timeout_at(latest, until_quiet).await;
}

/// Notifies one server of each change, until its connection ends.
pub(super) async fn tell(connection: Arc<Connection>, peer: Peer<RoleClient>) {
    while connection.next().await {
        if wire::notify(&peer).await.is_err() {
            return;
        }
        connection.told();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use rootward_core::Access;

    use crate::consent::Consents;
    use crate::provider::{Provider, Server, Shares};
    use crate::store::{Kept, SavedRoot};

    use super::*;

    /// A single blocking thread, so that the test can hold it.
    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap()
    }

    #[test]
    fn an_answer_is_what_is_true_now() {
        let directory = tempfile::tempdir().unwrap();
        // A temporary directory may be reached through a link, but a saved root may not.
        let place =
            rootward_core::spellings_ambient(directory.path(), rootward_core::Resolver::detect()).unwrap().pop();
        let provider = Provider::new(Settings::default());
        let share = |roots: Vec<SavedRoot>| {
            provider.share(Shares::new(Arc::new(Kept::from(roots)), &Consents::default(), None));
        };
        share(vec![SavedRoot::new(place.unwrap(), Access::READ)]);
        let connection = Arc::new(Connection::new(Server::default()));
        runtime().block_on(async {
            let before = provider.shared.view_now(&connection).await;
            assert!(matches!(before, View::Known(entries) if entries.len() == 1));
            let (release, held) = std::sync::mpsc::channel::<()>();
            let holding = tokio::task::spawn_blocking(move || held.recv().is_err());
            // The look has begun; then the root is withdrawn.
            let mut answer = pin!(provider.shared.view_now(&connection));
            assert!(answer.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            share(Vec::new());
            drop(release);
            assert!(matches!(answer.await, View::Known(entries) if entries.is_empty()));
            assert!(holding.await.unwrap());
        });
    }
}
