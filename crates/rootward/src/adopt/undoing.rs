//! `rootward adopt --undo`: removes Rootward's words and hubs from the files that it put them into.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use rootward_client::adopt::{Adopted, AdoptedHub, ConfigFile, Left, SavedRecord, Undone};
use serde::Serialize;

use super::gathering::Target;
use super::{Adopt, Desk, counted, diff, name, not_read, not_replaced, question};
use crate::Outcome;
use crate::answer::text;
use crate::message;

/// A file to remove Rootward's words from.
struct Undoable {
    saved: SavedRecord,
    config: ConfigFile,
    undone: Undone,
    changed: bool,
    /// The hub configurations that were kept.
    kept: Vec<PathBuf>,
    error: Option<String>,
}

#[derive(Serialize)]
struct Told<'u> {
    files: Vec<ToldFile<'u>>,
    /// Files that cannot be undone.
    unread: &'u [ToldUnread],
}

#[derive(Serialize)]
struct ToldFile<'u> {
    client: &'static str,
    file: std::borrow::Cow<'u, str>,
    changed: bool,
    error: Option<&'u str>,
    /// The servers that get their own command back.
    restored: Vec<&'u str>,
    left: Vec<ToldLeft<'u>>,
    /// The hub configurations that were kept, because somebody changed them.
    kept: Vec<std::borrow::Cow<'u, str>>,
}

#[derive(Serialize)]
struct ToldLeft<'u> {
    name: &'u str,
    why: String,
}

#[derive(Serialize)]
struct ToldUnread {
    file: String,
    says: String,
}

pub(super) fn run(adopt: &Adopt, target: &Target, desk: &Desk) -> Result<Outcome> {
    let (saved, refused) = desk.shelf.records_ambient()?;
    let mut unread: Vec<ToldUnread> = Vec::new();
    for error in &refused {
        message::error(&not_replaced(error));
    }
    let place = match target {
        Target::File(file) => {
            Some(rootward_core::follow_ambient(file).map_or_else(|| file.clone(), |found| found.place))
        }
        Target::Everything | Target::Client(_) => None,
    };
    let mut files = Vec::new();
    for saved in saved {
        let wanted = match &place {
            Some(place) => saved.record.file == *place,
            None => target.takes(saved.record.form.client()),
        };
        if !wanted {
            continue;
        }
        match read_ambient(saved, desk) {
            Ok(file) => files.push(file),
            Err((file, says)) => {
                message::error(&format!("`{}` cannot be undone: {}", desk.shown(Path::new(&file)), name(&says)));
                unread.push(ToldUnread { file, says });
            }
        }
    }
    let restored: usize = files.iter().map(|file| file.undone.changed_servers()).sum();
    if !adopt.scripted.json {
        let mut out = io::stdout().lock();
        for file in &files {
            write(&mut out, file, desk)?;
        }
        out.flush()?;
    }
    let mut outcome = if unread.is_empty() && refused.is_empty() { Outcome::Done } else { Outcome::Failed };
    let agreed = restored == 0 || adopt.ask(&question("Undo", restored), "pass `--yes` to undo it")?.is_some();
    if agreed {
        outcome = outcome.and(carry_out(&mut files, desk));
        if !adopt.scripted.json {
            let done: usize = files.iter().filter(|file| file.changed).map(|file| file.undone.changed_servers()).sum();
            let says = if done == 0 { "nothing to undo".to_owned() } else { format!("undone: {}", counted(done)) };
            let mut out = io::stdout().lock();
            for kept in files.iter().flat_map(|file| &file.kept) {
                writeln!(out, "`{}` is kept: it, or its entry, was changed since", desk.shown(kept))?;
            }
            writeln!(out, "{says}")?;
        }
    } else {
        outcome = outcome.and(Outcome::Denied);
    }
    if adopt.scripted.json {
        let told = Told { files: files.iter().map(told).collect(), unread: &unread };
        let mut out = io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, &told)?;
        writeln!(out)?;
    }
    Ok(outcome)
}

