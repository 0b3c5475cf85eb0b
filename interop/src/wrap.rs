//! `cargo xtask wrap`: `rootward wrap` against what nobody here wrote.
//!
//! What a client hears is compared with what it hears directly, the MCP Inspector is its client, and the escape corpus goes through
//! it. More of its peers are in `peers` and `servers`.

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

/// Cases at once.
const AT_ONCE: usize = 2;

/// What is tried.
#[derive(Clone, Copy, Debug)]
enum Case {
    /// What a client hears.
    Fidelity(&'static Script),
    /// The MCP Inspector, in an era.
    Inspector(Era),
    /// The escape corpus, not confined.
    Gate,
    /// The escape corpus, in calls that nobody can read.
    Wall,
}

impl Case {
    fn name(self) -> String {
        match self {
            Case::Fidelity(script) => format!("{} byte for byte", script.name),
            Case::Inspector(era) => format!("MCP Inspector, {}", era.name()),
            Case::Gate => "escape corpus before a file server that was given everything, not confined".to_owned(),
            Case::Wall => "escape corpus before a hostile server, confined".to_owned(),
        }
    }

    /// Carries it out; what was counted.
    fn carry_out(self, installed: &Installed, inspector: &Inspector, hostile: &Path) -> Result<String> {
        match self {
            Case::Fidelity(script) => Ok(format!("{} frames equal", fidelity::play(script, installed)?)),
            Case::Inspector(era) => {
                Ok(format!("{} runs as they should be", inspector.play(era, &wrapped(era, installed))?))
            }
            Case::Gate => escapes::through_the_gate(installed),
            Case::Wall => escapes::through_the_wall(&installed.rootward, hostile),
        }
    }
}

/// What the Inspector meets in an era. The one that looks for the modern one first finds a server that knows only the legacy one.
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
    // The longest first.
    let corpus = [Case::Wall, Case::Gate].into_iter();
    corpus.chain(ERAS.map(Case::Inspector)).chain(SCRIPTS.iter().map(Case::Fidelity)).collect()
}

/// Runs the cases whose names hold each of `parts`; gives back a note for the table of steps.
pub(crate) fn run(top: &Path, parts: &[&str]) -> Result<String> {
    let cases = chosen(cases(), parts, Case::name)?;
    let installed = install::run(top)?;
    let inspector = Inspector::install(top)?;
    let build = Call::cargo("build -p rootward-sandbox --bin sandbox-stage");
    let [hostile] = built::programs(top, build, ["sandbox-stage"])?;
    count_all_at_once(&cases, AT_ONCE, Case::name, |case| case.carry_out(&installed, &inspector, &hostile))
}
