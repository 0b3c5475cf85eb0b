//! The changes of an edit as a unified diff, in a code fence: the format of `createTwoFilesPatch` in npm's `diff`.

use std::fmt::Write;
use std::ops::Range;
use std::time::Duration;

use similar::TextDiff;

/// Lines shown around a change.
const CONTEXT: usize = 4;

/// How long to search for the shortest diff; after that, a longer one will do.
const TO_SEARCH: Duration = Duration::from_secs(1);

/// The longest diff to show.
const LONGEST: usize = 256 << 10;

/// The diff between two texts, in a fence longer than any fence inside it.
pub(super) fn fenced(name: &str, before: &str, after: &str) -> String {
    let (diff, left_out) = cut(unified(name, before, after));
    let mut fence = String::from("```");
    while diff.contains(&fence) {
        fence.push('`');
    }
    let note = match left_out {
        0 => String::new(),
        lines => format!("The diff is long: {lines} more lines are not shown.\n"),
    };
    format!("{fence}diff\n{diff}{fence}\n\n{note}")
}

fn unified(name: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::configure().timeout(TO_SEARCH).diff_lines(before, after);
    let line = "=".repeat(67);
    let mut text = format!("Index: {name}\n{line}\n--- {name}\toriginal\n+++ {name}\tmodified\n");
    for group in diff.grouped_ops(CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let old = numbers(&(first.old_range().start..last.old_range().end));
        let new = numbers(&(first.new_range().start..last.new_range().end));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "@@ -{old} +{new} @@");
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let _ = write!(text, "{}{}", change.tag(), change.value());
            if !change.value().ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    text
}

/// The position of a hunk: its first line, counted from 1, or the line before if it is empty; and its number of lines.
fn numbers(lines: &Range<usize>) -> String {
    let first = if lines.is_empty() { lines.start } else { lines.start + 1 };
    format!("{first},{}", lines.len())
}

/// The diff, shortened to the limit, and how many lines were cut.
fn cut(mut diff: String) -> (String, usize) {
    if diff.len() <= LONGEST {
        return (diff, 0);
    }
    let end = diff.as_bytes()[..LONGEST].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let left_out = diff[end..].matches('\n').count();
    diff.truncate(end);
    (diff, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "Index: f\n===================================================================\n--- f\toriginal\n+++ f\tmodified\n";

    /// The output of npm's `diff` 8.0.4.
    #[test]
    fn the_form_is_that_of_the_reference() {
        let check = |before: &str, after: &str, expect: &str| {
            assert_eq!(unified("f", before, after), format!("{HEAD}{expect}"), "{before:?} {after:?}");
        };
        check("a\n", "a\n", "");
        check("a\nb\n", "a\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        check("", "a\n", "@@ -0,0 +1,1 @@\n+a\n");
        check("a\n", "", "@@ -1,1 +0,0 @@\n-a\n");
        check("a", "b", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n");
        check("1\n2\n3\n4\n5\n6\n7\n", "1\n2\n3\n4\n5\n6\nx\n", "@@ -3,5 +3,5 @@\n 3\n 4\n 5\n 6\n-7\n+x\n");
        let lines = |changed: &[usize], count: usize| -> String {
            (1..=count).map(|n| if changed.contains(&n) { format!("x{n}\n") } else { format!("{n}\n") }).collect()
        };
        // Eight lines between two changes keep them in one hunk, nine do not.
        assert_eq!(unified("f", &lines(&[], 20), &lines(&[5, 14], 20)).matches("@@ -").count(), 1);
        assert_eq!(unified("f", &lines(&[], 20), &lines(&[5, 15], 20)).matches("@@ -").count(), 2);
    }

    #[test]
    fn the_fence_is_longer_than_any_inside() {
        let shown = fenced("f", "", "```\n````\n");
        assert!(shown.starts_with("`````diff\n") && shown.ends_with("`````\n\n"), "{shown}");
        let long = "line\n".repeat(LONGEST);
        let shown = fenced("f", "", &long);
        assert!(shown.len() < LONGEST + 200 && shown.ends_with("more lines are not shown.\n"));
    }
}
