//! Confinement as a hostile child meets it: real processes, the kernel's own fence, and the same child unconfined as the control.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests play the user and the attacker, and end where something is not as it must be"
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
