//! Finds the paths in a client's message.
//!
//! # What counts as a path
//!
//! The first rule that applies decides:
//!
//! 1. The user's override for an argument ([`Treatment`]).
//! 2. The schema: the server's own marker (`x-rootward-access`, or `"format": "rooted-path"`), then `uri`, `path`, `file-path` and similar
//!    formats.
//! 3. The key ([`key_says`]), in any case style, singular or plural: `path`, `file`, `directory`, `folder` anywhere
//!    in it, or a word such as `dir`, `cwd`, `root`, `uri`, `source`, `destination`. The value is then a path, even
//!    if it has several lines. Exceptions: file content (`file_text`, `sourceCode`), and a multi-line `source`,
//!    `target`, `url`, `repo` or similar, which is text.
//! 4. The description in the schema, if it mentions files or directories and the key does not indicate text.
//! 5. The value: it starts with `/`, `~`, `./`, `../`, a drive or a share, climbs above its start, or contains
//!    `file://`, even with surrounding blanks and quotes or with percent escapes. This rule does not apply under keys
//!    that mean text (`content`, `query`, …), to multi-line values, or if the schema says that the value is a date or
//!    similar.
//!
//! A string that is a path only by rule 5 is treated as text if the kernel confines the server and the string leads
//! nowhere: it is absolute, no reading of it contains `..`, and in every reading its first component does not exist
//! in `/` ([`Protection`]). For example, `/facebook/react` is a library id. A whole `file:` URI is a path under every key.
//!
//! Members of a list have the list's key. Keys of objects are checked by the last rule, because some tools take maps
//! from path to content. A string that contains a JSON list or object is parsed and scanned, because servers do that
//! (`FastMCP`), unless it is text. The members of `_meta` come from the host and are not arguments. Values with
//! another scheme (`https:`) are not paths, unless they climb above their start.
//!
//! # Required access
//!
//! The access that a path needs ([`Need`]) comes from the schema's marker; else from the verbs in the tool's name and
//! its annotations; else it is reading and writing. If a key or description only makes it likely that a word is a
//! path ([`Certainty::Likely`]), and the word names nothing inside the roots, missing access is no reason to refuse
//! it; being outside the roots is.
//!
//! # Rejected params
//!
//! Params with a duplicate key (also in `_meta`), or that nest too deep or contain too many paths, because parsers
//! disagree on them. So are params that name one of the protocol's own keys in another case.
//!
//! An argument's key that the schema or the user lists only in another case is not rejected, because a tool may take
//! free keys beside the listed ones. Its value is judged as under the listed key and as under a key that is not
//! listed: if it is a path in one of the two, it is a path. An override as text applies to no other case.

mod access;
mod decode;
mod expansion;
mod json;
mod method;
mod nodes;
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
pub use nowhere::Protection;
pub(crate) use nowhere::Top;
pub(crate) use readings::{Form, Reader, Stop};
pub(crate) use rewriting::{LONGEST_PATH, names_nothing};
pub use tool::{Tool, Treatment};
pub(crate) use value::{climbs, has_another_scheme};
pub use walk::{Call, Candidate, Certainty, Evidence, ScanError, scan, tool_name};
pub use words::{KeySays, key_says};
