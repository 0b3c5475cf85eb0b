//! The terminal: taken over, drawn on, read from, and given back whatever happens. Crossterm knows the sequences.

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

/// How long it takes at the most until a new size, a signal or a hangup is noticed.
const LOOK_UP: Duration = Duration::from_millis(200);

/// What was typed ahead is gone when nothing follows within this time.
const TOGETHER: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// How often input that does not end is thrown away.
const MOST_PIECES: usize = 40;

/// Where the size is not known.
const USUAL: Size = Size { columns: 80, lines: 24 };

/// Whether lines may stand out.
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
    /// Time passed; the size may be another.
    Nothing,
    /// The terminal is gone.
    Closed,
    /// A signal asks the program to end.
    Ended,
}

/// The terminal while the picker has it.
pub(super) struct Screen {
    held: Arc<Held>,
    signal: Arc<AtomicBool>,
    styles: Styles,
    reader: Reader,
}

/// What is given back, once.
#[derive(Default)]
struct Held {
    /// Whether it was given back. Signals then do what they always do.
    given_back: Arc<AtomicBool>,
}

impl Held {
    fn give_back(&self) {
        if self.given_back.swap(true, Ordering::SeqCst) {
            return;
        }
        // Where the terminal is gone, nobody is left to give it back to.
        let _ = execute!(io::stderr(), DisableBracketedPaste, EnableLineWrap, Show, LeaveAlternateScreen);
        let _ = disable_raw_mode();
        // What was typed to the picker does not go to the program that reads next.
        let _ = tcflush(rustix::stdio::stdin(), QueueSelector::IFlush);
    }
}

impl Screen {
    /// Takes the terminal of standard input and standard error over.
    pub(super) fn take(styles: Styles) -> io::Result<Screen> {
        let held = Arc::new(Held::default());
        let signal = Arc::new(AtomicBool::new(false));
        for number in [SIGTERM, SIGINT] {
            flag::register_conditional_default(number, Arc::clone(&held.given_back))?;
            flag::register(number, Arc::clone(&signal))?;
        }
        // Where a panic ends the program at once, nothing is dropped.
        let (in_panic, hook) = (Arc::clone(&held), panic::take_hook());
        panic::set_hook(Box::new(move |info| {
            in_panic.give_back();
            hook(info);
        }));
        let screen = Screen { held, signal, styles, reader: Reader::start()? };
        tcflush(rustix::stdio::stdin(), QueueSelector::IFlush)?;
        // Ctrl-C and Ctrl-Z are keys like others: the picker ends by itself, and is not stopped halfway.
        enable_raw_mode()?;
        execute!(io::stderr(), EnterAlternateScreen, Hide, DisableLineWrap, EnableBracketedPaste)?;
        Ok(screen)
    }

    /// Of the terminal that is drawn on: crossterm asks the controlling one, which may be another, and runs `tput` where there is none.
    pub(super) fn size() -> Size {
        let size = tcgetwinsize(rustix::stdio::stderr());
        let size = size.map(|size| Size { columns: size.ws_col.into(), lines: size.ws_row.into() });
        size.ok().filter(|size| size.columns > 0 && size.lines > 0).unwrap_or(USUAL)
    }

    /// Shows these lines, as many as the screen has.
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
        // Where the terminal is gone there is nobody left to show anything to; reading tells.
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
        self.held.give_back();
    }
}

/// Crossterm on a thread of its own. It does not return while half a key was read, and never where the terminal is gone.
struct Reader {
    wanted: Sender<()>,
    events: Receiver<io::Result<event::Event>>,
    /// Whether an event is being waited for.
    is_reading: bool,
}

impl Reader {
    fn start() -> io::Result<Reader> {
        let (wanted, each) = channel();
        let (found, events) = channel();
        // SECURITY: an event is read only when one is wanted: what is typed to the question that follows is the question's
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

/// Throws away what was typed ahead, until nothing more comes at once: a terminal hands a paste on in pieces.
pub(super) fn forget_what_was_typed() {
    let input = rustix::stdio::stdin();
    for _ in 0..MOST_PIECES {
        // SECURITY: it was typed to the picker, and must not answer the question that follows
        // (test: lines_typed_ahead_are_no_answer)
        let _ = tcflush(input, QueueSelector::IFlush);
        if poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&TOGETHER)) == Ok(0) {
            return;
        }
    }
}
