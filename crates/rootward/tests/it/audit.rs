//! `audit`: show, follow and verify logs that a server wrote, and logs that somebody tampered with.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime};

use rootward_audit::AuditLog;
use rootward_core::{Access, Audit, AuditEvent, Code, Decision};
use serde_json::Value;

use crate::stage::{Stage, assert_told};

const LOG: &str = "home/.local/state/rootward/audit";

/// Later than the start of any log: the first second of 2100, in milliseconds since 1970.
const THEN: u64 = 4_102_444_800_000;

/// Far longer than anything that a test waits for.
const LIMIT: Duration = Duration::from_mins(2);

/// What differs between two runs: file names, and hashes over them.
const OWN: [(&str, &str); 2] = [(r"\d{14}-\d+-\d+-", "[LOG]-"), (r#""chain":"[0-9a-f]{64}""#, r#""chain":"[HASH]""#)];

macro_rules! assert_audit_told {
    ($($arguments:tt)+) => { insta::with_settings!({ filters => OWN.to_vec() }, { assert_told!($($arguments)+) }) };
}

fn open(stage: &Stage) -> AuditLog {
    // Logs that start in the same millisecond have no defined order.
    std::thread::sleep(Duration::from_millis(2));
    AuditLog::open_ambient(&stage.path(LOG)).unwrap()
}

fn event(time: u64, path: &str) -> AuditEvent {
    AuditEvent {
        time: SystemTime::UNIX_EPOCH + Duration::from_millis(THEN + time),
        session: "1".to_owned(),
        principal: None,
        client: None,
        server: None,
        process: None,
        requester: "tools/call read_file".to_owned(),
        path: path.to_owned(),
        resolved: None,
        access: Access::READ,
        decision: Decision::Allow,
        code: None,
        root: None,
        generation: 1,
        reason: None,
    }
}

fn refusal(time: u64, path: &str, code: Code) -> AuditEvent {
    AuditEvent { decision: Decision::Deny, code: Some(code), ..event(time, path) }
}

/// The files of the log, oldest first.
fn files(stage: &Stage) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(stage.path(LOG)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn change(file: &PathBuf, from: &str, to: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(file, text.replacen(from, to, 1)).unwrap();
}

/// A log of three files with two decisions each. A log continues in another file when its own is removed, so this removes
/// each file and restores it afterwards.
fn in_parts(stage: &Stage) {
    let log = open(stage);
    let mut kept: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for part in 0..3 {
        for number in 0..2 {
            log.record(&event(part * 10 + number, &format!("/p/{part}/{number}"))).unwrap();
        }
        for file in files(stage) {
            kept.push((file.clone(), fs::read(&file).unwrap()));
            fs::remove_file(&file).unwrap();
        }
    }
    for (file, text) in kept {
        fs::write(file, text).unwrap();
    }
    assert_eq!(files(stage).len(), 3);
}

#[test]
fn decisions_of_many_logs_are_shown_in_order() {
    let stage = Stage::new();
    let logs = [open(&stage), open(&stage), open(&stage)];
    logs[1].record(&event(1, "/p/first")).unwrap();
    logs[0].record(&refusal(2, "/etc/passwd", Code::OutsideRoots)).unwrap();
    let both = Access::READ | Access::WRITE;
    logs[1].record(&AuditEvent { access: both, session: "2".to_owned(), ..event(3, "/p/a file") }).unwrap();
    logs[1].record(&refusal(61_004, "link/x", Code::SymlinkEscape)).unwrap();
    logs[0]
        .record(&AuditEvent { requester: String::new(), access: Access::NONE, ..event(86_400_005, "/p/käse") })
        .unwrap();
    assert_audit_told!(
        "audit_show",
        stage,
        ["audit", "show"],
        ["audit", "show", "--denied"],
        ["audit", "show", "--last", "2"],
        ["audit", "show", "--denied", "--last", "1", "--json"],
        ["audit", "show", "--last", "0"],
        ["audit", "verify"],
    );
    let run = stage.run(["audit", "show", "--json"]);
    let on_record: Vec<String> = files(&stage).iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    assert_eq!(run.stdout.lines().count(), 5);
    for line in run.stdout.lines() {
        assert!(on_record.iter().any(|text| text.lines().any(|written| written == line)), "{line}");
    }
}

/// A log from before entries named a client and a server.
const OLD: &str = r#"{"log":"00000000000001-2-0","after":"","chain":"e9882a8ec7eb453e383f0dd46d33af15116105ee18ae87225fcfc751bf2c2804"}
{"time":1767323045678,"session":"1","requester":"tools/call read_file","path":"src/main.rs","resolved":"/home/me/app/src/main.rs","access":["read"],"decision":"allow","code":null,"root":"/home/me/app","generation":1,"chain":"27acb2e185ef188a0c1a27ba557d7b64d54ac5ca6178a9261d70b96666587dcc"}
{"time":1767323046001,"session":"1","requester":"tools/call read_file","path":"/etc/passwd","resolved":"/etc/passwd","access":["read"],"decision":"deny","code":"outside_roots","root":null,"generation":1,"chain":"47a293e4b45405d9340ed5303f747929ee9b80a13066becc3d77845579836c8a"}
"#;

#[test]
fn logs_of_older_versions_are_read_and_verified() {
    let stage = Stage::new();
    stage.write(&format!("{LOG}/00000000000001-2-0-000000.jsonl"), OLD);
    open(&stage).record(&asked(0, "editor 1.0", "files")).unwrap();
    assert_audit_told!(
        "audit_old",
        stage,
        ["audit", "show"],
        ["audit", "show", "--json"],
        ["audit", "show", "--server", "files"],
        ["audit", "verify"],
    );
}

fn asked(time: u64, client: &str, server: &str) -> AuditEvent {
    let (client, server) = (Some(client.to_owned()), Some(server.to_owned()));
    AuditEvent { client, server, process: Some(7), resolved: Some("/p/a".to_owned()), ..event(time, "a") }
}

#[test]
fn entries_are_chosen_by_server_client_time_and_refusal() {
    let stage = Stage::new();
    let log = open(&stage);
    let (minute, day) = (60_000, 86_400_000);
    let files = "@modelcontextprotocol/server-filesystem";
    log.record(&asked(0, "claude-code 2.1.0", files)).unwrap();
    let denied = |event| AuditEvent { decision: Decision::Deny, code: Some(Code::OutsideRoots), ..event };
    log.record(&denied(asked(minute, "claude-code 2.1.0", files))).unwrap();
    log.record(&asked(2 * minute, "Visual Studio Code", "mcp-server-git")).unwrap();
    log.record(&denied(asked(day, "Visual Studio Code", files))).unwrap();
    log.record(&event(day + minute, "nobody")).unwrap();
    assert_audit_told!(
        "audit_chosen",
        stage,
        ["audit", "show"],
        ["audit", "show", "--server", "Server-Filesystem", "--client", "claude-code"],
        ["audit", "show", "--server", files, "--denied"],
        ["audit", "show", "--client", "visual studio code", "--since", "2100-01-02"],
        ["audit", "show", "--since", "2100-01-01T03:02:00+03:00", "--denied", "--json"],
        ["audit", "show", "--client", "claude"],
        ["audit", "show", "--server", "mcp-server-git", "--denied"],
        ["audit", "show", "--since", "9000d", "--last", "1"],
        ["audit", "show", "--since", "soon"],
        ["audit", "verify"],
    );
    let mut tail = Tail::start(&stage, &["--server", "mcp-server-git", "--since", "1h"]);
    assert!(tail.line().contains("to `mcp-server-git`"));
    log.record(&asked(day, "x", files)).unwrap();
    log.record(&asked(day, "y", "mcp-server-git")).unwrap();
    assert!(tail.line().contains("from `y`, to `mcp-server-git`"));
    tail.end();
}

#[test]
fn a_log_of_many_files_is_read_as_one() {
    let stage = Stage::new();
    in_parts(&stage);
    assert_audit_told!("audit_parts", stage, ["audit", "show"], ["audit", "verify"], ["audit", "verify", "--json"]);
    fs::remove_file(&files(&stage)[0]).unwrap();
    assert_audit_told!("audit_cut", stage, ["audit", "show"], ["audit", "verify"], ["audit", "verify", "--json"]);
}

#[test]
fn a_log_without_entries() {
    let stage = Stage::new();
    assert_told!(
        "audit_none",
        stage,
        ["audit", "show"],
        ["audit", "show", "--json", "--denied"],
        ["audit", "verify"],
        ["audit", "verify", "--json"],
    );
    // A server that has not decided anything yet, and a file that is not part of the log.
    let _log = open(&stage);
    stage.write(&format!("{LOG}/notes.jsonl"), "my notes\n");
    assert_told!("audit_begun", stage, ["audit", "show"], ["audit", "verify"]);
    assert_told!("audit_no_place", Stage::new().with("HOME", "rel"), ["audit", "show"]);
}

#[test]
fn tampering_is_found() {
    let stage = Stage::new();
    in_parts(&stage);
    change(&files(&stage)[1], "/p/1/1", "/q/1/1");
    assert_audit_told!("audit_changed", stage, ["audit", "verify"], ["audit", "verify", "--json"]);

    // The second log is verified even if the first is damaged.
    let stage = Stage::new();
    in_parts(&stage);
    fs::remove_file(&files(&stage)[1]).unwrap();
    open(&stage).record(&event(5, "/p/other")).unwrap();
    change(&files(&stage)[2], "allow", "deny");
    assert_audit_told!("audit_removed", stage, ["audit", "verify"], ["audit", "verify", "--json"], ["audit", "show"]);
}

/// `audit` skips unreadable lines and reports them.
#[test]
fn unreadable_lines_are_skipped_and_reported() {
    let stage = Stage::new();
    in_parts(&stage);
    let file = &files(&stage)[1];
    let text = fs::read(file).unwrap();
    fs::write(file, [b"\xff\x1b[2J\n[]\n".as_slice(), &text, b"half a line"].concat()).unwrap();
    assert_audit_told!("audit_unreadable", stage, ["audit", "show", "--last", "3"], ["audit", "verify"]);
}

#[test]
fn a_log_that_cannot_be_read() {
    let stage = Stage::new();
    stage.write(LOG, "no directory");
    assert_told!(
        "audit_no_directory",
        stage,
        ["audit", "show"],
        ["audit", "show", "--json"],
        ["audit", "tail"],
        ["audit", "verify"],
        ["audit", "verify", "--json"],
    );
    let stage = Stage::new();
    fs::create_dir_all(stage.path(LOG).join("00000000000001-2-3-000000.jsonl")).unwrap();
    assert_audit_told!("audit_no_file", stage, ["audit", "show"], ["audit", "tail"], ["audit", "verify"]);
}

/// Control characters in a path, in a tool name and, if somebody forged the log, in any other member.
#[test]
fn no_entry_moves_the_cursor() {
    let stage = Stage::new();
    let path = "/p/\u{1b}[2J\n2100-01-01T00:00:00.000Z  allow  `/etc`  by `x`, session 1\r\u{202e}\u{9b}1A\u{7f}";
    let requester = "tools/call \u{1b}]0;x\u{7}`, session 7\u{9b}2J\u{2066}";
    open(&stage).record(&AuditEvent { requester: requester.to_owned(), ..event(0, path) }).unwrap();
    let mut written: Value = serde_json::to_value(event(1, path)).unwrap();
    for (member, value) in [("session", "\u{1b}c\n"), ("code", "\n\u{202e}"), ("requester", requester)] {
        written[member] = value.into();
    }
    written["access"] = serde_json::json!(["read\n", "\u{9b}"]);
    // White space that JSON permits between tokens.
    let line = written.to_string().replacen(',', "\r,\t", 1) + "\n";
    stage.write(&format!("{LOG}/00000000000001-2-3-000000.jsonl"), &line);

    let run = stage.run(["audit", "show"]);
    let shown_path = r"`/p/\u{1b}[2J\n2100-01-01T00:00:00.000Z  allow  \u{60}/etc\u{60}  by \u{60}x\u{60}, session 1\r\u{202e}\u{9b}1A\u{7f}`";
    let shown_requester = r"`tools/call \u{1b}]0;x\u{7}\u{60}, session 7\u{9b}2J\u{2066}`";
    let expect = format!(
        "2100-01-01T00:00:00.000Z  allow  read     {shown_path}  by {shown_requester}, session 1\n\
         2100-01-01T00:00:00.001Z  allow  read\\n, \\u{{9b}}  {shown_path}  \\n\\u{{202e}}  by {shown_requester}, session \\u{{1b}}c\\n\n"
    );
    assert_eq!(run.stdout, expect);

    let run = stage.run(["audit", "show", "--json"]);
    let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((&lines[0]["path"], &lines[0]["requester"]), (&Value::from(path), &Value::from(requester)));
    assert_eq!(lines[1], written);
    let moves = |letter: char| letter != '\n' && (letter.is_control() || "\u{202e}\u{2066}".contains(letter));
    assert!(!run.stdout.contains(moves), "{:?}", run.stdout);

    let mut tail = Tail::start(&stage, &["--json"]);
    let told = [tail.line(), tail.line()].concat();
    assert!(!told.contains(moves), "{told:?}");
    tail.end();
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let stage = Stage::new();
    open(&stage).record(&event(0, "/p/a")).unwrap();
    for (verb, code) in [("show", 2), ("verify", 2), ("tail", 0)] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = stage.command(["audit", verb]).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(code), b"".as_slice()), "{verb}");
    }
}

