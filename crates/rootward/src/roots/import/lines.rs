//! The findings, for people.

use std::io::{self, Write};
use std::path::Path;

use rootward_client::import::{Enabled, Import, Imported, Scope, Server, SuggestedRoot, Transport};
use rootward_core::{Shown, secrets};

use super::view::{View, WrapLine};
use crate::message::word_for_shell;
use crate::roots::desk::Desk;

pub(super) fn write(out: &mut impl Write, read: &Import, view: &View, desk: &Desk) -> io::Result<()> {
    let mut first = true;
    for file in &read.files {
        if file.found.servers.is_empty() && file.found.roots.is_empty() {
            continue;
        }
        if !first {
            writeln!(out)?;
        }
        first = false;
        writeln!(out, "{}: {}", file.client, desk.shown(&file.file))?;
        for server in &file.found.servers {
            self::server(out, server, file, view, desk)?;
        }
        for root in &file.found.roots {
            writeln!(out, "  directory {}", judged(root, view, desk))?;
        }
    }
    Ok(())
}

fn server(out: &mut impl Write, server: &Server, file: &Imported, view: &View, desk: &Desk) -> io::Result<()> {
    let off = if server.enabled == Enabled::Off { ", switched off" } else { "" };
    let scope = match &server.scope {
        Scope::User => String::new(),
        Scope::Project(path) => format!(", in `{}`", desk.shown(Path::new(path))),
    };
    writeln!(out, "  server `{}`{scope}{off}", Shown::new(&server.name))?;
    let mut row = |name: &str, says: &str| writeln!(out, "    {name:<9} {says}");
    let pairs = |pairs: &[(String, String)], between: &str| {
        let one = |(name, value): &(String, String)| {
            let value = view.value(value).unwrap_or(secrets::HIDDEN);
            format!("{}{between}{}", Shown::new(name), Shown::new(value))
        };
        pairs.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    match &server.transport {
        Transport::Command(line) => {
            row("command", &for_shell(&view.command(line)))?;
            if !line.variables.is_empty() {
                row("variables", &pairs(&line.variables, "="))?;
            }
            if let Some(file) = &line.variables_file {
                row("variables", &format!("those in `{}`", Shown::new(&view.text(file))))?;
            }
            if let Some(directory) = &line.directory {
                row("starts in", &Shown::new(&view.text(directory)).to_string())?;
            }
        }
        Transport::Remote(remote) => {
            row("address", &Shown::new(&view.address(&remote.url)).to_string())?;
            if !remote.headers.is_empty() {
                row("headers", &pairs(&remote.headers, ": "))?;
            }
        }
    }
    for root in &server.roots {
        row("directory", &judged(root, view, desk))?;
    }
    match view.wrap_line(server, file.client, file.holder) {
        WrapLine::Command(words) => row("wrap with", &for_shell(&words)),
        WrapLine::Hidden => {
            row("wrap with", "a line with a secret in it: `--show-values` shows it, `rootward adopt` writes it")
        }
        WrapLine::Wrapped => row("wrap with", "already wrapped"),
        WrapLine::Rootward => row("wrap with", "not needed: Rootward itself"),
        WrapLine::NotWrapped(why) => row("wrap with", &format!("not possible: {}", Shown::new(&why.to_string()))),
    }
}

fn for_shell(words: &[String]) -> String {
    words.iter().map(|word| word_for_shell(word)).collect::<Vec<_>>().join(" ")
}

/// A suggestion, and whether it should be shared.
fn judged(root: &SuggestedRoot, view: &View, desk: &Desk) -> String {
    let not_for_sharing = view.unshareable(root).map(|reason| format!("; cannot be shared: {reason}"));
    suggestion(root, desk) + &not_for_sharing.unwrap_or_default()
}

/// `` `~/src` (read), mounted into the container ``
pub(super) fn suggestion(root: &SuggestedRoot, desk: &Desk) -> String {
    match &root.path {
        Some(path) => format!("`{}` ({}), {}", desk.shown(path), root.access, root.why),
        // It may be anything, so show it like the command.
        None => {
            let text = secrets::text(&root.text);
            format!("`{}`, {}; which directory that is only the client knows", Shown::new(&text), root.why)
        }
    }
}
