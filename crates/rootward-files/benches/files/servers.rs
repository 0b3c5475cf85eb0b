//! The measured servers: `rootward serve`, the reference server, and the crate `rust-mcp-filesystem`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use rootward_testkit::bench::client::Client;
use rootward_testkit::bench::peers::{crate_program, npm_package, rootward};

const NPM: &str = "@modelcontextprotocol/server-filesystem";
const NPM_VERSION: &str = "2026.8.31";
const CRATE: &str = "rust-mcp-filesystem";
const CRATE_VERSION: &str = "0.4.5";

/// The directories of a run, and the servers.
#[derive(Debug)]
pub(crate) struct Servers {
    home: PathBuf,
    /// The shared directory.
    pub(crate) root: PathBuf,
    binary: PathBuf,
    pub(crate) peers: Vec<Peer>,
}

/// Another server.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Its name and version, in Markdown.
    pub(crate) name: String,
    pub(crate) which: Which,
    line: Outcome<Vec<OsString>>,
}

/// Which of the other servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Which {
    /// From npm: the most widely used one.
    Reference,
    /// In Rust: the fastest one.
    Fastest,
}

impl Servers {
    pub(crate) fn new(top: &Path) -> Outcome<Servers> {
        let (home, root) = (top.join("home"), top.join("root"));
        std::fs::create_dir(&home)?;
        std::fs::create_dir(&root)?;
        let npm = npm_package(NPM, NPM_VERSION, &format!("{NPM}/dist/index.js"));
        let built = crate_program(CRATE, CRATE_VERSION, CRATE);
        let peers = vec![
            Peer {
                name: format!("`{NPM}` {NPM_VERSION}"),
                which: Which::Reference,
                line: npm.map(|script| vec!["node".into(), script.into()]),
            },
            Peer {
                name: format!("`{CRATE}` {CRATE_VERSION}"),
                which: Which::Fastest,
                // Allows writing, like the others. Its option for client roots stays off, because it makes the server exit late.
                line: built.map(|program| vec![program.into(), "--allow-write".into()]),
            },
        ];
        Ok(Servers { home, root, binary: rootward()?, peers })
    }

    /// `rootward serve` with a directory and default settings: decisions are audited.
    pub(crate) fn rootward(&self, root: &Path) -> Outcome<Client> {
        self.begin(&[self.binary.clone().into(), "serve".into()], root)
    }

    /// Another server with a directory.
    pub(crate) fn peer(&self, peer: &Peer, root: &Path) -> Outcome<Client> {
        match &peer.line {
            Ok(line) => self.begin(line, root),
            Err(why) => Err(why.to_string().into()),
        }
    }

    /// Starts a server with the directory on its command line. The client shares the same directory.
    fn begin(&self, line: &[OsString], root: &Path) -> Outcome<Client> {
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).arg(root).env_clear().env("HOME", &self.home).env("RUST_LOG", "off");
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        Client::begin(&mut command, root)
    }
}
