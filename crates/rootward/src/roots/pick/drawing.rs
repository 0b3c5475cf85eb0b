//! The picker as lines of text: a pure function of its state and the size of the screen.

use rootward_client::choose::{Choice, Mark};
use rootward_core::{Access, Shown};

use super::fit::{Cut, fit, width};
use super::picker::{Mode, Picker, Words};

/// How many columns and lines a screen has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) lines: usize,
}

/// How a line is highlighted, if the terminal can do that. Its text does not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    Plain,
    Title,
    Current,
    Faint,
}

/// A line exactly as wide as the screen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) style: Style,
}

pub(super) const HELP: &[(&str, &str)] = &[
    ("space", "mark or unmark"),
    ("r", "mark: read"),
    ("w", "mark: read, write, delete"),
    ("W", "mark: read, write"),
    ("x", "mark: full access, also execute"),
    ("a", "add a directory by its path"),
    ("n", "mark and rename"),
    ("up k", "up one line"),
    ("down j", "down one line"),
    ("PgUp", "up one page"),
    ("PgDn", "down one page"),
    ("Home g", "to the first line"),
    ("End G", "to the last line"),
    ("/", "filter by name and path"),
    ("Enter", "review the changes and confirm"),
    ("q Esc ^C", "quit without changes"),
];

/// From this height on, details of the current line are shown below the list.
const WITH_DETAIL: usize = 12;
/// From this height on, there is a title.
const WITH_TITLE: usize = 6;
const DETAIL: usize = 3;
/// The cursor, the mark, and a blank.
const MARK: usize = 6;
/// The maximum indentation level.
const DEEPEST: usize = 6;

/// How many lines of the list fit.
pub(super) fn rows(size: Size) -> usize {
    let others = match size.lines {
        WITH_DETAIL.. => 3 + 1 + DETAIL,
        WITH_TITLE.. => 2,
        2.. => 1,
        _ => 0,
    };
    size.lines.saturating_sub(others)
}

/// The whole screen.
pub(super) fn draw(picker: &mut Picker, size: Size) -> Vec<Line> {
    let mut lines = Vec::with_capacity(size.lines);
    let mut put = |text: &str, style| lines.push(Line { text: fit(text, size.columns, Cut::End), style });
    if size.lines >= WITH_TITLE {
        put(&title(picker), Style::Title);
    }
    if size.lines >= WITH_DETAIL {
        put("Mark what to share. Nothing changes until you confirm at the end.", Style::Plain);
    }
    let rows = rows(size);
    if let Mode::Help(top) = picker.mode {
        for at in top..top + rows {
            let line = HELP.get(at).map(|(key, says)| format!("{key:<9} {says}"));
            put(&line.unwrap_or_default(), Style::Plain);
        }
    } else {
        let shown = picker.scroll(rows);
        let columns = Columns::of(picker, size);
        for at in shown.start..shown.start + rows {
            match picker.visible.get(at) {
                Some(line) => {
                    let style = style(picker, *line, at);
                    put(&columns.row(picker, *line, at == picker.cursor), style);
                }
                None if at == 0 && picker.filter.is_empty() => {
                    put("      nothing found: press a to add a directory", Style::Faint);
                }
                None if at == 0 => put("      no match: press Esc to show all", Style::Faint),
                None => put("", Style::Plain),
            }
        }
    }
    if size.lines >= WITH_DETAIL {
        put(&position(picker, rows, size.columns), Style::Faint);
        let [path, why, state] = detail(picker);
        lines.push(Line { text: fit(&path, size.columns, Cut::Start), style: Style::Plain });
        for text in [why, state] {
            lines.push(Line { text: fit(&text, size.columns, Cut::End), style: Style::Plain });
        }
    }
    if size.lines >= 2 {
        lines.push(Line { text: fit(&bottom(picker, size), size.columns, Cut::End), style: Style::Title });
    }
    lines
}

fn title(picker: &Picker) -> String {
    let all = picker.choices.list().len();
    let found = if picker.visible.len() == all { String::new() } else { format!("{} of ", picker.visible.len()) };
    format!("Choose the directories to share  {found}{all} found or saved, {} marked", picker.marked())
}

/// The scroll position, at the right end.
fn position(picker: &Picker, rows: usize, columns: usize) -> String {
    if matches!(picker.mode, Mode::Help(_)) || picker.visible.len() <= rows {
        return "─".repeat(columns);
    }
    let last = picker.visible.len().min(picker.top + rows);
    let says = format!(" {} to {last} of {} ", picker.top + 1, picker.visible.len());
    let line = "─".repeat(columns.saturating_sub(width(&says) + 2));
    format!("{line}{says}──")
}

