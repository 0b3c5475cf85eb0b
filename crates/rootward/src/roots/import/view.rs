//! A server as it is shown: its command, what is hidden in it, and the command that would hold it.

use std::path::Component;

use rootward_client::import::{CommandLine, Holder, Server, SuggestedRoot, Transport, secrets};
use rootward_client::store::{access_text, usable_name};
use rootward_core::{Origin, Validation};

/// Whether secrets are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Values {
    Shown,
    Hidden,
}

/// How things are shown.
#[derive(Debug)]
pub(super) struct View {
    pub(super) values: Values,
    pub(super) validation: Validation,
}

impl View {
    /// The program and its arguments.
    pub(super) fn command(&self, line: &CommandLine) -> Vec<String> {
        let words = [std::slice::from_ref(&line.program), &line.arguments].concat();
        match self.values {
            Values::Shown => words,
            Values::Hidden => secrets::arguments(&words),
        }
    }

    /// A value of a variable or a header; none where it is hidden.
    pub(super) fn value<'v>(&self, value: &'v str) -> Option<&'v str> {
        (self.values == Values::Shown || value.is_empty()).then_some(value)
    }

    /// An address, or another text that may have a secret in it.
    pub(super) fn text(&self, text: &str) -> String {
        match self.values {
            Values::Shown => text.to_owned(),
            Values::Hidden => secrets::text(text),
        }
    }

    /// The arguments of `rootward` that hold a server to the directories it has. None where it is remote, or held already.
    pub(super) fn held(&self, server: &Server, holder: Holder) -> Option<Vec<String>> {
        let Transport::Command(line) = &server.transport else { return None };
        if line.is_wrapped() {
            return None;
        }
        let mut words = vec!["wrap".to_owned()];
        // A name that is no name to the store would never have a root.
        if usable_name(&server.name).is_ok() {
            if server.name.starts_with('-') {
                words.push(format!("--as={}", server.name));
            } else {
                words.extend(["--as".to_owned(), server.name.clone()]);
            }
        }
        // SECURITY: what stands in the line is taken at its word once it is pasted, so a project names nothing in it
        // (test: a_project_names_nothing_in_a_line)
        if holder == Holder::User {
            words.extend(server.roots.iter().filter_map(|root| self.in_line(root)));
        }
        words.push("--".to_owned());
        words.extend(self.command(line));
        Some(words)
    }

    /// A directory as it stands in a line: not a place that nobody should share in passing, nor one that `..` may lead to.
    fn in_line(&self, root: &SuggestedRoot) -> Option<String> {
        let path = root.path.as_ref().filter(|_| self.unshareable(root).is_none())?;
        let leads_up = path.components().any(|part| part == Component::ParentDir);
        (!leads_up).then_some(())?;
        Some(format!("{}:{}", path.to_str()?, access_text(root.access)))
    }

    /// Why a directory is not for sharing, as far as its path says.
    pub(super) fn unshareable(&self, root: &SuggestedRoot) -> Option<String> {
        let judged = self.validation.judge(Origin::Client, root.path.as_ref()?);
        judged.err().map(|reason| reason.to_string())
    }

    /// Whether something of a server is not shown.
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
            Transport::Remote(remote) => hidden(&remote.headers) || self.text(&remote.url) != remote.url,
        }
    }
}
