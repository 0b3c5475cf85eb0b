//! The socket between the front and the hub, for one client: lines in both directions.
//!
//! This waits for readable lines, but not for room to write. The system would report room each time the hub has read
//! a line, which is once for every message, and there is nearly always room.

use std::io::{self, ErrorKind, IoSlice, Write};
use std::os::unix::net::UnixStream;

use bytes::Buf;
use tokio::net::unix::pipe::{Receiver, Sender};

/// The direction from the hub. A pipe's end, because that waits for only one direction.
pub(super) type FromHub = Receiver;

/// The direction to the hub.
#[derive(Debug)]
pub(super) struct ToHub(UnixStream);

/// Both directions of a socket that does not block.
pub(super) fn split(socket: UnixStream) -> io::Result<(FromHub, ToHub)> {
    Ok((Receiver::from_owned_fd_unchecked(socket.try_clone()?.into())?, ToHub(socket)))
}

impl ToHub {
    /// Writes all of it.
    pub(super) async fn write_all(&self, mut line: impl Buf) -> io::Result<()> {
        // Created when there is no room.
        let mut waiting: Option<Sender> = None;
        while line.has_remaining() {
            let mut pieces = [IoSlice::new(&[]); 2];
            let count = line.chunks_vectored(&mut pieces);
            let written = match &waiting {
                None => (&self.0).write_vectored(&pieces[..count]),
                Some(sender) => {
                    sender.writable().await?;
                    sender.try_write_vectored(&pieces[..count])
                }
            };
            match written {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => line.advance(written),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if waiting.is_none() {
                        waiting = Some(Sender::from_owned_fd_unchecked(self.0.try_clone()?.into())?);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use tokio::io::{AsyncBufReadExt, BufReader};

    use super::*;

    /// Sends far more than a socket holds to a slow reader, in both directions.
    #[tokio::test]
    async fn long_lines_pass_in_both_directions() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        for socket in [&ours, &theirs] {
            socket.set_nonblocking(true).unwrap();
        }
        let ((from, to), (from_us, to_us)) = (split(ours).unwrap(), split(theirs).unwrap());
        let line = |length: usize| Bytes::from("x".repeat(length));
        let lengths = [0, 1, 8191, 8192, 8193, 3 << 20];
        let write = async |to: &ToHub| {
            for length in lengths {
                to.write_all(line(length).chain(&b"\n"[..])).await.unwrap();
            }
        };
        let read = async |from: FromHub| {
            let mut from = BufReader::new(from);
            for length in lengths {
                tokio::task::yield_now().await;
                let mut read = Vec::new();
                from.read_until(b'\n', &mut read).await.unwrap();
                assert_eq!(read.len(), length + 1);
            }
            from
        };
        let ((), (), mut last, _) = tokio::join!(write(&to), write(&to_us), read(from), read(from_us));
        drop(to_us);
        assert_eq!(last.read_until(b'\n', &mut Vec::new()).await.unwrap(), 0);
        assert!(to.write_all(&b"x\n"[..]).await.is_err());
    }
}
