//! The cost of searching the sources of crates, compared with `rg`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;
use crate::servers::Servers;
use rootward_testkit::bench::client::Client;
use rootward_testkit::bench::measure::{in_turns, one_turn};
use rootward_testkit::bench::peers::crate_program;
use rootward_testkit::bench::table::{Bar, Table};

const VERSION: &str = "15.2.0";
const ROUNDS: usize = 10;

/// The maximum ratio to the time of `rg`.
const MOST: f64 = 1.3;

/// Patterns that match a few hundred lines: a literal word, and one that begins without one.
const PATTERNS: [&str; 2] = ["PhantomPinned", r"fn \w+_unchecked_mut\("];

pub(crate) fn measure(servers: &Servers, sources: &Path, cores: &str, table: &mut Table) -> Outcome<()> {
    let against = format!("`rg` {VERSION}");
    let rg = crate_program("ripgrep", VERSION, "rg");
    for pattern in PATTERNS {
        let what = format!("`search_content` of `{pattern}` in the sources of crates{cores}");
        let rg = match &rg {
            Ok(program) => || search(program, pattern, sources),
            Err(why) => {
                table.add_missing(&what, &against, &why.to_string());
                continue;
            }
        };
        let mut client = servers.rootward(sources)?;
        client.ask("tools/list", "{}")?;
        let params = serde_json::json!({"name": "search_content", "arguments": {"pattern": pattern, "limit": 5000}});
        let params = params.to_string();
        let (own, theirs) = (matches(&mut client, &params)?, rg()?);
        if own != theirs {
            table.add_missing(&what, &against, &format!("found {own} lines, but `rg` found {theirs}"));
            client.end()?;
            continue;
        }
        let call = |client: &mut Client| client.ask("tools/call", &params).expect("it answered before").len();
        let row = in_turns(
            ROUNDS,
            || one_turn(1, &mut || call(&mut client)),
            || one_turn(1, &mut || assert_eq!(rg().expect("it ran before"), theirs)),
        );
        table.add(&what, &against, &row, Bar::AtMost(MOST));
        client.end()?;
    }
    Ok(())
}

/// Copies the sources that Cargo has unpacked: a large tree that exists on every build machine. Clients may not share the original
/// directory.
pub(crate) fn plant(top: &Path) -> Outcome<PathBuf> {
    eprintln!("copying the sources of crates");
    let cargo = match (std::env::var_os("CARGO_HOME"), std::env::var_os("HOME")) {
        (Some(cargo), _) => PathBuf::from(cargo),
        (None, Some(home)) => Path::new(&home).join(".cargo"),
        (None, None) => return Err("no home directory".into()),
    };
    let sources = top.join("sources");
    copy(&cargo.join("registry/src"), &sources)?;
    Ok(sources)
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    std::fs::create_dir(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (kind, to) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &to)?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// The number of lines that the server finds. It must not stop early.
fn matches(client: &mut Client, params: &str) -> Outcome<usize> {
    let answer: serde_json::Value = serde_json::from_slice(client.ask("tools/call", params)?)?;
    let data = &answer["result"]["structuredContent"];
    if data["truncated"] != false {
        return Err(format!("the search stopped early: {:.400}", answer.to_string()).into());
    }
    Ok(data["matches"].as_array().map_or(0, Vec::len))
}

/// The number of lines that `rg` finds in the same files, with the same output.
fn search(program: &Path, pattern: &str, sources: &Path) -> Outcome<usize> {
    let options = ["--no-config", "--no-require-git", "--no-ignore-global", "--no-ignore-parent", "--color", "never"];
    let output = Command::new(program)
        .args(options)
        .args(["--heading", "--line-number", "--regexp", pattern])
        .arg(sources)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()?;
    let is_match = |line: &&[u8]| line.first().is_some_and(u8::is_ascii_digit);
    Ok(output.stdout.split(|byte| *byte == b'\n').filter(is_match).count())
}
