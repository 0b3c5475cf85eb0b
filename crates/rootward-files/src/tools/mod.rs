//! The tools, one file for each.

mod append_file;
mod copy_file;
mod create_directory;
mod delete_file;
mod edit_file;
mod list_directory;
mod move_file;
mod read_text_file;
mod shell;
mod write_file;

use crate::tool::Listed;

/// All of them, in the order in which they are listed.
pub(crate) static TOOLS: &[Listed] = &[
    Listed::of::<read_text_file::ReadFile>(),
    Listed::of::<read_text_file::ReadTextFile>(),
    Listed::of::<write_file::WriteFile>(),
    Listed::of::<append_file::AppendFile>(),
    Listed::of::<edit_file::EditFile>(),
    Listed::of::<create_directory::CreateDirectory>(),
    Listed::of::<list_directory::ListDirectory>(),
    Listed::of::<move_file::MoveFile>(),
    Listed::of::<copy_file::CopyFile>(),
    Listed::of::<delete_file::DeleteFile>(),
    Listed::of::<shell::Shell>(),
];
