//! Requests and notifications from servers to the client. Requests get new ids and progress tokens, because two
//! servers may use the same.

use std::time::{Duration, SystemTime};

use rootward_core::Occasion;
use rootward_core::session::RequestNumber;
use rootward_protocol::frame::{Envelope, Id, Kind, Members, Message, key, outline};
use rootward_protocol::message::{self, INTERNAL_ERROR};
use rootward_protocol::session::{Order as RootsOrder, Placed, Published, SessionGuard};
use rootward_protocol::{keys, method, offer, shown};
use serde_json::value::RawValue;

use super::client::{Client, Order};
use super::renaming::renamed;
use crate::engine::read_list;

/// Lines of at least this size are outlined before they are parsed.
const LARGE: usize = 1 << 16;

/// The longest message to the operator about a root, in characters.
const LONGEST_SAID: usize = 10_000;

/// An open request to the client.
#[derive(Debug)]
pub(super) enum Asked {
    /// For its roots, with everyone who asked.
    Roots {
        askers: Vec<Asker>,
        /// Whether a change was announced since: later askers need a new answer.
        is_old: bool,
    },
    /// A server's.
    Server {
        server: usize,
        /// The id that the server used.
        id: Box<str>,
        /// The server's progress token.
        token: Option<Box<RawValue>>,
    },
}

/// Who asked for the client's roots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Asker {
    Branch(usize, Box<str>),
    Hub(RequestNumber),
}

impl Client {
    /// Handles a line from a server's branch.
    pub(super) fn server_line(&mut self, now: Duration, server: usize, line: &[u8]) {
        self.now = now.max(self.now);
        if line.len() >= LARGE && self.passes_large_answer(server, line) {
            return;
        }
        match Message::parse(line) {
            Ok(Message::Single(envelope)) => match envelope.kind() {
                Kind::Response | Kind::ErrorResponse => self.server_answers(server, &envelope, line),
                Kind::Request => self.server_asks(server, &envelope),
                Kind::Notification => self.server_notifies(server, &envelope),
            },
            // The engine passes on only single messages.
            Ok(Message::Batch(_)) | Err(_) => {}
        }
        self.settle();
    }

    /// Whether a large line is an answer that the client waits for. If so, it is forwarded.
    fn passes_large_answer(&mut self, server: usize, line: &[u8]) -> bool {
        let Some(outline) = outline(line) else { return false };
        let Ok(Message::Single(envelope)) = Message::parse(outline.as_bytes()) else { return false };
        let (Kind::Response | Kind::ErrorResponse, Some(id)) = (envelope.kind(), envelope.id()) else { return false };
        // A modern server's answer may be a question.
        if self.branches.get(server).is_none_or(|branch| branch.is_modern) {
            return false;
        }
        // The outline omits long ids, so an empty id matches no request.
        if id.as_str() == "\"\"" || self.own.contains_key(&id.key()) || self.calls.get(&id.key()) != Some(&server) {
            return false;
        }
        self.calls.remove(&id.key());
        self.out.push_bytes(line);
        true
    }

    /// A server asks the client something.
    fn server_asks(&mut self, server: usize, envelope: &Envelope<'_>) {
        let Some(id) = envelope.id() else { return };
        if envelope.method() == Some(method::LIST_ROOTS) {
            let cursor = envelope.params().and_then(Members::read).and_then(|params| params.text("cursor"));
            return self.ask_for_roots(Asker::Branch(server, id.as_str().into()), cursor.as_deref());
        }
        let is_its = |asked: &&Asked| matches!(asked, Asked::Server { server: of, .. } if *of == server);
        if self.asked.values().filter(is_its).count() >= self.settings.limits.open_questions {
            let says = "too many questions to the client are open";
            return self.send_if_open(server, &message::error(id.as_str(), INTERNAL_ERROR, says, None));
        }
        let own = self.own_id();
        let (line, token) = renamed(envelope, &own);
        self.asked.insert(own, Asked::Server { server, id: id.as_str().into(), token });
        self.out.push_bytes(&line);
    }