fn read_ambient(saved: SavedRecord, desk: &Desk) -> Result<Undoable, (String, String)> {
    let file = saved.record.file.clone();
    let failed = |says: String| (text(file.as_os_str()).into_owned(), says);
    let config = ConfigFile::open_ambient(&file, None, &desk.material).map_err(|error| failed(not_read(&error)))?;
    let config = config.ok_or_else(|| failed("the file no longer exists; its record is kept".to_owned()))?;
    // SECURITY: the recorded path contains no links, so a link that is there now leads to a file that was not
    // adopted
    // (test: a_link_in_place_of_an_adopted_file_is_not_followed)
    if config.place != file {
        return Err(failed("a link is in its place now".to_owned()));
    }
    let undone = saved.record.undo(config.text(), saved.backup.as_deref());
    let undone = undone.map_err(|error| failed(error.to_string()))?;
    Ok(Undoable { saved, config, undone, changed: false, kept: Vec::new(), error: None })
}

fn carry_out(files: &mut [Undoable], desk: &Desk) -> Outcome {
    let mut outcome = Outcome::Done;
    for file in files {
        match desk.shelf.undo_ambient(&file.saved, &file.config, &file.undone) {
            Ok(kept) => {
                file.changed = file.undone.changed_servers() > 0;
                file.kept = kept;
            }
            Err(error) => {
                let says = not_replaced(&error);
                message::error(&format!("`{}` stays as it is: {says}", desk.shown(&file.config.path)));
                file.error = Some(says);
                outcome = Outcome::Failed;
            }
        }
        let hubs_left = file.undone.hubs_left.iter().map(|(_, left)| left);
        if file.undone.left.iter().map(|(_, left)| left).chain(hubs_left).any(|left| !left.is_settled()) {
            outcome = outcome.and(Outcome::Denied);
        }
    }
    outcome
}

fn write(out: &mut impl Write, file: &Undoable, desk: &Desk) -> io::Result<()> {
    let path = desk.shown(&file.config.path);
    writeln!(out, "{}: {path}", file.saved.record.form.client())?;
    for entry in &file.undone.entries {
        writeln!(out, "  {}: gets its own command back", label(entry, desk))?;
    }
    for hub in &file.undone.hubs {
        let servers: Vec<String> = hub.servers.iter().map(|server| name(server)).collect();
        writeln!(out, "  {}: replaced by {}", label_of_hub(hub, desk), servers.join(", "))?;
    }
    for (entry, left) in &file.undone.left {
        writeln!(out, "  {}: {}", label(entry, desk), name(&why(left)))?;
    }
    for (hub, left) in &file.undone.hubs_left {
        let config = desk.shown(&hub.file);
        writeln!(out, "  {}: {}; its servers are in `{config}`", label_of_hub(hub, desk), name(&why(left)))?;
    }
    if file.undone.text != file.config.text() {
        writeln!(out)?;
        diff::write(out, &path, file.saved.record.form, file.config.text(), &file.undone.text)?;
    }
    writeln!(out)
}

/// A server's name, with its project if only that has it.
fn label(entry: &Adopted, desk: &Desk) -> String {
    match &entry.place[..] {
        [_, project, _, server] => format!("{} (in {})", name(server), desk.shown(Path::new(project))),
        _ => name(entry.name()),
    }
}

fn label_of_hub(hub: &AdoptedHub, desk: &Desk) -> String {
    match &hub.table[..] {
        [_, project, _] => format!("{} (in {})", name(&hub.name), desk.shown(Path::new(project))),
        _ => name(&hub.name),
    }
}

fn why(left: &Left) -> String {
    match left {
        Left::Gone => "it is no longer in the file".to_owned(),
        Left::Unwrapped => "it has its own command already".to_owned(),
        Left::Changed => "left as it is: its command was changed since".to_owned(),
        Left::Unclear(why) => format!("left as it is: {why}"),
    }
}

fn told(file: &Undoable) -> ToldFile<'_> {
    let undone = &file.undone;
    let behind_hubs = undone.hubs.iter().flat_map(|hub| &hub.servers).map(String::as_str);
    let left = undone.left.iter().map(|(entry, left)| (entry.name(), left));
    let left = left.chain(undone.hubs_left.iter().map(|(hub, left)| (hub.name.as_str(), left)));
    ToldFile {
        client: file.saved.record.form.client().name(),
        file: text(file.config.path.as_os_str()),
        changed: file.changed,
        error: file.error.as_deref(),
        restored: undone.entries.iter().map(Adopted::name).chain(behind_hubs).collect(),
        left: left.map(|(name, left)| ToldLeft { name, why: why(left) }).collect(),
        kept: file.kept.iter().map(|kept| text(kept.as_os_str())).collect(),
    }
}
