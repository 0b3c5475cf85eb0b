//! `${root}` and `${roots}` in a command line, a variable or a path map: the roots that a server runs in.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The first root.
const ROOT: &[u8] = b"${root}";
/// All of them.
const ROOTS: &[u8] = b"${roots}";

/// Whether a text has a place for the roots.
pub(crate) fn has_template(text: &OsStr) -> bool {
    let bytes = text.as_bytes();
    [ROOT, ROOTS].iter().any(|template| memchr::memmem::find(bytes, template).is_some())
}

/// An argument in these roots. One that is nothing but `${roots}` gives them to the server: it becomes one argument for each, as the
/// server calls it.
pub(crate) fn in_argument(argument: &OsStr, places: &[&Path], called: &[&Path]) -> Vec<OsString> {
    if argument.as_bytes() == ROOTS {
        return called.iter().map(OsString::from).collect();
    }
    vec![filled_in(argument, places)]
}

/// A text with its templates filled in. The names of the roots are not searched for templates.
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

/// All roots in one text, as `PATH` has it.
pub(crate) fn joined(places: &[&Path], between: &str) -> OsString {
    places.iter().map(|place| place.as_os_str()).collect::<Vec<_>>().join(OsStr::new(between))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_stand_where_they_are_wanted() {
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
