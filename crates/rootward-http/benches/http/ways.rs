//! How a server is reached: directly on pipes, over HTTP through `rootward hub`, or through another gateway. Also
//! `rootward serve`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use rootward_testkit::bench::client::Client;
use rootward_testkit::bench::echo;
use rootward_testkit::bench::http::Session;
use rootward_testkit::bench::listening::{Listening, free_port};
use rootward_testkit::bench::peers::rootward;

use crate::Outcome;
use crate::peers::Peer;

/// The content of the only file.
pub(crate) const CONTENT: &str = "hello from a file";

/// The directories of a run, and the binary.
#[derive(Debug)]
pub(crate) struct Ways {
    binary: PathBuf,
    server: String,
    home: PathBuf,
    root: PathBuf,
    top: PathBuf,
}

/// A listening server, and its names for the tools of the echo server.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) listening: Listening,
    prefix: &'static str,
    root: PathBuf,
}

impl Way {
    /// Begins a session.
    pub(crate) fn begin(&self) -> Outcome<Session> {
        self.listening.begin(&self.root)
    }

    /// The parameters of a call.
    pub(crate) fn named(&self, call: &Call) -> String {
        let Call { tool, arguments, .. } = call;
        format!(r#"{{"name":"{}{tool}","arguments":{arguments}}}"#, self.prefix)
    }
}

/// Which sessions of a hub share a process of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Isolation {
    /// None, which is the default.
    Session,
    /// Those with the same roots: here, all.
    Roots,
}

/// A call, and a text that its answer must contain.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) what: &'static str,
    tool: &'static str,
    arguments: String,
    pub(crate) expected: String,
}

impl Call {
    /// Its parameters under the tool's own name.
    pub(crate) fn direct(&self) -> String {
        format!(r#"{{"name":"{}","arguments":{}}}"#, self.tool, self.arguments)
    }
}

impl Ways {
    /// Creates a root with a file in it, and a home for the audit log and caches.
    pub(crate) fn new(top: &Path) -> Outcome<Ways> {
        let (home, root) = (top.join("home"), top.join("root"));
        std::fs::create_dir(&home)?;
        std::fs::create_dir(&root)?;
        let server = std::env::current_exe()?.to_str().ok_or("the path of this program is not UTF-8")?.to_owned();
        let ways = Ways { binary: rootward()?, server, home, root, top: top.to_owned() };
        std::fs::write(ways.file(), CONTENT)?;
        Ok(ways)
    }

    /// The file in the root.
    fn file(&self) -> PathBuf {
        self.root.join("file.txt")
    }

    /// The calls of the echo server: one without a path, and one with a path, which is checked and audited.
    pub(crate) fn calls(&self) -> [Call; 2] {
        let file = self.file().display().to_string();
        [
            Call {
                what: "a call without a path",
                tool: "echo",
                arguments: r#"{"text":"hello"}"#.to_owned(),
                expected: "hello".to_owned(),
            },
            Call {
                what: "a call with a path",
                tool: "look",
                arguments: format!(r#"{{"path":"{file}"}}"#),
                expected: file,
            },
        ]
    }

    /// A call of the file server that reads the file.
    pub(crate) fn reading(&self) -> Call {
        Call {
            what: "reading a small file",
            tool: "read_text_file",
            arguments: format!(r#"{{"path":"{}"}}"#, self.file().display()),
            expected: CONTENT.to_owned(),
        }
    }

    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", &self.home).env("RUST_LOG", "off");
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command
    }

    /// The server alone, on pipes.
    pub(crate) fn direct(&self) -> Outcome<Client> {
        Client::begin(self.command(&self.server).arg(echo::SERVE), &self.root)
    }

    /// Behind `rootward hub --http` with default settings: confined, audited, roots from the client.
    pub(crate) fn hub(&self, isolation: Isolation) -> Outcome<Way> {
        let isolation = match isolation {
            Isolation::Session => "session",
            Isolation::Roots => "roots",
        };
        let config = self.top.join(format!("servers-{isolation}.json"));
        let server = serde_json::json!({
            "command": self.server, "args": [echo::SERVE], "rootward": {"isolation": isolation},
        });
        std::fs::write(&config, serde_json::json!({"mcpServers": {"s": server}}).to_string())?;
        let mut command = self.command(&self.binary);
        command.args(["hub", "--http", "127.0.0.1:0", "--config"]).arg(config).arg("--root").arg(&self.root);
        self.own(&mut command, "s__")
    }

    /// `rootward serve --http`.
    pub(crate) fn serve(&self) -> Outcome<Way> {
        let mut command = self.command(&self.binary);
        command.args(["serve", "--http", "127.0.0.1:0"]).arg(&self.root);
        self.own(&mut command, "")
    }

    fn own(&self, command: &mut Command, prefix: &'static str) -> Outcome<Way> {
        let listening = Listening::rootward(command, &self.top.join("rootward.log"))?;
        Ok(Way { listening, prefix, root: self.root.clone() })
    }

    /// Behind another gateway, with logging off.
    pub(crate) fn peer(&self, peer: Peer) -> Outcome<Way> {
        let (program, address) = (peer.program()?, free_port()?);
        let Ways { server, .. } = self;
        let (mut command, path, prefix) = match peer {
            Peer::Proxy => {
                let config = self.top.join("proxy.toml");
                let text = format!(
                    "[proxy]\nname = \"bench\"\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = {}\n[observability]\nlog_level = \"off\"\n\
                     [[backends]]\nname = \"s\"\ntransport = \"stdio\"\ncommand = {server:?}\nargs = [{:?}]\n",
                    address.port(),
                    echo::SERVE
                );
                std::fs::write(&config, text)?;
                let mut command = self.command(program);
                command.arg("--config").arg(config);
                (command, "/", "s/")
            }
            Peer::Gateway => {
                let mut command = self.command("node");
                command.arg(program).args(["--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none"]);
                command.arg("--port").arg(address.port().to_string());
                // Its command line passes through a shell.
                command.arg("--stdio").arg(format!("'{server}' {}", echo::SERVE));
                (command, "/mcp", "")
            }
        };
        let listening = Listening::at(&mut command, address, path)?;
        Ok(Way { listening, prefix, root: self.root.clone() })
    }
}