/// The last line: a message, what is being typed, or the keys.
fn bottom(picker: &Picker, size: Size) -> String {
    let typing = match picker.mode {
        Mode::Filtering => Some(("/", &picker.filter)),
        Mode::Naming if picker.said.is_none() => Some(("name: ", &picker.typed)),
        Mode::Adding if picker.said.is_none() => Some(("add: ", &picker.typed)),
        _ => None,
    };
    if let Some((label, typed)) = typing {
        // Show the end, where the user is typing.
        let typed = Shown::new(typed).to_string();
        let room = size.columns.saturating_sub(label.len() + 1).min(width(&typed));
        return format!("{label}{}_", fit(&typed, room, Cut::Start));
    }
    if let Some(said) = &picker.said {
        return Shown::new(said).to_string();
    }
    if let Mode::Help(_) = picker.mode {
        return "press any key to go back".to_owned();
    }
    let keys = if picker.filter.is_empty() {
        ["? help", "space mark", "enter review", "q quit", "a add", "/ filter", "r w x access", "n name"]
    } else {
        ["? help", "esc show all", "space mark", "enter review", "a add", "/ filter", "r w x access", "n name"]
    };
    let mut line = keys[0].to_owned();
    for key in &keys[1..] {
        if width(&line) + 3 + width(key) <= size.columns {
            line = format!("{line} · {key}");
        }
    }
    line
}

fn style(picker: &Picker, line: usize, at: usize) -> Style {
    match &picker.choices.list()[line] {
        _ if at == picker.cursor => Style::Current,
        choice if choice.obstacle().is_some() => Style::Faint,
        _ => Style::Plain,
    }
}

/// The widths of names and paths, and what is left for the rest.
struct Columns {
    name: usize,
    path: usize,
    rest: usize,
}

impl Columns {
    fn of(picker: &Picker, size: Size) -> Columns {
        let room = size.columns.saturating_sub(MARK);
        let shown = picker.visible.iter().skip(picker.top).take(rows(size));
        let (mut name, mut path) = (0, 0);
        for at in shown {
            let words = &picker.words[*at];
            name = name.max(indent(&picker.choices.list()[*at]) + width(&words.name));
            path = path.max(width(&words.path));
        }
        // If only the name fits, there is little room for more.
        let name = name.min(if room < 30 { room } else { room * 2 / 5 });
        let left = room.saturating_sub(name + 2);
        let path = if left < 16 { 0 } else { path.min(left * 3 / 5) };
        let rest = if path == 0 { left } else { left.saturating_sub(path + 2) };
        Columns { name, path, rest }
    }

    fn row(&self, picker: &Picker, line: usize, is_current: bool) -> String {
        let (choice, words) = (&picker.choices.list()[line], &picker.words[line]);
        let mark = match choice.mark() {
            _ if choice.obstacle().is_some() => " - ",
            Mark::Chosen => "[x]",
            Mark::Left => "[ ]",
        };
        let cursor = if is_current { '>' } else { ' ' };
        let name = fit(&format!("{}{}", " ".repeat(indent(choice)), words.name), self.name, Cut::End);
        let mut row = format!("{cursor} {mark} {name}");
        if self.path > 0 {
            row = format!("{row}  {}", fit(&words.path, self.path, Cut::Start));
        }
        if self.rest > 0 {
            row = format!("{row}  {}", fit(&tells(choice, words), self.rest, Cut::End));
        }
        row
    }
}

fn indent(choice: &Choice) -> usize {
    choice.depth().min(DEEPEST) * 2
}

/// The most important fact about a line.
pub(super) fn tells(choice: &Choice, words: &Words) -> String {
    let access = in_words(choice.root().access);
    let mut says = match (choice.obstacle(), choice.before(), choice.mark()) {
        (Some(obstacle), ..) => return format!("cannot be shared: {}", Shown::new(obstacle)),
        (_, None, Mark::Left) => return words.why.clone(),
        (_, None, Mark::Chosen) => format!("{access} (new)"),
        (_, Some(before), Mark::Chosen) if before != choice.root().access => {
            format!("{access} (was {})", in_words(before))
        }
        (_, Some(_), Mark::Chosen) if choice.is_renamed() => format!("{access} (renamed)"),
        (_, Some(_), Mark::Chosen) => format!("{access} (saved)"),
        (_, Some(_), Mark::Left) => "no longer shared".to_owned(),
    };
    if let Some(peers) = &words.peers {
        says = format!("{says}, for {peers}");
    }
    if let Some(trouble) = &words.trouble {
        says = format!("{says}, currently not shared: {trouble}");
    }
    says
}

/// `full access` fits where its four words would be cut before `execute`.
fn in_words(access: Access) -> String {
    if access == Access::ALL { "full access".to_owned() } else { access.to_string() }
}

/// The current line in full: where it is, why it is listed, and what will happen to it.
fn detail(picker: &Picker) -> [String; DETAIL] {
    let Some(at) = picker.current() else { return [const { String::new() }; DETAIL] };
    let (choice, words) = (&picker.choices.list()[at], &picker.words[at]);
    let has_words = choice.found().is_some() || choice.root().pattern.is_some() || choice.before().is_none();
    let why = if has_words { words.why.clone() } else { "saved; outside the searched directories".to_owned() };
    let state = match (choice.obstacle(), choice.before(), choice.mark()) {
        (None, None, Mark::Left) => "not marked".to_owned(),
        _ => tells(choice, words),
    };
    [format!("{}  {}", words.path, words.name), why, state]
}
