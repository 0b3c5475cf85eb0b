//! `cargo xtask peers`: real MCP clients in other languages talk to servers built on `rootward-server`, and to
//! `rootward serve`, `rootward wrap` and `rootward hub`.
//!
//! The clients are the small programs in `peers/`, one for each major version of an SDK. Each goes through every situation, over
//! every transport, in every era that it supports.

pub(crate) mod case;
mod files;
mod situation;
pub(crate) mod step;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::cases::{all_at_once, chosen, judge};
use taskkit::built;
use taskkit::call::Call;
use taskkit::install::{self, Installed, Runtime};
use taskkit::table;

use case::{Route, Servers, Stage, Wrap};
use files::OF_SERVE;
use situation::{DIRECTORIES, SITUATIONS, Situation};
use step::Era;

/// An MCP SDK in a major version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sdk {
    Python,
    PythonV1,
    TypeScript,
    TypeScriptV1,
}

/// The script of a third-party file server.
const FILE_SERVER: &str = "@modelcontextprotocol/server-filesystem/dist/index.js";

/// How many clients run in parallel. Most of them wait most of the time.
const AT_ONCE: usize = 8;

const SDKS: [Sdk; 4] = [Sdk::Python, Sdk::PythonV1, Sdk::TypeScript, Sdk::TypeScriptV1];

/// The routes of each era. A modern client never opens a separate stream, so it has no route without one.
const WAYS: [(Route, Era); 17] = [
    (Route::Stdio, Era::Legacy),
    (Route::Http, Era::Legacy),
    (Route::HttpWithoutStream, Era::Legacy),
    (Route::Stdio, Era::Modern),
    (Route::Http, Era::Modern),
    (Route::Wrapped, Era::Legacy),
    (Route::Wrapped, Era::Modern),
    (Route::WrappedFiles, Era::Legacy),
    (Route::WrappedFiles, Era::FallsBack),
    (Route::Serve, Era::Legacy),
    (Route::Serve, Era::Modern),
    (Route::ServeHttp, Era::Legacy),
    (Route::ServeHttpWithoutStream, Era::Legacy),
    (Route::ServeHttp, Era::Modern),
    (Route::HubHttp, Era::Legacy),
    (Route::HubHttpWithoutStream, Era::Legacy),
    (Route::HubHttp, Era::Modern),
];

/// The situations that matter to a slow server, and to a wrapped server whose handshake Rootward remembers. The others would add
/// nothing.
const OF_FILES: [&str; 3] = ["two roots", "other roots", "none to begin with"];

impl Sdk {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Sdk::Python => "Python",
            Sdk::PythonV1 => "Python 1.x",
            Sdk::TypeScript => "TypeScript",
            Sdk::TypeScriptV1 => "TypeScript 1.x",
        }
    }

    fn supports(self, era: Era) -> bool {
        era == Era::Legacy || matches!(self, Sdk::Python | Sdk::TypeScript)
    }

    /// The command of a script in `peers/`, without its arguments.
    pub(crate) fn command(self, top: &Path, installed: &Installed, script: &str) -> Command {
        let (program, script) = match self {
            Sdk::Python => (installed.python.as_path(), top.join(format!("peers/python/{script}.py"))),
            Sdk::PythonV1 => (installed.python_v1.as_path(), top.join(format!("peers/python/{script}_v1.py"))),
            Sdk::TypeScript => (installed.node.as_path(), installed.typescript.join(format!("{script}.mjs"))),
            Sdk::TypeScriptV1 => (installed.node.as_path(), installed.typescript.join(format!("{script}_v1.mjs"))),
        };
        let mut command = Command::new(program);
        command.arg(script).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }
}

