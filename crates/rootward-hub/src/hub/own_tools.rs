//! The hub's own tools: `get-roots`, and in the compact form the four that find and call the tools of all servers.

use std::time::Duration;

use rootward_core::session::Support;
use rootward_core::{Access, RootUri, Shown};
use rootward_protocol::frame::{Envelope, Members, object};
use rootward_protocol::message::{self, INVALID_PARAMS};
use rootward_protocol::session::{LeftOut, Published, SessionGuard, Turn};
use rootward_protocol::{keys, method, shown};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::branch::{Branch, Phase};
use super::client::{Client, LONGEST_SHOWN, Order};
use crate::config::Catalog;

/// How many tools `find-tools` returns.
const MOST_FOUND: usize = 50;

/// One of the hub's own tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OwnTool {
    GetRoots,
    ListAllTools,
    FindTools,
    GetTool,
    CallTool,
}

/// A waiting call of `get-roots`.
#[derive(Debug)]
pub(super) struct OwnCall {
    pub(super) id: Box<str>,
    arrived: Duration,
}

/// What only the hub knows about a server, for `get-roots`.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct View {
    /// The roots that it has or would have; `None` if they are not known.
    pub(super) roots: Option<Vec<String>>,
    /// The server's own names for them, if they differ.
    pub(super) names: Option<String>,
    pub(super) confinement: &'static str,
    pub(super) processes: usize,
}

impl OwnTool {
    const ALL: [OwnTool; 5] =
        [OwnTool::GetRoots, OwnTool::ListAllTools, OwnTool::FindTools, OwnTool::GetTool, OwnTool::CallTool];

    fn name(self) -> &'static str {
        match self {
            OwnTool::GetRoots => "get-roots",
            OwnTool::ListAllTools => "list-all-tools",
            OwnTool::FindTools => "find-tools",
            OwnTool::GetTool => "get-tool",
            OwnTool::CallTool => "call-tool",
        }
    }

    /// The tool with this name. Without the compact form there is only `get-roots`.
    pub(super) fn of(name: &str, compact: bool) -> Option<OwnTool> {
        let tool = OwnTool::ALL.into_iter().find(|tool| tool.name() == name)?;
        (compact || tool == OwnTool::GetRoots).then_some(tool)
    }

    fn entry(self) -> Value {
        let text = |says: &str| json!({"type": "string", "description": says});
        let (says, properties, required) = match self {
            OwnTool::GetRoots => (
                "Shows which directories the user shares, which of them each server gets, and how each server is confined to them",
                json!({}),
                json!([]),
            ),
            OwnTool::ListAllTools => ("Lists the tools of all servers, by server", json!({}), json!([])),
            OwnTool::FindTools => (
                "Finds tools whose name or description contains all of these words",
                json!({"query": text("words, separated by spaces")}),
                json!(["query"]),
            ),
            OwnTool::GetTool => (
                "Describes one tool, including its arguments",
                json!({"serverName": text("the server's name"), "toolName": text("the tool's name")}),
                json!(["serverName", "toolName"]),
            ),
            OwnTool::CallTool => (
                "Calls a tool of a server. Paths in its arguments are checked against the roots",
                json!({
                    "serverName": text("the server's name"),
                    "toolName": text("the tool's name"),
                    "toolArgs": {"type": "object", "description": "the tool's arguments, as `get-tool` describes them"},
                }),
                json!(["serverName", "toolName"]),
            ),
        };
        let reads = self != OwnTool::CallTool;
        json!({
            "name": self.name(),
            "description": says,
            "inputSchema": {"type": "object", "properties": properties, "required": required},
            "annotations": {"readOnlyHint": reads, "openWorldHint": !reads},
        })
    }
}

/// The hub's own tools as list entries.
pub(super) fn listed(compact: bool) -> Vec<Value> {
    let listed = OwnTool::ALL.into_iter().filter(|tool| compact || *tool == OwnTool::GetRoots);
    listed.map(OwnTool::entry).collect()
}

impl Client {
    pub(super) fn is_compact(&self) -> bool {
        self.settings.catalog == Catalog::Compact
    }

