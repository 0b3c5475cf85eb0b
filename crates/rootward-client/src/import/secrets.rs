//! A command line that is safe to show: whatever looks like a secret is hidden.
//!
//! This only protects against onlookers, it is not a security boundary: a secret that looks like ordinary text is
//! shown.

/// The placeholder for hidden text.
pub const HIDDEN: &str = "…";

/// Words in a name that mark its value as a secret.
const TELLING: [&str; 15] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "authorization",
    "bearer",
    "cookie",
    "connectionstring",
    "sessionid",
    "webhook",
];
/// Names, or last words of names, that do so.
const TELLING_LAST: [&str; 11] =
    ["key", "auth", "pat", "pwd", "pass", "sig", "signature", "dsn", "jwt", "cred", "creds"];
/// Endings of names that say where a secret is, not what it is.
const PLACES: [&str; 6] = ["file", "path", "dir", "env", "var", "name"];
/// Prefixes of tokens of well-known services.
const TOKENS: [&str; 17] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_",
    "pk_",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "eyJ",
    "npm_",
    "hf_",
];
/// Tokens are longer than words.
const SHORTEST_TOKEN: usize = 16;
const SHORTEST_SEGMENT: usize = 24;

/// What the previous words say about the next one.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Next {
    #[default]
    Anything,
    /// It is a secret.
    Secret,
    /// It is a header: hide the part after its colon.
    Header,
    /// It sets a variable: hide the part after `=`.
    Variable,
    /// It continues a quoted secret.
    Until(char),
}

/// The arguments, with secrets hidden; one for each.
pub fn arguments(words: &[String]) -> Vec<String> {
    let mut next = Next::default();
    words.iter().map(|word| argument(word, &mut next)).collect()
}

/// A text, such as a URL, with secrets hidden.
pub fn text(text: &str) -> String {
    argument(text, &mut Next::default())
}

/// The value of something with this name, with secrets hidden.
pub fn named(name: &str, value: &str) -> String {
    if is_telling(name) { hidden(value, &mut Next::default()) } else { text(value) }
}

fn argument(word: &str, next: &mut Next) -> String {
    match next {
        Next::Header => {
            *next = Next::Anything;
            header(word)
        }
        Next::Secret if word.contains(char::is_whitespace) => {
            *next = Next::Anything;
            HIDDEN.to_owned()
        }
        Next::Anything if word.contains(char::is_whitespace) => {
            if let Some((name, value)) = word.split_once('=').filter(|(name, _)| !name.contains(char::is_whitespace)) {
                match name.trim_start_matches('-') {
                    "header" | "headers" => return format!("{name}={}", header(value)),
                    bare if name.starts_with('-') && is_telling(bare) => return format!("{name}={HIDDEN}"),
                    _ => {}
                }
            }
            // A shell command or a header: words within a word.
            let mut inner = Next::default();
            let mut shown = String::new();
            for part in word.split_inclusive(char::is_whitespace) {
                let bare = part.trim_end();
                shown.push_str(&one(bare, &mut inner));
                shown.push_str(&part[bare.len()..]);
            }
            shown
        }
        _ => one(word, next),
    }
}

