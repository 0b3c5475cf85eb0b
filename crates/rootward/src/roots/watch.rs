//! `rootward roots watch`: shows live what is shared, and why something is not.

use std::io::{self, PipeReader, PipeWriter, Write};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use clap::Args;
use rootward_client::watch::{News, Options, Seen, Watch as Watching};
use rootward_sandbox::PassedSignals;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::Signal;

use super::desk::Desk;
use super::list::instead;
use crate::Outcome;
use crate::message;

mod line;
mod object;

/// Show what is shared, and every change
///
/// First everything saved, as `list` shows it; then a line for each change: a root that is saved, changed or
/// removed, one that disappears, comes back or is replaced, and a file that can no longer be read. Exits when it is
/// interrupted or its output is closed.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Watch {
    /// Print one JSON object per line: first `state`, with `file` and `roots` as in `list`, then one for each
    /// change, with `event`, `time`, and `root` if it is about one
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Exit codes: 0 interrupted, or the output was closed, 2 wrong use or failure";

/// The signals that end it.
const ENDING: [Signal; 4] = [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT];

impl Watch {
    pub(super) fn run(&self, desk: Desk) -> Result<Outcome> {
        // Before there is a second thread, so that the signals are blocked in all threads.
        let signals = PassedSignals::hold().context("cannot wait for signals")?;
        if let Some(instead) = instead(&desk) {
            message::warning(&format!("the saved roots are not used: {instead}"));
        }
        let (ended, end) = io::pipe().context("cannot wait for the end")?;
        let failure = Arc::new(Mutex::new(None));
        let mut teller = Teller { json: self.json, desk, end: Some(end), failure: Arc::clone(&failure) };
        let store = teller.desk.store.clone();
        let tell = move |seen: &Seen, news: &[News]| teller.tell(seen, news);
        let watching = Watching::begin_ambient(store, Options::default(), tell).context("cannot watch")?;
        wait(&signals, &ended)?;
        // Do not wait for a reader that does not read, or a disk that does not answer.
        watching.leave();
        let failure = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.filter(|failure| !message::reader_left(failure)).map_or(Ok(Outcome::Done), Err)
    }
}

/// Writes the output.
struct Teller {
    json: bool,
    desk: Desk,
    /// Dropped when the output can no longer be written.
    end: Option<PipeWriter>,
    failure: Arc<Mutex<Option<anyhow::Error>>>,
}

impl Teller {
    fn tell(&mut self, seen: &Seen, news: &[News]) {
        if self.end.is_none() {
            return;
        }
        if let Err(error) = self.write(seen, news) {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            self.end = None;
        }
    }

    fn write(&self, seen: &Seen, news: &[News]) -> Result<()> {
        let mut out = io::stdout().lock();
        match (seen.version, self.json) {
            (1, false) => line::write_all(seen, &self.desk, &mut out)?,
            (1, true) => object::write_all(seen, &self.desk, &mut out)?,
            (_, false) => line::write(seen, news, &self.desk, &mut out)?,
            (_, true) => object::write(seen, news, &mut out)?,
        }
        Ok(out.flush()?)
    }
}

/// Waits for a signal, or until the output is closed: poll(2) reports that for a pipe without a write (`POLLERR`).
fn wait(signals: &PassedSignals, ended: &PipeReader) -> Result<()> {
    let out = io::stdout();
    loop {
        let mut descriptors = [
            PollFd::new(signals, PollFlags::IN),
            PollFd::new(&out, PollFlags::empty()),
            PollFd::new(ended, PollFlags::empty()),
        ];
        match poll(&mut descriptors, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error).context("cannot wait"),
        }
        let [_, out, ended] = descriptors.map(|descriptor| descriptor.revents());
        if !(out | ended).is_empty() {
            return Ok(());
        }
        while let Some(number) = signals.take() {
            if ENDING.iter().any(|signal| signal.as_raw() == number) {
                return Ok(());
            }
        }
    }
}
