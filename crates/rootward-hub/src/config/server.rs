//! One server of the file, as clients write it. Unknown keys belong to the client.

use rootward_core::Shown;

use super::error::{ConfigError, ConfigNote};
use super::naming::prefix_of;
use super::settings::{
    Isolation, KEYS_OF_ADDRESSES, KEYS_OF_PROCESSES, RootsFrom, ServerSettings, each, template, without_all_roots,
};
use super::template::Template;
use super::tools::ToolPattern;
use super::tree::{Node, Section};
use super::vscode::{self, Sandbox, WrittenAt};
use crate::root_template::has_root_template;

/// The keys of a server that are read.
#[cfg(test)]
pub(super) const KEYS: [&str; 19] = [
    "type",
    "transport",
    "command",
    "args",
    "env",
    "envFile",
    "cwd",
    "url",
    "serverUrl",
    "httpUrl",
    "headers",
    "disabled",
    "enabled",
    "disabledTools",
    "includeTools",
    "excludeTools",
    "sandboxEnabled",
    "sandbox",
    "rootward",
];
/// The keys that can hold the address.
const URL_KEYS: [&str; 3] = ["url", "serverUrl", "httpUrl"];
/// The value of `type` for a process.
pub(super) const STDIO: &str = "stdio";
/// The values of `type` for remote servers.
pub(super) const HTTP: [&str; 4] = ["http", "streamable-http", "streamableHttp", "streamable_http"];
/// The transport that is not supported.
const SSE: &str = "sse";
/// The name of this program.
const OWN_PROGRAM: &str = "rootward";
/// The longest name, in bytes.
const LONGEST_NAME: usize = 128;

/// A server of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerConfig {
    /// Its name in the file. It is not empty and has no control characters.
    pub name: String,
    /// How it is reached.
    pub what: ServerKind,
    /// Whether the file switches it off: `disabled: true` or `enabled: false`.
    pub disabled: bool,
    /// Rootward's settings for this server.
    pub rootward: ServerSettings,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ServerKind {
    /// A process, on standard input and output.
    Stdio(Stdio),
    /// A remote server, over streamable HTTP.
    Http(Http),
}

/// A process, as the file describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stdio {
    /// The program.
    pub command: Template,
    /// Its arguments. An argument that is exactly `${roots}` becomes one argument per root.
    pub args: Vec<Template>,
    /// Its variables, in file order. Often secrets.
    pub env: Vec<(String, Template)>,
    /// Variables to remove: those that are `null` in the file.
    pub unset: Vec<String>,
    /// A file with more variables, see [`super::read_env_file`]. `env` takes precedence.
    pub env_file: Option<Template>,
    /// The working directory.
    pub cwd: Option<Template>,
}

/// An address and its headers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Http {
    /// The address.
    pub url: Template,
    /// The headers, in file order. Often secrets.
    pub headers: Vec<(String, Template)>,
}

impl ServerConfig {
    /// The prefix of its tool names, if names are prefixed; empty for no prefix.
    pub fn prefix(&self) -> String {
        self.rootward.prefix.clone().unwrap_or_else(|| prefix_of(&self.name))
    }

    /// Whether its command line, address or places depend on the session's roots. If so, a child is valid only for
    /// the roots that it was started with.
    pub fn uses_roots(&self) -> bool {
        let mut set = self.rootward.set.values();
        self.templates().any(Template::uses_roots) || set.any(|value| has_root_template(value.as_ref()))
    }

    /// Whether the server may see the roots when it asks. By default, a process may and a remote server may not.
    pub fn tells_roots(&self) -> bool {
        self.rootward.tell_roots.unwrap_or(matches!(self.what, ServerKind::Stdio(_)))
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        let own: Vec<&Template> = match &self.what {
            ServerKind::Stdio(process) => {
                let values = process.env.iter().map(|(_, value)| value);
                let optional = process.env_file.iter().chain(&process.cwd);
                [&process.command].into_iter().chain(&process.args).chain(values).chain(optional).collect()
            }
            ServerKind::Http(remote) => {
                [&remote.url].into_iter().chain(remote.headers.iter().map(|(_, value)| value)).collect()
            }
        };
        own.into_iter().chain(self.rootward.templates())
    }

