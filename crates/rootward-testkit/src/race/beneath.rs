//! A door that resolves beneath the root's handle in one call, to prove that a door can win every race.
//!
//! It detects false alarms of the races themselves before a real door runs them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, ResolveFlags, open, openat2, renameat, unlinkat};
use rustix::io::Errno;

use crate::door::{Door, Outcome, Request};
use crate::escape::Act;

/// `openat2` with `RESOLVE_BENEATH`, for one root.
pub(super) struct Beneath;

impl Door for Beneath {
    fn act(&self, request: &Request) -> Outcome {
        act(request).unwrap_or_else(|error| match Errno::from_io_error(&error) {
            Some(Errno::XDEV) => Outcome::denied("outside_roots", "outside every root"),
            _ => Outcome::failed(&error),
        })
    }
}

fn act(request: &Request) -> io::Result<Outcome> {
    let place = &request.roots[0].path;
    let root = open(place, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let path = below(place, &request.path);
    let mut done = (None, None);
    match request.act {
        Act::Read => {
            let mut content = Vec::new();
            fs::File::from(beneath(&root, path, OFlags::RDONLY)?).read_to_end(&mut content)?;
            done.0 = Some(content);
        }
        Act::List => {
            let names = Dir::new(beneath(&root, path, OFlags::RDONLY | OFlags::DIRECTORY)?)?;
            let names = names.map(|entry| Ok(OsString::from_vec(entry?.file_name().to_bytes().to_vec())));
            done.1 = Some(names.collect::<io::Result<_>>()?);
        }
        Act::Put => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
            fs::File::from(beneath(&root, path, flags)?).write_all(&request.data)?;
        }
        Act::CreateNew => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
            fs::File::from(beneath(&root, path, flags)?).write_all(&request.data)?;
        }
        Act::Remove => {
            let (parent, name) = parent(&root, path)?;
            unlinkat(parent, name, AtFlags::empty())?;
        }
        Act::Rename => {
            let (from, name) = parent(&root, path)?;
            let (to, new_name) = parent(&root, below(place, request.to.as_deref().unwrap_or_default()))?;
            renameat(from, name, to, new_name)?;
        }
        _ => return Ok(Outcome::Unsupported),
    }
    Ok(Outcome::Done { content: done.0, entries: done.1, place: None })
}

/// The path relative to the root.
fn below<'a>(root: &Path, text: &'a [u8]) -> &'a [u8] {
    let rest = text.strip_prefix(root.as_os_str().as_bytes());
    rest.map_or(text, |rest| rest.strip_prefix(b"/").unwrap_or(rest))
}

fn parent<'a>(root: &OwnedFd, path: &'a [u8]) -> io::Result<(OwnedFd, &'a OsStr)> {
    let (parent, name) = match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (b".".as_slice(), path),
    };
    Ok((beneath(root, parent, OFlags::PATH | OFlags::DIRECTORY)?, OsStr::from_bytes(name)))
}

fn beneath(root: &OwnedFd, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
    let mode = if flags.contains(OFlags::CREATE) { Mode::RUSR | Mode::WUSR } else { Mode::empty() };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    loop {
        match openat2(root, path, flags | OFlags::CLOEXEC, mode, resolve) {
            // openat2(2): a rename interfered with a `..`.
            Err(Errno::AGAIN) => {}
            other => return Ok(other?),
        }
    }
}
