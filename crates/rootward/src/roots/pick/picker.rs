//! The picker without a terminal: takes keys, and holds the state to draw.

use std::ops::Range;

use rootward_client::choose::{Choice, Choices, Mark};
use rootward_client::store::SavedRoot;
use rootward_core::{Access, Shown};

use super::keys::Key;

/// The text about a choice. All of it is sanitized before it gets here.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    pub(super) name: String,
    pub(super) path: String,
    /// Why it is suggested, and how certain that is.
    pub(super) why: String,
    /// Who it is for, if that differs from new roots.
    pub(super) peers: Option<String>,
    /// Why a saved root is currently not shared.
    pub(super) trouble: Option<String>,
}

impl Words {
    /// The text that the filter searches.
    fn searched(&self) -> String {
        format!("{}\n{}", self.name, self.path).to_lowercase()
    }
}

/// The picker.
#[derive(Debug)]
pub(super) struct Picker {
    pub(super) choices: Choices,
    pub(super) words: Vec<Words>,
    /// The text to search, in lower case.
    searched: Vec<String>,
    /// The lines that match the filter, by index in the list.
    pub(super) visible: Vec<usize>,
    /// The current line, as an index into `visible`.
    pub(super) cursor: usize,
    /// The first line on the screen, as an index into `visible`.
    pub(super) top: usize,
    pub(super) mode: Mode,
    pub(super) filter: String,
    /// The name or path being typed.
    pub(super) typed: String,
    /// A message about the last key.
    pub(super) said: Option<String>,
}

/// What keys mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    Choosing,
    /// Letters go to the filter.
    Filtering,
    /// Letters go to the name of the current line.
    Naming,
    /// Letters go to the path of a directory that is not in the list.
    Adding,
    /// The help is shown, from this line on.
    Help(usize),
}

/// What a key leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Stay,
    /// Leave without changes.
    Leave,
    /// Look up the typed path and add it to the list.
    Add,
    /// Save what is marked, if the user agrees.
    Accept,
}

/// The longest filter and the longest name, in letters.
const LONGEST_FILTER: usize = 200;
/// The longest path, in letters.
const LONGEST_PATH: usize = 4096;

impl Picker {
    /// One of `words` for each choice.
    pub(super) fn new(choices: Choices, words: Vec<Words>, said: Option<String>) -> Picker {
        let searched = words.iter().map(Words::searched).collect();
        let visible = (0..choices.list().len()).collect();
        let (mode, filter) = (Mode::Choosing, String::new());
        Picker { choices, words, searched, visible, cursor: 0, top: 0, mode, filter, typed: String::new(), said }
    }

    /// Handles a key; `rows` is how many lines of the list fit on the screen.
    pub(super) fn press(&mut self, key: &Key, rows: usize) -> Step {
        self.said = None;
        match (self.mode, key) {
            (_, Key::Interrupt) => return Step::Leave,
            (Mode::Help(top), key) => self.mode = help(top, key),
            (Mode::Filtering, Key::Letter(letter)) => self.narrow(&letter.to_string()),
            (Mode::Filtering, Key::Pasted(text)) => self.narrow(text),
            (Mode::Filtering, Key::Backspace) => {
                self.filter.pop();
                self.search();
            }
            (Mode::Naming | Mode::Adding, key) => return self.press_typing(key),
            (Mode::Filtering, Key::Enter) => self.mode = Mode::Choosing,
            (Mode::Choosing, Key::Enter) => return self.accept(),
            (Mode::Choosing, Key::Letter(letter)) => return self.letter(*letter),
            (_, Key::Escape) if self.mode == Mode::Choosing && self.filter.is_empty() => return Step::Leave,
            (_, Key::Escape) => {
                self.mode = Mode::Choosing;
                self.widen();
            }
            (_, Key::Erase) => self.widen(),
            (_, Key::Up) => self.go(self.cursor.saturating_sub(1)),
            (_, Key::Down) => self.go(self.cursor + 1),
            (_, Key::PageUp) => self.go(self.cursor.saturating_sub(rows.max(1))),
            (_, Key::PageDown) => self.go(self.cursor + rows.max(1)),
            (_, Key::Home) => self.go(0),
            (_, Key::End) => self.go(usize::MAX),
            // SECURITY: a paste must not act as keys: it may contain an Enter and a yes
            // (test: a_paste_chooses_nothing)
            (Mode::Choosing, Key::Pasted(_) | Key::Backspace) => {}
        }
        Step::Stay
    }

    /// Scrolls so that the current line is visible; returns the range of visible lines.
    pub(super) fn scroll(&mut self, rows: usize) -> Range<usize> {
        let rows = rows.max(1);
        let lowest = self.visible.len().saturating_sub(rows);
        let around = self.cursor.saturating_sub(rows - 1)..=self.cursor;
        self.top = self.top.clamp(*around.start(), *around.end()).min(lowest);
        self.top..self.visible.len().min(self.top + rows)
    }

    /// The current line, as an index into the list.
    pub(super) fn current(&self) -> Option<usize> {
        self.visible.get(self.cursor).copied()
    }

    /// How many are marked.
    pub(super) fn marked(&self) -> usize {
        self.choices.list().iter().filter(|choice| choice.mark() == Mark::Chosen).count()
    }

    fn choice(&self) -> Option<&Choice> {
        self.choices.list().get(self.current()?)
    }

