//! `deno.json` and `deno.jsonc`: projects and workspaces of Deno.

use super::json;
use crate::detect::Kind;
use crate::detect::found::Found;
use crate::detect::members::Members;

pub(super) fn read(_file: &str, text: &str) -> Vec<Found> {
    let Some(manifest) = json::object(text) else {
        return vec![Found::likely(Kind::DenoProject)];
    };
    let patterns =
        json::strings(&manifest, "workspace").or_else(|| json::strings(manifest.get_object("workspace")?, "members"));
    let workspace = patterns.map(|patterns| Found::certain(Kind::DenoWorkspace).with_members(Members::new(patterns)));
    let name = json::name(&manifest);
    workspace.into_iter().chain([Found::certain(Kind::DenoProject).named(name)]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn manifests() {
        let check = |text: &str, expect: &[_]| check(read, "deno.jsonc", text, expect);
        check("{\"name\": \"@a/b\", // mine\n}", &[(Kind::DenoProject, Some("@a/b"), 0)]);
        check(r#"{"workspace": ["./a", "b/*"]}"#, &[(Kind::DenoWorkspace, None, 2), (Kind::DenoProject, None, 0)]);
        check(r#"{"workspace": {"members": ["a"]}}"#, &[(Kind::DenoWorkspace, None, 1), (Kind::DenoProject, None, 0)]);
        check("{}", &[(Kind::DenoProject, None, 0)]);
        check("nonsense", &[(Kind::DenoProject, None, 0)]);
    }
}