    /// Handles a call of one of the hub's own tools.
    pub(super) fn call_own(
        &mut self,
        tool: OwnTool,
        params: &Members<'_>,
        envelope: &Envelope<'_>,
        id: &str,
        until: Duration,
    ) {
        if tool == OwnTool::GetRoots {
            self.report(|roots, now| roots.needed(now, now));
            return self.own_calls.push(OwnCall { id: id.into(), arrived: self.now });
        }
        let arguments = params.get("arguments").unwrap_or(RawValue::NULL);
        let arguments = if arguments.get() == "null" { Some(None) } else { Members::read(arguments).map(Some) };
        let Some(arguments) = arguments else {
            let says = "`arguments` are refused: not an object, or a duplicate key";
            return self.tell(&message::error(id, INVALID_PARAMS, says, None));
        };
        let text = |key: &str| arguments.as_ref().and_then(|arguments| arguments.text(key)).unwrap_or_default();
        let waits = !self.is_loaded(method::LIST_TOOLS) && self.now < until;
        if waits && tool != OwnTool::CallTool {
            return self.park(envelope, id, &[method::LIST_TOOLS], until);
        }
        let (server_name, tool_name) = (text("serverName"), text("toolName"));
        let answer = match tool {
            OwnTool::GetRoots => return,
            OwnTool::ListAllTools => Ok(self.all_tools(|_, _| true, usize::MAX)),
            OwnTool::FindTools => {
                let query = text("query").to_lowercase();
                let words: Vec<&str> = query.split_whitespace().collect();
                let has = |name: &str, says: &str| {
                    let text = format!("{name} {says}").to_lowercase();
                    words.iter().all(|word| text.contains(word))
                };
                Ok(self.all_tools(has, MOST_FOUND))
            }
            OwnTool::GetTool => self.tool(&server_name, &tool_name),
            OwnTool::CallTool => match self.callable(&server_name, &tool_name) {
                Err(says) => Err(says),
                Ok(server) => {
                    let name = Value::from(tool_name.as_str()).to_string();
                    let given = arguments.as_ref().and_then(|arguments| arguments.get("toolArgs"));
                    let given = given.map(RawValue::get).filter(|given| *given != "null");
                    let meta = params.get(keys::META).map(RawValue::get);
                    let members = [("name", Some(name.as_str())), ("arguments", given), (keys::META, meta)];
                    let call = object(members.into_iter().filter_map(|(key, value)| Some((key, value?))));
                    return self.forward(server, id, message::request(id, method::CALL_TOOL, Some(&call)).into_bytes());
                }
            },
        };
        self.tell(&match answer {
            Ok(found) => message::result(id, &message::structured(&found)),
            Err(says) => message::result(id, &message::failed_call(&says)),
        });
    }

    /// The server with this name, if this tool may be called.
    fn callable(&self, server: &str, tool: &str) -> Result<usize, String> {
        let Some((position, known)) = self.ordered().find(|(_, known)| known.name == server) else {
            let known: Vec<&str> = self.ordered().map(|(_, server)| server.name.as_str()).collect();
            return Err(format!(
                "unknown server `{}`; known servers: {}",
                shown(server, LONGEST_SHOWN),
                known.join(", ")
            ));
        };
        // SECURITY: a tool that is not listed cannot be called either
        // (test: a_denied_tool_is_neither_listed_nor_called)
        if known.allows(tool) { Ok(position) } else { Err(no_tool(server, tool)) }
    }

    /// The tools of all servers that `wanted` accepts by name and description.
    fn all_tools(&self, wanted: impl Fn(&str, &str) -> bool, most: usize) -> Value {
        let mut servers = Vec::new();
        let mut left = most;
        for (position, server) in self.ordered() {
            let mut tools = Vec::new();
            for entry in self.entries(position, method::LIST_TOOLS) {
                let Some(entry) = Members::read(entry) else { continue };
                let name = entry.text("name").unwrap_or_default();
                let says = entry.text("description").unwrap_or_default();
                if left > 0 && server.allows(&name) && wanted(&name, &says) {
                    left -= 1;
                    tools.push(json!({"toolName": name, "description": says}));
                }
            }
            let mut told = json!({"serverName": server.name, "tools": tools});
            if let Some(Phase::Failed { why, .. }) = self.branches.get(position).map(|branch| &branch.phase) {
                told["error"] = json!(why);
            }
            if most == usize::MAX || !tools_of(&told).is_empty() {
                servers.push(told);
            }
        }
        json!({"servers": servers})
    }

