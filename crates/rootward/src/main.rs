//! The `rootward` binary.

fn main() {}
