//! The tools, one file for each.

mod list_directory;
mod read_text_file;
mod search_content;
mod write_file;

use crate::tool::Listed;

/// All of them, in the order in which they are listed.
pub(crate) static TOOLS: &[Listed] = &[
    Listed::of::<read_text_file::ReadFile>(),
    Listed::of::<read_text_file::ReadTextFile>(),
    Listed::of::<write_file::WriteFile>(),
    Listed::of::<list_directory::ListDirectory>(),
    Listed::of::<search_content::SearchContent>(),
];
