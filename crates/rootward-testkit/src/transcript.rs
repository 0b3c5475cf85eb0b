//! Wire conversations as text files: what a client sends and what a server must answer, frame by frame.
//!
//! A transcript begins with a comment that says what it tests. It assumes only that the server reads and writes one JSON-RPC
//! message per line, so any MCP server can be tested with the same files. `testdata/transcripts/README.md` describes the format.
//!
//! Two implementations play them, each in its own crate's tests. [`Side`] says which.
//!
//! ```
//! use rootward_testkit::transcript::{Side, Transcript};
//!
//! let text = "# Responses keep every kind of id.\n\
//!     client: {\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}\n\
//!     server: {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{...}}\n";
//! assert_eq!(Transcript::parse(text, Side::Library)?.about(), "Responses keep every kind of id.");
//! # Ok::<(), rootward_testkit::transcript::Wrong>(())
//! ```

mod frame;
mod pattern;
mod play;
mod read;
mod settings;
mod side;
mod stage;
mod suite;

pub use crate::client::{Line, Received};
pub use play::{Difference, Server, play};
pub use settings::{Refusals, Settings};
pub use side::{Side, Standing};
pub use stage::Stage;
pub use suite::{Report, play_all};

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use frame::Frame;
use stage::Change;

/// A parsed transcript.
#[derive(Clone, Debug)]
pub struct Transcript {
    about: String,
    side: Side,
    standing: Standing,
    steps: Vec<(usize, Step)>,
}

/// One step of a transcript.
#[derive(Clone, Debug)]
enum Step {
    /// `settings: …`: settings for connections opened from here on.
    Settings(Vec<String>),
    /// `client NAME: …`: the client sends a frame.
    Client(String, Frame),
    /// `server NAME: …`: the server's next frame. With `also: …`, its next frames, in any order.
    Server(String, Vec<Frame>),
    /// `wait TIME`: the server sends nothing meanwhile, on any connection.
    Wait(Duration),
    /// `sleep TIME`: this much real time passes, for clocks that a test cannot advance.
    Sleep(Duration),
    /// `hang up NAME`: the client closes the connection, and the server sends nothing more.
    HangUp(String),
    /// `forge NEW from OLD`: a sealed string with one character changed.
    Forge { new: String, old: String },
    /// `mkdir`, `write`, `link`, `remove`.
    Change(Change),
}

impl Transcript {
    /// Parses a transcript for `side`. Any line that it cannot parse is an error.
    pub fn parse(text: &str, side: Side) -> Result<Transcript, Wrong> {
        read::read(text, side)
    }

    /// The comment at the top of the file.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Whether its side is expected to pass.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }
}

/// A transcript that cannot be parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// The line number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub says: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.says)
    }
}

impl std::error::Error for Wrong {}

/// Reads all `.txt` files of a directory, sorted by name. A directory without any is an error, because it would test nothing.
pub fn load(directory: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let at = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", directory.display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(at)? {
        let path = entry.map_err(at)?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let text = fs::read_to_string(&path)?;
            found.push((path, text));
        }
    }
    if found.is_empty() {
        return Err(at(io::Error::new(io::ErrorKind::NotFound, "no transcripts")));
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_without_transcripts_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(load(directory.path()).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(load(&directory.path().join("missing")).is_err());
        fs::write(directory.path().join("b.txt"), "b").unwrap();
        fs::write(directory.path().join("a.txt"), "a").unwrap();
        fs::write(directory.path().join("README.md"), "x").unwrap();
        let texts: Vec<String> = load(directory.path()).unwrap().into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["a", "b"]);
    }
}
