//! Connects and listens as a test says. Prints `done` with the result, or the number of the error.

use std::ffi::CString;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixDatagram, UnixListener, UnixStream};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::attack::{call, checked};

pub(crate) fn unix(spec: &str) -> ExitCode {
    let spec: Value = serde_json::from_str(spec).expect("a spec");
    match act(&spec) {
        Ok(said) => println!("done {said}"),
        Err(error) => println!("error {}", error.raw_os_error().unwrap_or(0)),
    }
    ExitCode::SUCCESS
}

fn act(spec: &Value) -> io::Result<String> {
    let text = |key: &str| spec[key].as_str().unwrap_or_default();
    let (path, other) = (text("path"), text("other"));
    let port = u16::try_from(spec["port"].as_u64().unwrap_or(0)).unwrap_or(0);
    let rounds = usize::try_from(spec["rounds"].as_u64().unwrap_or(0)).unwrap_or(0);
    match text("do") {
        "connect" => greet(&connected(path, libc::SOCK_STREAM)?),
        "connect packets" => greet(&connected(path, libc::SOCK_SEQPACKET)?),
        "connect from its directory" => {
            let (directory, name) = path.rsplit_once('/').unwrap_or_default();
            std::env::set_current_dir(directory)?;
            greet(&connected(name, libc::SOCK_STREAM)?)
        }
        "connect from a thread" => {
            let path = path.to_owned();
            let thread = std::thread::spawn(move || greet(&connected(&path, libc::SOCK_STREAM)?));
            thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
        }
        "link" => {
            std::fs::hard_link(other, path)?;
            greet(&connected(path, libc::SOCK_STREAM)?)
        }
        "move" => {
            std::fs::rename(other, path)?;
            greet(&connected(path, libc::SOCK_STREAM)?)
        }
        "talk to itself" => talk_to_itself(path),
        "listen at the longest path" => {
            std::env::set_current_dir(path)?;
            let listener = socket(libc::AF_UNIX, libc::SOCK_STREAM)?;
            bind(&listener, &address(&"x".repeat(108))[..110])?;
            call!(libc::SYS_listen, listener.as_raw_fd(), 1).map(said)
        }
        "keep a name" => keep_a_name(path, other),
        "listen at a name" => UnixListener::bind_addr(&UnixAddress::from_abstract_name(text("name"))?).map(said),
        "connect to a name" => UnixStream::connect_addr(&UnixAddress::from_abstract_name(text("name"))?).map(said),
        "datagrams" => UnixDatagram::unbound().map(said),
        "swap descriptors" => swap_descriptors(path, other, port, rounds),
        "swap addresses" => swap_addresses(path, other, rounds),
        "swap files" => swap_files(path, other, rounds),
        "use what is passed on" => use_what_is_passed_on(path, other, port),
        "network" => network(port),
        "errors" => errors(path),
        "many" => many(path, port, rounds),
        "wait" => wait(path, text("file")),
        "wait with a limit" => wait_with_a_limit(path),
        "wait and be interrupted" => wait_and_be_interrupted(path, port),
        "wait for the network" => wait_for_the_network(port),
        other => Err(io::Error::other(other.to_owned())),
    }
}

fn said<T>(_: T) -> String {
    String::new()
}

/// The address of a path: its bytes.
fn address(path: &str) -> Vec<u8> {
    let family = u16::try_from(libc::AF_UNIX).unwrap_or(1).to_ne_bytes();
    [&family[..], path.as_bytes(), &[0]].concat()
}

fn socket(family: i32, kind: i32) -> io::Result<OwnedFd> {
    let number = call!(libc::SYS_socket, family, kind | libc::SOCK_CLOEXEC, 0)?;
    // SAFETY: the kernel has just made this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(RawFd::try_from(number).unwrap_or(-1)) })
}

fn connect(number: RawFd, address: &[u8]) -> io::Result<()> {
    call!(libc::SYS_connect, number, address.as_ptr(), address.len()).map(drop)
}

fn bind(socket: &OwnedFd, address: &[u8]) -> io::Result<()> {
    call!(libc::SYS_bind, socket.as_raw_fd(), address.as_ptr(), address.len()).map(drop)
}

fn connected(path: &str, kind: i32) -> io::Result<OwnedFd> {
    let socket = socket(libc::AF_UNIX, kind)?;
    connect(socket.as_raw_fd(), &address(path))?;
    Ok(socket)
}

