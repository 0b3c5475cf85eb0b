//! Fills in `${root}` and `${roots}` in arguments, variables and path maps.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The first root.
const ROOT: &[u8] = b"${root}";
/// All roots.
const ROOTS: &[u8] = b"${roots}";

/// Whether a text contains `${root}` or `${roots}`.
pub fn has_root_template(text: &OsStr) -> bool {
    let bytes = text.as_bytes();
    [ROOT, ROOTS].iter().any(|template| memchr::memmem::find(bytes, template).is_some())
}

/// Fills in an argument. An argument that is exactly `${roots}` becomes one argument per root, under the server's own
/// names for them.
pub(crate) fn in_argument(argument: &OsStr, places: &[&Path], called: &[&Path]) -> Vec<OsString> {
    if argument.as_bytes() == ROOTS {
        return called.iter().map(OsString::from).collect();
    }
    vec![filled_in(argument, places)]
}

/// Fills in a text. Root paths are not searched for templates themselves.
pub(crate) fn filled_in(text: &OsStr, places: &[&Path]) -> OsString {
    let (mut filled, mut rest) = (Vec::new(), text.as_bytes());
    while let Some(at) = memchr::memmem::find(rest, b"${root") {
        filled.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix(ROOTS) {
            filled.extend_from_slice(joined(places, ":").as_bytes());
            rest = after;
        } else if let Some(after) = rest.strip_prefix(ROOT) {
            filled.extend_from_slice(places.first().map_or(&[], |place| place.as_os_str().as_bytes()));
            rest = after;
        } else {
            filled.push(rest[0]);
            rest = &rest[1..];
        }
    }
    filled.extend_from_slice(rest);
    OsString::from_vec(filled)
}

/// Joins all roots into one text, as in `PATH`.
pub(crate) fn joined(places: &[&Path], between: &str) -> OsString {
    places.iter().map(|place| place.as_os_str()).collect::<Vec<_>>().join(OsStr::new(between))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_filled_in() {
        let places = [Path::new("/a"), Path::new("/b ${root}")];
        let check = |text: &str, expect: &[&str]| {
            assert_eq!(in_argument(OsStr::new(text), &places, &places), expect, "{text}");
        };
        check("${roots}", &["/a", "/b ${root}"]);
        check("--dir=${root}", &["--dir=/a"]);
        check("--dirs=${roots};${root}", &["--dirs=/a:/b ${root};/a"]);
        check("$root ${rooted} ${root", &["$root ${rooted} ${root"]);
        assert_eq!(in_argument(OsStr::new("${roots}"), &[], &[]), Vec::<OsString>::new());
        let called = [Path::new("/projects")];
        assert_eq!(in_argument(OsStr::new("${roots}"), &places, &called), ["/projects"]);
        assert_eq!(in_argument(OsStr::new("${root}:/projects"), &places, &called), ["/a:/projects"]);
        assert_eq!(in_argument(OsStr::new("x${root}"), &[], &[]), ["x"]);
    }
}
