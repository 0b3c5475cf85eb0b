//! The state table of the design, tested over the wire: for each state of the client, which files can be read.
//!
//! Each line is a row: the client's last answer, its answer before that, who else names roots, the settings, the places
//! that can be read, and the code that refuses the others. Places are sibling directories, named after the source that
//! opens them; `inner` is inside `ceiling`. A valid client list names `client` and `inner`.

use std::time::Duration;

use rootward_core::session::{Follow, NoRoots, Sources};
use rootward_core::{Mode, Origin, Root, RootSet, Validation};
use rootward_server::{RootsService, Settings};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{self, Client, Read as _};
use crate::rooted::Files;

const PLACES: [&str; 6] = ["client", "ceiling/inner", "ceiling", "saved", "fallback", "outside"];

/// Columns: state, before, sources, settings, open, the others.
const TABLE: &str = "
unsupported | -        | -                      | -             | -              | no_roots
unsupported | -        | ceiling                | -             | ceiling inner  | outside_roots
unsupported | -        | ceiling saved fallback | -             | ceiling inner  | outside_roots
unsupported | -        | saved fallback         | -             | saved          | outside_roots
unsupported | -        | saved                  | -             | saved          | outside_roots
unsupported | -        | fallback               | -             | fallback       | outside_roots
unsupported | -        | ceiling saved fallback | replace       | ceiling inner  | outside_roots
unsupported | -        | ceiling saved fallback | union         | ceiling inner  | outside_roots
unsupported | -        | ceiling saved fallback | strict        | -              | no_roots
unsupported | -        | ceiling saved fallback | ignore-client | ceiling inner  | outside_roots
unsupported | -        | saved fallback         | ignore-client | -              | no_roots
unsupported | -        | ceiling saved fallback | fallback-only | fallback       | outside_roots
unsupported | -        | ceiling saved          | fallback-only | -              | no_roots
unsupported | -        | -                      | allow-all     | all            | -
unsupported | -        | fallback               | allow-all     | fallback       | outside_roots
unsupported | -        | -                      | allow-all strict | -           | no_roots

pending     | -        | -                      | -             | -              | waits
pending     | -        | ceiling saved fallback | -             | -              | waits
pending     | -        | ceiling saved fallback | replace       | -              | waits
pending     | -        | ceiling saved fallback | union         | -              | waits
pending     | -        | ceiling saved fallback | strict        | -              | waits
pending     | -        | -                      | allow-all     | -              | waits
pending     | ready    | -                      | -             | -              | waits
pending     | ready    | ceiling saved fallback | union         | -              | waits
pending     | empty    | ceiling saved fallback | -             | -              | waits
pending     | -        | ceiling saved fallback | ignore-client | ceiling inner  | outside_roots
pending     | -        | ceiling saved fallback | fallback-only | fallback       | outside_roots

ready       | -        | -                      | -             | client inner   | outside_roots
ready       | -        | saved fallback         | -             | client inner   | outside_roots
ready       | -        | ceiling saved fallback | -             | inner          | outside_roots
ready       | -        | ceiling                | replace       | client inner   | outside_roots
ready       | -        | ceiling                | union         | client ceiling inner | outside_roots
ready       | -        | -                      | union         | client inner   | outside_roots
ready       | -        | -                      | strict        | client inner   | outside_roots
ready       | -        | ceiling                | strict        | inner          | outside_roots
ready       | -        | ceiling                | strict union  | client ceiling inner | outside_roots
ready       | -        | -                      | allow-all     | client inner   | outside_roots
ready       | -        | ceiling                | ignore-client | ceiling inner  | outside_roots
ready       | -        | ceiling fallback       | fallback-only | fallback       | outside_roots
ready       | empty    | ceiling                | -             | inner          | outside_roots
ready       | unusable | -                      | -             | client inner   | outside_roots
ready       | failed   | -                      | -             | client inner   | outside_roots
elsewhere   | -        | ceiling saved fallback | -             | -              | no_roots
elsewhere   | -        | ceiling saved fallback | replace       | client         | outside_roots
elsewhere   | -        | ceiling saved fallback | union         | client ceiling inner | outside_roots

