//! One file for each kind of evidence. A detector reads the text of one file and looks nowhere else.
//!
//! A file that cannot be read, is too large or makes no sense is no reason to fail: it counts without a name, or not at all.

mod cargo;
mod cmake;
mod deno;
mod dotnet;
mod elixir;
#[cfg(test)]
mod fuzz;
pub(super) mod git;
mod go;
mod gradle;
pub(super) mod jetbrains;
mod json;
mod maven;
mod node;
mod php;
mod python;
mod ruby;
mod vscode;
mod xml;

use super::found::Found;

/// Reads a file: its name and its text. The text is empty where it could not be read.
pub(super) type Detector = fn(&str, &str) -> Vec<Found>;

/// Who reads files of this name.
pub(super) fn of_file(name: &[u8]) -> Option<Detector> {
    Some(match name {
        b"Cargo.toml" => cargo::read,
        b"package.json" => node::read_package,
        b"pnpm-workspace.yaml" => node::read_pnpm,
        b"deno.json" | b"deno.jsonc" => deno::read,
        b"pyproject.toml" => python::read,
        b"go.mod" => go::read_module,
        b"go.work" => go::read_workspace,
        b"pom.xml" => maven::read,
        b"build.gradle" | b"build.gradle.kts" => gradle::read_project,
        b"settings.gradle" | b"settings.gradle.kts" => gradle::read_settings,
        b"composer.json" => php::read,
        b"Gemfile" => ruby::read_gemfile,
        b"mix.exs" => elixir::read,
        b"CMakeLists.txt" => cmake::read,
        b".gitmodules" => git::read_modules,
        b".git" => git::read_link,
        _ => return of_ending(name),
    })
}

fn of_ending(name: &[u8]) -> Option<Detector> {
    let dot = name.iter().rposition(|byte| *byte == b'.')?;
    Some(match &name[dot..] {
        b".sln" => dotnet::read_solution,
        b".slnx" => dotnet::read_xml_solution,
        b".csproj" | b".fsproj" | b".vbproj" => dotnet::read_project,
        b".gemspec" => ruby::read_gemspec,
        b".code-workspace" => vscode::read,
        _ => return None,
    })
}

/// What stands before the last dot of a file's name.
fn stem(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// The texts between quotes in one line: `'a', "b"`. For languages that nobody can read without running them.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let start = rest.find(['"', '\''])?;
        let quote = &rest[start..=start];
        let inner = &rest[start + 1..];
        let end = inner.find(quote)?;
        rest = &inner[end + 1..];
        Some(&inner[..end])
    })
}

/// Compares what a detector finds: kind, name, members by count.
#[cfg(test)]
fn check(detector: Detector, file: &str, text: &str, expect: &[(super::Kind, Option<&str>, usize)]) {
    use super::found::More;
    let found = detector(file, text);
    let members = |more: &More| match more {
        More::Members(members) | More::Submodules(members) => members.cost().names + members.cost().patterns,
        More::Folders(folders) => folders.len(),
        More::Nothing | More::Remote(_) => 0,
    };
    let seen: Vec<_> = found.iter().map(|found| (found.kind, found.name.as_deref(), members(&found.more))).collect();
    assert_eq!(seen, expect, "{file}: {text:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_mean_something() {
        let known = |name: &str| of_file(name.as_bytes()).is_some();
        for name in
            ["Cargo.toml", "a.sln", "my.app.slnx", ".code-workspace", "x.code-workspace", "a.b.csproj", "go.mod"]
        {
            assert!(known(name), "{name}");
        }
        for name in ["cargo.toml", "Cargo.lock", "sln", "a.sln.bak", "main.rs", "package.json5", "", "."] {
            assert!(!known(name), "{name}");
        }
    }

    #[test]
    fn quotes() {
        let check = |line: &str, expect: &[&str]| assert_eq!(quoted(line).collect::<Vec<_>>(), expect, "{line}");
        check(r#"include ':a', ":b:c""#, &[":a", ":b:c"]);
        check("include 'käse', 'open", &["käse"]);
        check("none", &[]);
    }
}
