//! The workspace's manifests: every crate has the workspace's lints, and dependencies point one way.

use toml::{Table, Value};

use super::{File, Finding, Repository};

/// The crates from the bottom up: core <- audit, protocol, sandbox <- server, client, http <- files <- hub <- cli. A crate may depend
/// only on crates with a lower number. Dev-dependencies are exempt, so the test kit is above everything that it tests.
const LAYERS: [(&str, u8); 21] = [
    ("rootward-core", 0),
    ("rootward-macros", 0),
    ("rootward-audit", 1),
    ("rootward-protocol", 1),
    ("rootward-server", 2),
    ("rootward-client", 2),
    ("rootward-sandbox", 1),
    ("rootward-files", 3),
    ("rootward-http", 2),
    ("rootward-hub", 4),
    ("rootward", 5),
    ("conformance-server", 5),
    ("minimal-host", 5),
    ("minimal-server", 5),
    ("http-server", 5),
    ("knowledge-base", 5),
    ("workspace-shell", 5),
    ("rootward-testkit", 6),
    ("taskkit", 7),
    ("interop", 8),
    ("xtask", 9),
];

/// The core does no async, no logging, no MCP, no network.
const NOT_IN_CORE: [&str; 10] =
    ["tokio", "async-std", "smol", "futures", "rmcp", "tracing", "log", "reqwest", "hyper", "axum"];

/// Every crate says `[lints] workspace = true`.
pub(super) fn inherit_the_lints(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, manifest) in manifests(repository, &mut findings) {
        let inherits = manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(Value::as_bool);
        if manifest.contains_key("package") && inherits != Some(true) {
            findings.push(file.finding(1, "the crate must inherit the lints: `[lints] workspace = true`"));
        }
    }
    findings
}

/// Dependencies point down the layers, and the core has no async, logging or MCP dependencies.
pub(super) fn keep_the_layers(repository: &Repository) -> Vec<Finding> {
    // The other rule on manifests reports those that cannot be parsed.
    let manifests = manifests(repository, &mut Vec::new());
    let shared = manifests.iter().find(|(file, _)| file.path == "Cargo.toml");
    let shared = shared.and_then(|(_, manifest)| manifest.get("workspace")?.get("dependencies")?.as_table());
    let mut findings = Vec::new();
    for (file, manifest) in &manifests {
        let Some(name) = manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str) else {
            continue;
        };
        let Some(layer) = layer_of(name) else {
            findings.push(file.finding(1, format!("crate `{name}` has no layer: give it one in xtask's tidy rules")));
            continue;
        };
        for dependency in dependencies(manifest, shared) {
            let line = file.lines().find(|(_, line)| line.contains(&dependency)).map_or(1, |(number, _)| number);
            if name == "rootward-core" && NOT_IN_CORE.contains(&dependency.as_str()) {
                findings.push(file.finding(line, format!("the core must not depend on `{dependency}`")));
            }
            if layer_of(&dependency).is_some_and(|below| below >= layer) {
                findings.push(file.finding(
                    line,
                    format!("`{name}` must not depend on `{dependency}`, which is not in a lower layer"),
                ));
            }
        }
    }
    findings
}

fn layer_of(name: &str) -> Option<u8> {
    LAYERS.iter().find(|(known, _)| *known == name).map(|(_, layer)| *layer)
}

/// The real names of the packages that a crate depends on, without dev-dependencies.
fn dependencies(manifest: &Table, shared: Option<&Table>) -> Vec<String> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables = targets.into_iter().flat_map(|targets| targets.values().filter_map(Value::as_table));
    std::iter::once(manifest)
        .chain(tables)
        .flat_map(|table| [table.get("dependencies"), table.get("build-dependencies")])
        .flatten()
        .filter_map(Value::as_table)
        .flatten()
        .map(|(key, own)| {
            let renamed = |entry: &Value| Some(entry.get("package")?.as_str()?.to_owned());
            let inherited = shared.and_then(|shared| shared.get(key)).and_then(renamed);
            renamed(own).or(inherited).unwrap_or_else(|| key.clone())
        })
        .collect()
}

