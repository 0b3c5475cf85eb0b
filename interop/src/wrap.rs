//! `cargo xtask wrap`: runs `rootward wrap` with third-party clients and servers.
//!
//! Compares what a client receives with what it receives directly, runs the MCP Inspector as the client, and sends the escape corpus
//! through. `peers` and `servers` have more clients and servers.

mod escapes;
pub(crate) mod fidelity;
mod listener;
pub(crate) mod script;

use std::path::Path;

use anyhow::Result;

use crate::cases::{chosen, count_all_at_once};
use crate::inspector::{ERAS, Era, Inspector, Roots, Schemas, Server, Transport};
use crate::servers::install;
use taskkit::built;
use taskkit::call::Call;

use install::Installed;
use script::{SCRIPTS, Script};

/// How many cases run in parallel.
const AT_ONCE: usize = 2;

#[derive(Clone, Copy, Debug)]
enum Case {
    /// A client must receive the same messages as directly.
    Fidelity(&'static Script),
    /// The MCP Inspector is the client, in an era.
    Inspector(Era),
    /// The escape corpus, not confined: only the check of the calls protects the disk.
    Gate,
    /// The escape corpus, in calls whose paths Rootward cannot read: only the kernel protects the disk.
    Wall,
}

impl Case {
    fn name(self) -> String {
        match self {
            Case::Fidelity(script) => format!("{} byte for byte", script.name),
            Case::Inspector(era) => format!("MCP Inspector, {}", era.name()),
            Case::Gate => "escape corpus, file server with access to everything, not confined".to_owned(),
            Case::Wall => "escape corpus, hostile server, confined".to_owned(),
        }
    }

    /// Runs the case. Returns its counts as text.
    fn carry_out(self, installed: &Installed, inspector: &Inspector, hostile: &Path) -> Result<String> {
        match self {
            Case::Fidelity(script) => Ok(format!("{} frames equal", fidelity::play(script, installed)?)),
            Case::Inspector(era) => Ok(format!("{} runs as expected", inspector.play(era, &wrapped(era, installed))?)),
            Case::Gate => escapes::through_the_gate(installed),
            Case::Wall => escapes::through_the_wall(&installed.rootward, hostile),
        }
    }
}

/// The server that the Inspector talks to in an era. With [`Era::Auto`], the server supports only the legacy era.
fn wrapped(era: Era, installed: &Installed) -> Server<'_> {
    let (tool, command) = match era {
        Era::Modern => ("read_file", vec![installed.fixed.clone()]),
        Era::Legacy | Era::Auto => {
            let script = "@modelcontextprotocol/server-filesystem/dist/index.js";
            ("read_text_file", vec![installed.node.clone(), installed.modules.join(script)])
        }
    };
    let command = command.iter().map(|word| word.display().to_string());
    Server {
        rootward: &installed.rootward,
        transport: Transport::Stdio,
        words: ["wrap".to_owned(), "--".to_owned()].into_iter().chain(command).collect(),
        tool,
        roots: Roots::OfClient,
        schemas: Schemas::Any,
    }
}

fn cases() -> Vec<Case> {
    // Slowest first.
    let corpus = [Case::Wall, Case::Gate].into_iter();
    corpus.chain(ERAS.map(Case::Inspector)).chain(SCRIPTS.iter().map(Case::Fidelity)).collect()
}

/// Runs the cases whose names contain all of `parts`. Returns a note for the table of steps.
pub(crate) fn run(top: &Path, parts: &[&str]) -> Result<String> {
    let cases = chosen(cases(), parts, Case::name)?;
    let installed = install::run(top)?;
    let inspector = Inspector::install(top)?;
    let build = Call::cargo("build -p rootward-sandbox --bin sandbox-stage");
    let [hostile] = built::programs(top, build, ["sandbox-stage"])?;
    count_all_at_once(&cases, AT_ONCE, Case::name, |case| case.carry_out(&installed, &inspector, &hostile))
}
