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

/// A directory to look below.
struct Tree(TempDir);

impl Tree {
    /// Each file with its text; its directories are made.
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

    /// What is found, a line for each: the path below the top, the name, why, and what it belongs to.
    fn told(&self) -> Vec<String> {
        let detection = self.detect();
        assert_eq!((detection.bounds.as_slice(), detection.unreadable.as_slice()), (&[][..], &[][..]));
        detection.suggestions.iter().map(|suggestion| line(suggestion, &self.top())).collect()
    }
}

/// A home that is not anywhere, so that no place in a home may be named.
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
    // The directory at the top is called otherwise in each run.
    let name =
        suggestion.name.as_deref().filter(|name| suggestion.path != top || !name.starts_with(".tmp")).unwrap_or("-");
    format!("{} {name}: {}{}", below(&suggestion.path), why.join(", "), within.unwrap_or_default())
}
