//! What `config.toml` says. Every mistake is told with its line and column.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context;
use rootward_core::env::NamedRoot;
use rootward_core::session::NoRoots;
use rootward_core::{Closed, Mode, Origin, PathStyle, PathText, Restriction, RestrictionError, RootError, Shown};
use rootward_protocol::RefusalForm;
use serde::Deserialize;
use toml::Spanned;

use super::Restrict;
use super::http::{HttpKeys, WrittenHttp};
use super::sandbox::{SandboxKeys, WrittenSandbox};
use super::serve::{ServeKeys, WrittenServe};
use crate::treat::Treat;

/// The settings that the file names.
#[derive(Default, Debug)]
pub(super) struct Written {
    pub(super) roots: Vec<NamedRoot>,
    pub(super) mode: Option<Mode>,
    pub(super) strict: Option<bool>,
    pub(super) ignore_client: Option<bool>,
    pub(super) fallback_dir: Option<NamedRoot>,
    pub(super) fallback_only: Option<bool>,
    pub(super) no_roots: Option<NoRoots>,
    pub(super) refusal: Option<RefusalForm>,
    pub(super) roots_ttl: Option<Duration>,
    pub(super) roots_ttl_announced: Option<Duration>,
    pub(super) roots_timeout: Option<Duration>,
    pub(super) debounce: Option<Duration>,
    pub(super) revoked_grace: Option<Duration>,
    pub(super) restrict: Option<Vec<Restrict>>,
    pub(super) treat: Option<Vec<Treat>>,
    pub(super) get_roots: Option<bool>,
    pub(super) sandbox: WrittenSandbox,
    pub(super) http: WrittenHttp,
    pub(super) serve: WrittenServe,
}

/// The file as its keys have it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    #[serde(default)]
    roots: Vec<Spanned<String>>,
    mode: Option<Spanned<String>>,
    strict: Option<bool>,
    ignore_client: Option<bool>,
    fallback_dir: Option<Spanned<String>>,
    fallback_only: Option<bool>,
    no_roots: Option<Spanned<String>>,
    refusal: Option<Spanned<String>>,
    roots_ttl_ms: Option<u64>,
    roots_ttl_announced_ms: Option<u64>,
    roots_timeout_ms: Option<Spanned<u64>>,
    debounce_ms: Option<u64>,
    revoked_grace_ms: Option<u64>,
    restrict: Option<Vec<RestrictKeys>>,
    treat: Option<Vec<Spanned<String>>>,
    get_roots: Option<bool>,
    #[serde(default)]
    sandbox: SandboxKeys,
    #[serde(default)]
    http: HttpKeys,
    #[serde(default)]
    serve: ServeKeys,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RestrictKeys {
    pattern: Spanned<String>,
    closed: Option<Spanned<String>>,
    below: Option<Spanned<String>>,
}

/// Something wrong in the file, and where.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Mistake {
    line: usize,
    column: usize,
    says: String,
}

impl Mistake {
    pub(super) fn at(text: &str, offset: usize, says: impl Into<String>) -> Mistake {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Mistake {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            says: says.into(),
        }
    }

    /// That what stands at a spot is of no use.
    pub(super) fn about(text: &str, spot: &Spanned<String>, reason: &str) -> Mistake {
        let shown = Shown::new(spot.get_ref().as_str()).to_string();
        Mistake::at(text, spot.span().start, format!("`{shown}` ({reason})"))
    }

    pub(super) fn in_file(self, path: &Path) -> anyhow::Error {
        let Mistake { line, column, says } = self;
        anyhow::anyhow!("settings file `{}`, line {line}, column {column}: {says}", Shown::new(path))
    }
}

/// The largest settings file that is read.
const LARGEST_FILE: u64 = 1 << 20;

/// The file's text; none where there is no file.
pub(super) fn read_ambient(path: &Path) -> anyhow::Result<Option<String>> {
    match read_text_ambient(path, LARGEST_FILE) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        // SECURITY: settings that are there and cannot be read may hold a ceiling; to go on without them would widen what
        // it holds down (test: settings_that_cannot_be_read_are_no_missing_settings)
        Err(error) => Err(error).with_context(|| format!("settings file `{}` cannot be read", Shown::new(path))),
    }
}

