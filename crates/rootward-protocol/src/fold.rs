//! Compares words ignoring case, as lenient parsers do.

/// Whether `text` equals `word` for a parser that ignores case. `word` must be lower case.
pub fn is_same_but_for_case(text: &str, word: &str) -> bool {
    fold_case(text).eq(word.chars())
}

/// The characters of `text` as a case-insensitive parser compares them.
///
/// Besides ASCII, two letters fold into it: the long s and the Kelvin sign, as in Go's `encoding/json`.
pub fn fold_case(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_ignored() {
        assert!(is_same_but_for_case("PARAM\u{17f}", "params") && is_same_but_for_case("id", "id"));
        assert!(!is_same_but_for_case("ids", "id") && !is_same_but_for_case("", "id"));
    }
}
