//! The cost of a call with a rooted path, compared with the same call with a string.

use std::fs;
use std::path::Path;

use rootward_server::{RootsService, Settings};
use rootward_testkit::bench::measure::{Turns, compare};
use rootward_testkit::bench::table::{Bar, Table};
use serde_json::json;

use crate::Outcome;
use crate::client::Client;
use crate::server::Server;

pub(crate) fn measure(top: &Path, table: &mut Table) -> Outcome<()> {
    let place = top.join("a/b/c/d/e");
    fs::create_dir_all(&place)?;
    let file = place.join("f.txt");
    fs::write(&file, "f")?;
    let (root, file) = (top.display().to_string(), file.display().to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;

    let service = RootsService::new(Settings::new(None));
    let mut client = runtime.block_on(Client::rooted(service.install(Server::new())))?;
    let roots = json!({"roots": [{"uri": format!("file://{root}")}]});
    for (tool, expect) in [("rooted", "true".to_owned()), ("text", file.len().to_string())] {
        let answer = runtime.block_on(client.call(tool, &file, &roots))?;
        let text = &answer["result"]["content"][0]["text"];
        if *text != expect {
            return Err(format!("`{tool}` answered {answer}").into());
        }
    }

    let frame = |tool: &str| {
        let parameters = json!({"name": tool, "arguments": {"path": file}});
        format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}))
    };
    let (rooted, text) = (frame("rooted"), frame("text"));
    let client = std::cell::RefCell::new(client);
    let call = |frame: &str| runtime.block_on(client.borrow_mut().call_ready(frame)).is_ok();
    let comparison = compare(Turns { rounds: 400, operations: 50 }, || call(&rooted), || call(&text));
    table.add(
        "a tool call with a `RootedPath`, depth 6, roots known",
        "the same call with a `String`",
        &comparison,
        Bar::AtMostMore(10_000.0),
    );
    Ok(())
}
