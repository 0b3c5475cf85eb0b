//! `build.gradle(.kts)` and `settings.gradle(.kts)`: Gradle projects and builds.
//!
//! They are programs; only the lines that nearly every build has are understood.

use super::quoted;
use crate::detect::Kind;
use crate::detect::found::Found;
use crate::detect::members::Members;

pub(super) fn read_project(_file: &str, _text: &str) -> Vec<Found> {
    vec![Found::likely(Kind::GradleProject)]
}

pub(super) fn read_settings(_file: &str, text: &str) -> Vec<Found> {
    let (mut name, mut included) = (None, Vec::new());
    let mut goes_on = false;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        if goes_on || is_include(line) {
            // `:lib:core` lies in `lib/core`.
            included.extend(quoted(line).map(|project| project.trim_start_matches(':').replace(':', "/")));
            goes_on = line.ends_with([',', '(']);
        } else if let Some(rest) = line.strip_prefix("rootProject.name") {
            name = name.or_else(|| quoted(rest).next());
        }
    }
    let name = name.filter(|name| !name.contains('$'));
    let members = Members::named(included.iter().map(String::as_str));
    let found = if text.is_empty() { Found::likely } else { Found::certain };
    vec![found(Kind::GradleBuild).named(name).with_members(members)]
}

/// `include 'a'`, `include("a")`; not `includeBuild`.
fn is_include(line: &str) -> bool {
    line.strip_prefix("include").is_some_and(|rest| rest.starts_with([' ', '\t', '(']))
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn settings() {
        let check = |text: &str, name, members| {
            check(read_settings, "settings.gradle", text, &[(Kind::GradleBuild, name, members)]);
        };
        check("rootProject.name = 'app'\ninclude ':a', 'lib:core'\n", Some("app"), 2);
        check("rootProject.name = \"app\"\ninclude(\n    \":a\",\n    \":b\",\n)\ninclude(\":c\")\n", Some("app"), 3);
        check("includeBuild('x')\n// include 'y'\n", None, 0);
        check("rootProject.name = \"$x\"", None, 0);
        check("", None, 0);
    }

    #[test]
    fn projects() {
        check(read_project, "build.gradle.kts", "plugins {}", &[(Kind::GradleProject, None, 0)]);
    }
}
