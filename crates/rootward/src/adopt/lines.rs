//! The findings and planned changes, for people.

use std::io::{self, Write};
use std::path::Path;

use rootward_client::adopt::Verdict;
use rootward_client::import::{Enabled, Form, Holder, Scope, Transport};

use super::gathering::{Adoptable, Gathered, Listed};
use super::{Desk, diff, name};
use crate::message;

pub(super) fn write(out: &mut impl Write, gathered: &Gathered, desk: &Desk) -> io::Result<()> {
    for file in &gathered.files {
        let path = desk.shown(&file.config.path);
        let whose = match file.holder {
            Holder::User => "",
            Holder::Project => " (the project's file: it may be shared with others)",
        };
        writeln!(out, "{}: {path}{whose}", file.form.client())?;
        for server in &file.servers {
            writeln!(out, "  {}: {}", label(file, server, desk), says(server))?;
        }
        for mistake in &file.plan.not_understood {
            writeln!(out, "  left as it is: {mistake}")?;
        }
        if file.plan.changed_servers() > 0 {
            writeln!(out)?;
            diff::write(out, &path, file.form, file.config.text(), &file.plan.text)?;
        }
        for hub in &file.plan.hubs {
            diff::write(out, &desk.shown(&hub.adopted.file), Form::ClaudeProject, "", &hub.config)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// A server's name, with its project if only that has it.
pub(super) fn label(file: &Adoptable, server: &Listed, desk: &Desk) -> String {
    let named = name(&server.planned.server.name);
    match &server.planned.server.scope {
        Scope::Project(project) if file.holder == Holder::User => {
            format!("{named} (in {})", desk.shown(Path::new(project)))
        }
        _ => named,
    }
}

fn says(server: &Listed) -> String {
    let mut notes = Vec::new();
    if server.planned.server.enabled == Enabled::Off {
        notes.push("switched off".to_owned());
    }
    if let Some(recipe) = &server.recipe {
        notes.push(format!("recipe `{}`", name(&recipe.name)));
        if !recipe.appended.is_empty() {
            notes.push(format!("it adds `{}`", recipe.appended.join(" ")));
        }
        if !recipe.directories.is_empty() {
            notes.push(format!("limited to what the client shares within `{}`", recipe.directories.join("`, `")));
        }
    }
    let says = match &server.planned.verdict {
        _ if server.another => "skipped: it calls a program `rootward` that is not this one".to_owned(),
        Verdict::Wrap(wrapping) => {
            if !wrapping.withheld.is_empty() {
                let names: Vec<String> = wrapping.withheld.iter().map(|withheld| name(withheld)).collect();
                notes.push(format!("not passed on: {}", names.join(", ")));
            }
            if !wrapping.steering.is_empty() {
                let names: Vec<String> = wrapping.steering.iter().map(|steering| name(steering)).collect();
                notes.push(format!("Rootward itself reads {}, too", names.join(", ")));
            }
            if let Transport::Command(line) = &server.planned.server.transport
                && let (Some(file), Some(why)) = (&line.variables_file, &server.unread_variables)
            {
                let (file, why) = (name(file), name(why));
                notes.push(format!("variables in `{file}` are not passed on ({why}): add `--env NAME` for each"));
            }
            "will be wrapped".to_owned()
        }
        Verdict::Hub => "will move behind the hub".to_owned(),
        Verdict::Wrapped => "already wrapped".to_owned(),
        Verdict::Rootward if is_hub(server) => "already the hub".to_owned(),
        Verdict::Rootward => "Rootward itself".to_owned(),
        Verdict::NotWrapped(why) => format!("skipped: {}", name(&why.to_string())),
    };
    if notes.is_empty() { says } else { format!("{says} ({})", notes.join("; ")) }
}

fn is_hub(server: &Listed) -> bool {
    matches!(&server.planned.server.transport, Transport::Command(line) if line.rootward_verb() == Some("hub"))
}

/// The files that cannot be adopted.
pub(super) fn tell_unread(gathered: &Gathered, desk: &Desk) {
    for unread in &gathered.unread {
        message::error(&format!("`{}` cannot be adopted: {}", desk.shown(&unread.file), name(&unread.says)));
    }
}
