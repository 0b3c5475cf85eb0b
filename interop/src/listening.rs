//! `rootward serve --http` and `rootward hub --http`, started for a check: they end with it.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use rootward_testkit::client::Listening;

/// The token that clients show. It is not a secret: what it opens lives as long as a check, on the loopback address.
pub(crate) const TOKEN: &str = "a-token-for-checks-on-the-loopback-address";

/// Starts `rootward` with these words and `--http`; `home` has what it remembers and reads.
pub(crate) fn start(rootward: &Path, words: &[String], home: &Path, variables: &[(&str, &str)]) -> Result<Listening> {
    let mut command = Command::new(rootward);
    command.args(words).args(["--http", "127.0.0.1:0"]).env("ROOTWARD_TOKEN", TOKEN);
    command.env("XDG_STATE_HOME", home).env("XDG_CONFIG_HOME", home).envs(variables.iter().copied());
    Ok(Listening::start(&mut command)?)
}
