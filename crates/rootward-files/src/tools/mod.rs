//! The tools, one file for each; those of the set `project` have their own directory.

mod append_file;
mod copy_file;
mod create_directory;
mod delete_file;
mod directory_tree;
mod edit_file;
mod get_file_info;
mod get_roots;
mod list_allowed_directories;
mod list_directory;
mod list_directory_with_sizes;
mod move_file;
mod path_in_roots;
mod project;
mod read_media_file;
mod read_multiple_files;
mod read_text_file;
mod roots;
mod search_content;
mod search_files;
mod shell;
mod write_file;

use crate::tool::Listed;

pub(crate) use project::PROJECT_TOOLS;
pub(crate) use project::analyze_project::text as overview_text;

/// The file tools, in list order.
pub(crate) static TOOLS: &[Listed] = &[
    Listed::of::<read_text_file::ReadTextFile>(),
    Listed::of::<read_text_file::ReadFile>(),
    Listed::of::<read_media_file::ReadMediaFile>(),
    Listed::of::<read_multiple_files::ReadMultipleFiles>(),
    Listed::of::<write_file::WriteFile>(),
    Listed::of::<append_file::AppendFile>(),
    Listed::of::<edit_file::EditFile>(),
    Listed::of::<create_directory::CreateDirectory>(),
    Listed::of::<list_directory::ListDirectory>(),
    Listed::of::<list_directory_with_sizes::ListDirectoryWithSizes>(),
    Listed::of::<directory_tree::DirectoryTree>(),
    Listed::of::<search_files::SearchFiles>(),
    Listed::of::<search_content::SearchContent>(),
    Listed::of::<move_file::MoveFile>(),
    Listed::of::<copy_file::CopyFile>(),
    Listed::of::<delete_file::DeleteFile>(),
    Listed::of::<get_file_info::GetFileInfo>(),
    Listed::of::<list_allowed_directories::ListAllowedDirectories>(),
    Listed::of::<path_in_roots::PathInRoots>(),
    Listed::of::<shell::Shell>(),
];

/// The tools of the set `roots`, in list order.
pub(crate) static ROOTS_TOOLS: &[Listed] = &[Listed::of::<get_roots::GetRoots>(), Listed::of::<roots::ListRoots>()];
