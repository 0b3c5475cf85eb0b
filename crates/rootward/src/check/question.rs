//! One question of `check --stdin`: how a line is parsed, and the error for one that is not valid.
//!
//! Parsing is strict: an unknown key, a duplicate key or a list in place of an object is refused, because the author
//! meant something that would not be done.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use rootward_core::{Access, PathStyle, RootUri, Shown};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// One question. A null is refused rather than treated as "not given".
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked<'l> {
    #[serde(borrow)]
    pub(super) path: Cow<'l, str>,
    #[serde(default, deserialize_with = "given")]
    pub(super) access: Option<Words>,
    #[serde(default, borrow, deserialize_with = "given")]
    pub(super) roots: Option<&'l RawValue>,
    #[serde(default, deserialize_with = "given")]
    pub(super) base: Option<String>,
}

fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A line that is not a valid question: what is wrong with it, and its path if that can be parsed.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Unreadable {
    pub(super) path: Option<String>,
    pub(super) says: String,
}

impl<'l> Asked<'l> {
    pub(super) fn read(line: &'l [u8]) -> Result<Asked<'l>, Unreadable> {
        // serde would accept a list as the fields in order.
        if line.trim_ascii_start().starts_with(b"{")
            && let Ok(asked) = serde_json::from_slice(line)
        {
            return Ok(asked);
        }
        Err(unreadable(line))
    }
}

/// What is wrong with a line, in terms of its author. Used only for the message: no decision depends on it.
fn unreadable(line: &[u8]) -> Unreadable {
    let says = |says: &str| Unreadable { path: None, says: says.to_owned() };
    if line.trim_ascii().is_empty() {
        return says("an empty line is not a question");
    }
    let keys = match serde_json::from_slice(line) {
        Ok(Value::Object(keys)) => keys,
        Ok(_) => return says("a question is an object: `{\"path\": …}`"),
        Err(error) => return says(&format!("not JSON: {}", words_of(&error))),
    };
    let twice = serde_json::from_slice::<Asked<'_>>(line).err().and_then(|error| given_twice(&words_of(&error)));
    let path = keys.get("path").and_then(Value::as_str).filter(|_| twice.as_deref() != Some("path"));
    let unknown = keys.keys().find(|key| !["path", "access", "roots", "base"].contains(&key.as_str()));
    let says = if let Some(key) = twice {
        format!("duplicate key `{}`", Shown::new(&key))
    } else if let Some(key) = unknown {
        format!("unknown key `{}`: a question has `path`, `access`, `roots` and `base`", Shown::new(key))
    } else if path.is_none() {
        match keys.get("path") {
            None => "a question needs a `path`".to_owned(),
            Some(_) => "`path` is not a string".to_owned(),
        }
    } else if keys.get("access").is_some_and(|access| Words::deserialize(access).is_err()) {
        format!("`access` is not {ACCESS_WORDS}")
    } else if keys.get("roots").is_some_and(Value::is_null) {
        NOT_ROOTS.to_owned()
    } else if keys.get("base").is_some_and(|base| !base.is_string()) {
        "`base` is not a string".to_owned()
    } else {
        "the question cannot be read".to_owned()
    };
    Unreadable { path: path.map(str::to_owned), says }
}

/// The message of `serde_json` without the position: every line is its line 1.
fn words_of(error: &serde_json::Error) -> String {
    let says = error.to_string();
    let says = says.split(" at line ").next().unwrap_or(&says);
    says.replace("EOF while parsing", "the line ends within")
}

/// The duplicate key, if that is the error.
fn given_twice(says: &str) -> Option<String> {
    Some(says.strip_prefix("duplicate field `")?.trim_end_matches('`').to_owned())
}

const ACCESS_WORDS: &str = "`read`, `write`, `execute`, `delete` or a list of them";
const NOT_ROOTS: &str = "`roots` is not a list";
const A_ROOT: &str = "a root is a string, or an object with `uri` or `path`, and `access`";

/// `"read"`, `"read,write"` or `["read", "write"]`.
pub(super) struct Words(pub(super) Access);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Words, D::Error> {
        struct WordsVisitor;
        impl<'de> Visitor<'de> for WordsVisitor {
            type Value = Access;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(ACCESS_WORDS)
            }
            fn visit_str<E: Error>(self, words: &str) -> Result<Access, E> {
                Access::from_words(words).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(words), &self))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Access, A::Error> {
                let mut sum = Access::NONE;
                while let Some(word) = list.next_element::<Cow<'_, str>>()? {
                    sum = sum | WordsVisitor.visit_str(&word)?;
                }
                if sum.is_empty() { Err(A::Error::invalid_length(0, &self)) } else { Ok(sum) }
            }
        }
        deserializer.deserialize_any(WordsVisitor).map(Words)
    }
}

/// A root of a line: as on the command line, or as an object.
pub(super) enum AskedRoot {
    Typed(String),
    Parts(RootParts),
}

/// A root as in the protocol, or by its path, and its access.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RootParts {
    #[serde(default, deserialize_with = "given")]
    uri: Option<String>,
    #[serde(default, deserialize_with = "given")]
    path: Option<String>,
    #[serde(default, deserialize_with = "given")]
    pub(super) access: Option<Words>,
    /// The protocol lets a client add a name; it has no effect.
    #[serde(rename = "name", default)]
    _name: Option<IgnoredAny>,
    #[serde(rename = "_meta", default)]
    _meta: Option<IgnoredAny>,
}

impl RootParts {
    /// The path that the root names.
    pub(super) fn path(&self) -> Result<PathBuf, String> {
        match (&self.uri, &self.path) {
            (Some(uri), None) => match RootUri::parse(uri, PathStyle::NATIVE) {
                Ok(uri) => Ok(PathBuf::from(uri.path())),
                Err(reason) => Err(format!("not a usable root: `{}` ({reason})", Shown::new(uri))),
            },
            (None, Some(path)) => Ok(PathBuf::from(path)),
            _ => Err("a root has either a `uri` or a `path`".to_owned()),
        }
    }
}

impl<'de> Deserialize<'de> for AskedRoot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AskedRoot, D::Error> {
        struct RootVisitor;
        impl<'de> Visitor<'de> for RootVisitor {
            type Value = AskedRoot;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(A_ROOT)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<AskedRoot, E> {
                Ok(AskedRoot::Typed(text.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<AskedRoot, A::Error> {
                RootParts::deserialize(MapAccessDeserializer::new(map)).map(AskedRoot::Parts)
            }
        }
        deserializer.deserialize_any(RootVisitor)
    }
}

/// The roots of a line.
pub(super) fn roots(text: &str) -> Result<Vec<AskedRoot>, String> {
    if !text.trim_ascii_start().starts_with('[') {
        return Err(NOT_ROOTS.to_owned());
    }
    serde_json::from_str(text).map_err(|error| {
        let says = words_of(&error);
        if let Some(key) = given_twice(&says) {
            format!("duplicate key `{}` of a root", Shown::new(&key))
        } else if let Some((key, _)) =
            says.strip_prefix("unknown field `").and_then(|rest| rest.split_once("`, expected"))
        {
            format!("unknown key `{}`: {A_ROOT}", Shown::new(key))
        } else if says.ends_with(ACCESS_WORDS) {
            format!("`access` of a root is not {ACCESS_WORDS}")
        } else {
            A_ROOT.to_owned()
        }
    })
}
