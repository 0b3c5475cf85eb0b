//! Node, npm and npx: the package that a script belongs to, and a cache for what `npx` fetches.

use std::path::{Path, PathBuf};

use rootward_core::{Access, follow_ambient};

use super::finding::{Anchor, Findings, NeededAs, Trail};
use super::program::Program;
use super::{Profile, RUN, Surroundings, script_ambient};

const PROGRAMS: [&str; 8] = ["node", "nodejs", "npm", "npx", "npm-cli.js", "npx-cli.js", "bun", "deno"];

/// Directories of a package that contain its code.
const PARTS: [&str; 6] = ["dist", "build", "lib", "src", "bin", "out"];

pub(super) fn seek_ambient(surroundings: &Surroundings<'_>, findings: &mut Findings) {
    for run in surroundings.program.chain() {
        for file in run.paths() {
            if let Some(modules) = outermost_modules(file) {
                findings.seek_ambient(&modules, RUN, NeededAs::NodeModules, &run.trail);
            }
        }
    }
    if !surroundings.program.is_any_of(&PROGRAMS) {
        return;
    }
    let Some(script) = script_ambient(surroundings) else { return };
    let Some(followed) = follow_ambient(&script) else { return };
    let lies_at = followed.place;
    let by_links = Trail { named_in: followed.links, own: Vec::new() };
    if let Some(modules) = outermost_modules(&lies_at) {
        let own = outermost_modules(&script).and_then(|typed| Anchor::find_ambient(&typed)).into_iter().collect();
        findings.seek_ambient(&modules, RUN, NeededAs::NodeModules, &Trail { own, ..by_links });
        return;
    }
    findings.seek_ambient(&lies_at, Access::READ, NeededAs::Script, &by_links);
    // By the path alone: the directory's contents do not matter.
    let typed = typed_package(&lies_at).filter(|directory| surroundings.is_its_own_ambient(directory));
    if let Some(typed) = typed {
        findings.seek_ambient(&typed, RUN, NeededAs::Package, &by_links);
    }
    // SECURITY: a command that can write next to the script decides where its package begins
    // (test: a_script_without_its_package_gets_no_other, a_planted_package_opens_nothing_more)
    let by_script = by_links.past([lies_at.clone()]);
    if let Some(package) = package_ambient(&lies_at, surroundings) {
        findings.seek_ambient(&package, RUN, NeededAs::Package, &by_script);
    }
    // A workspace keeps packages above the script's own.
    let above = lies_at.ancestors().skip(1).take_while(|directory| surroundings.is_its_own_ambient(directory));
    for directory in above {
        findings.seek_ambient(&directory.join("node_modules"), RUN, NeededAs::NodeModules, &by_script);
    }
}

pub(super) fn add(program: &Program, cache: Option<&Path>, profile: &mut Profile) {
    // SECURITY: the user's own cache is not writable, or one server could change what another, or the user, runs next;
    // each command has its own (test: a_package_cache_belongs_to_one_command_and_directory)
    if let (true, Some(cache)) = (program.is_any_of(&PROGRAMS), cache) {
        profile.needs_of_own(cache, Access::ALL);
        profile.sets("npm_config_cache", cache.join("npm"));
        profile.sets("npm_config_update_notifier", "false");
    }
}

/// The topmost `node_modules` that contains a file: packages there find each other.
pub(crate) fn outermost_modules(file: &Path) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in file.components() {
        path.push(component);
        if component.as_os_str() == "node_modules" {
            return Some(path);
        }
    }
    None
}

/// The nearest directory above a script with a `package.json`, unless it is the user's home or above it.
#[expect(clippy::disallowed_methods, reason = "the operator's own command: what its script belongs to")]
fn package_ambient(script: &Path, surroundings: &Surroundings<'_>) -> Option<PathBuf> {
    let above = script.ancestors().skip(1).take_while(|directory| surroundings.is_its_own_ambient(directory));
    let package = above.into_iter().find(|directory| directory.join("package.json").is_file());
    package.map(Path::to_owned)
}

/// The package of a script by its path alone: its directory, or the parent if that directory is a part of a package.
fn typed_package(script: &Path) -> Option<PathBuf> {
    let directory = script.parent()?;
    let is_part = directory.file_name().is_some_and(|name| PARTS.iter().any(|part| name == *part));
    Some(if is_part { directory.parent()? } else { directory }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_find_each_other() {
        let check = |file: &str, expect: Option<&str>| {
            assert_eq!(outermost_modules(Path::new(file)), expect.map(PathBuf::from), "{file}");
        };
        check("/p/node_modules/a/node_modules/b/x.js", Some("/p/node_modules"));
        check("/usr/lib/node_modules/npm/bin/npx-cli.js", Some("/usr/lib/node_modules"));
        check("/p/src/x.js", None);
    }

    #[test]
    fn the_package_by_the_path_alone() {
        let check = |file: &str, expect: &str| {
            assert_eq!(typed_package(Path::new(file)), Some(PathBuf::from(expect)), "{file}");
        };
        check("/p/tool/dist/index.js", "/p/tool");
        check("/p/tool/index.js", "/p/tool");
        check("/p/tool/server/index.js", "/p/tool/server");
    }
}
