//! Confinement of a hostile child: real processes, the kernel's own sandbox, and the same child unconfined as the
//! control.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests act as the user and the attacker, and stop on any failure"
)]

mod again;
mod corpus;
mod ending;
mod hostile;
mod living;
mod own_proc;
mod packages;
mod planted;
mod planting;
mod rules;
mod scene;
mod sealed;
mod sockets;
mod split;
