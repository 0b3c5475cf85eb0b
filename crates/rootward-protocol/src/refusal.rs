//! A refusal as a peer sees it: one sentence, and the same as data.

use std::fmt::Write;

use rootward_core::session::{Sources, Why};
use rootward_core::{Access, Code, Denial, PlacedRoot, RootSet, Shown, env};
use serde_json::{Value, json};

/// The maximum number of roots in a refusal; a list of thousands helps nobody.
const MOST_NAMED: usize = 50;

/// The maximum number of roots to name on each side if client and operator have none in common.
const MOST_DISJOINT: usize = 8;

/// How a refused tool call is answered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum RefusalForm {
    /// A result with `isError`: a model reads it and can correct itself.
    #[default]
    ToolError,
    /// JSON-RPC error -32602: most clients do not show it.
    ProtocolError,
}

/// A refusal as a peer sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal {
    sentence: String,
    data: Value,
}

/// The current roots, as a refusal names them.
#[derive(Clone, Copy, Debug)]
pub struct Among<'r> {
    /// The reason for these roots.
    pub why: Why,
    /// The roots.
    pub list: &'r [PlacedRoot],
    /// How a person can name a root here, if known: ``name one with `--root DIR` ``.
    pub way: Option<&'static str>,
    /// What the client and the operator named, if they have no place in common.
    pub disjoint: Option<&'r DisjointRoots>,
}

/// What the client and the operator named, if they have no place in common and no root is left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DisjointRoots {
    client: String,
    operator: String,
    bounded: bool,
}

impl DisjointRoots {
    /// From the client's roots and the operator's list.
    pub fn new(client: &RootSet, sources: &Sources) -> DisjointRoots {
        // Everything that the client named, usable or not: naming only some would reveal which ones exist.
        let named = client.roots().iter().map(|placed| Shown::new(&placed.root.path).to_string());
        let named = named.chain(client.refused().iter().map(|refused| Shown::new(&refused.text).to_string()));
        let mut named: Vec<String> = named.collect();
        if sources.bound.is_some() {
            // SECURITY: missing places must not come last (test: a_bounded_client_does_not_learn_what_exists)
            named.sort();
            named.dedup();
        }
        // SECURITY: a client from the network may only see the part of the operator's list that it can reach
        // (test: a_refusal_to_a_bounded_client_names_nothing_outside_its_bound)
        let ceiling = match &sources.bound {
            Some(bound) if sources.ceiling.names_any() => &sources.ceiling.within(bound),
            Some(bound) => bound,
            None => &sources.ceiling,
        };
        let operator = ceiling.roots().iter().map(|placed| Shown::new(&placed.root.path).to_string());
        DisjointRoots {
            client: some_of(named.into_iter()),
            operator: some_of(operator),
            bounded: sources.bound.is_some(),
        }
    }

    /// Names both, and says how to make one of them count.
    fn sentence(&self) -> String {
        let DisjointRoots { client, operator, bounded } = self;
        let operator = if operator.is_empty() { "nothing that exists" } else { operator };
        // A bounded client gets the same sentence for a missing place inside its bound, so it must be true for that
        // case, too.
        let place = if *bounded { "existing place" } else { "place" };
        let both = format!(
            "this client shares {client}, the server is limited to {operator}, and these have no {place} in common"
        );
        let ignore = format!("set `{}=true` to use that limit alone", env::IGNORE_CLIENT);
        if *bounded {
            return format!("{both}; share a directory within that limit, or {ignore}");
        }
        format!("{both}; {ignore}, or `{}=replace` to use what the client shares", env::MODE)
    }
}

/// The first few names, in backticks.
fn some_of(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.len().checked_sub(MOST_DISJOINT) {
        Some(more @ 1..) => format!("{} and {more} more", names[..MOST_DISJOINT].join(", ")),
        _ => names.join(", "),
    }
}

impl Refusal {
    /// The refusal of a path, with the current roots if they are known.
    pub fn among(denial: &Denial, roots: Option<Among<'_>>) -> Refusal {
        let list = roots.map(|roots| roots.list).unwrap_or_default();
        let path = Shown::new(denial.path()).to_string();
        let sentence = format!("{}{}", reason(denial, &path, roots), named(list));
        Refusal::new(denial.code().for_peer(), sentence, Some(&path), denial.access(), list)
    }

    /// The refusal of a call whose roots were not named in time.
    pub fn pending() -> Refusal {
        let sentence = "the call is refused: the client has not named its roots yet".to_owned();
        Refusal::new(Code::RootsPending, sentence, None, Access::NONE, &[])
    }

    fn new(code: Code, sentence: String, path: Option<&str>, access: Access, list: &[PlacedRoot]) -> Refusal {
        // If a result has data, Codex shows only the data to a model, so the sentence is part of it.
        let data = json!({"code": code, "message": sentence, "path": path, "access": access, "roots": described(list)});
        Refusal { sentence, data }
    }

    /// The same refusal with a hint for a person in its data.
    #[must_use]
    pub fn with_hint(mut self, hint: &str) -> Refusal {
        self.data["hint"] = hint.into();
        self
    }

