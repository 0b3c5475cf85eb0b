//! The change to a file as a unified diff, safe to show: secrets are hidden, and nothing in it moves the cursor.

use std::io::{self, Write};

use rootward_client::adopt::masked;
use rootward_client::import::Form;
use rootward_core::Shown;
use similar::TextDiff;

/// Unchanged lines to show around changed ones.
const CONTEXT: usize = 3;

/// The longest line to show in full.
const LONGEST: usize = 2000;

pub(super) fn write(out: &mut impl Write, file: &str, form: Form, old: &str, new: &str) -> io::Result<()> {
    let (old, new) = (masked(form, old), masked(form, new));
    let diff = TextDiff::from_lines(&old, &new);
    let unified = diff.unified_diff().context_radius(CONTEXT).header(file, file).to_string();
    for line in unified.lines() {
        writeln!(out, "{}", shown(line))?;
    }
    Ok(())
}

fn shown(line: &str) -> String {
    // Expand tabs.
    let line = line.trim_end_matches('\r').replace('\t', "    ");
    let end = line.floor_char_boundary(LONGEST);
    let more = if end < line.len() { format!("… ({} bytes more)", line.len() - end) } else { String::new() };
    format!("{}{more}", Shown::new(&line[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_safe() {
        let old = "{\n\t\"a\": \"x\", // \u{1b}[2J\n\"env\": {\"K\": \"abc\"}}\n";
        let new = old.replace("\"x\"", "\"y\"");
        let mut out = Vec::new();
        write(&mut out, "~/f", Form::Cursor, old, &new).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "--- ~/f\n+++ ~/f\n@@ -1,3 +1,3 @@\n {\n-    \"a\": \"x\", // \\u{1b}[2J\n+    \"a\": \"y\", // \\u{1b}[2J\n \"env\": {\"K\": \"…\"}}\n"
        );
    }
}
