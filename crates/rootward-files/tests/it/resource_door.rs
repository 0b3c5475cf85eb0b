//! The escape corpus and the races, run through resources, completion and prompts.

use std::ffi::OsString;
use std::sync::Mutex;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rootward_core::Shown;
use rootward_files::{FileServer, Listing};
use rootward_testkit::client::DuplexClient;
use rootward_testkit::door::{Door, Outcome, Request};
use rootward_testkit::escape::{Act, Expect, Row, table};
use rootward_testkit::race::{self, Race, Swap};
use rootward_testkit::report;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::door::{Ground, settings};
use crate::stage::connect;

/// Which requests the door sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    /// Reads a resource, and subscribes to it.
    Resource,
    Completion,
    Prompt,
    /// Lists all files, whatever the row's path is.
    List,
}

struct ResourceDoor {
    by: By,
    lasting: Mutex<Option<(Ground, Runtime, DuplexClient)>>,
}

impl ResourceDoor {
    fn new(by: By) -> ResourceDoor {
        ResourceDoor { by, lasting: Mutex::new(None) }
    }

    /// Requests with the path as it is, and as a URI.
    fn requests(&self, request: &Request, path: &str) -> Vec<(&'static str, Value)> {
        let absolute = match (path.strip_prefix('/'), request.roots.first()) {
            (None, Some(root)) => format!("{}/{path}", root.path.display()),
            _ => path.to_owned(),
        };
        let bytes = absolute.bytes().map(|byte| match byte {
            b'/' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
            _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        });
        let uri = format!("file://{}", bytes.collect::<String>());
        let complete = |reference: Value, value: &str| {
            ("completion/complete", json!({"ref": reference, "argument": {"name": "path", "value": value}}))
        };
        let prompt = json!({"type": "ref/prompt", "name": "review_change"});
        let template = json!({"type": "ref/resource", "uri": "file:///{+path}"});
        let below = |uri: &str| uri.strip_prefix("file:///").unwrap_or(uri).to_owned();
        match self.by {
            By::Resource => vec![
                ("resources/read", json!({"uri": path})),
                ("resources/read", json!({"uri": uri})),
                ("resources/subscribe", json!({"uri": path})),
                ("resources/subscribe", json!({"uri": uri})),
                ("resources/unsubscribe", json!({"uri": uri})),
                ("resources/unsubscribe", json!({"uri": path})),
            ],
            By::Completion => vec![
                complete(prompt.clone(), path),
                complete(prompt, &format!("{path}/")),
                complete(template.clone(), &below(&uri)),
                complete(template, &format!("{}/", below(&uri))),
            ],
            By::Prompt => ["summarize_project", "review_change"]
                .into_iter()
                .map(|name| ("prompts/get", json!({"name": name, "arguments": {"path": path}})))
                .collect(),
            By::List => vec![("resources/list", json!({}))],
        }
    }
}

impl Door for ResourceDoor {
    fn act(&self, request: &Request) -> Outcome {
        let Ok(path) = String::from_utf8(request.path.clone()) else { return Outcome::Unsupported };
        let ground = (request.roots.clone(), request.base.clone(), request.home.clone());
        let mut lasting = self.lasting.lock().unwrap();
        let (runtime, mut client) = match lasting.take() {
            Some((before, runtime, client)) if before == ground => (runtime, client),
            _ => {
                let runtime = Builder::new_current_thread().enable_all().build().unwrap();
                let server = FileServer::default().with_listing(Listing::All);
                let client = runtime.block_on(connect(settings(request), server, json!({})));
                (runtime, client)
            }
        };
        let answers: Vec<Value> = runtime.block_on(async {
            let mut answers = Vec::new();
            for (method, params) in self.requests(request, &path) {
                let answer = client.ask(method, params).await;
                // Unsubscribing only makes room for the next subscription; its answer does not matter.
                if method != "resources/unsubscribe" {
                    answers.push(answer);
                }
            }
            answers
        });
        *lasting = Some((ground, runtime, client));
        outcome(&answers, &path)
    }
}

/// Merges the answers: done if any of them is, with everything that they show.
fn outcome(answers: &[Value], path: &str) -> Outcome {
    let mut shown = String::new();
    let mut errors = String::new();
    for answer in answers {
        if let Some(error) = answer.get("error") {
            errors.push_str(&error["message"].to_string());
            continue;
        }
        // The answer may repeat the requested path.
        let forms = [path.to_owned(), Shown::new(path).to_string()].map(|form| json!(form).to_string());
        let result = answer["result"].to_string();
        let forms = forms.iter().map(|form| form.trim_matches('"')).filter(|form| !form.is_empty());
        shown.push_str(&forms.fold(result, |rest, form| rest.replace(form, "")));
        for contents in answer["result"]["contents"].as_array().into_iter().flatten() {
            let blob = contents["blob"].as_str().map(|blob| STANDARD.decode(blob).unwrap());
            shown.push_str(&String::from_utf8_lossy(&blob.unwrap_or_default()));
        }
    }
    let nothing =
        |answer: &Value| answer.get("error").is_some() || answer["result"]["completion"]["values"] == json!([]);
    if answers.iter().all(nothing) {
        return Outcome::denied("refused", errors);
    }
    Outcome::Done { content: Some(shown.clone().into_bytes()), entries: Some(vec![OsString::from(shown)]), place: None }
}

/// Rows whose root contains a file with the name of one outside.
const SECRET_INSIDE: [&str; 3] = ["root-with-blank", "alias-dotdot", "alias-dotdot-text"];

/// Every row that a read refuses is refused here, and none shows anything outside. The names of special files may be shown.
fn passes_the_corpus(by: By) {
    let rows: Vec<Row> = table()
        .filter(|row| by != By::List || !SECRET_INSIDE.contains(&row.name))
        .map(|row| {
            // An empty prompt argument counts as absent, and an empty path below a root is the root's own URI.
            let owed = (by == By::Resource || by == By::Prompt) && !row.path.is_empty();
            let reads = matches!(row.act, Act::Check | Act::Read | Act::List | Act::Stat);
            let expect = match row.expect {
                Expect::Deny { code } if owed && reads && code != "special_file" => Expect::Refused,
                _ => Expect::Harmless,
            };
            Row { expect, ..*row }
        })
        .collect();
    assert!(rows.len() > 300);
    report::run(&ResourceDoor::new(by), rows.iter()).assert_clean();
}

#[test]
fn resources_pass_the_escape_corpus() {
    passes_the_corpus(By::Resource);
}

#[test]
fn completion_passes_the_escape_corpus() {
    passes_the_corpus(By::Completion);
}

#[test]
fn prompts_pass_the_escape_corpus() {
    passes_the_corpus(By::Prompt);
}

#[test]
fn the_list_passes_the_escape_corpus() {
    passes_the_corpus(By::List);
}

/// The control is in the tests of the tools: the same swaps lead a server outside that opens by name.
#[test]
fn no_resource_leads_outside_while_directories_and_links_are_swapped() {
    for by in [By::Resource, By::Completion, By::List] {
        // That race needs `..`, which a URI cannot have.
        let races = Race::ALL.into_iter().filter(|race| by != By::Resource || race.swap != Swap::ParentAway);
        for race in races {
            let report = race.run(&ResourceDoor::new(by), race::attempts() / 128).unwrap();
            assert_eq!(report.escapes, 0, "{by:?} {race:?}: {report}");
            assert!(report.swaps > 0 && report.allowed > 0, "{by:?} {race:?}: {report}");
        }
    }
}
