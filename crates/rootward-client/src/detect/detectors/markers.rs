//! Files whose name alone marks a project. They are not opened: the project gets the name of its git remote or its
//! directory.

use crate::detect::Kind;

/// Whole names.
const NAMES: &[(&str, Kind)] = &[
    ("deno.json", Kind::DenoProject),
    ("deno.jsonc", Kind::DenoProject),
    ("pom.xml", Kind::MavenProject),
    ("build.gradle", Kind::GradleProject),
    ("build.gradle.kts", Kind::GradleProject),
    ("settings.gradle", Kind::GradleProject),
    ("settings.gradle.kts", Kind::GradleProject),
    ("composer.json", Kind::PhpPackage),
    ("Gemfile", Kind::RubyProject),
    ("mix.exs", Kind::ElixirProject),
    ("CMakeLists.txt", Kind::CmakeProject),
    ("Makefile", Kind::MakeProject),
    ("GNUmakefile", Kind::MakeProject),
];

/// File extensions.
const ENDINGS: &[(&str, Kind)] = &[
    ("sln", Kind::DotnetProject),
    ("slnx", Kind::DotnetProject),
    ("csproj", Kind::DotnetProject),
    ("fsproj", Kind::DotnetProject),
    ("vbproj", Kind::DotnetProject),
    ("gemspec", Kind::RubyProject),
];

/// What a file of this name marks.
pub(in crate::detect) fn of_file(name: &[u8]) -> Option<Kind> {
    let find = |table: &[(&str, Kind)], text: &[u8]| {
        table.iter().find(|(marker, _)| marker.as_bytes() == text).map(|(_, kind)| *kind)
    };
    let ending = || name.iter().rposition(|byte| *byte == b'.').map(|dot| &name[dot + 1..]);
    find(NAMES, name).or_else(|| find(ENDINGS, ending()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_find_projects() {
        let check = |name: &str, expect| assert_eq!(of_file(name.as_bytes()), expect, "{name}");
        for name in ["deno.json", "deno.jsonc"] {
            check(name, Some(Kind::DenoProject));
        }
        check("pom.xml", Some(Kind::MavenProject));
        for name in ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"] {
            check(name, Some(Kind::GradleProject));
        }
        for name in ["a.sln", "my.app.slnx", "a.b.csproj", "ä.fsproj", ".vbproj"] {
            check(name, Some(Kind::DotnetProject));
        }
        check("composer.json", Some(Kind::PhpPackage));
        for name in ["Gemfile", "a.gemspec"] {
            check(name, Some(Kind::RubyProject));
        }
        check("mix.exs", Some(Kind::ElixirProject));
        check("CMakeLists.txt", Some(Kind::CmakeProject));
        for name in ["Makefile", "GNUmakefile"] {
            check(name, Some(Kind::MakeProject));
        }
        for name in ["gemfile", "pom.xml.bak", "sln", "a.sln.bak", "main.rs", "Cargo.toml", "", "."] {
            check(name, None);
        }
    }
}
