//! The real binary, as a user runs it, in temporary directories and with a clean environment.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
#![expect(clippy::disallowed_methods, reason = "tests build the trees that the binary is run in")]

mod adopt;
mod agreement;
mod audit;
mod batch;
mod check;
#[cfg(feature = "completions")]
mod completions;
#[cfg(all(feature = "adopt", feature = "connect", feature = "http", feature = "serve"))]
mod docs;
mod doctor;
mod explain;
mod help;
mod hints;
mod home_root;
#[cfg(feature = "http")]
mod http_client;
mod hub;
mod own_places;
mod place;
mod roots;
mod sandbox;
mod serve;
mod settings;
mod stage;
mod status;
mod user_side;
mod version;
mod wrap;
