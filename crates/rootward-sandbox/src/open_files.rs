//! Raises the limit of open files: a split rule needs one handle for each entry, and the usual limit is 1,024.
//!
//! The soft limit is raised while handles are open and lowered again afterwards. The command starts with the limit that
//! this process had.

use std::io;
use std::sync::{Mutex, PoisonError};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many users need the raised limit, and the limit before.
static RAISED: Mutex<Option<(usize, Rlimit)>> = Mutex::new(None);

/// Keeps the soft limit at the hard limit while it exists.
#[derive(Debug)]
pub(crate) struct RaisedLimit {
    before: Option<u64>,
}

impl RaisedLimit {
    pub(crate) fn new() -> io::Result<RaisedLimit> {
        let mut raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
        let (holders, before) = raised.take().unwrap_or_else(|| (0, getrlimit(Resource::Nofile)));
        if holders == 0
            && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: before.maximum, ..before })
        {
            return Err(error.into());
        }
        let soft = before.current;
        *raised = Some((holders + 1, before));
        Ok(RaisedLimit { before: soft })
    }

    /// The previous soft limit.
    pub(crate) fn before(&self) -> Option<u64> {
        self.before
    }
}

impl Drop for RaisedLimit {
    fn drop(&mut self) {
        let mut raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
        match raised.take() {
            // If this fails, the limit stays raised, which does no harm here.
            Some((1, before)) => drop(setrlimit(Resource::Nofile, before)),
            Some((holders, before)) => *raised = Some((holders - 1, before)),
            None => {}
        }
    }
}

/// Sets the soft limit, as far as the hard one allows.
pub(crate) fn lower(soft: u64) -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: Some(soft), ..limit })?)
}
