//! One entry for the hub replaces a table's servers, which move to the hub's configuration.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::edit::{self, Document, EditError};
use super::hub_entry::{HubEntry, client_entry, configuration, hub_entry};
use super::plan::{Plan, PlanError, Planned, place_of, table_of};
use super::record::{RecordError, hash, is_rootward, is_table};
use super::wrapping::{Invocation, NotWrapped, Verdict, judge, usual_roots};
use crate::import::{Client, FileContents, Form, Holder, Node, Server, Transport, Value, tree};

/// How many names to try for an entry.
const NAMES: usize = 9;

/// A hub that replaced servers, for the record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdoptedHub {
    /// The keys that lead to the servers.
    pub table: Vec<String>,
    /// The name of the hub's entry.
    pub name: String,
    /// Its command: the program and the arguments.
    pub words: Vec<String>,
    /// The names of the servers.
    pub servers: Vec<String>,
    /// Their entries, in the format of the client's file.
    pub entries: String,
    /// The hub's configuration, by its absolute path.
    pub file: PathBuf,
    /// The hash of what was written there.
    pub written: String,
}

/// A planned hub that will replace servers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedHub {
    /// What the record says about it.
    pub adopted: AdoptedHub,
    /// The text of its configuration.
    pub config: String,
}

/// The context for planning a hub.
#[expect(missing_debug_implementations, reason = "functions have no text")]
pub struct HubTerms<'t> {
    /// How config files call this program.
    pub caller: &'t Invocation,
    /// The file's text without anything that Rootward added before.
    pub bare: &'t str,
    /// Where the configuration for the servers of a table goes.
    pub file: &'t dyn Fn(&[String]) -> Option<PathBuf>,
    /// Why the hub refuses a configuration.
    pub refuses: &'t dyn Fn(&str) -> Option<String>,
}

impl AdoptedHub {
    /// Whether this server of the file moves behind the hub.
    pub fn runs(&self, form: Form, server: &Server) -> bool {
        table_of(form, server).as_ref() == Some(&self.table) && self.servers.contains(&server.name)
    }

    /// The keys that lead to the hub's entry.
    pub(super) fn place(&self) -> Vec<String> {
        self.table.iter().chain([&self.name]).cloned().collect()
    }

    /// Whether the entry at a place moved behind this hub.
    pub(super) fn took(&self, place: &[String]) -> bool {
        place.split_last().is_some_and(|(name, table)| table == self.table && self.servers.contains(name))
    }

    /// Checks that Rootward could have written it.
    pub(super) fn check(&self, form: Form) -> Result<(), RecordError> {
        let is_hub = match &self.words[..] {
            [program, verb, option, file, ..] => {
                is_rootward(program) && verb == "hub" && option == "--config" && Path::new(file) == self.file
            }
            _ => false,
        };
        match (is_hub, is_table(form, &self.table), self.file.is_absolute()) {
            (true, true, true) => Ok(()),
            (false, ..) => Err(RecordError::Foreign("its arguments are not those of `rootward hub`")),
            (_, false, _) => Err(RecordError::Foreign("its position is not that of a table of servers")),
            (.., false) => Err(RecordError::Foreign("the path of its configuration is not absolute")),
        }
    }
}

/// The servers of one table that move.
struct Moving<'n> {
    table: Vec<String>,
    servers: Vec<(String, HubEntry)>,
    /// The entry of the first.
    first: &'n Node,
    /// Variables that the client should pass on.
    passed: Vec<String>,
}

/// Plans a hub for each table of a file's text that has servers for it. The text is already parsed, see
/// [`plan_found`](super::plan_found).
pub fn plan_hub(
    form: Form,
    text: &str,
    found: FileContents,
    holder: Holder,
    terms: &HubTerms<'_>,
) -> Result<Plan, PlanError> {
    let top = tree(form, terms.bare).map_err(PlanError::Damaged)?;
    let document = Document::parse(form, terms.bare)?;
    let with_hub: Vec<Option<Vec<String>>> =
        found.servers.iter().filter(|server| is_hub(server)).map(|server| table_of(form, server)).collect();
    let mut moving: Vec<Moving<'_>> = Vec::new();
    let mut servers = Vec::with_capacity(found.servers.len());
    for server in found.servers {
        let own = with_own_command(&server, form, &document);
        let verdict = match judge(&own, form.client(), holder, terms.caller) {
            Verdict::Wrap(_) if with_hub.contains(&table_of(form, &own)) => {
                let why = "the file already has a hub: add the server to its configuration, or remove the hub first (`--undo`)";
                Verdict::NotWrapped(NotWrapped::NotByHub(why.to_owned()))
            }
            Verdict::Wrap(_) => match moved(form, holder, &top, &own, &mut moving, terms) {
                Ok(()) => Verdict::Hub,
                Err(why) => Verdict::NotWrapped(NotWrapped::NotByHub(why)),
            },
            other => other,
        };
        let is_wrapped = judge(&server, form.client(), holder, terms.caller) == Verdict::Wrapped;
        servers.push(match verdict {
            // A server that stays is still wrapped on its own.
            Verdict::NotWrapped(_) if is_wrapped => Planned { server, verdict: Verdict::Wrapped },
            verdict => Planned { server: own, verdict },
        });
    }
    let mut plan = Plan {
        servers,
        not_understood: found.not_understood,
        text: text.to_owned(),
        changes: Vec::new(),
        hubs: Vec::new(),
    };
    for moving in moving.into_iter().filter(|moving| !moving.servers.is_empty()) {
        match put_hub(form, holder, &plan.text, &moving, terms) {
            Ok((text, hub)) => {
                plan.text = text;
                plan.hubs.push(hub);
            }
            Err(error) => {
                let of_table = |planned: &&mut Planned| {
                    planned.verdict == Verdict::Hub && table_of(form, &planned.server).as_ref() == Some(&moving.table)
                };
                for planned in plan.servers.iter_mut().filter(of_table) {
                    planned.verdict = Verdict::NotWrapped(NotWrapped::Unclear(error.to_string()));
                }
            }
        }
    }
    Ok(plan)
}

