//! `list_directory_with_sizes`: the entries of a directory and their sizes.

use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};

use rootward_core::{FileKind, Ignore, Visit, WalkOptions};
use schemars::JsonSchema;
use serde::Deserialize;

use super::list_directory::{MOST, line, of_all};
use crate::answer::Answer;
use crate::call::{Call, Work};
use crate::failure::Failure;
use crate::path::FilePath;
use crate::tool::{About, Effect, FileTool, Output};

pub(crate) struct ListDirectoryWithSizes;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    path: FilePath,
    /// `name` (default), or `size`: the largest first
    #[serde(default, rename = "sortBy")]
    sort: Sort,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Sort {
    #[default]
    Name,
    Size,
}

struct Sized {
    name: OsString,
    kind: FileKind,
    /// Zero for directories.
    size: u64,
}

impl FileTool for ListDirectoryWithSizes {
    const ABOUT: About = About {
        name: "list_directory_with_sizes",
        title: "List Directory with Sizes",
        description: "List a directory with the size of each file, and the number and total size of files.",
        effect: Effect::Reads,
        output: Output::TextInPart,
    };
    type Arguments = Arguments;

    async fn call(Arguments { path, sort }: Arguments, call: &Call) -> Result<Answer, Failure> {
        let mut entries = call.apart("entries", move |work| sized(&path, work)).await?;
        entries.sort_unstable_by(|one, other| match sort {
            Sort::Name => one.name.cmp(&other.name),
            Sort::Size => other.size.cmp(&one.size).then_with(|| one.name.cmp(&other.name)),
        });
        let directories = entries.iter().filter(|entry| entry.kind == FileKind::Directory).count();
        let all = entries.len();
        let total = entries.iter().map(|entry| u128::from(entry.size)).sum();
        entries.truncate(MOST);
        let mut lines: Vec<String> = entries.iter().map(shown).collect();
        lines.push(String::new());
        lines.push(format!("Total: {} files, {directories} directories", all - directories));
        lines.push(format!("Combined size: {}", in_units(total)));
        Ok(of_all(lines.join("\n"), all))
    }
}

fn sized(path: &FilePath, work: &Work) -> Result<Vec<Sized>, Failure> {
    let entries = Mutex::new(Ok(Vec::new()));
    let options = WalkOptions { threads: 1, ignore: Ignore::Nothing, most_depth: 1 };
    path.walk(options, |entry| {
        let mut entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(failure) = work.did(1) {
            *entries = Err(failure);
            return Visit::Stop;
        }
        let kind = entry.kind();
        // An entry that was just deleted has no size.
        let size = match kind {
            FileKind::Directory => 0,
            _ => entry.metadata().map_or(0, |metadata| metadata.size),
        };
        if let Ok(entries) = entries.as_mut() {
            entries.push(Sized { name: entry.name().to_owned(), kind, size });
        }
        Visit::Continue
    })?;
    entries.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// `[FILE] name` in columns: 30 characters for the name, 10 for the size. As in the reference server, which counts
/// UTF-16 units, a character outside the BMP counts as two; most of those are that wide.
fn shown(entry: &Sized) -> String {
    let (name, tag) = match entry.kind {
        FileKind::Directory => (line(entry.kind, &entry.name), "[DIR] ".len()),
        _ => (line(entry.kind, &entry.name), "[FILE] ".len()),
    };
    let wide = name.chars().filter(|letter| letter.len_utf16() > 1).count();
    let width = (30 + tag).saturating_sub(wide);
    match entry.kind {
        FileKind::Directory => format!("{name:width$} "),
        _ => format!("{name:width$} {:>10}", in_units(entry.size.into())),
    }
}

/// A size in the largest suitable unit, with two decimals, half rounded up.
fn in_units(bytes: u128) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let steps = (bytes.ilog2() / 10).min(4);
    let unit = 1_u128 << (steps * 10);
    let hundredths = (bytes * 100 + unit / 2) / unit;
    format!("{}.{:02} {}", hundredths / 100, hundredths % 100, UNITS[steps as usize - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sizes_stand_in_columns() {
        let check = |name: &str, kind: FileKind, expect: &str| {
            assert_eq!(shown(&Sized { name: name.into(), kind, size: 3 }), expect);
        };
        let blanks = |count: usize| " ".repeat(count);
        check("a", FileKind::Directory, &format!("[DIR] a{}", blanks(30)));
        check("a", FileKind::File, &format!("[FILE] a{}3 B", blanks(29 + 1 + 7)));
        check("ä😀", FileKind::File, &format!("[FILE] ä😀{}3 B", blanks(27 + 1 + 7)));
        let long = "😀".repeat(40);
        check(&long, FileKind::File, &format!("[FILE] {long}{}3 B", blanks(1 + 7)));
    }

    #[test]
    fn sizes_have_units() {
        let check = |bytes: u64, expect: &str| assert_eq!(in_units(bytes.into()), expect);
        check(0, "0 B");
        check(1023, "1023 B");
        check(1024, "1.00 KB");
        check(1152, "1.13 KB");
        check(1536, "1.50 KB");
        check((1 << 20) - 1, "1024.00 KB");
        check(1 << 20, "1.00 MB");
        check(5 << 30, "5.00 GB");
        check(u64::MAX, "16777216.00 TB");
    }
}
