//! `rootward serve` as a process: how a session lives and ends, and what a hostile client or a full disk does to it.

mod full;
mod hostile;
#[cfg(feature = "http")]
mod http;
mod life;
mod limits;
mod roots;
mod saved;
