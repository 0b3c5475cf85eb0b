//! The file server as a door: runs the escape corpus and the races through calls of its tools.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rootward_core::{Origin, Root, RootSet, Shown, Validation};
use rootward_files::{FileServer, Toolset};
use rootward_server::Settings;
use rootward_testkit::client::{DuplexClient, ToolResult};
use rootward_testkit::door::{Door, Failure, Outcome, Request};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::by_name;
use crate::stage::connect;

/// The server under test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Server {
    /// The file server.
    Files,
    /// The control, which opens by name.
    ByName,
}

/// A call of a tool.
pub(crate) type Call = (&'static str, Value);

/// Turns a request into calls. `None` if JSON or these tools cannot express it.
pub(crate) type Calls = Box<dyn Fn(&Request) -> Option<Vec<Call>> + Send + Sync>;

/// A server, and how requests become calls.
pub(crate) struct ToolDoor {
    server: Server,
    calls: Calls,
    lasting: Mutex<Option<(Ground, Session)>>,
}

/// What a session depends on: roots, base, home.
pub(crate) type Ground = (Vec<rootward_testkit::door::Root>, Option<PathBuf>, Option<PathBuf>);

/// A runtime with a server in it, and its client.
struct Session {
    runtime: Runtime,
    client: DuplexClient,
}

impl ToolDoor {
    pub(crate) fn new(
        server: Server,
        calls: impl Fn(&Request) -> Option<Vec<Call>> + Send + Sync + 'static,
    ) -> ToolDoor {
        ToolDoor { server, calls: Box::new(calls), lasting: Mutex::new(None) }
    }
}

impl Door for ToolDoor {
    /// Keeps one session as long as its ground is the same.
    fn act(&self, request: &Request) -> Outcome {
        let Some(calls) = (self.calls)(request) else { return Outcome::Unsupported };
        let mut lasting = self.lasting.lock().unwrap();
        let ground = (request.roots.clone(), request.base.clone(), request.home.clone());
        let mut session = match lasting.take() {
            Some((before, session)) if before == ground => session,
            _ => Session::start(self.server, request),
        };
        let Session { runtime, client } = &mut session;
        let outcomes: Vec<Outcome> = runtime.block_on(async {
            let mut outcomes = Vec::new();
            for (tool, arguments) in calls {
                let answered = client.result(tool, arguments).await;
                outcomes.push(outcome(tool, &answered, request));
            }
            outcomes
        });
        *lasting = Some((ground, session));
        all(outcomes)
    }
}

impl Session {
    fn start(server: Server, request: &Request) -> Session {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            match server {
                Server::Files => {
                    let launcher = Some(env!("CARGO_BIN_EXE_files-stage").into());
                    let confinement = rootward_sandbox::Options { launcher, ..rootward_sandbox::Options::default() };
                    let server = FileServer::default()
                        .with_confinement(confinement)
                        .with_tools(Toolset::ALL.into_iter().collect());
                    connect(settings(request), server, json!({})).await
                }
                Server::ByName => {
                    let request = Arc::new(request.clone());
                    let mut client = DuplexClient::connect(1 << 20, |there| by_name::serve(there, request));
                    client.shake_hands(json!({})).await;
                    client
                }
            }
        });
        Session { runtime, client }
    }
}

/// Settings with the request's roots as the ceiling, in any spelling, checked as roots of a client are.
pub(crate) fn settings(request: &Request) -> Settings {
    let base = request.base.as_deref().unwrap_or(Path::new("/"));
    let roots = request.roots.iter().map(|root| {
        let mut typed = root.path.clone().into_os_string();
        typed.push(":");
        typed.push(root.access);
        Root::from_typed(&typed, base, request.home.as_deref(), Origin::Client).unwrap()
    });
    let mut settings = Settings::new(request.home.clone());
    settings.sources.ceiling = RootSet::place_ambient(roots, &Validation::new(request.home.clone()));
    settings.guard.base = request.base.clone().into();
    settings
}

