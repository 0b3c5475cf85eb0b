//! What was found, changed and tried, for programs. Secrets are hidden.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;
use rootward_client::adopt::{AdoptedHub, Verdict};
use rootward_client::import::{Enabled, Transport};
use rootward_core::secrets;
use serde::Serialize;

use super::gathering::{Adoptable, Gathered, Listed};
use super::trying::Tried;
use super::{Desk, verdict_word};
use crate::answer::text;
use crate::client_files::{ToldMistake, ToldUnread, holder_word, project_of};

#[derive(Serialize)]
struct Told<'g> {
    files: Vec<ToldFile<'g>>,
    unread: Vec<ToldUnread<'g>>,
}

#[derive(Serialize)]
struct ToldFile<'g> {
    client: &'static str,
    file: Cow<'g, str>,
    /// `user` or `project`: who is responsible for the file.
    holder: &'static str,
    /// Whether it was replaced.
    changed: bool,
    /// Where the old text is, if it was replaced.
    backup: Option<String>,
    /// Why it was not replaced.
    error: Option<&'g str>,
    servers: Vec<ToldServer<'g>>,
    /// The entries for the hub that replace servers.
    hubs: Vec<ToldHub<'g>>,
    not_understood: Vec<ToldMistake<'g>>,
}

#[derive(Serialize)]
struct ToldHub<'g> {
    name: &'g str,
    /// The file that the servers move to.
    config: Cow<'g, str>,
    /// Their names.
    servers: &'g [String],
}

#[derive(Serialize)]
struct ToldServer<'g> {
    name: &'g str,
    /// Null if the client uses it everywhere.
    project: Option<&'g str>,
    enabled: bool,
    /// `wrap`, `hub`, `wrapped`, `rootward` or `not_wrapped`.
    verdict: &'static str,
    /// Why it is not confined: `remote`, `container`, `steered`, `steered_by_file`, `not_by_hub`, `unclear` or
    /// `another_rootward`.
    reason: Option<&'static str>,
    says: Option<String>,
    recipe: Option<&'g str>,
    /// The options that the recipe adds to the end of the command.
    appended: &'g [String],
    /// The old command; null if it is remote.
    was: Option<Vec<String>>,
    /// The new command; null if it does not change.
    becomes: Option<Vec<String>>,
    /// Variables of the entry that are not passed on.
    withheld: &'g [String],
    /// Null if it was not started.
    works: Option<bool>,
    tools: Option<usize>,
    /// Why it does not work, or was not started.
    why: Option<&'g str>,
}

pub(super) fn write(out: &mut impl Write, gathered: &Gathered, desk: &Desk) -> Result<()> {
    let unread = gathered.unread.iter();
    let unread =
        unread.map(|unread| ToldUnread::new(unread.client, &unread.file, unread.mistake.as_ref(), &unread.says));
    let files = gathered.files.iter().map(|file| of_file(file, desk));
    let told = Told { files: files.collect(), unread: unread.collect() };
    serde_json::to_writer_pretty(&mut *out, &told)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

fn of_file<'g>(file: &'g Adoptable, desk: &Desk) -> ToldFile<'g> {
    let backup = file.changed.then(|| text(desk.shelf.backup_path(&file.config.place).as_os_str()).into_owned());
    ToldFile {
        client: file.form.client().name(),
        file: text(file.config.path.as_os_str()),
        holder: holder_word(file.holder),
        changed: file.changed,
        backup,
        error: file.error.as_deref(),
        servers: file.servers.iter().map(of_server).collect(),
        hubs: file.plan.hubs.iter().map(|hub| of_hub(&hub.adopted)).collect(),
        not_understood: file.plan.not_understood.iter().map(ToldMistake::from).collect(),
    }
}

fn of_hub(hub: &AdoptedHub) -> ToldHub<'_> {
    ToldHub { name: &hub.name, config: text(hub.file.as_os_str()), servers: &hub.servers }
}

fn of_server(server: &Listed) -> ToldServer<'_> {
    let verdict = &server.planned.verdict;
    let (reason, says) = match verdict {
        _ if server.another => (Some("another_rootward"), None),
        Verdict::NotWrapped(why) => (Some(why.code()), Some(why.to_string())),
        Verdict::Wrap(_) | Verdict::Hub | Verdict::Wrapped | Verdict::Rootward => (None, None),
    };
    let was = match &server.planned.server.transport {
        Transport::Command(line) => Some(line.words()),
        Transport::Remote(_) => None,
    };
    let (becomes, withheld) = match (verdict, &was) {
        (Verdict::Wrap(wrapping), Some(words)) => {
            let words = [&wrapping.before[..], words].concat();
            (Some(secrets::arguments(&words)), &wrapping.withheld[..])
        }
        _ => (None, &[][..]),
    };
    let (works, tools, why) = match &server.tried {
        Some(Tried::Works { tools }) => (Some(true), Some(*tools), None),
        Some(Tried::Fails { why }) => (Some(false), None, Some(why.as_str())),
        Some(Tried::Skipped { why }) => (None, None, Some(why.as_str())),
        None => (None, None, None),
    };
    ToldServer {
        name: &server.planned.server.name,
        project: project_of(&server.planned.server.scope),
        enabled: server.planned.server.enabled == Enabled::On,
        verdict: if server.another { "not_wrapped" } else { verdict_word(verdict) },
        reason,
        says,
        recipe: server.recipe.as_ref().map(|recipe| recipe.name.as_str()),
        appended: server.recipe.as_ref().map(|recipe| recipe.appended.as_slice()).unwrap_or_default(),
        was: was.map(|words| secrets::arguments(&words)),
        becomes,
        withheld,
        works,
        tools,
        why,
    }
}
