//! The attacker: tries every attack, and reports for each whether it succeeded.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};

/// What the attacker knows.
pub(crate) struct Target {
    /// A shared directory.
    pub(crate) inside: PathBuf,
    /// A directory that is shared for reading.
    pub(crate) read_only: PathBuf,
    /// An unshared directory of the same user.
    pub(crate) outside: PathBuf,
    /// A process of the same user.
    pub(crate) victim: i32,
    /// The key of a shared memory segment of that user.
    pub(crate) segment: i32,
    /// The port of a listener on loopback.
    pub(crate) port: u16,
    /// The name of a listening abstract socket.
    pub(crate) name: String,
}

/// An attack: returns what was gained, or the error.
pub(crate) type Attack = fn(&Target) -> io::Result<String>;

pub(crate) fn attack(spec: &str) -> ExitCode {
    let spec: Value = serde_json::from_str(spec).expect("a spec");
    let path = |key: &str| PathBuf::from(spec[key].as_str().unwrap_or_default());
    let number = |key: &str| i32::try_from(spec[key].as_i64().unwrap_or(0)).unwrap_or(0);
    let target = Target {
        inside: path("inside"),
        read_only: path("read_only"),
        outside: path("outside"),
        victim: number("victim"),
        segment: number("segment"),
        port: u16::try_from(number("port")).unwrap_or(0),
        name: spec["name"].as_str().unwrap_or_default().to_owned(),
    };
    let attacks = [crate::files::ATTACKS, crate::processes::ATTACKS, crate::sockets::ATTACKS, crate::calls::ATTACKS];
    for (name, attack) in attacks.into_iter().flatten() {
        let outcome = match attack(&target) {
            Ok(gained) => json!({"attack": name, "done": gained}),
            Err(error) => json!({"attack": name, "refused": error.raw_os_error(), "says": error.to_string()}),
        };
        println!("{outcome}");
        let _ = io::stdout().flush();
    }
    ExitCode::SUCCESS
}

/// The result of a system call.
pub(crate) fn checked(result: i64) -> io::Result<i64> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A call by its number.
macro_rules! call {
    ($number:expr $(, $argument:expr)*) => {
        // SAFETY: every pointer that is passed outlives the call; what the call does is the attack.
        $crate::attack::checked(unsafe { libc::syscall($number $(, $argument)*) })
    };
}
pub(crate) use call;
