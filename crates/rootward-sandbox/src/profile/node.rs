//! Node, npm and npx: the package that a script belongs to, and a cache for what `npx` fetches.

use std::path::{Path, PathBuf};

use rootward_core::Access;

use super::{Profile, Surroundings, script_ambient};

pub(super) fn add_ambient(surroundings: &Surroundings<'_>, profile: &mut Profile) {
    for file in surroundings.program.chain() {
        if let Some(modules) = outermost_modules(file) {
            profile.needs(modules, super::RUN);
        }
    }
    if !surroundings.program.is_any_of(&["node", "nodejs", "npm", "npx", "npm-cli.js", "npx-cli.js", "bun", "deno"]) {
        return;
    }
    if let Some(script) = script_ambient(surroundings) {
        let script = real_ambient(&script);
        match outermost_modules(&script).or_else(|| package_ambient(&script, surroundings)) {
            Some(package) => profile.needs(package, super::RUN),
            None => profile.needs(script, Access::READ),
        }
    }
    // SECURITY: the user's own cache is not written, or one server could change what another, or the user, runs next; each
    // command has its own (test: a_package_cache_belongs_to_one_command)
    if let Some(cache) = surroundings.cache {
        profile.needs_of_own(cache, Access::ALL);
        profile.sets("npm_config_cache", cache.join("npm"));
        profile.sets("npm_config_update_notifier", "false");
    }
}

/// The topmost `node_modules` that a file lies in: packages there find each other.
fn outermost_modules(file: &Path) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in file.components() {
        path.push(component);
        if component.as_os_str() == "node_modules" {
            return Some(path);
        }
    }
    None
}

/// The nearest directory above a script that holds a `package.json`, if that is not the user's home or above it.
#[expect(clippy::disallowed_methods, reason = "the operator's own command: what its script belongs to")]
fn package_ambient(script: &Path, surroundings: &Surroundings<'_>) -> Option<PathBuf> {
    let above = script.ancestors().skip(1).take_while(|directory| surroundings.is_its_own_ambient(directory));
    let package = above.into_iter().find(|directory| directory.join("package.json").is_file());
    package.map(Path::to_owned)
}

#[expect(clippy::disallowed_methods, reason = "the operator's own command: where its script lies")]
fn real_ambient(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
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
}
