//! `cargo demo`: a real server behind `rootward wrap`, an allowed call, a refused call, and why.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use super::{prepare, shown};
use taskkit::conversation::{Conversation, Roots, Said};
use taskkit::install::{Runtime, node, packages, runtimes};

/// The server's script below `node_modules`.
const SERVER: &str = "@modelcontextprotocol/server-filesystem/dist/index.js";
const TOOL: &str = "read_text_file";

/// Builds, installs and shows the demo.
pub(crate) fn run(top: &Path) -> Result<()> {
    // The features that this demo does not need would double the build time.
    let (rootward, (node, server)) = prepare(top, "--no-default-features --features wrap", || fetch(top))?;
    let stage = top.join("target/demo");
    let [project, secret] = [stage.join("project"), stage.join("secret.txt")];
    let notes = project.join("notes.txt");
    fs::create_dir_all(&project).context("cannot create `target/demo`")?;
    fs::write(&notes, "what the user shares")?;
    fs::write(&secret, "what the user does not share")?;

    println!("\n$ rootward wrap {} -- node {}", shown(top, &project), shown(top, &server));
    let mut wrap = Command::new(&rootward);
    // Do not write to the user's own log, and ignore the user's settings.
    wrap.env("XDG_STATE_HOME", stage.join("state")).env("XDG_CONFIG_HOME", stage.join("config"));
    wrap.arg("wrap").arg(&project).arg("--").arg(node).arg(&server);
    let mut client = Conversation::start(wrap, Roots::Unknown)?;
    println!("the server offers {} tools\n", client.tools()?.len());
    let read = call(top, &mut client, &notes)?;
    ensure!(read == Said::Result("what the user shares".to_owned()), "an allowed call said {read:?}");
    let refused = call(top, &mut client, &secret)?;
    ensure!(
        matches!(&refused, Said::Error(text) if text.contains("outside every root")),
        "a refused call said {refused:?}"
    );
    client.end()?;

    println!("$ rootward explain --root {} {}", shown(top, &project), shown(top, &secret));
    let mut explain = Command::new(&rootward);
    explain.env("XDG_CONFIG_HOME", stage.join("config"));
    explain.arg("explain").arg("--root").arg(&project).arg(&secret);
    // Exit code 1 means refused.
    if explain.status()?.code() != Some(1) {
        bail!("`rootward explain` did not refuse");
    }
    Ok(())
}

/// Installs Node and the server. Returns the paths of Node and of the server's script.
fn fetch(top: &Path) -> Result<(PathBuf, PathBuf)> {
    runtimes(top, &[Runtime::Node])?;
    Ok((node(top)?, packages(top, "servers")?.join("node_modules").join(SERVER)))
}

/// Makes a call, and prints it and its answer.
fn call(top: &Path, client: &mut Conversation, path: &Path) -> Result<Said> {
    println!("client: {TOOL} {}", shown(top, path));
    let said = client.call(TOOL, json!({ "path": path }))?;
    match &said {
        Said::Result(text) => println!("server: {text}\n"),
        Said::Error(text) => println!("refused: {text}\n"),
    }
    Ok(said)
}
