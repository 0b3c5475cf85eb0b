//! Servers behind `rootward hub` are killed at random: every call is answered, the hub keeps running, and every server comes back.
//!
//! A few kills by default; a minute of them if `ROOTWARD_LONG` is `1`, which `cargo xtask prove` sets.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rootward_testkit::client::Client;
use serde_json::{Value, json};

use super::{begin, hub, server};
use crate::place::PATIENCE;
use crate::wrap::scene::Scene;
use crate::wrap::stress::{Dice, hear, kill};

const SERVERS: [&str; 3] = ["a", "b", "c"];

/// The most calls that may be open.
const MOST_OPEN: usize = 6;

/// Whether to continue: until enough kills hit servers that start, serve or wait to be started, or until a minute has passed.
fn goes_on(killed: u32, begun: Instant) -> bool {
    let long = std::env::var_os("ROOTWARD_LONG").is_some_and(|value| value == "1");
    if long { begun.elapsed() < Duration::from_mins(1) } else { killed < 12 }
}

#[test]
fn every_call_is_answered_while_servers_are_killed_and_all_come_back() {
    let scene = Scene::new();
    let servers: serde_json::Map<String, Value> =
        SERVERS.iter().map(|name| ((*name).to_owned(), server(&json!({})))).collect();
    let mut command = hub(&scene, &json!({"mcpServers": servers}), &[]);
    command.stderr(Stdio::null()).env("ROOTWARD_DEBOUNCE_MS", "20");
    let mut client = begin(&mut command, &[scene.uri("project")]);
    let (mut dice, begun) = (Dice(0x2545_f491_4f6c_dd1d), Instant::now());
    let (mut open, mut killed, mut asked) = (BTreeSet::new(), 0, 0);
    let mut share = "project";
    while goes_on(killed, begun) {
        let path = scene.text(if dice.next(2) == 0 { "project/file.txt" } else { "other/file.txt" });
        let (tool, arguments) = match dice.next(8) {
            0 => ("big", json!({"size": 200_000})),
            1 => ("slow", json!({"seconds": 0.05})),
            2 => ("where", json!({})),
            _ => ("read", json!({"path": path})),
        };
        let server = SERVERS[usize::try_from(dice.next(3)).unwrap()];
        open.insert(client.begin_call(&format!("{server}__{tool}"), arguments));
        asked += 1;
        if dice.next(25) == 0 {
            share = if share == "project" { "other" } else { "project" };
            client.share([scene.uri(share)]);
        }
        if dice.next(5) == 0 {
            killed += u32::from(kill_any(&scene, &mut dice));
        }
        while open.len() > MOST_OPEN {
            hear(&mut client, &mut open);
        }
    }
    while !open.is_empty() {
        hear(&mut client, &mut open);
    }
    assert!(killed >= 3 && asked > MOST_OPEN, "{killed} kills, {asked} calls");
    client.share([scene.uri("project")]);
    for server in SERVERS {
        comes_back(&scene, &mut client, server);
    }
    assert_eq!(client.end(), Some(0));
    assert_eq!(scene.rootward(&["status"]).output().unwrap().status.code(), Some(1), "nothing runs now");
}

/// Kills one of the running servers. Returns `false` if there is none.
fn kill_any(scene: &Scene, dice: &mut Dice) -> bool {
    let told: Value = serde_json::from_slice(&scene.rootward(&["status", "--json"]).output().unwrap().stdout).unwrap();
    let running = told[0]["servers"].as_array().into_iter().flatten();
    let processes: Vec<String> = running.map(|server| server["process"].to_string()).collect();
    let count = processes.len() as u64;
    count > 0 && kill(&processes[usize::try_from(dice.next(count)).unwrap()])
}

/// Calls a server until it answers. A server that was killed often is restarted after a pause.
fn comes_back(scene: &Scene, client: &mut Client, server: &str) {
    let begun = Instant::now();
    loop {
        let answer = client.call(&format!("{server}__read"), json!({"path": scene.path("project/file.txt")}));
        if answer["result"]["content"][0]["text"] == "project" {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "server `{server}` does not come back: {answer}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
