//! A line for display: as text, without its newline, and shortened.

/// How many bytes of a line to show.
const LONGEST: usize = 500;

/// How many of them to show before the match.
const BEFORE: usize = 100;

/// Marks text that was cut off.
const CUT: &str = "[…]";

/// Formats a line. For a long line it shows the part around `position`, which it calls only then.
pub(super) fn shown(line: &[u8], position: impl FnOnce() -> usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= LONGEST {
        return String::from_utf8_lossy(line).into_owned();
    }
    let from = position().saturating_sub(BEFORE).min(line.len() - LONGEST);
    let from = between_letters(line, from);
    let to = between_letters(line, from + LONGEST);
    let mut text = String::with_capacity(to - from + 2 * CUT.len());
    if from > 0 {
        text.push_str(CUT);
    }
    text.push_str(&String::from_utf8_lossy(&line[from..to]));
    if to < line.len() {
        text.push_str(CUT);
    }
    text
}

/// The position, moved back if it is inside a character.
fn between_letters(line: &[u8], position: usize) -> usize {
    let position = position.min(line.len());
    let is_within = |at: &usize| line.get(*at).is_some_and(|byte| byte & 0xC0 == 0x80);
    (position.saturating_sub(3)..=position).rev().find(|at| !is_within(at)).unwrap_or(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_without_its_end() {
        let check = |line: &[u8], expect: &str| assert_eq!(shown(line, || 0), expect);
        check(b"", "");
        check(b"a\n", "a");
        check(b"a\r\n", "a");
        check(b"a\r\r\n", "a\r");
        check(b"a\xffb\n", "a\u{fffd}b");
    }

    #[test]
    fn a_long_line_is_shown_around_its_match() {
        let line = |before: usize, after: usize| ["x".repeat(before), "match".into(), "y".repeat(after)].concat();
        let check = |before: usize, after: usize, begins: &str, ends: &str| {
            let text = shown(line(before, after).as_bytes(), || before);
            assert!(text.contains("match") && text.len() <= LONGEST + 2 * CUT.len(), "{text}");
            assert!(text.starts_with(begins) && text.ends_with(ends), "{text}");
        };
        check(0, 1000, "match", "y[…]");
        check(1000, 0, "[…]x", "match");
        check(1000, 1000, "[…]x", "y[…]");
        check(200, 290, "x", "y");
    }

    #[test]
    fn no_letter_is_cut_in_two() {
        for before in 0..4 {
            let line = ["x".repeat(before), "käse €𝄞".repeat(400)].concat();
            for position in 0..line.len() {
                assert!(!shown(line.as_bytes(), || position).contains('\u{fffd}'));
            }
        }
        // Bytes that are not characters have no boundaries.
        assert!(shown(&[0x80; 2000], || 900).starts_with(CUT));
    }
}