/// Sends hello and returns the answer.
fn greet(socket: &OwnedFd) -> io::Result<String> {
    let mut stream = std::fs::File::from(socket.try_clone()?);
    stream.write_all(b"hello")?;
    let mut heard = [0; 64];
    let length = stream.read(&mut heard)?;
    Ok(String::from_utf8_lossy(&heard[..length]).into_owned())
}

fn talk_to_itself(path: &str) -> io::Result<String> {
    let listener = UnixListener::bind(path)?;
    let echo = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept()?;
        let mut heard = [0; 5];
        stream.read_exact(&mut heard)?;
        stream.write_all(&heard)
    });
    let heard = greet(&connected(path, libc::SOCK_STREAM)?)?;
    echo.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
    let status = std::fs::symlink_metadata(path)?.permissions().mode();
    Ok(format!("{heard} {}", if status & 0o777 == 0o755 { "as usual" } else { "with other permissions" }))
}

/// Listens on a path, removes the file, and moves another socket there.
fn keep_a_name(path: &str, other: &str) -> io::Result<String> {
    let _listener = UnixListener::bind(path)?;
    std::fs::remove_file(path)?;
    std::fs::rename(other, path)?;
    greet(&connected(path, libc::SOCK_STREAM)?)
}

/// Whether the listener outside answers.
fn is_outside(socket: &OwnedFd) -> bool {
    let mut stream = std::fs::File::from(match socket.try_clone() {
        Ok(socket) => socket,
        Err(_) => return false,
    });
    let mut heard = [0; 7];
    stream.write_all(b"hello").is_ok() && stream.read_exact(&mut heard).is_ok() && heard == *b"outside"
}

/// One thread connects a descriptor while another replaces it with sockets of both families.
fn swap_descriptors(inside: &str, outside: &str, port: u16, rounds: usize) -> io::Result<String> {
    let stop = AtomicBool::new(false);
    let (mut reached, mut connected_inside) = (0, 0);
    let shared = socket(libc::AF_INET, libc::SOCK_STREAM)?;
    let internet = internet_address(port);
    let number = shared.as_raw_fd();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for family in [libc::AF_UNIX, libc::AF_INET] {
                    if let Ok(fresh) = socket(family, libc::SOCK_STREAM) {
                        // SAFETY: both numbers are open; the old socket under the number is closed.
                        unsafe { libc::dup2(fresh.as_raw_fd(), number) };
                    }
                }
            }
        });
        for round in 0..rounds {
            let to = [address(outside), internet.clone(), address(inside)];
            let done = connect(number, &to[round % 3]).is_ok();
            // Look at whatever the number means now.
            if let Ok(taken) = shared.try_clone() {
                reached +=
                    usize::from(is_unix(&taken) && peer(&taken).is_some_and(|peer| peer.ends_with(b"outside\0")));
                connected_inside += usize::from(done);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    Ok(format!("{reached} outside, {}", if connected_inside > 0 { "some connected" } else { "none connected" }))
}

fn is_unix(socket: &OwnedFd) -> bool {
    let (mut family, mut length) = (0_i32, 4_u32);
    // SAFETY: both outlive the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_DOMAIN,
            (&raw mut family).cast(),
            &raw mut length,
        )
    };
    result == 0 && family == libc::AF_UNIX
}

/// The bytes of the address that a socket is connected to.
fn peer(socket: &OwnedFd) -> Option<Vec<u8>> {
    let (mut bytes, mut length) = (vec![0_u8; 128], 128_u32);
    // SAFETY: both outlive the call, and the length is that of the bytes.
    let result = unsafe { libc::getpeername(socket.as_raw_fd(), bytes.as_mut_ptr().cast(), &raw mut length) };
    bytes.truncate(usize::try_from(length).unwrap_or(0));
    (result == 0).then_some(bytes)
}

fn internet_address(port: u16) -> Vec<u8> {
    let family = u16::try_from(libc::AF_INET).unwrap_or(2).to_ne_bytes();
    [&family[..], &port.to_be_bytes(), &[127, 0, 0, 1], &[0; 8]].concat()
}