    /// Handles a notification from a server.
    fn server_notifies(&mut self, server: usize, envelope: &Envelope<'_>) {
        let method = envelope.method().unwrap_or_default();
        if let Some(list) = offer::LISTS.iter().find(|list| list.changed == method) {
            return self.list_changed(server, list.changed);
        }
        match method {
            method::CANCELLED => self.server_cancels(server, envelope),
            _ => self.out.push(envelope.text()),
        }
    }

    /// A server cancels a request to the client.
    fn server_cancels(&mut self, server: usize, envelope: &Envelope<'_>) {
        let params = envelope.params().and_then(Members::read);
        let Some(id) = params.and_then(|params| params.get(keys::REQUEST_ID)).map(|id| key(id.get())) else { return };
        let of_server = |asked: &Asked| matches!(asked, Asked::Server { server: of, id: own, .. } if *of == server && key(own) == id);
        if let Some(asked) = self.asked.iter().find(|(_, asked)| of_server(asked)).map(|(asked, _)| asked.clone()) {
            self.asked.remove(&asked);
            return self.tell(&message::cancelled(&asked, "the server no longer needs the answer"));
        }
        self.drop_asker(|asker| matches!(asker, Asker::Branch(of, own) if *of == server && key(own) == id));
    }

    /// Handles an answer from the client.
    pub(super) fn client_answers(&mut self, envelope: &Envelope<'_>) {
        let Some(id) = envelope.id() else { return };
        match self.asked.remove(&id.key()) {
            Some(Asked::Roots { askers, .. }) => {
                for asker in askers {
                    match asker {
                        Asker::Branch(server, own) => self.pass_answer(server, &own, envelope),
                        Asker::Hub(question) => {
                            let answer = read_list(envelope);
                            self.report(|roots, now| roots.answered(now, question, answer));
                        }
                    }
                }
            }
            Some(Asked::Server { server, id, .. }) => self.pass_answer(server, &id, envelope),
            None => self.say("ignored an answer from the client that nobody asked for"),
        }
    }

    fn pass_answer(&mut self, server: usize, id: &str, envelope: &Envelope<'_>) {
        let Some(id) = Id::read(id) else { return };
        let mut line = Vec::new();
        envelope.write_with_id(id, &mut line);
        if self.branches.get(server).is_some_and(super::branch::Branch::is_open) {
            self.orders.push_back(Order::Line(server, line));
        }
    }

    /// The client reports progress on a server's request.
    pub(super) fn client_progress(&mut self, envelope: &Envelope<'_>) {
        let params = envelope.params().and_then(Members::read);
        let Some(own) = params.as_ref().and_then(|params| params.get(keys::PROGRESS_TOKEN)) else { return };
        let Some(Asked::Server { server, token: Some(token), .. }) = self.asked.get(&key(own.get())) else { return };
        let (server, mut line) = (*server, Vec::new());
        envelope.write_replacing(own.get(), token.get(), &mut line);
        self.send_if_open(server, &String::from_utf8_lossy(&line));
    }

    /// Asks the client for its roots, or adds the asker to the open request.
    pub(super) fn ask_for_roots(&mut self, asker: Asker, cursor: Option<&str>) {
        // SECURITY: an answer to a request from before a change may contain the old list
        // (test: a_question_after_a_change_gets_no_older_answer)
        let open = self.asked.values_mut().find_map(|asked| match asked {
            Asked::Roots { askers, is_old: false } if cursor.is_none() => Some(askers),
            _ => None,
        });
        if let Some(askers) = open {
            return askers.push(asker);
        }
        let id = self.own_id();
        self.tell(&message::list_roots(&id, cursor));
        // A later page belongs to one asker's list.
        self.asked.insert(id, Asked::Roots { askers: vec![asker], is_old: cursor.is_some() });
    }

