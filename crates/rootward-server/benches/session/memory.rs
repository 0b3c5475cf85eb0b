//! The memory of an idle session, compared with rmcp's own: the resident memory of a process with many sessions.

use std::fs;
use std::process::Command;

use rootward_server::{RootsService, Settings};
use rootward_testkit::bench::table::{Most, Table};
use serde_json::{Value, json};

use crate::Outcome;
use crate::client::Client;
use crate::server::Server;

/// The argument that marks the measured process.
pub(crate) const WEIGH: &str = "--weigh=";
const SESSIONS: usize = 5_000;

pub(crate) fn measure(table: &mut Table) -> Outcome<()> {
    let plain = weighed("plain")?;
    let rooted = weighed("rooted")?;
    table.add_count("bytes of an idle session that asked for roots once, rmcp alone", plain, Most::Any);
    table.add_count(
        "bytes of an idle session beyond that, 3 roots shared by all",
        rooted.saturating_sub(plain),
        Most::AtMost(4096),
    );
    Ok(())
}

/// Bytes per session, in a new process.
fn weighed(kind: &str) -> Outcome<u64> {
    let output = Command::new(std::env::current_exe()?).arg(format!("{WEIGH}{kind}")).output()?;
    let said = String::from_utf8(output.stdout)?;
    said.trim().parse().map_err(|_| format!("{kind}: {said} {}", String::from_utf8_lossy(&output.stderr)).into())
}

/// Opens sessions that check one path each, and prints the bytes per session.
pub(crate) fn weigh(kind: &str) -> Outcome<()> {
    let scratch = tempfile::Builder::new().prefix("rootward-bench-").tempdir()?;
    let top = scratch.path().canonicalize()?;
    let mut entries = Vec::new();
    for name in ["one", "two", "three"] {
        fs::create_dir(top.join(name))?;
        entries.push(json!({"uri": format!("file://{}", top.join(name).display()), "name": name}));
    }
    let file = top.join("two/file");
    fs::write(&file, "")?;
    let path = file.display().to_string();
    let roots = json!({"roots": entries});
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let bytes = runtime.block_on(async {
        let service = RootsService::new(Settings::new(None));
        let server = Server::new();
        // One session before the measurement: shared allocations must not count.
        let mut sessions = vec![open(kind, &service, &server, &path, &roots).await?];
        sessions.reserve(SESSIONS);
        let before = resident()?;
        for _ in 0..SESSIONS {
            sessions.push(open(kind, &service, &server, &path, &roots).await?);
        }
        let bytes = resident()?.saturating_sub(before) / SESSIONS as u64;
        drop(sessions);
        Ok::<u64, Box<dyn std::error::Error>>(bytes)
    })?;
    println!("{bytes}");
    Ok(())
}

async fn open(kind: &str, service: &RootsService, server: &Server, path: &str, roots: &Value) -> Outcome<Client> {
    let (mut client, tool) = match kind {
        "plain" => (Client::plain(server.clone()).await?, "asking"),
        _ => (Client::rooted(service.install(server.clone())).await?, "rooted"),
    };
    let answer = client.call(tool, path, roots).await?;
    if answer["result"]["isError"] == true || answer["result"]["content"].is_null() {
        return Err(format!("`{tool}` answered {answer}").into());
    }
    client.rest();
    Ok(client)
}

/// The resident memory of this process, in bytes (`proc_pid_statm(5)`).
fn resident() -> Outcome<u64> {
    let pages = fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = pages.split(' ').nth(1).ok_or("no resident pages")?.parse()?;
    Ok(pages * rustix::param::page_size() as u64)
}
