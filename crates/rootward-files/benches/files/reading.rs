//! The cost of reading a small file.

use crate::Outcome;
use crate::servers::{Servers, Which};
use rootward_testkit::bench::client::Client;
use rootward_testkit::bench::measure::{Turns, compare_each};
use rootward_testkit::bench::table::{Bar, Table};

/// A turn takes a few milliseconds.
const TURNS: Turns = Turns { rounds: 100, operations: 50 };

/// The end of the file.
const END: &str = "the end of the file";

pub(crate) fn measure(servers: &Servers, table: &mut Table) -> Outcome<()> {
    let file = servers.root.join("small.txt");
    let line = "a line of text as there are many, and not a long one at that\n";
    let mut text = line.repeat((4096 - END.len()) / line.len());
    text.push_str(&" ".repeat(4096 - END.len() - text.len()));
    text.push_str(END);
    std::fs::write(&file, text)?;
    let params = format!(r#"{{"name":"read_text_file","arguments":{{"path":"{}"}}}}"#, file.display());
    let begin = |client: Outcome<Client>| -> Outcome<Client> {
        let mut client = client?;
        client.ask("tools/list", "{}")?;
        client.try_call(&params, END)?;
        Ok(client)
    };
    let call = |client: &mut Client| client.ask("tools/call", &params).expect("it answered before").len();
    let what = "`read_text_file`, 4 KiB, one after the other";
    for peer in &servers.peers {
        let mut own = begin(servers.rootward(&servers.root))?;
        match begin(servers.peer(peer, &servers.root)) {
            Err(why) => table.add_missing(what, &peer.name, &why.to_string()),
            Ok(mut theirs) => {
                let bar = match peer.which {
                    Which::Reference => Bar::TimesFaster(5.0),
                    Which::Fastest => Bar::Faster,
                };
                table.add(what, &peer.name, &compare_each(TURNS, || call(&mut own), || call(&mut theirs)), bar);
                theirs.end()?;
            }
        }
        own.end()?;
    }
    Ok(())
}