    /// The sentence.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// `{code, message, path, access, roots}`, and `hint` if there is one.
    pub fn data(&self) -> &Value {
        &self.data
    }

    /// The sentence and the data.
    pub fn into_parts(self) -> (String, Value) {
        (self.sentence, self.data)
    }
}

/// The refusal, and the reason if there are no roots. It does not say what is wrong with a client's root, because that
/// could reveal whether a place exists.
fn reason(denial: &Denial, path: &str, roots: Option<Among<'_>>) -> String {
    match (denial.code(), roots) {
        (Code::NoRoots, Some(Among { why: Why::NobodyNamed, way, .. })) => {
            let way = way.map(|way| format!("; {way}")).unwrap_or_default();
            format!("path `{path}` is refused: this client shared no directories{way}")
        }
        (Code::NoRoots, Some(Among { why: Why::OutsideCeiling, disjoint: Some(disjoint), .. })) => {
            format!("path `{path}` is refused: {}", disjoint.sentence())
        }
        (Code::NoRoots, Some(Among { why, .. })) => {
            format!("{denial}, because {}", without_any(why))
        }
        _ => denial.to_string(),
    }
}

/// Why there are no roots, although this source was to provide them. It does not say that a place is missing.
fn without_any(why: Why) -> &'static str {
    match why {
        Why::Unheard => "the client has not answered yet",
        Why::Client | Why::ByMode(_) | Why::Unusable => "none of the client's roots can be used",
        Why::OutsideCeiling => "the client's roots are outside the ceiling",
        Why::Ceiling => "the client shared no directories, and none of the operator's can be used",
        Why::Saved => "the client shared no directories, and none of the saved ones can be used",
        Why::Fallback => "the client shared no directories, and the fallback directory cannot be used",
        Why::NobodyNamed | Why::AllowAll => "this client shared no directories",
        Why::Revoked => "the client withdrew its roots",
        Why::Lost => "the client's roots could not be read again",
        Why::Strict => "`strict` is set, and the client names no roots",
        Why::ClientIgnored => "`ignore-client` is set, and none of the operator's directories can be used",
        Why::FallbackOnly => "`fallback-only` is set, and the fallback directory cannot be used",
    }
}

/// The end of the sentence: the current roots.
fn named(list: &[PlacedRoot]) -> String {
    if list.is_empty() {
        return String::new();
    }
    let mut text = String::from("; current roots:");
    for (position, placed) in list.iter().take(MOST_NAMED).enumerate() {
        let comma = if position > 0 { "," } else { "" };
        let root = &placed.root;
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{comma} `{}`", Shown::new(&root.path));
        // Skip a name that only repeats the last component.
        if let Some(name) = root.name.as_ref().filter(|name| root.path.file_name() != Some(name.as_ref())) {
            let _ = write!(text, " \"{}\"", Shown::new(name));
        }
        let _ = write!(text, " ({})", root.access);
    }
    if list.len() > MOST_NAMED {
        let _ = write!(text, " and {} more", list.len() - MOST_NAMED);
    }
    text
}

/// The roots, as data.
fn described(list: &[PlacedRoot]) -> Vec<Value> {
    let described = list.iter().filter_map(|placed| {
        let root = &placed.root;
        Some(json!({"uri": root.uri()?.as_str(), "name": root.title(), "access": root.access}))
    });
    described.take(MOST_NAMED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_holds_the_sentence() {
        let denial = Denial::new(Code::OutsideRoots, "/x", Access::READ);
        for refusal in [Refusal::pending(), Refusal::among(&denial, None)] {
            let mut keys: Vec<&String> = refusal.data().as_object().unwrap().keys().collect();
            keys.sort();
            assert_eq!(keys, ["access", "code", "message", "path", "roots"]);
            assert_eq!(refusal.data()["message"], refusal.sentence());
        }
        let hinted = Refusal::among(&denial, None).with_hint("do this");
        assert_eq!((hinted.sentence(), &hinted.data()["hint"]), ("path `/x` is outside every root", &json!("do this")));
    }

    #[test]
    fn why_there_are_no_roots() {
        let denial = Denial::new(Code::NoRoots, "/x", Access::READ);
        let check = |why: Why, way: Option<&'static str>, expect: &str| {
            let refusal = Refusal::among(&denial, Some(Among { why, list: &[], way, disjoint: None }));
            assert_eq!(refusal.sentence(), format!("path `/x` is refused: {expect}"));
        };
        let way = Some("name one with `--root DIR`");
        check(Why::NobodyNamed, None, "this client shared no directories");
        check(Why::NobodyNamed, way, "this client shared no directories; name one with `--root DIR`");
        check(Why::Revoked, way, "there are no roots, because the client withdrew its roots");
        check(Why::Unusable, way, "there are no roots, because none of the client's roots can be used");
        check(Why::OutsideCeiling, way, "there are no roots, because the client's roots are outside the ceiling");
        check(
            Why::Fallback,
            way,
            "there are no roots, because the client shared no directories, and the fallback directory cannot be used",
        );
        check(Why::Strict, way, "there are no roots, because `strict` is set, and the client names no roots");
    }
}
