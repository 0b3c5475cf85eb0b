//! No white space at the end of a line, one newline at the end of a file.

use super::{Finding, Repository};

/// Checks every text file except snapshots, which contain the output of a program.
pub(super) fn is_clean(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repository.files.iter().filter(|file| !file.has_extension("snap") && !file.text.is_empty()) {
        // Not `lines`, which removes a `\r`.
        let lines = file.text.split('\n').enumerate().map(|(position, line)| (position + 1, line));
        let trailing = lines.filter(|(_, line)| line.ends_with([' ', '\t', '\r']));
        findings.extend(trailing.map(|(number, _)| file.finding(number, "white space at the end of the line")));
        let last = file.text.lines().count();
        if !file.text.ends_with('\n') {
            findings.push(file.finding(last, "no newline at the end of the file"));
        } else if file.text.ends_with("\n\n") {
            findings.push(file.finding(last, "empty lines at the end of the file"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::check_lines;
    use super::*;

    #[test]
    fn stray_white_space_is_found() {
        check_lines(is_clean, "a.md", "one\n\ntwo\n", &[]);
        check_lines(is_clean, "a.md", "one \ntwo\t\n", &[1, 2]);
        check_lines(is_clean, "a.toml", "one\r\ntwo\n", &[1]);
        check_lines(is_clean, "a.rs", "one\ntwo", &[2]);
        check_lines(is_clean, "a.rs", "one\n\n", &[2]);
        check_lines(is_clean, "empty", "", &[]);
        check_lines(is_clean, "a.snap", "printed \n", &[]);
    }
}
