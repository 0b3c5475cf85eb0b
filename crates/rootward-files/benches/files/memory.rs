//! The memory of an idle server after a few calls.

use std::time::Duration;

use crate::Outcome;
use crate::servers::{Servers, Which};
use rootward_testkit::bench::client::Client;
use rootward_testkit::bench::table::{Bar, Table};

/// The kernel's names (`proc_pid_smaps(5)`). `Pss` divides shared memory among its processes. `Rss` counts a shared library in full for
/// each, and is only for information.
const MEASURES: [&str; 2] = ["Pss", "Rss"];

pub(crate) fn measure(servers: &Servers, table: &mut Table) -> Outcome<()> {
    for peer in &servers.peers {
        let own = settled(servers, servers.rootward(&servers.root))?;
        let theirs = settled(servers, servers.peer(peer, &servers.root));
        for measure in MEASURES {
            let what = format!("memory of an idle server, {}", measure.to_uppercase());
            match &theirs {
                Err(why) => table.add_missing(&what, &peer.name, &why.to_string()),
                Ok(theirs) => {
                    let bar = match (measure, peer.which) {
                        ("Pss", Which::Reference) => Bar::TimesFaster(10.0),
                        ("Pss", Which::Fastest) => Bar::AtMost(1.0),
                        _ => Bar::Information,
                    };
                    table.add_bytes(&what, &peer.name, own.memory(measure)?, theirs.memory(measure)?, bar);
                }
            }
        }
        own.end()?;
        theirs.map_or(Ok(()), Client::end)?;
    }
    Ok(())
}

/// Lists and reads, then waits a little.
fn settled(servers: &Servers, client: Outcome<Client>) -> Outcome<Client> {
    let mut client = client?;
    let root = servers.root.display();
    client.ask("tools/list", "{}")?;
    for _ in 0..10 {
        client.ask("tools/call", &format!(r#"{{"name":"list_directory","arguments":{{"path":"{root}"}}}}"#))?;
        let params = format!(r#"{{"name":"read_text_file","arguments":{{"path":"{root}/small.txt"}}}}"#);
        client.ask("tools/call", &params)?;
    }
    // Longer than a server takes to start its file watchers.
    std::thread::sleep(Duration::from_secs(3));
    Ok(client)
}
