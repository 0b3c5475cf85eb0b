//! A connection that carries a JSON message per line, both ways.

use std::io;
use std::time::Duration;

/// A connection: a frame per line, both ways.
pub trait Line {
    /// Sends a frame; it has no line break.
    fn send(&mut self, frame: &str) -> io::Result<()>;

    /// Waits this long for the next frame.
    fn receive(&mut self, patience: Duration) -> io::Result<Received>;

    /// Says that nothing more will be sent. What the other side still sends can be received.
    fn close(&mut self) -> io::Result<()>;

    /// What the other side wrote elsewhere, such as on its standard error, for messages about failures.
    fn complaint(&mut self) -> String {
        String::new()
    }
}

/// What came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received {
    /// A frame.
    Frame(String),
    /// Nothing, in all the time.
    Silence,
    /// The other side closed the connection.
    End,
}
