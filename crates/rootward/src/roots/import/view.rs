//! A server as shown: its command, what is hidden in it, and the command that would confine it, from the same code
//! as `adopt`.

use std::path::Component;

use rootward_client::adopt::{Extras, Invocation, NotWrapped, Verdict, judge, usual_roots};
use rootward_client::import::{Client, ConfiguredCommand, Holder, Server, SuggestedRoot, Transport};
use rootward_client::store::{access_text, usable_name};
use rootward_core::{Origin, Validation, secrets};

/// Whether to show secrets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Values {
    Shown,
    Hidden,
}

/// How to show things.
#[derive(Debug)]
pub(super) struct View {
    pub(super) values: Values,
    pub(super) validation: Validation,
    pub(super) caller: Invocation,
}

/// How a server would be confined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum WrapLine {
    /// With this command.
    Command(Vec<String>),
    /// With a command that contains a hidden secret.
    Hidden,
    /// It is already wrapped.
    Wrapped,
    /// It is Rootward itself.
    Rootward,
    /// It cannot be confined.
    NotWrapped(NotWrapped),
}

impl View {
    /// The program and its arguments.
    pub(super) fn command(&self, line: &ConfiguredCommand) -> Vec<String> {
        let words = [std::slice::from_ref(&line.program), &line.arguments].concat();
        match self.values {
            Values::Shown => words,
            Values::Hidden => secrets::arguments(&words),
        }
    }

    /// A value of a variable or a header; `None` if it is hidden.
    pub(super) fn value<'v>(&self, value: &'v str) -> Option<&'v str> {
        (self.values == Values::Shown || value.is_empty()).then_some(value)
    }

    /// An address.
    pub(super) fn address(&self, address: &str) -> String {
        match self.values {
            Values::Shown => address.to_owned(),
            Values::Hidden => secrets::address(address),
        }
    }

    /// Another text that may contain a secret.
    pub(super) fn text(&self, text: &str) -> String {
        match self.values {
            Values::Shown => text.to_owned(),
            Values::Hidden => secrets::text(text),
        }
    }

    /// The command that confines a server to its directories.
    pub(super) fn wrap_line(&self, server: &Server, client: Client, holder: Holder) -> WrapLine {
        match judge(server, client, holder, &self.caller) {
            Verdict::Wrap(_) | Verdict::Hub => {}
            Verdict::Wrapped => return WrapLine::Wrapped,
            Verdict::Rootward => return WrapLine::Rootward,
            Verdict::NotWrapped(why) => return WrapLine::NotWrapped(why),
        }
        let Transport::Command(line) = &server.transport else { return WrapLine::NotWrapped(NotWrapped::Remote) };
        let words = line.words();
        // A line with hidden parts would not work.
        if self.command(line) != words {
            return WrapLine::Hidden;
        }
        // The store refuses this name, so it could never have a root.
        let name = usable_name(&server.name).is_ok().then(|| server.name.clone());
        // SECURITY: once the line is pasted, its directories are granted, so a project's files must not add any
        // (test: a_project_names_nothing_in_a_line)
        let mut roots: Vec<String> = match holder {
            Holder::User => server.roots.iter().filter_map(|root| self.in_line(root)).collect(),
            Holder::Project => Vec::new(),
        };
        if roots.is_empty() {
            roots = usual_roots(server, client);
        }
        let wrapping = line.wrapping(&self.caller, &Extras { name, roots });
        WrapLine::Command([wrapping.before, words].concat())
    }

    /// A directory as written in a line: none that should not be shared without thought, and none with `..`.
    fn in_line(&self, root: &SuggestedRoot) -> Option<String> {
        let path = root.path.as_ref().filter(|_| self.unshareable(root).is_none())?;
        let leads_up = path.components().any(|part| part == Component::ParentDir);
        (!leads_up).then_some(())?;
        Some(format!("{}:{}", path.to_str()?, access_text(root.access)))
    }

    /// Why a directory should not be shared, as far as its path says.
    pub(super) fn unshareable(&self, root: &SuggestedRoot) -> Option<String> {
        let judged = self.validation.judge(Origin::Client, root.path.as_ref()?);
        judged.err().map(|reason| reason.to_string())
    }

    /// Whether some part of a server is hidden.
    pub(super) fn hides(&self, server: &Server) -> bool {
        let hidden = |pairs: &[(String, String)]| pairs.iter().any(|(_, value)| self.value(value).is_none());
        match &server.transport {
            Transport::Command(line) => {
                let [program, arguments @ ..] = &self.command(line)[..] else { return false };
                let mut others = line.directory.iter().chain(&line.variables_file);
                hidden(&line.variables)
                    || *program != line.program
                    || *arguments != line.arguments
                    || others.any(|text| self.text(text) != *text)
            }
            Transport::Remote(remote) => hidden(&remote.headers) || self.address(&remote.url) != remote.url,
        }
    }
}
