//! `doctor`: machines differ, but the form of the report does not.

use serde_json::{Value, json};

use crate::stage::{Stage, assert_told};

const KERNEL: (&str, &str) = (
    r"(?m)^(  (?:release|openat2|/proc|landlock|user namespaces|seccomp|open files|processes|still open|stronger) +).*$",
    "$1[SEEN]",
);

#[test]
fn settings_and_roots() {
    let stage = Stage::new().with_settings(
        "roots = ['[STAGE]/project:ro', '[STAGE]/gone', '[STAGE]/project/README.md', '[STAGE]/project/leak:rwx']\n\
         mode = 'union'\nrestrict = [{ pattern = '*.pem' }, { pattern = 'a/b', closed = 'writing', below = '~/x' }]\n\
         treat = ['get_doc.path=text', 'import.from=read']\n\
         [http.limits]\nsessions = 10\n[sandbox]\nnetwork = 'off'\nenv = ['TOKEN']\n\
         [sandbox.filesystem]\nallowRead = ['/srv/a', '~/b']\ndenyWrite = ['/srv/c']",
    );
    let stage = stage.with("ROOTWARD_DEBOUNCE_MS", "100").with("ROOTWARD_STRICT", "1").with("ROOTWARD_ROOT", "/srv");
    insta::with_settings!({ filters => vec![KERNEL] }, { assert_told!("doctor", stage, ["doctor"]) });
    insta::with_settings!({ filters => vec![KERNEL] }, { assert_told!("doctor_bare", Stage::new(), ["doctor"]) });
}

