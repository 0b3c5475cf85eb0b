//! The terminal: takes it over, draws, reads keys, and always restores it. Crossterm knows the escape sequences.

use std::io::{self, Write};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste};
use crossterm::style::{Attribute, Print, SetAttribute};
use crossterm::terminal::{
    Clear, ClearType, DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::{execute, queue};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::drawing::{Line, Size, Style};
use super::keys::Key;

/// The maximum delay until a new size, a signal or a hangup is noticed.
const LOOK_UP: Duration = Duration::from_millis(200);

/// Type-ahead counts as drained when nothing follows within this time.
const TOGETHER: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// How many times to discard input that does not end.
const MOST_PIECES: usize = 40;

/// The size to assume if it is unknown.
const USUAL: Size = Size { columns: 80, lines: 24 };

/// Whether lines may be highlighted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Styles {
    Used,
    /// `NO_COLOR`.
    Unused,
}

/// What happened.
#[derive(Debug)]
pub(super) enum Event {
    Key(Key),
    /// Time passed; the size may have changed.
    Nothing,
    /// The terminal is gone.
    Closed,
    /// A signal asks the program to exit.
    Ended,
}

/// The terminal while the picker has it.
pub(super) struct Screen {
    restoring: Arc<Restoring>,
    signal: Arc<AtomicBool>,
    styles: Styles,
    reader: Reader,
}

/// The state to restore, once.
#[derive(Default)]
struct Restoring {
    /// Whether it was restored. From then on, signals have their usual effect.
    restored: Arc<AtomicBool>,
}

impl Restoring {
    fn restore(&self) {
        if self.restored.swap(true, Ordering::SeqCst) {
            return;
        }
        // If the terminal is gone, there is nothing to restore.
        let _ = execute!(io::stderr(), DisableBracketedPaste, EnableLineWrap, Show, LeaveAlternateScreen);
        let _ = disable_raw_mode();
        // Keys meant for the picker must not go to the program that reads next.
        let _ = tcflush(rustix::stdio::stdin(), QueueSelector::IFlush);
    }
}

impl Screen {
    /// Takes over the terminal of standard input and standard error.
    pub(super) fn take(styles: Styles) -> io::Result<Screen> {
        let restoring = Arc::new(Restoring::default());
        let signal = Arc::new(AtomicBool::new(false));
        for number in [SIGTERM, SIGINT] {
            flag::register_conditional_default(number, Arc::clone(&restoring.restored))?;
            flag::register(number, Arc::clone(&signal))?;
        }
        // If a panic aborts the program, nothing is dropped.
        let (in_panic, hook) = (Arc::clone(&restoring), panic::take_hook());
        panic::set_hook(Box::new(move |info| {
            in_panic.restore();
            hook(info);
        }));
        let screen = Screen { restoring, signal, styles, reader: Reader::start()? };
        tcflush(rustix::stdio::stdin(), QueueSelector::IFlush)?;
        // Ctrl-C and Ctrl-Z are ordinary keys: the picker exits by itself and is not stopped halfway.
        enable_raw_mode()?;
        execute!(io::stderr(), EnterAlternateScreen, Hide, DisableLineWrap, EnableBracketedPaste)?;
        Ok(screen)
    }

    /// The size of the terminal that is drawn on: crossterm asks the controlling terminal, which may be another one,
    /// and runs `tput` if there is none.
    pub(super) fn size() -> Size {
        let size = tcgetwinsize(rustix::stdio::stderr());
        let size = size.map(|size| Size { columns: size.ws_col.into(), lines: size.ws_row.into() });
        size.ok().filter(|size| size.columns > 0 && size.lines > 0).unwrap_or(USUAL)
    }

    /// Shows these lines, as many as fit.
    pub(super) fn show(&self, lines: &[Line]) {
        let mut out = Vec::new();
        for (row, line) in (0..).zip(lines) {
            let style = match (self.styles, line.style) {
                (Styles::Unused, _) | (_, Style::Plain) => None,
                (Styles::Used, Style::Title) => Some(Attribute::Bold),
                (Styles::Used, Style::Current) => Some(Attribute::Reverse),
                (Styles::Used, Style::Faint) => Some(Attribute::Dim),
            };
            // Writing to memory does not fail.
            let _ = queue!(out, MoveTo(0, row), Clear(ClearType::CurrentLine));
            let _ = match style {
                Some(style) => queue!(out, SetAttribute(style), Print(&line.text), SetAttribute(Attribute::Reset)),
                None => queue!(out, Print(&line.text)),
            };
        }
        // If the terminal is gone, nobody can see this; the next read reports it.
        let mut stderr = io::stderr().lock();
        let _ = stderr.write_all(&out).and_then(|()| stderr.flush());
    }

    /// Waits for a key.
    pub(super) fn wait(&mut self) -> io::Result<Event> {
        let read = self.reader.next();
        if self.signal.load(Ordering::SeqCst) {
            return Ok(Event::Ended);
        }
        match read {
            Ok(event) => Ok(Key::of(event?).map_or(Event::Nothing, Event::Key)),
            Err(RecvTimeoutError::Timeout) if !is_gone() => Ok(Event::Nothing),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(Event::Closed),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.restoring.restore();
    }
}

/// Crossterm on its own thread. It does not return in the middle of a key, and never if the terminal is gone.
struct Reader {
    wanted: Sender<()>,
    events: Receiver<io::Result<event::Event>>,
    /// Whether it is waiting for an event.
    is_reading: bool,
}

impl Reader {
    fn start() -> io::Result<Reader> {
        let (wanted, each) = channel();
        let (found, events) = channel();
        // SECURITY: read an event only when one is wanted: what is typed at the following question belongs to that
        // question
        // (test: a_newcomer_picks_two_projects_and_serves_just_those)
        let read = move || while each.recv().is_ok() && found.send(event::read()).is_ok() {};
        thread::Builder::new().name("keys".to_owned()).spawn(read)?;
        Ok(Reader { wanted, events, is_reading: false })
    }

    fn next(&mut self) -> Result<io::Result<event::Event>, RecvTimeoutError> {
        if !self.is_reading {
            self.wanted.send(()).map_err(|_| RecvTimeoutError::Disconnected)?;
            self.is_reading = true;
        }
        let event = self.events.recv_timeout(LOOK_UP)?;
        self.is_reading = false;
        Ok(event)
    }
}

/// Whether the other end of the terminal is closed.
fn is_gone() -> bool {
    let input = rustix::stdio::stdin();
    let mut polled = [PollFd::new(&input, PollFlags::empty())];
    let ended = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    poll(&mut polled, Some(&Timespec::default())).is_ok() && polled[0].revents().intersects(ended)
}

/// Discards type-ahead until nothing more arrives at once: a terminal delivers a paste in pieces.
pub(super) fn forget_what_was_typed() {
    let input = rustix::stdio::stdin();
    for _ in 0..MOST_PIECES {
        // SECURITY: it was typed at the picker, and must not answer the question that follows
        // (test: lines_typed_ahead_are_not_an_answer)
        let _ = tcflush(input, QueueSelector::IFlush);
        if poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&TOGETHER)) == Ok(0) {
            return;
        }
    }
}
