//! The other processes of the tests: a host that confines a command, and the hostile command.
//!
//! `host SPEC COMMAND…` confines, `attack SPEC` tries every attack and reports each outcome, `act` does one thing to
//! one path, `serve` does what its client requests, `unix` connects and listens, `own` reads about processes, `sealed`
//! is a process that cannot open files.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "acts as the attacker, and reports to the tests")]
#![expect(clippy::expect_used, reason = "a part without a spec stops")]
#![expect(unsafe_code, reason = "an attacker makes arbitrary system calls")]

mod act;
mod attack;
mod blocking;
mod calls;
mod files;
mod host;
mod own;
mod processes;
mod sealed;
mod serve;
mod sockets;
mod swapping;
mod unix;

use std::process::ExitCode;

fn main() -> ExitCode {
    rootward_sandbox::launcher();
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let text = |index: usize| arguments.get(index).and_then(|argument| argument.to_str()).unwrap_or_default();
    match text(0) {
        "host" => host::host(text(1), &arguments[2..]),
        "attack" => attack::attack(text(1)),
        "act" => act::act(),
        "serve" => serve::serve(),
        "unix" => unix::unix(text(1)),
        "own" => own::own(&arguments[1..]),
        "sealed" => sealed::sealed(text(1)),
        "sealed-inside" => sealed::inside(&arguments[1..]),
        "pass" => calls::nothing(),
        other => {
            println!("no such part: {other}");
            ExitCode::from(99)
        }
    }
}
