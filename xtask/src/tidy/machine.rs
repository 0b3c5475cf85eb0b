//! No file names the machine that it was written on: neither its directories nor its package registry.

use super::{File, Finding, Repository};

/// The directory that build machines check projects out into. In pieces, so that this file does not contain it.
const BUILD_PLACE: &str = concat!("/wo", "rk/");

/// The index that cargo itself writes into a lock file, whatever mirror served it.
const CARGO_INDEX: &str = concat!("registry", "+https://github.com/rust-lang/crates.io-index");

/// The hosts of package registries. In pieces as above.
const REGISTRIES: [&str; 9] = [
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("registry.", "npmjs.org"),
    concat!("registry.", "yarnpkg.com"),
    concat!("registry.", "npmmirror.com"),
    concat!("pypi", ".org/simple"),
    concat!("files.", "pythonhosted.org"),
    concat!("registry", "+http"),
    concat!("sparse", "+http"),
];

/// No file names the build machines' directory or the path of this checkout.
pub(super) fn names_no_machine_path(repository: &Repository) -> Vec<Finding> {
    // A checkout at `/project` must not forbid that name in test data: only a path too deep to occur by chance counts.
    let deep = repository.top.matches('/').count() >= 3;
    let top = deep.then_some(repository.top.as_str());
    each_line(repository, |_, line| {
        let found = [Some(BUILD_PLACE), top].into_iter().flatten().find(|place| names_place(line, place))?;
        Some(format!("`{found}` is a path of one machine"))
    })
}

/// Whether `line` contains `place` as an absolute path and not as part of a longer name.
fn names_place(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(position, _)| {
        let before = line[..position].chars().next_back();
        let after = line[position + place.len()..].chars().next();
        let part = |c: char| c.is_alphanumeric() || "._-~}$".contains(c);
        !before.is_some_and(part) && (place.ends_with('/') || !after.is_some_and(part))
    })
}

/// No file names a package registry: that is the user's setting, and the name of a mirror may be private.
pub(super) fn names_no_registry_host(repository: &Repository) -> Vec<Finding> {
    each_line(repository, |file, line| {
        let line = if file.is_called("Cargo.lock") { line.replace(CARGO_INDEX, "") } else { line.to_owned() };
        let line = line.trim_start();
        let lock = ["package-lock.json", "npm-shrinkwrap.json", "yarn.lock"].iter().any(|name| file.is_called(name));
        if lock && (line.starts_with("\"resolved\"") || line.starts_with("resolved ")) {
            return Some(
                "the lock file names the host a package came from (npm: `omit-lockfile-registry-resolved`)".to_owned(),
            );
        }
        let settings = file.path.ends_with(".cargo/config.toml") || file.path.ends_with(".cargo/config");
        if settings && ["[source.", "[source]", "[registries", "[registry"].iter().any(|table| line.starts_with(table))
        {
            return Some("cargo's settings name a registry".to_owned());
        }
        let host = REGISTRIES.iter().find(|host| line.contains(**host))?;
        Some(format!("`{host}` is a registry's address"))
    })
}

fn each_line(repository: &Repository, judge: impl Fn(&File, &str) -> Option<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &repository.files {
        for (number, line) in file.lines() {
            findings.extend(judge(file, line).map(|says| file.finding(number, says)));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::check_lines;
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_found() {
        let check = |line: &str, lines: &[usize]| check_lines(names_no_machine_path, "a.md", line, lines);
        check(&format!("see {BUILD_PLACE}main"), &[1]);
        check(&format!("`file://{BUILD_PLACE}main`"), &[1]);
        check("cd /home/alice/src/rootward && make", &[1]);
        check("cd /home/alice/src/rootward/docs", &[1]);
        check("/home/alice/src/rootward-evil", &[]);
        check("/home/alice/src", &[]);
        check(&format!("/home/alice{BUILD_PLACE}notes"), &[]);
        check(&format!("https://example.com{BUILD_PLACE}notes"), &[]);
        check("/homework/x, /workshop", &[]);
    }

    #[test]
    fn a_checkout_with_a_short_path_forbids_nothing() {
        let mut repository = Repository::of(&[("a.md", "/project and /project-evil\n")]);
        repository.top = "/project".to_owned();
        assert_eq!(names_no_machine_path(&repository), []);
    }

    #[test]
    fn a_registry_host_is_found() {
        let check = |path: &str, line: &str, lines: &[usize]| check_lines(names_no_registry_host, path, line, lines);
        for host in REGISTRIES {
            check("docs/a.md", &format!("from {host}"), &[1]);
        }
        check("Cargo.lock", &format!("source = \"{CARGO_INDEX}\""), &[]);
        check("Cargo.lock", &format!("source = \"{}s://mirror.example/index\"", concat!("registry", "+http")), &[1]);
        check("notes.txt", CARGO_INDEX, &[1]);
        check("a/package-lock.json", "      \"resolved\": \"https://mirror.example/a.tgz\",", &[1]);
        check("yarn.lock", "  resolved \"https://mirror.example/a.tgz\"", &[1]);
        check("a.json", "\"resolved\": \"/home/alice/src\"", &[]);
        check(".cargo/config.toml", "[source.crates-io]", &[1]);
        check(".cargo/config.toml", "[alias]", &[]);
        check("README.md", "<https://crates.io/crates/rustix>", &[]);
    }
}
