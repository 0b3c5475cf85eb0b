//! How each kind of value in the settings file is parsed.
//!
//! A parser returns `None` if the value counts as not set.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use rootward_core::env::NamedRoot;
use rootward_core::{Closed, Mode, Origin, PathStyle, PathText, Restriction, RestrictionError, RootError};
use rootward_sandbox::PassedVariable;
use serde::Deserialize;
use toml::Spanned;

use super::Restrict;
use super::file::{Found, Mistake};
use super::words::{Words, expected};
use crate::treat::Treat;

/// What a parser returns.
pub(super) type Parsed<T> = Result<Option<T>, Mistake>;

/// `true` or `false`.
pub(super) fn boolean(found: Found<'_>) -> Parsed<bool> {
    found.read().map(Some)
}

/// A list of arbitrary strings.
pub(super) fn strings(found: Found<'_>) -> Parsed<Vec<String>> {
    found.read().map(Some)
}

/// One of a few words.
pub(super) fn word<T: Words>(found: Found<'_>) -> Parsed<T> {
    let text = found.text;
    let spot: Spanned<String> = found.read()?;
    known_word(text, &spot).map(Some)
}

/// One of these words, as written.
pub(super) fn one_of(found: Found<'_>, words: &[&str]) -> Parsed<String> {
    let text = found.text;
    listed(text, found.read()?, words).map(Some)
}

/// Several of these words, as written.
pub(super) fn several_of(found: Found<'_>, words: &[&str]) -> Parsed<Vec<String>> {
    let text = found.text;
    let spots: Vec<Spanned<String>> = found.read()?;
    spots.into_iter().map(|spot| listed(text, spot, words)).collect::<Result<_, _>>().map(Some)
}

fn listed(text: &str, spot: Spanned<String>, words: &[&str]) -> Result<String, Mistake> {
    if words.contains(&spot.get_ref().as_str()) {
        return Ok(spot.into_inner());
    }
    Err(Mistake::about(text, &spot, &expected(words.iter().copied())))
}

fn known_word<T: Words>(text: &str, spot: &Spanned<String>) -> Result<T, Mistake> {
    let named = |(word, value): &(&str, T)| (*word == spot.get_ref()).then_some(*value);
    let expected = || expected(T::WORDS.iter().map(|(word, _)| *word));
    T::WORDS.iter().find_map(named).ok_or_else(|| Mistake::about(text, spot, &expected()))
}

/// How roots combine.
pub(super) fn mode(found: Found<'_>) -> Parsed<Mode> {
    let text = found.text;
    let spot: Spanned<String> = found.read()?;
    Mode::from_str(spot.get_ref()).map(Some).map_err(|error| Mistake::about(text, &spot, &error.to_string()))
}

/// A whole number of milliseconds.
pub(super) fn milliseconds(found: Found<'_>) -> Parsed<Duration> {
    found.read().map(Duration::from_millis).map(Some)
}

/// The same, for an optional setting.
pub(super) fn some_milliseconds(found: Found<'_>) -> Parsed<Option<Duration>> {
    milliseconds(found).map(Some)
}

/// How long to wait for an answer.
pub(super) fn patience(found: Found<'_>) -> Parsed<Duration> {
    let text = found.text;
    let spot: Spanned<u64> = found.read()?;
    match *spot.get_ref() {
        0 => Err(Mistake::at(text, spot.span().start, "`0` (no client can answer in 0 ms)")),
        time => Ok(Some(Duration::from_millis(time))),
    }
}

/// A whole number within bounds.
pub(super) fn bounded(found: Found<'_>, least: u64, most: u64) -> Parsed<u64> {
    let text = found.text;
    let spot: Spanned<u64> = found.read()?;
    let number = *spot.get_ref();
    // SECURITY: a limit of 0 would serve nobody, and one that is too large would limit nothing
    // (test: limits_have_bounds)
    if number < least || number > most {
        let says = format!("`{number}` (expected a number from {least} to {most})");
        return Err(Mistake::at(text, spot.span().start, says));
    }
    Ok(Some(number))
}

/// The operator's roots; an empty list names none.
pub(super) fn roots(found: Found<'_>) -> Parsed<Vec<NamedRoot>> {
    let (text, home) = (found.text, found.home);
    let spots: Vec<Spanned<String>> = found.read()?;
    let roots = spots.iter().map(|spot| root(text, home, spot, Origin::Config)).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(roots).filter(|roots| !roots.is_empty()))
}

/// The fallback directory.
pub(super) fn fallback(found: Found<'_>) -> Parsed<Option<NamedRoot>> {
    let (text, home) = (found.text, found.home);
    let spot: Spanned<String> = found.read()?;
    root(text, home, &spot, Origin::Fallback).map(|root| Some(Some(root)))
}

