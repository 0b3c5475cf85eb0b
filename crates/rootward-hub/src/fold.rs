//! Case-insensitive comparison of words.

/// Whether `text` contains `word`, ignoring case. `word` must be lower case.
pub(crate) fn holds(text: &str, word: &str) -> bool {
    text.as_bytes().windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether `text` starts with `word`, ignoring case.
pub(crate) fn begins(text: &str, word: &str) -> bool {
    text.as_bytes().get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_ignored() {
        assert!(holds("myFilePath", "path") && !holds("pat", "path") && begins("FILE:x", "file:"));
    }
}
