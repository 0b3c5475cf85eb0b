//! A sealed process that tries what it must not be able to do.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::{Command, ExitCode};

use rootward_sandbox::{seal, spawn_sealed};

/// Starts the process, and prints the outcome of each try on a line.
pub(crate) fn sealed(scratch: &str) -> ExitCode {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("its address").to_string();
    let (mut read, write) = std::io::pipe().expect("a pipe");
    // Open in the host, but not given to the process.
    let other = std::fs::File::open("/proc/self/status").expect("a file");
    rustix::io::fcntl_setfd(&other, rustix::io::FdFlags::empty()).expect("a descriptor");
    let number = other.as_raw_fd().to_string();
    let process = match spawn_sealed(&["sealed-inside", scratch, &address, &number], vec![write.into()]) {
        Ok(process) => process,
        Err(error) => {
            println!("not sealed: {error}");
            return ExitCode::from(2);
        }
    };
    let mut output = String::new();
    let _ = read.read_to_string(&mut output);
    drop((process, other, listener));
    println!("{output}");
    ExitCode::SUCCESS
}

/// The sealed process. Without descriptors it is not sealed: the control, in which every try must work.
pub(crate) fn inside(words: &[OsString]) -> ExitCode {
    let text = |index: usize| words.get(index).and_then(|word| word.to_str()).unwrap_or_default();
    let (scratch, address, other) = (text(0).to_owned(), text(1).parse().expect("an address"), text(2).parse());
    let numbers: Vec<i32> = (3..words.len()).filter_map(|index| text(index).parse().ok()).collect();
    let is_inherited = move |other: i32| {
        // SAFETY: no memory is passed; a number that is not open is an error.
        (unsafe { libc::fcntl(other, libc::F_GETFD) }) >= 0
    };
    if numbers.is_empty() {
        println!("{}", try_everything(&scratch, address, true));
        return ExitCode::SUCCESS;
    }
    let given = seal(&numbers).expect("it is sealed");
    let inherited = is_inherited(other.expect("a number"));
    let tried = std::thread::spawn(move || try_everything(&scratch, address, inherited));
    let output = tried.join().unwrap_or_default();
    let pipe = given.into_iter().next().expect("a pipe");
    let _ = std::fs::File::from(pipe).write_all(output.as_bytes());
    ExitCode::SUCCESS
}

fn try_everything(scratch: &str, address: SocketAddr, inherited: bool) -> String {
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
        ("inherited", inherited),
        ("variables", std::env::vars_os().next().is_some()),
    ];
    tries.map(|(what, done)| format!("{what} {}", if done { "done" } else { "refused" })).join("\n")
}
