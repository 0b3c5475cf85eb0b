//! `package.json` and `pnpm-workspace.yaml`: packages and workspaces of npm, Yarn and pnpm.

use saphyr_parser::{Event, Parser};

use super::json;
use crate::detect::Kind;
use crate::detect::found::Found;
use crate::detect::members::Members;

/// The longest pnpm file to read: people write a few lines.
const LONGEST_YAML: usize = 64 << 10;

pub(super) fn read_package(_file: &str, text: &str) -> Vec<Found> {
    let Some(package) = json::object(text) else {
        return vec![Found::likely(Kind::NodePackage)];
    };
    // A list or, in Yarn, an object with a list.
    let patterns =
        json::strings(&package, "workspaces").or_else(|| json::strings(package.get_object("workspaces")?, "packages"));
    let workspace = patterns.map(|patterns| Found::certain(Kind::NodeWorkspace).with_members(Members::new(patterns)));
    let name = json::name(&package);
    // A file that only says `"type": "module"` marks sources, not a project.
    let says = ["name", "scripts", "dependencies", "devDependencies"].iter().any(|key| package.get(key).is_some());
    let found = if name.is_some() { Found::certain } else { Found::likely };
    let package = (says || workspace.is_some()).then(|| found(Kind::NodePackage).named(name));
    workspace.into_iter().chain(package).collect()
}

pub(super) fn read_pnpm(_file: &str, text: &str) -> Vec<Found> {
    let patterns = (text.len() <= LONGEST_YAML).then(|| packages(text)).flatten();
    vec![match patterns {
        Some(patterns) => {
            Found::certain(Kind::NodeWorkspace).with_members(Members::new(patterns.iter().map(String::as_str)))
        }
        None => Found::likely(Kind::NodeWorkspace),
    }]
}

/// The list under the top-level key `packages`.
fn packages(text: &str) -> Option<Vec<String>> {
    let mut packages = Vec::new();
    let mut depth = 0usize;
    // At the top level, keys and values alternate.
    let mut key: Option<String> = None;
    for event in Parser::new_from_str(text) {
        match event.ok()?.0 {
            Event::MappingStart(..) | Event::SequenceStart(..) => depth += 1,
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.checked_sub(1)?;
                if depth == 1 {
                    key = None;
                }
            }
            Event::Scalar(text, ..) if depth == 1 => {
                key = if key.is_some() { None } else { Some(text.into_owned()) };
            }
            Event::Scalar(text, ..) if depth == 2 && key.as_deref() == Some("packages") => {
                packages.push(text.into_owned());
            }
            _ => {}
        }
    }
    Some(packages)
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use Kind::{NodePackage, NodeWorkspace};

    #[test]
    fn packages_of_npm() {
        let check = |text: &str, expect: &[_]| check(read_package, "package.json", text, expect);
        check(r#"{"name": "@me/app"}"#, &[(NodePackage, Some("@me/app"), 0)]);
        check(
            r#"{"name": "a", "workspaces": ["packages/*", "!packages/old"]}"#,
            &[(NodeWorkspace, None, 2), (NodePackage, Some("a"), 0)],
        );
        check(
            r#"{"private": true, "workspaces": {"packages": ["a"]}}"#,
            &[(NodeWorkspace, None, 1), (NodePackage, None, 0)],
        );
        check(r#"{"type": "module"}"#, &[]);
        check(r#"{"scripts": {}}"#, &[(NodePackage, None, 0)]);
        check(r#"{"name": ["a"]}"#, &[(NodePackage, None, 0)]);
        check("{", &[(NodePackage, None, 0)]);
        check("[]", &[(NodePackage, None, 0)]);
        check("", &[(NodePackage, None, 0)]);
        check(&"[".repeat(100_000), &[(NodePackage, None, 0)]);
    }

    #[test]
    fn workspaces_of_pnpm() {
        let check = |text: &str, expect: &[_]| check(read_pnpm, "pnpm-workspace.yaml", text, expect);
        check("packages:\n  - 'a/*'\n  - \"!b\" # not this\n  - c\n", &[(NodeWorkspace, None, 3)]);
        check("a: b\npackages: [x, y]\ncatalog:\n  react: ^18\n", &[(NodeWorkspace, None, 2)]);
        check("other:\n  packages:\n    - a\n", &[(NodeWorkspace, None, 0)]);
        check("", &[(NodeWorkspace, None, 0)]);
        check("\t- [", &[(NodeWorkspace, None, 0)]);
        check(&"[".repeat(60_000), &[(NodeWorkspace, None, 0)]);
        check("a: &a [x]\nb: &b [*a, *a]\npackages: [*b, y]", &[(NodeWorkspace, None, 1)]);
    }
}
