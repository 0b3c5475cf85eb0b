//! `rootward serve` as a process: the life of a session, hostile clients, full disks.

mod full;
mod hostile;
#[cfg(feature = "http")]
mod http;
mod life;
mod limits;
mod roots;
mod saved;
