//! How much Rootward delays the answers of a server that `npx` starts, when Rootward knows the server from another project.

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use rootward_testkit::bench::cores;
use rootward_testkit::bench::measure::in_turns;
use rootward_testkit::bench::table::{Bar, Table};

use super::install;
use super::rows::servers;
use super::server::Server;
use super::stage::{Project, Sharing, Stage, Start, User, Wall};
use taskkit::call::Call;
use taskkit::conversation::Said;
use taskkit::form::Form;

/// How many times as long `tools/list` may take.
const MOST: f64 = 1.1;

const ROUNDS: usize = 15;

/// The servers: one that gets its directories as arguments, and one that does not.
const MEASURED: [&str; 2] = ["server-filesystem with arguments", "server-memory"];

/// When the clock stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Until {
    /// At the list of tools, which Rootward may remember.
    Listed,
    /// At the answer to a call, which comes from the server.
    Called,
}

/// The table, in Markdown.
pub(crate) fn run(top: &Path) -> Result<String> {
    let installed = install::run(top, Form::Short, &[], Call::cargo("build --release -p rootward --bin rootward"))?;
    let mut table = Table::default();
    for name in MEASURED {
        let server = servers().find(|server| server.name == name);
        let server = server.with_context(|| format!("no server is called `{name}`"))?;
        let stage = Stage::new(&installed, server, User::This)?;
        for wall in [Wall::Wrapped, Wall::Off] {
            // Downloads the packages, and lets Rootward learn the server.
            time(&stage, server, wall, Project::One, Until::Called)?;
        }
        for (until, what, bar) in [
            (Until::Listed, "`tools/list`", Bar::AtMost(MOST)),
            (Until::Called, "the first call's answer", Bar::Information),
        ] {
            let failure = RefCell::new(None);
            let timed = |wall| {
                time(&stage, server, wall, Project::Other, until).unwrap_or_else(|error| {
                    failure.borrow_mut().get_or_insert(error);
                    f64::NAN
                })
            };
            let row = in_turns(ROUNDS, || timed(Wall::Wrapped), || timed(Wall::Off));
            if let Some(error) = failure.take() {
                return Err(error);
            }
            let what = format!("`npx -y` of `{name}`, start to {what}, wrapped, known from another project");
            table.add(&what, "not wrapped", &row, bar);
        }
    }
    let machine = cores::machine(&std::env::temp_dir()).map_err(|error| anyhow!("{error}"))?;
    Ok(format!("{machine}\n\n{table}"))
}

/// Nanoseconds from the start of the server to `until`.
fn time(stage: &Stage<'_>, server: &'static Server, wall: Wall, project: Project, until: Until) -> Result<f64> {
    let start = Start { project, wall, ..Start::of(server, Sharing::Client) };
    let began = Instant::now();
    let mut talk = stage.start(start)?;
    talk.tools()?;
    if until == Until::Called {
        let call = server.calls.first().context("the server has no calls")?;
        let said = talk.call(call.tool, serde_json::from_str(&stage.fill(call.arguments, project))?)?;
        ensure!(matches!(said, Said::Result(_)), "`{}` said {said:?}", call.tool);
    }
    let taken = began.elapsed();
    // A server that is still starting may fail to end cleanly. That does not matter here.
    let _ = talk.end();
    Ok(taken.as_secs_f64() * 1e9)
}
