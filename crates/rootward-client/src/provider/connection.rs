//! One connected server: what to tell it, and what it has been told already.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::consent::Wish;

use super::server::{RootChoice, Server};
use super::shares::{Look, Shares, still_there_ambient};
use super::view::View;

/// A connection, from before its handshake until its transport is closed.
#[derive(Debug)]
pub(super) struct Connection {
    server: Server,
    mind: Mutex<Mind>,
    /// Held while one request is looked up: a server that asks endlessly gets one look at the disk at a time, and
    /// leaves the threads to others.
    pub(super) looking: tokio::sync::Mutex<()>,
    /// Wakes the task that notifies it. Several wake-ups count as one.
    wake: Notify,
    ended: AtomicBool,
}

/// The changing part of a connection.
#[derive(Debug)]
struct Mind {
    choice: RootChoice,
    /// Consents for this connection only.
    once: Vec<Wish>,
    /// What it sees, as of the last settled change.
    latest: Option<View>,
    /// What it saw when it was last notified, or when it connected.
    announced: Option<View>,
    /// The last answer it got since then.
    given: Option<View>,
}

impl Connection {
    pub(super) fn new(server: Server) -> Connection {
        let choice = server.choice.clone();
        let mind = Mind { choice, once: Vec::new(), latest: None, announced: None, given: None };
        let (looking, wake, ended) = (tokio::sync::Mutex::default(), Notify::new(), AtomicBool::new(false));
        Connection { server, mind: Mutex::new(mind), looking, wake, ended }
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    pub(super) fn choose(&self, choice: RootChoice) {
        self.mind().choice = choice;
    }

    pub(super) fn give(&self, wish: Wish) {
        self.mind().once.push(wish);
    }

    /// What it sees, with one look at the disk.
    pub(super) fn look_ambient(&self, look: &mut Result<Look<'_>, &str>) -> View {
        let (choice, once) = {
            let mind = self.mind();
            (mind.choice.clone(), mind.once.clone())
        };
        let set = match (&choice, look) {
            (RootChoice::HostVouches(set), _) => still_there_ambient(set),
            (_, Ok(look)) => look.set_ambient(self.server.name.as_deref(), &once),
            (_, Err(reason)) => return View::Unknown((*reason).into()),
        };
        View::new(&set, self.server.locality, &choice)
    }

    /// Stores what it sees when it connects: it will ask by itself.
    pub(super) fn begin(&self, view: View) {
        let mut mind = self.mind();
        mind.announced = Some(view.clone());
        mind.latest = Some(view);
    }

    /// Stores what it sees now that a change has settled, and wakes the notifying task if that is different.
    pub(super) fn settle(&self, view: View) {
        let mut mind = self.mind();
        mind.latest = Some(view);
        if mind.owes() {
            self.wake.notify_one();
        }
    }

    /// Stores an answer; returns whether it matches the last settled view.
    pub(super) fn answered(&self, view: &View) -> bool {
        let mut mind = self.mind();
        mind.given = Some(view.clone());
        mind.latest.as_ref() == Some(view)
    }

    /// Waits until there is something to announce; `false` when the connection has ended.
    pub(super) async fn next(&self) -> bool {
        loop {
            self.wake.notified().await;
            if self.ended.load(Ordering::Acquire) {
                return false;
            }
            let mut mind = self.mind();
            if mind.owes() {
                let latest = mind.latest.clone();
                mind.announced = latest;
                mind.given = None;
                return true;
            }
        }
    }

    /// It was notified. Changes made while that was being sent need no further notification: it asks after receiving
    /// it, and gets the state at that time.
    pub(super) fn told(&self) {
        let mut mind = self.mind();
        if mind.given.is_none() {
            let latest = mind.latest.clone();
            mind.announced = latest;
        }
    }

    /// The transport is closed.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    fn mind(&self) -> MutexGuard<'_, Mind> {
        self.mind.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mind {
    /// Whether it has outdated information.
    fn owes(&self) -> bool {
        self.announced != self.latest || (self.given.is_some() && self.given != self.latest)
    }
}

/// A look at the disk, if it is known what is shared.
pub(super) fn look(shares: &Result<Shares, String>) -> Result<Look<'_>, &str> {
    shares.as_ref().map(Look::new).map_err(String::as_str)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn view(text: &str) -> View {
        View::Unknown(Arc::from(text))
    }

    fn is_woken(connection: &Connection) -> bool {
        use std::pin::pin;
        use std::task::{Context, Poll, Waker};
        let next = pin!(connection.next());
        matches!(next.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(true))
    }

    #[test]
    fn a_change_is_announced_once() {
        let connection = Connection::new(Server::default());
        connection.begin(view("a"));
        assert!(!is_woken(&connection));
        connection.settle(view("a"));
        assert!(!is_woken(&connection), "nothing changed");
        connection.settle(view("b"));
        assert!(is_woken(&connection) && !is_woken(&connection));
        connection.told();
        connection.settle(view("b"));
        assert!(!is_woken(&connection), "it knows");
    }

    #[test]
    fn a_change_during_a_notification_is_announced_only_if_the_server_asked_before_it() {
        let connection = Connection::new(Server::default());
        connection.begin(view("a"));
        connection.settle(view("b"));
        assert!(is_woken(&connection));
        for change in ["c", "d", "e"] {
            connection.settle(view(change));
        }
        connection.told();
        assert!(!is_woken(&connection), "it has not asked yet, and will be answered `e`");
        connection.settle(view("f"));
        assert!(is_woken(&connection));
        assert!(!connection.answered(&view("f2")), "the disk is ahead");
        connection.settle(view("g"));
        connection.told();
        assert!(is_woken(&connection), "it was answered something older");
    }

    /// A reverted change is not announced to servers that did not see it, but is to those that did.
    #[test]
    fn an_answer_in_between_is_remembered() {
        let connection = Connection::new(Server::default());
        connection.begin(view("a"));
        connection.settle(view("a"));
        assert!(!is_woken(&connection));
        connection.answered(&view("b"));
        connection.settle(view("a"));
        assert!(is_woken(&connection));
    }
}
