//! Reads some lines of a file, and no more of the file than necessary.
//!
//! Lines end in a newline. The result has newlines between lines, but not after the last. A newline at the end of a
//! file does not start another line.

use std::io::{ErrorKind, Read};
use std::path::Path;

use rootward_core::{OpenFile, Shown};
use rootward_server::GrantError;

use crate::failure::Failure;
use crate::text::{BEGINNING, Encoding, MOST_BYTES};

/// How much to read at a time; even, so that no UTF-16 unit is split.
const PIECE: usize = 64 << 10;

/// Receives the number of bytes read, and may stop the reading with an error.
pub(crate) type Did<'d> = &'d mut dyn FnMut(u64) -> Result<(), Failure>;

/// The lines starting at `first`, counted from 1, at most `count` of them.
pub(crate) fn from(mut file: OpenFile, first: u64, count: u64, did: Did<'_>) -> Result<String, Failure> {
    let mut piece = vec![0; PIECE];
    let mut encoding = None;
    let mut kept = Vec::new();
    let mut line = 1;
    let mut begun = false;
    let behind = first.saturating_add(count);
    while line < behind {
        let read = fill(&mut file, &mut piece)?;
        let bytes = &piece[..read];
        if read == 0 {
            break;
        }
        did(read as u64)?;
        let encoding = match encoding {
            Some(encoding) => encoding,
            None => *encoding.insert(encoding_of(&file, bytes)?),
        };
        let mut start = 0;
        for end in encoding.line_ends(bytes) {
            if line >= first {
                keep(&mut kept, &bytes[start..end], &file, first, line)?;
            }
            start = end;
            line += 1;
            if line == behind {
                break;
            }
        }
        begun = start < bytes.len();
        if begun && line >= first && line < behind {
            keep(&mut kept, &bytes[start..], &file, first, line)?;
        }
    }
    let lines = if begun { line } else { line - 1 };
    if first > 1 && first > lines {
        let path = Shown::new(file.path());
        return Err(Failure::said(format!("`{path}` has {lines} lines; `offset` {first} is past the last line")));
    }
    finished(&file, encoding, kept)
}

/// The last `count` lines, read from the end.
pub(crate) fn last(file: &OpenFile, count: u64, did: Did<'_>) -> Result<String, Failure> {
    let size = file.size();
    let encoding = encoding_of(file, &file.read_range(0, BEGINNING)?)?;
    let mut begin = size;
    let mut found = 0;
    'read: while begin > 0 {
        let start = begin.saturating_sub(PIECE as u64) & !1;
        let bytes = file.read_range(start, PIECE + 1)?;
        let bytes = &bytes[..bytes.len().min(usize::try_from(begin - start).unwrap_or(usize::MAX))];
        did(bytes.len() as u64)?;
        for end in encoding.line_ends(bytes).rev() {
            let place = start + end as u64;
            if place == size {
                continue;
            }
            if size - place > MOST_BYTES {
                return Err(too_many(file, found, "`tail`"));
            }
            found += 1;
            if found == count {
                begin = place;
                break 'read;
            }
        }
        begin = start;
        if size - begin > MOST_BYTES + PIECE as u64 {
            return Err(too_many(file, found, "`tail`"));
        }
    }
    if size - begin > MOST_BYTES {
        return Err(too_many(file, found, "`tail`"));
    }
    let length = usize::try_from(size - begin).unwrap_or(usize::MAX);
    finished(file, Some(encoding), file.read_range(begin, length)?)
}

/// The failure for a file that is not text.
pub(crate) fn not_text(path: &Path) -> Failure {
    Failure::said(format!("`{}` is not text; `read_media_file` returns its bytes", Shown::new(path)))
}

fn encoding_of(file: &OpenFile, bytes: &[u8]) -> Result<Encoding, Failure> {
    Encoding::of(&bytes[..bytes.len().min(BEGINNING)]).ok_or_else(|| not_text(file.path()))
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8], file: &OpenFile, first: u64, line: u64) -> Result<(), Failure> {
    if (kept.len() + bytes.len()) as u64 > MOST_BYTES {
        return Err(match line - first {
            0 => too_long(file, &format!("line {line}")),
            fit => too_many(file, fit, &format!("from line {first} on, `limit`")),
        });
    }
    kept.extend_from_slice(bytes);
    Ok(())
}

fn too_many(file: &OpenFile, fit: u64, argument: &str) -> Failure {
    if fit == 0 {
        return too_long(file, "the last line");
    }
    let path = Shown::new(file.path());
    Failure::said(format!(
        "these lines of `{path}` exceed the 4 MiB of one answer; {argument} {fit} is the most that fits"
    ))
}

fn too_long(file: &OpenFile, which: &str) -> Failure {
    let path = Shown::new(file.path());
    Failure::said(format!(
        "{which} of `{path}` is longer than the 4 MiB that one answer holds; `search_content` finds text within it"
    ))
}

fn finished(file: &OpenFile, encoding: Option<Encoding>, bytes: Vec<u8>) -> Result<String, Failure> {
    let Some(encoding) = encoding else { return Ok(String::new()) };
    let mut text = encoding.decode(bytes).ok_or_else(|| not_text(file.path()))?;
    if text.ends_with('\n') {
        text.pop();
    }
    Ok(text)
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut OpenFile, piece: &mut [u8]) -> Result<usize, Failure> {
    let mut filled = 0;
    while filled < piece.len() {
        match file.read(&mut piece[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(source) => return Err(GrantError::Io { path: file.path().to_owned(), source }.into()),
        }
    }
    Ok(filled)
}
