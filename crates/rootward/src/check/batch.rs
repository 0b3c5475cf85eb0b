//! `check --stdin`: many questions in one process, one JSON object a line in, one out, in order.
//!
//! A line that cannot be read is answered, too, with a refusal: whoever pairs answers with questions by counting must not be
//! led astray. Answers are sent when no further question waits, so a driver that sends one line gets its answer, and a pipe of a
//! hundred thousand costs few writes.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;

use anyhow::{Result, bail};
use rootward_core::{Access, Guard, Origin, PathStyle, Root, RootSet, RootUri};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::lines::{LONGEST_LINE, Line, Lines};
use super::outcome_of;
use crate::Outcome;
use crate::answer::Answer;
use crate::decision::Decision;
use crate::ground::Ground;
use crate::settings::{NamedRoot, Source};

/// How much is read, and written, at a time.
const CHUNK: usize = 1 << 16;

/// One question. A null is no answer to what roots there are: it is refused rather than taken for "not given".
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked<'l> {
    #[serde(borrow)]
    path: Cow<'l, str>,
    #[serde(default, deserialize_with = "given")]
    access: Option<Words>,
    #[serde(default, borrow, deserialize_with = "given")]
    roots: Option<&'l RawValue>,
    #[serde(default, deserialize_with = "given")]
    base: Option<String>,
}

fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// `"read"`, `"read,write"` or `["read", "write"]`.
struct Words(Access);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Words, D::Error> {
        struct WordsVisitor;
        impl<'de> Visitor<'de> for WordsVisitor {
            type Value = Access;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`read`, `write`, `execute`, `delete` or a list of them")
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

/// A root of a line: as on the command line, or with its parts apart.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum AskedRoot {
    Typed(String),
    Parts(RootParts),
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RootParts {
    uri: Option<String>,
    path: Option<PathBuf>,
    access: Option<Words>,
}

/// A guard for lines that bring their own roots or base; the next line often brings the same.
struct Own {
    roots: Option<String>,
    base: Option<String>,
    guard: Guard,
}

/// The state of a run.
pub(super) struct Batch<'g> {
    ground: &'g Ground,
    /// The roots for lines that bring none.
    set: RootSet,
    base: PathBuf,
    access: Access,
    guard: Guard,
    own: Option<Own>,
}

impl<'g> Batch<'g> {
    pub(super) fn new(ground: &'g Ground, set: RootSet, base: PathBuf, access: Access) -> Batch<'g> {
        let guard = ground.guard(set.clone(), base.clone());
        Batch { ground, set, base, access, guard, own: None }
    }

    /// Answers every line of `input`.
    pub(super) fn run(mut self, input: impl Read, output: &mut impl Write) -> Result<Outcome> {
        let mut input = BufReader::with_capacity(CHUNK, input);
        let mut lines = Lines::default();
        let mut answers = Vec::with_capacity(2 * CHUNK);
        let mut outcome = Outcome::Done;
        loop {
            // The next line is not there yet, so reading may wait: whoever waits for an answer gets it first.
            let waits = !input.buffer().contains(&b'\n');
            if waits || answers.len() >= CHUNK {
                output.write_all(&answers)?;
                output.flush()?;
                answers.clear();
            }
            let Some(line) = lines.next(&mut input)? else { break };
            outcome = outcome.and(self.answer(&line, &mut answers)?);
            answers.push(b'\n');
        }
        output.write_all(&answers)?;
        output.flush()?;
        Ok(outcome)
    }

    fn answer(&mut self, line: &Line<'_>, answers: &mut Vec<u8>) -> Result<Outcome> {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong => return unreadable(None, format!("a line of more than {LONGEST_LINE} bytes"), answers),
        };
        let asked: Asked<'_> = match serde_json::from_slice(line) {
            Ok(asked) => asked,
            Err(error) => return unreadable(None, error.to_string(), answers),
        };
        let access = asked.access.map_or(self.access, |words| words.0);
        let guard = match self.guard_for(asked.roots, asked.base) {
            Ok(guard) => guard,
            Err(error) => return unreadable(Some(&asked.path), error.to_string(), answers),
        };
        let path = OsStr::new(&*asked.path);
        let decision = Decision::of(guard, path, access);
        serde_json::to_writer(answers, &Answer::new(path, &decision))?;
        Ok(outcome_of(&decision))
    }

    fn guard_for(&mut self, roots: Option<&RawValue>, base: Option<String>) -> Result<&Guard> {
        if roots.is_none() && base.is_none() {
            return Ok(&self.guard);
        }
        let roots = roots.map(RawValue::get);
        let same = |own: &Own| own.roots.as_deref() == roots && own.base == base;
        let own = match self.own.take().filter(same) {
            Some(own) => own,
            None => {
                let place = self.ground.base(base.as_deref().map(OsStr::new), Some(&self.base))?;
                let set = roots.map_or_else(|| Ok(self.set.clone()), |roots| self.place(roots))?;
                let guard = self.ground.guard(set, place);
                Own { roots: roots.map(str::to_owned), base, guard }
            }
        };
        Ok(&self.own.insert(own).guard)
    }

    fn place(&self, roots: &str) -> Result<RootSet> {
        let roots: Vec<AskedRoot> = serde_json::from_str(roots)?;
        let named = roots.into_iter().map(|root| self.named(root)).collect::<Result<Vec<_>>>()?;
        Ok(self.ground.place(&named, Source::Flag).set)
    }

    fn named(&self, asked: AskedRoot) -> Result<NamedRoot> {
        let parts = match asked {
            AskedRoot::Typed(text) => return self.ground.typed_root(text.as_ref()),
            AskedRoot::Parts(parts) => parts,
        };
        let path = match (parts.uri, parts.path) {
            (Some(uri), None) => PathBuf::from(RootUri::parse(&uri, PathStyle::NATIVE)?.path()),
            (None, Some(path)) => path,
            _ => bail!("a root has either a `uri` or a `path`"),
        };
        let root = Root::from_path(path, Origin::Flag)?;
        let access = parts.access.map_or(root.access, |words| words.0);
        Ok(NamedRoot { text: root.path.display().to_string(), root: root.with_access(access) })
    }
}

fn unreadable(path: Option<&str>, error: String, answers: &mut Vec<u8>) -> Result<Outcome> {
    serde_json::to_writer(answers, &Answer::unreadable(path, error))?;
    Ok(Outcome::Failed)
}
