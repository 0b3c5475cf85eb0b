//! `rootward serve --http` and `rootward hub --http`, started for a check: they end with it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// The token that clients show. It is not a secret: what it opens lives as long as a check, on the loopback address.
pub(crate) const TOKEN: &str = "a-token-for-checks-on-the-loopback-address";

/// How long it may take until it listens.
const LIMIT: Duration = Duration::from_secs(30);

/// A program that listens.
#[derive(Debug)]
pub(crate) struct Listening {
    child: Child,
    /// Where.
    pub(crate) url: String,
}

impl Listening {
    /// Starts `rootward` with these words and `--http`; `home` has what it remembers and reads.
    pub(crate) fn start(
        rootward: &Path,
        words: &[String],
        home: &Path,
        variables: &[(&str, &str)],
    ) -> Result<Listening> {
        let child = Command::new(rootward)
            .args(words)
            .args(["--http", "127.0.0.1:0"])
            .env("ROOTWARD_TOKEN", TOKEN)
            .env("XDG_STATE_HOME", home)
            .env("XDG_CONFIG_HOME", home)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start rootward")?;
        let mut listening = Listening { child, url: String::new() };
        let mut errors = BufReader::new(listening.child.stderr.take().context("no stderr")?).lines();
        let (sender, receiver) = mpsc::channel();
        // To the end: nobody may wait for a reader.
        thread::spawn(move || {
            while let Some(Ok(line)) = errors.next() {
                let _ = sender.send(line);
            }
        });
        let mut said = Vec::new();
        while let Ok(line) = receiver.recv_timeout(LIMIT) {
            if let Some(url) = line.strip_prefix("listening on ") {
                url.clone_into(&mut listening.url);
                return Ok(listening);
            }
            said.push(line);
        }
        bail!("rootward does not say where it listens, but\n{}", said.join("\n"))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // Fails only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
