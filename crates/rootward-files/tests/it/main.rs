//! The file server through the protocol: what a client sends, and what it gets.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests play the user and the attacker, and end where something is not as it must be"
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
