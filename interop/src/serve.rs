//! `cargo xtask serve`: the MCP Inspector as the client of `rootward serve`, and over HTTP of `rootward hub`. `peers` has more clients.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

use crate::cases::{all_at_once, chosen, judge};
use crate::inspector::{ABOVE, DIRECTORY, ERAS, Era, Inspector, Roots, Schemas, Server, Transport};
use taskkit::built;
use taskkit::call::Call;
use taskkit::install::{Runtime, node, packages, runtimes};

/// How many cases run in parallel.
const AT_ONCE: usize = 2;

/// The command that the Inspector talks to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verb {
    Serve,
    ServeHttp,
    HubHttp,
}

/// The command, the era that the Inspector tries, and who chooses the shared directory.
#[derive(Clone, Copy, Debug)]
struct Case(Verb, Era, Roots);

/// The paths of the programs.
#[derive(Debug)]
struct Programs {
    inspector: Inspector,
    rootward: PathBuf,
    /// The command of the npm file server, which runs behind the hub.
    files: [PathBuf; 2],
}

impl Case {
    fn name(self) -> String {
        let Case(verb, era, roots) = self;
        let verb = match verb {
            Verb::Serve => "",
            Verb::ServeHttp => ", serve --http",
            Verb::HubHttp => ", hub --http",
        };
        let whose = match roots {
            Roots::OfClient => "its own roots",
            Roots::OfOperator => "directories on the command line",
        };
        format!("MCP Inspector{verb}, {}, {whose}", era.name())
    }

    fn carry_out(self, programs: &Programs) -> Result<()> {
        let Case(verb, era, roots) = self;
        let directory = tempfile::tempdir()?;
        // A network client is always limited to directories from the command line.
        let ceiling = match (verb, roots) {
            (Verb::Serve, Roots::OfClient) => None,
            (_, Roots::OfClient) => Some(ABOVE.to_owned()),
            // With execute access, the `shell` tool is listed too, so its schema is checked.
            (_, Roots::OfOperator) => Some(format!("{DIRECTORY}:rwx")),
        };
        let (before, tool, schemas) = match verb {
            Verb::Serve | Verb::ServeHttp => (vec!["serve".to_owned()], "read_text_file", Schemas::Portable),
            Verb::HubHttp => {
                let [program, script] = &programs.files;
                let servers = json!({"mcpServers": {"files": {"command": program, "args": [script]}}});
                let config = directory.path().join("servers.json");
                fs::write(&config, servers.to_string())?;
                let words = ["hub", "--config", &config.display().to_string(), "--root"].map(str::to_owned);
                (words.to_vec(), "files__read_text_file", Schemas::Any)
            }
        };
        let server = Server {
            rootward: &programs.rootward,
            transport: if verb == Verb::Serve { Transport::Stdio } else { Transport::Http },
            words: before.into_iter().chain(ceiling).collect(),
            tool,
            roots,
            schemas,
        };
        let runs = programs.inspector.play(era, &server)?;
        println!("{}: {runs} runs as expected", self.name());
        Ok(())
    }
}

fn cases() -> Vec<Case> {
    let both = [Roots::OfClient, Roots::OfOperator];
    let serve = ERAS.into_iter().flat_map(|era| both.map(|roots| Case(Verb::Serve, era, roots)));
    // HTTP does not need `auto`: which era the Inspector finds does not depend on the transport.
    let eras = [Era::Legacy, Era::Modern].into_iter();
    let http = eras.flat_map(|era| {
        [Verb::ServeHttp, Verb::HubHttp].into_iter().flat_map(move |verb| both.map(|roots| Case(verb, era, roots)))
    });
    serve.chain(http).collect()
}

/// Runs the cases whose names contain all of `parts`. Returns a note for the table of steps.
pub(crate) fn run(top: &Path, parts: &[&str]) -> Result<String> {
    let cases = chosen(cases(), parts, Case::name)?;
    runtimes(top, &[Runtime::Node])?;
    let script = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";
    let files = [node(top)?, packages(top, "servers")?.join(script)];
    let inspector = Inspector::install(top)?;
    let [rootward] = built::programs(top, Call::cargo("build -p rootward --bin rootward"), ["rootward"])?;
    let programs = Programs { inspector, rootward, files };
    let outcomes = all_at_once(&cases, AT_ONCE, |case| case.carry_out(&programs));
    judge(cases.len(), &outcomes, Case::name)
}
