//! A process that reads about itself and about others in `/proc`.

use std::ffi::{CString, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::attack::call;

/// Does one act. `child` runs the rest of its arguments in a separate process, which is not the command itself.
pub(crate) fn own(arguments: &[OsString]) -> ExitCode {
    let (act, rest) = arguments.split_first().expect("an act");
    match act.to_str().unwrap_or_default() {
        "child" => {
            let child = Command::new(std::env::current_exe().expect("a program")).arg("own").args(rest).status();
            let code = child.ok().and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
            ExitCode::from(code.unwrap_or(98))
        }
        "read" => lines(rest, |path| opened(path, libc::O_RDONLY).and_then(begins)),
        "change" => lines(rest, |path| {
            let flags = [libc::O_WRONLY, libc::O_RDWR, libc::O_TRUNC, libc::O_CREAT, libc::O_APPEND];
            let tried = flags.map(|flags| opened(path, flags));
            // All of them must fail.
            tried.into_iter().reduce(Result::or).expect("a try").map(|_| "opened".to_owned())
        }),
        "around" => around(&rest[0]),
        "flags" => flags(),
        "threads" => threads(),
        "swap" => swap(&rest[0]),
        "killed" => killed(),
        "hidden" => hidden(&rest[0]),
        other => {
            println!("no such act: {other}");
            ExitCode::from(99)
        }
    }
}

/// Prints a line for each path: the result, or the error number.
fn lines(paths: &[OsString], act: impl Fn(&str) -> io::Result<String>) -> ExitCode {
    // SAFETY: the call takes nothing.
    let (own, thread) = (std::process::id().to_string(), unsafe { libc::gettid() }.to_string());
    let parent = std::os::unix::process::parent_id().to_string();
    for path in paths.iter().map(|path| path.to_string_lossy()) {
        let filled = path.replace("OWN", &own).replace("THREAD", &thread).replace("PARENT", &parent);
        match act(&filled) {
            Ok(text) => println!("{path}: {}", text.replace(&own, "OWN")),
            Err(error) => println!("{path}: error {}", error.raw_os_error().unwrap_or(0)),
        }
    }
    ExitCode::SUCCESS
}

fn opened(path: &str, flags: i32) -> io::Result<OwnedFd> {
    opened_at(libc::AT_FDCWD, path, flags)
}

fn opened_at(at: i32, path: &str, flags: i32) -> io::Result<OwnedFd> {
    let path = CString::new(path)?;
    let number = call!(libc::SYS_openat, at, path.as_ptr(), flags, 0o600)?;
    // SAFETY: the kernel has just made the descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(i32::try_from(number).unwrap_or(-1)) })
}

/// The first word of a file, or that it is a directory.
fn begins(descriptor: OwnedFd) -> io::Result<String> {
    let mut file = File::from(descriptor);
    if file.metadata()?.is_dir() {
        let mut entries = [0_u8; 4096];
        call!(libc::SYS_getdents64, file.as_raw_fd(), entries.as_mut_ptr(), entries.len())?;
        return Ok("listed".to_owned());
    }
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(text.split_whitespace().next().unwrap_or_default().to_owned())
}

/// The list of open files and the magic links must lead to nothing that could not be opened by name.
fn around(outside: &OsString) -> ExitCode {
    let outside = outside.to_string_lossy();
    let secret = format!("{outside}/secret.txt");
    let handle = opened(&secret, libc::O_PATH).expect("a handle that opens nothing");
    let number = handle.as_raw_fd();
    let list = opened("/proc/self/fd", libc::O_RDONLY | libc::O_DIRECTORY).expect("the list of open files");
    let threads = opened("/proc/self/task", libc::O_RDONLY | libc::O_DIRECTORY).expect("the list of threads");
    let top = opened("/proc", libc::O_RDONLY | libc::O_DIRECTORY).expect("the top of /proc");
    std::env::set_current_dir(&*outside).expect("a working directory");
    let own = std::process::id();
    let parent = std::os::unix::process::parent_id();
    let tries = [
        ("by name", opened(&secret, 0)),
        ("by number", opened(&format!("/proc/self/fd/{number}"), 0)),
        ("by number of the process", opened(&format!("/proc/{own}/fd/{number}"), 0)),
        ("by the list", opened_at(list.as_raw_fd(), &number.to_string(), 0)),
        ("over the list", opened_at(list.as_raw_fd(), "../environ", 0)),
        ("over the threads", opened_at(threads.as_raw_fd(), &format!("{own}/mem"), 0)),
        ("over the top", opened_at(top.as_raw_fd(), &format!("{parent}/environ"), 0)),
        ("over the top to another", opened_at(top.as_raw_fd(), &format!("{parent}/maps"), 0)),
        ("by the working directory", opened("/proc/self/cwd/secret.txt", 0)),
        ("the working directory", opened("/proc/self/cwd", libc::O_DIRECTORY)),
        ("by the top of the disk", opened(&format!("/proc/self/root{secret}"), 0)),
        ("the top of the disk", opened("/proc/self/root", libc::O_DIRECTORY)),
        ("by a thread", opened(&format!("/proc/thread-self/root{secret}"), 0)),
    ];
    for (how, tried) in tries {
        match tried {
            Ok(_) => println!("{how}: opened"),
            Err(error) => println!("{how}: error {}", error.raw_os_error().unwrap_or(0)),
        }
    }
    // Chromium opens its descriptor list this way.
    let tries = [
        ("self/fd/ from the top", opened_at(top.as_raw_fd(), "self/fd/", libc::O_DIRECTORY)),
        ("the top from the top", opened_at(top.as_raw_fd(), ".", libc::O_DIRECTORY)),
    ];
    for (how, tried) in tries {
        println!("{how}: {}", tried.and_then(begins).unwrap_or_else(|error| error.to_string()));
    }
    ExitCode::SUCCESS
}

/// Checks that the descriptor is as the caller requested.
fn flags() -> ExitCode {
    let closes = |flags: i32| -> io::Result<i64> {
        let file = opened("/proc/self/maps", flags)?;
        call!(libc::SYS_fcntl, file.as_raw_fd(), libc::F_GETFD)
    };
    println!("kept: {:?}", closes(libc::O_RDONLY).ok());
    println!("closed: {:?}", closes(libc::O_RDONLY | libc::O_CLOEXEC).ok());
    let file = opened("/proc/self/maps", libc::O_RDONLY).expect("a file");
    let mode = call!(libc::SYS_fcntl, file.as_raw_fd(), libc::F_GETFL).expect("its flags");
    println!("only for reading: {}", mode & i64::from(libc::O_ACCMODE) == i64::from(libc::O_RDONLY));
    println!("not a directory: {:?}", opened("/proc/self/maps/", 0).err().and_then(|error| error.raw_os_error()));
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit outlives the call.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const none) };
    println!("no descriptors left: {:?}", opened("/proc/self/maps", 0).err().and_then(|error| error.raw_os_error()));
    ExitCode::SUCCESS
}

