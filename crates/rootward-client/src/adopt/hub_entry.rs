//! A server's entry in the hub's configuration, and the hub's entry in a client's file.

use serde_json::{Map, Value as Json, json};

use super::filling::for_hub;
use super::wrapping::is_passed;
use crate::import::{CommandShape, ConfiguredCommand, Enabled, FileVariables, Form, Holder, Node, Server, Value};

/// Keys that the hub reads, but that have no meaning, or another one, in a client's entry with a command.
const OF_THE_HUB: [&str; 7] = ["env", "envFile", "headers", "transport", "url", "serverUrl", "httpUrl"];

/// Keys of an entry that decide how its server is confined.
const SETTINGS: [&str; 3] = ["rootward", "sandbox", "sandboxEnabled"];

/// Keys that have another name in the hub's configuration.
const RENAMED: [(&str, &str); 2] = [("enabled_tools", "includeTools"), ("disabled_tools", "disabledTools")];

/// A server's keys in the hub's configuration, in order.
pub(super) type HubEntry = Vec<(String, Json)>;

/// A server's entry for the hub's configuration; the error says why the hub cannot run it. `node` is its entry in
/// the client's file.
pub(super) fn hub_entry(
    form: Form,
    holder: Holder,
    node: &Node,
    server: &Server,
    line: &ConfiguredCommand,
) -> Result<HubEntry, String> {
    let Value::Table(written) = &node.value else { return Err("its entry is not a table".to_owned()) };
    // SECURITY: somebody else wrote the project: `"sandbox": "off"` in it would run its server unconfined
    // (test: a_project_does_not_choose_how_its_servers_are_confined)
    if holder == Holder::Project
        && let Some(found) = written.iter().find(|key| SETTINGS.contains(&key.name.as_str()))
    {
        return Err(format!("the project's file sets `{}`, which would decide how the server is confined", found.name));
    }
    if line.variables_file.is_some() && !matches!(line.from_file, FileVariables::Known(_)) {
        return Err("the file with its variables cannot be read here".to_owned());
    }
    let text = |text: &String| for_hub(text, form).map(Json::from).map_err(|unfilled| unfilled.to_string());
    let mut entry = vec![("command".to_owned(), text(&line.program)?)];
    let mut add = |key: &str, value: Json| entry.push((key.to_owned(), value));
    if !line.arguments.is_empty() {
        add("args", line.arguments.iter().map(text).collect::<Result<_, _>>()?);
    }
    if !line.variables.is_empty() {
        let variables = line.variables.iter().map(|(name, value)| {
            // A password can contain `${`, and must not become part of a message.
            let value = text(value).map_err(|_| format!("only the client can fill in its variable `{name}`"))?;
            Ok((name.clone(), value))
        });
        add("env", Json::Object(variables.collect::<Result<Map<_, _>, String>>()?));
    }
    for (key, path) in [("envFile", &line.variables_file), ("cwd", &line.directory)] {
        let Some(path) = path else { continue };
        if !["/", "~/", "${"].iter().any(|start| path.starts_with(start)) {
            return Err(format!("its `{key}` is a relative path, and only the client knows where that starts"));
        }
        add(key, text(path)?);
    }
    if server.enabled == Enabled::Off {
        add("disabled", Json::Bool(true));
    }
    let read: Vec<&str> = form.command_keys().chain(["command", "args"]).chain(OF_THE_HUB).collect();
    for other in written.iter().filter(|key| !read.contains(&key.name.as_str())) {
        let renamed = RENAMED.iter().find(|(name, _)| form == Form::Codex && *name == other.name);
        if let Some(value) = json_of(&other.node) {
            add(renamed.map_or(other.name.as_str(), |(_, name)| *name), value);
        }
    }
    let passed: Vec<&String> = line.passed.iter().filter(|name| is_passed(name)).collect();
    if !passed.is_empty() {
        if entry.iter().any(|(key, _)| key == "rootward") {
            return Err("its entry has `env_vars` besides `rootward`".to_owned());
        }
        entry.push(("rootward".to_owned(), json!({"env": passed})));
    }
    Ok(entry)
}

fn json_of(node: &Node) -> Option<Json> {
    Some(match &node.value {
        Value::Table(entries) => {
            let entries = entries.iter().filter_map(|entry| Some((entry.name.clone(), json_of(&entry.node)?)));
            Json::Object(entries.collect())
        }
        Value::List(list) => list.iter().filter_map(json_of).collect(),
        Value::Text(text) => Json::from(text.as_str()),
        Value::Boolean(boolean) => Json::from(*boolean),
        Value::Number(number) => serde_json::from_str(number).unwrap_or_else(|_| Json::from(number.as_str())),
        Value::Null => Json::Null,
        // JSON has no dates, and no key that the hub reads is one.
        Value::Date => return None,
    })
}

/// The text of the hub's configuration.
pub(super) fn configuration(servers: &[(String, HubEntry)]) -> String {
    let key = |name: &String| Json::from(name.as_str());
    let server = |(name, entry): &(String, HubEntry)| {
        let keys: Vec<String> = entry.iter().map(|(name, value)| format!("      {}: {value}", key(name))).collect();
        format!("    {}: {{\n{}\n    }}", key(name), keys.join(",\n"))
    };
    let servers: Vec<String> = servers.iter().map(server).collect();
    format!("{{\n  \"mcpServers\": {{\n{}\n  }}\n}}\n", servers.join(",\n"))
}

/// The entry of a hub in the client's own format, written like the entry `first`. `passed` are variables that the
/// client should pass on.
pub(super) fn client_entry(form: Form, name: &str, words: &[String], first: &Node, passed: &[String]) -> String {
    let list = |words: &[String], literal: fn(&str) -> String| {
        format!("[{}]", words.iter().map(|word| literal(word)).collect::<Vec<_>>().join(", "))
    };
    let (program, arguments) =
        words.split_first().map_or((String::new(), words), |(first, rest)| (first.clone(), rest));
    if form == Form::Codex {
        let literal = |word: &str| toml_edit::Value::from(word).to_string().trim().to_owned();
        let passed = if passed.is_empty() { String::new() } else { format!("env_vars = {}\n", list(passed, literal)) };
        return format!("[{name}]\ncommand = {}\nargs = {}\n{passed}", literal(&program), list(arguments, literal));
    }
    let literal = |word: &str| Json::from(word).to_string();
    let split = |key: &str| format!("\"{key}\": {}, \"args\": {}", literal(&program), list(arguments, literal));
    let is_table = first.get("command").is_some_and(|command| matches!(command.value, Value::Table(_)));
    let command = match form.command_shape() {
        CommandShape::List => format!("\"command\": {}", list(words, literal)),
        CommandShape::Table if is_table => format!("\"command\": {{ {} }}", split("path")),
        CommandShape::Table | CommandShape::Split => split("command"),
    };
    // Some clients require the kind of entry.
    let kind = ["type", "source"].into_iter().filter_map(|key| match &first.get(key)?.value {
        Value::Text(kind) => Some(format!("\"{key}\": {}, ", literal(kind))),
        _ => None,
    });
    format!("{{\"{name}\": {{ {}{command} }}}}", kind.collect::<String>())
}
