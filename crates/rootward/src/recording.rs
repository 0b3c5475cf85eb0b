//! The flag that says whether decisions go on record, and the log they go to.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use rootward_audit::AuditLog;
use rootward_core::{Audit, Shown};

use crate::ground::Ground;
use crate::message::Hinted;

/// The flag.
#[derive(Args, Debug)]
pub(crate) struct Recording {
    /// Whether decisions are put on record. Where they cannot be, calls with paths are refused
    #[arg(long, value_name = "STATE", value_enum, default_value_t = State::On)]
    audit: State,
}

/// `--audit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum State {
    On,
    Off,
}

impl Recording {
    /// The log, unless none is kept.
    pub(crate) fn open_ambient(&self, ground: &Ground) -> Result<Option<Arc<dyn Audit>>> {
        if self.audit == State::Off {
            return Ok(None);
        }
        let hint = "say where by `XDG_STATE_HOME` or `HOME`, or pass `--audit off`";
        let hinted = |says: String| anyhow!(Hinted { says, hint: hint.to_owned() });
        let Some(directory) = ground.directories.audit_log() else {
            return Err(hinted("no place for the audit log".to_owned()));
        };
        let log = AuditLog::open_ambient(&directory).map_err(|error| {
            hinted(format!("the audit log `{}` cannot be written: {error}", Shown::new(&directory)))
        })?;
        Ok(Some(Arc::new(log)))
    }
}