/// Reads a file that the user named, if it is a regular one of at most so many bytes.
#[expect(clippy::disallowed_methods, reason = "the operator's own file")]
pub(crate) fn read_text_ambient(path: &Path, most: u64) -> io::Result<String> {
    // A FIFO would keep its reader waiting for a writer: it is opened without waiting, and then refused (open(2)).
    let without_waiting = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(without_waiting).open(path)?;
    let refused = |says: &str| Err(io::Error::other(says));
    if !file.metadata()?.is_file() {
        return refused("not a regular file");
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return refused(&format!("more than {} MiB", most >> 20));
    }
    String::from_utf8(bytes).or_else(|_| refused("not UTF-8"))
}

pub(super) fn parse(text: &str, home: Option<&Path>) -> Result<Written, Mistake> {
    let keys: Keys = toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        Mistake::at(text, offset, in_our_words(&error.message().lines().collect::<Vec<_>>().join(", ")))
    })?;
    let wrong = |spot: &Spanned<String>, reason: &str| Mistake::about(text, spot, reason);
    let root = |spot: &Spanned<String>, origin| {
        let named = NamedRoot::read(spot.get_ref().as_ref(), home, origin);
        named.map_err(|error: RootError| Mistake::at(text, spot.span().start, error.to_string()))
    };
    let word = |spot: &Spanned<String>, words: &[&str]| {
        let known = words.iter().position(|word| word == spot.get_ref());
        known.ok_or_else(|| wrong(spot, &format!("expected `{}`", words.join("` or `"))))
    };
    let restrict = |keys: &RestrictKeys| {
        let closed = keys.closed.as_ref().map(|spot| word(spot, &["all", "writing"])).transpose()?;
        let below = keys.below.as_ref().map(|spot| directory(spot.get_ref(), home).map_err(|why| wrong(spot, &why)));
        let pattern = keys.pattern.get_ref().clone();
        let restrict = Restrict {
            closed: if closed == Some(1) { Closed::ForWriting } else { Closed::Entirely },
            below: below.transpose()?,
            pattern,
        };
        usable(&restrict).map_err(|why| wrong(&keys.pattern, &why))?;
        Ok(restrict)
    };
    let timeout = |spot: Spanned<u64>| match *spot.get_ref() {
        0 => Err(Mistake::at(text, spot.span().start, "`0` (no client can answer in 0 ms)")),
        time => Ok(Duration::from_millis(time)),
    };
    Ok(Written {
        roots: keys.roots.iter().map(|spot| root(spot, Origin::Config)).collect::<Result<_, _>>()?,
        mode: keys
            .mode
            .map(|spot| Mode::from_str(spot.get_ref()).map_err(|error| wrong(&spot, &error.to_string())))
            .transpose()?,
        strict: keys.strict,
        ignore_client: keys.ignore_client,
        fallback_dir: keys.fallback_dir.map(|spot| root(&spot, Origin::Fallback)).transpose()?,
        fallback_only: keys.fallback_only,
        no_roots: keys
            .no_roots
            .map(|spot| word(&spot, &["deny", "allow-all"]))
            .transpose()?
            .map(|position| if position == 0 { NoRoots::Deny } else { NoRoots::AllowAll }),
        refusal: keys
            .refusal
            .map(|spot| word(&spot, &["result", "error"]))
            .transpose()?
            .map(|position| if position == 0 { RefusalForm::ToolError } else { RefusalForm::ProtocolError }),
        roots_ttl: keys.roots_ttl_ms.map(Duration::from_millis),
        roots_ttl_announced: keys.roots_ttl_announced_ms.map(Duration::from_millis),
        roots_timeout: keys.roots_timeout_ms.map(timeout).transpose()?,
        debounce: keys.debounce_ms.map(Duration::from_millis),
        revoked_grace: keys.revoked_grace_ms.map(Duration::from_millis),
        restrict: keys.restrict.map(|all| all.iter().map(restrict).collect::<Result<_, Mistake>>()).transpose()?,
        treat: keys.treat.map(|spots| treats(text, &spots)).transpose()?,
        get_roots: keys.get_roots,
        sandbox: keys.sandbox.read(text, home)?,
        http: keys.http.read(text, home)?,
        serve: keys.serve.read(text)?,
    })
}

/// What is said about arguments of tools, each once.
fn treats(text: &str, spots: &[Spanned<String>]) -> Result<Vec<Treat>, Mistake> {
    let mut treats: Vec<Treat> = Vec::new();
    for spot in spots {
        let treat = Treat::from_str(spot.get_ref()).map_err(|expected| Mistake::about(text, spot, expected))?;
        if treats.iter().any(|known| known.place == treat.place) {
            return Err(Mistake::about(text, spot, "duplicate entry for this argument"));
        }
        treats.push(treat);
    }
    Ok(treats)
}

