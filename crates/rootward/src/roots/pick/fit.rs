//! Fits text into columns, by its width on a terminal.

use unicode_width::UnicodeWidthChar;

/// Marks where text was cut off.
const CUT: char = '…';

/// Which end of a text matters less.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cut {
    /// The beginning: a path is recognized by its end.
    Start,
    End,
}

/// How many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(|letter| shown(letter).1).sum()
}

/// The text in exactly this many columns: cut, or padded with blanks.
pub(super) fn fit(text: &str, columns: usize, cut: Cut) -> String {
    let mut kept: Vec<char> = Vec::new();
    let mut taken = 0;
    let mut put = |letter: char, room: usize| {
        let (letter, width) = shown(letter);
        let fits = taken + width <= room;
        if fits {
            taken += width;
            kept.push(letter);
        }
        fits
    };
    if width(text) <= columns {
        text.chars().for_each(|letter| {
            put(letter, columns);
        });
    } else if columns > 0 {
        put(CUT, columns);
        // Room for the mark is already reserved.
        match cut {
            Cut::End => drop(text.chars().all(|letter| put(letter, columns))),
            Cut::Start => drop(text.chars().rev().all(|letter| put(letter, columns))),
        }
        match cut {
            Cut::End => kept.rotate_left(1),
            Cut::Start => kept[1..].reverse(),
        }
    }
    kept.extend(std::iter::repeat_n(' ', columns - taken));
    kept.into_iter().collect()
}

/// A character as drawn, and its width. Text is sanitized earlier; this is the last line of defense.
fn shown(letter: char) -> (char, usize) {
    let stands_for_itself = matches!(letter, '\'' | '"' | '\\') || letter.escape_debug().count() == 1;
    // SECURITY: nothing that moves the cursor or reverses the line reaches the terminal from here, regardless of its
    // source
    // (test: nothing_but_text_is_drawn)
    letter.width().filter(|_| stands_for_itself).map_or(('\u{fffd}', 1), |width| (letter, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_wide_as_there_is_room() {
        let check = |text: &str, columns: usize, end: &str, start: &str| {
            assert_eq!(fit(text, columns, Cut::End), end, "{text} {columns}");
            assert_eq!(fit(text, columns, Cut::Start), start, "{text} {columns}");
            assert_eq!((width(end), width(start)), (columns, columns));
        };
        check("abc", 5, "abc  ", "abc  ");
        check("abc", 3, "abc", "abc");
        check("abcd", 3, "ab…", "…cd");
        check("abcd", 1, "…", "…");
        check("abcd", 0, "", "");
        check("", 2, "  ", "  ");
        // Characters of two columns do not fit into one.
        check("世界世界", 8, "世界世界", "世界世界");
        check("世界世界", 7, "世界世…", "…界世界");
        check("世界世界", 6, "世界… ", "…世界 ");
        check("a\x1b\n\x07", 4, "a\u{fffd}\u{fffd}\u{fffd}", "a\u{fffd}\u{fffd}\u{fffd}");
    }
}
