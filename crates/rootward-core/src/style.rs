//! Whose rules a path text follows: POSIX or Windows.
//!
//! A parameter rather than a `cfg`, so that both sets of rules are tested on every system.

/// The rules of a path text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PathStyle {
    /// `/` separates, case matters, any byte but NUL may stand in a name.
    #[default]
    Posix,
    /// `\` and `/` separate, case is ignored in comparison, drives and shares come first.
    Windows,
}

impl PathStyle {
    /// The rules of the system this was compiled for.
    pub const NATIVE: PathStyle = if cfg!(windows) { PathStyle::Windows } else { PathStyle::Posix };
}
