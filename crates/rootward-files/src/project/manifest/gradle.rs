//! `build.gradle`. It is a program, so this only searches it for a few words.

use super::super::marker::Beside;
use super::{Facts, Purpose};

pub(super) fn read(text: &str, beside: &Beside) -> Facts {
    let gradle = if beside.has("gradlew") { "./gradlew" } else { "gradle" };
    let mut facts = Facts::default();
    facts.command(Purpose::Build, format!("{gradle} build"));
    facts.command(Purpose::Test, format!("{gradle} test"));
    facts.command(Purpose::Lint, format!("{gradle} check"));
    if text.contains("org.springframework.boot") {
        facts.command(Purpose::Run, format!("{gradle} bootRun"));
    } else if text.lines().any(applies_application) {
        facts.command(Purpose::Run, format!("{gradle} run"));
    }
    facts
}

/// `id 'application'`, `id("application")`, `apply plugin: "application"` or the bare word in `plugins`.
fn applies_application(line: &str) -> bool {
    let line = line.trim();
    line == "application"
        || ((line.starts_with("id") || line.starts_with("apply plugin"))
            && (line.contains("'application'") || line.contains("\"application\"")))
}
