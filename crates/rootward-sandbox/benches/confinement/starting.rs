//! From the start of a server to its first answer.

use std::path::Path;

use crate::Outcome;
use crate::peers;
use crate::server::Server;
use crate::ways::Way;
use rootward_testkit::bench::measure::in_turns;
use rootward_testkit::bench::peers::rootward;
use rootward_testkit::bench::table::{Bar, Table};

/// The maximum cost of starting: three milliseconds.
const MOST: f64 = 3e6;

pub(crate) fn measure(top: &Path, table: &mut Table) -> Outcome<()> {
    let root = top.join("root");
    std::fs::create_dir(&root)?;
    let binary = rootward()?;
    let runtime = peers::sandbox_runtime(&root, &top.join("settings.json"));
    for server in [Server::Rust, Server::Node] {
        let rounds = if server == Server::Rust { 200 } else { 150 };
        let rootward = Way::rootward(&binary, &root, server)?;
        let mut add = |against: &str, other: Outcome<Way>, rounds: usize, bar: Bar| {
            let what = format!("first answer of {}, confined", server.name());
            // Once each, to check that both answer and to load their files.
            let both = other.and_then(|other| {
                rootward.first_answer()?;
                other.first_answer()?;
                Ok(other)
            });
            match both {
                Err(why) => table.add_missing(&what, against, &why.to_string()),
                Ok(other) => {
                    let time = |way: &Way| way.first_answer().expect("it answered before");
                    table.add(&what, against, &in_turns(rounds, || time(&rootward), || time(&other)), bar);
                }
            }
        };
        add("unconfined", Way::unconfined(server), rounds, Bar::AtMostMore(MOST));
        let bubblewrap = peers::version("bwrap").ok_or("no bwrap".into()).and_then(|version| {
            let way = Way::bubblewrap(&root, server)?;
            Ok((version, way))
        });
        match bubblewrap {
            Ok((version, way)) => add(&format!("`bwrap` {version}"), Ok(way), rounds, Bar::Faster),
            Err(why) => add("`bwrap`", Err(why), rounds, Bar::Faster),
        }
        let runtime = match &runtime {
            Ok(program) => Way::sandbox_runtime(program.clone(), &top.join("settings.json"), server),
            Err(why) => Err(why.to_string().into()),
        };
        let against = format!("`{}` {}", peers::PACKAGE, peers::VERSION);
        add(&against, runtime, rounds.div_ceil(10), Bar::Faster);
    }
    Ok(())
}
