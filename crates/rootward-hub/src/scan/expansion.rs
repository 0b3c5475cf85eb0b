//! Variables in a path, as shells, Go, Python, PowerShell and editors expand them.

use std::collections::BTreeMap;

use crate::fold::begins;

/// The values of variables and `~` for the server.
#[derive(Clone, Default, Debug)]
pub struct Expansion {
    /// The home directory.
    pub home: Option<String>,
    /// The server's environment.
    pub variables: BTreeMap<String, String>,
}

/// How an unset variable is expanded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unset {
    Stays,
    IsNothing,
    /// In `${NAME:-word}` and similar forms, use the word, whether or not the variable is set.
    IsTheWord,
}

impl Expansion {
    /// Expands `$NAME`, `${NAME}`, `${NAME:-word}`, `${env:NAME}`, `$env:NAME`, `%NAME%`, and special parameters such
    /// as `$*`.
    pub(super) fn expand(&self, text: &str, unset: Unset) -> String {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['$', '%']) {
            expanded.push_str(&rest[..at]);
            rest = &rest[at..];
            match Variable::read(rest) {
                Some(Variable { name, word, length }) => {
                    match (unset, word, self.value(name)) {
                        // SECURITY: the server may have changed its environment, so which of the two it uses is not
                        // known
                        // (test: variables_and_home)
                        (Unset::IsTheWord, Some(word), _) => expanded.push_str(word),
                        (_, _, Some(value)) => expanded.push_str(value),
                        (Unset::Stays, _, None) => expanded.push_str(&rest[..length]),
                        (Unset::IsNothing | Unset::IsTheWord, _, None) => {}
                    }
                    rest = &rest[length..];
                }
                None => {
                    expanded.push_str(&rest[..1]);
                    rest = &rest[1..];
                }
            }
        }
        expanded.push_str(rest);
        expanded
    }

    fn value(&self, name: &str) -> Option<&str> {
        let is_home = name.eq_ignore_ascii_case("HOME") || name.eq_ignore_ascii_case("USERPROFILE");
        let set = self.variables.get(name).map(String::as_str);
        set.or(self.home.as_deref().filter(|_| is_home))
    }
}

/// A variable reference in a text.
struct Variable<'t> {
    name: &'t str,
    /// The word that may replace the value: `${NAME:-word}`, `${NAME+word}` (POSIX shell, 2.6.2).
    word: Option<&'t str>,
    /// Length of the whole reference.
    length: usize,
}

impl<'t> Variable<'t> {
    /// The variable reference at the start of `text`.
    fn read(text: &'t str) -> Option<Variable<'t>> {
        let ends = |name: &str| name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        let variable = if let Some(rest) = text.strip_prefix("${") {
            let end = rest.find('}')?;
            let (name, rest) = without_scope(&rest[..end]).split_at(ends(without_scope(&rest[..end])));
            let rest = rest.strip_prefix(':').unwrap_or(rest);
            // The effect of other operators on the value is not modeled; the value is used as a whole.
            let variable = Variable { name, word: rest.strip_prefix(['-', '=', '+', '?']), length: end + 3 };
            // SECURITY: Go's `os.Expand` treats anything in braces as a name, which is then unset
            // (test: what_go_takes_for_a_variable_is_nothing)
            return Some(variable);
        } else if let Some(rest) = text.strip_prefix('%') {
            let end = rest.find('%')?;
            Variable { name: &rest[..end], word: None, length: end + 2 }
        } else {
            let rest = text.strip_prefix('$')?;
            let named = without_scope(rest);
            // SECURITY: `os.Expand` also treats a shell's special parameters as names, which no environment contains
            // (test: what_go_takes_for_a_variable_is_nothing)
            if rest.starts_with(['*', '#', '$', '@', '!', '?', '-']) {
                return Some(Variable { name: &rest[..1], word: None, length: 2 });
            }
            let end = ends(named);
            Variable { name: &named[..end], word: None, length: 1 + rest.len() - named.len() + end }
        };
        let is_name = !variable.name.is_empty() && ends(variable.name) == variable.name.len();
        is_name.then_some(variable)
    }
}

/// Removes `env:`, which PowerShell and editors put before a name.
fn without_scope(name: &str) -> &str {
    if begins(name, "env:") { &name[4..] } else { name }
}