/// Many threads open files at once; each must get its own file.
fn threads() -> ExitCode {
    const THREADS: usize = 16;
    const ROUNDS: usize = 50;
    let right = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                // SAFETY: the call takes nothing.
                let thread = unsafe { libc::gettid() }.to_string();
                let own = std::process::id().to_string();
                for _ in 0..ROUNDS {
                    let paths = [
                        ("/proc/thread-self/stat".to_owned(), &thread),
                        (format!("/proc/self/task/{thread}/stat"), &thread),
                        (format!("/proc/{thread}/stat"), &thread),
                        ("/proc/self/stat".to_owned(), &own),
                    ];
                    for (path, expect) in paths {
                        let first = opened(&path, libc::O_RDONLY).and_then(begins);
                        right.fetch_add(usize::from(first.is_ok_and(|first| first == *expect)), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    println!("{} of {}", right.load(Ordering::Relaxed), THREADS * ROUNDS * 4);
    ExitCode::SUCCESS
}

/// One thread opens a path while another overwrites it.
fn swap(other: &OsString) -> ExitCode {
    let own = b"/proc/self/cmdline\0";
    let mut paths = [own.to_vec(), other.as_bytes().to_vec()];
    let longest = paths.iter().map(Vec::len).max().unwrap_or(0) + 1;
    for path in &mut paths {
        path.resize(longest, 0);
    }
    let mut shared = paths[0].clone();
    // The address as a number, so that both threads can use it.
    let address = shared.as_mut_ptr() as usize;
    let stop = AtomicBool::new(false);
    let (mut gained, mut count) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for path in paths.iter().cycle() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                // SAFETY: the memory outlives the scope; using it from both threads is the attack.
                unsafe { std::ptr::copy_nonoverlapping(path.as_ptr(), address as *mut u8, longest) };
            }
        });
        for _ in 0..4_000 {
            let Ok(number) = call!(libc::SYS_openat, libc::AT_FDCWD, address, libc::O_RDONLY) else { continue };
            // SAFETY: the kernel has just made the descriptor.
            let mut file = unsafe { File::from_raw_fd(i32::try_from(number).unwrap_or(-1)) };
            let mut text = Vec::new();
            let _ = file.read_to_end(&mut text);
            count += 1;
            gained += usize::from(text.windows(6).any(|part| part == b"SECRET"));
        }
        stop.store(true, Ordering::Relaxed);
    });
    println!("opened its own: {}", count > 0);
    println!("gained {gained}");
    ExitCode::SUCCESS
}

/// Processes are killed while they open files; new ones may get their ids.
fn killed() -> ExitCode {
    for round in 0..200_u64 {
        // SAFETY: this program has one thread.
        let child = unsafe { libc::fork() };
        if child == 0 {
            loop {
                let _ = opened("/proc/self/maps", libc::O_RDONLY);
            }
        }
        std::thread::sleep(std::time::Duration::from_micros(round * 7 % 500));
        let mut status = 0;
        // SAFETY: the status outlives the call.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, &raw mut status, 0);
        }
    }
    let own = std::process::id().to_string();
    println!("{}", opened("/proc/self/stat", 0).and_then(begins).is_ok_and(|first| first == own));
    ExitCode::SUCCESS
}

/// A process whose memory nobody may read still opens what the rules give.
fn hidden(inside: &OsString) -> ExitCode {
    // SAFETY: the call takes numbers.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) };
    println!("{}", fs::read_to_string(inside).unwrap_or_else(|error| error.to_string()));
    ExitCode::SUCCESS
}