    /// Reads an entry. `shared` is the top-level `sandbox` of the file.
    pub(super) fn read(
        name: &str,
        node: &Node<'_, '_>,
        shared: Option<&Sandbox>,
        notes: &mut Vec<ConfigNote>,
    ) -> Result<ServerConfig, ConfigError> {
        // Messages show keys relative to the server.
        let section = node.section()?.called("");
        section.refuse_misspelt("rootward")?;
        let is_set = |key: &str| section.given(key).map(|node| node.boolean()).transpose();
        let disabled = is_set("disabled")? == Some(true) || is_set("enabled")? == Some(false);
        if !disabled {
            refuse_sse(&section)?;
        }
        let what = kind(&section)?;
        let mut settings =
            section.get("rootward").map(|node| ServerSettings::read(&node)).transpose()?.unwrap_or_default();
        let is_process = matches!(what, ServerKind::Stdio(_));
        if let (false, Some(node)) = (is_process, section.get("rootward")) {
            refuse_process_keys(&node.section()?)?;
        }
        if let (true, Some(node)) = (is_process, section.get("rootward")) {
            refuse_address_keys(&node.section()?)?;
        }
        tools(&section, &mut settings)?;
        let by_client = vscode::confined(&section, &settings, notes)?;
        let own = section.given("sandbox").map(|node| Sandbox::read(&node, notes)).transpose()?;
        if is_process {
            if let Some(own) = own {
                own.apply(&mut settings, WrittenAt::Server, by_client, notes)?;
            }
            if let Some(shared) = shared {
                shared.apply(&mut settings, WrittenAt::File, by_client, notes)?;
            }
        }
        let server = ServerConfig { name: name.to_owned(), what, disabled, rootward: settings };
        server.check(&section)?;
        if !disabled {
            server.check_command(&section, notes)?;
        }
        Ok(server)
    }

    /// Rejects settings that contradict each other.
    fn check(&self, section: &Section<'_, '_>) -> Result<(), ConfigError> {
        let settings = &self.rootward;
        let has_client_roots = settings.roots == RootsFrom::Client
            && (matches!(self.what, ServerKind::Stdio(_)) || self.tells_roots() || self.uses_roots());
        // SECURITY: a single child for all clients would see every client's directories
        // (test: a_child_for_all_has_no_clients_roots)
        if settings.isolation == Isolation::All && has_client_roots {
            let says = "`rootward.isolation` is `all`, but the server gets the roots of each client";
            let hint = "set `\"roots\": \"none\"` or a list of directories, or use `\"isolation\": \"roots\"`";
            return Err(section.wrong_key("rootward", says, hint));
        }
        if settings.roots == RootsFrom::Nothing && self.uses_roots() {
            let says = "the server uses `${root}`, but `rootward.roots` is `none`";
            return Err(section.wrong_key("rootward", says, "remove one of the two"));
        }
        Ok(())
    }

