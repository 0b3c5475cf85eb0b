//! `Gemfile` and `*.gemspec`: Ruby projects.

use super::{quoted, stem};
use crate::detect::Kind;
use crate::detect::found::Found;

pub(super) fn read_gemfile(_file: &str, _text: &str) -> Vec<Found> {
    vec![Found::likely(Kind::RubyProject)]
}

/// A program; `spec.name = "…"` is what nearly all have, and the file is called the same.
pub(super) fn read_gemspec(file: &str, text: &str) -> Vec<Found> {
    let name = text.lines().find_map(|line| {
        let (left, right) = line.split_once('=')?;
        (left.trim().rsplit('.').next() == Some("name")).then(|| quoted(right).next())?
    });
    vec![Found::certain(Kind::RubyProject).named(name.or(Some(stem(file)).filter(|stem| !stem.is_empty())))]
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn projects() {
        check(read_gemfile, "Gemfile", "source 'x'", &[(Kind::RubyProject, None, 0)]);
        let check = |text: &str, name| check(read_gemspec, "file.gemspec", text, &[(Kind::RubyProject, Some(name), 0)]);
        check("Gem::Specification.new do |s|\n  s.name        = \"mine\"\nend", "mine");
        check("s.name = NAME", "file");
        check("", "file");
    }
}
