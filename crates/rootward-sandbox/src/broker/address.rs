//! Parses the address of a `connect` call like the kernel does.

use rustix::io::Errno;

/// Where the path of a unix address begins, and the maximum length of such an address (unix(7)).
const PATH: usize = 2;
const LONGEST_UNIX: usize = 110;

/// An address of a unix socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum UnixAddress {
    /// A path, without its terminating NUL.
    Path(Vec<u8>),
    /// An abstract name.
    Abstract,
}

impl UnixAddress {
    /// Parses an address, with the kernel's errors.
    pub(super) fn read(bytes: &[u8]) -> Result<UnixAddress, Errno> {
        let (Some(family), Some(path)) = (bytes.get(..PATH), bytes.get(PATH..)) else { return Err(Errno::INVAL) };
        let is_unix = u16::from_ne_bytes([family[0], family[1]]) == AF_UNIX;
        if path.is_empty() || bytes.len() > LONGEST_UNIX || !is_unix {
            return Err(Errno::INVAL);
        }
        let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(if path.is_empty() { UnixAddress::Abstract } else { UnixAddress::Path(path.to_vec()) })
    }
}

const AF_UNIX: u16 = 1;

/// Whether a unix socket is bound to an abstract name.
pub(super) fn is_abstract(bytes: &[u8]) -> bool {
    bytes.get(PATH) == Some(&0)
}

/// The address for a short path: the name of one of this process's handles.
pub(super) fn of_path(path: &str) -> Vec<u8> {
    [&AF_UNIX.to_ne_bytes()[..], path.as_bytes(), &[0]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_the_kernel_reads_them() {
        let check = |rest: &[u8], expect: Result<UnixAddress, Errno>| {
            let bytes = [&AF_UNIX.to_ne_bytes()[..], rest].concat();
            assert_eq!(UnixAddress::read(&bytes), expect, "{rest:?}");
        };
        let path = |path: &[u8]| Ok(UnixAddress::Path(path.to_vec()));
        check(b"/a\0", path(b"/a"));
        check(b"/a\0/b", path(b"/a"));
        check(b"/a", path(b"/a"));
        check(&[b'x'; 108], path(&[b'x'; 108]));
        check(&[b'x'; 109], Err(Errno::INVAL));
        check(b"\0name", Ok(UnixAddress::Abstract));
        check(b"\0", Ok(UnixAddress::Abstract));
        check(b"", Err(Errno::INVAL));
        assert_eq!(UnixAddress::read(&[]), Err(Errno::INVAL));
        assert_eq!(UnixAddress::read(&[1]), Err(Errno::INVAL));
        assert_eq!(UnixAddress::read(&[2, 0, 1, 2, 3]), Err(Errno::INVAL));
        assert!(is_abstract(&[1, 0, 0, b'a']) && !is_abstract(&[1, 0]) && !is_abstract(&of_path("/a")));
        assert_eq!(UnixAddress::read(&of_path("/proc/self/fd/3")), path(b"/proc/self/fd/3"));
    }
}
