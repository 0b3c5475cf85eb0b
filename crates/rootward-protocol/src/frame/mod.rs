//! Raw frames: lines of bytes, and the JSON-RPC envelope around what they carry.
//!
//! Only the envelope is read. What a message carries stays the bytes it came in, so that unknown fields, the order of keys, big
//! numbers and spelling reach the other side as they were sent.

mod envelope;
mod id;
mod id_finder;
mod members;
mod outline;
mod reader;

pub use envelope::{BadFrame, Batch, Envelope, EnvelopeError, Kind, Message};
pub use id::{Id, key};
pub use id_finder::{Awaited, IdFinder};
pub use members::{Members, object};
pub use outline::outline;
pub use reader::{Found, FrameReader, Line, ROOM, TooLong};