empty       | -        | -                      | -             | -              | no_roots
empty       | -        | ceiling saved fallback | -             | ceiling inner  | outside_roots
empty       | -        | saved fallback         | -             | saved          | outside_roots
empty       | -        | fallback               | -             | fallback       | outside_roots
empty       | -        | ceiling saved fallback | replace       | ceiling inner  | outside_roots
empty       | -        | ceiling saved fallback | strict        | -              | no_roots
empty       | -        | -                      | allow-all     | all            | -
empty       | empty    | ceiling                | -             | ceiling inner  | outside_roots
empty       | failed   | ceiling                | -             | ceiling inner  | outside_roots
empty       | ready    | -                      | -             | -              | no_roots
empty       | ready    | ceiling saved fallback | -             | -              | no_roots
empty       | ready    | ceiling saved fallback | replace       | -              | no_roots
empty       | ready    | ceiling saved fallback | union         | -              | no_roots
empty       | ready    | saved fallback         | -             | -              | no_roots
empty       | ready    | -                      | allow-all     | -              | no_roots
empty       | unusable | ceiling saved fallback | -             | -              | no_roots

unusable    | -        | -                      | -             | -              | no_roots
unusable    | -        | ceiling saved fallback | -             | -              | no_roots
unusable    | -        | ceiling saved fallback | replace       | -              | no_roots
unusable    | -        | ceiling saved fallback | union         | -              | no_roots
unusable    | -        | ceiling saved fallback | strict        | -              | no_roots
unusable    | -        | -                      | allow-all     | -              | no_roots
unusable    | -        | ceiling                | ignore-client | ceiling inner  | outside_roots
unusable    | ready    | ceiling saved fallback | -             | -              | no_roots
unusable    | empty    | ceiling saved fallback | -             | -              | no_roots

failed      | -        | -                      | -             | -              | roots_failed
failed      | -        | ceiling saved fallback | -             | ceiling inner  | outside_roots
failed      | -        | saved fallback         | -             | saved          | outside_roots
failed      | -        | fallback               | -             | fallback       | outside_roots
failed      | -        | ceiling saved fallback | strict        | -              | roots_failed
failed      | -        | -                      | allow-all     | all            | -
failed      | empty    | ceiling                | -             | ceiling inner  | outside_roots
failed      | ready    | -                      | -             | -              | roots_failed
failed      | ready    | ceiling saved fallback | -             | -              | roots_failed
failed      | ready    | ceiling saved fallback | union         | -              | roots_failed
failed      | ready    | -                      | allow-all     | -              | roots_failed
failed      | unusable | ceiling saved fallback | -             | -              | roots_failed

silent      | -        | -                      | -             | -              | roots_failed
silent      | -        | ceiling saved fallback | -             | ceiling inner  | outside_roots
silent      | -        | saved fallback         | -             | saved          | outside_roots
silent      | -        | fallback               | -             | fallback       | outside_roots
silent      | -        | ceiling saved fallback | strict        | -              | roots_failed
silent      | -        | -                      | allow-all     | all            | -
silent      | ready    | -                      | -             | -              | roots_failed
silent      | ready    | ceiling saved fallback | -             | -              | roots_failed
silent      | unusable | ceiling saved fallback | -             | -              | roots_failed
";

struct Row<'a> {
    state: &'a str,
    before: Option<&'a str>,
    sources: Vec<&'a str>,
    settings: Vec<&'a str>,
    open: Vec<&'a str>,
    others: &'a str,
}

impl<'a> Row<'a> {
    fn read(line: &'a str) -> Row<'a> {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [state, before, sources, settings, open, others] = columns[..] else { panic!("six columns: `{line}`") };
        let words = |text: &'a str| text.split_whitespace().filter(|word| *word != "-").collect();
        let before = Some(before).filter(|before| *before != "-");
        Row { state, before, sources: words(sources), settings: words(settings), open: words(open), others }
    }

    /// Whether the row expects the place to be open.
    fn opens(&self, place: &str) -> bool {
        let name = place.rsplit('/').next();
        self.open.iter().any(|open| *open == "all" || Some(*open) == name)
    }

    fn settings(&self, top: &TempDir) -> Settings {
        let mut settings = Settings::new(None);
        for word in &self.settings {
            let policy = &mut settings.policy;
            match *word {
                "replace" => policy.mode = Mode::Replace,
                "union" => policy.mode = Mode::Union,
                "strict" => policy.follow = Follow::Strict,
                "ignore-client" => policy.follow = Follow::IgnoreClient,
                "fallback-only" => policy.follow = Follow::FallbackOnly,
                "allow-all" => policy.no_roots = NoRoots::AllowAll,
                other => panic!("no such setting: `{other}`"),
            }
        }
        let set = |name: &str, origin| {
            let named = self.sources.contains(&name).then(|| Root::from_path(top.path().join(name), origin).unwrap());
            RootSet::place_ambient(named, &Validation::new(None))
        };
        settings.sources = Sources {
            ceiling: set("ceiling", Origin::Flag),
            saved: set("saved", Origin::Store),
            fallback: set("fallback", Origin::Fallback),
            bound: None,
        };
        settings
    }
}

/// The client's answer in this state; `None` if it does not answer.
fn answer(state: &str, top: &TempDir) -> Option<Value> {
    let uri = |place: &str| json!({"uri": format!("file://{}", top.path().join(place).display())});
    match state {
        "ready" => Some(json!({"result": {"roots": [uri("client"), uri("ceiling/inner")]}})),
        "elsewhere" => Some(json!({"result": {"roots": [uri("client")]}})),
        "empty" => Some(json!({"result": {"roots": []}})),
        "unusable" => Some(json!({"result": {"roots": [{"uri": "file:///C:/x"}, uri("gone")]}})),
        "failed" => Some(json!({"error": {"code": -32603, "message": "Internal error"}})),
        "pending" | "silent" => None,
        other => panic!("no such state: `{other}`"),
    }
}

/// The client's side of a row.
struct Talk<'a> {
    client: Client,
    top: &'a TempDir,
    asked: bool,
}

