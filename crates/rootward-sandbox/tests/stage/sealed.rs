//! A process that is sealed, and tries what it must not be able to do.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Command, ExitCode};

use rootward_sandbox::{Seal, spawn_sealed};

/// Prints what came of each try, a line each.
pub(crate) fn sealed(how: &str, scratch: &str) -> ExitCode {
    let seal = if how == "off" { Seal::Off } else { Seal::On };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("its address");
    let (mut read, write) = std::io::pipe().expect("a pipe");
    // Open in the host, and none of the process's business.
    let other = std::fs::File::open("/proc/self/status").expect("a file");
    let (scratch, other_number) = (scratch.to_owned(), other.as_raw_fd());
    let process = spawn_sealed(vec![write.into()], seal, move |given| {
        let tried = std::thread::spawn({
            let scratch = scratch.clone();
            move || try_everything(&scratch, address, other_number)
        });
        let told = tried.join().unwrap_or_default();
        let mut out = given.into_iter().next().map(|pipe: OwnedFd| std::fs::File::from(pipe)).expect("a pipe");
        i32::from(out.write_all(told.as_bytes()).is_err())
    });
    let process = match process {
        Ok(process) => process,
        Err(error) => {
            println!("not sealed: {error}");
            return ExitCode::from(2);
        }
    };
    let mut told = String::new();
    let _ = read.read_to_string(&mut told);
    drop((process, other, listener));
    println!("{told}");
    ExitCode::SUCCESS
}

fn try_everything(scratch: &str, address: std::net::SocketAddr, other: i32) -> String {
    // SAFETY: no memory is passed; a number that is not open is an error.
    let is_inherited = unsafe { libc::fcntl(other, libc::F_GETFD) } >= 0;
    // SAFETY: no memory is passed, and signal 0 is not sent.
    let can_signal = unsafe { libc::kill(libc::getppid(), 0) } == 0;
    let tries = [
        ("read", std::fs::read("/etc/hostname").is_ok()),
        ("list", std::fs::read_dir("/").is_ok()),
        ("write", std::fs::write(format!("{scratch}/new"), "x").is_ok()),
        ("run", Command::new("/bin/true").status().is_ok()),
        ("connect", TcpStream::connect(address).is_ok()),
        ("listen", TcpListener::bind("127.0.0.1:0").is_ok()),
        ("signal", can_signal),
        ("inherited", is_inherited),
        ("privileged", std::fs::read("/proc/self/status").is_ok_and(|status| has_powers(&status))),
    ];
    tries.map(|(what, done)| format!("{what} {}", if done { "done" } else { "refused" })).join("\n")
}

fn has_powers(status: &[u8]) -> bool {
    let status = String::from_utf8_lossy(status);
    let mut effective = status.lines().filter_map(|line| line.strip_prefix("CapEff:"));
    effective.any(|set| set.trim().chars().any(|digit| digit != '0'))
}