/// What the parser says, in words of the file rather than of the program.
fn in_our_words(says: &str) -> String {
    if let Some((found, expected)) = says
        .strip_prefix("invalid type: ")
        .or_else(|| says.strip_prefix("invalid value: "))
        .and_then(|rest| rest.rsplit_once(", expected "))
    {
        let expected = match expected {
            "a boolean" => "`true` or `false`",
            "a sequence" => "a list",
            "a string" => "a string",
            "u64" => "a whole number",
            "struct RestrictKeys" => "a table with `pattern`, `closed` and `below`",
            _ => "a table",
        };
        let found = match found {
            "sequence" => "a list".to_owned(),
            "map" => "a table".to_owned(),
            // A string stands in quotes, anything else in backticks.
            other => other.replace('"', "`"),
        };
        return format!("{expected} is expected, not {found}");
    }
    let known = [("unknown field", "unknown key"), ("missing field", "missing key")];
    let known = known.iter().find_map(|(theirs, ours)| Some(format!("{ours}{}", says.strip_prefix(theirs)?)));
    known.unwrap_or_else(|| says.to_owned())
}

/// A path of the file: absolute, or from `~`.
pub(super) fn directory(text: &str, home: Option<&Path>) -> Result<PathBuf, String> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let home = home.map(|home| home.as_os_str().as_bytes());
    match PathText::read(text.as_bytes(), PathStyle::NATIVE, home) {
        Ok(PathText::Absolute(path)) => Ok(std::ffi::OsString::from_vec(path.into_owned()).into()),
        Ok(PathText::Relative(_)) => Err("not an absolute path".to_owned()),
        Err(reason) => Err(reason.to_string()),
    }
}

