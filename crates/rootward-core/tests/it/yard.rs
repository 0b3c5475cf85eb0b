//! A small tree for tests: a root with a few files, and a directory outside that must not change.

use std::fs;
use std::path::{Path, PathBuf};

use rootward_core::{Guard, GuardOptions, Origin, Resolver, Root, RootSet, Validation};
use tempfile::TempDir;

pub(crate) struct Yard(TempDir);

impl Yard {
    /// `root/a/b/file.txt` ("inside"), `root/top.txt` ("top"), `outside/secret.txt` ("SECRET").
    pub(crate) fn new() -> Yard {
        let yard = Yard(TempDir::new().unwrap());
        yard.file("root/a/b/file.txt", "inside");
        yard.file("root/top.txt", "top");
        yard.file("outside/secret.txt", "SECRET");
        yard
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(below)
    }

    pub(crate) fn file(&self, below: &str, contents: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub(crate) fn link(&self, below: &str, target: impl AsRef<Path>) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub(crate) fn text(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }

    /// A guard for roots written as on the command line: `root`, `root:ro`.
    pub(crate) fn guard(&self, roots: &[&str]) -> Guard {
        self.guard_by(Resolver::detect(), Origin::Flag, roots)
    }

    pub(crate) fn guard_by(&self, resolver: Resolver, origin: Origin, roots: &[&str]) -> Guard {
        Guard::new(self.set(origin, roots), GuardOptions { resolver, ..GuardOptions::default() })
    }

    pub(crate) fn set(&self, origin: Origin, roots: &[&str]) -> RootSet {
        let roots = roots.iter().map(|root| Root::from_typed(root.as_ref(), &self.path(""), None, origin).unwrap());
        RootSet::place_ambient(roots, &Validation::new(None))
    }
}