fn one(word: &str, next: &mut Next) -> String {
    if word.is_empty() {
        return String::new();
    }
    match std::mem::take(next) {
        Next::Secret if ["bearer", "basic"].contains(&word.to_lowercase().as_str()) => {
            *next = Next::Secret;
            return word.to_owned();
        }
        Next::Secret if !word.starts_with("--") => return hidden(word, next),
        Next::Until(quote) => {
            if !word.ends_with(quote) {
                *next = Next::Until(quote);
            }
            return HIDDEN.to_owned();
        }
        Next::Variable => {
            if let Some((name, _)) = variable(word) {
                return format!("{name}={HIDDEN}");
            }
        }
        Next::Header => return header(word),
        Next::Secret | Next::Anything => {}
    }
    if let Some((name, value)) = word.split_once('=').filter(|(name, _)| !name.contains("://") && !name.is_empty()) {
        let bare = name.trim_start_matches('-');
        return match bare {
            _ if is_telling(bare) => format!("{name}={}", hidden(value, next)),
            "header" | "headers" => format!("{name}={}", header(value)),
            "env" if variable(value).is_some() => {
                format!("{name}={}", value.split('=').next().unwrap_or_default()) + "=" + HIDDEN
            }
            _ => format!("{name}={}", one(value, next)),
        };
    }
    if word.starts_with('-') {
        *next = match word.trim_start_matches('-') {
            "H" | "header" | "headers" => Next::Header,
            "e" | "env" => Next::Variable,
            name if is_telling(name) => Next::Secret,
            _ => Next::Anything,
        };
        return word.to_owned();
    }
    if let Some((name, value)) = word.split_once(':').filter(|(name, _)| is_telling(name)) {
        if value.is_empty() || value.eq_ignore_ascii_case("bearer") {
            *next = Next::Secret;
            return word.to_owned();
        }
        return format!("{name}:{}", hidden(value, next));
    }
    if word.trim_start_matches(['"', '\'']).eq_ignore_ascii_case("bearer") {
        *next = Next::Secret;
        return word.to_owned();
    }
    if let Some((scheme, rest)) = word.split_once("://") {
        return format!("{scheme}://{}", address(rest, scheme.ends_with("http") || scheme.ends_with("https")));
    }
    if is_token(word) { HIDDEN.to_owned() } else { word.to_owned() }
}

/// Hides a secret. A plain variable is not one: it says where the secret comes from. One that opens a quote
/// continues until it is closed.
fn hidden(value: &str, next: &mut Next) -> String {
    let name = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let is_name =
        |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || "_:-.".contains(letter));
    // `${NAME:-otherwise}` contains a value.
    if name.is_some_and(|name| is_name(name) && !name.contains(":-")) || value.is_empty() {
        return value.to_owned();
    }
    if let Some(quote) = value.chars().next().filter(|first| matches!(first, '"' | '\''))
        && (value.len() == 1 || !value.ends_with(quote))
    {
        *next = Next::Until(quote);
    }
    HIDDEN.to_owned()
}

fn header(text: &str) -> String {
    text.split_once(':').map_or_else(|| HIDDEN.to_owned(), |(name, _)| format!("{name}: {HIDDEN}"))
}

/// `NAME=value`.
fn variable(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let usual = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    (!name.is_empty() && name.chars().all(usual)).then_some((name, value))
}

/// Whether a name marks its value as a secret.
fn is_telling(name: &str) -> bool {
    let name = name.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    let last = name.rsplit(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    let compact: String = name.chars().filter(|letter| letter.is_alphanumeric()).collect();
    let telling = TELLING.iter().any(|word| compact.contains(word)) || TELLING_LAST.contains(&last);
    telling && !PLACES.contains(&last)
}

fn is_token(word: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    word.len() >= SHORTEST_TOKEN && TOKENS.iter().any(|start| word.starts_with(start)) && word.chars().all(plain)
}

/// The part after `://`: without the password, secret query parameters, and random names.
fn address(rest: &str, web: bool) -> String {
    let (before, query) = match rest.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (rest, None),
    };
    let mut end = before.find('/').unwrap_or(before.len());
    // A password with a slash in it: no port looks like that.
    let port = before[..end].rsplit_once(':').map(|(_, port)| port);
    if !before[..end].contains('@') && port.is_some_and(|port| !port.chars().all(|digit| digit.is_ascii_digit())) {
        end = before.rfind('@').unwrap_or(end).max(end);
    }
    let (host, path) = match before[..before[end..].find('/').map_or(before.len(), |slash| end + slash)].rfind('@') {
        Some(at) => {
            let user = before[..at].split_once(':');
            let shown = match user {
                Some((user, _)) => format!("{user}:{HIDDEN}"),
                None if web => HIDDEN.to_owned(),
                None => before[..at].to_owned(),
            };
            let behind = &before[at + 1..];
            let slash = behind.find('/').unwrap_or(behind.len());
            (format!("{shown}@{}", &behind[..slash]), &behind[slash..])
        }
        None => (before[..end].to_owned(), &before[end..]),
    };
    let path: Vec<&str> = path.split('/').map(|part| if is_random(part) { HIDDEN } else { part }).collect();
    let query = query.map(|query| {
        let shown = |part: &str| match part.split_once('=') {
            Some((name, value)) if is_telling(name) || is_random(value) => {
                format!("{name}={}", hidden(value, &mut Next::default()))
            }
            _ => part.to_owned(),
        };
        format!("?{}", query.split('&').map(shown).collect::<Vec<_>>().join("&"))
    });
    format!("{host}{}{}", path.join("/"), query.unwrap_or_default())
}

