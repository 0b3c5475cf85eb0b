//! `cargo xtask serve`: the MCP Inspector before `rootward serve`. More of its clients are in `peers`.

use std::path::Path;

use anyhow::Result;

use crate::built;
use crate::call::Call;
use crate::cases::{all_at_once, chosen, judge};
use crate::inspector::{DIRECTORY, ERAS, Era, Inspector, Roots, Schemas, Server};
use crate::install::{Runtime, runtimes};

/// Cases at once.
const AT_ONCE: usize = 2;

/// An era, and who says what is shared.
#[derive(Clone, Copy, Debug)]
struct Case(Era, Roots);

impl Case {
    fn name(self) -> String {
        let Case(era, roots) = self;
        let whose = match roots {
            Roots::OfClient => "its own roots",
            Roots::OfOperator => "directories on the command line",
        };
        format!("MCP Inspector, {}, {whose}", era.name())
    }

    fn carry_out(self, inspector: &Inspector, rootward: &Path) -> Result<()> {
        let Case(era, roots) = self;
        // Where commands may run, their tool is in the list of those whose schemas are looked at.
        let words = match roots {
            Roots::OfClient => vec!["serve".to_owned()],
            Roots::OfOperator => vec!["serve".to_owned(), format!("{DIRECTORY}:rwx")],
        };
        let server = Server { rootward, words, tool: "read_text_file", roots, schemas: Schemas::Portable };
        let runs = inspector.play(era, &server)?;
        println!("{}: {runs} runs as they should be", self.name());
        Ok(())
    }
}

fn cases() -> Vec<Case> {
    ERAS.into_iter().flat_map(|era| [Roots::OfClient, Roots::OfOperator].map(|roots| Case(era, roots))).collect()
}

/// Runs the cases whose names hold each of `parts`; gives back a note for the table of steps.
pub(crate) fn run(top: &Path, parts: &[&str]) -> Result<String> {
    let cases = chosen(cases(), parts, Case::name)?;
    runtimes(top, &[Runtime::Node])?;
    let inspector = Inspector::install(top)?;
    let [rootward] = built::programs(top, Call::cargo("build -p rootward --bin rootward"), ["rootward"])?;
    let outcomes = all_at_once(&cases, AT_ONCE, |case| case.carry_out(&inspector, &rootward));
    judge(cases.len(), &outcomes, Case::name)
}
