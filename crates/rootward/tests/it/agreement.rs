//! `check --stdin`, `check` with one path, and `explain` give the same answers.

use serde_json::{Value, json};

use crate::stage::Stage;

const PATHS: &[&str] = &[
    "README.md",
    "./README.md",
    "README.md/",
    "src",
    "src/",
    "src/main.rs",
    "src/../README.md",
    "src/./main.rs",
    "src//main.rs",
    "absolute",
    "leak",
    "leak/secret",
    "leak/../project/README.md",
    "linked/../secret",
    "dangling",
    "loop",
    "loop/x",
    "missing",
    "missing/deeper",
    "fifo",
    ".ssh/key",
    ".git/hooks/pre-commit",
    ".git",
    ".",
    "..",
    "../project/README.md",
    "../outside/secret",
    "../project-evil",
    "/",
    "/etc/passwd",
    "/proc/self/root/etc/passwd",
    "",
    " ",
    "README.md ",
    "~",
    "~/x",
    "~root",
    "file:///etc/passwd",
    "file:///etc/%2e%2e/passwd",
    "http://example.com/",
    "C:\\x",
    "\\\\host\\share",
    "a\nb",
    "a\u{202e}b",
    "käse",
    "\"quoted\"",
    "..foo",
    "...",
];

#[test]
fn batch_and_single_agree() {
    let stage = Stage::new();
    let long = "x/".repeat(3000);
    let paths: Vec<&str> = PATHS.iter().copied().chain([long.as_str()]).collect();
    for (root, access) in [
        (".", "read"),
        (".", "delete"),
        (".:ro", "write"),
        ("src", "read,write"),
        ("..:rwx", "execute"),
        ("gone", "read"),
    ] {
        let common = ["check", "--json", "--root", root, "--access", access];
        let questions: String = paths.iter().map(|path| json!({ "path": path }).to_string() + "\n").collect();
        let batch = stage.feed(common.iter().chain(&["--stdin"]), questions.as_bytes());
        let answers: Vec<&str> = batch.stdout.lines().collect();
        assert_eq!(answers.len(), paths.len());
        // Lines that name their own roots and access get the same answers.
        let access_list: Vec<&str> = access.split(',').collect();
        let own = |path: &&str| json!({ "path": path, "access": access_list, "roots": [root] }).to_string() + "\n";
        let own = stage.feed(["check", "--stdin"], paths.iter().map(own).collect::<String>().as_bytes());
        // Unusable roots from flags are reported once on standard error; those of a line are reported in its answer.
        let left_out = ",\"left_out\":[\"root `gone`: does not exist\"]";
        let own_answers = own.stdout.replace(left_out, "");
        assert_eq!(own_answers.lines().collect::<Vec<_>>(), answers);
        assert_eq!(own_answers != own.stdout, root == "gone");
        let mut worst = 0;
        for (path, answer) in paths.iter().zip(answers) {
            let single = stage.run(common.iter().chain(&["--", path]));
            assert_eq!(single.stdout, format!("{answer}\n"), "{path:?} {root} {access}");
            let parsed: Value = serde_json::from_str(answer).unwrap();
            assert_eq!(parsed["path"], *path);
            assert_eq!(single.code, Some(i32::from(parsed["decision"] == "deny")), "{path:?}");
            worst = worst.max(single.code.unwrap());
            // `explain` reaches the same decision.
            let explained = stage.run(["explain", "--json", "--root", root, "--access", access, "--", path]);
            let mut explained: Value = serde_json::from_str(&explained.stdout).unwrap();
            explained.as_object_mut().unwrap().remove("steps");
            assert_eq!(explained, parsed, "{path:?} {root} {access}");
        }
        assert_eq!(batch.code, Some(worst));
    }
}