/// A long name with letters and digits, such as services put into URLs.
fn is_random(part: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.~%=".contains(letter);
    part.len() >= SHORTEST_SEGMENT
        && part.chars().all(plain)
        && part.contains(|letter: char| letter.is_ascii_digit())
        && part.contains(|letter: char| letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], expect: &[&str]) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(arguments(&words), expect);
    }

    #[test]
    fn secrets_are_hidden() {
        check(&["--token", "x", "y"], &["--token", "…", "y"]);
        check(&["--api-key=x", "--apiKey", "a b"], &["--api-key=…", "--apiKey", "…"]);
        check(&["--auth", "Bearer", "x", "y"], &["--auth", "Bearer", "…", "y"]);
        check(&["--header", "Authorization: Bearer x y"], &["--header", "Authorization: …"]);
        check(&["-H", "X-Other: x", "--header=A: b"], &["-H", "X-Other: …", "--header=A: …"]);
        check(&["--password=a b", "--cred=x", "--session-id", "x"], &["--password=…", "--cred=…", "--session-id", "…"]);
        check(&["Authorization: Bearer x"], &["Authorization: Bearer …"]);
        check(&["Authorization:Bearer", "x"], &["Authorization:Bearer", "…"]);
        check(&["X-Api-Key:x"], &["X-Api-Key:…"]);
        check(
            &["-e", "GITHUB_TOKEN=x", "--env", "A=b", "-e", "NAME", "--env=C=d"],
            &["-e", "GITHUB_TOKEN=…", "--env", "A=…", "-e", "NAME", "--env=C=…"],
        );
        check(
            &["sh", "-c", "PASSWORD=x npx thing --token 'a b' --ok c"],
            &["sh", "-c", "PASSWORD=… npx thing --token … … --ok c"],
        );
        check(&["ghp_0123456789abcdefghij", "--x=glpat-0123456789abcdef"], &["…", "--x=…"]);
        check(&[r#"{"token":"x"}"#], &[r#"{"token":…"#]);
        check(&["--password", "-x"], &["--password", "…"]);
        check(&["bearer x"], &["bearer …"]);
    }

    #[test]
    fn secrets_in_addresses_are_hidden() {
        let check = |address: &str, expect: &str| assert_eq!(text(address), expect);
        check("https://me:x@host/a", "https://me:…@host/a");
        check("https://x@host/a", "https://…@host/a");
        check("ssh://git@host/a", "ssh://git@host/a");
        check("postgres://me:p/w@host:5432/db", "postgres://me:…@host:5432/db");
        check("postgres://me:p@w@host/db", "postgres://me:…@host/db");
        check("https://host/mcp?exaApiKey=x&tools=a", "https://host/mcp?exaApiKey=…&tools=a");
        check("https://host/s/Zm9vYmFyMTIzNDU2Nzg5MDEyMzQ1/mcp", "https://host/s/…/mcp");
        check("https://host:8080/a@b?x=${input:key}", "https://host:8080/a@b?x=${input:key}");
    }

    #[test]
    fn the_rest_is_shown() {
        for shown in [
            &["-y", "@modelcontextprotocol/server-filesystem", "/home/me/src"][..],
            &["--token-file", "/run/secrets/x", "--mode=basic", "basic", "C:\\key"],
            &["--token", "${input:token}", "--api-key=${env:KEY}", "Authorization: ${AUTH}"],
            &["--monkey", "x", "sk-short", "", "--", "=x"],
        ] {
            check(shown, shown);
        }
        check(&["--token", "${TOKEN:-x}"], &["--token", "…"]);
    }
}
