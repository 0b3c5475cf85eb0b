//! One server's entry. All clients write it nearly the same way: a command with arguments and variables, or a URL
//! with headers.

use std::path::PathBuf;

use rootward_core::Shown;

use super::model::{ConfiguredCommand, Enabled, FileVariables, Remote, Scope, Server, Transport};
use super::node::{Node, Value};
use super::places::Form;
use super::reader::{Noted, Reader, Takes};
use super::variables::{FileContext, Syntax};
use super::{claude_code, claude_desktop, codex, cursor, directories, gemini, opencode, vscode, windsurf, zed};

/// What differs between clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// The keys that may have the URL.
    pub(super) urls: &'static [&'static str],
    /// The key of the headers.
    pub(super) headers: &'static str,
    /// The key of the variables.
    pub(super) variables: &'static str,
    /// The key that lists variables to pass on.
    pub(super) passed: Option<&'static str>,
    /// The key of a file with variables.
    pub(super) variables_file: Option<&'static str>,
    /// How the program and its arguments are written.
    pub(super) command: CommandShape,
    /// What the client accepts as the value of a variable.
    pub(super) takes: Takes,
    /// The values of `type` for a process.
    pub(super) process: &'static [&'static str],
    /// The values of `type` for a server on the network.
    pub(super) network: &'static [&'static str],
    /// Which variables the client expands.
    pub(super) syntax: Syntax,
}

/// How an entry writes the program and its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CommandShape {
    /// `command` and `args`.
    Split,
    /// Both in the list `command`.
    List,
    /// `command` and `args`, or a table `command` with `path`, `args` and `env`. An entry without either belongs to an extension.
    Table,
}

impl Form {
    /// How a client writes the entries of this file.
    fn dialect(self) -> Dialect {
        match self {
            Form::ClaudeState | Form::ClaudeProject | Form::ClaudeSettings => claude_code::DIALECT,
            Form::ClaudeDesktop => claude_desktop::DIALECT,
            Form::Cursor => cursor::DIALECT,
            Form::VsCode => vscode::DIALECT,
            Form::Codex => codex::DIALECT,
            Form::Gemini => gemini::DIALECT,
            Form::Opencode => opencode::DIALECT,
            Form::Windsurf => windsurf::DIALECT,
            Form::Zed => zed::DIALECT,
        }
    }

    /// Which variables the client expands.
    pub(crate) fn syntax(self) -> Syntax {
        self.dialect().syntax
    }

    /// The keys of variables and headers, which are often secret.
    pub(crate) fn secret_keys(self) -> [&'static str; 2] {
        [self.dialect().variables, self.dialect().headers]
    }

    /// The keys of a command that are read, besides `command` and `args`.
    pub(crate) fn command_keys(self) -> impl Iterator<Item = &'static str> {
        let Dialect { variables, passed, variables_file, .. } = self.dialect();
        ["type", "cwd", "enabled", "disabled", variables].into_iter().chain(passed).chain(variables_file)
    }

    /// How an entry writes its command.
    pub(crate) fn command_shape(self) -> CommandShape {
        self.dialect().command
    }
}

impl Dialect {
    /// What most clients share.
    pub(super) const USUAL: Dialect = Dialect {
        urls: &["url"],
        headers: "headers",
        variables: "env",
        passed: None,
        variables_file: None,
        command: CommandShape::Split,
        takes: Takes::Texts,
        process: &["stdio"],
        network: &["http", "sse", "streamable-http", "streamableHttp", "streamable_http"],
        syntax: Syntax::Nothing,
    };
}

/// The servers below a key, each in this scope.
pub(super) fn all(
    reader: &mut Reader<'_>,
    top: &Node,
    key: &str,
    scope: &Scope,
    dialect: Dialect,
    around: &FileContext,
) {
    for entry in reader.table(top, key) {
        let within = format!("server `{}`", Shown::new(&entry.name));
        if entry.again {
            reader.note(entry.node.at, format!("duplicate key: {within}; the last one counts"));
        }
        // Mistakes are noted, and the other entries are still read.
        if let Ok(server) = one(reader, &entry.name, &entry.node, &within, scope, dialect, around) {
            reader.server(entry.node.at, server);
        }
    }
}

