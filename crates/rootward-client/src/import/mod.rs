//! Reads servers and directories from the config files of other clients: Claude Code, Claude Desktop, Cursor, VS
//! Code, Codex, Gemini CLI, opencode, Windsurf and Zed.
//!
//! It only reads: nothing is run, nothing is written, and the results are suggestions, never roots. The formats
//! belong to others, so unknown keys are ignored; a part of a server that is not understood is reported with its
//! line and column, not guessed.
//!
//! - [`user_ambient`]: the user's own files. [`project`]: those of one project, below a handle.
//! - [`parse`]: one file's text, without any file access.
//! - [`Imported`], [`Server`], [`SuggestedRoot`]: the results.
//! - [`rootward_core::secrets`]: a command line that is safe to show.
//!
//! ```
//! use rootward_client::import::{FileContext, Form, Transport, parse};
//!
//! let text = r#"{"mcpServers": {"notes": {"command": "npx", "args": ["-y", "mcp-server-filesystem", "/home/me/notes"]}}}"#;
//! let found = parse(Form::ClaudeDesktop, text, &FileContext::default())?;
//! let Transport::Command(line) = &found.servers[0].transport else { panic!() };
//! assert_eq!(line.program, "npx");
//! assert_eq!(found.servers[0].roots[0].text, "/home/me/notes");
//! # Ok::<(), rootward_client::store::Mistake>(())
//! ```

mod claude_code;
mod claude_desktop;
mod codex;
mod cursor;
mod directories;
mod entry;
#[cfg(test)]
pub(crate) mod fuzz;
mod gemini;
mod model;
mod node;
mod opencode;
mod places;
mod reader;
mod reading;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_clients;
mod variables;
mod vscode;
mod windsurf;
mod zed;

pub use model::{
    Client, ConfiguredCommand, Enabled, FileContents, FileVariables, Holder, Import, ImportError, Imported, Remote,
    Scope, Server, SuggestedBy, SuggestedRoot, Transport, UnreadFile,
};
pub use places::{Form, Place, Platform, project_files, user_files};
pub use reading::{project, user_ambient};
pub use variables::FileContext;

pub(crate) use entry::CommandShape;
pub(crate) use node::{Entry, JSON, Node, Value};
pub(crate) use variables::Syntax;

use crate::store::Mistake;
use reader::Reader;

/// The file's tree.
pub(crate) fn tree(form: Form, text: &str) -> Result<Node, Mistake> {
    if form == Form::Codex { node::toml(text) } else { node::json(text) }
}

/// Parses one file's text.
///
/// # Errors
///
/// If the text is not in its format at all: then nothing in it can be trusted.
pub fn parse(form: Form, text: &str, around: &FileContext) -> Result<FileContents, Mistake> {
    let top = tree(form, text)?;
    let mut reader = Reader::new(text);
    match form {
        Form::ClaudeState => claude_code::state(&mut reader, &top, around),
        Form::ClaudeProject => claude_code::servers(&mut reader, &top, around),
        Form::ClaudeSettings => claude_code::settings(&mut reader, &top, around),
        Form::ClaudeDesktop => claude_desktop::servers(&mut reader, &top, around),
        Form::Cursor => cursor::servers(&mut reader, &top, around),
        Form::VsCode => vscode::servers(&mut reader, &top, around),
        Form::Codex => codex::config(&mut reader, &top, around),
        Form::Gemini => gemini::settings(&mut reader, &top, around),
        Form::Opencode => opencode::config(&mut reader, &top, around),
        Form::Windsurf => windsurf::servers(&mut reader, &top, around),
        Form::Zed => zed::settings(&mut reader, &top, around),
    }
    Ok(reader.found())
}