    /// The client's roots changed: open requests answer no later askers.
    pub(super) fn roots_questions_are_old(&mut self) {
        for asked in self.asked.values_mut() {
            if let Asked::Roots { is_old, .. } = asked {
                *is_old = true;
            }
        }
    }

    /// Reports an event to the session guard, and carries out its orders.
    pub(super) fn report(&mut self, event: impl FnOnce(&mut SessionGuard, Duration) -> Vec<RootsOrder>) {
        let now = self.now;
        let Some(roots) = &mut self.roots else { return };
        for order in event(roots, now) {
            match order {
                RootsOrder::Place(placing) => self.orders.push_back(Order::Place(placing)),
                RootsOrder::Ask { question, cursor } => self.ask_for_roots(Asker::Hub(question), cursor.as_deref()),
                RootsOrder::Cancel { question } => self.drop_asker(|asker| *asker == Asker::Hub(question)),
            }
        }
        self.tell_left_out();
    }

    /// Tells the operator which of the client's roots are not used, and audits it.
    fn tell_left_out(&mut self) {
        let published = self.roots.as_ref().and_then(SessionGuard::published);
        let left_out = self.left_out.take(published);
        if left_out.is_empty() {
            return;
        }
        let party = self.party();
        let occasion = Occasion {
            time: SystemTime::now(),
            session: &party.name,
            principal: party.principal.as_ref().map(|principal| &*principal.name),
            client: self.name.as_deref(),
            server: None,
            process: None,
            requester: method::LIST_ROOTS,
            generation: published.map_or(0, Published::generation),
        };
        let events = left_out.iter().map(|root| root.event(occasion)).collect();
        self.orders.push_back(Order::Record(events));
        // A client's names for its roots are shown on a terminal.
        let says = left_out.iter().map(|root| Order::Say(shown(&root.to_string(), LONGEST_SAID)));
        self.orders.extend(says.collect::<Vec<_>>());
    }

    /// The client's roots were resolved.
    pub(super) fn placed(&mut self, now: Duration, placed: Placed) {
        self.now = now.max(self.now);
        self.report(|roots, now| roots.placed(now, placed));
        self.settle();
    }

    /// Removes an asker. A request without askers is cancelled.
    fn drop_asker(&mut self, is_it: impl Fn(&Asker) -> bool) {
        let mut without = Vec::new();
        for (id, asked) in &mut self.asked {
            if let Asked::Roots { askers, .. } = asked {
                askers.retain(|asker| !is_it(asker));
                if askers.is_empty() {
                    without.push(id.clone());
                }
            }
        }
        for id in without {
            self.asked.remove(&id);
            self.tell(&message::cancelled(&id, "the answer is no longer needed"));
        }
    }

    /// A server's branch has ended: cancels its requests.
    pub(super) fn take_questions_back(&mut self, server: usize) {
        let is_its = |asked: &Asked| matches!(asked, Asked::Server { server: of, .. } if *of == server);
        let open = self.asked.extract_if(|_, asked| is_its(asked)).map(|(id, _)| id);
        for id in open.collect::<Vec<_>>() {
            self.tell(&message::cancelled(&id, "the server ended"));
        }
        self.drop_asker(|asker| matches!(asker, Asker::Branch(of, _) if *of == server));
    }

    /// The client has closed its end: no more answers will come.
    pub(super) fn closed(&mut self, now: Duration) {
        self.now = now.max(self.now);
        let open = std::mem::take(&mut self.asked);
        for asked in open.into_values() {
            let Asked::Roots { askers, .. } = asked else { continue };
            for question in askers.into_iter().filter_map(|asker| match asker {
                Asker::Hub(question) => Some(question),
                Asker::Branch(..) => None,
            }) {
                self.report(|roots, now| roots.failed(now, question, "the client closed its end"));
            }
        }
        self.asked.clear();
        self.settle();
    }
}
