//! One server's entry. The clients write it nearly alike: a command with arguments and variables, or an address with headers.

use std::path::PathBuf;

use rootward_core::Shown;

use super::directories;
use super::model::{CommandLine, Enabled, Remote, Scope, Server, Transport};
use super::node::{Node, Value};
use super::reader::{Noted, Reader, Takes};
use super::variables::{Around, Syntax};

/// What differs between clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// Under which key the headers are.
    pub(super) headers: &'static str,
    /// Which key has a file with variables.
    pub(super) variables_file: Option<&'static str>,
    /// What the client takes for the value of a variable.
    pub(super) takes: Takes,
    /// Which variables the client fills in.
    pub(super) syntax: Syntax,
}

/// What `type` may say.
const PROCESS: [&str; 1] = ["stdio"];
const NETWORK: [&str; 5] = ["http", "sse", "streamable-http", "streamableHttp", "streamable_http"];

/// The servers below a key, each in this scope.
pub(super) fn all(reader: &mut Reader<'_>, top: &Node, key: &str, scope: &Scope, dialect: Dialect, around: &Around) {
    for entry in reader.table(top, key) {
        let within = format!("server `{}`", Shown::new(&entry.name));
        if entry.again {
            reader.note(entry.node.at, format!("{within} stands twice: the last one holds"));
        }
        // What went wrong is noted, and the others are read all the same.
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
    around: &Around,
) -> Result<Server, Noted> {
    if !matches!(node.value, Value::Table(_)) {
        return Err(reader.note(node.at, format!("{within} is a table, not {}", node.kind())));
    }
    let off =
        reader.truth(node, within, "enabled")? == Some(false) || reader.truth(node, within, "disabled")? == Some(true);
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
    let program = reader.text(node, within, "command")?;
    let url = reader.text(node, within, "url")?;
    let of_type = |types: &[&str]| kind.as_deref().is_none_or(|kind| types.contains(&kind));
    match (program, url) {
        (Some(program), None) if of_type(&PROCESS) => {
            if program.trim().is_empty() {
                return Err(reader.note(node.at, format!("{within}: `command` is empty")));
            }
            let variables_file =
                dialect.variables_file.map(|key| reader.text(node, within, key)).transpose()?.flatten();
            Ok(Transport::Command(CommandLine {
                program,
                arguments: reader.texts(node, within, "args")?,
                variables: reader.pairs(node, within, "env", dialect.takes)?,
                variables_file,
                directory: reader.text(node, within, "cwd")?,
            }))
        }
        (None, Some(url)) if of_type(&NETWORK) => {
            Ok(Transport::Remote(Remote { url, headers: reader.pairs(node, within, dialect.headers, Takes::Texts)? }))
        }
        (Some(_), Some(_)) => Err(reader.note(node.at, format!("{within} has both `command` and `url`"))),
        (None, None) => Err(reader.note(node.at, format!("{within} has neither `command` nor `url`"))),
        _ => {
            let kind = kind.unwrap_or_default();
            Err(reader
                .note(node.at, format!("{within}: `type` is `{}`, which does not fit the rest", Shown::new(&kind))))
        }
    }
}

/// The scope of a file's servers: one project's, where it lies in one.
pub(super) fn scope(around: &Around) -> Scope {
    let text = |project: &PathBuf| project.to_string_lossy().into_owned();
    around.project.as_ref().map_or(Scope::User, |project| Scope::Project(text(project)))
}
