//! `cargo xtask hosts`: tests the programs that people use as MCP clients. Each host uses `rootward serve`, servers behind `rootward wrap`
//! and `rootward hub`, and over HTTP `rootward serve --http` and `rootward hub --http`.
//!
//! The test configures a host as its user would, without a network and with a scripted model. It checks what the host sends to that model:
//! the content of a file inside the roots, and the refusal for a file outside.

pub(crate) mod adopt;
mod claude_code;
mod codex;
mod copilot;
mod fastmcp;
mod gemini_cli;
mod heard;
mod host;
mod inspector;
mod installed;
mod model;
pub(crate) mod offline;
mod opencode;
mod page;
pub(crate) mod pictures;
mod remote;
mod running;
mod session;
mod stage;
mod tap;

use std::path::Path;
use std::sync::Mutex;

use anyhow::{Result, bail};

use crate::cases::{all_at_once, chosen, judge};
use taskkit::built;
use taskkit::call::Call;
use taskkit::form::Form;
use taskkit::install::{Runtime, environment, node, packages, runtimes};

use host::{Due, HOSTS, Host};
use stage::Programs;

/// How many hosts run at once.
const AT_ONCE: usize = 2;

/// The prompt. The scripted model does not read it.
const PROMPT: &str = "read the files";

/// The command that runs the hosts of a form again.
pub(crate) fn repeat(form: Form) -> &'static str {
    match form {
        Form::Short => "cargo xtask hosts --short",
        Form::Long => "cargo xtask hosts",
    }
}

/// Runs the hosts that belong to this form of the check.
pub(crate) fn run_form(top: &Path, form: Form) -> Result<String> {
    let is_due = |host: &&&Host| form == Form::Long || host.due == Due::EveryCheck;
    carry_out(top, &HOSTS.iter().filter(is_due).copied().collect::<Vec<_>>())
}

/// Runs the hosts whose names contain each of `parts`; returns a note for the table of steps.
pub(crate) fn run(top: &Path, parts: &[&str]) -> Result<String> {
    carry_out(top, &chosen(HOSTS.to_vec(), parts, |host| host.name.to_owned())?)
}

fn carry_out(top: &Path, hosts: &[&'static Host]) -> Result<String> {
    runtimes(top, &[Runtime::Node, Runtime::Python, Runtime::Namespaces])?;
    let programs = install(top, hosts)?;
    let rows = Mutex::new(Vec::new());
    let outcomes = all_at_once(hosts, AT_ONCE, |host| {
        let Some((_, programs)) = programs.iter().find(|(name, _)| *name == host.name) else {
            bail!("it was not installed");
        };
        let directory = tempfile::Builder::new().prefix("hosts-").tempdir()?;
        let report = offline::exercise(host, programs, directory.path())?;
        if let Ok(mut rows) = rows.lock() {
            rows.push((host, page::rows(host, &report)));
        }
        for (server, says) in &report.failures {
            println!("FAILED {}, server `{server}`, {says}\n", host.name);
        }
        match report.failures.len() {
            0 => Ok(()),
            count => bail!("{count} checks failed"),
        }
    });
    let rows = rows.into_inner().unwrap_or_default();
    let documented = page::check_or_update(top, &rows);
    let note = judge(hosts.len(), &outcomes, |host| host.name.to_owned())?;
    documented.map(|()| note)
}

/// Installs the hosts and the servers that they start; returns the programs for each host.
fn install(top: &Path, hosts: &[&'static Host]) -> Result<Vec<(&'static str, Programs)>> {
    let [rootward] = built::programs(top, Call::cargo("build -p rootward --bin rootward"), ["rootward"])?;
    let (node, modules) = (node(top)?, packages(top, "servers")?.join("node_modules"));
    let script = modules.join("@modelcontextprotocol/server-filesystem/dist/index.js");
    let python = environment(top, "servers-python", "servers/requirements.txt")?;
    let python = vec![python, "-m".into(), "mcp_server_git".into()];
    let servers = Programs { host: Vec::new(), rootward, npm: vec![node, script], python };
    hosts.iter().map(|host| Ok((host.name, Programs { host: (host.install)(top)?, ..servers.clone() }))).collect()
}
