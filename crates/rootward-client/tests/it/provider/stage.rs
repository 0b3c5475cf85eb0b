//! Directories to share, and a provider to share them with.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rootward_audit::AuditLines;
use rootward_client::consent::{Consents, Permit, Wish};
use rootward_client::provider::{Provider, Settings, Shares};
use rootward_client::store::{Audience, Kept, Record, SavedRoot, Store};
use rootward_core::{Access, Yes};
use tempfile::TempDir;

pub(super) struct Stage {
    _directory: TempDir,
    top: PathBuf,
    pub(super) provider: Provider,
    pub(super) consents: Consents,
}

impl Stage {
    /// Changes settle almost at once.
    pub(super) fn new() -> Stage {
        Stage::with(Settings { quiet: Duration::from_millis(5), ..Settings::default() })
    }

    pub(super) fn with(settings: Settings) -> Stage {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        let consents = Consents::default();
        Stage { _directory: directory, top, provider: Provider::new(settings), consents }
    }

    /// Creates the directory if it is missing, and returns its path.
    pub(super) fn directory(&self, name: &str) -> PathBuf {
        let path = self.top.join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// The URI of the directory.
    pub(super) fn uri(&self, name: &str) -> String {
        format!("file://{}", self.top.join(name).display())
    }

    /// A saved root for the servers with these names, or for all.
    pub(super) fn root(&self, name: &str, access: Access, names: &[&str]) -> SavedRoot {
        let audience = Audience::of(names.iter().map(|name| (*name).to_owned()));
        SavedRoot { audience, ..SavedRoot::new(self.directory(name), access) }
    }

    /// Shares these roots, and those that the user allowed for the session.
    pub(super) fn share(&self, roots: Vec<SavedRoot>) {
        self.provider.share(Shares::new(Arc::new(Kept::from(roots)), &self.consents, None));
    }

    /// Shares these directories with all servers.
    pub(super) fn share_all(&self, names: &[&str]) {
        self.share(names.iter().map(|name| self.root(name, Access::READ_WRITE, &[])).collect());
    }

    /// The user consents.
    pub(super) fn say_yes(&mut self, path: &Path, peer: Option<&str>, yes: Yes) -> Permit {
        let log = AuditLines::new(Vec::new());
        let record = Record { audit: &log, requester: "test", time: SystemTime::UNIX_EPOCH };
        let store = Store::new(self.top.join("roots.toml"), None);
        let wish = Wish { path: path.to_owned(), access: Access::READ, peer: peer.map(str::to_owned) };
        self.consents.give_ambient(wish, yes, &store, &record).unwrap()
    }

    /// The user withdraws consent.
    pub(super) fn take_back(&mut self, path: &Path, peer: Option<&str>) {
        let log = AuditLines::new(Vec::new());
        let record = Record { audit: &log, requester: "test", time: SystemTime::UNIX_EPOCH };
        let store = Store::new(self.top.join("roots.toml"), None);
        self.consents.withdraw_ambient(path, peer, &store, &record).unwrap();
    }
}
