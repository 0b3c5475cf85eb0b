//! One look: reads the store and the disk. Only this decides; events only say when to look.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootward_core::{Resolver, spellings_ambient};

use super::plan::Plan;
use super::seen::{News, Seen, Watching, found};
use super::state::{SeenRoot, State};
use crate::store::{Current, Kept, SavedRoot, Store};

/// Looks, and remembers what was last seen and last reported.
#[derive(Debug)]
pub(super) struct Looking {
    current: Current,
    resolver: Resolver,
    last: Option<Seen>,
    told: Option<Seen>,
}

impl Looking {
    pub(super) fn new_ambient(store: Store) -> Looking {
        Looking { current: Current::unread(store), resolver: Resolver::detect(), last: None, told: None }
    }

    /// Looks.
    pub(super) fn look_ambient(&mut self, watching: &Watching) {
        let trouble = self.current.refresh_ambient().err().map(Arc::new);
        // SECURITY: a store that cannot be read neither withdraws nor opens anything: its last content, including
        // restrictions, stays current
        // (test: a_damaged_store_keeps_the_last_good_state)
        let kept = self.current.kept().cloned();
        let home = self.current.store().home();
        let saved = kept.iter().flat_map(|kept| &kept.roots);
        let mut roots: Vec<SeenRoot> = saved.map(|root| SeenRoot::look_ambient(root, home, self.resolver)).collect();
        let written = kept.as_ref().map(|kept| kept.written_ambient()).unwrap_or_default();
        let judged = |kept: &Kept, root: &SavedRoot| State::of(kept.found(root, &written, |one| found(&roots, one)));
        let states: Vec<State> = match &kept {
            Some(kept) => roots.iter().map(|seen| judged(kept, &seen.root)).collect(),
            None => Vec::new(),
        };
        for (seen, state) in roots.iter_mut().zip(states) {
            seen.state = state;
        }
        let version = self.told.as_ref().map_or(1, |told| told.version + 1);
        self.last = Some(Seen { version, kept, roots, written, trouble, watching: watching.clone() });
    }

    /// Whether a pattern is saved.
    pub(super) fn has_patterns(&self) -> bool {
        self.current.kept().is_some_and(|kept| kept.has_patterns())
    }

    /// What was last seen and what is new, unless it was already reported.
    pub(super) fn tell(&mut self) -> Option<(&Seen, Vec<News>)> {
        let last = self.last.as_ref()?;
        let news = match &self.told {
            Some(told) if last.is_as(told) => return None,
            Some(told) => last.news_since(told),
            None => Vec::new(),
        };
        Some((self.told.insert(last.clone()), news))
    }

    /// What to watch, given what was last seen.
    pub(super) fn plan_ambient(&self, most: usize) -> Plan {
        let file = self.current.store().file();
        // If the file is a link, its target is what gets replaced.
        let mut paths: Vec<PathBuf> = spellings_ambient(file, self.resolver).unwrap_or_else(|_| vec![file.to_owned()]);
        for seen in self.last.iter().flat_map(|last| &last.roots) {
            paths.extend([seen.root.path.clone(), seen.leads_to.clone()]);
        }
        Plan::new(paths.iter().map(PathBuf::as_path).filter(|path| *path != Path::new("/")), most)
    }
}