/// One thread connects to an address while another changes it. Both paths have the same length.
fn swap_addresses(inside: &str, outside: &str, rounds: usize) -> io::Result<String> {
    struct Shared(*mut u8);
    // SAFETY: the kernel reads what the other thread writes; that is the attack.
    unsafe impl Sync for Shared {}
    impl Shared {
        fn put(&self, bytes: &[u8]) {
            for (index, byte) in bytes.iter().enumerate() {
                // SAFETY: the memory is as long as either address.
                unsafe { self.0.add(index).write_volatile(*byte) };
            }
        }
    }
    let both = [address(inside), address(outside)];
    assert_eq!(both[0].len(), both[1].len(), "paths of one length");
    let mut memory = both[0].clone();
    let shared = Shared(memory.as_mut_ptr());
    let stop = AtomicBool::new(false);
    let (mut reached, mut inside) = (0, 0);
    std::thread::scope(|scope| {
        let (shared, stop) = (&shared, &stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                both.iter().for_each(|address| shared.put(address));
            }
        });
        for _ in 0..rounds {
            let Ok(socket) = socket(libc::AF_UNIX, libc::SOCK_STREAM) else { continue };
            if call!(libc::SYS_connect, socket.as_raw_fd(), shared.0, both[0].len()).is_ok() {
                let outside = is_outside(&socket);
                reached += usize::from(outside);
                inside += usize::from(!outside);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    Ok(format!("{reached} outside, {}", if inside > 0 { "some connected" } else { "none connected" }))
}

/// One thread connects to a path while another exchanges the socket there with a link to the one outside.
fn swap_files(inside: &str, outside: &str, rounds: usize) -> io::Result<String> {
    let (link, real) = (format!("{inside}-link"), format!("{inside}-real"));
    std::os::unix::fs::symlink(outside, &link)?;
    std::fs::hard_link(inside, &real)?;
    let text = |path: &str| CString::new(path).unwrap_or_default();
    let (first, second) = (text(inside), text(&link));
    let stop = AtomicBool::new(false);
    let (mut reached, mut connected_inside) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let exchange = call!(
                    libc::SYS_renameat2,
                    libc::AT_FDCWD,
                    first.as_ptr(),
                    libc::AT_FDCWD,
                    second.as_ptr(),
                    libc::RENAME_EXCHANGE
                );
                if exchange.is_err() {
                    return;
                }
            }
        });
        for _ in 0..rounds {
            if let Ok(socket) = connected(inside, libc::SOCK_STREAM) {
                let outside = is_outside(&socket);
                reached += usize::from(outside);
                connected_inside += usize::from(!outside);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    Ok(format!("{reached} outside, {}", if connected_inside > 0 { "some connected" } else { "none connected" }))
}

/// Receives a stream, a datagram and a TCP socket from a listener, and connects each.
fn use_what_is_passed_on(path: &str, outside: &str, port: u16) -> io::Result<String> {
    let giver = connected(path, libc::SOCK_STREAM)?;
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = rustix::net::RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let flags = rustix::net::RecvFlags::CMSG_CLOEXEC;
    rustix::net::recvmsg(&giver, &mut [io::IoSliceMut::new(&mut byte)], &mut control, flags)?;
    let mut taken: Vec<OwnedFd> = Vec::new();
    for message in control.drain() {
        if let rustix::net::RecvAncillaryMessage::ScmRights(passed) = message {
            taken.extend(passed);
        }
    }
    let told = |result: io::Result<()>| match result {
        Ok(()) => "connected".to_owned(),
        Err(error) => error.raw_os_error().unwrap_or(0).to_string(),
    };
    let to = [address(outside), address(outside), internet_address(port)];
    let results: Vec<_> = taken.iter().zip(&to).map(|(socket, to)| told(connect(socket.as_raw_fd(), to))).collect();
    Ok(results.join(" "))
}

fn network(port: u16) -> io::Result<String> {
    let to = SocketAddr::from(([127, 0, 0, 1], port));
    greet(&TcpStream::connect(to)?.into())?;
    greet(&TcpStream::connect_timeout(&to, Duration::from_secs(60))?.into())?;
    let socket = socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_NONBLOCK)?;
    let begun = connect(socket.as_raw_fd(), &internet_address(port)).err().and_then(|error| error.raw_os_error());
    let datagrams = UdpSocket::bind("127.0.0.1:0")?;
    datagrams.connect(to)?;
    let nobody = TcpStream::connect(("127.0.0.1", 1)).err().and_then(|error| error.raw_os_error());
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    TcpStream::connect(listener.local_addr()?)?;
    Ok(format!("{} {}", begun.unwrap_or(0), nobody.unwrap_or(0)))
}

