//! Random interleavings of client and server messages, exits, disk lookups, audit results, changed sources and time,
//! with several clients and servers. No message is checked against other roots than the current ones, none is lost,
//! none is answered twice.
//!
//! The clients are honest (`client.rs`), so the invariants can be stated without the engine (`laws.rs`):
//!
//! - A call that reaches a server is inside what its client shares at that moment (a modern call: inside the whole
//!   list that came with it), and inside what the operator and the user allow then (`places.rs`).
//! - A confined server runs with no more than that, and a server that asks for roots gets exactly that.
//! - A learner gets no call, and is gone before another process starts.
//! - A call reaches one server, once. A request is answered once, a server's question at most once (`server.rs`).

mod client;
mod laws;
mod places;
mod server;
mod world;

use proptest::prelude::*;
use rootward_core::session::Follow;
use rootward_protocol::Era;
use serde_json::json;

use client::{Habit, Manner};
use places::{Gift, Need, PLACES, Places};
use server::{Calls, Reply};
use world::World;

pub(super) use world::Looked;

use super::OnRecord;

/// The number of clients.
const CLIENTS: usize = 3;

/// One step. The first number selects the client, or the client that a server runs for; the second selects one of
/// several targets.
#[derive(Clone, Debug)]
enum Step {
    Begin(usize),
    /// A call with a path.
    Call(usize, usize, Need),
    /// A call without a path.
    CallPlain(usize),
    List(usize),
    Cancel(usize),
    Share(usize, Places),
    Answer(usize, usize, Manner),
    AnswerTooLate(usize),
    Reply(usize, usize, Reply),
    Ask(usize),
    Exit(usize),
    /// A process has exited.
    Gone,
    Give(Gift),
    Look(usize),
    Record(OnRecord),
    Wait(u64),
    /// All parties do what is expected of them for a while, except that servers do not answer calls. Clients answer
    /// in this manner.
    GoOn(Manner),
}

fn step() -> impl Strategy<Value = Step> {
    let client = || 0..CLIENTS;
    let which = || prop_oneof![3 => Just(0), 1 => 0..5_usize];
    let need = prop_oneof![Just(Need::Read), Just(Need::Write)];
    let on_record = prop_oneof![9 => Just(OnRecord::Yes), 1 => Just(OnRecord::No)];
    prop_oneof![
        2 => client().prop_map(Step::Begin),
        6 => (client(), 0..PLACES, need).prop_map(|(client, place, need)| Step::Call(client, place, need)),
        3 => client().prop_map(Step::CallPlain),
        1 => client().prop_map(Step::List),
        1 => client().prop_map(Step::Cancel),
        3 => (client(), Places::any()).prop_map(|(client, shared)| Step::Share(client, shared)),
        8 => (client(), which(), Manner::any()).prop_map(|(client, which, manner)| Step::Answer(client, which, manner)),
        1 => client().prop_map(Step::AnswerTooLate),
        8 => (client(), which(), Reply::any()).prop_map(|(client, which, reply)| Step::Reply(client, which, reply)),
        1 => client().prop_map(Step::Ask),
        1 => client().prop_map(Step::Exit),
        4 => Just(Step::Gone),
        3 => Gift::any().prop_map(Step::Give),
        6 => which().prop_map(Step::Look),
        4 => on_record.prop_map(Step::Record),
        4 => prop_oneof![3 => Just(1_u64), 3 => Just(260), 3 => Just(2100), 3 => Just(11_000), 1 => Just(400_000)]
            .prop_map(Step::Wait),
        4 => Manner::any().prop_map(Step::GoOn),
    ]
}

impl World {
    fn act(&mut self, step: &Step) {
        match *step {
            Step::Begin(client) => self.begin(client),
            Step::Call(client, place, need) => {
                let arguments = json!({"path": self.ground.file(place)});
                self.request(client, "tools/call", json!({"name": need.tool(), "arguments": arguments}));
            }
            Step::CallPlain(client) => {
                self.request(client, "tools/call", json!({"name": "read_file", "arguments": {}}));
            }
            Step::List(client) => self.request(client, "tools/list", json!({})),
            Step::Cancel(client) => self.cancel(client),
            Step::Share(client, shared) => self.share(client, shared),
            Step::Answer(client, which, manner) => self.answer(client, which, manner),
            Step::AnswerTooLate(client) => self.answer_too_late(client),
            Step::Reply(client, which, reply) => {
                self.of(client).into_iter().for_each(|child| self.reply(child, which, reply));
            }
            Step::Ask(client) if self.clients[client].era() == Era::Legacy => {
                self.of(client).into_iter().for_each(|child| self.ask(child));
            }
            Step::Ask(_) => {}
            Step::Exit(client) => self.of(client).into_iter().for_each(|child| self.exit(child)),
            Step::Gone => self.gone(),
            Step::Give(gift) => self.give(gift),
            Step::Look(which) => self.look(which),
            Step::Record(on_record) => self.record(on_record),
            Step::Wait(milliseconds) => self.wait(milliseconds),
            Step::GoOn(manner) => self.go_on(manner, Calls::Open),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        max_shrink_iters: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_message_is_checked_against_the_current_roots_when_it_leaves(
        habits in prop::array::uniform3(Habit::any()),
        follow in prop_oneof![Just(Follow::Client), Just(Follow::Strict)],
        begun in prop::bool::weighted(0.8),
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let mut world = World::new(habits, follow);
        if begun {
            (0..CLIENTS).for_each(|client| world.begin(client));
            world.come_to_rest(3);
        }
        for step in &steps {
            world.act(step);
        }
        world.come_to_rest(40);
        world.check()?;
    }
}
