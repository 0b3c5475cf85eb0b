//! Servers and clients are killed at random under load: every request is answered, and no process is left.
//!
//! A few rounds by default; a minute of them if `ROOTWARD_LONG` is `1`, which `cargo xtask prove` sets.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rootward_testkit::client::Client;
use serde_json::{Value, json};

use super::scene::{Mark, Scene};

/// Whether to continue: until every kind of end has happened, or until a minute has passed.
fn goes_on(round: u32, begun: Instant) -> bool {
    let long = std::env::var_os("ROOTWARD_LONG").is_some_and(|value| value == "1");
    if long { begun.elapsed() < Duration::from_mins(1) } else { round < 8 }
}

/// A deterministic pseudorandom number generator (xorshift).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// How a session ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Closed,
    Dropped,
    Terminated,
    Killed,
}

#[test]
fn whatever_is_killed_every_request_is_answered_and_nothing_is_left() {
    let begun = Instant::now();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut round = 0;
    while goes_on(round, begun) {
        let end = [End::Closed, End::Dropped, End::Terminated, End::Killed][round as usize % 4];
        let strength = if (round / 4).is_multiple_of(2) { "off" } else { "auto" };
        session(&mut dice, strength, end);
        round += 1;
    }
}

/// One session: calls of every kind while the server is killed and the roots change, then the end.
fn session(dice: &mut Dice, strength: &str, end: End) {
    let scene = Scene::new();
    let mark = Mark::new(&scene);
    let mut command = scene.wrap(&["--sandbox", strength]);
    command.stderr(Stdio::null()).env("ROOTWARD_ROOTS_TIMEOUT_MS", "3000").env("ROOTWARD_DEBOUNCE_MS", "20");
    let mut client = Client::start_unread(&mut command);
    let mut share = "project";
    client.name_roots([scene.uri(share)]);
    // The server's process, if known, and the calls that ask for it.
    let (mut server, mut asking): (Option<String>, BTreeSet<u64>) = (None, BTreeSet::new());
    let mut open =
        BTreeSet::from([client.begin("initialize", json!({"capabilities": {"roots": {"listChanged": true}}}))]);
    client.notify("notifications/initialized", ());
    for _ in 0..30 {
        let path = scene.text(if dice.next(2) == 0 { "project/file.txt" } else { "other/file.txt" });
        let (tool, arguments) = match dice.next(12) {
            0 => ("crash", json!({})),
            1 => ("start", json!({"mark": mark.words})),
            2 => ("big", json!({"size": 200_000})),
            3 => ("slow", json!({"seconds": 0.05})),
            4 => ("noise", json!({})),
            5 => ("where", json!({})),
            6 => ("process", json!({})),
            _ => ("read", json!({"path": path})),
        };
        if dice.next(15) == 0 {
            share = if share == "project" { "other" } else { "project" };
            client.share([scene.uri(share)]);
        }
        let id = client.begin_call(tool, arguments);
        open.insert(id);
        if tool == "process" {
            asking.insert(id);
        }
        if let Some(number) = server.take_if(|_| dice.next(3) == 0) {
            kill(&number);
        }
        // A few calls are always open.
        while open.len() > 5 {
            let message = hear(&mut client, &mut open);
            if message["id"].as_u64().is_some_and(|id| asking.contains(&id)) {
                server = message["result"]["content"][0]["text"].as_str().map(str::to_owned);
            }
        }
    }
    match end {
        End::Closed => client.close(),
        End::Terminated => client.signal("TERM"),
        End::Dropped => {
            client.line.hang_up();
            client.line.child.wait().unwrap();
            return mark.is_gone();
        }
        End::Killed => {
            client.line.child.kill().unwrap();
            return mark.is_gone();
        }
    }
    // Every call is answered before the end, unless the client itself is gone.
    client.reply("roots/list", None);
    while !open.is_empty() {
        hear(&mut client, &mut open);
    }
    client.line.child.wait().unwrap();
    mark.is_gone();
}

/// Kills a server. Returns `false` if it is already gone, because its process id may be reused.
pub(crate) fn kill(number: &str) -> bool {
    let words = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).contains("wrap/server.py")
        && Command::new("kill").args(["-KILL", number]).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
}

/// Receives the next message.
pub(crate) fn hear(client: &mut Client, open: &mut BTreeSet<u64>) -> Value {
    let message = client.next();
    assert!(message.is_some(), "the connection ended while these calls were open: {open:?}");
    let message = message.unwrap();
    if let (None, Some(id)) = (message.get("method"), message["id"].as_u64()) {
        assert!(open.remove(&id), "{message} was answered twice, or never asked");
        assert!(message["result"].is_object() || message["error"].is_object(), "{message}");
    }
    message
}