/// Whether a restriction can be compiled.
fn usable(restrict: &Restrict) -> Result<(), String> {
    if restrict.pattern.trim_matches('/').is_empty() {
        return Err("a pattern that matches nothing".to_owned());
    }
    let rule = match &restrict.below {
        Some(place) => Restriction::below(place, &restrict.pattern, restrict.closed),
        None => Restriction::anywhere(&restrict.pattern, restrict.closed),
    };
    rule.map(drop).map_err(|error| match error {
        RestrictionError::Glob { source, .. } => source.kind().to_string(),
        error @ RestrictionError::NotUtf8(_) => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key() {
        let text = "
            roots = ['/a:ro', 'file:///b%20c', '~/d:rwx']
            mode = 'replace'
            strict = true
            ignore_client = false
            fallback_dir = '~'
            fallback_only = false
            no_roots = 'allow-all'
            refusal = 'error'
            roots_ttl_ms = 1
            roots_timeout_ms = 2
            debounce_ms = 3
            revoked_grace_ms = 4
            restrict = [{ pattern = '*.pem' }, { pattern = 'secrets/**', closed = 'writing', below = '~/d' }]
            treat = ['search.root=text', 'import.from=read']
        ";
        let written = parse(text, Some(Path::new("/h"))).unwrap();
        let roots: Vec<_> = written.roots.iter().map(|named| (named.root.path.as_path(), named.root.access)).collect();
        let expect = [("/a", "ro"), ("/b c", "rw"), ("/h/d", "rwx")];
        assert_eq!(
            roots,
            expect.map(|(path, suffix)| (Path::new(path), rootward_core::Access::from_suffix(suffix).unwrap()))
        );
        assert_eq!((written.mode, written.no_roots), (Some(Mode::Replace), Some(NoRoots::AllowAll)));
        assert_eq!(written.refusal, Some(RefusalForm::ProtocolError));
        assert_eq!(written.fallback_dir.unwrap().root.path, Path::new("/h"));
        assert_eq!(written.debounce, Some(Duration::from_millis(3)));
        assert_eq!(written.revoked_grace, Some(Duration::from_millis(4)));
        let treat: Vec<String> = written.treat.unwrap().iter().map(Treat::to_string).collect();
        assert_eq!(treat, ["search.root=text", "import.from=read"]);
        let restrict = written.restrict.unwrap();
        assert_eq!(restrict[0].closed, Closed::Entirely);
        assert_eq!((restrict[1].closed, restrict[1].below.as_deref()), (Closed::ForWriting, Some(Path::new("/h/d"))));
    }

    #[test]
    fn mistakes_have_a_place() {
        let check = |text: &str, line: usize, column: usize, says: &str| {
            let mistake = parse(text, Some(Path::new("/h"))).map(drop).unwrap_err();
            assert_eq!((mistake.line, mistake.column), (line, column), "{text}: {}", mistake.says);
            assert!(mistake.says.contains(says), "{text}: {}", mistake.says);
        };
        check("mode = 'narrow'\nrots = []", 2, 1, "unknown key `rots`, expected one of `roots`");
        check("strict = 'yes'", 1, 10, "`true` or `false` is expected, not string `yes`");
        check("strict = 1", 1, 10, "`true` or `false` is expected, not integer `1`");
        check("roots = '/srv'", 1, 9, "a list is expected, not string `/srv`");
        check("roots = [7]", 1, 10, "a string is expected, not integer `7`");
        check("mode = ['narrow']", 1, 8, "a string is expected, not a list");
        check("roots = { a = 1 }", 1, 9, "a list is expected, not a table");
        check("restrict = ['x']", 1, 13, "a table with `pattern`, `closed` and `below` is expected, not string `x`");
        check("debounce_ms = 1.5", 1, 15, "a whole number is expected, not floating point `1.5`");
        check("mode = 'wide'", 1, 8, "unknown mode `wide`");
        check("mode = 'union'\nmode = 'union'", 2, 1, "duplicate key");
        check("roots = ['/a',\n  'b']", 2, 3, "not a usable root: `b` (not an absolute path)");
        check("# ä\nroots = ['http://x']", 2, 10, "scheme `http`");
        check("roots_ttl_ms = -1", 1, 16, "a whole number is expected, not integer `-1`");
        check("roots_timeout_ms = 0", 1, 20, "no client can answer");
        check("no_roots = 'allow'", 1, 12, "expected `deny` or `allow-all`");
        check("refusal = 'loud'", 1, 11, "expected `result` or `error`");
        check("[[restrict]]\npattern = 'a['", 2, 11, "`a[` (");
        check("[[restrict]]\npattern = ''", 2, 11, "matches nothing");
        check("[[restrict]]\nclosed = 'all'", 1, 1, "missing key `pattern`");
        check("[[restrict]]\npattern = 'x'\nclosed = 'some'", 3, 10, "expected `all` or `writing`");
        check("[[restrict]]\npattern = 'x'\nbelow = 'some'", 3, 9, "not an absolute path");
        check("treat = 'a.b=text'", 1, 9, "a list is expected, not string `a.b=text`");
        check("treat = [1]", 1, 10, "a string is expected, not integer `1`");
        check(
            "treat = ['a.b=text',\n  'c=text']",
            2,
            3,
            "`c=text` (expected `TOOL.ARGUMENT=text`, `=read` or `=write`)",
        );
        check("treat = ['a.b=fly']", 1, 10, "expected `TOOL.ARGUMENT=text`");
        check("treat = ['a.b=text', 'a.b=read']", 1, 22, "`a.b=read` (duplicate entry for this argument)");
        check("mode = ", 1, 8, "");
        check("sandbox = 1", 1, 11, "a table is expected, not integer `1`");
        check("[sandbox]\nnetwork = true", 2, 11, "a string is expected, not boolean `true`");
        check("[sandbox]\nnetwork = 'none'", 2, 11, "expected `on` or `off`");
        check("[sandbox]\nnet = 'off'", 2, 1, "unknown key `net`, expected one of `network`");
        check("[sandbox]\nenv = ['A=b']", 2, 8, "not the name of a variable");
        check("[sandbox]\nenv = ['*']", 2, 8, "every variable, and so every secret");
        check("[sandbox]\nenv = ['A*']", 2, 8, "at least 2 characters");
        check("[sandbox]\nenv = ['AWS_*', '*_KEY']", 2, 17, "can only be the last character");
        check("[sandbox.filesystem]\nallow_read = []", 2, 1, "unknown key `allow_read`, expected one of `allowRead`");
        check("[sandbox.filesystem]\ndenyWrite = ['x']", 2, 14, "not an absolute path");
    }

    #[test]
    fn settings_that_cannot_be_read_are_no_missing_settings() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read_ambient(&directory.path().join("config.toml")).unwrap(), None);
        let check = |path: &Path, says: &str| {
            let error = format!("{:#}", read_ambient(path).unwrap_err());
            assert!(error.ends_with(says), "{error}");
        };
        check(directory.path(), "not a regular file");
        let fifo = directory.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        check(&fifo, "not a regular file");
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(LARGEST_FILE + 1).unwrap();
        check(file.path(), "more than 1 MiB");
        file.as_file().set_len(LARGEST_FILE).unwrap();
        assert!(read_ambient(file.path()).is_ok());
        io::Write::write_all(&mut file.as_file(), b"\xff").unwrap();
        check(file.path(), "not UTF-8");
    }
}
