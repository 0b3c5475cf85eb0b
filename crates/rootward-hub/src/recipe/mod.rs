//! Recipes: what a known server needs to work confined, as data. One small TOML file for each server.
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
//! A recipe adds: variables that pass, places that open, options at the end of the command, a home that lasts. It never takes a check away, except that it says which
//! arguments of the server's tools are text. So it counts only for a server that is known beyond doubt (`matching.rs`), it opens no secret
//! place and not all sockets, and `rootward wrap` says at the start what it adds.
//!
//! - [`Book`]: the shipped recipes and the user's own; [`Book::find_ambient`] finds the one for a command.
//! - [`Recipe`]: one of them; [`Recipe::read`] reads the text. [`learned`] writes one.

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

pub use append::{Append, Around};
pub use book::{Book, BookError};
pub use matching::{Match, NotUsed};

/// What a known server needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recipe {
    /// The name of its file, without the ending.
    pub name: String,
    /// What the server does, in a few words.
    pub about: String,
    /// The packages that contain the server, by their full names.
    pub packages: Vec<(Registry, String)>,
    /// Its programs: a name, or an absolute path.
    pub programs: Vec<String>,
    /// The variables that it reads.
    pub env: Vec<PassedVariable>,
    /// Variables that it gets with these values, unless the user sets them. `${home}` is its home, `${root}` its first root,
    /// `${userHome}` at the beginning the user's own home: then the variable is set only if the place exists. `${git:user.name}` and
    /// `${git:user.email}` are what git's configuration says, see [`Recipe::git_value_ambient`].
    pub set: BTreeMap<String, String>,
    /// Options that are added to the end of its command.
    pub append: Vec<Append>,
    /// Which of its processes may read their own files in `/proc`.
    pub own_proc: OwnProc,
    /// Which home it has, unless a flag says otherwise.
    pub home: Option<HomeKind>,
    /// How it takes directories.
    pub directories: Option<Takes>,
    /// What arguments of its tools are, by `TOOL.ARGUMENT`; `*` is every tool.
    pub arguments: BTreeMap<String, Treatment>,
    /// Places that open.
    pub allow: Allow,
    /// What its user has to know, or to do by hand.
    pub notes: Vec<String>,
}

/// Places that a recipe opens: absolute, or from `~`, which is the user's own home.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Allow {
    /// For reading and running.
    pub read: Vec<PathBuf>,
    /// For reading and writing.
    pub write: Vec<PathBuf>,
    /// Unix sockets to connect to.
    pub sockets: Vec<PathBuf>,
}

/// Which home a server has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum HomeKind {
    /// One for each server and project. It lasts.
    #[default]
    Project,
    /// One for each server. It lasts.
    Shared,
    /// One for each start. It is removed when the server ends.
    Private,
    /// None: the directory that `HOME` names is empty and cannot be written.
    None,
}

impl HomeKind {
    /// All of them.
    pub const ALL: [HomeKind; 4] = [HomeKind::Project, HomeKind::Shared, HomeKind::Private, HomeKind::None];

    /// Its word in recipes and on the command line.
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
    /// As arguments. These options may have `true` or `false` behind them; any other word that begins with `-` is an option, too.
    Arguments {
        /// The options.
        switches: Vec<String>,
    },
    /// In this variable, with colons between them.
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

    /// Whether a value of [`Recipe::set`] comes from the configuration of git.
    pub fn is_from_git(value: &str) -> bool {
        git_user::key(value).is_some()
    }

    /// What git's configuration in this home says for such a value: the user's name or address.
    pub fn git_value_ambient(value: &str, home: &Path) -> Option<String> {
        git_user::find_ambient(home, git_user::key(value)?)
    }

    /// Whether this recipe is for a package.
    pub fn is_for_package(&self, registry: Registry, name: &str) -> bool {
        self.packages.iter().any(|(known, own)| *known == registry && own == name)
    }
}