/// What a case tests.
#[derive(Clone, Copy, Debug)]
enum Subject {
    /// A client in a situation.
    In(&'static Situation),
    /// The script that is printed in the examples' documentation.
    Shown,
    /// A tool of one of [`EXAMPLES`].
    Of(&'static Example),
}

/// An example server with a tool that is called for a file inside the root and for one outside.
#[derive(Clone, Copy, Debug)]
struct Example {
    program: &'static str,
    tool: &'static str,
    /// The tool's arguments for a path.
    arguments: fn(&str) -> Value,
    /// What the client prints for a file inside with these contents.
    inside: fn(&str) -> String,
    /// Part of what the client prints for a file outside.
    refused: &'static str,
}

const EXAMPLES: [Example; 2] = [
    Example {
        program: "workspace-shell",
        tool: "shell",
        arguments: |path| json!({"command": format!("cat {path}")}),
        inside: |contents| format!("done: {contents}\n"),
        refused: "Permission denied",
    },
    Example {
        program: "knowledge-base",
        tool: "query",
        arguments: |path| json!({"query": format!("roots_text('{path}', X)")}),
        inside: |contents| format!("done: X = \"{contents}\"\n"),
        refused: "Security Error: File must be within allowed roots",
    },
];

#[derive(Clone, Copy, Debug)]
struct Case {
    sdk: Sdk,
    route: Route,
    era: Era,
    subject: Subject,
}

impl Case {
    fn way(self) -> String {
        let route = match self.route {
            Route::Stdio => "stdio",
            Route::Http => "HTTP",
            Route::HttpWithoutStream => "HTTP without a stream",
            Route::Wrapped => "wrap",
            Route::WrappedFiles => "wrap of server-filesystem",
            Route::Serve => "serve",
            Route::ServeHttp => "serve by HTTP",
            Route::ServeHttpWithoutStream => "serve by HTTP without a stream",
            Route::HubHttp => "hub by HTTP",
            Route::HubHttpWithoutStream => "hub by HTTP without a stream",
        };
        format!("{}, {route}, {}", self.sdk.name(), self.era.name())
    }

    fn name(self) -> String {
        match self.subject {
            Subject::In(situation) => format!("{}: {}", self.way(), situation.name),
            Subject::Shown => format!("{}: the script shown", self.way()),
            Subject::Of(example) => format!("{}: {}", self.way(), example.program),
        }
    }

    fn carry_out(self, top: &Path, installed: &Installed, servers: &Servers, stage: &Stage) -> Result<()> {
        match self.subject {
            Subject::In(situation) => {
                let client = || self.sdk.command(top, installed, "client");
                // These cases write files, so each needs a separate directory.
                let own =
                    if self.route == Route::Serve || self.route.is_listening() { Some(Stage::new()?) } else { None };
                case::play(client, servers, self.route, self.era, situation, own.as_ref().unwrap_or(stage))
            }
            Subject::Shown => {
                let read = |path: &str| {
                    let mut client = self.sdk.command(top, installed, "read_file");
                    client.args([&servers.address(self.route), &stage.path(DIRECTORIES[0]), path]);
                    case::printed(&mut client)
                };
                let inside = read("file")?;
                ensure!(inside == format!("read: {}\n", DIRECTORIES[0]), "the client printed `{inside}`");
                let outside = read(&stage.path("third/file"))?;
                ensure!(
                    outside.starts_with("refused: ") && outside.contains("is outside every root"),
                    "the client printed `{outside}`"
                );
                Ok(())
            }
            Subject::Of(example) => {
                let call = |path: &str| {
                    let mut client = self.sdk.command(top, installed, "call_tool");
                    // Cargo built it into the same directory.
                    let program = Path::new(&servers.address(Route::Stdio)).with_file_name(example.program);
                    client.arg(program).args([&stage.path(DIRECTORIES[0]), example.tool]);
                    client.arg((example.arguments)(path).to_string());
                    case::printed(&mut client)
                };
                let inside = call("file")?;
                ensure!(inside == (example.inside)(DIRECTORIES[0]), "the client printed `{inside}`");
                let outside = call(&stage.path("third/file"))?;
                ensure!(outside.contains(example.refused), "the client printed `{outside}`");
                Ok(())
            }
        }
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let of_serve = OF_SERVE
        .iter()
        .flat_map(|situation| [Route::Serve, Route::ServeHttp].map(|route| (Subject::In(situation), Some(route))));
    let of_all = SITUATIONS.iter().map(Subject::In).chain([Subject::Shown]).map(|subject| (subject, None));
    let of_examples = EXAMPLES.iter().map(|example| (Subject::Of(example), Some(Route::Stdio)));
    for (subject, only) in of_serve.chain(of_all).chain(of_examples) {
        for sdk in SDKS {
            for (route, era) in WAYS.into_iter().filter(|(_, era)| sdk.supports(*era)) {
                // The scripts of `Of` and `Shown` use the newest era that the server offers: the modern one.
                let is_wanted = match subject {
                    _ if only.is_some_and(|only| only != route) => false,
                    Subject::In(situation) => {
                        let is_short = matches!(route, Route::WrappedFiles | Route::HubHttpWithoutStream);
                        !is_short || OF_FILES.contains(&situation.name)
                    }
                    Subject::Of(_) => era == Era::Modern,
                    Subject::Shown => {
                        era == Era::Modern && !matches!(route, Route::Wrapped | Route::Serve) && !route.is_listening()
                    }
                };
                if is_wanted {
                    cases.push(Case { sdk, route, era, subject });
                }
            }
        }
    }
    cases
}

/// Runs the cases whose names contain all of `parts`. Returns a note for the table of steps.
pub(crate) fn run(top: &Path, parts: &[&str]) -> Result<String> {
    let cases = chosen(cases(), parts, Case::name)?;
    let installed = install::run(top)?;
    install::runtimes(top, &[Runtime::Prolog])?;
    let build =
        Call::cargo("build -p minimal-server -p http-server -p knowledge-base -p workspace-shell -p rootward --bins");
    let [stdio, http, rootward] = built::programs(top, build, ["minimal-server", "http-server", "rootward"])?;
    let files = install::packages(top, "servers")?.join("node_modules").join(FILE_SERVER);
    let wrap = Wrap { rootward, files: [installed.node.clone(), files] };
    let servers = Servers::start(stdio, &http, wrap)?;
    let stage = Stage::new()?;
    let outcomes = all_at_once(&cases, AT_ONCE, |case| case.carry_out(top, &installed, &servers, &stage));

    let mut rows = vec![["client", "passed", "failed"].map(str::to_owned).to_vec()];
    let ways: BTreeSet<String> = cases.iter().map(|case| case.way()).collect();
    for way in ways {
        let of_way = || outcomes.iter().filter(|(case, _)| case.way() == way);
        let passed = of_way().filter(|(_, outcome)| outcome.is_ok()).count();
        rows.push(vec![way.clone(), passed.to_string(), (of_way().count() - passed).to_string()]);
    }
    println!("\n{}", table::lay_out(&rows));
    judge(cases.len(), &outcomes, Case::name)
}