/// A root as named in the file.
pub(super) fn root(
    text: &str,
    home: Option<&Path>,
    spot: &Spanned<String>,
    origin: Origin,
) -> Result<NamedRoot, Mistake> {
    let named = NamedRoot::read(spot.get_ref().as_ref(), home, origin);
    named.map_err(|error: RootError| Mistake::at(text, spot.span().start, error.to_string()))
}

/// A list of paths, each absolute or starting with `~`.
pub(super) fn paths(found: Found<'_>) -> Parsed<Vec<PathBuf>> {
    let (text, home) = (found.text, found.home);
    let spots: Vec<Spanned<String>> = found.read()?;
    spots.iter().map(|spot| path(text, home, spot)).collect::<Result<_, _>>().map(Some)
}

/// One such path.
pub(super) fn one_path(found: Found<'_>) -> Parsed<Option<PathBuf>> {
    let (text, home) = (found.text, found.home);
    let spot: Spanned<String> = found.read()?;
    path(text, home, &spot).map(|path| Some(Some(path)))
}

/// A path in the file: absolute, or starting with `~`.
pub(super) fn path(text: &str, home: Option<&Path>, spot: &Spanned<String>) -> Result<PathBuf, Mistake> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let wrong = |reason: &str| Mistake::about(text, spot, reason);
    let home = home.map(|home| home.as_os_str().as_bytes());
    match PathText::read(spot.get_ref().as_bytes(), PathStyle::NATIVE, home) {
        Ok(PathText::Absolute(path)) => Ok(std::ffi::OsString::from_vec(path.into_owned()).into()),
        Ok(PathText::Relative(_)) => Err(wrong("not an absolute path")),
        Err(reason) => Err(wrong(&reason.to_string())),
    }
}

/// Names and prefixes of variables.
pub(super) fn variables(found: Found<'_>) -> Parsed<Vec<PassedVariable>> {
    let text = found.text;
    let spots: Vec<Spanned<String>> = found.read()?;
    let variable = |spot: &Spanned<String>| {
        PassedVariable::read(spot.get_ref()).map_err(|error| Mistake::about(text, spot, &error.to_string()))
    };
    spots.iter().map(variable).collect::<Result<_, _>>().map(Some)
}

/// How to treat arguments of tools, each at most once.
pub(super) fn treats(found: Found<'_>) -> Parsed<Vec<Treat>> {
    let text = found.text;
    let spots: Vec<Spanned<String>> = found.read()?;
    let mut treats: Vec<Treat> = Vec::new();
    for spot in &spots {
        let treat = Treat::from_str(spot.get_ref()).map_err(|expected| Mistake::about(text, spot, expected))?;
        if treats.iter().any(|known| known.place == treat.place) {
            return Err(Mistake::about(text, spot, "duplicate entry for this argument"));
        }
        treats.push(treat);
    }
    Ok(Some(treats))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with `pattern`, `closed` and `below`")]
struct RestrictKeys {
    pattern: Spanned<String>,
    closed: Option<Spanned<String>>,
    below: Option<Spanned<String>>,
}

/// The user's own restrictions.
pub(super) fn restrictions(found: Found<'_>) -> Parsed<Vec<Restrict>> {
    let (text, home) = (found.text, found.home);
    let all: Vec<RestrictKeys> = found.read()?;
    let restrict = |keys: &RestrictKeys| {
        let closed = keys.closed.as_ref().map(|spot| known_word::<Closed>(text, spot)).transpose()?;
        let restrict = Restrict {
            pattern: keys.pattern.get_ref().clone(),
            closed: closed.unwrap_or(Closed::Entirely),
            below: keys.below.as_ref().map(|spot| path(text, home, spot)).transpose()?,
        };
        usable(&restrict).map_err(|why| Mistake::about(text, &keys.pattern, &why))?;
        Ok(restrict)
    };
    all.iter().map(restrict).collect::<Result<_, Mistake>>().map(Some)
}

/// Whether a restriction can be compiled.
fn usable(restrict: &Restrict) -> Result<(), String> {
    if restrict.pattern.trim_matches('/').is_empty() {
        return Err("a pattern that matches nothing".to_owned());
    }
    let rule = match &restrict.below {
        Some(place) => Restriction::below(place, &restrict.pattern, restrict.closed),
        None => Restriction::anywhere(&restrict.pattern, restrict.closed),
    };
    rule.map(drop).map_err(|error| match error {
        RestrictionError::Glob { source, .. } => source.kind().to_string(),
        error @ RestrictionError::NotUtf8(_) => error.to_string(),
    })
}