    /// Everything about one tool.
    fn tool(&self, server: &str, tool: &str) -> Result<Value, String> {
        let position = self.callable(server, tool)?;
        let named = |entry: &RawValue| Members::read(entry).and_then(|entry| entry.text("name"));
        let mut entries = self.entries(position, method::LIST_TOOLS).iter();
        let found = entries.find(|entry| named(entry).as_deref() == Some(tool));
        let found = found.and_then(|entry| serde_json::from_str(entry.get()).ok());
        found.ok_or_else(|| no_tool(server, tool))
    }

    /// Answers calls of `get-roots` once the roots are known, or will not become known.
    pub(super) fn answer_own_calls(&mut self) {
        if self.own_calls.is_empty() {
            return;
        }
        for call in std::mem::take(&mut self.own_calls) {
            match self.own_call_wakes_at(&call) {
                Some(until) if until > self.now => self.own_calls.push(call),
                _ => self.orders.push_back(Order::Describe(call.id)),
            }
        }
    }

    /// How long a call of `get-roots` waits.
    pub(super) fn own_call_wakes_at(&self, call: &OwnCall) -> Option<Duration> {
        match self.roots.as_ref()?.turn(call.arrived, self.now) {
            Turn::Wait { until } => Some(until),
            Turn::GoOn | Turn::Overdue => None,
        }
    }

    /// Answers a call of `get-roots`, with what the hub knows about each server.
    pub(super) fn describe(&mut self, id: &str, views: &[View]) {
        let published = self.roots.as_ref().and_then(SessionGuard::published);
        let list = published.map_or(&[][..], Published::list);
        let entry = |uri: Option<&str>, access: Access, name: &str| json!({"uri": uri, "name": name, "access": access});
        let shared = list.iter().map(|placed| {
            let root = &placed.root;
            let mut told = entry(root.uri().as_ref().map(RootUri::as_str), root.access, &root.title());
            if let Some(pattern) = root.pattern() {
                told["pattern"] = json!(Shown::new(pattern).to_string());
            }
            told
        });
        // Passed on, but never opened.
        let others = published.map_or(&[][..], Published::others);
        let others = others.iter().map(|other| entry(Some(&other.uri), Access::NONE, other.title()));
        let roots: Vec<Value> = shared.chain(others).collect();
        let paths: Vec<String> = list.iter().map(|placed| Shown::new(&placed.root.path).to_string()).collect();
        let servers = self.ordered().zip(views).map(|((position, server), view)| {
            let Branch { phase, trouble, .. } = &self.branches[position];
            let state = match phase {
                Phase::Closed => "not used yet",
                Phase::Probing { .. } | Phase::Greeting => "starting",
                Phase::Ready if view.processes > 0 => "running",
                Phase::Ready if trouble.is_some() => "failed",
                Phase::Ready => "not running; it starts when it is needed",
                Phase::Failed { .. } => "failed",
            };
            let mut told = json!({
                "name": server.name,
                "state": state,
                "roots": view.roots,
                "confinement": view.confinement,
                "processes": view.processes,
            });
            if let Some(names) = &view.names {
                told["paths"] = json!(names);
            }
            match (phase, trouble) {
                (Phase::Failed { why, .. }, _) => told["error"] = json!(why),
                (_, Some(why)) => told["error"] = json!(shown(why, LONGEST_SHOWN)),
                _ => {}
            }
            told
        });
        let servers: Vec<Value> = servers.collect();
        let summary = json!({
            "supportsRoots": self.support != Support::No,
            "rootsListChanged": self.support == Support::Announced,
            "rootsCount": roots.len(),
            "roots": roots,
            "filePaths": paths,
            "leftOut": published.map(|published| published.left_out().iter().map(LeftOut::to_json).collect::<Vec<_>>()),
            "state": published.map(|published| json!(published.state())),
            "why": published.map(|published| published.why().to_string()),
            "generation": published.map(Published::generation),
            "mode": self.mode(),
            "servers": servers,
        });
        self.tell(&message::result(id, &message::structured(&summary)));
    }
}

fn tools_of(told: &Value) -> &[Value] {
    told["tools"].as_array().map_or(&[], Vec::as_slice)
}

fn no_tool(server: &str, tool: &str) -> String {
    format!("server `{server}` has no tool `{}`", shown(tool, LONGEST_SHOWN))
}
