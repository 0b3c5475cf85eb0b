//! `rootward hub --http`: several principals use one hub, each confined to its own directories.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use rootward_testkit::client::http::{Connection, HttpLine, OwnStream};
use rootward_testkit::client::{Client, Listening, message};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{hub, server};
use crate::place::until;
use crate::wrap::scene::Scene;

const ANA: &str = "ana-ana-ana-ana-ana-ana-ana-ana-ana-ana";
const BEN: &str = "ben-ben-ben-ben-ben-ben-ben-ben-ben-ben";

/// A hub that listens. It is killed when this is dropped.
struct Hub(Listening);

impl Hub {
    /// A hub for `ana`, who may reach `project`, and `ben`, who may read `other`; the second server is only `ben`'s.
    fn start(scene: &Scene, servers: &Value) -> Hub {
        Hub::start_with(scene, servers, &[])
    }

    /// The same with these variables.
    fn start_with(scene: &Scene, servers: &Value, variables: &[(&str, &str)]) -> Hub {
        Hub::start_as(scene, servers, variables, "")
    }

    /// The same with these lines in the settings file.
    fn start_with_settings(scene: &Scene, servers: &Value, more: &str) -> Hub {
        Hub::start_as(scene, servers, &[], more)
    }

    fn start_as(scene: &Scene, servers: &Value, variables: &[(&str, &str)], more: &str) -> Hub {
        for (name, token) in [("ana", ANA), ("ben", BEN)] {
            let file = scene.path(&format!("home/{name}.token"));
            fs::write(&file, token).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        }
        let settings = scene.path("home/.config/rootward");
        fs::create_dir_all(&settings).unwrap();
        let text = format!(
            "[http.principals.ana]\ntoken_file = '~/ana.token'\nroots = ['{}']\nservers = ['a']\n\
             [http.principals.ben]\ntoken_file = '~/ben.token'\nroots = ['{}:ro']\n{more}",
            scene.text("project"),
            scene.text("other"),
        );
        fs::write(settings.join("config.toml"), text).unwrap();
        let mut command = hub(scene, servers, &["--http", "127.0.0.1:0"]);
        Hub(Listening::start(command.envs(variables.iter().copied())).unwrap())
    }

    fn line(&self, token: &str, stream: OwnStream) -> HttpLine {
        HttpLine::new(self.0.endpoint(token), stream)
    }

    /// A client of this principal with these roots, after the handshake.
    fn client(&self, token: &str, stream: OwnStream, roots: &[String]) -> Client<HttpLine> {
        let mut client = Client::over(self.line(token, stream));
        client.name_roots(roots);
        let answer = client.ask("initialize", message::hello(json!({"roots": {"listChanged": true}})));
        assert_eq!(answer["result"]["serverInfo"]["name"], "rootward-hub", "{answer}");
        client.notify("notifications/initialized", ());
        client
    }

    fn number(&self) -> Pid {
        Pid::from_raw(self.0.child.id().try_into().unwrap()).unwrap()
    }

    /// The process that reads from the network.
    fn front(&self) -> Pid {
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.0.child.id())).unwrap();
        Pid::from_raw(children.split_whitespace().next().unwrap().parse().unwrap()).unwrap()
    }
}

fn servers() -> Value {
    json!({"mcpServers": {"a": server(&json!({})), "b": server(&json!({}))}})
}

/// Reads a file. Returns its text, or the code of the refusal.
fn read(client: &mut Client<HttpLine>, tool: &str, path: &std::path::Path) -> String {
    let answer = client.call(tool, json!({"path": path}));
    let (code, text) = (&answer["result"]["structuredContent"]["code"], &answer["result"]["content"][0]["text"]);
    assert!(code.is_string() || text.is_string(), "{answer}");
    code.as_str().or(text.as_str()).unwrap().to_owned()
}

