//! MCP's names are in one crate: support for a new revision of the protocol begins there.

use super::{File, Finding, Repository};

/// The crate that has them.
const HOME: &str = "crates/rootward-protocol/";

/// Paths that only tests use.
const TESTS: [&str; 2] = ["crates/rootward-testkit/", "/tests/"];

/// The beginnings of strings that are names of the protocol: methods, and members of messages.
const NAMES: [&str; 18] = [
    "\"completion/",
    "\"initialize\"",
    "\"inputRequests\"",
    "\"inputResponses\"",
    "\"isError\"",
    "\"logging/",
    "\"notifications/",
    "\"progressToken\"",
    "\"prompts/",
    "\"protocolVersion\"",
    "\"requestState\"",
    "\"resources/",
    "\"resultType\"",
    "\"roots/",
    "\"server/discover\"",
    "\"structuredContent\"",
    "\"tools/",
    "io.modelcontextprotocol/",
];

/// Product code outside the crate uses the crate's constants.
pub(super) fn is_spoken_in_one_crate(repository: &Repository) -> Vec<Finding> {
    let tests = test_modules(repository);
    let is_product = |file: &&File| {
        file.path.starts_with("crates/")
            && file.path.contains("/src/")
            && !file.path.starts_with(HOME)
            && !TESTS.iter().any(|place| file.path.contains(place))
            && !tests.iter().any(|module| is_in(&file.path, module))
    };
    let mut findings = Vec::new();
    for file in repository.rust_files().filter(is_product) {
        // Unit tests are at the end of a file.
        let end = tests_begin(file);
        let code = file.lines().take_while(|(number, _)| *number < end);
        for (number, line) in code.filter(|(_, line)| !line.trim_start().starts_with("//")) {
            if let Some(name) = NAMES.iter().find(|name| line.contains(**name)) {
                findings.push(file.finding(number, format!("`{name}` is a protocol name: take it from {HOME}")));
            }
        }
    }
    findings
}

/// The line at which the unit tests begin, or `usize::MAX` if there are none.
fn tests_begin(file: &File) -> usize {
    let mut mark = None;
    for (number, line) in file.lines() {
        match mark {
            Some(begin) if line.starts_with("mod ") && line.ends_with('{') => return begin,
            Some(_) if line.starts_with("#[") => {}
            _ => mark = (line == "#[cfg(test)]").then_some(number),
        }
    }
    usize::MAX
}

/// The modules that are declared for tests only, as paths without an extension.
fn test_modules(repository: &Repository) -> Vec<String> {
    let mut modules = Vec::new();
    for file in repository.rust_files() {
        let Some((parent, own)) = file.path.trim_end_matches(".rs").rsplit_once('/') else { continue };
        let place = if ["mod", "lib", "main"].contains(&own) { parent.to_owned() } else { format!("{parent}/{own}") };
        let mut for_tests = false;
        for (_, line) in file.lines() {
            if let (true, Some(name)) = (for_tests, line.strip_prefix("mod ").and_then(|line| line.strip_suffix(';'))) {
                modules.push(format!("{place}/{name}"));
            }
            for_tests = line == "#[cfg(test)]" || (for_tests && line.starts_with("#["));
        }
    }
    modules
}

fn is_in(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_outside_its_crate_is_found() {
        let check = |files: &[(&str, &str)], expect: &[usize]| {
            let findings = is_spoken_in_one_crate(&Repository::of(files));
            assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), expect, "{files:?}");
        };
        let call = concat!("let method = \"tools", "/call\";\n");
        check(&[("crates/a/src/lib.rs", call)], &[1]);
        check(&[("crates/a/src/lib.rs", &format!("// {call}"))], &[]);
        check(&[("crates/a/tests/it/main.rs", call)], &[]);
        check(&[("crates/rootward-protocol/src/method.rs", call)], &[]);
        let beside = format!("#[cfg(test)]\nmod model;\n{call}\n#[cfg(test)]\nmod tests {{\n{call}}}\n");
        check(&[("crates/a/src/lib.rs", &beside), ("crates/a/src/model.rs", call)], &[3]);
    }
}
