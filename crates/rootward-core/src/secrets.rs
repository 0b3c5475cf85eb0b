//! A command line that is safe to show: whatever looks like a secret is hidden. `rootward roots import`, `rootward
//! adopt` and `rootward hub --check` show command lines in this way.
//!
//! This only protects against onlookers, it is not a security boundary: a secret that looks like ordinary text is
//! shown.

/// The placeholder for hidden text.
pub const HIDDEN: &str = "…";

/// Words that mark a value as a secret, wherever they are in its name. Separators do not matter: `API_KEY`, `apiKey`.
const SECRET_WORDS: [&str; 15] = [
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
/// The same, if they are in one word of the name: `DBPASS`, `AUTH_HEADER`, `CREDS_JSON`.
const SECRET_PARTS: [&str; 7] = ["key", "pass", "auth", "cred", "dsn", "pwd", "jwt"];
/// The same, if they are the last word of the name. Inside a word they have other meanings: `PATH`, `DESIGN`.
const SECRET_LAST_WORDS: [&str; 3] = ["pat", "sig", "signature"];
/// Ordinary words that contain one of these parts.
const ORDINARY_WORDS: [&str; 26] = [
    "author",
    "bypass",
    "compass",
    "credit",
    "donkey",
    "hockey",
    "hotkey",
    "incredible",
    "jockey",
    "keybind",
    "keyboard",
    "keychain",
    "keycloak",
    "keyfile",
    "keymap",
    "keyring",
    "keystore",
    "keyword",
    "monkey",
    "passage",
    "passenger",
    "passive",
    "passthrough",
    "passthru",
    "sacred",
    "turkey",
];
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
/// Settings of npm in variables, which begin like its tokens.
const NPM_SETTINGS: &str = "npm_config_";
/// A word with more `=` than this is hidden: each may begin another name and value.
const MOST_VALUES: usize = 64;
/// Tokens are longer than words.
const SHORTEST_TOKEN: usize = 16;
/// The minimum length of a word with letters and digits to count as a secret.
const SHORTEST_RANDOM: usize = 24;

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

/// An address, with secrets hidden. It may have spaces in it.
pub fn address(address: &str) -> String {
    address.split_once("://").map_or_else(|| text(address), |(scheme, rest)| in_address(scheme, rest))
}

/// A text with secrets hidden.
pub fn text(text: &str) -> String {
    argument(text, &mut Next::default())
}

/// The value of something with this name, with secrets hidden.
pub fn named(name: &str, value: &str) -> String {
    if names_secret(name) { hidden(value, &mut Next::default()) } else { text(value) }
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
                    bare if name.starts_with('-') && names_secret(bare) => return format!("{name}={HIDDEN}"),
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
    if word.matches('=').count() > MOST_VALUES {
        *next = Next::Anything;
        return HIDDEN.to_owned();
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
    if let Some(shown) = reference(word) {
        return shown;
    }
    if !word.starts_with('-') && is_token(word.trim_end_matches('=')) {
        return HIDDEN.to_owned();
    }
    if let Some((name, value)) = word.split_once('=').filter(|(name, _)| !name.contains("://") && !name.is_empty()) {
        let bare = name.trim_start_matches('-');
        return match bare {
            _ if names_secret(bare) || is_variable_option(name) => format!("{name}={}", hidden(value, next)),
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
            name if names_secret(name) => Next::Secret,
            _ => Next::Anything,
        };
        return word.to_owned();
    }
    // A name with a `/` is a path or an image: `/srv/keys:/keys`.
    let is_name = |name: &str| !name.contains('/') && names_secret(name);
    if let Some((name, value)) = word.split_once(':').filter(|(name, _)| is_name(name)) {
        if value.is_empty() || value.eq_ignore_ascii_case("bearer") {
            *next = Next::Secret;
            return word.to_owned();
        }
        let shown = format!("{name}:{}", hidden(value, next));
        if name.contains("${") && !word.contains('}') {
            *next = Next::Until('}');
        }
        return shown;
    }
    if word.trim_start_matches(['"', '\'']).eq_ignore_ascii_case("bearer") {
        *next = Next::Secret;
        return word.to_owned();
    }
    if let Some((scheme, rest)) = word.split_once("://") {
        return in_address(scheme, rest);
    }
    word.to_owned()
}

/// A whole word `${NAME}` or `${NAME:-otherwise}`, without a default value that is a secret.
fn reference(word: &str) -> Option<String> {
    let inside = word.strip_prefix("${")?.strip_suffix('}').filter(|inside| !inside.contains(['{', '}']))?;
    let Some((name, otherwise)) = inside.split_once(":-") else { return Some(word.to_owned()) };
    Some(format!("${{{name}:-{}}}", named(name, otherwise)))
}

/// Whether an option sets a variable without a space: `-eNAME`.
fn is_variable_option(option: &str) -> bool {
    let usual = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    option.strip_prefix("-e").is_some_and(|name| !name.is_empty() && name.chars().all(usual))
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
pub fn names_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    let words: Vec<&str> =
        name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let Some(last) = words.last() else { return false };
    let joined = words.concat();
    let marks = SECRET_WORDS.iter().any(|word| joined.contains(word))
        || SECRET_LAST_WORDS.contains(last)
        || words.iter().any(|word| has_secret_part(word));
    marks && !PLACES.contains(last)
}

fn has_secret_part(word: &str) -> bool {
    let rest = ORDINARY_WORDS.iter().fold(word.to_owned(), |rest, ordinary| rest.replace(ordinary, " "));
    SECRET_PARTS.iter().any(|part| rest.contains(part))
}

/// Whether a word looks like a token.
fn is_token(word: &str) -> bool {
    let is_known = TOKENS.iter().any(|start| word.starts_with(start)) && !word.starts_with(NPM_SETTINGS);
    let is_long = word.len() >= SHORTEST_TOKEN && word.chars().all(|letter| is_plain(letter) || "./+".contains(letter));
    is_known && is_long || is_random(word, is_plain)
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-+".contains(letter)
}

/// Whether a word is long and has letters and digits, and no characters but these.
fn is_random(word: &str, allows: fn(char) -> bool) -> bool {
    word.len() >= SHORTEST_RANDOM
        && word.chars().all(allows)
        && word.contains(|letter: char| letter.is_ascii_digit())
        && word.contains(|letter: char| letter.is_ascii_alphabetic())
}

/// A long name such as services put into addresses.
fn is_random_in_address(part: &str) -> bool {
    is_token(part) || is_random(part, |letter| is_plain(letter) || ".~%=".contains(letter))
}

/// An address without the password, secret parameters, and random names.
fn in_address(scheme: &str, rest: &str) -> String {
    let web = scheme.ends_with("http") || scheme.ends_with("https");
    let (before, parameters) = rest.split_at(parameters(rest));
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
    let path: Vec<&str> = path.split('/').map(|part| if is_random_in_address(part) { HIDDEN } else { part }).collect();
    let mut shown = format!("{scheme}://{host}{}", path.join("/"));
    let mut is_query = false;
    for part in parameters.split_inclusive(['?', '#', '&']) {
        let bare = part.trim_end_matches(['?', '#', '&']);
        shown.push_str(&parameter(bare, is_query));
        shown.push_str(&part[bare.len()..]);
        is_query = if part.ends_with('?') { true } else { is_query && !part.ends_with('#') };
    }
    shown
}

/// Where the query or the fragment of an address begins.
fn parameters(rest: &str) -> usize {
    let next = |from: usize| rest[from..].find(['?', '#']).map_or(rest.len(), |at| from + at);
    let start = next(0);
    // A password with a `?` or `#` in it: no port looks like that.
    let port = rest[..start].rsplit_once(':').map_or("", |(_, port)| port);
    match rest[start..].find('@') {
        Some(at) if !rest[..start].contains('/') && !port.chars().all(|digit| digit.is_ascii_digit()) => {
            next(start + at)
        }
        _ => start,
    }
}

/// A part of a query or a fragment. A query without a name may be the secret itself.
fn parameter(part: &str, is_query: bool) -> String {
    match part.split_once('=') {
        Some((name, value)) if names_secret(name) || is_random_in_address(value) => {
            format!("{name}={}", hidden(value, &mut Next::default()))
        }
        Some((name, value)) => format!("{name}={}", text(value)),
        None if is_query || is_random_in_address(part) => hidden(part, &mut Next::default()),
        None => part.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], expect: &[&str]) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(arguments(&words), expect);
    }

    #[test]
    fn names_of_secrets() {
        let marks = "TOKEN GITHUB_TOKEN apiKey API_KEY ACCESS_KEY_ID --password DBPASS DB_PASS PGPASSWORD AUTH_HEADER \
                     X-Api-Key Authorization OAUTH CREDS_JSON cred SENTRY_DSN DSN_URL MYPWD JWT PAT X_SIG --pwd \
                     connection-string WEBHOOK session-id KEY KEYS MONKEY_KEY AUTHOR_PASS";
        for name in marks.split_whitespace() {
            assert!(names_secret(name), "{name}");
        }
        let does_not = "PATH DESIGN monkey keyboard keyword author GIT_AUTHOR_EMAIL authority bypass compass passive \
                        credits patch signal token-file KEY_PATH AUTH_ENV keyfile port -- …";
        for name in does_not.split_whitespace().chain([""]) {
            assert!(!names_secret(name), "{name}");
        }
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
        check(&["Bearer", "x", "y"], &["Bearer", "…", "y"]);
        check(&["DBPASS=x", "AUTH_HEADER=x", "CREDS_JSON=x"], &["DBPASS=…", "AUTH_HEADER=…", "CREDS_JSON=…"]);
        check(&["-eNAME=x", "-e", "NAME=a b"], &["-eNAME=…", "-e", "NAME=…"]);
        for start in TOKENS {
            check(&[&format!("{start}abcdefghijklmnop")], &["…"]);
        }
        check(&["0123456789abcdef01234567", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="], &["…", "…"]);
        check(&[&"a=".repeat(1 << 20), &"u=x://".repeat(1 << 20)], &["…", "…"]);
        check(&["${TOKEN:-x}", "${TOKEN:-a b}", "a${KEY:-x}b"], &["${TOKEN:-…}", "${TOKEN:… …", "a${KEY:…"]);
    }

    #[test]
    fn secrets_in_addresses_are_hidden() {
        let check = |shown: &str, expect: &str| {
            assert_eq!((text(shown).as_str(), address(shown).as_str()), (expect, expect));
        };
        check("https://me:x@host/a", "https://me:…@host/a");
        check("https://x@host/a", "https://…@host/a");
        check("ssh://git@host/a", "ssh://git@host/a");
        check("postgres://me:p/w@host:5432/db", "postgres://me:…@host:5432/db");
        check("postgres://me:p@w@host/db", "postgres://me:…@host/db");
        check("https://host/mcp?exaApiKey=x&tools=a", "https://host/mcp?exaApiKey=…&tools=a");
        check("https://host/s/Zm9vYmFyMTIzNDU2Nzg5MDEyMzQ1/mcp", "https://host/s/…/mcp");
        check("https://host:8080/a@b?x=${input:key}", "https://host:8080/a@b?x=${input:key}");
        check("https://host?x&a=b&token=${T}#v1", "https://host?…&a=b&token=${T}#v1");
        check("https://host/a#token=x&b=c", "https://host/a#token=…&b=c");
        check("https://host/a?u=https://me:x@host", "https://host/a?u=https://me:…@host");
        check("postgres://me:p?w#x@host/db?a=b", "postgres://me:…@host/db?a=b");
        assert_eq!(address("https://me:x y@host/a b?c d"), "https://me:…@host/a b?…");
    }

    #[test]
    fn the_rest_is_shown() {
        for shown in [
            &["-y", "@modelcontextprotocol/server-filesystem", "/home/me/src"][..],
            &["--token-file", "/run/secrets/x", "--mode=basic", "basic", "C:\\key"],
            &["--token", "${input:token}", "--api-key=${env:KEY}", "Authorization: ${AUTH}"],
            &["--monkey", "x", "sk-short", "", "--", "=x"],
            &["--keyboard=de", "--author", "me", "PATH=/bin", "--design", "x", "${PORT:-80}", "npm_config_registry"],
            &["-v", "/home/me/keys:/keys:ro", "ghcr.io/authors/keycloak:26", "git+https://host/a#v1.2"],
        ] {
            check(shown, shown);
        }
        check(&["--token", "${TOKEN:-x}"], &["--token", "…"]);
    }
}
