//! Wire conversations as text files: what a client says, what a server must answer, frame by frame.
//!
//! A transcript opens with a comment that says what it pins. It knows nothing of the server but that it reads and writes a
//! JSON-RPC message per line, so whatever speaks MCP can be held to the same files. The format is described in
//! `testdata/transcripts/README.md`.
//!
//! Two implementations are held to them, each in its crate's tests: the [`Side`] says which.
//!
//! ```
//! use rootward_testkit::transcript::{Side, Transcript};
//!
//! let text = "# Ids are kept, whatever kind they are.\n\
//!     client: {\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}\n\
//!     server: {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{...}}\n";
//! assert_eq!(Transcript::parse(text, Side::Library)?.about(), "Ids are kept, whatever kind they are.");
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

/// A conversation.
#[derive(Clone, Debug)]
pub struct Transcript {
    about: String,
    side: Side,
    standing: Standing,
    steps: Vec<(usize, Step)>,
}

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    /// `settings: …`: words that hold for connections opened from here on.
    Settings(Vec<String>),
    /// `client NAME: …`: a frame is sent.
    Client(String, Frame),
    /// `server NAME: …`: this frame comes next, and no other; with `also: …`, these do, in any order.
    Server(String, Vec<Frame>),
    /// `wait TIME`: nothing comes meanwhile, on any connection.
    Wait(Duration),
    /// `sleep TIME`: this much real time passes, for clocks that cannot be wound on.
    Sleep(Duration),
    /// `hang up NAME`: the connection is closed, and nothing was left to be said.
    HangUp(String),
    /// `forge NEW from OLD`: a sealed text with one letter changed.
    Forge { new: String, old: String },
    /// `mkdir`, `write`, `link`, `remove`.
    Change(Change),
}

impl Transcript {
    /// Reads a transcript as it is played through `side`. Everything in it must be understood.
    pub fn parse(text: &str, side: Side) -> Result<Transcript, Wrong> {
        read::read(text, side)
    }

    /// The comment that it opens with.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Whether its side keeps to it.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }
}

/// A transcript that is not understood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// The line, from 1.
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

/// The texts of all `.txt` files of a directory, by name. A directory without any is an error: nothing would be tested.
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