/// A running `audit tail`.
struct Tail {
    child: Child,
    lines: Receiver<String>,
    reading: std::thread::JoinHandle<()>,
}

impl Tail {
    fn start(stage: &Stage, flags: &[&str]) -> Tail {
        let mut command = stage.command([["audit", "tail"].as_slice(), flags].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        let reading = std::thread::spawn(move || {
            let mut line = String::new();
            while stdout.read_line(&mut line).unwrap() > 0 && sender.send(std::mem::take(&mut line)).is_ok() {}
        });
        Tail { child, lines, reading }
    }

    /// Waits for the next line.
    fn line(&mut self) -> String {
        self.lines.recv_timeout(LIMIT).unwrap()
    }

    /// Waits for the first line on standard error.
    fn says(&mut self) -> String {
        BufReader::new(self.child.stderr.take().unwrap()).lines().next().unwrap().unwrap()
    }

    /// Kills it and returns the rest of its standard error.
    fn end(mut self) -> String {
        self.child.kill().unwrap();
        let output = self.child.wait_with_output().unwrap();
        self.reading.join().unwrap();
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn tail_shows_the_last_entries_and_new_ones() {
    let stage = Stage::new();
    let log = open(&stage);
    for number in 0..20 {
        log.record(&event(number, &format!("/p/{number}"))).unwrap();
    }
    let mut tail = Tail::start(&stage, &[]);
    // Both names of the flag.
    let mut few = ["--last", "--lines"].map(|flag| Tail::start(&stage, &[flag, "1", "--denied", "--json"]));
    for few in &mut few {
        assert!(few.says().starts_with("no refusal is on record"));
    }
    for number in 10..20 {
        assert!(tail.line().contains(&format!("`/p/{number}`")));
    }
    log.record(&event(20, "/p/new line")).unwrap();
    assert!(tail.line().contains("`/p/new line`"));
    let other = open(&stage);
    other.record(&refusal(21, "/p/new log", Code::Restricted)).unwrap();
    assert!(tail.line().contains("`/p/new log`  restricted"));
    for few in &mut few {
        let refused: Value = serde_json::from_str(&few.line()).unwrap();
        assert_eq!(refused["path"], "/p/new log");
    }
    // When its file is removed, the log continues in another one.
    fs::remove_file(files(&stage).last().unwrap()).unwrap();
    other.record(&event(22, "/p/new file")).unwrap();
    assert!(tail.line().contains("`/p/new file`"));
    other.record(&refusal(23, "/p/last", Code::Restricted)).unwrap();
    for few in &mut few {
        let refused: Value = serde_json::from_str(&few.line()).unwrap();
        assert_eq!(refused["path"], "/p/last");
    }
    assert_eq!(tail.end(), "");
    for few in few {
        few.end();
    }
}

#[test]
fn tail_waits_for_the_first_entry() {
    let stage = Stage::new();
    let mut tail = Tail::start(&stage, &[]);
    assert_eq!(tail.says(), "no decision is on record in `~/.local/state/rootward/audit` yet");
    let log = open(&stage);
    log.record(&event(0, "/p/a")).unwrap();
    assert!(tail.line().contains("`/p/a`"));
    tail.end();
}

#[test]
fn tail_reports_a_truncated_log() {
    let stage = Stage::new();
    let log = open(&stage);
    log.record(&event(0, "/p/a")).unwrap();
    let length = fs::metadata(&files(&stage)[0]).unwrap().len();
    log.record(&event(1, "/p/b")).unwrap();
    let mut tail = Tail::start(&stage, &[]);
    assert_eq!([tail.line(), tail.line()].concat().lines().count(), 2);
    fs::OpenOptions::new().write(true).open(&files(&stage)[0]).unwrap().set_len(length).unwrap();
    let said = tail.says();
    assert!(said.starts_with("warning: `") && said.ends_with("-000000.jsonl` is shorter than it was"), "{said}");
    log.record(&event(2, "/p/c")).unwrap();
    assert!(tail.line().contains("`/p/c`"));
    tail.end();
}

/// `tail` notices even if the log does not grow.
#[test]
fn tail_ends_when_nobody_reads() {
    let stage = Stage::new();
    open(&stage).record(&event(0, "/p/a")).unwrap();
    let mut command = stage.command(["audit", "tail"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    drop(stdout);
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("`tail` is still running");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}
