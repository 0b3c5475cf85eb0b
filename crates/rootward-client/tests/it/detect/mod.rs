//! Detection: what is found in which tree.

mod bounds;
mod hostile;
mod monorepo;
mod relations;

use std::fs;
use std::path::{Path, PathBuf};

use rootward_client::detect::{DetectOptions, Detection, Suggestion, detect_ambient};
use rootward_core::Validation;
use tempfile::TempDir;

/// A directory tree to scan.
struct Tree(TempDir);

impl Tree {
    /// Creates each file with its text, and its parent directories.
    fn new(files: &[(&str, &str)]) -> Tree {
        let tree = Tree(tempfile::tempdir().unwrap());
        for (path, text) in files {
            tree.write(path, text.as_bytes());
        }
        tree
    }

    fn top(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn write(&self, path: &str, text: &[u8]) {
        let path = self.top().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn detect(&self) -> Detection {
        self.detect_with(&options())
    }

    fn detect_with(&self, options: &DetectOptions) -> Detection {
        detect_ambient(&[self.top()], options, &|_| {}).unwrap()
    }

    /// A line for each suggestion: the path below the top, the name, the reasons, and what it belongs to.
    fn found(&self) -> Vec<String> {
        let detection = self.detect();
        assert_eq!((detection.bounds.as_slice(), detection.unreadable.as_slice()), (&[][..], &[][..]));
        detection.suggestions.iter().map(|suggestion| line(suggestion, &self.top())).collect()
    }
}

/// With a home that does not exist, so that the rules about homes do not apply.
fn options() -> DetectOptions {
    DetectOptions { validation: Validation::new(Some("/nowhere".into())), ..DetectOptions::default() }
}

fn line(suggestion: &Suggestion, top: &Path) -> String {
    let below = |path: &Path| {
        let text = path.strip_prefix(top).unwrap_or(path).display().to_string();
        if text.is_empty() { ".".to_owned() } else { text }
    };
    let why: Vec<&str> = suggestion.reasons.iter().map(|reason| reason.why.as_str()).collect();
    let within = suggestion.within.as_ref().map(|within| format!(" | {:?} of {}", within.bond, below(&within.path)));
    // The top directory has another name in each run.
    let name =
        suggestion.name.as_deref().filter(|name| suggestion.path != top || !name.starts_with(".tmp")).unwrap_or("-");
    format!("{} {name}: {}{}", below(&suggestion.path), why.join(", "), within.unwrap_or_default())
}
