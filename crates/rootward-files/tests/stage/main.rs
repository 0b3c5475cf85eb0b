//! The launcher of the tests: confines a command, and is nothing else.

fn main() {
    rootward_sandbox::launcher();
}