#[test]
fn two_principals_have_their_own_directories_and_servers() {
    let scene = Scene::new();
    let hub = Hub::start(&scene, &servers());
    let everything: Vec<String> = ["project", "other", "outside"].iter().map(|name| scene.uri(name)).collect();
    for stream in [OwnStream::None, OwnStream::Open] {
        // Each client shares everything, but gets only what its ceiling allows.
        let mut ana = hub.client(ANA, stream, &everything);
        let mut ben = hub.client(BEN, stream, &everything);
        assert_eq!(read(&mut ana, "a__read", &scene.path("project/file.txt")), "project");
        assert_eq!(read(&mut ana, "a__read", &scene.path("other/file.txt")), "outside_roots");
        assert_eq!(read(&mut ben, "a__read", &scene.path("other/file.txt")), "other");
        assert_eq!(read(&mut ben, "b__read", &scene.path("project/file.txt")), "outside_roots");
        assert_eq!(read(&mut ben, "a__read", &scene.path("outside/file.txt")), "outside_roots");
        let written = ben.call("a__write_file", json!({"path": scene.path("other/new.txt"), "content": "x"}));
        assert_eq!(written["result"]["structuredContent"]["code"], "access_denied", "{written}");
        // The process itself is confined to the ceiling, whatever the client says.
        assert_eq!(ana.text("a__where", json!({})), scene.text("project"));
        assert_eq!(ben.text("a__where", json!({})), scene.text("other"));
        // A server that is not the principal's is neither listed nor called.
        let listed = ana.ask("tools/list", json!({}))["result"]["tools"].to_string();
        assert!(listed.contains("a__read") && !listed.contains("b__read"), "{listed}");
        let called = ana.call("b__read", json!({"path": scene.path("project/file.txt")}));
        assert!(called["error"]["message"].as_str().is_some_and(|says| says.contains("unknown tool")), "{called}");
        // `get-roots` tells each its own.
        let told = ana.call("get-roots", json!({}))["result"]["structuredContent"].clone();
        assert_eq!(told["filePaths"], json!([scene.text("project")]), "{told}");
        for client in [&mut ana, &mut ben] {
            client.close();
        }
    }
    let recorded = scene.decisions();
    for (principal, place) in [("ana", "project"), ("ben", "other")] {
        let allowed = |line: &&Value| line["principal"] == principal && line["decision"] == "allow";
        assert!(recorded.iter().any(|line| allowed(&line)));
        let root = scene.text(place);
        assert!(recorded.iter().filter(allowed).all(|line| line["root"] == root.as_str()), "{recorded:?}");
    }
}

#[test]
fn a_session_of_another_principal_is_not_found() {
    let scene = Scene::new();
    let hub = Hub::start(&scene, &servers());
    let ana = hub.client(ANA, OwnStream::None, &[scene.uri("project")]);
    let session = ana.line.session().unwrap().to_owned();
    for (token, status) in [(BEN, 404), ("", 401), (ANA, 200)] {
        let headers = ana.line.headers().into_iter().map(|(name, value)| match name.as_str() {
            "authorization" => (name, format!("Bearer {token}")),
            _ => (name, value),
        });
        let headers: Vec<(String, String)> = headers.collect();
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert!(headers.contains(&("mcp-session-id", &session)));
        let ping = message::request(7, "ping", Value::Null).to_string();
        let head = Connection::open(hub.0.address).unwrap().ask("POST", "/mcp", &headers, &ping).unwrap();
        assert_eq!(head.status, status, "{token}");
    }
}

#[test]
fn a_change_of_roots_reaches_the_servers_of_its_session_alone() {
    let scene = Scene::new();
    fs::create_dir(scene.path("project/part")).unwrap();
    fs::write(scene.path("project/part/file.txt"), "part").unwrap();
    let hub = Hub::start(&scene, &servers());
    let mut first = hub.client(ANA, OwnStream::Open, &[scene.uri("project")]);
    let mut second = hub.client(ANA, OwnStream::None, &[scene.uri("project")]);
    for client in [&mut first, &mut second] {
        assert_eq!(read(client, "a__read", &scene.path("project/file.txt")), "project");
    }
    first.share([scene.uri("project/part")]);
    assert_eq!(read(&mut first, "a__read", &scene.path("project/file.txt")), "outside_roots");
    assert_eq!(read(&mut first, "a__read", &scene.path("project/part/file.txt")), "part");
    assert_eq!(read(&mut second, "a__read", &scene.path("project/file.txt")), "project");
}

#[test]
fn a_session_that_ends_ends_its_servers() {
    let scene = Scene::new();
    let hub = Hub::start(&scene, &servers());
    let mut client = hub.client(ANA, OwnStream::None, &[scene.uri("project")]);
    let process: u32 = client.text("a__process", json!({})).parse().unwrap();
    let lives = || fs::exists(format!("/proc/{process}")).unwrap();
    assert!(lives());
    client.close();
    until("its server lives on", || !lives());
}

#[test]
fn a_signal_ends_the_hub_and_its_servers() {
    let scene = Scene::new();
    let mut hub = Hub::start(&scene, &servers());
    let mut client = hub.client(ANA, OwnStream::None, &[scene.uri("project")]);
    let process: u32 = client.text("a__process", json!({})).parse().unwrap();
    kill_process(hub.number(), Signal::TERM).unwrap();
    assert_eq!(hub.0.child.wait().unwrap().code(), Some(0));
    until("its server lives on", || !fs::exists(format!("/proc/{process}")).unwrap());
    assert!(Connection::open(hub.0.address).is_err());
}

#[test]
fn a_hub_does_not_outlive_its_front() {
    let scene = Scene::new();
    let mut hub = Hub::start(&scene, &servers());
    kill_process(hub.front(), Signal::KILL).unwrap();
    assert_eq!(hub.0.child.wait().unwrap().code(), Some(2));
    until("it does not say why", || hub.0.said().contains("the process that reads from the network has ended"));
}