fn is_hub(server: &Server) -> bool {
    matches!(&server.transport, Transport::Command(line) if line.rootward_verb() == Some("hub"))
}

/// The server without Rootward before its command.
fn with_own_command(server: &Server, form: Form, bare: &Document<'_>) -> Server {
    let mut own = server.clone();
    let entry = place_of(form, server).and_then(|place| bare.entry(form, &place).ok().flatten());
    if let (Some(entry), Transport::Command(line)) = (entry, &mut own.transport)
        && let Some((program, arguments)) = entry.words().split_first()
    {
        line.program.clone_from(program);
        line.arguments = arguments.to_vec();
    }
    own
}

/// Adds a server to those of its table that move; the error says why not.
fn moved<'n>(
    form: Form,
    holder: Holder,
    top: &'n Node,
    server: &Server,
    moving: &mut Vec<Moving<'n>>,
    terms: &HubTerms<'_>,
) -> Result<(), String> {
    const NOWHERE: &str = "the entry is not where it is expected";
    let Transport::Command(line) = &server.transport else { return Err(NOWHERE.to_owned()) };
    let table = table_of(form, server).ok_or(NOWHERE)?;
    let names = [server.name.clone()];
    edit::taken(form, terms.bare, &table, &names).map_err(|error| error.to_string())?;
    let entry = table.iter().chain(&names).try_fold(top, |node, key| node.get(key)).ok_or(NOWHERE)?;
    if form == Form::VsCode && top.get("sandbox").is_some() {
        return Err("`sandbox` beside `servers` applies to it, and would no longer apply".to_owned());
    }
    if form == Form::Gemini && top.get("mcp").is_some_and(|mcp| mcp.get("allowed").is_some()) {
        return Err("`mcp.allowed` names the servers that may run, and the hub is not among them".to_owned());
    }
    if form.client() == Client::Codex && usual_roots(server, form.client()).is_empty() {
        return Err(
            "it sets its own directories, but the hub uses the project's: `rootward adopt` wraps it separately"
                .to_owned(),
        );
    }
    let hub_entry = hub_entry(form, holder, entry, server, line)?;
    let position = moving.iter().position(|moving| moving.table == table).unwrap_or_else(|| {
        moving.push(Moving { table, servers: Vec::new(), first: entry, passed: Vec::new() });
        moving.len() - 1
    });
    let moving = &mut moving[position];
    moving.servers.push((server.name.clone(), hub_entry));
    if let Some(why) = (terms.refuses)(&configuration(&moving.servers)) {
        moving.servers.pop();
        return Err(why);
    }
    if moving.servers.len() == 1 {
        moving.first = entry;
    }
    moving.passed.extend(line.passed.iter().filter(|name| super::wrapping::is_passed(name)).cloned());
    Ok(())
}

/// The text with one entry in place of these servers.
fn put_hub(
    form: Form,
    holder: Holder,
    text: &str,
    moving: &Moving<'_>,
    terms: &HubTerms<'_>,
) -> Result<(String, PlannedHub), EditError> {
    const NO_FILE: EditError = EditError::Unclear("no directory for the hub's configuration");
    let table = &moving.table;
    let file = (terms.file)(table).ok_or(NO_FILE)?;
    let mut words = vec![terms.caller.word(), "hub".to_owned(), "--config".to_owned()];
    words.push(file.to_str().ok_or(NO_FILE)?.to_owned());
    // Codex shares no directories, and starts its servers in the project.
    if form.client() == Client::Codex {
        words.extend(["--root", "."].map(str::to_owned));
    }
    let name = name(form, holder, text, table).ok_or(EditError::Unclear("every name for the hub's entry is taken"))?;
    let mut passed = moving.passed.clone();
    passed.sort();
    passed.dedup();
    let entry = client_entry(form, &name, &words, moving.first, &passed);
    let servers: Vec<String> = moving.servers.iter().map(|(name, _)| name.clone()).collect();
    let text = edit::swap(form, text, table, &servers, &entry)?;
    let entries = edit::taken(form, terms.bare, table, &servers)?;
    let config = configuration(&moving.servers);
    let written = hash(config.as_bytes());
    let adopted = AdoptedHub { table: table.clone(), name, words, servers, entries, file, written };
    Ok((text, PlannedHub { adopted, config }))
}

/// A name that no entry of the table has. Clients merge the servers of all scopes by name, so each scope has its
/// own.
fn name(form: Form, holder: Holder, text: &str, table: &[String]) -> Option<String> {
    let usual = match (holder, table.len()) {
        (Holder::Project, _) => "rootward-project",
        (Holder::User, 1) => "rootward",
        (Holder::User, _) => "rootward-local",
    };
    let top = tree(form, text).ok()?;
    let entries = table.iter().try_fold(&top, |node, key| node.get(key))?;
    let Value::Table(entries) = &entries.value else { return None };
    let mut names = (1..=NAMES).map(|number| if number == 1 { usual.to_owned() } else { format!("{usual}-{number}") });
    names.find(|name| !entries.iter().any(|entry| entry.name == *name))
}
