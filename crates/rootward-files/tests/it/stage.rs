//! A test fixture: a directory to share, and another one that is not shared.

use std::fs;
use std::path::{Path, PathBuf};

use rootward_core::session::Sources;
use rootward_core::{Origin, Root, RootSet, Validation};
use rootward_files::{FileServer, Toolset};
use rootward_server::{RootsService, Settings};
use rootward_testkit::client::DuplexClient;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Has `root/`, which tests share, and `outside/secret.txt` ("SECRET"), which they do not.
pub(crate) struct Stage {
    place: PathBuf,
    _directory: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        let directory = tempfile::tempdir().unwrap();
        let stage = Stage { place: directory.path().canonicalize().unwrap(), _directory: directory };
        fs::create_dir(stage.path("root")).unwrap();
        stage.file("outside/secret.txt", "SECRET");
        stage
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.place.join(below)
    }

    /// The same path as a string.
    pub(crate) fn name(&self, below: &str) -> String {
        self.path(below).to_str().unwrap().to_owned()
    }

    pub(crate) fn file(&self, below: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub(crate) fn read(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }

    /// The names in a directory, sorted.
    pub(crate) fn names(&self, below: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(below)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn directory(&self, below: &str) {
        fs::create_dir_all(self.path(below)).unwrap();
    }

    pub(crate) fn link(&self, below: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.path(below)).unwrap();
    }

    pub(crate) fn fifo(&self, below: &str) {
        let made = std::process::Command::new("mkfifo").arg(self.path(below)).status().unwrap();
        assert!(made.success());
    }

    /// A session of a client that names no roots, so that these roots of the operator apply.
    pub(crate) async fn connect(&self, roots: &[&str]) -> DuplexClient {
        connect(self.settings(roots), FileServer::default(), json!({})).await
    }

    /// The same with a server that offers all tools.
    pub(crate) async fn connect_whole(&self, roots: &[&str]) -> DuplexClient {
        let server = FileServer::default().with_tools(Toolset::ALL.into_iter().collect());
        connect(self.settings(roots), server, json!({})).await
    }

    /// Settings with these operator roots, written as on the command line: `root`, `root:ro`.
    pub(crate) fn settings(&self, roots: &[&str]) -> Settings {
        let base = self.path("");
        let roots = roots.iter().map(|root| Root::from_typed(root.as_ref(), &base, None, Origin::Flag).unwrap());
        let mut settings = Settings::new(None);
        let ceiling = RootSet::place_ambient(roots, &Validation::new(None));
        settings.sources = Sources { ceiling, ..Sources::default() };
        settings
    }
}

/// A session of a client with these capabilities.
pub(crate) async fn connect(settings: Settings, server: FileServer, capabilities: Value) -> DuplexClient {
    let serve = async move |there| {
        if let Ok(service) = RootsService::new(settings).install(server).serve(there).await {
            let _ = service.waiting().await;
        }
    };
    let mut client = DuplexClient::connect(1 << 20, serve);
    client.shake_hands(capabilities).await;
    assert!(client.kept().is_empty(), "{client:?}");
    client
}
