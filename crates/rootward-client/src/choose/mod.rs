//! The list that a user chooses from: found and saved directories together; and what a choice changes.
//!
//! These are plain values: nothing is looked up on disk, and the host decides how to show the list. At first, only
//! what is already saved is chosen.
//!
//! ```
//! use rootward_client::choose::Choices;
//! use rootward_client::detect::{DetectOptions, detect_ambient};
//! use rootward_client::store::{Audience, Kept};
//!
//! # let directory = tempfile::tempdir()?;
//! # let source = directory.path().canonicalize()?;
//! # std::fs::create_dir(source.join("app"))?;
//! # std::fs::write(source.join("app/Cargo.toml"), "[package]\nname = \"my-app\"")?;
//! let found = detect_ambient(&[source], &DetectOptions::default(), &|_| {})?;
//! let mut choices = Choices::new(found.suggestions, Kept::default(), &Audience::All, |_| None);
//! assert!(choices.difference().is_empty());
//! choices.toggle(0)?;
//! assert_eq!(choices.difference().added[0].name.as_deref(), Some("my-app"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Layout
//!
//! - [`Choices`], [`Choice`], [`Mark`]: the list, and what is marked in it. `joining.rs` builds it.
//! - [`ChoiceChanges`]: what a choice changes; [`Choices::save`] applies it.

mod joining;
mod saving;
#[cfg(test)]
mod tests;

use std::path::Path;

use rootward_core::Access;
use thiserror::Error;

use crate::detect::Suggestion;
use crate::store::{Audience, Kept, SavedRoot, usable_name};

pub use saving::{ChangedMeanwhile, ChoiceChanges};

/// Everything that can be chosen.
#[derive(Clone, Debug)]
pub struct Choices {
    /// What was saved when the list was built.
    kept: Kept,
    list: Vec<Choice>,
}

/// A directory that can be chosen.
#[derive(Clone, Debug)]
pub struct Choice {
    root: SavedRoot,
    /// Its index in the store.
    saved: Option<usize>,
    before: Option<Access>,
    name_before: Option<String>,
    found: Option<Suggestion>,
    depth: usize,
    obstacle: Option<String>,
    mark: Mark,
}

/// Whether the user wants a directory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mark {
    /// Share it.
    Chosen,
    /// Do not share it.
    Left,
}

/// Why something was not chosen.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Unchosen {
    /// The list has no such line.
    #[error("no such line")]
    Nothing,
    /// It cannot be shared.
    #[error("it cannot be shared: {0}")]
    Obstacle(String),
    /// The name is not usable.
    #[error("not a usable name: {0}")]
    Name(String),
}

impl Choices {
    /// Joins what was found with what is saved. New roots will be for `audience`, and `obstacle` says why a place
    /// cannot be chosen.
    ///
    /// A found directory and a saved root at the same place are one line if the root is for somebody in `audience`;
    /// otherwise each has its own line. Sorted by path; directories that were only named come last.
    pub fn new(
        found: Vec<Suggestion>,
        kept: Kept,
        audience: &Audience,
        obstacle: impl Fn(&Path) -> Option<String>,
    ) -> Choices {
        let list = joining::join(found, &kept.roots, audience, obstacle);
        Choices { kept, list }
    }

    /// The lines.
    pub fn list(&self) -> &[Choice] {
        &self.list
    }

    /// Toggles a line.
    pub fn toggle(&mut self, position: usize) -> Result<(), Unchosen> {
        let choice = self.choosable(position)?;
        choice.mark = match choice.mark {
            Mark::Chosen => Mark::Left,
            Mark::Left => Mark::Chosen,
        };
        Ok(())
    }

    /// Chooses a line with this access.
    pub fn grant(&mut self, position: usize, access: Access) -> Result<(), Unchosen> {
        let choice = self.choosable(position)?;
        choice.root.access = access;
        choice.mark = Mark::Chosen;
        Ok(())
    }

    /// Renames a line, and chooses it.
    pub fn rename(&mut self, position: usize, name: &str) -> Result<(), Unchosen> {
        let choice = self.choosable(position)?;
        usable_name(name).map_err(|why| Unchosen::Name(why.to_owned()))?;
        choice.root.name = Some(name.to_owned());
        choice.mark = Mark::Chosen;
        Ok(())
    }

    /// Chooses a root that the user named: its existing line, or a new one. Returns the line's index. A saved root
    /// keeps its access.
    pub fn add(&mut self, root: SavedRoot) -> Result<usize, Unchosen> {
        let has_it = |choice: &Choice| choice.root.path == root.path && choice.root.audience.overlaps(&root.audience);
        let Some(position) = self.list.iter().position(has_it) else {
            return Ok(joining::insert(&mut self.list, root));
        };
        let choice = self.choosable(position)?;
        if choice.saved.is_none() {
            choice.root.access = root.access;
        }
        choice.mark = Mark::Chosen;
        Ok(position)
    }

    /// Disables a line that turned out to be unusable. A saved root can still be unchosen.
    pub fn refuse(&mut self, position: usize, reason: String) {
        if let Some(choice) = self.list.get_mut(position).filter(|choice| choice.saved.is_none()) {
            choice.mark = Mark::Left;
            choice.obstacle = Some(reason);
        }
    }

    fn choosable(&mut self, position: usize) -> Result<&mut Choice, Unchosen> {
        let choice = self.list.get_mut(position).ok_or(Unchosen::Nothing)?;
        // SECURITY: what validation refuses cannot be chosen in any way
        // (test: unshareable_directories_cannot_be_chosen)
        match &choice.obstacle {
            Some(obstacle) => Err(Unchosen::Obstacle(obstacle.clone())),
            None => Ok(choice),
        }
    }
}

impl Choice {
    /// The root as it would be saved.
    pub fn root(&self) -> &SavedRoot {
        &self.root
    }

    /// Its saved access; `None` if it is not saved.
    pub fn before(&self) -> Option<Access> {
        self.before
    }

    /// Whether it is saved and was renamed.
    pub fn is_renamed(&self) -> bool {
        self.saved.is_some() && self.root.name != self.name_before
    }

    /// Why it is suggested; `None` if it was not found by the scan.
    pub fn found(&self) -> Option<&Suggestion> {
        self.found.as_ref()
    }

    /// How many other lines contain it.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Why it cannot be chosen.
    pub fn obstacle(&self) -> Option<&str> {
        self.obstacle.as_deref()
    }

    /// Whether it is chosen.
    pub fn mark(&self) -> Mark {
        self.mark
    }
}
