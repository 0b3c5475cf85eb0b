//! `go.mod`.

use super::super::shown;
use super::{Facts, Purpose};

pub(super) fn read(text: &str) -> Facts {
    let word = |key: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(' '))?;
        line.split_whitespace().next().map(|word| shown(word.trim_matches('"')))
    };
    let mut facts = Facts { name: word("module"), version: None, ..Facts::default() };
    facts.command(Purpose::Build, "go build ./...");
    facts.command(Purpose::Test, "go test ./...");
    facts.command(Purpose::Lint, "go vet ./...");
    facts.command(Purpose::Format, "gofmt -l .");
    facts
}
