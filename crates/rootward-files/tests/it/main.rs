//! The file server, tested through the protocol: what a client sends and what it gets back.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests act as the user and the attacker, and panic on any unexpected result"
)]

mod by_name;
mod completing;
mod describing;
mod door;
mod edits;
mod escapes;
mod killed;
mod listing;
mod names;
mod project;
mod prompts;
mod published;
mod races;
mod reading;
mod reference;
mod resource_door;
mod resources;
mod roots;
mod searching;
mod several;
mod shell;
mod stage;
mod subscribing;
mod tools;
mod writes;
