//! `pyproject.toml`: Python projects, and the workspaces of uv.

use toml::{Table, Value};

use super::cargo::strings;
use crate::detect::Kind;
use crate::detect::found::Found;
use crate::detect::members::Members;

pub(super) fn read(_file: &str, text: &str) -> Vec<Found> {
    let Ok(manifest) = text.parse::<Table>() else {
        return vec![Found::likely(Kind::PythonProject)];
    };
    let tool = |name: &str| manifest.get("tool")?.get(name)?.as_table();
    let workspace = tool("uv").and_then(|uv| uv.get("workspace")?.as_table()).map(|workspace| {
        let members = Members::new(strings(workspace, "members")).without(strings(workspace, "exclude"));
        Found::certain(Kind::PythonWorkspace).with_members(members)
    });
    let project = manifest.get("project").and_then(Value::as_table);
    let name = project.or_else(|| tool("poetry")).and_then(|table| table.get("name")?.as_str());
    let found = if name.is_some() { Found::certain } else { Found::likely };
    workspace.into_iter().chain([found(Kind::PythonProject).named(name)]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use Kind::{PythonProject, PythonWorkspace};

    #[test]
    fn manifests() {
        let check = |text: &str, expect: &[_]| check(read, "pyproject.toml", text, expect);
        check("[project]\nname = 'a'", &[(PythonProject, Some("a"), 0)]);
        check("[tool.poetry]\nname = 'b'", &[(PythonProject, Some("b"), 0)]);
        check(
            "[project]\nname = 'a'\n[tool.uv.workspace]\nmembers = ['x/*']\nexclude = ['x/y']",
            &[(PythonWorkspace, None, 2), (PythonProject, Some("a"), 0)],
        );
        check("[tool.ruff]\nline-length = 9", &[(PythonProject, None, 0)]);
        check("[project]\ndynamic = ['name']", &[(PythonProject, None, 0)]);
        check("= =", &[(PythonProject, None, 0)]);
    }
}
