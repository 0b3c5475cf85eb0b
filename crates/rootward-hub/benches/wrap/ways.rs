//! What may be between client and server: nothing, `rootward wrap`, `rootward hub`, or another hub.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::{Outcome, peers};
use rootward_testkit::bench::client::Client;
use rootward_testkit::bench::echo;
use rootward_testkit::bench::peers::rootward;

/// The directories of a run, and the binary.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    binary: PathBuf,
    server: Vec<OsString>,
    home: PathBuf,
    root: PathBuf,
    /// For configurations.
    top: PathBuf,
}

/// A command line, and the root that its client shares.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    line: Vec<OsString>,
    home: PathBuf,
    root: PathBuf,
}

impl Ways {
    /// Creates a root with a file in it, and a home for the audit log and caches.
    pub(crate) fn new(top: &Path) -> Outcome<Ways> {
        let (home, root) = (top.join("home"), top.join("root"));
        std::fs::create_dir(&home)?;
        std::fs::create_dir(&root)?;
        let ways = Ways {
            binary: rootward()?,
            server: vec![std::env::current_exe()?.into(), echo::SERVE.into()],
            home,
            root,
            top: top.to_owned(),
        };
        std::fs::write(ways.file(), "")?;
        Ok(ways)
    }

    /// The same with a server in Node, which logs a lot.
    pub(crate) fn of_node(&self) -> Ways {
        Ways { server: ["node", "-e", echo::NODE].map(OsString::from).to_vec(), ..self.clone() }
    }

    /// The file in the root.
    pub(crate) fn file(&self) -> PathBuf {
        self.root.join("file.txt")
    }

    fn way(&self, before: &[OsString]) -> Way {
        let line = before.iter().chain(&self.server).cloned().collect();
        Way { line, home: self.home.clone(), root: self.root.clone() }
    }

    /// The server alone.
    pub(crate) fn direct(&self) -> Way {
        self.way(&[])
    }

    /// Behind `rootward wrap` with default settings: confined, audited, roots from the client.
    pub(crate) fn wrap(&self) -> Way {
        self.way(&[self.binary.clone().into(), "wrap".into(), "--".into()])
    }

    /// Behind the `wrap` of another binary, named by `ROOTWARD_BEFORE`: to see the cost of a change.
    pub(crate) fn before(&self) -> Option<Way> {
        let binary = std::env::var_os("ROOTWARD_BEFORE")?;
        Some(self.way(&[binary, "wrap".into(), "--".into()]))
    }

    /// Like [`Ways::wrap`], with a root on the command line.
    pub(crate) fn wrap_with_root(&self) -> Way {
        self.way(&[self.binary.clone().into(), "wrap".into(), self.root.clone().into(), "--".into()])
    }

    /// Behind `rootward hub` with this many servers of this kind, called `s0`, `s1` and so on.
    pub(crate) fn own_hub(&self, count: usize) -> Outcome<Way> {
        let words: Vec<String> = self.server.iter().map(|word| word.display().to_string()).collect();
        let (server, arguments) = words.split_first().ok_or("no server")?;
        let servers = (0..count).map(|number| {
            // A different argument each, so that each has its own cache.
            let arguments = [arguments, &[format!("--number={number}")]].concat();
            (format!("s{number}"), serde_json::json!({"command": server, "args": arguments}))
        });
        let servers: serde_json::Map<_, _> = servers.collect();
        let file = self.top.join(format!("servers-{count}.json"));
        std::fs::write(&file, serde_json::json!({"mcpServers": servers}).to_string())?;
        let line = vec![self.binary.clone().into(), "hub".into(), "--config".into(), file.into()];
        Ok(Way { line, ..self.direct() })
    }

    /// Behind the crate `mcp-hub` with this many servers of this kind and logging off. The tools of a single server
    /// keep their names.
    pub(crate) fn hub(&self, count: usize) -> Outcome<Way> {
        let program = peers::hub()?;
        let words: Vec<String> = self.server.iter().map(|word| word.display().to_string()).collect();
        let (server, arguments) = words.split_first().ok_or("no server")?;
        let servers = (0..count).map(|number| {
            let prefix = if count > 1 { format!("prefix = \"s{number}\"\n") } else { String::new() };
            format!("[servers.s{number}]\n{prefix}command = {server:?}\nargs = {arguments:?}\n")
        });
        let file = self.top.join(format!("hub-{count}.toml"));
        std::fs::write(&file, servers.collect::<String>())?;
        Ok(Way { line: vec![program.into(), file.into()], ..self.direct() })
    }
}

impl Way {
    /// Starts it and completes the handshake.
    pub(crate) fn begin(&self) -> Outcome<Client> {
        let mut command = Command::new(&self.line[0]);
        command.args(&self.line[1..]).env_clear().env("HOME", &self.home).env("RUST_LOG", "off");
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        Client::begin(&mut command, &self.root)
    }

    /// Nanoseconds from the start to the first list of tools.
    pub(crate) fn first_list(&self) -> Outcome<f64> {
        let start = Instant::now();
        let mut client = self.begin()?;
        client.ask("tools/list", "{}")?;
        let taken = start.elapsed();
        client.end()?;
        Ok(taken.as_secs_f64() * 1e9)
    }
}