/// Translates an answer into an outcome of the corpus.
fn outcome(tool: &str, answered: &ToolResult, request: &Request) -> Outcome {
    let shown = shown(answered);
    if answered["isError"] == true {
        return match answered.code() {
            Some(code) => Outcome::denied(code, shown),
            None => Outcome::Failed { kind: kind(&shown), message: shown },
        };
    }
    if tool == "path_in_roots" && answered.data()["inRoots"] == false {
        return Outcome::denied(answered.data()["reason"].as_str().unwrap(), shown);
    }
    // `read_multiple_files` has an answer per path; here there is one path.
    if let Some((_, sentence)) = shown.split_once(": Error - ")
        && tool == "read_multiple_files"
    {
        return if sentence.contains("current roots") || sentence.starts_with("path `") {
            Outcome::denied("one_of_several", sentence)
        } else {
            Outcome::Failed { kind: kind(sentence), message: sentence.to_owned() }
        };
    }
    let entries = match tool {
        "list_directory" => {
            let names = shown.lines().filter_map(|line| line.split_once(' '));
            Some(names.map(|(_, name)| OsString::from(name)).collect())
        }
        // All other text, without the requested paths, which an answer may repeat.
        _ => {
            let asked = [Some(request.path.as_slice()), request.to.as_deref()].into_iter().flatten();
            let texts = asked.filter_map(|asked| str::from_utf8(asked).ok()).filter(|asked| !asked.is_empty());
            let rest = texts.fold(answered.to_string(), |rest, asked| {
                let forms = [asked.to_owned(), Shown::new(asked).to_string()].map(|form| json!(form).to_string());
                forms.iter().fold(rest, |rest, form| rest.replace(form.trim_matches('"'), ""))
            });
            Some(vec![OsString::from(rest)])
        }
    };
    Outcome::Done { content: Some(shown.into_bytes()), entries, place: None }
}

/// Everything that the client sees, decoded.
fn shown(answered: &ToolResult) -> String {
    let blocks = answered["content"].as_array().unwrap().iter();
    let texts = blocks.map(|block| {
        let coded = block["data"].as_str().or_else(|| block["resource"]["blob"].as_str());
        let decoded = coded.map(|coded| String::from_utf8_lossy(&STANDARD.decode(coded).unwrap()).into_owned());
        decoded.unwrap_or_else(|| block["text"].as_str().unwrap_or_default().to_owned())
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn kind(sentence: &str) -> Failure {
    let kinds = [
        ("does not exist", Failure::NotFound),
        ("is not a directory", Failure::NotADirectory),
        ("already exists", Failure::AlreadyExists),
        ("is a directory", Failure::IsADirectory),
        ("is not empty", Failure::NotEmpty),
        ("os error 40", Failure::Loop),
        ("os error 36", Failure::NameTooLong),
        ("does not permit", Failure::PermissionDenied),
        ("into itself", Failure::InvalidInput),
        ("os error 22", Failure::InvalidInput),
    ];
    kinds.into_iter().find(|(says, _)| sentence.contains(says)).map_or(Failure::Other, |(_, kind)| kind)
}

/// Merges several answers: everything that they show; refused only if all are, and with one code only if all have the same.
fn all(mut outcomes: Vec<Outcome>) -> Outcome {
    if outcomes.len() == 1 {
        return outcomes.remove(0);
    }
    let done = outcomes.iter().any(|outcome| matches!(outcome, Outcome::Done { .. }));
    let (mut content, mut names, mut codes, mut messages) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Outcome::Done { content: some, entries, .. } => {
                content.extend(some.unwrap_or_default());
                names.extend(entries.unwrap_or_default());
            }
            Outcome::Denied { code, message } => {
                codes.push(code);
                messages.push(message);
            }
            Outcome::Failed { kind, message } => {
                codes.push(format!("{kind:?}"));
                messages.push(message);
            }
            Outcome::Unsupported => {}
        }
    }
    codes.retain(|code| code != "one_of_several");
    codes.dedup();
    if done {
        content.extend(messages.concat().into_bytes());
        return Outcome::Done { content: Some(content), entries: Some(names), place: None };
    }
    Outcome::denied(&codes.join(" or "), messages.join("\n"))
}
