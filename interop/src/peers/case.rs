//! One case: starts a client with its script. The client must end in time and print the expected lines.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use rootward_testkit::client::Listening;
use serde_json::{Value, json};

use crate::listening::{self, TOKEN};
use taskkit::wait::ended_within;

use super::OF_FILES;
use super::situation::{DIRECTORIES, Situation};
use super::step::{Era, STAGE, fits};

/// A client that runs longer is stuck.
const LONGEST: Duration = Duration::from_secs(90);

/// How long a server waits for roots: far longer than it needs to answer other requests meanwhile.
const ROOTS_TIMEOUT_MS: &str = "3000";

/// How many seconds a client waits for a call. If a modern client never answers for its roots, only its own timeout ends the call.
fn patience(era: Era) -> u64 {
    match era {
        Era::Legacy | Era::FallsBack => 60,
        Era::Modern => 1,
    }
}

/// How a client reaches its server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Route {
    Stdio,
    /// With the GET stream, on which the server may send requests at any time.
    Http,
    /// Without that stream: the server can send requests only while it answers a call.
    HttpWithoutStream,
    /// The server of [`Route::Stdio`] behind `rootward wrap`.
    Wrapped,
    /// A third-party file server behind `rootward wrap`. It supports only the legacy era.
    WrappedFiles,
    /// `rootward serve`.
    Serve,
    /// `rootward serve --http`.
    ServeHttp,
    /// The same for a client without the GET stream.
    ServeHttpWithoutStream,
    /// The server of [`Route::Stdio`] behind `rootward hub --http`.
    HubHttp,
    /// The same for a client without the GET stream.
    HubHttpWithoutStream,
}

impl Route {
    /// Whether the route goes through `rootward wrap`.
    fn is_wrapped(self) -> bool {
        matches!(self, Route::Wrapped | Route::WrappedFiles)
    }

    /// Whether the route goes through Rootward's own HTTP front, which is started for each case.
    pub(crate) fn is_listening(self) -> bool {
        matches!(self, Route::ServeHttp | Route::ServeHttpWithoutStream | Route::HubHttp | Route::HubHttpWithoutStream)
    }

    fn is_hub(self) -> bool {
        matches!(self, Route::HubHttp | Route::HubHttpWithoutStream)
    }

    /// Whether the client has no GET stream.
    fn is_without_stream(self) -> bool {
        matches!(self, Route::HttpWithoutStream | Route::ServeHttpWithoutStream | Route::HubHttpWithoutStream)
    }

    /// The server's tool that reads a file.
    fn tool(self) -> &'static str {
        match self {
            Route::WrappedFiles | Route::Serve | Route::ServeHttp | Route::ServeHttpWithoutStream => "read_text_file",
            _ => "read_file",
        }
    }
}

/// Rootward, and the file server that runs behind `rootward wrap`.
#[derive(Debug)]
pub(crate) struct Wrap {
    pub(crate) rootward: PathBuf,
    /// The command of the file server.
    pub(crate) files: [PathBuf; 2],
}

/// The servers that clients connect to.
#[derive(Debug)]
pub(crate) struct Servers {
    stdio: PathBuf,
    wrap: Wrap,
    http: Listening,
}

impl Servers {
    /// Starts the HTTP server. Each client starts the stdio server itself.
    pub(crate) fn start(stdio: PathBuf, http: &Path, wrap: Wrap) -> Result<Servers> {
        let mut command = Command::new(http);
        command.arg("127.0.0.1:0").env("ROOTWARD_ROOTS_TIMEOUT_MS", ROOTS_TIMEOUT_MS);
        Ok(Servers { stdio, wrap, http: Listening::start(&mut command)? })
    }

    /// The program or the URL of the server, as the argument of a client.
    pub(crate) fn address(&self, route: Route) -> String {
        match route {
            Route::Http | Route::HttpWithoutStream => self.http.url.clone(),
            _ => self.stdio.display().to_string(),
        }
    }