#[test]
fn the_process_that_reads_from_the_network_has_no_rights() {
    let scene = Scene::new();
    let hub = Hub::start(&scene, &servers());
    let front = hub.front().as_raw_nonzero();
    let status = fs::read_to_string(format!("/proc/{front}/status")).unwrap();
    let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    assert_eq!((line("NoNewPrivs:").as_str(), line("CapEff:").as_str()), ("1", "0000000000000000"), "{status}");
    assert!(fs::read(format!("/proc/{front}/environ")).unwrap().is_empty());
    // It has no open file: only sockets, pipes, and what the runtime polls with.
    for open in fs::read_dir(format!("/proc/{front}/fd")).unwrap().flatten() {
        let what = fs::read_link(open.path()).unwrap_or_default();
        let what = what.to_str().unwrap_or_default();
        let is_plain = ["socket:", "pipe:", "anon_inode:", "/dev/null"].iter().any(|kind| what.starts_with(kind));
        assert!(is_plain, "{what}");
    }
}

#[test]
fn a_log_names_the_trace_of_each_request() {
    let scene = Scene::new();
    let hub = Hub::start_with(&scene, &servers(), &[("ROOTWARD_LOG", "info")]);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let headers = [("traceparent", &*format!("00-{trace}-00f067aa0ba902b7-01"))];
    assert_eq!(Connection::open(hub.0.address).unwrap().ask("GET", "/healthz", &headers, "").unwrap().status, 200);
    until("the trace is not logged", || hub.0.said().contains(trace));
    let mut refused = self::hub(&scene, &servers(), &["--http", "127.0.0.1:0"]);
    let refused = refused.env("ROOTWARD_LOG", "a=b=c").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("`ROOTWARD_LOG` is not a usable filter"));
}

#[test]
fn figures_of_the_hub_and_of_its_front() {
    let scene = Scene::new();
    let hub = Hub::start(&scene, &servers());
    let mut client = hub.client(ANA, OwnStream::None, &[scene.uri("project")]);
    assert_eq!(read(&mut client, "a__read", &scene.path("project/file.txt")), "project");
    assert_eq!(read(&mut client, "a__read", &scene.path("other/file.txt")), "outside_roots");
    let bearer = format!("Bearer {ANA}");
    let mut connection = Connection::open(hub.0.address).unwrap();
    let head = connection.ask("GET", "/metrics", &[("authorization", &bearer)], "").unwrap();
    let told = connection.body().unwrap();
    assert_eq!(head.status, 200, "{told}");
    for line in [
        "rootward_http_sessions 1",
        "rootward_hub_clients 1",
        "rootward_children{server=\"a\"} 1",
        "rootward_decisions_total{decision=\"deny\",code=\"outside_roots\"} 1",
    ] {
        assert!(told.lines().any(|told| told == line), "{line}: {told}");
    }
    for path in ["/healthz", "/readyz"] {
        assert_eq!(Connection::open(hub.0.address).unwrap().ask("GET", path, &[], "").unwrap().status, 200, "{path}");
    }
    assert_eq!(Connection::open(hub.0.address).unwrap().ask("GET", "/metrics", &[], "").unwrap().status, 401);
}

/// The hub has its own limit. Clients get the same error as for the limit of the front.
#[test]
fn a_hub_that_is_full_says_so() {
    let scene = Scene::new();
    let mut config = servers();
    config["rootward"] = json!({"limits": {"sessions": 1}});
    let hub = Hub::start(&scene, &config);
    let first = hub.client(ANA, OwnStream::None, &[scene.uri("project")]);
    let bearer = format!("Bearer {BEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let hello = message::request(1, "initialize", message::hello(json!({}))).to_string();
    let ask = || {
        let mut connection = Connection::open(hub.0.address).unwrap();
        let head = connection.ask("POST", "/mcp", &headers, &hello).unwrap();
        (head.status, head.headers.contains_key("retry-after"), connection.body().unwrap())
    };
    for _ in 0..20 {
        let (status, says_when, body) = ask();
        assert_eq!((status, says_when), (503, true), "{body}");
        assert!(body.contains("too many sessions are open"), "{body}");
    }
    let (gone, _) = first.line.request("DELETE", "").unwrap();
    assert_eq!(gone.status, 204);
    until("there is no room again", || ask().0 == 200);
}

#[test]
fn limits_of_the_front_are_settings() {
    let scene = Scene::new();
    let hub = Hub::start_with_settings(&scene, &servers(), "[http.limits]\nsessions_per_principal = 1\n");
    let _first = hub.client(ANA, OwnStream::None, &[scene.uri("project")]);
    let hello = message::request(1, "initialize", message::hello(json!({}))).to_string();
    assert_eq!(hub.line(ANA, OwnStream::None).request("POST", &hello).unwrap().0.status, 503);
    assert_eq!(hub.line(BEN, OwnStream::None).request("POST", &hello).unwrap().0.status, 200);
}
