//! `rootward serve` as a process: how a session lives and ends, and what a hostile client or a full disk does to it.

mod full;
#[cfg(feature = "http")]
mod guide;
mod hostile;
#[cfg(feature = "http")]
mod http;
mod life;
mod limits;
mod roots;
mod saved;
