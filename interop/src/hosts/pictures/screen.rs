//! The content of a terminal: characters in cells, each with a style. Parsed from the output of `tmux capture-pane -e -p`.

/// How a cell looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Style {
    pub(super) ink: Option<Colour>,
    pub(super) paper: Option<Colour>,
    pub(super) bold: bool,
    pub(super) dim: bool,
    pub(super) reversed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Colour {
    /// A colour of the terminal's palette of 256.
    Number(u8),
    Exact(u8, u8, u8),
}

/// Rows of characters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Screen {
    pub(super) rows: Vec<Vec<(char, Style)>>,
}

impl Screen {
    /// Parses the rows. Drops trailing empty rows, and trailing blanks in each row.
    pub(super) fn read(text: &str) -> Screen {
        let mut style = Style::default();
        let mut rows: Vec<Vec<(char, Style)>> = text.lines().map(|line| row(line, &mut style)).collect();
        for row in &mut rows {
            let is_blank = |(letter, style): &(char, Style)| *letter == ' ' && !style.reversed && style.paper.is_none();
            row.truncate(row.iter().rposition(|cell| !is_blank(cell)).map_or(0, |last| last + 1));
        }
        rows.truncate(rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1));
        Screen { rows }
    }

    /// The rows from the first one for which `first` is true, up to but not including the next one for which `last` is true.
    pub(super) fn between(&self, first: impl Fn(&str) -> bool, last: impl Fn(&str) -> bool) -> Screen {
        let text = |row: &[(char, Style)]| row.iter().map(|(letter, _)| letter).collect::<String>();
        let rows = self.rows.iter().skip_while(|row| !first(&text(row))).take_while(|row| !last(&text(row)));
        let mut rows: Vec<_> = rows.cloned().collect();
        rows.truncate(rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1));
        Screen { rows }
    }
}

/// The text without styles.
pub(super) fn plain(text: &str) -> String {
    let rows = Screen::read(text).rows;
    rows.iter().map(|row| row.iter().map(|(letter, _)| *letter).chain(['\n']).collect::<String>()).collect()
}

/// Parses a line. A style lasts until the next one, even past the end of a line.
fn row(line: &str, style: &mut Style) -> Vec<(char, Style)> {
    let mut cells = Vec::new();
    let mut rest = line.chars();
    while let Some(letter) = rest.next() {
        if letter != '\u{1b}' {
            cells.push((letter, *style));
            continue;
        }
        // tmux prints `ESC [ … m` for styles. It prints other sequences only for links and character sets.
        if rest.next() == Some('[') {
            let numbers: String = rest.by_ref().take_while(|letter| *letter != 'm').collect();
            restyle(style, &numbers);
        }
    }
    cells
}

/// Applies the numbers of an escape sequence to the style (ECMA-48, Select Graphic Rendition).
fn restyle(style: &mut Style, numbers: &str) {
    let mut numbers = numbers.split([';', ':']).map(|number| number.parse::<u8>().unwrap_or_default());
    while let Some(number) = numbers.next() {
        match number {
            0 => *style = Style::default(),
            1 => style.bold = true,
            2 => style.dim = true,
            7 => style.reversed = true,
            22 => (style.bold, style.dim) = (false, false),
            27 => style.reversed = false,
            30..=37 => style.ink = Some(Colour::Number(number - 30)),
            38 => style.ink = colour(&mut numbers),
            39 => style.ink = None,
            40..=47 => style.paper = Some(Colour::Number(number - 40)),
            48 => style.paper = colour(&mut numbers),
            49 => style.paper = None,
            90..=97 => style.ink = Some(Colour::Number(number - 90 + 8)),
            100..=107 => style.paper = Some(Colour::Number(number - 100 + 8)),
            _ => {}
        }
    }
}

fn colour(numbers: &mut impl Iterator<Item = u8>) -> Option<Colour> {
    match numbers.next()? {
        5 => Some(Colour::Number(numbers.next()?)),
        2 => Some(Colour::Exact(numbers.next()?, numbers.next()?, numbers.next()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_lasts_until_the_next_one() {
        let screen = Screen::read("a\u{1b}[1;31mb\u{1b}[38;2;1;2;3m c  \n\u{1b}[0md\u{1b}[7m \u{1b}[0m  \n\n");
        let red = Style { ink: Some(Colour::Number(1)), bold: true, ..Style::default() };
        let exact = Style { ink: Some(Colour::Exact(1, 2, 3)), ..red };
        let reversed = Style { reversed: true, ..Style::default() };
        let first = vec![('a', Style::default()), ('b', red), (' ', exact), ('c', exact)];
        assert_eq!(screen.rows, [first, vec![('d', Style::default()), (' ', reversed)]]);
        assert_eq!(plain("\u{1b}[4mx\u{1b}[0m  \n\ny\n\n"), "x\n\ny\n");
    }

    #[test]
    fn a_part_of_a_screen() {
        let screen = Screen::read("head\n> asked\nanswer\n\ndone\nfoot");
        let part = screen.between(|line| line.starts_with('>'), |line| line == "done");
        assert_eq!(part, Screen::read("> asked\nanswer"));
    }
}
