//! The terminal: taken over, drawn on, read from, and given back whatever happens.

use std::io::{self, Write};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{
    OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcgetwinsize, tcsetattr,
};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::drawing::{Line, Size, Style};
use super::keys::{Key, Keys};

/// Another screen, no cursor, no wrapping, and pastes marked as such.
const TAKE: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h";
const GIVE_BACK: &str = "\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l";

/// How long it takes at the most until a new size or a signal is noticed, in milliseconds.
const LOOK_UP: i64 = 200;
/// What belongs to one key comes at once; ESC alone is a key when nothing follows within this time.
const TOGETHER: i64 = 50;

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
    Keys(Vec<Key>),
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
    keys: Keys,
}

/// What is given back, once.
struct Held {
    before: Termios,
    /// Whether it was given back. Signals then do what they always do.
    given_back: Arc<AtomicBool>,
}

impl Held {
    fn give_back(&self) {
        if self.given_back.swap(true, Ordering::SeqCst) {
            return;
        }
        put(GIVE_BACK);
        // What was typed to the picker does not go to whoever reads next.
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &self.before);
    }
}

impl Screen {
    /// Takes the terminal of standard input and standard error over.
    pub(super) fn take(styles: Styles) -> io::Result<Screen> {
        let before = tcgetattr(rustix::stdio::stdin())?;
        let mut raw = before.clone();
        // Ctrl-C and Ctrl-Z are bytes like others: the picker ends by itself, and is not stopped halfway.
        raw.make_raw();
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        let given_back = Arc::new(AtomicBool::new(false));
        let signal = Arc::new(AtomicBool::new(false));
        for number in [SIGTERM, SIGINT] {
            flag::register_conditional_default(number, Arc::clone(&given_back))?;
            flag::register(number, Arc::clone(&signal))?;
        }
        let held = Arc::new(Held { before, given_back });
        // Where a panic ends the program at once, nothing is dropped.
        let (in_panic, hook) = (Arc::clone(&held), panic::take_hook());
        panic::set_hook(Box::new(move |info| {
            in_panic.give_back();
            hook(info);
        }));
        let screen = Screen { held, signal, styles, keys: Keys::default() };
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &raw)?;
        put(TAKE);
        Ok(screen)
    }

    pub(super) fn size() -> Size {
        let size = tcgetwinsize(rustix::stdio::stderr());
        let size = size.map(|size| Size { columns: size.ws_col.into(), lines: size.ws_row.into() });
        size.ok().filter(|size| size.columns > 0 && size.lines > 0).unwrap_or(USUAL)
    }

    /// Shows these lines, as many as the screen has.
    pub(super) fn show(&self, lines: &[Line]) {
        let mut text = String::new();
        for (number, line) in lines.iter().enumerate() {
            let style = match (self.styles, line.style) {
                (Styles::Unused, _) | (_, Style::Plain) => "",
                (Styles::Used, Style::Title) => "\x1b[1m",
                (Styles::Used, Style::Current) => "\x1b[7m",
                (Styles::Used, Style::Faint) => "\x1b[2m",
            };
            let end = if style.is_empty() { "" } else { "\x1b[0m" };
            text.extend(["\x1b[", &(number + 1).to_string(), ";1H\x1b[2K", style, &line.text, end]);
        }
        put(&text);
    }

    /// Waits for keys.
    pub(super) fn wait(&mut self) -> io::Result<Event> {
        let timeout = if self.keys.is_waiting() { TOGETHER } else { LOOK_UP };
        let timeout = Timespec { tv_sec: 0, tv_nsec: timeout * 1_000_000 };
        let input = rustix::stdio::stdin();
        let polled = poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&timeout));
        if self.signal.load(Ordering::SeqCst) {
            return Ok(Event::Ended);
        }
        match polled {
            Ok(0) if self.keys.is_waiting() => return Ok(Event::Keys(self.keys.settle())),
            Ok(0) | Err(Errno::INTR) => return Ok(Event::Nothing),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut bytes = [0; 1024];
        match rustix::io::read(input, &mut bytes) {
            Ok(0) | Err(Errno::IO) => Ok(Event::Closed),
            Ok(read) => Ok(Event::Keys(self.keys.take(&bytes[..read]))),
            Err(Errno::INTR | Errno::AGAIN) => Ok(Event::Nothing),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.held.give_back();
    }
}

/// Throws away what was typed ahead, until nothing more comes at once: a terminal hands a paste on in pieces.
pub(super) fn forget_what_was_typed() {
    let input = rustix::stdio::stdin();
    let moment = Timespec { tv_sec: 0, tv_nsec: TOGETHER * 1_000_000 };
    for _ in 0..MOST_PIECES {
        // SECURITY: it was typed to the picker, and must not answer the question that follows
        // (test: lines_typed_ahead_are_no_answer)
        let _ = tcflush(input, QueueSelector::IFlush);
        if poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&moment)) == Ok(0) {
            return;
        }
    }
}

fn put(text: &str) {
    // Where the terminal is gone there is nobody left to show anything to; reading tells.
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