/// The errors of wrong calls.
fn errors(path: &str) -> io::Result<String> {
    let to = address(path);
    let unix = socket(libc::AF_UNIX, libc::SOCK_STREAM)?;
    let file = std::fs::File::open("/dev/null")?;
    let handle = call!(libc::SYS_openat, libc::AT_FDCWD, c"/dev/null".as_ptr(), libc::O_PATH | libc::O_CLOEXEC)?;
    let handle = RawFd::try_from(handle).unwrap_or(-1);
    let (pair, _other) = UnixStream::pair()?;
    let listener = UnixListener::bind(format!("{path}-own"))?;
    let raw = |number: RawFd, address: u64, length: u64| call!(libc::SYS_connect, number, address, length).map(drop);
    let at = |bytes: &Vec<u8>| bytes.as_ptr() as u64;
    let length = to.len() as u64;
    let results = [
        raw(-1, at(&to), length),
        raw(9999, at(&to), length),
        raw(handle, at(&to), length),
        raw(file.as_raw_fd(), at(&to), length),
        raw(unix.as_raw_fd(), 8, length),
        raw(unix.as_raw_fd(), at(&to), 129),
        raw(unix.as_raw_fd(), at(&to), u64::from(u32::MAX)),
        raw(unix.as_raw_fd(), at(&to), 2),
        connect(unix.as_raw_fd(), &internet_address(1)),
        connect(unix.as_raw_fd(), &address(&format!("{path}-missing"))),
        connect(unix.as_raw_fd(), &address("/dev/null/x")),
        connect(pair.as_raw_fd(), &to),
        connect(listener.as_raw_fd(), &to),
        call!(libc::SYS_listen, 9999, 1).map(drop),
        call!(libc::SYS_listen, file.as_raw_fd(), 1).map(drop),
        call!(libc::SYS_listen, unix.as_raw_fd(), 1).map(drop),
    ];
    let numbers = results.map(|result| result.err().and_then(|error| error.raw_os_error()).unwrap_or(0).to_string());
    Ok(numbers.join(" "))
}

/// Many threads connect to a path and to a port.
fn many(path: &str, port: u16, rounds: usize) -> io::Result<String> {
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..rounds {
                    let unix = connected(path, libc::SOCK_STREAM).and_then(|socket| greet(&socket));
                    let internet = TcpStream::connect(("127.0.0.1", port)).and_then(|stream| greet(&stream.into()));
                    done.fetch_add(usize::from(unix.is_ok()) + usize::from(internet.is_ok()), Ordering::Relaxed);
                }
            });
        }
    });
    Ok(done.into_inner().to_string())
}

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

/// Threads wait for a listener with a full queue. Meanwhile other supervised calls work. At last the listener accepts.
fn wait(path: &str, file: &str) -> io::Result<String> {
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
        // Sockets that cannot be connected do not wait either, though the kernel would let them.
        let error = |socket: RawFd| connect(socket, &address(path)).err().and_then(|error| error.raw_os_error());
        let (pair, _other) = UnixStream::pair()?;
        let errors = [error(pair.as_raw_fd()), error(listener.as_raw_fd())].map(|error| error.unwrap_or(0));
        let before = connected_so_far.load(Ordering::Relaxed);
        accept_until(&listener, || connected_so_far.load(Ordering::Relaxed) >= WAITING);
        let after = connected_so_far.load(Ordering::Relaxed);
        Ok(format!("{} {}, {before} before, {after} after", errors[0], errors[1]))
    })
}

fn wait_with_a_limit(path: &str) -> io::Result<String> {
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
    // SAFETY: the structure is plain data, and the handler does nothing but count.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = flags;
        libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut());
    }
}

/// A signal reaches a thread that waits in `connect`. Without `SA_RESTART` the call fails, with it the call is restarted.
fn wait_and_be_interrupted(path: &str, port: u16) -> io::Result<String> {
    let (listener, _queued) = full(path)?;
    let mut told = Vec::new();
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
        told.push(match result {
            Ok(()) => "connected".to_owned(),
            Err(error) => error.raw_os_error().unwrap_or(0).to_string(),
        });
    }
    // TCP still works.
    greet(&TcpStream::connect(("127.0.0.1", port))?.into())?;
    Ok(told.join(" "))
}

/// A blocking TCP connection waits because the queue of its listener is full. Others connect meanwhile.
fn wait_for_the_network(port: u16) -> io::Result<String> {
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
