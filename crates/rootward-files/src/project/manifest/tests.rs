//! Tables of manifests and the facts read from them, including hostile ones.

use super::*;

fn beside(names: &[&str]) -> Beside {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn lines(system: System, text: &str, names: &[&str]) -> Vec<String> {
    let facts = facts(system, text, &beside(names)).unwrap();
    facts.commands.iter().map(|command| format!("{}: {}", command.purpose.word(), command.line)).collect()
}

#[test]
fn manifests_tell_what_to_run() {
    let check = |system, text: &str, names: &[&str], expect: &[&str]| assert_eq!(lines(system, text, names), expect);
    check(
        System::Cargo,
        "[package]\nname = \"a\"\n[[bin]]\nname = \"b\"\npath = \"src/b.rs\"\n",
        &[],
        &[
            "build: cargo build",
            "test: cargo test",
            "run: cargo run --bin b",
            "lint: cargo clippy --all-targets",
            "format: cargo fmt",
        ],
    );
    let scripts = r#"{"scripts": {"build": "tsc", "test:unit": "jest", "dev": "vite", "x": 1}}"#;
    check(
        System::Npm,
        scripts,
        &["pnpm-lock.yaml"],
        &["install: pnpm install", "build: pnpm run build", "run: pnpm run dev", "test: pnpm run test:unit"],
    );
    check(System::Npm, r#"{"packageManager": "yarn@4.1.0"}"#, &[], &["install: yarn install"]);
    check(
        System::Python,
        "[project]\nname = \"a\"\n[project.scripts]\na = \"a:main\"\n[build-system]\n[tool.pytest.ini_options]\n",
        &["uv.lock"],
        &["install: uv sync", "build: uv build", "test: uv run pytest", "run: uv run a"],
    );
    check(
        System::Go,
        "module example.com/a\n\ngo 1.24\n",
        &[],
        &["build: go build ./...", "test: go test ./...", "lint: go vet ./...", "format: gofmt -l ."],
    );
    check(
        System::Maven,
        "<project><artifactId>a</artifactId></project>",
        &["mvnw"],
        &["build: ./mvnw package", "test: ./mvnw test", "lint: ./mvnw verify"],
    );
    check(
        System::Gradle,
        "plugins {\n  id 'application'\n}\n",
        &["gradlew"],
        &["build: ./gradlew build", "test: ./gradlew test", "lint: ./gradlew check", "run: ./gradlew run"],
    );
    check(
        System::Make,
        ".PHONY: all test\nCC := gcc\nall: build/a.o\n\tcc\ntest lint: all\nbuild/%.o: x\n$(X): y\nall: more\n",
        &[],
        &["build: make all", "test: make test", "lint: make lint"],
    );
}

#[test]
fn manifests_tell_names() {
    let check = |system, text: &str, name: Option<&str>, version: Option<&str>| {
        let facts = facts(system, text, &Beside::default()).unwrap();
        assert_eq!((facts.name.as_deref(), facts.version.as_deref()), (name, version), "{text}");
    };
    check(System::Cargo, "[package]\nname = \"a\"\nversion = \"1.2.3\"", Some("a"), Some("1.2.3"));
    check(System::Cargo, "[package]\nname = \"a\"\nversion.workspace = true", Some("a"), None);
    check(System::Npm, "\u{feff}{\"name\": \"@a/b\", \"version\": \"1\"}", Some("@a/b"), Some("1"));
    check(System::Python, "[tool.poetry]\nname = \"a\"\nversion = \"1\"", Some("a"), Some("1"));
    check(System::Go, "// x\nmodule example.com/a // y\n", Some("example.com/a"), None);
    let pom = "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>\
               <project><parent><version>9</version></parent><artifactId>a</artifactId><version>1</version></project>";
    check(System::Maven, pom, Some("a"), Some("1"));
    check(System::Npm, r#"{"name": "a\nb\u202ec"}"#, Some("a\\nb\\u{202e}c"), None);
    let long = shown(&"ä".repeat(200));
    check(System::Npm, &format!("{{\"name\": \"{}\"}}", "ä".repeat(200)), Some(&long), None);
    assert_eq!(long.chars().count(), 101);
}

#[test]
fn what_a_manifest_says_of_places_outside_is_not_repeated() {
    let text = r#"{"main": "../../outside/secret.js", "module": "/etc/passwd", "browser": "file:///x",
                   "bin": {"a": "./cli.js", "b": "~/x", "c": "x/../../y", "d": "..\\x", "e": "C:\\x"}}"#;
    assert_eq!(facts(System::Npm, text, &Beside::default()).unwrap().starts, ["cli.js"]);
    let text = "[lib]\npath = \"../x.rs\"\n[[bin]]\npath = \"/x.rs\"\n[[bin]]\npath = \"src/x.rs\"";
    assert_eq!(facts(System::Cargo, text, &Beside::default()).unwrap().starts, ["src/x.rs"]);
}

#[test]
fn a_script_whose_name_is_a_command_is_not_shown() {
    let hostile = r#"{"scripts": {"a; rm -rf ~": "x", "$(id)": "x", "b\nc": "x", "--help": "x", "": "x", "ok": "x", "`id`": "x"}}"#;
    assert_eq!(lines(System::Npm, hostile, &[]), ["install: npm install", "other: npm run ok"]);
    assert_eq!(lines(System::Make, "a;id: x\n`id`: x\n-n: x\nok: x\nx&y: z\n", &[]), ["other: make ok"]);
    let cargo = lines(System::Cargo, "[[bin]]\nname = \"a;id\"\n[[bin]]\nname = \"-x\"\n", &[]);
    assert!(!cargo.iter().any(|line| line.starts_with("run")), "{cargo:?}");
    let python = lines(System::Python, "[project.scripts]\n\"a;id\" = \"x\"\n", &[]);
    assert!(!python.iter().any(|line| line.starts_with("run")), "{python:?}");
}

#[test]
fn malformed_manifests_are_a_problem_and_no_more() {
    let check = |system, text: &str, says: &str| {
        let problem = facts(system, text, &Beside::default()).unwrap_err();
        assert!(problem.contains(says) && !problem.contains('\n') && problem.len() < 300, "{problem}");
    };
    check(System::Npm, "{", "not a JSON object");
    check(System::Npm, "[]", "not a JSON object");
    check(System::Npm, &"[".repeat(100_000), "not a JSON object");
    check(System::Npm, &r#"{"a":"#.repeat(40_000), "not a JSON object");
    check(System::Cargo, "= = =", "not TOML");
    check(System::Cargo, &format!("a = {}", "[".repeat(100_000)), "not TOML");
    check(System::Python, &format!("a = {}", "{b=".repeat(60_000)), "not TOML");
    check(System::Maven, &"<a>".repeat(80_000), "64 levels deep");
    check(System::Maven, "<project><a></b></project>", "malformed");
    check(System::Maven, "<project>", "malformed");
    // A malformed manifest still gives the facts of its system.
    assert!(!fallback(System::Maven, &Beside::default()).commands.is_empty());
    assert!(!fallback(System::Cargo, &Beside::default()).commands.is_empty());
}

#[test]
fn a_manifest_gives_a_bounded_number_of_everything() {
    let scripts: Vec<String> = (0..5000).map(|number| format!("\"s{number}\": \"x\"")).collect();
    let text = format!("{{\"scripts\": {{{}}}}}", scripts.join(","));
    assert_eq!(lines(System::Npm, &text, &[]).len(), MOST_COMMANDS);
    let targets: Vec<String> = (0..5000).map(|number| format!("t{number}:")).collect();
    assert_eq!(lines(System::Make, &targets.join("\n"), &[]).len(), MOST_COMMANDS);
    let programs: Vec<String> = (0..5000).map(|number| format!("[[bin]]\nname = \"b{number}\"\n")).collect();
    assert!(lines(System::Cargo, &programs.concat(), &[]).len() < 40);
}
