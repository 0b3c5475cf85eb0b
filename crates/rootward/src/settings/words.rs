//! Settings whose value is one of a few words.

use rootward_core::Closed;
use rootward_core::session::NoRoots;
use rootward_protocol::RefusalForm;
use rootward_sandbox::Network;

use crate::confinement_flags::SocketSwitch;

/// A type whose values have words in the settings file.
pub(super) trait Words: Copy + PartialEq + 'static {
    /// Each value with its word.
    const WORDS: &'static [(&'static str, Self)];

    /// Its word.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, value)| *value == self).map_or("", |(word, _)| word)
    }
}

impl Words for Closed {
    const WORDS: &'static [(&'static str, Closed)] = &[("all", Closed::Entirely), ("writing", Closed::ForWriting)];
}

impl Words for NoRoots {
    const WORDS: &'static [(&'static str, NoRoots)] = &[("deny", NoRoots::Deny), ("allow-all", NoRoots::AllowAll)];
}

impl Words for RefusalForm {
    const WORDS: &'static [(&'static str, RefusalForm)] =
        &[("result", RefusalForm::ToolError), ("error", RefusalForm::ProtocolError)];
}

impl Words for Network {
    const WORDS: &'static [(&'static str, Network)] = &[("on", Network::On), ("off", Network::Off)];
}

impl Words for SocketSwitch {
    const WORDS: &'static [(&'static str, SocketSwitch)] =
        &[("on", SocketSwitch::On), ("off", SocketSwitch::Off), ("none", SocketSwitch::None)];
}

/// The part of a message that lists the valid words.
pub(super) fn expected<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let mut words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match words.pop() {
        Some(last) if !words.is_empty() => format!("expected {} or {last}", words.join(", ")),
        last => format!("expected {}", last.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Words + std::fmt::Debug>() {
        for (word, value) in T::WORDS {
            assert_eq!(value.word(), *word);
        }
    }

    #[test]
    fn every_value_has_its_own_word() {
        check::<Closed>();
        check::<NoRoots>();
        check::<RefusalForm>();
        check::<Network>();
        check::<SocketSwitch>();
    }

    #[test]
    fn lists_of_words() {
        assert_eq!(expected(["a", "b", "c"].into_iter()), "expected `a`, `b` or `c`");
        assert_eq!(expected(["a", "b"].into_iter()), "expected `a` or `b`");
        assert_eq!(expected(["a"].into_iter()), "expected `a`");
    }
}
