//! Compares words without case, as lenient parsers do.

/// Whether `text` equals `word` for a parser that ignores case. `word` must be lower case.
///
/// Besides ASCII, two letters fold into it: the long s and the Kelvin sign, as in Go's `encoding/json`.
pub fn is_same_but_for_case(text: &str, word: &str) -> bool {
    let fold = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    text.chars().map(fold).eq(word.chars())
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
