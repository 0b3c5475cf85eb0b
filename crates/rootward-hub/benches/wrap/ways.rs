//! What may stand between client and server: nothing, `rootward wrap`, a hub of others'.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::Outcome;
use crate::{peers, server};
use rootward_testkit::bench::client::Client;
use rootward_testkit::bench::peers::rootward;

/// The places of a run, and the binary.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    binary: PathBuf,
    server: Vec<OsString>,
    home: PathBuf,
    root: PathBuf,
    settings: PathBuf,
}

/// A command line, and the root that its client shares.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    line: Vec<OsString>,
    home: PathBuf,
    root: PathBuf,
}

impl Ways {
    /// Makes a root with a file in it, and a home for the record and what is remembered.
    pub(crate) fn new(top: &Path) -> Outcome<Ways> {
        let (home, root) = (top.join("home"), top.join("root"));
        std::fs::create_dir(&home)?;
        std::fs::create_dir(&root)?;
        let ways = Ways {
            binary: rootward()?,
            server: vec![std::env::current_exe()?.into(), server::SERVE.into()],
            home,
            root,
            settings: top.join("hub.toml"),
        };
        std::fs::write(ways.file(), "")?;
        Ok(ways)
    }

    /// The same with a server in Node, which says much.
    pub(crate) fn of_node(&self) -> Ways {
        Ways { server: ["node", "-e", server::NODE].map(OsString::from).to_vec(), ..self.clone() }
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

    /// Behind `rootward wrap` as it is by default: confined, decisions on record, roots from the client.
    pub(crate) fn wrap(&self) -> Way {
        self.way(&[self.binary.clone().into(), "wrap".into(), "--".into()])
    }

    /// Behind the `wrap` of another binary, which `ROOTWARD_BEFORE` names: to see what a change costs.
    pub(crate) fn before(&self) -> Option<Way> {
        let binary = std::env::var_os("ROOTWARD_BEFORE")?;
        Some(self.way(&[binary, "wrap".into(), "--".into()]))
    }

    /// The same with a root on the command line.
    pub(crate) fn wrap_with_root(&self) -> Way {
        self.way(&[self.binary.clone().into(), "wrap".into(), self.root.clone().into(), "--".into()])
    }

    /// Behind the crate `mcp-hub`, which says nothing to its log.
    pub(crate) fn hub(&self) -> Outcome<Way> {
        let program = peers::hub()?;
        let words: Vec<String> = self.server.iter().map(|word| word.display().to_string()).collect();
        let (server, arguments) = words.split_first().ok_or("no server")?;
        std::fs::write(&self.settings, format!("[servers.echo]\ncommand = {server:?}\nargs = {arguments:?}\n"))?;
        let line = vec![program.into(), self.settings.clone().into()];
        Ok(Way { line, ..self.direct() })
    }
}

impl Way {
    /// Starts it and greets it.
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
