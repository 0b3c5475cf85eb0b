//! Variables in a path, as shells, Go, Python, PowerShell and editors expand them.

use std::collections::BTreeMap;

use crate::fold::begins;

/// What variables and `~` mean to the server.
#[derive(Clone, Default, Debug)]
pub struct Expansion {
    /// The home directory.
    pub home: Option<String>,
    /// The server's environment.
    pub variables: BTreeMap<String, String>,
}

/// What becomes of a variable that is not set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unset {
    Stays,
    IsNothing,
    /// In `${NAME:-word}` and its like it is the word, and so is one that is set.
    IsTheWord,
}

impl Expansion {
    /// `$NAME`, `${NAME}`, `${NAME:-word}`, `${env:NAME}`, `$env:NAME`, `%NAME%`, and `$*` and its kind.
    pub(super) fn expand(&self, text: &str, unset: Unset) -> String {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['$', '%']) {
            expanded.push_str(&rest[..at]);
            rest = &rest[at..];
            match Variable::read(rest) {
                Some(Variable { name, word, length }) => {
                    match (unset, word, self.value(name)) {
                        // SECURITY: which of the two the server takes depends on an environment that it may have changed
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

/// A variable in a text.
struct Variable<'t> {
    name: &'t str,
    /// What stands in its place where it is not set, or where it is: `${NAME:-word}`, `${NAME+word}` (POSIX shell, 2.6.2).
    word: Option<&'t str>,
    /// How long the whole is.
    length: usize,
}

impl<'t> Variable<'t> {
    /// The variable that `text` begins with.
    fn read(text: &'t str) -> Option<Variable<'t>> {
        let ends = |name: &str| name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        let variable = if let Some(rest) = text.strip_prefix("${") {
            let end = rest.find('}')?;
            let (name, rest) = without_scope(&rest[..end]).split_at(ends(without_scope(&rest[..end])));
            let rest = rest.strip_prefix(':').unwrap_or(rest);
            // What other operators make of the value is not known; it is taken whole.
            let variable = Variable { name, word: rest.strip_prefix(['-', '=', '+', '?']), length: end + 3 };
            // SECURITY: Go's `os.Expand` takes anything in braces for a name that is not set
            // (test: what_go_takes_for_a_variable_is_nothing)
            return Some(variable);
        } else if let Some(rest) = text.strip_prefix('%') {
            let end = rest.find('%')?;
            Variable { name: &rest[..end], word: None, length: end + 2 }
        } else {
            let rest = text.strip_prefix('$')?;
            let named = without_scope(rest);
            // SECURITY: the special parameters of a shell are names to `os.Expand`, too, and no environment has them
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

/// PowerShell and editors write `env:` before a name.
fn without_scope(name: &str) -> &str {
    if begins(name, "env:") { &name[4..] } else { name }
}
