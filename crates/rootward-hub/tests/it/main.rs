//! Calls against a real tree; the escape corpus and published attacks as arguments; the scanner compared with a naive
//! walk; fuzzing.

#![expect(clippy::disallowed_methods, reason = "tests build the trees that are checked")]
#![expect(clippy::unwrap_used, reason = "a test that cannot make its tree must fail")]

mod calls;
mod escapes;
mod fuzz;
mod long;
mod model;
mod ordinary;
mod published;
mod servers;
mod yard;
