//! The configurations of hubs, in Rootward's settings directory.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rootward_core::follow_ambient;

use super::hub::{AdoptedHub, PlannedHub};
use super::record::hash;
use super::shelf::{Shelf, ShelfError, read_ambient, remove_ambient, system};
use crate::import::{Form, Holder};

/// How many names to try for one file.
const NAMES: usize = 9;

impl Shelf {
    /// Where to write the configuration of the hub that replaces the servers at `table` of the file at `place`: a
    /// name that no file has yet, and that is not in `taken`. `None` if the environment names no settings directory.
    pub fn hub_path_ambient(
        &self,
        (form, holder): (Form, Holder),
        place: &Path,
        table: &[String],
        taken: &[PathBuf],
    ) -> Option<PathBuf> {
        let client = form.client().name();
        let whose = [place.as_os_str().as_encoded_bytes(), table.join("\0").as_bytes()].join(&0);
        let usual = (holder == Holder::User && table.len() == 1).then(|| client.to_owned());
        let own = format!("{client}-{}", &hash(&whose)[..8]);
        let others = (1..=NAMES).map(|number| if number == 1 { own.clone() } else { format!("{own}-{number}") });
        let directory = self.hubs.as_ref()?;
        let mut paths = usual.into_iter().chain(others).map(|name| directory.join(name + ".json"));
        let is_free = |path: &PathBuf| !follow_ambient(path).is_some_and(|found| found.exists);
        paths.find(|path| !taken.contains(path) && is_free(path))
    }

    /// Removes a hub's configuration, if it is unchanged. Returns whether it is gone.
    pub(super) fn remove_hub_ambient(&self, hub: &AdoptedHub) -> bool {
        // SECURITY: a planted record must not remove other files
        // (test: a_planted_record_removes_no_other_file)
        if hub.file.parent() != self.hubs.as_deref() {
            return false;
        }
        match read_ambient(&hub.file) {
            Ok(None) => true,
            Ok(Some(text)) if hash(text.as_bytes()) == hub.written => remove_ambient(&hub.file).is_ok(),
            Ok(Some(_)) | Err(_) => false,
        }
    }
}

/// Configurations that were just written. They are removed on drop unless they are kept.
#[derive(Debug)]
pub(super) struct NewFiles(Vec<PathBuf>);

impl NewFiles {
    /// Writes the configurations of hubs. Never replaces a file.
    pub(super) fn write_ambient(hubs: &[PlannedHub]) -> Result<NewFiles, ShelfError> {
        let mut written = NewFiles(Vec::new());
        for PlannedHub { adopted: AdoptedHub { file, .. }, config } in hubs {
            let mut new = create_ambient(file).map_err(|source| system(file, source))?;
            written.0.push(file.clone());
            new.write_all(config.as_bytes()).and_then(|()| new.sync_all()).map_err(|source| system(file, source))?;
        }
        Ok(written)
    }

    pub(super) fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for NewFiles {
    fn drop(&mut self) {
        for file in &self.0 {
            let _ = remove_ambient(file);
        }
    }
}

/// A new file that only the user can read: its entries may contain tokens.
#[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
fn create_ambient(path: &Path) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(path.parent().unwrap_or(path))?;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
