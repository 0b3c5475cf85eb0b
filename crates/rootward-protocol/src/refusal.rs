//! A refusal as a peer sees it: one sentence for whoever reads it, and the same as data.

use std::fmt::Write;

use rootward_core::session::Why;
use rootward_core::{Access, Code, Denial, PlacedRoot, Shown};
use serde_json::{Value, json};

/// How many roots a refusal names; a list of thousands helps nobody.
const MOST_NAMED: usize = 50;

/// A refusal as a peer sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal {
    sentence: String,
    data: Value,
}

/// The roots in force, as a refusal names them.
#[derive(Clone, Copy, Debug)]
pub struct Among<'r> {
    /// Why these.
    pub why: Why,
    /// Which.
    pub list: &'r [PlacedRoot],
    /// How a person names a root here, where that is known: ``name one with `--root DIR` ``.
    pub way: Option<&'static str>,
}

impl Refusal {
    /// The refusal of a path, with the roots in force where they are known.
    pub fn among(denial: &Denial, roots: Option<Among<'_>>) -> Refusal {
        let list = roots.map(|roots| roots.list).unwrap_or_default();
        let path = Shown::new(denial.path()).to_string();
        let sentence = format!("{}{}", reason(denial, &path, roots), named(list));
        Refusal::new(denial.code().for_peer(), sentence, Some(&path), denial.access(), list)
    }

    /// The refusal of a call that needs roots nobody could name in time.
    pub fn pending() -> Refusal {
        let sentence = "the call is refused: the client has not named its roots yet".to_owned();
        Refusal::new(Code::RootsPending, sentence, None, Access::NONE, &[])
    }

    fn new(code: Code, sentence: String, path: Option<&str>, access: Access, list: &[PlacedRoot]) -> Refusal {
        // Codex shows a model nothing but the data of a result that has any: so the sentence is part of it.
        let data = json!({"code": code, "message": sentence, "path": path, "access": access, "roots": described(list)});
        Refusal { sentence, data }
    }

    /// The same refusal, whose data also says what a person can do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: &str) -> Refusal {
        self.data["hint"] = hint.into();
        self
    }

    /// The sentence.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// `{code, message, path, access, roots}`, and `hint` where there is one.
    pub fn data(&self) -> &Value {
        &self.data
    }

    /// Both.
    pub fn into_parts(self) -> (String, Value) {
        (self.sentence, self.data)
    }
}

/// What is refused, and why nothing is in force, where nothing is. What is wrong with a root that the client named is not said:
/// whether a place exists would be among it.
fn reason(denial: &Denial, path: &str, roots: Option<Among<'_>>) -> String {
    match (denial.code(), roots) {
        (Code::NoRoots, Some(Among { why: Why::NobodyNamed, way, .. })) => {
            let way = way.map(|way| format!("; {way}")).unwrap_or_default();
            format!("path `{path}` is refused: this client shared no directories{way}")
        }
        (Code::NoRoots, Some(Among { why, .. })) => {
            let why = why.to_string();
            format!("{denial}, because {}", why.strip_prefix("nothing: ").unwrap_or(&why))
        }
        _ => denial.to_string(),
    }
}

/// The end of the sentence.
fn named(list: &[PlacedRoot]) -> String {
    if list.is_empty() {
        return String::new();
    }
    let mut text = String::from("; roots in force:");
    for (position, placed) in list.iter().take(MOST_NAMED).enumerate() {
        let comma = if position > 0 { "," } else { "" };
        let root = &placed.root;
        // Writing to a text cannot fail.
        let _ = write!(text, "{comma} `{}`", Shown::new(&root.path));
        if let Some(name) = &root.name {
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
        let mut root = json!({"uri": placed.root.uri()?.as_str(), "access": placed.root.access});
        if let Some(name) = &placed.root.name {
            root["name"] = json!(name);
        }
        Some(root)
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
            let refusal = Refusal::among(&denial, Some(Among { why, list: &[], way }));
            assert_eq!(refusal.sentence(), format!("path `/x` is refused: {expect}"));
        };
        let way = Some("name one with `--root DIR`");
        check(Why::NobodyNamed, None, "this client shared no directories");
        check(Why::NobodyNamed, way, "this client shared no directories; name one with `--root DIR`");
        check(Why::Revoked, way, "no root is in force, because the client took its roots back");
        check(Why::Unusable, way, "no root is in force, because none of the client's roots can be used");
        check(Why::OutsideCeiling, way, "no root is in force, because the client's roots lie outside the ceiling");
        check(Why::Strict, way, "no root is in force, because `strict` is set, and the client names no roots");
    }
}
