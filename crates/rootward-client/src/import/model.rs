//! The results, in one form for all clients.

use std::fmt;
use std::io;
use std::path::PathBuf;

use rootward_core::Access;
use thiserror::Error;

use crate::store::Mistake;

/// A client whose files are read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Cursor.
    Cursor,
    /// VS Code.
    VsCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// opencode.
    Opencode,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
}

impl Client {
    /// All of them.
    pub const ALL: [Client; 9] = [
        Client::ClaudeCode,
        Client::ClaudeDesktop,
        Client::Cursor,
        Client::VsCode,
        Client::Codex,
        Client::GeminiCli,
        Client::Opencode,
        Client::Windsurf,
        Client::Zed,
    ];

    /// Its name for programs, and for saving a root for it.
    pub fn name(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::ClaudeDesktop => "claude-desktop",
            Client::Cursor => "cursor",
            Client::VsCode => "vscode",
            Client::Codex => "codex",
            Client::GeminiCli => "gemini-cli",
            Client::Opencode => "opencode",
            Client::Windsurf => "windsurf",
            Client::Zed => "zed",
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Client::ClaudeCode => "Claude Code",
            Client::ClaudeDesktop => "Claude Desktop",
            Client::Cursor => "Cursor",
            Client::VsCode => "VS Code",
            Client::Codex => "Codex",
            Client::GeminiCli => "Gemini CLI",
            Client::Opencode => "opencode",
            Client::Windsurf => "Windsurf",
            Client::Zed => "Zed",
        })
    }
}

/// Everything that was read.
#[derive(Debug, Default)]
pub struct Import {
    /// The files that exist.
    pub files: Vec<Imported>,
    /// The files that exist but could not be read.
    pub unread: Vec<UnreadFile>,
}

/// One file.
#[derive(Debug)]
pub struct Imported {
    /// Its client.
    pub client: Client,
    /// Its path.
    pub file: PathBuf,
    /// Who wrote it.
    pub holder: Holder,
    /// What it says.
    pub found: FileContents,
}

/// A file that could not be read.
#[derive(Debug)]
pub struct UnreadFile {
    /// Its client.
    pub client: Client,
    /// Its path.
    pub file: PathBuf,
    /// Why not.
    pub error: ImportError,
}

/// Who is responsible for a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Holder {
    /// The user: it is in one of the user's own places.
    User,
    /// The author of the project, which may be anybody.
    Project,
}

/// What a file says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileContents {
    /// The servers, in the file's order.
    pub servers: Vec<Server>,
    /// Directories that the file names for the client itself.
    pub roots: Vec<SuggestedRoot>,
    /// What looked like a server or a directory and was not understood.
    pub not_understood: Vec<Mistake>,
}

/// A server that a client starts or calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// The client's name for it.
    pub name: String,
    /// Where the client uses it.
    pub scope: Scope,
    /// Whether the client would start it.
    pub enabled: Enabled,
    /// How it is reached.
    pub transport: Transport,
    /// Directories that its entry names.
    pub roots: Vec<SuggestedRoot>,
}

/// Where a client uses a server.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Scope {
    /// Everywhere.
    User,
    /// In one project, by its path as written in the file.
    Project(String),
}

/// Whether a client would start a server.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Enabled {
    /// It would.
    On,
    /// It is disabled.
    Off,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Transport {
    /// As a process of its own.
    Command(ConfiguredCommand),
    /// Over the network.
    Remote(Remote),
}

/// A command as written in the file: the client expands its variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfiguredCommand {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its variables. Often secrets.
    pub variables: Vec<(String, String)>,
    /// Names of variables that the client passes on from its own environment.
    pub passed: Vec<String>,
    /// A file with more variables.
    pub variables_file: Option<String>,
    /// What is known about that file.
    pub from_file: FileVariables,
    /// Where it is started.
    pub directory: Option<String>,
}

/// What is known about a file with variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum FileVariables {
    /// Nothing: it was not read, or there is none.
    #[default]
    Unread,
    /// Its variables, in its order. Often secrets.
    Known(Vec<(String, String)>),
    /// A confined server may be able to write it.
    Doubtful,
}

impl FileVariables {
    /// Its variables, as far as they are known.
    pub fn known(&self) -> &[(String, String)] {
        match self {
            FileVariables::Known(variables) => variables,
            FileVariables::Unread | FileVariables::Doubtful => &[],
        }
    }
}

/// A URL and its headers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remote {
    /// The URL.
    pub url: String,
    /// The headers. Often secrets.
    pub headers: Vec<(String, String)>,
}

/// A directory that could be shared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuggestedRoot {
    /// As written in the file.
    pub text: String,
    /// The path it means; `None` if that would be a guess.
    pub path: Option<PathBuf>,
    /// The access that the server uses it with.
    pub access: Access,
    /// Why it is suggested.
    pub why: SuggestedBy,
}

/// Why a directory is suggested.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SuggestedBy {
    /// It is an argument of a file server.
    FileServer,
    /// The value of this option.
    Option(String),
    /// An argument that is a path.
    Argument,
    /// Mounted into a container.
    Mount,
    /// Where the server is started.
    WorkingDirectory,
    /// Listed under this key.
    Listed(&'static str),
    /// A project that the user trusted.
    TrustedProject,
}

impl fmt::Display for SuggestedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SuggestedBy::FileServer => f.write_str("passed to the file server"),
            SuggestedBy::Option(name) => write!(f, "passed as `{}`", rootward_core::Shown::new(name)),
            SuggestedBy::Argument => f.write_str("an argument that is a path"),
            SuggestedBy::Mount => f.write_str("mounted into the container"),
            SuggestedBy::WorkingDirectory => f.write_str("where it is started"),
            SuggestedBy::Listed(key) => write!(f, "in `{key}`"),
            SuggestedBy::TrustedProject => f.write_str("a trusted project"),
        }
    }
}

/// Why a file could not be read.
#[derive(Error, Debug)]
pub enum ImportError {
    /// The system refused to read it.
    #[error("{0}")]
    System(#[from] io::Error),
    /// It is not a regular file.
    #[error("not a regular file")]
    Special,
    /// It is larger than the limit.
    #[error("larger than {} MiB", limit >> 20)]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// It is closed, or a link leads out of the project.
    #[error("{0}")]
    Refused(String),
    /// It is damaged.
    #[error("{0}")]
    Damaged(Mistake),
}
