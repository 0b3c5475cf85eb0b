//! Finds the paths in what a client sends.
//!
//! # What counts as a path
//!
//! The first that speaks decides:
//!
//! 1. What the user says about an argument ([`Treatment`]).
//! 2. The schema: the server's own marker (`x-rootward-access`, or `"format": "rooted-path"`), then `uri`, `path`, `file-path` and their like.
//! 3. The key ([`key_says`]), in any case style, one or many: `path`, `file`, `directory`, `folder` anywhere in it; a word such as
//!    `dir`, `cwd`, `root`, `uri`, `source`, `destination`. Whatever stands there is a path, also if it has several lines. The
//!    exceptions: content of a file (`file_text`, `sourceCode`); a `source`, `target`, `url`, `repo` or the like of several lines,
//!    which is text.
//! 4. The description in the schema, where it speaks of files or directories and the key does not say text.
//! 5. The value: it begins with `/`, `~`, `./`, `../`, a drive or a share, climbs above its start, or holds `file://`; also with
//!    blanks and quotes around it, and with percent escapes. Not under keys that mean text (`content`, `query`, …), not if it
//!    has several lines, not if the schema says it is a date or the like.
//!
//! A string that only its value makes a path is text where the kernel holds the server and the string leads nowhere: it is absolute, no
//! reading of it has `..`, and in every reading its first name does not exist in `/` ([`Held`]). `/facebook/react` is the id of a
//! library. A whole `file:` URI is a path under every key.
//!
//! A list's members stand under the list's key. The keys of objects are looked at by the last rule, because maps from path to
//! content exist. A string that holds a JSON list or object is looked into, because servers do that (`FastMCP`), except where it
//! is text. The members of `_meta` are the host's own words, not arguments. Values of another scheme (`https:`) are not paths, unless they climb above their start.
//!
//! # What is asked for
//!
//! The access that a path needs ([`Need`]) is what the schema's marker says; else what the verbs of the tool's name and its
//! annotations say; else reading and writing. Where a key or a description only makes it likely that a word is a path
//! ([`Certainty::Likely`]), and the word names nothing inside, too little access is no reason to refuse it; lying outside is.
//!
//! # What is refused as it is
//!
//! Params in which a key stands twice (in `_meta`, too), or that nest too deep, or hold too much: readers differ in what they make of them.

mod access;
mod decode;
mod expansion;
mod json;
mod method;
mod nowhere;
mod readings;
mod rewriting;
mod schema;
mod template;
mod tool;
mod value;
mod walk;
mod words;

pub use access::{Last, Need};
pub use expansion::Expansion;
pub(crate) use method::acts;
pub use nowhere::Held;
pub(crate) use nowhere::Top;
pub(crate) use readings::{Form, Reader, Stop};
pub(crate) use rewriting::{LONGEST_PATH, names_nothing};
pub use tool::{Tool, Treatment};
pub(crate) use value::{climbs, has_another_scheme};
pub use walk::{Call, Candidate, Certainty, ScanError, Why, scan, tool_name};
pub use words::{KeySays, key_says};
