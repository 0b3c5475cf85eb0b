//! The binary with the real SWI-Prolog, spoken to over its standard input and output. Where `swipl` is missing, these tests fail.
#![expect(clippy::disallowed_methods, reason = "tests lay out the files they are about")]

mod environment;
mod eras;
mod files;
mod hostile;
mod knowledge;
mod roots;
mod scene;
