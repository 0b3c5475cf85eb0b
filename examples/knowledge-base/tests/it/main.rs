//! Tests the binary with the real SWI-Prolog, over standard input and output. Without `swipl`, these tests fail.
#![expect(clippy::disallowed_methods, reason = "tests create their own files")]

mod environment;
mod eras;
mod files;
mod hostile;
mod knowledge;
mod roots;
mod scene;
