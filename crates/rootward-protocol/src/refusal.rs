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

impl Refusal {
    /// The refusal of a path; where the roots in force are known, with them: why these are in force, and which.
    pub fn among(denial: &Denial, roots: Option<(Why, &[PlacedRoot])>) -> Refusal {
        let list = roots.map(|(_, list)| list);
        let path = Shown::new(denial.path()).to_string();
        Refusal {
            sentence: format!("{denial}{}{}", reason(denial, roots.map(|(why, _)| why)), named(list)),
            data: data(denial.code().for_peer(), Some(&path), denial.access(), list),
        }
    }

    /// The refusal of a call that needs roots nobody could name in time.
    pub fn pending() -> Refusal {
        let sentence = "the call is refused: the client has not named its roots yet".to_owned();
        Refusal { sentence, data: data(Code::RootsPending, None, Access::NONE, None) }
    }

    /// The sentence.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// `{code, path, access, roots}`.
    pub fn data(&self) -> &Value {
        &self.data
    }

    /// Both.
    pub fn into_parts(self) -> (String, Value) {
        (self.sentence, self.data)
    }
}

/// Why nothing is in force, where nothing is. What is wrong with a root that the client named is not said: whether a place
/// exists would be among it.
fn reason(denial: &Denial, why: Option<Why>) -> String {
    match (denial.code(), why) {
        (Code::NoRoots, Some(why)) => {
            let why = why.to_string();
            format!(", because {}", why.strip_prefix("nothing: ").unwrap_or(&why))
        }
        _ => String::new(),
    }
}

/// The end of the sentence.
fn named(list: Option<&[PlacedRoot]>) -> String {
    let Some(list) = list.filter(|list| !list.is_empty()) else {
        return String::new();
    };
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

fn data(code: Code, path: Option<&str>, access: Access, list: Option<&[PlacedRoot]>) -> Value {
    let roots: Vec<Value> = list
        .unwrap_or_default()
        .iter()
        .filter_map(|placed| {
            let mut root = json!({"uri": placed.root.uri()?.as_str(), "access": placed.root.access});
            if let Some(name) = &placed.root.name {
                root["name"] = json!(name);
            }
            Some(root)
        })
        .take(MOST_NAMED)
        .collect();
    json!({"code": code, "path": path, "access": access, "roots": roots})
}
