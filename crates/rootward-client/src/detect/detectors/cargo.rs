//! `Cargo.toml`: packages and workspaces.
//!
//! Members are the directories in `workspace.members` and, as in Cargo, the root package's path dependencies
//! (<https://doc.rust-lang.org/cargo/reference/workspaces.html>); path dependencies of members are not followed.

use toml::{Table, Value};

use crate::detect::Kind;
use crate::detect::found::Found;
use crate::detect::members::Members;

pub(super) fn read(_file: &str, text: &str) -> Vec<Found> {
    let Some(manifest) = text.parse::<Table>().ok().filter(|manifest| !manifest.is_empty()) else {
        return vec![Found::likely(Kind::CargoPackage)];
    };
    let workspace = manifest.get("workspace").and_then(Value::as_table).map(|workspace| {
        let members = Members::new(strings(workspace, "members").into_iter().chain(path_dependencies(&manifest)));
        Found::certain(Kind::CargoWorkspace).with_members(members.without(strings(workspace, "exclude")))
    });
    let package = manifest.get("package").or_else(|| manifest.get("project")).and_then(Value::as_table);
    let package = package.map(|package| match package.get("name").and_then(Value::as_str) {
        Some(name) => Found::certain(Kind::CargoPackage).named(Some(name)),
        None => Found::likely(Kind::CargoPackage),
    });
    workspace.into_iter().chain(package).collect()
}

pub(super) fn strings<'t>(table: &'t Table, key: &str) -> Vec<&'t str> {
    let array = table.get(key).and_then(Value::as_array);
    array.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn path_dependencies(manifest: &Table) -> impl Iterator<Item = &str> {
    let tables = ["dependencies", "dev-dependencies", "build-dependencies"];
    let tables = tables.into_iter().filter_map(|key| manifest.get(key)?.as_table());
    tables.flat_map(Table::values).filter_map(|dependency| dependency.get("path")?.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use Kind::{CargoPackage, CargoWorkspace};

    #[test]
    fn manifests() {
        let check = |text: &str, expect: &[_]| check(read, "Cargo.toml", text, expect);
        check("[package]\nname = \"a\"", &[(CargoPackage, Some("a"), 0)]);
        check("[project]\nname = \"old\"", &[(CargoPackage, Some("old"), 0)]);
        check("[workspace]\nmembers = [\"a\", \"b/*\"]\nexclude = [\"b/c\"]", &[(CargoWorkspace, None, 3)]);
        check("[workspace]\n[package]\nname = \"a\"", &[(CargoWorkspace, None, 0), (CargoPackage, Some("a"), 0)]);
        check(
            "[workspace]\n[package]\nname = \"a\"\n[dependencies]\nb = { path = \"b\" }\nserde = \"1\"",
            &[(CargoWorkspace, None, 1), (CargoPackage, Some("a"), 0)],
        );
        check("[package]\nversion = \"1\"", &[(CargoPackage, None, 0)]);
        check("[package]\nname = 7", &[(CargoPackage, None, 0)]);
        check("[package]\nname = \"a\\nb\"", &[(CargoPackage, None, 0)]);
        check("[profile.dev]\ndebug = 0", &[]);
        check("[package", &[(CargoPackage, None, 0)]);
        check("", &[(CargoPackage, None, 0)]);
    }
}
