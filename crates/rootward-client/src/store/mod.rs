//! What the user chose to share, kept in a file that people can read and edit.
