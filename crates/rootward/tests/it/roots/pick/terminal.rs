//! A terminal to run a program on: a real pseudo-terminal, and a screen that knows only the sequences that the picker writes.

use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use unicode_width::UnicodeWidthStr;

use crate::place::PATIENCE;

/// The contents of the screen.
#[derive(Default)]
pub(super) struct Screen {
    /// The lines of the alternate screen, while it is shown.
    other: Option<Vec<String>>,
    /// What was written to the main screen.
    pub(super) usual: String,
    /// Modes that were set and not reset, in order.
    pub(super) modes: Vec<String>,
    /// Control sequences that the picker must never write.
    pub(super) strange: Vec<String>,
    /// Whether any line was highlighted.
    pub(super) styled: bool,
    line: usize,
    waiting: Vec<u8>,
}

impl Screen {
    /// The whole screen as text.
    pub(super) fn text(&self) -> String {
        match &self.other {
            Some(lines) => lines.join("\n"),
            None => self.usual.clone(),
        }
    }

    pub(super) fn is_other(&self) -> bool {
        self.other.is_some()
    }

    fn take(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
        let whole = self.waiting.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
        let text = String::from_utf8(self.waiting[..whole].to_vec()).unwrap();
        let mut rest = text.as_str();
        while let Some(letter) = rest.chars().next() {
            if letter == '\x1b' {
                let Some(sequence) = rest.strip_prefix("\x1b[") else {
                    if rest.len() > 1 {
                        self.strange.push(rest.chars().take(2).collect());
                        rest = &rest[1..];
                        continue;
                    }
                    break;
                };
                let Some(end) = sequence.find(|letter: char| !letter.is_ascii() || letter as u8 >= 0x40) else { break };
                let end = end + sequence[end..].chars().next().unwrap().len_utf8();
                self.sequence(&sequence[..end]);
                rest = &sequence[end..];
            } else {
                self.letter(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
        let left = rest.len() + self.waiting.len() - whole;
        self.waiting.drain(..self.waiting.len() - left);
    }

    fn sequence(&mut self, sequence: &str) {
        match sequence {
            "?1049h" => self.other = Some(Vec::new()),
            "?1049l" => self.other = None,
            "2K" => self.line_at().clear(),
            // The progress line of `detect`.
            "K" if self.other.is_none() => {}
            "0m" | "1m" | "2m" | "7m" => self.styled = true,
            "?25l" | "?25h" | "?7l" | "?7h" | "?2004h" | "?2004l" => {}
            _ => match sequence.strip_suffix(";1H").and_then(|line| line.parse::<usize>().ok()) {
                Some(line) => self.line = line - 1,
                None => self.strange.push(sequence.to_owned()),
            },
        }
        if let Some(mode) = sequence.strip_prefix('?') {
            let (name, set) = mode.split_at(mode.len() - 1);
            // The cursor and line wrapping are on by default.
            let by_itself = matches!(name, "25" | "7");
            if (set == "h") == by_itself {
                self.modes.retain(|mode| mode != name);
            } else {
                self.modes.push(name.to_owned());
            }
        }
    }

    fn letter(&mut self, letter: char) {
        match (&self.other, letter) {
            (None, '\r') => {}
            (None, letter) if letter == '\n' || !letter.is_control() => self.usual.push(letter),
            (Some(_), letter) if !letter.is_control() => self.line_at().push(letter),
            _ => self.strange.push(letter.to_string()),
        }
    }

    fn line_at(&mut self) -> &mut String {
        let lines = self.other.get_or_insert_default();
        lines.resize(lines.len().max(self.line + 1), String::new());
        &mut lines[self.line]
    }
}

/// A program on a terminal.
pub(super) struct Terminal {
    /// The user's end; `None` after it hung up.
    person: Option<OwnedFd>,
    /// The program's end, kept to inspect its settings.
    program: File,
    pub(super) before: String,
    pub(super) child: Child,
    pub(super) screen: Screen,
}

impl Terminal {
    pub(super) fn start(command: &mut Command, columns: u16, lines: u16) -> Terminal {
        // The program must not inherit it: it would keep its own terminal open.
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&person).and_then(|()| unlockpt(&person)).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let program = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let end = || Stdio::from(program.try_clone().unwrap());
        tcsetwinsize(&person, size(columns, lines)).unwrap();
        let before = settings(&tcgetattr(&program).unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        // The command keeps its file descriptors until they are replaced.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Terminal { person: Some(person), program, before, child, screen: Screen::default() }
    }

    pub(super) fn resize(&self, columns: u16, lines: u16) {
        tcsetwinsize(self.person.as_ref().unwrap(), size(columns, lines)).unwrap();
    }

    pub(super) fn keys(&mut self, keys: &str) {
        let mut rest = keys.as_bytes();
        while !rest.is_empty() {
            let written = rustix::io::write(self.person.as_ref().unwrap(), rest).unwrap();
            rest = &rest[written..];
        }
    }

    /// Waits until all of these are on the screen.
    pub(super) fn sees(&mut self, words: &[&str]) {
        self.until(&format!("{words:?}"), |screen| words.iter().all(|words| screen.text().contains(words)));
    }

    pub(super) fn until(&mut self, what: &str, is_so: impl Fn(&Screen) -> bool) {
        let begun = Instant::now();
        while !is_so(&self.screen) {
            assert!(begun.elapsed() < PATIENCE, "{what} is not on the screen:\n{}", self.screen.text());
            self.read();
            assert_eq!(self.screen.strange, [""; 0], "the picker writes no such thing");
        }
    }

    /// Waits until the program ends. Returns its exit code.
    pub(super) fn ends(&mut self) -> Option<i32> {
        let begun = Instant::now();
        loop {
            let ended = self.child.try_wait().unwrap();
            while self.read() {}
            if let Some(status) = ended {
                assert_eq!(self.screen.strange, [""; 0], "the picker writes no such thing");
                return status.code();
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end:\n{}", self.screen.text());
        }
    }

    /// Asserts that the terminal is as it was before the program started.
    pub(super) fn assert_given_back(&self) {
        assert_eq!(settings(&tcgetattr(&self.program).unwrap()), self.before);
        assert!(!self.screen.is_other() && self.screen.modes.is_empty(), "{:?}", self.screen.modes);
    }

    /// Whether the picker controls the terminal.
    pub(super) fn is_taken(&self) -> bool {
        settings(&tcgetattr(&self.program).unwrap()) != self.before
    }

    /// Closes the user's end.
    pub(super) fn hang_up(&mut self) {
        self.person = None;
    }

    /// The widest line of the screen, in columns.
    pub(super) fn widest(&self) -> usize {
        self.screen.text().lines().map(UnicodeWidthStr::width).max().unwrap_or(0)
    }

    /// Reads the available output, or waits a moment. Returns whether anything came.
    fn read(&mut self) -> bool {
        let Some(person) = &self.person else {
            std::thread::sleep(Duration::from_millis(10));
            return false;
        };
        let moment = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        let ready = poll(&mut [PollFd::new(person, PollFlags::IN)], Some(&moment)).unwrap();
        let mut bytes = [0; 4096];
        let read = if ready == 0 { 0 } else { rustix::io::read(person, &mut bytes).unwrap_or(0) };
        self.screen.take(&bytes[..read]);
        read > 0
    }
}

impl Drop for Terminal {
    /// A failed test leaves no picker behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(columns: u16, lines: u16) -> Winsize {
    Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// All settings of a terminal, for comparison.
fn settings(termios: &Termios) -> String {
    format!("{termios:?}")
}
