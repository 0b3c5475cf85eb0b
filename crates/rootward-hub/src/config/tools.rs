//! Which tools of a server clients can see and call.

use super::error::ConfigError;
use super::tree::Node;

/// Selects tools by the server's own names for them. Applies to the list and to calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ToolFilter {
    /// If set, only these. An empty list allows no tools.
    pub allow: Option<Vec<ToolPattern>>,
    /// Never these, whatever other settings say.
    pub deny: Vec<ToolPattern>,
}

/// A tool name in which `*` matches any text and `?` any one character.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ToolPattern(String);

impl ToolFilter {
    /// Whether a tool with this name may be listed and called.
    pub fn allows(&self, tool: &str) -> bool {
        let matches = |patterns: &[ToolPattern]| patterns.iter().any(|pattern| pattern.matches(tool));
        // SECURITY: deny takes precedence over allow (test: a_denial_counts_more)
        !matches(&self.deny) && self.allow.as_deref().is_none_or(matches)
    }

    /// Narrows the filter: allows only what both lists allow.
    pub(super) fn allow_only(&mut self, more: Vec<ToolPattern>) {
        // Patterns from the client's file are plain names, so this intersection is exact.
        let both = match self.allow.take() {
            None => more,
            Some(own) => more.into_iter().filter(|name| own.iter().any(|pattern| pattern.matches(&name.0))).collect(),
        };
        self.allow = Some(both);
    }
}

impl ToolPattern {
    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn read(node: &Node<'_, '_>) -> Result<ToolPattern, ConfigError> {
        match node.string()? {
            "" => {
                Err(node.wrong(format!("`{}`: an empty name", node.key()), "write the name of a tool, or `*` for all"))
            }
            text => Ok(ToolPattern(text.to_owned())),
        }
    }

    /// Whether a name matches, in time at most proportional to the product of the two lengths.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name): (Vec<char>, Vec<char>) = (self.0.chars().collect(), name.chars().collect());
        let (mut at, mut position) = (0, 0);
        // Where to resume if the text after the last `*` does not match: the star takes one more character.
        let mut retry: Option<(usize, usize)> = None;
        while position < name.len() {
            match pattern.get(at) {
                Some('*') => {
                    at += 1;
                    retry = Some((at, position));
                }
                Some(letter) if *letter == '?' || *letter == name[position] => {
                    at += 1;
                    position += 1;
                }
                _ => match &mut retry {
                    None => return false,
                    Some((behind_star, taken)) => {
                        *taken += 1;
                        (at, position) = (*behind_star, *taken);
                    }
                },
            }
        }
        pattern[at..].iter().all(|letter| *letter == '*')
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn patterns(texts: &[&str]) -> Vec<ToolPattern> {
        texts.iter().map(|text| ToolPattern((*text).to_owned())).collect()
    }

    #[test]
    fn patterns_match_whole_names() {
        let check = |pattern: &str, name: &str, expect: bool| {
            assert_eq!(ToolPattern(pattern.to_owned()).matches(name), expect, "{pattern} {name}");
        };
        check("read", "read", true);
        check("read", "read_file", false);
        check("read", "Read", false);
        check("*", "", true);
        check("read_*", "read_file", true);
        check("read_*", "read_", true);
        check("*_file", "write_file", true);
        check("*_file", "write_files", false);
        check("a*b*c", "aXbYbZc", true);
        check("a*b*c", "aXbYbZ", false);
        check("?", "é", true);
        check("?", "", false);
        check("a?c", "abc", true);
        check("**a**", "bab", true);
        check("[ab]", "a", false);
        check("{a,b}", "{a,b}", true);
    }

    #[test]
    fn a_denial_counts_more() {
        let filter = ToolFilter { allow: Some(patterns(&["read_*", "list"])), deny: patterns(&["read_secret"]) };
        assert!(filter.allows("read_file") && filter.allows("list"));
        assert!(!filter.allows("read_secret") && !filter.allows("write_file"));
        assert!(ToolFilter::default().allows("anything"));
        assert!(!ToolFilter { allow: Some(Vec::new()), deny: Vec::new() }.allows("anything"));
    }

    #[test]
    fn two_lists_allow_what_both_allow() {
        let mut filter = ToolFilter { allow: Some(patterns(&["read_*"])), deny: Vec::new() };
        filter.allow_only(patterns(&["read_file", "write_file"]));
        assert!(filter.allows("read_file") && !filter.allows("write_file") && !filter.allows("read_all"));
        let mut filter = ToolFilter::default();
        filter.allow_only(patterns(&["a"]));
        assert!(filter.allows("a") && !filter.allows("b"));
    }

    proptest! {
        #[test]
        fn a_name_with_a_star_in_place_of_a_part_matches(before in "[a-c]{0,6}", part in "[a-c]{0,6}", after in "[a-c]{0,6}") {
            let pattern = ToolPattern(format!("{before}*{after}"));
            let whole = format!("{before}{part}{after}");
            prop_assert!(pattern.matches(&whole));
        }

        #[test]
        fn a_match_is_what_the_slow_way_finds(pattern in "[ab*?]{0,7}", name in "[ab]{0,7}") {
            fn slow(pattern: &[u8], name: &[u8]) -> bool {
                match (pattern.first(), name.first()) {
                    (None, None) => true,
                    (Some(b'*'), _) => slow(&pattern[1..], name) || (!name.is_empty() && slow(pattern, &name[1..])),
                    (Some(b'?'), Some(_)) => slow(&pattern[1..], &name[1..]),
                    (Some(one), Some(other)) if one == other => slow(&pattern[1..], &name[1..]),
                    _ => false,
                }
            }
            prop_assert_eq!(ToolPattern(pattern.clone()).matches(&name), slow(pattern.as_bytes(), name.as_bytes()));
        }
    }
}
