//! The rules that a path follows: POSIX or Windows.
//!
//! This is a parameter rather than a `cfg`, so that both sets of rules are tested on every system.

/// The rules of a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PathStyle {
    /// `/` separates, case matters, names may contain any byte except NUL.
    #[default]
    Posix,
    /// `\` and `/` separate, case is ignored in comparisons, a drive or share comes first.
    Windows,
}

impl PathStyle {
    /// The rules of the target system.
    pub const NATIVE: PathStyle = if cfg!(windows) { PathStyle::Windows } else { PathStyle::Posix };
}
