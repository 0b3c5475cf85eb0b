//! Blocking `connect` calls: full queues, timeouts and signals.

use std::io;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::attack::{call, checked};
use crate::unix::{address, bind, connect, connected, greet, internet_address, said, socket};

/// A listener with a full queue, and the connections in it.
fn full(path: &str) -> io::Result<(OwnedFd, Vec<OwnedFd>)> {
    let listener = socket(libc::AF_UNIX, libc::SOCK_STREAM)?;
    let to = address(path);
    bind(&listener, &to)?;
    call!(libc::SYS_listen, listener.as_raw_fd(), 0)?;
    let mut queued = Vec::new();
    loop {
        let socket = socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_NONBLOCK)?;
        match connect(socket.as_raw_fd(), &to) {
            Ok(()) => queued.push(socket),
            // The queue is full.
            Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => return Ok((listener, queued)),
            Err(error) => return Err(error),
        }
    }
}

/// Accepts connections until there are enough.
fn accept_until(listener: &OwnedFd, enough: impl Fn() -> bool) {
    // SAFETY: the call takes numbers.
    unsafe { libc::fcntl(listener.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    while !enough() {
        // SAFETY: no memory is passed, and the kernel makes the descriptor.
        let number = unsafe {
            libc::accept4(listener.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut(), libc::SOCK_CLOEXEC)
        };
        if number >= 0 {
            // SAFETY: it is closed here, and nowhere else.
            drop(unsafe { OwnedFd::from_raw_fd(number) });
        } else {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Threads wait for a listener with a full queue. Meanwhile other supervised calls work. Finally the listener accepts.
pub(crate) fn wait(path: &str, file: &str) -> io::Result<String> {
    const WAITING: usize = 20;
    let (listener, _queued) = full(path)?;
    let connected_so_far = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..WAITING {
            scope.spawn(|| {
                if let Ok(socket) = connected(path, libc::SOCK_STREAM) {
                    // The socket is still a blocking one.
                    // SAFETY: the call takes numbers.
                    let flags = unsafe { libc::fcntl(socket.as_raw_fd(), libc::F_GETFL) };
                    assert_eq!(flags & libc::O_NONBLOCK, 0);
                    connected_so_far.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        // The supervisor makes these calls, too.
        for _ in 0..50 {
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600))?;
        }
        // Sockets that cannot be connected get their error at once, although the kernel would let them wait.
        let error = |socket: RawFd| connect(socket, &address(path)).err().and_then(|error| error.raw_os_error());
        let (pair, _other) = UnixStream::pair()?;
        let errors = [error(pair.as_raw_fd()), error(listener.as_raw_fd())].map(|error| error.unwrap_or(0));
        let before = connected_so_far.load(Ordering::Relaxed);
        accept_until(&listener, || connected_so_far.load(Ordering::Relaxed) >= WAITING);
        let after = connected_so_far.load(Ordering::Relaxed);
        Ok(format!("{} {}, {before} before, {after} after", errors[0], errors[1]))
    })
}

/// Waits for a listener with a full queue that never accepts.
pub(crate) fn wait_forever(path: &str) -> io::Result<String> {
    let (_listener, _queued) = full(path)?;
    println!("waits");
    connected(path, libc::SOCK_STREAM).map(said)
}

pub(crate) fn wait_with_a_limit(path: &str) -> io::Result<String> {
    let (_listener, _queued) = full(path)?;
    let socket = socket(libc::AF_UNIX, libc::SOCK_STREAM)?;
    let limit = libc::timeval { tv_sec: 0, tv_usec: 50_000 };
    let length = u32::try_from(size_of_val(&limit)).unwrap_or(0);
    // SAFETY: the value outlives the call, and its length is given.
    checked(i64::from(unsafe {
        let limit = (&raw const limit).cast();
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_SNDTIMEO, limit, length)
    }))?;
    connect(socket.as_raw_fd(), &address(path)).map(said)
}

static HANDLED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn handle(_: i32) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

fn handler(flags: i32) {
    // SAFETY: the structure is plain data, and the handler only counts.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = flags;
        libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut());
    }
}

/// A signal reaches a thread that waits in `connect`. Without `SA_RESTART` the call fails, with it the call restarts.
pub(crate) fn wait_and_be_interrupted(path: &str, port: u16) -> io::Result<String> {
    let (listener, _queued) = full(path)?;
    let mut results = Vec::new();
    for flags in [0, libc::SA_RESTART] {
        handler(flags);
        HANDLED.store(0, Ordering::Relaxed);
        let (thread, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
        let result = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                // SAFETY: no memory is passed.
                let id = unsafe { libc::gettid() };
                thread.store(usize::try_from(id).unwrap_or(0), Ordering::Relaxed);
                let result = connected(path, libc::SOCK_STREAM);
                ended.store(true, Ordering::Relaxed);
                result.map(drop)
            });
            while HANDLED.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(Duration::from_millis(10));
                let id = i32::try_from(thread.load(Ordering::Relaxed)).unwrap_or(0);
                if id != 0 && HANDLED.load(Ordering::Relaxed) == 0 {
                    // SAFETY: no memory is passed.
                    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), id, libc::SIGUSR1) };
                }
            }
            if flags == libc::SA_RESTART {
                accept_until(&listener, || ended.load(Ordering::Relaxed));
            }
            waiting.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
        });
        results.push(match result {
            Ok(()) => "connected".to_owned(),
            Err(error) => error.raw_os_error().unwrap_or(0).to_string(),
        });
    }
    // TCP still works.
    greet(&TcpStream::connect(("127.0.0.1", port))?.into())?;
    Ok(results.join(" "))
}

/// A blocking TCP connection waits because the queue of its listener is full. Others connect meanwhile.
pub(crate) fn wait_for_the_network(port: u16) -> io::Result<String> {
    let listener = socket(libc::AF_INET, libc::SOCK_STREAM)?;
    bind(&listener, &internet_address(0))?;
    call!(libc::SYS_listen, listener.as_raw_fd(), 0)?;
    let full = std::net::TcpListener::from(listener.try_clone()?).local_addr()?;
    // Connect until one gets no answer.
    let mut begun = Vec::new();
    loop {
        let socket = socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_NONBLOCK)?;
        let _ = connect(socket.as_raw_fd(), &internet_address(full.port()));
        let mut polled = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
        begun.push(socket);
        // SAFETY: the structure outlives the call.
        if unsafe { libc::poll(&raw mut polled, 1, 300) } == 0 {
            break;
        }
    }
    let thread = std::thread::spawn(move || TcpStream::connect(full).map(drop));
    for _ in 0..20 {
        greet(&TcpStream::connect(("127.0.0.1", port))?.into())?;
    }
    let waited = !thread.is_finished();
    drop(begun);
    accept_until(&listener, || thread.is_finished());
    thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
    Ok(if waited { "it waited" } else { "it did not wait" }.to_owned())
}
