//! A door as most servers implement it: make the path absolute, resolve it, compare it with the roots as text, then open
//! it by name.
//!
//! It exists to fail the tests. Its bugs are published ones: a prefix test without a separator (CVE-2025-53110), an error
//! mistaken for "a new file" (CVE-2025-53109), and check and open as two steps.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::door::{Door, Outcome, Request};
use crate::escape::Act;

/// Checks a name, then opens it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Naive;

impl Door for Naive {
    fn act(&self, request: &Request) -> Outcome {
        match granted(request, &request.path) {
            Ok(path) => perform(request, &path).unwrap_or_else(|error| Outcome::failed(&error)),
            Err(outcome) => outcome,
        }
    }
}

/// The path to open, if it seems to lie in a root.
fn granted(request: &Request, text: &[u8]) -> Result<PathBuf, Outcome> {
    let text = Path::new(OsStr::from_bytes(text));
    let first = request.roots.first().map(|root| root.path.as_path());
    let path = match request.base.as_deref().or(first) {
        Some(base) => base.join(text),
        None => text.to_path_buf(),
    };
    let real = path.canonicalize().or_else(|_| new_file(&path)).map_err(|error| Outcome::failed(&error))?;
    let inside = request.roots.iter().filter_map(|root| root.path.canonicalize().ok()).any(|root| {
        // The bug of CVE-2025-53110: a prefix without a separator matches.
        real.as_os_str().as_bytes().starts_with(root.as_os_str().as_bytes())
    });
    let refusal = || Outcome::denied("outside_roots", format!("path `{}` is outside every root", text.display()));
    if inside { Ok(path) } else { Err(refusal()) }
}

/// The bug of CVE-2025-53109: treats every path that cannot be resolved as a new file.
fn new_file(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::NotFound)?;
    Ok(path.parent().ok_or(io::ErrorKind::NotFound)?.canonicalize()?.join(name))
}

pub(crate) fn perform(request: &Request, path: &Path) -> io::Result<Outcome> {
    let second = || match request.to.as_deref() {
        Some(to) => granted(request, to),
        None => Err(Outcome::Unsupported),
    };
    match request.act {
        Act::Check => {}
        Act::Read => {
            let content = Some(fs::read(path)?);
            return Ok(Outcome::Done { content, entries: None, place: None });
        }
        Act::List => {
            let names = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.file_name()));
            let entries = Some(names.collect::<io::Result<_>>()?);
            return Ok(Outcome::Done { content: None, entries, place: None });
        }
        Act::Stat => fs::metadata(path).map(|_| ())?,
        Act::Execute => drop(fs::File::open(path)?),
        Act::Put => fs::write(path, &request.data)?,
        Act::Append => fs::OpenOptions::new().append(true).open(path)?.write_all(&request.data)?,
        Act::CreateNew => fs::File::create_new(path)?.write_all(&request.data)?,
        Act::MakeDirectory => fs::create_dir(path)?,
        Act::Remove if fs::symlink_metadata(path)?.is_dir() => fs::remove_dir(path)?,
        Act::Remove => fs::remove_file(path)?,
        Act::Rename => match second() {
            Ok(to) => fs::rename(path, to)?,
            Err(outcome) => return Ok(outcome),
        },
        Act::Copy => match second() {
            Ok(to) => drop(fs::copy(path, to)?),
            Err(outcome) => return Ok(outcome),
        },
    }
    Ok(Outcome::done())
}
