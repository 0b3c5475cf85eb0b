//! The smallest MCP host that shares its user's saved roots: it starts the servers of a config file, shares each server's saved
//! roots with it, and makes the tool calls that it reads from standard input.

#![expect(clippy::print_stdout, reason = "its answers go to standard output")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use rmcp::model::{CallToolRequestParams, ClientConfig, JsonObject, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, RoleClient, RunningService};
use rootward_client::consent::Consents;
use rootward_client::provider::{Provided, Provider, Server, Settings, Shares};
use rootward_client::store::{Current, Store};
use rootward_core::env::{Directories, Environment};
use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::SetOnce;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How often to check the store for changes.
const POLL: Duration = Duration::from_millis(100);
/// How long to wait for open calls after standard input closes.
const DRAIN: Duration = Duration::from_secs(3);

/// The config file, in the usual format of MCP clients.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Servers {
    mcp_servers: BTreeMap<String, Entry>,
}

/// How to start a server.
#[derive(Clone, Deserialize)]
struct Entry {
    command: PathBuf,
    args: Vec<String>,
    #[serde(default)]
    era: Era,
}

/// The era of the protocol to use.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Era {
    #[default]
    Legacy,
    /// The modern era if the server supports it.
    Either,
}

/// A call from standard input.
#[derive(Deserialize)]
struct Call {
    id: u64,
    server: String,
    tool: String,
    arguments: JsonObject,
}

/// A connected server and its process.
struct Running {
    service: RunningService<RoleClient, Provided<ClientConfig>>,
    _child: Child,
}

/// The servers by name: each is set once it is connected or has failed.
type Slots = BTreeMap<String, SetOnce<Result<Running>>>;

#[tokio::main]
async fn main() -> Result<()> {
    let file = std::env::args_os().nth(1).context("no config file given")?;
    let servers: Servers = serde_json::from_str(&read_ambient(file.as_ref())?).context("not a valid config file")?;
    let environment: Environment = std::env::vars_os().collect();
    let directories = Directories::new(&environment);
    let store = Store::of(&directories).context("cannot find the directory of the saved roots")?;

    let provider = Provider::new(Settings::default());
    share_ambient(provider.clone(), store, directories.home);

    let slots: Arc<Slots> = Arc::new(servers.mcp_servers.keys().map(|name| (name.clone(), SetOnce::new())).collect());
    for (name, entry) in servers.mcp_servers {
        let (provider, slots) = (provider.clone(), Arc::clone(&slots));
        // Each in its own task: a server that never responds must not delay the others.
        tokio::spawn(async move {
            let running = connect(&provider, &name, entry).await;
            let outcome = if running.is_ok() { "connected" } else { "failed" };
            if let Some(slot) = slots.get(&name) {
                let _ = slot.set(running);
            }
            println!("{}", json!({outcome: name}));
        });
    }

    let mut calls = JoinSet::new();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let call: Call = serde_json::from_str(&line).context("not a call")?;
        let slots = Arc::clone(&slots);
        calls.spawn(async move { println!("{}", carry_out(call, &slots).await) });
    }
    let _ = timeout(DRAIN, calls.join_all()).await;
    Ok(())
}

/// Shares the saved roots, now and whenever they change. If the store cannot be read later, the shared roots stay.
fn share_ambient(provider: Provider, store: Store, home: Option<PathBuf>) {
    let consents = Consents::default();
    let (mut current, begun) = Current::begin_ambient(store);
    if let Err(error) = begun {
        provider.fail(error.to_string());
    }
    let share = move |current: &Current| {
        if let Some(kept) = current.kept() {
            provider.share(Shares::new(Arc::clone(kept), &consents, home.clone()));
        }
    };
    share(&current);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(POLL).await;
            if current.refresh_ambient().is_ok_and(|changes| !changes.is_empty()) {
                share(&current);
            }
        }
    });
}

async fn connect(provider: &Provider, name: &str, entry: Entry) -> Result<Running> {
    let mut command = Command::new(&entry.command);
    command.args(&entry.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().context("cannot start the server")?;
    let (read, write) = (child.stdout.take().context("no output")?, child.stdin.take().context("no input")?);
    let lifecycle = match entry.era {
        Era::Legacy => ClientLifecycleMode::Initialize,
        Era::Either => {
            ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: None }
        }
    };
    // This line adds the roots: it puts the provider in front of the handler. The name identifies the server.
    let handler = provider.install(ClientConfig::default(), Server::local(name));
    let service = handler.serve_pipes(read, write, lifecycle).await?;
    Ok(Running { service, _child: child })
}

async fn carry_out(call: Call, slots: &Slots) -> serde_json::Value {
    let id = call.id;
    let Some(slot) = slots.get(&call.server) else {
        return json!({"id": id, "error": format!("no server is called `{}`", call.server)});
    };
    let running = match slot.wait().await {
        Ok(running) => running,
        Err(error) => return json!({"id": id, "error": format!("{error:#}")}),
    };
    let parameters = CallToolRequestParams::new(call.tool).with_arguments(call.arguments);
    match running.service.call_tool(parameters).await {
        Ok(result) => json!({"id": id, "result": result}),
        Err(error) => json!({"id": id, "error": error.to_string()}),
    }
}

#[expect(clippy::disallowed_methods, reason = "the config file from the command line")]
fn read_ambient(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))
}
