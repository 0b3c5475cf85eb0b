//! Which project belongs to which workspace, and how projects are named.

use rootward_client::detect::{Certainty, Presence, detect_ambient};

use super::{Tree, line, options};

#[test]
fn members_of_each_kind_of_workspace() {
    let check = |files: &[(&str, &str)], expect: &[&str]| assert_eq!(Tree::new(files).found(), expect);
    check(
        &[("pnpm-workspace.yaml", "packages:\n  - 'p/*'\n"), ("p/a/package.json", r#"{"name": "a"}"#)],
        &[". -: Node workspace", "p/a a: Node package | Member of ."],
    );
    check(
        &[("go.work", "use (\n\t./a\n)\n"), ("a/go.mod", "module ex.org/a"), ("b/go.mod", "module ex.org/b")],
        &[". -: Go workspace", "a ex.org/a: Go module | Member of .", "b ex.org/b: Go module | Below of ."],
    );
    check(
        &[
            ("pyproject.toml", "[tool.uv.workspace]\nmembers = ['p/*']"),
            ("p/a/pyproject.toml", "[project]\nname = 'a'"),
            ("p/b/Cargo.toml", "[package]\nname = 'b'"),
        ],
        // A member has the same kind of manifest as its workspace.
        &[
            ". -: Python workspace, Python project",
            "p/a a: Python project | Member of .",
            "p/b b: Cargo package | Below of .",
        ],
    );
}

#[test]
fn one_suggestion_with_all_its_reasons() {
    let tree = Tree::new(&[
        ("app/.git/HEAD", "ref: refs/heads/main"),
        ("app/Cargo.toml", "[workspace]\n[package]\nname = 'the-crate'"),
        ("app/package.json", r#"{"name": "the-package"}"#),
        ("app/.idea/.name", "The Project"),
        ("app/.idea/libraries/pom.xml", "<project/>"),
        ("app/CMakeLists.txt", "project(The)"),
        ("app/The.sln", ""),
    ]);
    let expect = "app the-crate: git repository, Cargo workspace, Cargo package, Node package, .NET project, \
                  CMake project, JetBrains project";
    assert_eq!(tree.found(), [expect]);
}

#[test]
fn markers_take_the_name_of_the_remote_or_the_directory() {
    let remote = "[remote \"origin\"]\n\turl = https://example.org/me/the-remote.git\n";
    let tree = Tree::new(&[
        ("java/pom.xml", "<project><artifactId>other</artifactId><modules><module>m</module></modules></project>"),
        ("java/m/pom.xml", "<project/>"),
        ("kotlin/settings.gradle.kts", "rootProject.name = \"other\""),
        ("kotlin/build.gradle.kts", ""),
        ("mixed/Other.csproj", ""),
        ("mixed/package.json", r#"{"name": "the-package"}"#),
        ("ruby/.git/HEAD", "ref: refs/heads/main"),
        ("ruby/.git/config", remote),
        ("ruby/other.gemspec", "s.name = 'other'"),
    ]);
    let expect = [
        "java java: Maven project",
        "java/m m: Maven project | Below of java",
        "kotlin kotlin: Gradle project",
        "mixed the-package: Node package, .NET project",
        "ruby the-remote: git repository, Ruby project",
    ];
    assert_eq!(tree.found(), expect);
}

#[test]
fn markers_that_recur_in_a_project_start_no_nested_project() {
    let tree = Tree::new(&[
        ("c/CMakeLists.txt", ""),
        ("c/src/CMakeLists.txt", ""),
        ("make/Makefile", ""),
        ("make/docs/Makefile", ""),
        ("make/tool/go.mod", "module tool"),
        ("make/tool/Makefile", ""),
    ]);
    let expect =
        ["c c: CMake project", "make make: Make project", "make/tool tool: Go module, Make project | Below of make"];
    assert_eq!(tree.found(), expect);
}

#[test]
fn a_project_without_a_name_is_named_after_its_directory() {
    let tree = Tree::new(&[("a/Gemfile", ""), ("b/Cargo.toml", "[[["), ("c/package.json", r#"{"name": "v/p"}"#)]);
    let detection = tree.detect();
    let titles: Vec<_> = detection.suggestions.iter().map(|found| (found.title(), found.certainty)).collect();
    let expect = [("a".into(), Certainty::Likely), ("b".into(), Certainty::Likely), ("v/p".into(), Certainty::Certain)];
    assert_eq!(titles, expect);
}

#[test]
fn folders_of_an_editor() {
    let tree = Tree::new(&[
        (
            "w/x.code-workspace",
            r#"{"folders": [{"path": "a", "name": "A"}, {"path": "../b"}, {"path": "gone"}, {"path": "f"}]}"#,
        ),
        ("w/a/file", ""),
        ("w/f", ""),
        ("b/file", ""),
    ]);
    let expect = [
        "b b: VS Code folder of `x.code-workspace`",
        "w x: VS Code workspace",
        "w/a A: VS Code folder of `x.code-workspace` | Member of w",
    ];
    assert_eq!(tree.found(), expect);
}

#[test]
fn folders_elsewhere_are_only_named() {
    let outside = Tree::new(&[("really/there", "")]);
    let really = outside.top().join("really");
    let folders = format!(
        r#"{{"folders": [{{"path": "{}"}}, {{"path": "../../no/such"}}, {{"path": "/etc"}}, {{"path": "/"}},
        {{"path": "/home/somebody"}}, {{"path": "/srv/x/.ssh"}}, {{"path": "../../../../../../../../../.."}}, {{"path": "link"}}]}}"#,
        really.display()
    );
    let tree = Tree::new(&[("w/x.code-workspace", &folders)]);
    std::os::unix::fs::symlink(&really, tree.top().join("w/link")).unwrap();
    let detection = tree.detect();
    let missing = tree.top().parent().unwrap().join("no/such");
    let mut expect = vec![
        (really, Certainty::Possible, Presence::OnlyNamed),
        (missing, Certainty::Possible, Presence::OnlyNamed),
        (tree.top().join("w"), Certainty::Certain, Presence::Seen),
    ];
    expect.sort_by(|one, other| one.0.cmp(&other.0));
    let seen = detection.suggestions.iter().map(|found| (found.path.clone(), found.certainty, found.presence));
    assert_eq!(seen.collect::<Vec<_>>(), expect);
}

#[test]
fn several_directories_are_one_answer() {
    let tree = Tree::new(&[
        ("a/Cargo.toml", "[workspace]\nmembers = ['in']"),
        ("a/in/Cargo.toml", "[package]\nname = 'in'"),
        ("b/go.mod", "module b"),
        ("c/go.mod", "module c"),
    ]);
    let directories = ["a", "b", "a/in", "b"].map(|name| tree.top().join(name));
    let detection = detect_ambient(&directories, &options(), &|_| {}).unwrap();
    let lines: Vec<_> = detection.suggestions.iter().map(|found| line(found, &tree.top())).collect();
    assert_eq!(lines, ["a a: Cargo workspace", "a/in in: Cargo package | Member of a", "b b: Go module"]);
}

#[test]
fn only_directories_are_accepted() {
    let tree = Tree::new(&[("file", "")]);
    for (path, says) in [("gone", "does not exist"), ("file", "not a directory")] {
        let error = detect_ambient(&[tree.top().join(path)], &options(), &|_| {}).unwrap_err().to_string();
        assert!(error.to_lowercase().contains(says), "{error}");
    }
}

#[test]
fn directories_filled_by_tools_are_skipped() {
    let filled = [
        "node_modules/x",
        "target/x",
        ".next",
        ".venv/lib",
        "go/pkg/mod/x",
        ".local/share/x",
        ".cargo/registry/x",
        ".git/x",
    ];
    let files: Vec<_> = filled.iter().map(|directory| (format!("a/{directory}/go.mod"), "module filled")).collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let tree = Tree::new(&files);
    assert_eq!(tree.found(), [""; 0]);
    // A directory that the user names is scanned.
    let named = detect_ambient(&[tree.top().join("a/target")], &options(), &|_| {}).unwrap();
    assert_eq!(named.suggestions.len(), 1);
}

#[test]
fn paths_that_are_not_text_are_escaped_in_json() {
    use std::os::unix::ffi::OsStrExt;
    let tree = Tree::new(&[]);
    let odd = tree.top().join(std::ffi::OsStr::from_bytes(b"odd-\xff\n"));
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join("go.mod"), "module m").unwrap();
    let json = serde_json::to_value(tree.detect()).unwrap();
    let expect = serde_json::json!({
        "path": tree.top().join("odd-\\xff\\n"),
        "name": "m",
        "reasons": [{"kind": "go_module", "file": "go.mod", "why": "Go module", "certainty": "certain"}],
        "certainty": "certain",
        "presence": "seen",
        "within": null,
    });
    assert_eq!(json["suggestions"][0], expect);
}
