//! The project's own tasks: `cargo xtask VERB`, one file per verb; the verbs with programs of others are in `interop`.
//!
//! A program of the workspace rather than a pile of scripts, so that the checks are linted, tested and run the same way
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

  demo             a real server behind `rootward wrap`: a call that is allowed, one that is refused, and why
  demo serve       a real client before `rootward serve`: it reads a file of this project, and one that is not shared
  check            format, tidy, lints, docs, tests, clients, servers, conformance, short fuzz, oracle build: what CI runs
  prove [DIR]      the same in the long form, then the licences, then the corpus in DIR if one is given
  peers [TEXT]...  MCP clients of other languages against the example servers and `rootward serve`; only cases whose name holds each TEXT
  servers [TEXT].. MCP servers of other projects, confined by `rootward sandbox`; only cases whose name holds each TEXT
  popular [TEXT].. popular MCP servers behind `rootward wrap`, as their READMEs configure them; only cases whose name holds each TEXT;
                   --short for those of `check`
  host             a host on `rootward-client` before servers of other projects, connected at once, some of which hang
  hosts [TEXT]...  Claude Code, Codex and others before `rootward serve`, wrapped servers and `rootward hub`, and over HTTP; only hosts
                   whose name holds each TEXT, or with `--short` only those that `check` runs
  adopt [TEXT]...  `rootward adopt` on what the clients' own `mcp add` wrote, and the clients afterwards; only cases whose name holds
                   each TEXT; --short for those of `check`
  serve [TEXT]...  the MCP Inspector before `rootward serve`, and over HTTP before `rootward hub`; only cases whose name holds each TEXT
  wrap [TEXT]...   what clients hear through `rootward wrap`, the MCP Inspector, the escape corpus; only cases whose name holds each TEXT
  hub [TEXT]...    five real servers behind `rootward hub`, before MCP clients of other languages, and each method of server-everything;
                   only cases whose name holds each TEXT; --short for those of `check`
  files [TEXT]...  `rootward serve` against the reference file server, call by call; only cases whose name holds each TEXT
  conformance      the MCP conformance suite against `examples/conformance-server`
  corpus DIR       runs a folder of path cases, with openat2 and with it taken away
  pictures         makes the pictures of the README again: a refusal in Claude Code, and `rootward roots pick`
  tidy             the house rules that no other tool knows
  bench [--write] [NAME]  the benchmarks' tables, or that of one; --write puts them into docs/benchmarks.md
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
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in no workspace")?;
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
        _ => bail!("not understood: `{}`\n\n{USAGE}", words.join(" ")),
    }
}

/// What the project holds itself to; none where there is no such verb.
#[cfg(feature = "check")]
fn check(top: &Path, words: &[&str]) -> Option<Result<()>> {
    let told = |note: Result<String>| note.map(|note| println!("{note}"));
    Some(match *words {
        ["check"] => check::run(top),
        ["prove"] => prove::run(top, None),
        ["prove", folder] => prove::run(top, Some(Path::new(folder))),
        ["corpus", folder] => corpus::run(top, Path::new(folder)).map(drop),
        ["tidy"] => told(tidy::run(top)),
        ["bench"] => bench::run(top, bench::Output::Show, None),
        ["bench", "--write"] => bench::run(top, bench::Output::Write, None),
        ["bench", "--write", name] => bench::run(top, bench::Output::Write, Some(name)),
        ["bench", name] => bench::run(top, bench::Output::Show, Some(name)),
        _ => told(interop::run(top, words)?),
    })
}
