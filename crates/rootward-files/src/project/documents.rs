//! Finds documentation files, their kind and their title.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rootward_core::{FileKind, Grant};
use rootward_server::{Access, Roots};

use super::shown;
use super::survey::Budget;
use crate::failure::Failure;

/// How many documents to keep from one walk.
const MOST_KEPT: usize = 20_000;

/// How much of a document to read for its title, in bytes.
const BEGINNING: usize = 2 << 10;

/// The kind of a document, in list order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    Readme,
    Changelog,
    Contributing,
    /// In a directory for documentation.
    Guide,
    /// Anywhere else.
    Page,
}

impl Kind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Readme => "readme",
            Kind::Changelog => "changelog",
            Kind::Contributing => "contributing",
            Kind::Guide => "guide",
            Kind::Page => "page",
        }
    }
}

/// A document below a place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Document {
    pub(crate) kind: Kind,
    depth: usize,
    pub(crate) below: PathBuf,
    pub(crate) bytes: u64,
}

/// The kind of a file; `None` if it is not documentation.
fn kind(below: &Path, name: &OsStr) -> Option<Kind> {
    let name = name.to_string_lossy().to_ascii_lowercase();
    let (stem, extension) = name.split_once('.').unwrap_or((name.as_str(), ""));
    // `README`, `README.md`, `README.de.md`; not `readme.py`.
    let prose = matches!(
        extension.rsplit('.').next().unwrap_or_default(),
        "" | "md" | "mdx" | "markdown" | "rst" | "txt" | "adoc" | "asciidoc" | "org" | "html"
    );
    if prose {
        match stem {
            "readme" => return Some(Kind::Readme),
            "changelog" | "changes" | "history" | "news" | "releases" => return Some(Kind::Changelog),
            "contributing" | "hacking" | "code_of_conduct" => return Some(Kind::Contributing),
            _ => {}
        }
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let everywhere = matches!(extension, "md" | "mdx" | "markdown" | "rst" | "adoc" | "asciidoc");
    let in_docs = || {
        let above = below.parent().into_iter().flat_map(Path::components);
        above.filter_map(|part| part.as_os_str().to_str()).any(|part| matches!(part, "docs" | "doc" | "documentation"))
    };
    match extension {
        "txt" | "html" | "htm" | "org" | "tex" | "pdf" | "ipynb" => in_docs().then_some(Kind::Guide),
        _ if everywhere && in_docs() => Some(Kind::Guide),
        _ => everywhere.then_some(Kind::Page),
    }
}

/// The documents below a directory, the most general first, and whether there are more.
pub(crate) fn find(grant: &Grant, budget: &Budget<'_>) -> Result<(Vec<Document>, bool), Failure> {
    if grant.kind() != Some(FileKind::Directory) {
        let bytes = grant.metadata()?.size;
        let path = grant.named_path();
        let kind = path.file_name().and_then(|name| kind(Path::new(name), name));
        let document = kind.map(|kind| Document { kind, depth: 0, below: PathBuf::new(), bytes });
        return Ok((document.into_iter().collect(), false));
    }
    let found = Mutex::new((Vec::new(), false));
    budget.walk(grant, |entry| {
        if entry.kind() != FileKind::File {
            return;
        }
        let Some(kind) = kind(entry.path(), entry.name()) else { return };
        let bytes = entry.metadata().map_or(0, |metadata| metadata.size);
        let document = Document { kind, depth: entry.depth(), below: entry.path().to_owned(), bytes };
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.0.len() < MOST_KEPT {
            found.0.push(document);
        } else {
            found.1 = true;
        }
    })?;
    let (mut documents, more) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    documents.sort();
    Ok((documents, more))
}

/// The title of a document: its first heading. The guard checks its path again.
pub(crate) fn title(roots: &Roots, path: &Path) -> Option<String> {
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    if extension.is_some_and(|extension| extension == "pdf" || extension == "ipynb") {
        return None;
    }
    let bytes = roots.check(path, Access::READ).ok()?.read_range(0, BEGINNING).ok()?;
    heading(&String::from_utf8_lossy(&bytes))
}

/// The first heading of a text: Markdown, reStructuredText or `AsciiDoc`.
fn heading(text: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut before = "";
    for line in text.lines().map(str::trim_end) {
        let marked = line.strip_prefix("# ").or_else(|| line.strip_prefix("= "));
        if let Some(marked) = marked {
            return Some(shown(marked.trim().trim_end_matches('#').trim()));
        }
        let underline = line.len() >= 3
            && line.bytes().all(|byte| Some(&byte) == line.as_bytes().first())
            && line.starts_with(['=', '-', '~', '*', '^', '#']);
        // Front matter also has underlines: the first has no text above it, the last has a `key: value` line.
        if underline && !before.is_empty() && !before.contains(": ") {
            return Some(shown(before.trim()));
        }
        before = if underline { "" } else { line };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_told_by_name_and_place() {
        let check = |path: &str, expect: Option<Kind>| {
            let path = Path::new(path);
            assert_eq!(kind(path, path.file_name().unwrap()), expect, "{}", path.display());
        };
        check("README", Some(Kind::Readme));
        check("a/readme.MD", Some(Kind::Readme));
        check("README.de.md", Some(Kind::Readme));
        check("readme.py", None);
        check("CHANGELOG.rst", Some(Kind::Changelog));
        check("changes.rs", None);
        check("docs/a/b.txt", Some(Kind::Guide));
        check("docs/conf.py", None);
        check("docs/a.pdf", Some(Kind::Guide));
        check("a/b.txt", None);
        check("a/notes.md", Some(Kind::Page));
        check("docs", None);
    }

    #[test]
    fn a_document_is_called_by_its_first_heading() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(heading(text).as_deref(), expect, "{text}");
        check("# One\n# Two", Some("One"));
        check("[![badge](x)](y)\n\n# One #\n", Some("One"));
        check("---\ntitle: x\n---\n# One", Some("One"));
        check("=====\nTitle\n=====\n", Some("Title"));
        check("Title\n-----\n", Some("Title"));
        check("= Ascii\n", Some("Ascii"));
        check("# a\u{202e}b\u{1b}[1m", Some("a\\u{202e}b\\u{1b}[1m"));
        check("plain text", None);
    }
}