#[test]
fn json_says_the_same() {
    let stage = Stage::new().with("ROOTWARD_ROOTS_TTL_MS", "5000").with("ROOTWARD_MODE", "replace");
    let run = stage.run(["doctor", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(report["kernel"]["release"], release.trim());
    let setting = |name: &str| {
        report["settings"].as_array().unwrap().iter().find(|setting| setting["name"] == name).unwrap().clone()
    };
    assert_eq!(setting("roots_ttl_ms")["value"], 5000);
    assert_eq!(setting("mode")["source"], "environment");
    assert_eq!(setting("mode")["variable"], "ROOTWARD_MODE");
    assert_eq!(setting("strict").get("variable"), None);
    assert_eq!(setting("strict")["value"], false);
    assert_eq!(setting("roots")["value"], Value::Array(Vec::new()));
    assert_eq!(report["settings_file"]["exists"], false);
}

#[test]
fn json_of_restrictions_and_defaults() {
    let stage = Stage::new().with_settings("restrict = [{ pattern = '*.pem' }, { pattern = 'x', below = '/srv' }]");
    let report: Value = serde_json::from_str(&stage.run(["doctor", "--json"]).stdout).unwrap();
    let settings = report["settings"].as_array().unwrap();
    let setting = |name: &str| settings.iter().find(|setting| setting["name"] == name).unwrap()["value"].clone();
    assert_eq!(setting("roots_ttl_ms"), 300_000);
    assert_eq!(setting("http.limits.body_bytes"), 4 << 20);
    let expect = json!([
        {"pattern": "*.pem", "closed": "all", "below": null},
        {"pattern": "x", "closed": "all", "below": "/srv"},
    ]);
    assert_eq!(setting("restrict"), expect);
}

#[test]
fn every_restriction_is_listed() {
    let stage = Stage::new().with_settings("restrict = [{ pattern = '*.key' }, { pattern = 'x', closed = 'writing' }]");
    let run = stage.run(["doctor", "--closed", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let list: Value = serde_json::from_str(&run.stdout).unwrap();
    let has = |class: &str, pattern: &str, closed: &str| {
        let entry = json!({"class": class, "pattern": pattern, "closed": closed});
        assert!(list["closed"].as_array().unwrap().contains(&entry), "{entry}");
    };
    for rule in rootward_core::Restriction::standard() {
        let own = rootward_core::env::OWN_USUAL.contains(&rule.pattern());
        let class = if own { "own" } else { rule.class().word() };
        has(class, rule.pattern(), if rule.closed() == rootward_core::Closed::Entirely { "all" } else { "writing" });
    }
    has("chosen", "*.key", "all");
    has("chosen", "x", "writing");
    has("own", &stage.path("home/.config/rootward").display().to_string(), "all");
    assert_eq!(list["except"], json!([".env.example", ".env.sample", ".env.template", ".env.dist"]));
    let told = stage.run(["doctor", "--closed"]).stdout;
    for line in ["  .ssh\n", "  .git/hooks\n", "  .env\n", "  *.pem\n", "  *.key\n", "  x (for writing)\n"] {
        assert!(told.contains(line), "{line:?} in {told}");
    }
    assert_eq!(told.matches(".config/rootward\n").count(), 1, "a place is listed once: {told}");
}

#[test]
fn every_restriction_of_the_user_is_listed() {
    let stage = Stage::new().with_settings(
        "restrict = [{ pattern = '/a/b' }, { pattern = 'b', closed = 'writing' }, { pattern = 'c' }, { pattern = '/c' }]",
    );
    let told = stage.run(["doctor", "--closed"]).stdout;
    for line in ["  /a/b\n", "  b (for writing)\n", "  c\n", "  /c\n"] {
        assert!(told.contains(line), "{line:?} in {told}");
    }
}

#[test]
fn settings_that_cannot_be_used() {
    let told = |name: &str, stage: &Stage| {
        insta::with_settings!({ filters => vec![KERNEL] }, { assert_told!(name, stage, ["doctor"]) });
        let run = stage.run(["doctor", "--json"]);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(run.code, Some(2));
        assert!(report["mistake"]["error"].is_string() && report["kernel"]["release"].is_string(), "{report}");
    };
    told("doctor_bad_file", &Stage::new().with_settings("rots = []"));
    told("doctor_bad_variable", &Stage::new().with("ROOTWARD_STRICT", "perhaps"));
}

#[test]
fn variables_that_are_not_passed_on_are_named() {
    let stage = Stage::new().with("PIP_INDEX_URL", "https://dl.example.com/SECRET/simple").with("LC_ALL", "C.UTF-8");
    let stage = stage.with("MY_TOKEN", "SECRET");
    let run = stage.run(["doctor"]);
    assert!(run.stdout.contains("withheld               MY_TOKEN, PIP_INDEX_URL\n"), "{}", run.stdout);
    assert!(run.stdout.contains("`--env MY_TOKEN` passes one on"), "{}", run.stdout);
    assert!(!run.stdout.contains("SECRET") && !run.stdout.contains("LC_ALL"), "{}", run.stdout);
    let report: Value = serde_json::from_str(&stage.run(["doctor", "--json"]).stdout).unwrap();
    assert_eq!(report["withheld_variables"], json!(["MY_TOKEN", "PIP_INDEX_URL"]));
    let stage = stage.with_settings("[sandbox]\nenv = ['PIP_INDEX_URL', 'MY_*']");
    let report: Value = serde_json::from_str(&stage.run(["doctor", "--json"]).stdout).unwrap();
    assert_eq!(report["withheld_variables"], json!([]));
}

#[test]
fn doctor_lists_what_the_kernel_cannot_close_for_writing() {
    let stage = Stage::new().with("PATH", "/usr/bin:/bin");
    std::fs::remove_dir_all(stage.path("project/.ssh")).unwrap();
    let hooks = stage.path("project/.git/hooks").to_str().unwrap().to_owned();
    let run = stage.run(["sandbox", ".", "--", "true"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let explained = stage.run(["sandbox", ".", "--explain", "--", "true"]).stdout;
    assert!(explained.contains(&format!("`{hooks}` should be closed for writing (")), "{explained}");
    let check = |stage: &Stage, below: &str| {
        let told = stage.run(["doctor"]).stdout;
        let title = format!("closed for writing in calls, but open to the processes of a server in {below}\n");
        let listed = told.split_once(&title).unwrap_or_else(|| panic!("{told}")).1;
        assert!(listed.lines().any(|line| line.trim() == hooks), "{told}");
        let report: Value = serde_json::from_str(&stage.run(["doctor", "--json"]).stdout).unwrap();
        assert!(report["open_for_writing"].as_array().unwrap().contains(&json!(hooks)), "{report}");
    };
    check(&stage, "the working directory");
    let stage = stage.with_settings("roots = ['[STAGE]/project']");
    check(&stage, "these roots");
}

#[test]
fn variables_that_do_nothing() {
    let stage = Stage::new().with("HOME", "rel").with("ROOTWARD_TOKEN", "x");
    insta::with_settings!({ filters => vec![KERNEL] }, { assert_told!("doctor_variables", stage, ["doctor"]) });
}

#[test]
fn a_start_is_tried() {
    let stage = Stage::new().with("PATH", "/usr/bin:/bin");
    let processes = |words: &[&str]| {
        let run = stage.run(words);
        let line = run.stdout.lines().find(|line| line.starts_with("  processes"));
        line.unwrap_or_else(|| panic!("{} {}", run.stdout, run.stderr)).to_owned()
    };
    assert!(processes(&["doctor"]).contains("`sandbox` confines by landlock"));
    // Inside another sandbox the kernel has every feature, but a start still fails.
    let inside = processes(&["sandbox", "docs", "--", env!("CARGO_BIN_EXE_rootward"), "doctor"]);
    assert!(inside.contains("`sandbox` cannot start a command here: the system call filter failed"), "{inside}");
}
