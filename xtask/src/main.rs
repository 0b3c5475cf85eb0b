//! The project's own tasks: `cargo xtask VERB`, one file per verb. The verbs that run third-party programs are in `interop`.
//!
//! This is a program of the workspace instead of a pile of scripts, so that the checks are linted, tested and run the same way
//! everywhere.

#![expect(clippy::disallowed_methods, reason = "works on the project's own files, never on what a peer names")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

#[cfg(feature = "check")]
mod bench;
#[cfg(feature = "check")]
mod check;
#[cfg(feature = "check")]
mod corpus;
mod demo;
#[cfg(feature = "check")]
mod prove;
#[cfg(feature = "check")]
mod tidy;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
usage: cargo xtask VERB

  demo             runs a real server behind `rootward wrap`: an allowed call, a refused one, and why
  demo serve       runs a real client with `rootward serve`: it reads a file of this project, and one that is not shared
  check            format, tidy, lints, docs, tests, clients, servers, conformance, short fuzz, oracle build: what CI runs
  prove [DIR]      the same in the long form, then the licences, then the corpus in DIR if one is given
  peers [TEXT]...  MCP clients in other languages, with the example servers and `rootward serve`
  servers [TEXT].. third-party MCP servers, confined by `rootward sandbox` and wrapped
  popular [TEXT].. popular MCP servers behind `rootward wrap`, as their READMEs configure them; --short for those of `check`
  host             a host built on `rootward-client` with many third-party servers at once, some of which hang
  hosts [TEXT]...  Claude Code, Codex and others with `rootward serve`, wrapped servers and `rootward hub`, and over HTTP; --short for
                   those of `check`
  adopt [TEXT]...  `rootward adopt` on config files that the clients' own `mcp add` wrote, and the clients afterwards; --short for those
                   of `check`
  serve [TEXT]...  the MCP Inspector with `rootward serve`, and over HTTP with `rootward hub`
  wrap [TEXT]...   compares messages with and without `rootward wrap`; the MCP Inspector; the escape corpus
  hub [TEXT]...    five real servers behind `rootward hub`, with MCP clients in other languages, and each method of server-everything;
                   --short for those of `check`
  files [TEXT]...  compares `rootward serve` with the reference file server, call by call
  conformance      the MCP conformance suite, with `examples/conformance-server`
  corpus DIR       runs a folder of path cases, with and without openat2
  pictures         makes the pictures of the README again: a refusal in Claude Code, and `rootward roots pick`
  tidy             checks the house rules that no other tool knows
  bench [--write] [NAME]  prints the tables of all benchmarks, or of one; --write puts them into docs/benchmarks.md

TEXT: run only the cases, or hosts, whose name contains each TEXT
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask is not in a workspace")?;
    match *words {
        ["demo"] => demo::wrap::run(top),
        ["demo", "serve"] => demo::serve::run(top),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        [] => bail!("no verb given\n\n{USAGE}"),
        #[cfg(feature = "check")]
        _ if let Some(done) = check(top, words) => done,
        _ => bail!("unknown command: `{}`\n\n{USAGE}", words.join(" ")),
    }
}

/// Runs a verb other than the demos. `None` if there is no such verb.
#[cfg(feature = "check")]
fn check(top: &Path, words: &[&str]) -> Option<Result<()>> {
    let print_note = |note: Result<String>| note.map(|note| println!("{note}"));
    Some(match *words {
        ["check"] => check::run(top),
        ["prove"] => prove::run(top, None),
        ["prove", folder] => prove::run(top, Some(Path::new(folder))),
        ["corpus", folder] => corpus::run(top, Path::new(folder)).map(drop),
        ["tidy"] => print_note(tidy::run(top)),
        ["bench"] => bench::run(top, bench::Output::Show, None),
        ["bench", "--write"] => bench::run(top, bench::Output::Write, None),
        ["bench", "--write", name] => bench::run(top, bench::Output::Write, Some(name)),
        ["bench", name] => bench::run(top, bench::Output::Show, Some(name)),
        _ => print_note(interop::run(top, words)?),
    })
}