    fn letter(&mut self, letter: char) -> Step {
        match letter {
            'q' | 'Q' => return Step::Leave,
            'j' => self.go(self.cursor + 1),
            'k' => self.go(self.cursor.saturating_sub(1)),
            'g' => self.go(0),
            'G' => self.go(usize::MAX),
            ' ' => self.mark(None),
            'r' => self.mark(Some(Access::READ)),
            'w' => self.mark(Some(Access::READ_WRITE)),
            'W' => self.mark(Some(Access::READ | Access::WRITE)),
            'x' => self.mark(Some(Access::ALL)),
            'a' => {
                self.typed.clear();
                self.mode = Mode::Adding;
            }
            '/' => self.mode = Mode::Filtering,
            'n' => self.begin_naming(),
            '?' | 'h' => self.mode = Mode::Help(0),
            _ => self.said = Some("press ? for help".to_owned()),
        }
        Step::Stay
    }

    /// Marks the current line, with this access or the previous one.
    fn mark(&mut self, access: Option<Access>) {
        let Some(current) = self.current() else { return };
        let done = match access {
            None => self.choices.toggle(current),
            Some(access) => self.choices.grant(current, access),
        };
        if let Err(unchosen) = done {
            self.said = Some(unchosen.to_string());
            return;
        }
        // On a small screen, only this message shows it.
        let marked = self.choice().filter(|choice| choice.mark() == Mark::Chosen);
        self.said = marked.map(|choice| choice.root().access.to_string());
    }

    fn begin_naming(&mut self) {
        let Some(choice) = self.choice() else { return };
        if let Some(obstacle) = choice.obstacle() {
            self.said = Some(format!("it cannot be shared: {obstacle}"));
            return;
        }
        self.typed = choice.root().name.clone().unwrap_or_else(|| choice.root().root().title());
        self.mode = Mode::Naming;
    }

    /// Handles a key for the name or path being typed. The line being named stays the current one.
    fn press_typing(&mut self, key: &Key) -> Step {
        match key {
            Key::Letter(letter) => self.type_on(&letter.to_string()),
            Key::Pasted(text) => self.type_on(text),
            Key::Backspace => drop(self.typed.pop()),
            Key::Erase => self.typed.clear(),
            Key::Enter if self.mode == Mode::Naming => self.rename(),
            Key::Enter if !self.typed.trim().is_empty() => return Step::Add,
            Key::Enter | Key::Escape => self.mode = Mode::Choosing,
            _ => {}
        }
        Step::Stay
    }

    fn type_on(&mut self, more: &str) {
        let most = if self.mode == Mode::Naming { LONGEST_FILTER } else { LONGEST_PATH };
        let room = most.saturating_sub(self.typed.chars().count());
        self.typed.extend(more.chars().filter(|letter| !letter.is_control()).take(room));
    }

    /// Applies the typed name.
    fn rename(&mut self) {
        let Some(current) = self.current() else { return };
        match self.choices.rename(current, self.typed.trim()) {
            Ok(()) => {
                self.words[current].name = Shown::new(self.typed.trim()).to_string();
                self.searched[current] = self.words[current].searched();
                self.mode = Mode::Choosing;
            }
            Err(unchosen) => self.said = Some(unchosen.to_string()),
        }
    }

    /// Adds the typed root to the list, marked, and moves there. `words` makes the text of a new line.
    pub(super) fn add(&mut self, root: SavedRoot, words: impl FnOnce(&Choice) -> Words) {
        let before = self.choices.list().len();
        match self.choices.add(root) {
            Ok(at) => {
                if self.choices.list().len() > before {
                    self.words.insert(at, words(&self.choices.list()[at]));
                    self.searched.insert(at, self.words[at].searched());
                } else {
                    self.said = Some("it is already in the list".to_owned());
                }
                self.mode = Mode::Choosing;
                // The filter may hide it.
                self.widen();
                self.go(at);
            }
            Err(unchosen) => self.said = Some(unchosen.to_string()),
        }
    }

    fn accept(&mut self) -> Step {
        if self.choices.difference().is_empty() {
            // A newcomer may think that Enter marks.
            self.said = Some("nothing to change yet: press space to mark, q to quit".to_owned());
            return Step::Stay;
        }
        Step::Accept
    }

    fn narrow(&mut self, more: &str) {
        let room = LONGEST_FILTER.saturating_sub(self.filter.chars().count());
        self.filter.extend(more.chars().filter(|letter| !letter.is_control()).take(room));
        self.search();
    }

    fn widen(&mut self) {
        self.filter.clear();
        self.search();
    }

    /// Keeps the lines that contain every word of the filter, and stays at the current one if it is among them.
    fn search(&mut self) {
        let current = self.current();
        let filter = self.filter.to_lowercase();
        let has_all = |at: &usize| filter.split_whitespace().all(|word| self.searched[*at].contains(word));
        self.visible = (0..self.searched.len()).filter(has_all).collect();
        self.cursor = current.and_then(|current| self.visible.binary_search(&current).ok()).unwrap_or(0);
    }

    fn go(&mut self, to: usize) {
        self.cursor = to.min(self.visible.len().saturating_sub(1));
    }
}

/// Arrows scroll the help; any other key closes it.
fn help(top: usize, key: &Key) -> Mode {
    match key {
        Key::Down | Key::PageDown | Key::Letter('j') => Mode::Help((top + 1).min(super::drawing::HELP.len() - 1)),
        Key::Up | Key::PageUp | Key::Letter('k') => Mode::Help(top.saturating_sub(1)),
        _ => Mode::Choosing,
    }
}
