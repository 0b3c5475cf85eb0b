//! The saved roots, as every verb sees them.
//!
//! A store that cannot be read is an error: nobody knows what it closes. The same goes for a build without the
//! `roots` feature if a store exists.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use rootward_core::env::Directories;
use rootward_core::{Resolver, Restriction, RootSet};

/// Which client or server the saved roots are for.
#[derive(Args, Debug)]
pub(crate) struct AskingAs {
    /// Use the roots that were saved for the client or server of this name, and those saved for all. Without a name,
    /// only those saved for all
    #[arg(long = "as", value_name = "NAME")]
    peer: Option<String>,
}

impl AskingAs {
    pub(crate) fn name(&self) -> Option<&str> {
        self.peer.as_deref()
    }
}

/// What was saved.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    #[cfg(feature = "roots")]
    kept: rootward_client::store::Kept,
}

#[cfg(feature = "roots")]
impl Saved {
    pub(crate) fn load_ambient(directories: &Directories, _: Resolver) -> Result<Saved> {
        use rootward_client::store::{Kept, Store};
        let kept = Store::of(directories).map_or_else(|| Ok(Kept::default()), |store| store.load_ambient())?;
        Ok(Saved { kept })
    }

    /// What is closed below saved roots; this applies no matter who names a root there.
    pub(crate) fn closed_ambient(&self, resolver: Resolver) -> Result<Vec<Restriction>> {
        use anyhow::Context;
        self.kept.closed_ambient(resolver).context("cannot tell what is closed below the saved roots")
    }

    /// Whether nothing is closed below saved roots.
    #[cfg(any(feature = "serve", feature = "wrap"))]
    pub(crate) fn closes_nothing(&self) -> bool {
        self.kept.roots.iter().all(|root| root.restrict.is_empty())
    }

    /// The roots for this client or server, found on disk.
    pub(crate) fn set_ambient(&self, peer: Option<&str>, home: Option<&Path>) -> RootSet {
        self.kept.set_ambient(peer, home)
    }

    /// The number of saved roots.
    pub(crate) fn count(&self) -> usize {
        self.kept.roots.len()
    }

    /// The saved root below which this pattern closes something.
    pub(crate) fn root_with(&self, pattern: &str) -> Option<&Path> {
        let has = |root: &&rootward_client::store::SavedRoot| root.restrict.iter().any(|one| one.pattern == pattern);
        self.kept.roots.iter().find(has).map(|root| root.path.as_path())
    }
}

#[cfg(not(feature = "roots"))]
impl Saved {
    pub(crate) fn load_ambient(directories: &Directories, resolver: Resolver) -> Result<Saved> {
        use rootward_core::{Access, Shown, lookout_ambient};
        let Some(file) = directories.saved_roots() else { return Ok(Saved {}) };
        // If it cannot be looked up, it may exist.
        if lookout_ambient(resolver).check(&file, Access::NONE).map_or(true, |seen| seen.exists()) {
            let says = format!("saved roots `{}` exist, but this build cannot read them", Shown::new(&file));
            let hint = "build with the feature `roots`".to_owned();
            return Err(crate::message::Hinted { says, hint }.into());
        }
        Ok(Saved {})
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
    pub(crate) fn closed_ambient(&self, _: Resolver) -> Result<Vec<Restriction>> {
        Ok(Vec::new())
    }

    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn set_ambient(&self, _: Option<&str>, _: Option<&Path>) -> RootSet {
        RootSet::default()
    }

    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn count(&self) -> usize {
        0
    }

    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn root_with(&self, _: &str) -> Option<&Path> {
        None
    }
}
