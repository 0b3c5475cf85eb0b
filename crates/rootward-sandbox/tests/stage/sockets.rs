//! Attacks through sockets.

use std::io::{self, Read};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};

use crate::attack::{Attack, call};

pub(crate) const ATTACKS: &[(&str, Attack)] = &[
    ("connect to a socket with a path", |target| {
        UnixStream::connect(target.outside.join("socket")).map(|_| String::new())
    }),
    ("send to a socket with a path through a pair", |target| {
        let (one, _other) = UnixDatagram::pair()?;
        one.send_to(b"x", target.outside.join("datagrams")).map(|_| String::new())
    }),
    ("send to a socket with a path through a raw pair", |target| {
        // A raw pair is really a datagram pair (unix(7) lists three kinds, the kernel accepts a fourth).
        let mut pair = [0_i32; 2];
        call!(libc::SYS_socketpair, libc::AF_UNIX, libc::SOCK_RAW, 0, pair.as_mut_ptr())?;
        // SAFETY: the kernel has just made this descriptor.
        let one = unsafe { <UnixDatagram as std::os::fd::FromRawFd>::from_raw_fd(pair[0]) };
        one.send_to(b"x", target.outside.join("datagrams")).map(|_| String::new())
    }),
    ("connect to a socket without a path", |target| {
        let address = SocketAddr::from_abstract_name(&target.name)?;
        UnixStream::connect_addr(&address).map(|_| String::new())
    }),
    ("listen outside", |target| UnixListener::bind(target.outside.join("own-socket")).map(|_| String::new())),
    ("connect over the network", |target| TcpStream::connect(("127.0.0.1", target.port)).map(|_| String::new())),
    ("send over the network", |target| {
        UdpSocket::bind("127.0.0.1:0")?.send_to(b"x", ("127.0.0.1", target.port)).map(|_| String::new())
    }),
    ("hear the kernel's events", |_| socket(libc::AF_NETLINK, libc::SOCK_DGRAM, 15)),
    ("make a raw socket", |_| socket(libc::AF_INET, libc::SOCK_RAW, 1)),
    ("send frames", |_| socket(libc::AF_PACKET, libc::SOCK_DGRAM, 0)),
    ("use a pair", |_| {
        let (mut one, other) = UnixStream::pair()?;
        drop(other);
        one.read(&mut [0]).map(|_| String::new())
    }),
    ("type for the user", |_| {
        let letter = b'x';
        call!(libc::SYS_ioctl, io::stdin().as_raw_fd(), libc::TIOCSTI, &raw const letter).map(|_| String::new())
    }),
    ("type for the user, hiding the command's number", |_| {
        let letter = b'x';
        call!(libc::SYS_ioctl, io::stdin().as_raw_fd(), 0x1_0000_5412_u64, &raw const letter).map(|_| String::new())
    }),
];

fn socket(family: i32, kind: i32, protocol: i32) -> io::Result<String> {
    call!(libc::SYS_socket, family, kind, protocol).map(|_| String::new())
}
