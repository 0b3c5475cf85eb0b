//! `docs/http.md`, run as it stands: two people, two principals, two ceilings.

use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::stage::Stage;

/// The commands of a page, in order.
fn commands(page: &str) -> String {
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    blocks.collect::<Vec<_>>().join("\n")
}

fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

#[test]
fn the_guide_runs_as_it_stands() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/http.md")).unwrap();
    let script = commands(&page).replace("8080", &free_port()).replace("8443", &free_port());
    let stage = Stage::new();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_rootward")).parent().unwrap();
    let mut shell = Command::new("bash");
    shell.args(["-e", "-c", &script]);
    shell.env_clear().env("HOME", stage.path("home")).env("PATH", format!("{}:/usr/bin:/bin", program.display()));
    let run = shell.current_dir(stage.path("home")).stdin(Stdio::null()).output().unwrap();
    let (said, wrong) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert_eq!(run.status.code(), Some(0), "{said}\n{wrong}");
    let answers: Vec<&str> = said.lines().filter(|line| line.starts_with("{\"jsonrpc\"")).collect();
    let both = ["a page by Ada", "outside_roots", "a table by Bob", "outside_roots"];
    let expected: Vec<&str> = both.iter().chain(&both).chain(&["a page by Ada"]).copied().collect();
    assert_eq!(answers.len(), expected.len(), "{said}\n{wrong}");
    for (answer, expected) in answers.iter().zip(expected) {
        assert!(answer.contains(expected), "`{expected}` is not in {answer}");
    }
    assert!(said.contains("ada: ~/team/web") && said.contains("bob: ~/team/data:ro"), "{said}");
    assert!(said.contains("for `ada`") && said.contains("for `bob`"), "{said}");
}