fn manifests<'a>(repository: &'a Repository, findings: &mut Vec<Finding>) -> Vec<(&'a File, Table)> {
    let mut manifests = Vec::new();
    for file in repository.files.iter().filter(|file| file.is_called("Cargo.toml")) {
        match file.text.parse::<Table>() {
            Ok(manifest) => manifests.push((file, manifest)),
            Err(error) => findings.push(file.finding(1, format!("not a manifest: {}", error.message()))),
        }
    }
    manifests
}

#[cfg(test)]
mod tests {
    use super::super::check_lines;
    use super::*;

    #[test]
    fn a_crate_without_the_lints_is_found() {
        let check = |text: &str, lines: &[usize]| check_lines(inherit_the_lints, "crates/a/Cargo.toml", text, lines);
        check("[package]\nname = \"a\"\n[lints]\nworkspace = true\n", &[]);
        check("[package]\nname = \"a\"\nlints.workspace = true\n", &[1]);
        check("[package]\nname = \"a\"\n", &[1]);
        check("[package]\nname = \"a\"\n[lints]\nworkspace = false\n", &[1]);
        check("[package]\nname = \"a\"\n[lints.rust]\nunsafe_code = \"allow\"\n", &[1]);
        check("[workspace]\nmembers = []\n", &[]);
        check("[package\n", &[1]);
    }

    #[test]
    fn a_dependency_that_points_up_is_found() {
        let check = |name: &str, rest: &str, lines: &[usize]| {
            let text = format!("[package]\nname = \"{name}\"\n{rest}");
            check_lines(keep_the_layers, "crates/a/Cargo.toml", &text, lines);
        };
        check("rootward-server", "[dependencies]\nrootward-core.workspace = true\nrmcp = \"3\"\n", &[]);
        check("rootward-core", "[dependencies]\nrootward-server.workspace = true\n", &[4]);
        check("rootward-server", "[dependencies]\nrootward-client.workspace = true\n", &[4]);
        check("rootward", "[dependencies]\nrootward-testkit.workspace = true\n", &[4]);
        check("rootward", "[dev-dependencies]\nrootward-testkit.workspace = true\n", &[]);
        check("rootward-testkit", "[dependencies]\nrootward-core.workspace = true\n", &[]);
        check("rootward-new", "", &[1]);
    }

    #[test]
    fn async_logging_and_protocols_in_the_core_are_found() {
        let check = |rest: &str, lines: &[usize]| {
            let text = format!("[package]\nname = \"rootward-core\"\n{rest}");
            check_lines(keep_the_layers, "crates/a/Cargo.toml", &text, lines);
        };
        for name in NOT_IN_CORE {
            check(&format!("[dependencies]\n{name} = \"1\"\n"), &[4]);
        }
        check("[dependencies]\nrustix = \"1\"\n[dev-dependencies]\ntokio = \"1\"\n", &[]);
        check("[build-dependencies]\nlog = \"1\"\n", &[4]);
        check("[target.'cfg(unix)'.dependencies]\ntokio = \"1\"\n", &[4]);
        check("[dependencies]\nquiet = { package = \"tracing\", version = \"1\" }\n", &[4]);
    }

    #[test]
    fn a_renamed_workspace_dependency_is_found() {
        let repository = Repository::of(&[
            ("Cargo.toml", "[workspace.dependencies]\nquiet = { package = \"tracing\", version = \"1\" }\n"),
            ("crates/a/Cargo.toml", "[package]\nname = \"rootward-core\"\n[dependencies]\nquiet.workspace = true\n"),
        ]);
        let says: Vec<String> = keep_the_layers(&repository).into_iter().map(|finding| finding.says).collect();
        assert_eq!(says, ["the core must not depend on `tracing`"]);
    }
}
