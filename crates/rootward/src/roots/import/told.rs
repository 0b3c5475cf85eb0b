//! The findings, for programs.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;
use rootward_client::import::{Enabled, Import, ImportError, Imported, Server, SuggestedRoot, Transport};
use rootward_core::Access;
use serde::Serialize;

use super::view::{View, WrapLine};
use crate::answer::text;
use crate::client_files::{ToldMistake, ToldUnread, holder_word, project_of};

#[derive(Serialize)]
struct Told<'i> {
    files: Vec<ToldFile<'i>>,
    unread: Vec<ToldUnread<'i>>,
}

#[derive(Serialize)]
struct ToldFile<'i> {
    client: &'static str,
    file: Cow<'i, str>,
    /// `user` or `project`: who is responsible for the file.
    holder: &'static str,
    servers: Vec<ToldServer<'i>>,
    roots: Vec<ToldRoot<'i>>,
    not_understood: Vec<ToldMistake<'i>>,
}

#[derive(Serialize)]
struct ToldServer<'i> {
    name: &'i str,
    /// Null if the client uses it everywhere.
    project: Option<&'i str>,
    enabled: bool,
    /// The program and its arguments; null if it is remote.
    command: Option<Vec<String>>,
    variables: Vec<ToldPair<'i>>,
    variables_file: Option<String>,
    starts_in: Option<String>,
    /// Null if it is a command.
    url: Option<String>,
    headers: Vec<ToldPair<'i>>,
    /// Whether something is hidden.
    hidden: bool,
    roots: Vec<ToldRoot<'i>>,
    /// What to write in the client's file; null if it cannot be confined, is already confined, or contains a hidden
    /// secret.
    wrap_with: Option<ToldCommand>,
}

#[derive(Serialize)]
struct ToldCommand {
    command: String,
    args: Vec<String>,
}

#[derive(Serialize)]
struct ToldPair<'i> {
    name: &'i str,
    /// Null if it is hidden.
    value: Option<&'i str>,
}

#[derive(Serialize)]
struct ToldRoot<'i> {
    text: String,
    /// Null if only the client knows.
    path: Option<Cow<'i, str>>,
    access: Access,
    why: String,
    /// Why it should not be shared.
    refused: Option<String>,
}

pub(super) fn write(out: &mut impl Write, read: &Import, view: &View) -> Result<()> {
    let files = read.files.iter().map(|file| ToldFile {
        client: file.client.name(),
        file: text(file.file.as_os_str()),
        holder: holder_word(file.holder),
        servers: file.found.servers.iter().map(|server| of_server(server, file, view)).collect(),
        roots: file.found.roots.iter().map(|root| of_root(root, view)).collect(),
        not_understood: file.found.not_understood.iter().map(ToldMistake::from).collect(),
    });
    let unread = read.unread.iter().map(|unread| {
        let mistake = match &unread.error {
            ImportError::Damaged(mistake) => Some(mistake),
            _ => None,
        };
        ToldUnread::new(unread.client, &unread.file, mistake, unread.error.to_string())
    });
    let told = Told { files: files.collect(), unread: unread.collect() };
    serde_json::to_writer_pretty(&mut *out, &told)?;
    out.write_all(b"\n")?;
    Ok(())
}

fn of_server<'i>(server: &'i Server, file: &Imported, view: &View) -> ToldServer<'i> {
    let mut told = ToldServer {
        name: &server.name,
        project: project_of(&server.scope),
        enabled: server.enabled == Enabled::On,
        command: None,
        variables: Vec::new(),
        variables_file: None,
        starts_in: None,
        url: None,
        headers: Vec::new(),
        hidden: view.hides(server),
        roots: server.roots.iter().map(|root| of_root(root, view)).collect(),
        wrap_with: match view.wrap_line(server, file.client, file.holder) {
            WrapLine::Command(words) => of_words(words),
            _ => None,
        },
    };
    match &server.transport {
        Transport::Command(line) => {
            told.command = Some(view.command(line));
            told.variables = of_pairs(&line.variables, view);
            told.variables_file = line.variables_file.as_ref().map(|file| view.text(file));
            told.starts_in = line.directory.as_ref().map(|directory| view.text(directory));
        }
        Transport::Remote(remote) => {
            told.url = Some(view.address(&remote.url));
            told.headers = of_pairs(&remote.headers, view);
        }
    }
    told
}

fn of_words(mut words: Vec<String>) -> Option<ToldCommand> {
    let args = words.split_off(1);
    Some(ToldCommand { command: words.pop()?, args })
}

fn of_pairs<'i>(pairs: &'i [(String, String)], view: &View) -> Vec<ToldPair<'i>> {
    pairs.iter().map(|(name, value)| ToldPair { name, value: view.value(value) }).collect()
}

fn of_root<'i>(root: &'i SuggestedRoot, view: &View) -> ToldRoot<'i> {
    let path = root.path.as_ref().map(|path| text(path.as_os_str()));
    ToldRoot {
        text: view.text(&root.text),
        path,
        access: root.access,
        why: root.why.to_string(),
        refused: view.unshareable(root),
    }
}
