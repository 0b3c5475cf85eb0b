//! Recipes: what a known server needs to work confined, as data. One small TOML file per server.
//!
//! ```toml
//! about = "remembers facts in a file"
//! packages = ["npm:@modelcontextprotocol/server-memory"]
//! programs = ["mcp-server-memory"]
//! env = ["MEMORY_FILE_PATH"]
//!
//! [set]
//! MEMORY_FILE_PATH = "${home}/memory.jsonl"
//! ```
//!
//! A recipe can pass variables, open places, append options and provide a persistent home. It never removes a check,
//! except that it can declare arguments of the server's tools to be text. So it is used only for a server that is
//! known beyond doubt (`matching.rs`), it opens no secret place and not all sockets, and `rootward wrap` reports at
//! the start what it adds.
//!
//! - [`Book`]: the shipped recipes and the user's own; [`Book::find_ambient`] finds the one for a command.
//! - [`Recipe`]: one recipe; [`Recipe::read`] parses its text. [`learned`] writes one.

mod append;
mod book;
mod git_user;
pub mod learned;
mod matching;
pub(crate) mod reading;
mod shipped;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rootward_sandbox::{OwnProc, PassedVariable, Registry};
use thiserror::Error;

use crate::scan::Treatment;

pub use append::{Append, LaunchFacts};
pub use book::{Book, BookError};
pub use matching::{Match, NotUsed};

/// What a known server needs to work confined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recipe {
    /// The file name without its extension.
    pub name: String,
    /// What the server does, in a few words.
    pub about: String,
    /// The packages that contain the server, by full name.
    pub packages: Vec<(Registry, String)>,
    /// Its programs: names or absolute paths.
    pub programs: Vec<String>,
    /// The environment variables that it reads.
    pub env: Vec<PassedVariable>,
    /// Variables that are set to these values, unless the user sets them. `${home}` is the server's home, `${root}`
    /// its first root. `${userHome}` at the start is the user's home; such a variable is set only if the path exists.
    /// `${git:user.name}` and `${git:user.email}` come from git's configuration, see [`Recipe::git_value_ambient`].
    pub set: BTreeMap<String, String>,
    /// Options that are appended to its command.
    pub append: Vec<Append>,
    /// Which of its processes may read their own files in `/proc`.
    pub own_proc: OwnProc,
    /// Which home it gets, unless a flag overrides it.
    pub home: Option<HomeKind>,
    /// How it takes directories.
    pub directories: Option<Takes>,
    /// How to treat arguments of its tools, by `TOOL.ARGUMENT`; `*` matches every tool.
    pub arguments: BTreeMap<String, Treatment>,
    /// Places that the recipe opens.
    pub allow: Allow,
    /// What the user has to know or do by hand.
    pub notes: Vec<String>,
}

/// Places that a recipe opens: absolute, or starting with `~`, the user's own home.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Allow {
    /// For reading and executing.
    pub read: Vec<PathBuf>,
    /// For reading and writing.
    pub write: Vec<PathBuf>,
    /// Unix sockets to connect to.
    pub sockets: Vec<PathBuf>,
}

/// Which home directory a server gets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum HomeKind {
    /// One per server and project. It persists.
    #[default]
    Project,
    /// One per server. It persists.
    Shared,
    /// One per start. It is removed when the server ends.
    Private,
    /// None: `HOME` names an empty directory that cannot be written to.
    None,
}

impl HomeKind {
    /// All kinds.
    pub const ALL: [HomeKind; 4] = [HomeKind::Project, HomeKind::Shared, HomeKind::Private, HomeKind::None];

    /// The word for it in recipes and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            HomeKind::Project => "project",
            HomeKind::Shared => "shared",
            HomeKind::Private => "private",
            HomeKind::None => "none",
        }
    }
}

/// How a server takes directories, besides asking for roots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Takes {
    /// As arguments. These options may be followed by `true` or `false`; any other word that starts with `-` is also
    /// an option.
    Arguments {
        /// The options.
        switches: Vec<String>,
    },
    /// In this variable, separated by colons.
    Variable(String),
}

/// What is wrong with a recipe, and where.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct RecipeError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub reason: String,
}

impl Recipe {
    /// Reads the text of a recipe.
    pub fn read(name: &str, text: &str) -> Result<Recipe, RecipeError> {
        reading::read(name, text)
    }

    /// Whether a value of [`Recipe::set`] comes from git's configuration.
    pub fn is_from_git(value: &str) -> bool {
        git_user::key(value).is_some()
    }

    /// The user's name or email address from git's configuration in this home.
    pub fn git_value_ambient(value: &str, home: &Path) -> Option<String> {
        git_user::find_ambient(home, git_user::key(value)?)
    }

    /// Whether this recipe is for a package.
    pub fn is_for_package(&self, registry: Registry, name: &str) -> bool {
        self.packages.iter().any(|(known, own)| *known == registry && own == name)
    }
}