    /// Rejects a hub behind the hub: with the same file, each hub would start another one.
    fn check_command(&self, section: &Section<'_, '_>, notes: &mut Vec<ConfigNote>) -> Result<(), ConfigError> {
        let ServerKind::Stdio(process) = &self.what else { return Ok(()) };
        let program = process.command.literal().unwrap_or_default();
        if program.rsplit('/').next() != Some(OWN_PROGRAM) {
            return Ok(());
        }
        match process.args.first().and_then(Template::literal) {
            Some("hub") => {
                let says = "the server is itself a Rootward hub";
                Err(section.wrong_key("command", says, "remove it, or set `\"disabled\": true`"))
            }
            Some("wrap") => {
                let says = "the server is already wrapped, so it is confined twice";
                let hint = "name the server's own command; `rootward adopt --undo` restores a client's file";
                notes.push(section.wrong_key("command", says, hint).into());
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Rejects a name that cannot be displayed or distinguished from another.
pub(super) fn check_name(servers: &Section<'_, '_>, name: &str) -> Result<(), ConfigError> {
    // Bidirectional controls and invisible characters.
    let is_hidden = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let says = match name {
        "" => "a server has an empty name".to_owned(),
        _ if name.trim().is_empty() => "a server's name is only white space".to_owned(),
        _ if name.chars().any(is_hidden) => {
            format!("server `{}` has a control character in its name", Shown::new(name))
        }
        _ if name.len() > LONGEST_NAME => format!("the name of a server is longer than {LONGEST_NAME} bytes"),
        _ => return Ok(()),
    };
    Err(servers.wrong_key(name, says, "give the server a short, plain name"))
}

/// Rejects the old HTTP+SSE transport, which the hub does not support.
fn refuse_sse(section: &Section<'_, '_>) -> Result<(), ConfigError> {
    for (key, node) in transports(section) {
        if node.string()? == SSE {
            let says = format!("`{key}`: `sse` is not supported; streamable HTTP replaced it");
            let hint = "use the server's streamable HTTP address and `\"type\": \"http\"`, or set `\"disabled\": true`";
            return Err(node.wrong(says, hint));
        }
    }
    Ok(())
}

/// The keys that name the transport. `transport` counts only if it is a string: clients also store other things
/// there.
fn transports<'n, 't>(section: &Section<'n, 't>) -> Vec<(&'static str, Node<'n, 't>)> {
    let named = section.given("type").map(|node| ("type", node));
    let other = section.given("transport").filter(|node| node.string().is_ok()).map(|node| ("transport", node));
    named.into_iter().chain(other).collect()
}

fn kind(section: &Section<'_, '_>) -> Result<ServerKind, ConfigError> {
    let command = section.given("command");
    let mut urls = URL_KEYS.iter().filter_map(|key| Some((*key, section.given(key)?)));
    let url = urls.next();
    if let (Some((one, _)), Some((other, _))) = (&url, urls.next()) {
        let says = format!("the server has both `{one}` and `{other}`");
        return Err(section.wrong_key(other, says, "keep one of the two"));
    }
    for (key, node) in transports(section) {
        let word = node.string()?;
        let fits = match (word, &command, &url) {
            (STDIO, Some(_), None) => true,
            (word, None, Some(_)) => word == SSE || HTTP.contains(&word),
            _ => false,
        };
        if !fits {
            let is_known = word == STDIO || word == SSE || HTTP.contains(&word);
            let (says, hint) = if is_known {
                (
                    format!("`{key}` is `{word}`, which does not match the other keys"),
                    "`stdio` needs `command`, `http` needs `url`",
                )
            } else {
                (format!("`{key}`: unknown value `{}`", Shown::new(word)), "use `stdio`, `http` or `streamable-http`")
            };
            return Err(node.wrong(says, hint));
        }
    }
    match (command, url) {
        (Some(_), Some((key, _))) => {
            let says = format!("the server has both `command` and `{key}`");
            Err(section.wrong(says, "keep one of the two"))
        }
        (Some(command), None) => Ok(ServerKind::Stdio(process(section, &command)?)),
        (None, Some((_, url))) => Ok(ServerKind::Http(remote(section, &url)?)),
        (None, None) => {
            let hint = "`command` starts a program, `url` is the address of a server elsewhere";
            Err(section.wrong("the server has neither `command` nor `url`", hint))
        }
    }
}

fn process(section: &Section<'_, '_>, command: &Node<'_, '_>) -> Result<Stdio, ConfigError> {
    let text = |node: &Node<'_, '_>| {
        let text = node.string()?;
        if text.contains('\0') {
            return Err(node.wrong(format!("`{}` has a NUL character", node.key()), "remove it"));
        }
        without_all_roots(node, template(node, text)?)
    };
    let argument = |node: &Node<'_, '_>| {
        let whole = template(node, node.string()?)?;
        if whole.is_all_roots() { Ok(whole) } else { text(node) }
    };
    if command.string()?.trim().is_empty() {
        return Err(command.wrong("`command` is empty", "write the program that starts the server"));
    }
    let (mut env, mut unset) = (Vec::new(), Vec::new());
    if let Some(node) = section.given("env") {
        let section = node.section()?;
        for (name, value) in section.entries() {
            if name.is_empty() || name.contains(['=', '\0']) {
                let says = format!("`{}` is not a valid variable name", Shown::new(name));
                return Err(section.wrong_key(name, says, "a name must not be empty or contain `=`"));
            }
            if value.is_null() {
                unset.push(name.to_owned());
                continue;
            }
            let written = value.string_or_number()?;
            if written.contains('\0') {
                return Err(value.wrong(format!("`{}` has a NUL character", Shown::new(value.key())), "remove it"));
            }
            env.push((name.to_owned(), without_all_roots(&value, template(&value, written)?)?));
        }
    }
    let args = match section.given("args") {
        Some(_) => each(section, "args", argument)?,
        None => Vec::new(),
    };
    Ok(Stdio {
        command: text(command)?,
        args,
        env,
        unset,
        env_file: section.given("envFile").map(|node| text(&node)).transpose()?,
        cwd: section.given("cwd").map(|node| text(&node)).transpose()?,
    })
}

fn remote(section: &Section<'_, '_>, url: &Node<'_, '_>) -> Result<Http, ConfigError> {
    let address = without_all_roots(url, template(url, url.string()?)?)?;
    if !begins_like_http(&address) {
        let says = format!("`{}` is not an address that begins with `http://` or `https://`", url.key());
        return Err(url.wrong(says, "only servers on streamable HTTP can be reached"));
    }
    let mut headers = Vec::new();
    if let Some(node) = section.given("headers") {
        let section = node.section()?;
        for (name, value) in section.entries() {
            // RFC 9110, 5.1: a token.
            let is_token = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
            if name.is_empty() || !name.chars().all(is_token) {
                let says = format!("`{}` is not a valid header name", Shown::new(name));
                return Err(section.wrong_key(name, says, "use letters, digits and `-`"));
            }
            headers.push((name.to_owned(), without_all_roots(&value, template(&value, value.string()?)?)?));
        }
    }
    Ok(Http { url: address, headers })
}

/// Whether the literal start of an address can be that of an HTTP address.
fn begins_like_http(url: &Template) -> bool {
    let begins = url.beginning().to_ascii_lowercase();
    let schemes = ["http://", "https://"];
    let is_begun = |scheme: &&str| url.literal().is_none() && scheme.starts_with(begins.as_str());
    schemes.iter().any(|scheme| begins.starts_with(scheme) || is_begun(scheme))
}

fn refuse_process_keys(section: &Section<'_, '_>) -> Result<(), ConfigError> {
    match section.entries().find(|(name, _)| KEYS_OF_PROCESSES.contains(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let says = format!("`rootward.{name}` has no effect on a server that is reached by its address");
            Err(section.wrong_key(name, says, "remove it: the hub can confine only what it starts"))
        }
    }
}

fn refuse_address_keys(section: &Section<'_, '_>) -> Result<(), ConfigError> {
    match section.entries().find(|(name, _)| KEYS_OF_ADDRESSES.contains(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let says = format!("`rootward.{name}` has no effect on a server that is a command");
            Err(section.wrong_key(name, says, "remove it: it is for servers that are reached by an address"))
        }
    }
}

/// Applies the client's own keys that switch tools off.
fn tools(section: &Section<'_, '_>, settings: &mut ServerSettings) -> Result<(), ConfigError> {
    for key in ["disabledTools", "excludeTools"] {
        if section.given(key).is_some() {
            settings.tools.deny.extend(each(section, key, ToolPattern::read)?);
        }
    }
    if section.given("includeTools").is_some() {
        settings.tools.allow_only(each(section, "includeTools", ToolPattern::read)?);
    }
    Ok(())
}
