//! A connection that carries one JSON message per line, both ways.

use std::io;
use std::time::Duration;

/// A connection with one frame per line, both ways.
pub trait Line {
    /// Sends a frame, which must not contain a line break.
    fn send(&mut self, frame: &str) -> io::Result<()>;

    /// Waits this long for the next frame.
    fn receive(&mut self, patience: Duration) -> io::Result<Received>;

    /// Closes the sending side. Frames from the other side can still be received.
    fn close(&mut self) -> io::Result<()>;

    /// What the other side wrote elsewhere, such as to standard error. Failure messages show it.
    fn complaint(&mut self) -> String {
        String::new()
    }
}

/// The outcome of [`Line::receive`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received {
    /// A frame.
    Frame(String),
    /// Nothing arrived in time.
    Silence,
    /// The other side closed the connection.
    End,
}
