//! Raw frames: lines of bytes, and the JSON-RPC envelope around what they carry.
//!
//! Only the envelope is parsed. The contents of a message keep their bytes, so that unknown fields, key order, big
//! numbers and spelling reach the other side unchanged.

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