    /// Starts the HTTP front of this route with the directories `served`, or with `place` if there are none.
    fn listen(&self, route: Route, served: &[String], place: &str, state: &Path) -> Result<Listening> {
        // A network client is always limited to directories. If a case names none, strict mode uses only the client's roots.
        let strict = if served.is_empty() { "on" } else { "off" };
        let served = if served.is_empty() { &[place.to_owned()] } else { served };
        let words = match route {
            Route::HubHttp | Route::HubHttpWithoutStream => {
                let file = state.join("servers.json");
                let servers = json!({"server": {"command": self.stdio.display().to_string()}});
                fs::write(&file, json!({"mcpServers": servers, "rootward": {"prefix": "never"}}).to_string())?;
                let config = ["hub".to_owned(), "--config".to_owned(), file.display().to_string()];
                let roots = served.iter().flat_map(|served| ["--root".to_owned(), served.clone()]);
                config.into_iter().chain(roots).collect::<Vec<_>>()
            }
            _ => [&["serve".to_owned()], served].concat(),
        };
        let variables = [("ROOTWARD_STRICT", strict), ("ROOTWARD_ROOTS_TIMEOUT_MS", ROOTS_TIMEOUT_MS)];
        listening::start(&self.wrap.rootward, &words, state, &variables)
    }

    /// How a client reaches the server. `served` are the directories for `rootward serve`; Rootward keeps its state in `state`.
    fn script(&self, route: Route, served: &[String], state: &Path) -> Value {
        let rootward = |words: &[String]| {
            json!({
                "command": self.wrap.rootward.display().to_string(),
                "arguments": words,
                "environment": {
                    "ROOTWARD_ROOTS_TIMEOUT_MS": ROOTS_TIMEOUT_MS,
                    "XDG_STATE_HOME": state.display().to_string(),
                    "XDG_CONFIG_HOME": state.display().to_string(),
                },
            })
        };
        let wrapped = |command: &[&PathBuf]| {
            let command = command.iter().map(|word| word.display().to_string());
            rootward(&["wrap".into(), "--".into()].into_iter().chain(command).collect::<Vec<String>>())
        };
        match route {
            Route::Serve => rootward(&[&["serve".to_owned()], served].concat()),
            Route::Stdio => json!({
                "command": self.stdio.display().to_string(),
                "arguments": [],
                "environment": {"ROOTWARD_ROOTS_TIMEOUT_MS": ROOTS_TIMEOUT_MS},
            }),
            Route::Wrapped => wrapped(&[&self.stdio]),
            Route::WrappedFiles => wrapped(&[&self.wrap.files[0], &self.wrap.files[1]]),
            _ => json!({"url": self.http.url, "stream": if route.is_without_stream() { "none" } else { "standing" }}),
        }
    }
}

/// The directories that clients share, and one that they do not.
#[derive(Debug)]
pub(crate) struct Stage(tempfile::TempDir);

impl Stage {
    pub(crate) fn new() -> Result<Stage> {
        let stage = tempfile::tempdir().context("cannot create a temporary directory")?;
        for name in DIRECTORIES {
            fs::create_dir(stage.path().join(name))?;
            fs::write(stage.path().join(name).join("file"), name)?;
        }
        Ok(Stage(stage))
    }

    pub(crate) fn path(&self, below: &str) -> String {
        self.0.path().join(below).display().to_string()
    }
}

/// Runs a client through a situation.
pub(crate) fn play(
    client: impl Fn() -> Command,
    servers: &Servers,
    route: Route,
    era: Era,
    situation: &Situation,
    stage: &Stage,
) -> Result<()> {
    let memory = tempfile::tempdir()?;
    let place = stage.path("");
    let place = place.trim_end_matches('/');
    let mut script = situation.script(era, place);
    let served: Vec<String> = situation.served.iter().map(|directory| stage.path(directory)).collect();
    script["server"] = servers.script(route, &served, memory.path());
    let listen = || servers.listen(route, &served, place, memory.path());
    let listening = route.is_listening().then(listen).transpose()?;
    if let Some(listening) = &listening {
        script["server"]["url"] = json!(listening.url);
        script["server"]["token"] = json!(TOKEN);
    }
    script["patience"] = json!(patience(era));
    script["tool"] = json!(route.tool());
    // The first run has no remembered handshake. If a handshake matters here, a second run uses it.
    let again = route.is_wrapped() && OF_FILES.contains(&situation.name);
    let times: &[&str] = if again { &["the first time", "the second time"] } else { &["the client"] };
    for time in times {
        let printed = printed(client().arg(script.to_string())).with_context(|| (*time).to_owned())?;
        let printed = printed.replace(place, STAGE);
        judge(&printed, situation, era, route)
            .map_err(|error| anyhow!("{time}: {error}; the client printed\n{}", printed.trim_end()))?;
    }
    Ok(())
}

