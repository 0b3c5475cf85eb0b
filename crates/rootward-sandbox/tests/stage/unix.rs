//! Connects and listens according to a test. Prints `done` with the result, or the error number.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixDatagram, UnixListener, UnixStream};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::attack::call;
use crate::{blocking, swapping};

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
        "swap descriptors" => swapping::swap_descriptors(path, other, port, rounds),
        "swap addresses" => Ok(swapping::swap_addresses(path, other, rounds)),
        "swap files" => swapping::swap_files(path, other, rounds),
        "use what is passed on" => use_what_is_passed_on(path, other, port),
        "network" => network(port),
        "errors" => errors(path),
        "many" => Ok(many(path, port, rounds)),
        "wait" => blocking::wait(path, text("file")),
        "wait forever" => blocking::wait_forever(path),
        "wait with a limit" => blocking::wait_with_a_limit(path),
        "wait and be interrupted" => blocking::wait_and_be_interrupted(path, port),
        "wait for the network" => blocking::wait_for_the_network(port),
        other => Err(io::Error::other(other.to_owned())),
    }
}

pub(crate) fn said<T>(_: T) -> String {
    String::new()
}

/// The address of a path: its bytes.
pub(crate) fn address(path: &str) -> Vec<u8> {
    let family = u16::try_from(libc::AF_UNIX).unwrap_or(1).to_ne_bytes();
    [&family[..], path.as_bytes(), &[0]].concat()
}

pub(crate) fn socket(family: i32, kind: i32) -> io::Result<OwnedFd> {
    let number = call!(libc::SYS_socket, family, kind | libc::SOCK_CLOEXEC, 0)?;
    // SAFETY: the kernel has just made this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(RawFd::try_from(number).unwrap_or(-1)) })
}

pub(crate) fn connect(number: RawFd, address: &[u8]) -> io::Result<()> {
    call!(libc::SYS_connect, number, address.as_ptr(), address.len()).map(drop)
}

pub(crate) fn bind(socket: &OwnedFd, address: &[u8]) -> io::Result<()> {
    call!(libc::SYS_bind, socket.as_raw_fd(), address.as_ptr(), address.len()).map(drop)
}

pub(crate) fn connected(path: &str, kind: i32) -> io::Result<OwnedFd> {
    let socket = socket(libc::AF_UNIX, kind)?;
    connect(socket.as_raw_fd(), &address(path))?;
    Ok(socket)
}

/// Sends hello and returns the answer.
pub(crate) fn greet(socket: &OwnedFd) -> io::Result<String> {
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

pub(crate) fn internet_address(port: u16) -> Vec<u8> {
    let family = u16::try_from(libc::AF_INET).unwrap_or(2).to_ne_bytes();
    [&family[..], &port.to_be_bytes(), &[127, 0, 0, 1], &[0; 8]].concat()
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
    let shown = |result: io::Result<()>| match result {
        Ok(()) => "connected".to_owned(),
        Err(error) => error.raw_os_error().unwrap_or(0).to_string(),
    };
    let to = [address(outside), address(outside), internet_address(port)];
    let results: Vec<_> = taken.iter().zip(&to).map(|(socket, to)| shown(connect(socket.as_raw_fd(), to))).collect();
    Ok(results.join(" "))
}

fn network(port: u16) -> io::Result<String> {
    let to = SocketAddr::from(([127, 0, 0, 1], port));
    greet(&TcpStream::connect(to)?.into())?;
    greet(&TcpStream::connect_timeout(&to, Duration::from_mins(1))?.into())?;
    let socket = socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_NONBLOCK)?;
    let begun = connect(socket.as_raw_fd(), &internet_address(port)).err().and_then(|error| error.raw_os_error());
    let datagrams = UdpSocket::bind("127.0.0.1:0")?;
    datagrams.connect(to)?;
    let refused = TcpStream::connect(("127.0.0.1", 1)).err().and_then(|error| error.raw_os_error());
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    TcpStream::connect(listener.local_addr()?)?;
    Ok(format!("{} {}", begun.unwrap_or(0), refused.unwrap_or(0)))
}

/// The errors of invalid calls.
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
fn many(path: &str, port: u16, rounds: usize) -> String {
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
    done.into_inner().to_string()
}
