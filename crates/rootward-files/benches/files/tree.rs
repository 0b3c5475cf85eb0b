//! The cost of `directory_tree` with a hundred thousand files.

use std::path::Path;

use memchr::memmem;

use crate::Outcome;
use crate::servers::{Servers, Which};
use rootward_testkit::bench::client::Client;
use rootward_testkit::bench::measure::{in_turns, one_turn};
use rootward_testkit::bench::table::{Bar, Table};

const FILES: usize = 100_000;
const ROUNDS: usize = 5;

pub(crate) fn measure(servers: &Servers, table: &mut Table) -> Outcome<()> {
    let top = servers.root.join("tree");
    plant(&top)?;
    let params = format!(r#"{{"name":"directory_tree","arguments":{{"path":"{}"}}}}"#, top.display());
    let begin = |client: Outcome<Client>| -> Outcome<Client> {
        let mut client = client?;
        client.ask("tools/list", "{}")?;
        let answer = client.ask("tools/call", &params)?;
        // A server that leaves files out would have an unfair advantage.
        if memmem::find_iter(answer, b"module_").count() < FILES {
            let shown = String::from_utf8_lossy(&answer[..answer.len().min(400)]);
            return Err(format!("files are missing in the response: {}", shown.trim()).into());
        }
        Ok(client)
    };
    let call = |client: &mut Client| client.ask("tools/call", &params).expect("it answered before").len();
    let what = "`directory_tree`, 100,000 files";
    for peer in &servers.peers {
        let both =
            begin(servers.rootward(&servers.root)).and_then(|own| Ok((own, begin(servers.peer(peer, &servers.root))?)));
        match both {
            Err(why) => table.add_missing(what, &peer.name, &why.to_string()),
            Ok((mut own, mut theirs)) => {
                let bar = match peer.which {
                    Which::Reference => Bar::TimesFaster(5.0),
                    Which::Fastest => Bar::Faster,
                };
                let row =
                    in_turns(ROUNDS, || one_turn(1, &mut || call(&mut own)), || one_turn(1, &mut || call(&mut theirs)));
                table.add(what, &peer.name, &row, bar);
                own.end()?;
                theirs.end()?;
            }
        }
    }
    Ok(())
}

/// Fifty projects of ten times ten directories with twenty files.
fn plant(top: &Path) -> Outcome<()> {
    eprintln!("making 100,000 files");
    for directory in 0..FILES / 20 {
        let (project, part, section) = (directory / 100, directory / 10 % 10, directory % 10);
        let directory = top.join(format!("project-{project:02}/part-{part}/section-{section}"));
        std::fs::create_dir_all(&directory)?;
        for number in 0..20 {
            std::fs::write(directory.join(format!("module_{number:02}.rs")), b"")?;
        }
    }
    Ok(())
}
