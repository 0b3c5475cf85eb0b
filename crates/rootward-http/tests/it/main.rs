//! The front over real sockets, with a scripted backend.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "a failed premise fails the test; requests are written inline"
)]

mod client;
mod coming_in;
mod cut_off;
mod end;
mod hostile;
mod legacy;
mod load;
mod modern;
mod pages;
mod rules;
mod script;
mod secured;
mod streams;
