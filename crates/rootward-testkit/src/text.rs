//! The template notation of the corpus: text with placeholders that expands to bytes.
//!
//! Trees, roots, link targets and paths all use it. So a row can be a constant although its tree is in a new temporary
//! directory each time, and bytes that are not UTF-8 and very long paths stay readable.
//!
//! | placeholder | becomes |
//! |---|---|
//! | `{T}` | the absolute path of the tree |
//! | `{pid}` | the id of this process |
//! | `{x:c0af}` | the bytes `c0 af` |
//! | `{../*40}` | `../` forty times |
//! | `{/=4095}` | `/`, repeated until the whole text is 4095 bytes long |

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Expands the placeholders of `template`. `top` is the value of `{T}`.
pub fn expand(template: &str, top: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(template.len() + 64);
    let mut fill: Option<(usize, &str, usize)> = None;
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        bytes.extend_from_slice(before.as_bytes());
        let (inner, after) = after.split_once('}').ok_or_else(|| wrong(template))?;
        rest = after;
        if inner == "T" {
            bytes.extend_from_slice(top.as_os_str().as_bytes());
        } else if inner == "pid" {
            bytes.extend_from_slice(std::process::id().to_string().as_bytes());
        } else if let Some(digits) = inner.strip_prefix("x:") {
            bytes.extend(hexadecimal(digits).ok_or_else(|| wrong(template))?);
        } else if let Some((piece, count)) = inner.rsplit_once('*') {
            let count: usize = count.parse().map_err(|_| wrong(template))?;
            bytes.extend_from_slice(piece.repeat(count).as_bytes());
        } else if let Some((piece, length)) = inner.rsplit_once('=') {
            let length: usize = length.parse().map_err(|_| wrong(template))?;
            fill = Some((bytes.len(), piece, length));
        } else {
            return Err(wrong(template));
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    if let Some((position, piece, length)) = fill {
        let missing = length.checked_sub(bytes.len()).ok_or_else(|| wrong(template))?;
        if piece.is_empty() || missing % piece.len() != 0 {
            return Err(wrong(template));
        }
        let padding = piece.repeat(missing / piece.len());
        bytes.splice(position..position, padding.into_bytes());
    }
    Ok(bytes)
}

/// [`expand`], as a path.
pub fn expand_path(template: &str, top: &Path) -> io::Result<PathBuf> {
    Ok(PathBuf::from(OsString::from_vec(expand(template, top)?)))
}

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

fn wrong(template: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("not a template: `{template}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_expand() {
        let check = |template: &str, expected: Option<&[u8]>| {
            assert_eq!(expand(template, Path::new("/tmp/t")).ok().as_deref(), expected, "{template}");
        };
        check("plain", Some(b"plain"));
        check("{T}/root", Some(b"/tmp/t/root"));
        check("a{x:c0af}b", Some(b"a\xc0\xafb"));
        check("{../*3}x", Some(b"../../../x"));
        check("{T}{/=10}in", Some(b"/tmp/t//in"));
        check("{T}{/=3}in", None);
        check("{ab=8}c", None);
        check("{x:c}", None);
        check("{unknown}", None);
        check("{T", None);
    }
}