fn judge(printed: &str, situation: &Situation, era: Era, route: Route) -> Result<()> {
    let lines: Vec<Value> = printed.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let Some((end, seen)) = lines.split_last() else { bail!("the client did nothing") };
    let expected = situation.expected(era);
    for (position, line) in expected.iter().enumerate() {
        match seen.get(position) {
            Some(seen) if fits(seen, line) => {}
            Some(seen) => bail!("{seen} instead of {line}"),
            None => bail!("the client ended before {line}"),
        }
    }
    if let Some(more) = seen.get(expected.len()) {
        bail!("unexpected {more} at the end");
    }
    let count = |name: &str| end[name].as_u64().with_context(|| format!("no `{name}` at the end"));
    let asked = count("asked")?;
    // The hub asks once for itself, and again for each of its servers.
    let is_enough = route.is_hub() && asked > 0 && situation.is_asked();
    if !is_enough && !situation.was_asked_as_expected(era, asked) {
        bail!("the client was asked for its roots {asked} times");
    }
    // If the client got its stream anyway, the case would prove nothing.
    if (count("streams_refused")? > 0) != route.is_without_stream() {
        bail!("the server refused the stream of a client that should have one, or accepted one that it should refuse");
    }
    Ok(())
}

/// Runs a client to its end. Returns what it printed.
pub(crate) fn printed(client: &mut Command) -> Result<String> {
    printed_within(client, LONGEST)
}

/// The same with another timeout.
pub(crate) fn printed_within(client: &mut Command, longest: Duration) -> Result<String> {
    // Files instead of pipes: nothing has to read while the client writes.
    let directory = tempfile::tempdir()?;
    let (output, errors) = (directory.path().join("output"), directory.path().join("errors"));
    client.stdin(Stdio::null()).stdout(File::create(&output)?).stderr(File::create(&errors)?);
    let mut child = client.spawn().with_context(|| format!("cannot run `{}`", client.get_program().display()))?;
    // If the client is killed, the server that it started sees the end of its standard input and ends, too.
    let status = ended_within(&mut child, longest)?;
    let said = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let printed = said(&output)?;
    match status {
        Some(status) if status.success() => Ok(printed),
        Some(status) => bail!("the client ended with {status}; it printed\n{printed}{}", said(&errors)?.trim_end()),
        None => {
            let errors = said(&errors)?;
            bail!("the client ran longer than {} s; it printed\n{printed}{}", longest.as_secs(), errors.trim_end())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::situation::SITUATIONS;
    use super::*;

    #[test]
    fn a_client_must_print_each_expected_line_and_no_others() {
        let situation = SITUATIONS.iter().find(|situation| situation.name == "all removed").unwrap();
        let check = |lines: &[&str], route: Route, fault: Option<&str>| {
            let error = judge(&lines.join("\n"), situation, Era::Legacy, route).err().map(|error| error.to_string());
            match (&error, fault) {
                (None, None) => {}
                (Some(error), Some(fault)) => assert!(error.contains(fault), "{error}"),
                _ => panic!("{error:?}"),
            }
        };
        let [version, text, code] = [r#"{"version":"2025-11-25"}"#, r#"{"text":"first"}"#, r#"{"code":"no_roots"}"#];
        let end = r#"{"asked":2,"streams_refused":0}"#;
        check(&[version, text, code, end], Route::Stdio, None);
        check(&[version, text, code, end], Route::HttpWithoutStream, Some("stream"));
        check(&[version, text, code, r#"{"asked":2,"streams_refused":1}"#], Route::Http, Some("stream"));
        check(&[version, text, code, r#"{"asked":2,"streams_refused":1}"#], Route::HttpWithoutStream, None);
        check(&[version, text, text, end], Route::Stdio, Some("instead of"));
        check(&[version, text, end], Route::Stdio, Some("ended before"));
        check(&[version, text, code, code, end], Route::Stdio, Some("at the end"));
        check(&[version, text, code], Route::Stdio, Some("ended before"));
        check(&[version, text, code, r#"{"asked":1,"streams_refused":0}"#], Route::Stdio, Some("1 times"));
        check(&[version, text, code, r#"{"asked":2}"#], Route::Stdio, Some("streams_refused"));
        check(&[], Route::Stdio, Some("nothing"));
    }

    #[test]
    fn a_client_that_fails_is_an_error() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        assert_eq!(printed(&mut shell("echo out; echo err >&2")).unwrap(), "out\n");
        let error = printed(&mut shell("echo out; echo err >&2; exit 3")).unwrap_err().to_string();
        assert!(error.contains('3') && error.contains("out") && error.contains("err"), "{error}");
    }
}
