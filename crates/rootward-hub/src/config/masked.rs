//! A server with its secrets hidden, for `hub --check`.
//!
//! For variables and headers, only references are shown: `Bearer ${TOKEN}` becomes `…${TOKEN}`. In arguments and
//! addresses, anything that looks like a secret is hidden. That is a courtesy, not a guarantee: a secret that looks
//! like an ordinary word is shown.

use super::server::{ServerConfig, ServerKind};
use super::template::{Piece, Template};

/// Replaces hidden text.
const HIDDEN: &str = "…";
/// Substrings of names, without separators, that indicate a secret.
const TELLING: [&str; 14] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASS",
    "AUTH",
    "CRED",
    "COOKIE",
    "BEARER",
    "DSN",
    "PWD",
    "JWT",
    "WEBHOOK",
    "SESSIONID",
    "CONNECTIONSTRING",
];
/// Last words of names that indicate a secret. Inside a name they are parts of other words: `PATH`, `DESIGN`.
const TELLING_LAST: [&str; 3] = ["PAT", "SIG", "SIGNATURE"];
/// Prefixes of tokens from well-known services.
const TOKENS: [&str; 12] =
    ["ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "sk-", "sk_", "xoxb-", "xoxp-", "AKIA", "AIza", "eyJ"];
/// Minimum length of a string with such a prefix to count as a token.
const SHORTEST_TOKEN: usize = 16;
/// Minimum length of a string with letters and digits to count as a token.
const SHORTEST_RANDOM: usize = 24;

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
                command: Some(argument(&process.command, &mut Next::Anything)),
                args: arguments(&process.args),
                env: values(&process.env),
                env_file: process.env_file.as_ref().map(shown),
                cwd: process.cwd.as_ref().map(shown),
                ..MaskedServer::default()
            },
            ServerKind::Http(remote) => MaskedServer {
                url: Some(url(&remote.url)),
                headers: values(&remote.headers),
                ..MaskedServer::default()
            },
        }
    }
}

/// Whether a name indicates that its value is a secret.
pub(super) fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let joined: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let last = name.rsplit(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
    TELLING.iter().any(|word| joined.contains(word)) || TELLING_LAST.contains(&last)
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

/// The address without user, query, fragment, and path segments that look like secrets.
pub(super) fn url(template: &Template) -> String {
    let text = shown(template);
    let Some((scheme, rest)) = text.split_once("://") else { return text };
    let (rest, query) = match rest.find(['?', '#']) {
        Some(end) => (&rest[..end], format!("{}{HIDDEN}", &rest[end..=end])),
        None => (rest, String::new()),
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or_else(|| host.to_owned(), |(_, host)| format!("{HIDDEN}@{host}"));
    let path: Vec<&str> = path.split('/').map(|name| if is_token(name) { HIDDEN } else { name }).collect();
    format!("{scheme}://{host}{}{query}", path.join("/"))
}

/// What the arguments so far say about the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Anything,
    /// It is a secret.
    Secret,
    /// It is a header.
    Header,
}

fn arguments(arguments: &[Template]) -> Vec<String> {
    let mut next = Next::Anything;
    arguments.iter().map(|template| argument(template, &mut next)).collect()
}

fn argument(template: &Template, next: &mut Next) -> String {
    let text = shown(template);
    let before = std::mem::replace(next, Next::Anything);
    let is_option = text.starts_with('-');
    match before {
        Next::Secret if !is_option => return references(template),
        Next::Header if !is_option => return header(&text).unwrap_or_else(|| references(template)),
        _ => {}
    }
    let is_plain = |name: &str| name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter));
    if let Some((name, _)) = text.split_once('=')
        && is_plain(name)
        && is_telling(name)
    {
        return format!("{name}={HIDDEN}");
    }
    if is_option && !text.contains('=') {
        *next = match text.trim_start_matches('-') {
            "H" | "header" | "headers" => Next::Header,
            name if is_telling(name) => Next::Secret,
            _ => Next::Anything,
        };
        return text;
    }
    let is_header = text.split_once(": ").is_some_and(|(name, _)| is_telling(name));
    match &text {
        text if is_header => header(text).unwrap_or_else(|| HIDDEN.to_owned()),
        text if text.contains("://") => url(template),
        text if text.split(|letter: char| letter.is_whitespace() || letter == '=').any(is_token) => HIDDEN.to_owned(),
        text => text.clone(),
    }
}

/// `Name: …`
fn header(text: &str) -> Option<String> {
    let (name, _) = text.split_once(':')?;
    Some(format!("{name}: {HIDDEN}"))
}

/// Whether a word looks like a token.
fn is_token(word: &str) -> bool {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'='));
    let is_known = TOKENS.iter().any(|start| word.starts_with(start)) && word.len() >= SHORTEST_TOKEN;
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    let is_random =
        is_plain && word.len() >= SHORTEST_RANDOM && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    is_known || is_random
}

/// The template as written, without default values of secret variables.
fn shown(template: &Template) -> String {
    let one = |piece: &Piece| match piece {
        Piece::Literal(text) => text.clone(),
        Piece::Variable { name, default: Some(default) } if !is_telling(name) => format!("${{{name}:-{default}}}"),
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
            let templates: Vec<Template> = words.iter().map(|word| template(word)).collect();
            assert_eq!(arguments(&templates), expect);
        };
        check(
            &["-y", "@scope/server-everything@1.2.3", "${roots}"],
            &["-y", "@scope/server-everything@1.2.3", "${roots}"],
        );
        check(&["--api-key", "hunter2", "--port", "80"], &["--api-key", "…", "--port", "80"]);
        check(&["--api-key", "${KEY}", "x"], &["--api-key", "${KEY}", "x"]);
        check(&["--api-key=hunter2", "TOKEN=x"], &["--api-key=…", "TOKEN=…"]);
        for name in ["--pat", "--pwd", "--jwt", "--connection-string", "--webhook", "--session-id", "--cred", "X_SIG"] {
            check(&[&format!("{name}=hunter2")], &[&format!("{name}=…")]);
        }
        check(&["--path=a", "--design=b", "--patch=c"], &["--path=a", "--design=b", "--patch=c"]);
        check(&["-H", "X-Thing: hunter2"], &["-H", "X-Thing: …"]);
        check(&["--header", "Authorization:${AUTH}"], &["--header", "Authorization: …"]);
        check(&["Authorization: Bearer x"], &["Authorization: …"]);
        check(&["ghp_0123456789abcdef"], &["…"]);
        check(&["x=ghp_0123456789abcdef"], &["…"]);
        check(&["https://me:pw@host/a?key=x"], &["https://…@host/a?…"]);
        check(&["${TOKEN:-hunter2}", "${PORT:-80}"], &["${TOKEN:-…}", "${PORT:-80}"]);
    }

    #[test]
    fn addresses_without_secrets() {
        let check = |text: &str, expect: &str| assert_eq!(url(&template(text)), expect);
        check("https://example.org/mcp", "https://example.org/mcp");
        check("https://example.org", "https://example.org");
        check("https://me@example.org?x#y", "https://…@example.org?…");
        check("https://example.org/s/0123456789abcdef01234567/mcp#x", "https://example.org/s/…/mcp#…");
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
