//! Watching on a real disk: every change is noticed, and an event only triggers a rescan.

mod roots;
mod store;
mod strain;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rootward_client::store::Store;
use rootward_client::watch::{News, Options, Seen, SeenRoot, Watch};
use tempfile::TempDir;

/// How long a test waits for something that must happen. Not a measurement.
const PATIENCE: Duration = Duration::from_mins(1);

/// Rescans soon after an event and practically never otherwise, so that a noticed change was reported by the system.
const BY_EVENTS: Options = Options {
    debounce: Duration::from_millis(20),
    poll: Duration::from_hours(1),
    anyway: Duration::from_hours(1),
    most_watches: 512,
};

/// A directory with a store in it.
struct Stage {
    top: PathBuf,
    _directory: TempDir,
}

struct Watched {
    watch: Option<Watch>,
    changes: Receiver<(Seen, Vec<News>)>,
    seen: Seen,
    /// News that the test has not taken yet.
    news: Vec<News>,
    /// The watching thread holds a clone.
    token: Arc<()>,
}

impl Stage {
    fn new() -> Stage {
        let directory = tempfile::tempdir().unwrap();
        Stage { top: directory.path().canonicalize().unwrap(), _directory: directory }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.top.join(below)
    }

    fn make(&self, below: &str) -> PathBuf {
        fs::create_dir_all(self.path(below)).unwrap();
        self.path(below)
    }

    fn store(&self) -> Store {
        Store::new(self.path("settings/rootward/roots.toml"), Some(self.path("home")))
    }

    /// Replaces the store atomically with these roots, each with further lines.
    fn save(&self, roots: &[(&Path, &str)]) {
        let root = |(path, more): &(&Path, &str)| format!("[[root]]\npath = '{}'\n{more}\n", path.display());
        self.save_text(&format!("version = 1\n{}", roots.iter().map(root).collect::<String>()));
    }

    fn save_text(&self, text: &str) {
        let store = self.store();
        fs::create_dir_all(store.file().parent().unwrap()).unwrap();
        fs::write(store.file().with_extension("new"), text).unwrap();
        fs::rename(store.file().with_extension("new"), store.file()).unwrap();
    }

    fn watch(&self, options: Options) -> Watched {
        let (sender, changes) = channel();
        let token = Arc::new(());
        let held = Arc::clone(&token);
        let on_change = move |seen: &Seen, news: &[News]| {
            let _ = (&held, sender.send((seen.clone(), news.to_vec())));
        };
        let watch = Watch::begin_ambient(self.store(), options, on_change).unwrap();
        let (seen, news) = changes.recv_timeout(PATIENCE).unwrap();
        assert!(seen.version == 1 && news.is_empty(), "{seen:?} {news:?}");
        Watched { watch: Some(watch), changes, seen, news, token }
    }
}

impl Watched {
    /// Waits until the condition holds; returns the news so far.
    fn until(&mut self, what: &str, condition: impl Fn(&Seen) -> bool) -> Vec<News> {
        let begun = Instant::now();
        while !condition(&self.seen) {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            let next = self.changes.recv_timeout(left);
            let (seen, news) = next.unwrap_or_else(|_| panic!("not noticed: {what}; {:?}", self.seen));
            assert_eq!(seen.version, self.seen.version + 1);
            self.seen = seen;
            self.news.extend(news);
        }
        std::mem::take(&mut self.news)
    }

    /// Waits until the roots are in these states.
    fn until_states(&mut self, what: &str, expect: &[&str]) -> Vec<News> {
        self.until(what, |seen| states(&seen.roots) == expect)
    }
}

fn states(roots: &[SeenRoot]) -> Vec<&'static str> {
    roots.iter().map(|seen| seen.state.word()).collect()
}
