//! What every verb about saved roots works at: the store, the record, and what the other verbs stand on.

use std::path::Path;
use std::time::SystemTime;

use anyhow::Result;
use rootward_client::store::{Document, Record, Store};

use crate::ground::Ground;
use crate::message::{self, Hinted};
use crate::recording::open_log_ambient;

/// The desk.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) ground: Ground,
    pub(super) store: Store,
}

impl Desk {
    pub(super) fn open_ambient() -> Result<Desk> {
        let ground = Ground::load_ambient()?;
        let store = Store::of(&ground.directories).ok_or_else(|| Hinted {
            says: "there is no place for saved roots".to_owned(),
            hint: "set `HOME` or `XDG_CONFIG_HOME` to an absolute path".to_owned(),
        })?;
        Ok(Desk { ground, store })
    }

    /// Changes the store, and puts what changed on record.
    pub(super) fn edit_ambient<T>(
        &self,
        requester: &str,
        edit: impl FnOnce(&mut Document, &Record<'_>) -> Result<T>,
    ) -> Result<T> {
        let log =
            open_log_ambient(&self.ground, "say where by `XDG_STATE_HOME` or `HOME`: no change goes without a record")?;
        let record = Record { audit: &log, requester, time: SystemTime::now() };
        self.store.edit_ambient(&record, |document| edit(document, &record))
    }

    /// A path as a person writes it.
    pub(super) fn shown(&self, path: &Path) -> String {
        message::from_home(path, self.ground.home())
    }
}
