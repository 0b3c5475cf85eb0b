//! `.idea`: projects of `JetBrains` editors. `.idea/.name` has the name if it differs from the directory's.

use crate::detect::Kind;
use crate::detect::found::Found;

/// The directory itself.
pub(in crate::detect) fn directory() -> Found {
    Found::likely(Kind::JetbrainsProject)
}

/// `.idea/.name`.
pub(in crate::detect) fn read_name(_file: &str, text: &str) -> Vec<Found> {
    vec![Found::likely(Kind::JetbrainsProject).named(Some(text))]
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn names() {
        let check = |text: &str, name| check(read_name, ".name", text, &[(Kind::JetbrainsProject, name, 0)]);
        check("My App\n", Some("My App"));
        check("two\nlines", None);
        check("", None);
        assert_eq!(directory().kind, Kind::JetbrainsProject);
    }
}
