//! A server with its secrets hidden, for `hub --check`.
//!
//! For variables and headers, only references are shown: `Bearer ${TOKEN}` becomes `…${TOKEN}`. In arguments and
//! addresses, anything that looks like a secret is hidden. That is a courtesy, not a guarantee: a secret that looks
//! like an ordinary word is shown.

use rootward_core::secrets::{self, HIDDEN, names_secret};

use super::server::{ServerConfig, ServerKind};
use super::template::{Piece, Template};

/// A server as `hub --check` shows it. Variables are not filled in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MaskedServer {
    /// The program, if the server is a process.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its variables: names, and values without their literal parts.
    pub env: Vec<(String, String)>,
    /// The file with more variables.
    pub env_file: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The address, if the server is remote.
    pub url: Option<String>,
    /// The headers: names, and values without their literal parts.
    pub headers: Vec<(String, String)>,
}

impl ServerConfig {
    /// The server with its secrets hidden.
    pub fn masked(&self) -> MaskedServer {
        let values = |pairs: &[(String, Template)]| {
            pairs.iter().map(|(name, value)| (name.clone(), references(value))).collect()
        };
        match &self.what {
            ServerKind::Stdio(process) => MaskedServer {
                command: Some(text(&process.command)),
                args: secrets::arguments(&process.args.iter().map(shown).collect::<Vec<_>>()),
                env: values(&process.env),
                env_file: process.env_file.as_ref().map(shown),
                cwd: process.cwd.as_ref().map(shown),
                ..MaskedServer::default()
            },
            ServerKind::Http(remote) => MaskedServer {
                url: Some(address(&remote.url)),
                headers: values(&remote.headers),
                ..MaskedServer::default()
            },
        }
    }
}

/// The references in a template, with the literal text between them hidden.
pub(super) fn references(template: &Template) -> String {
    let one = |piece: &Piece| match piece {
        Piece::Literal(_) => HIDDEN.to_owned(),
        Piece::Variable { name, default: Some(default) } if !default.is_empty() => format!("${{{name}:-{HIDDEN}}}"),
        piece => reference(piece),
    };
    template.pieces().iter().map(one).collect()
}

/// The text of a template, with secrets hidden.
fn text(template: &Template) -> String {
    secrets::text(&shown(template))
}

/// The address in a template, with secrets hidden.
pub(super) fn address(template: &Template) -> String {
    secrets::address(&shown(template))
}

/// The template as written, without default values of secret variables.
fn shown(template: &Template) -> String {
    let one = |piece: &Piece| match piece {
        Piece::Literal(text) => text.clone(),
        Piece::Variable { name, default: Some(default) } if !names_secret(name) => format!("${{{name}:-{default}}}"),
        Piece::Variable { name, default: Some(_) } => format!("${{{name}:-{HIDDEN}}}"),
        piece => reference(piece),
    };
    template.pieces().iter().map(one).collect()
}

fn reference(piece: &Piece) -> String {
    match piece {
        Piece::Literal(_) => HIDDEN.to_owned(),
        Piece::Root => "${root}".to_owned(),
        Piece::Roots => "${roots}".to_owned(),
        Piece::UserHome => "${userHome}".to_owned(),
        Piece::Variable { name, default: None } => format!("${{{name}}}"),
        Piece::Variable { name, default: Some(_) } => format!("${{{name}:-}}"),
        Piece::OfClient(form) => form.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::HubConfig;
    use super::*;

    fn template(text: &str) -> Template {
        Template::parse(text).unwrap()
    }

    #[test]
    fn arguments_without_secrets() {
        let check = |words: &[&str], expect: &[&str]| {
            let text = serde_json::json!({"mcpServers": {"a": {"command": "a", "args": words}}}).to_string();
            assert_eq!(HubConfig::read(&text).unwrap().servers[0].masked().args, expect);
        };
        check(
            &["-y", "@scope/server-everything@1.2.3", "${roots}"],
            &["-y", "@scope/server-everything@1.2.3", "${roots}"],
        );
        check(&["--api-key", "hunter2", "--port", "80"], &["--api-key", "…", "--port", "80"]);
        check(&["--api-key", "${KEY}", "x"], &["--api-key", "${KEY}", "x"]);
        check(&["--path=a", "--design=b", "--patch=c"], &["--path=a", "--design=b", "--patch=c"]);
        check(&["-e", "NAME=hunter2", "--env", "NAME=hunter2"], &["-e", "NAME=…", "--env", "NAME=…"]);
        check(&["--header", "Authorization:${AUTH}"], &["--header", "Authorization: …"]);
        check(&["X-Api-Key:x", "Authorization:Bearer x"], &["X-Api-Key:…", "Authorization:Bearer …"]);
        check(&["Bearer", "hunter2"], &["Bearer", "…"]);
        check(&["${TOKEN:-hunter2}", "${PORT:-80}"], &["${TOKEN:-…}", "${PORT:-80}"]);
        check(&["--token", "x ${TOKEN:-hunter2}"], &["--token", "…"]);
    }

    #[test]
    fn addresses_without_secrets() {
        let check = |address: &str, expect: &str| assert_eq!(super::address(&template(address)), expect);
        check("https://example.org/mcp", "https://example.org/mcp");
        check("https://example.org", "https://example.org");
        check("https://me@example.org?x#y", "https://…@example.org?…#y");
        check("https://example.org/s/0123456789abcdef01234567/mcp#x", "https://example.org/s/…/mcp#x");
        check("${URL}", "${URL}");
    }

    #[test]
    fn nothing_literal_of_variables_and_headers_is_shown() {
        let text = r#"{"mcpServers": {
            "a": {"command": "a", "env": {"PLAIN": "hunter2", "T": "x${TOKEN:-hunter2}y", "U": "${U}", "E": ""}},
            "b": {"url": "https://h/mcp", "headers": {"Authorization": "Bearer ${TOKEN}", "X": "hunter2"}}
        }}"#;
        let config = HubConfig::read(text).unwrap();
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let first = config.servers[0].masked();
        assert_eq!(first.env, pairs(&[("PLAIN", "…"), ("T", "…${TOKEN:-…}…"), ("U", "${U}"), ("E", "")]));
        let second = config.servers[1].masked();
        assert_eq!(second.headers, pairs(&[("Authorization", "…${TOKEN}"), ("X", "…")]));
        assert!(!format!("{config:?}").contains("hunter2"), "{config:?}");
    }
}