fn one(
    reader: &mut Reader<'_>,
    name: &str,
    node: &Node,
    within: &str,
    scope: &Scope,
    dialect: Dialect,
    around: &FileContext,
) -> Result<Server, Noted> {
    if !matches!(node.value, Value::Table(_)) {
        return Err(reader.note(node.at, format!("{within} must be a table, not {}", node.kind())));
    }
    let off = reader.boolean(node, within, "enabled")? == Some(false)
        || reader.boolean(node, within, "disabled")? == Some(true);
    let transport = transport(reader, node, within, dialect)?;
    let roots = match &transport {
        Transport::Command(line) => directories::of(line, dialect.syntax, around),
        Transport::Remote(_) => Vec::new(),
    };
    let enabled = if off { Enabled::Off } else { Enabled::On };
    Ok(Server { name: name.to_owned(), scope: scope.clone(), enabled, transport, roots })
}

fn transport(reader: &mut Reader<'_>, node: &Node, within: &str, dialect: Dialect) -> Result<Transport, Noted> {
    let kind = reader.text(node, within, "type")?;
    let words = words(reader, node, within, dialect)?;
    let mut url = None;
    for key in dialect.urls {
        url = url.or(reader.text(node, within, key)?);
    }
    let of_type = |types: &[&str]| kind.as_deref().is_none_or(|kind| types.contains(&kind));
    match (words, url) {
        (Some(words), None) if of_type(dialect.process) => {
            let Words { program, arguments, holder } = words;
            if program.trim().is_empty() {
                return Err(reader.note(node.at, format!("{within}: `command` is empty")));
            }
            let mut text = |key: Option<&'static str>| {
                key.map(|key| reader.text(node, within, key)).transpose().map(Option::flatten)
            };
            let (variables_file, directory) = (text(dialect.variables_file)?, text(Some("cwd"))?);
            Ok(Transport::Command(ConfiguredCommand {
                program,
                arguments,
                variables: reader.pairs(holder, within, dialect.variables, dialect.takes)?,
                passed: dialect.passed.map(|key| reader.names(node, within, key)).transpose()?.unwrap_or_default(),
                variables_file,
                from_file: FileVariables::Unread,
                directory,
            }))
        }
        (None, Some(url)) if of_type(dialect.network) => {
            Ok(Transport::Remote(Remote { url, headers: reader.pairs(node, within, dialect.headers, Takes::Texts)? }))
        }
        (Some(_), Some(_)) => Err(reader.note(node.at, format!("{within} has both `command` and `url`"))),
        (None, None) if dialect.command == CommandShape::Table => {
            Err(reader.note(node.at, format!("{within} has neither `command` nor `url`: an extension starts it")))
        }
        (None, None) => Err(reader.note(node.at, format!("{within} has neither `command` nor `url`"))),
        _ => {
            let kind = kind.unwrap_or_default();
            Err(reader.note(
                node.at,
                format!("{within}: `type` is `{}`, which does not match the other keys", Shown::new(&kind)),
            ))
        }
    }
}

/// A command as written in an entry.
struct Words<'n> {
    program: String,
    arguments: Vec<String>,
    /// The node with the variables.
    holder: &'n Node,
}

fn words<'n>(
    reader: &mut Reader<'_>,
    node: &'n Node,
    within: &str,
    dialect: Dialect,
) -> Result<Option<Words<'n>>, Noted> {
    let table = node.get("command").filter(|command| matches!(command.value, Value::Table(_)));
    let (holder, key) = match (dialect.command, table) {
        (CommandShape::List, _) => {
            let mut words = reader.texts(node, within, "command")?.into_iter();
            let words = node.get("command").map(|_| (words.next().unwrap_or_default(), words.collect()));
            return Ok(words.map(|(program, arguments)| Words { program, arguments, holder: node }));
        }
        (CommandShape::Table, Some(table)) => (table, "path"),
        (CommandShape::Split | CommandShape::Table, _) => (node, "command"),
    };
    let Some(program) = reader.text(holder, within, key)? else { return Ok(None) };
    Ok(Some(Words { program, arguments: reader.texts(holder, within, "args")?, holder }))
}

/// The scope of a file's servers: a project, if the file is in one.
pub(super) fn scope(around: &FileContext) -> Scope {
    let text = |project: &PathBuf| project.to_string_lossy().into_owned();
    around.project.as_ref().map_or(Scope::User, |project| Scope::Project(text(project)))
}