impl Talk<'_> {
    fn file(&self, place: &str) -> String {
        self.top.path().join(place).join("file").to_str().unwrap().to_owned()
    }

    /// Reads the file of a place, and answers questions according to the state. `None` means no answer within 5 s.
    async fn read(&mut self, place: &str, state: &str) -> Option<String> {
        self.client.read(place, &self.file(place)).await;
        let mut patience = Duration::from_secs(5);
        loop {
            let message = tokio::time::timeout(patience, self.client.receive()).await.ok();
            let Some(message) = message else {
                if state == "silent" && patience < Duration::from_secs(20) {
                    patience = Duration::from_secs(20);
                    continue;
                }
                return None;
            };
            if message["method"] == "roots/list" {
                self.asked = true;
                if let Some(mut answer) = answer(state, self.top) {
                    answer["jsonrpc"] = json!("2.0");
                    answer["id"] = message["id"].clone();
                    self.client.send(answer).await;
                }
            } else if message["method"] != "notifications/cancelled" {
                assert_eq!(message["id"], place, "{message}");
                return Some(client::said(&message));
            }
        }
    }
}

async fn check(line: &str) -> Result<(), String> {
    let row = Row::read(line);
    let top = tempfile::tempdir().unwrap();
    for place in PLACES {
        std::fs::create_dir_all(top.path().join(place)).unwrap();
        std::fs::write(top.path().join(place).join("file"), place).unwrap();
    }
    let capabilities = if row.state == "unsupported" { json!({}) } else { json!({"roots": {"listChanged": true}}) };
    let handler = RootsService::new(row.settings(&top)).install(Files::new());
    let client = client::start_rooted(handler, capabilities).await;
    let mut talk = Talk { client, top: &top, asked: false };
    if let Some(before) = row.before {
        talk.read("outside", before).await;
        talk.client.list_changed().await;
    }
    talk.asked = false;
    // The first call waits for the client's answer; later calls do not.
    let first = talk.read("outside", row.state).await;
    if row.others == "waits" {
        return match first {
            None if talk.asked => Ok(()),
            other => Err(format!("`outside`: expected the call to wait, got {other:?}")),
        };
    }
    // A call that arrived together with `list_changed` times out just before the question does.
    tokio::time::sleep(Duration::from_secs(1)).await;
    for place in PLACES {
        let said = talk.read(place, row.state).await;
        let expect = if row.opens(place) { place } else { row.others };
        if said.as_deref() != Some(expect) {
            return Err(format!("`{place}`: expected `{expect}`, got {said:?}"));
        }
    }
    Ok(())
}

/// The clock is paused, so that waiting takes no time.
#[tokio::test(start_paused = true)]
async fn every_row_of_the_state_table() {
    let (mut rows, mut failures) = (0, Vec::new());
    for line in TABLE.lines().filter(|line| !line.is_empty()) {
        rows += 1;
        if let Err(says) = check(line).await {
            failures.push(format!("{line}\n    {says}"));
        }
    }
    println!("{rows} rows");
    assert!(rows > 0 && failures.is_empty(), "{} of {rows} rows failed:\n{}", failures.len(), failures.join("\n"));
}
