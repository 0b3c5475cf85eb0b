//! Starts `rootward serve --http` and `rootward hub --http` for a check. They end with it.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use rootward_testkit::client::Listening;

/// The token that clients send. It is not a secret: the server listens on loopback, and only during a check.
pub(crate) const TOKEN: &str = "a-token-for-checks-on-the-loopback-address";

/// Starts `rootward` with these arguments and `--http`. `home` holds its state and its settings.
pub(crate) fn start(rootward: &Path, words: &[String], home: &Path, variables: &[(&str, &str)]) -> Result<Listening> {
    let mut command = Command::new(rootward);
    command.args(words).args(["--http", "127.0.0.1:0"]).env("ROOTWARD_TOKEN", TOKEN);
    command.env("XDG_STATE_HOME", home).env("XDG_CONFIG_HOME", home).envs(variables.iter().copied());
    Ok(Listening::start(&mut command)?)
}
