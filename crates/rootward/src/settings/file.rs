//! Reads `config.toml`. Every mistake is reported with its line and column.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Context;
use rootward_core::{Shown, parser_message};
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::row::{Row, nearest};
use crate::message::Hinted;

/// A mistake in the file, and its position.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Mistake {
    line: usize,
    column: usize,
    says: String,
    hint: Option<String>,
}

impl Mistake {
    pub(super) fn at(text: &str, offset: usize, says: impl Into<String>) -> Mistake {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Mistake {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            says: says.into(),
            hint: None,
        }
    }

    /// A string in the file that cannot be used.
    pub(super) fn about(text: &str, spot: &Spanned<String>, reason: &str) -> Mistake {
        let shown = Shown::new(spot.get_ref().as_str()).to_string();
        Mistake::at(text, spot.span().start, format!("`{shown}` ({reason})"))
    }

    pub(super) fn in_file(self, path: &Path) -> anyhow::Error {
        let Mistake { line, column, says, hint } = self;
        let says = format!("settings file `{}`, line {line}, column {column}: {says}", Shown::new(path));
        match hint {
            Some(hint) => Hinted { says, hint }.into(),
            None => anyhow::anyhow!(says),
        }
    }
}

/// The largest settings file to read.
const LARGEST_FILE: u64 = 1 << 20;

/// The file's text, if the file exists.
pub(super) fn read_ambient(path: &Path) -> anyhow::Result<Option<String>> {
    match read_text_ambient(path, LARGEST_FILE) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        // SECURITY: settings that exist but cannot be read may hold a ceiling; going on without them would share
        // more than it allows
        // (test: settings_that_cannot_be_read_are_no_missing_settings)
        Err(error) => Err(error).with_context(|| format!("settings file `{}` cannot be read", Shown::new(path))),
    }
}

/// Reads a file that the user named, if it is a regular file of at most `most` bytes.
#[expect(clippy::disallowed_methods, reason = "the operator's own file")]
pub(crate) fn read_text_ambient(path: &Path, most: u64) -> io::Result<String> {
    // Opening a FIFO would block until it has a writer, so open without blocking, and then refuse it (open(2)).
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

/// The file's values by dotted key, until a setting takes them.
#[derive(Default, Debug)]
pub(super) struct Values<'t> {
    text: &'t str,
    home: Option<&'t Path>,
    by_key: BTreeMap<&'static str, Spanned<DeValue<'t>>>,
}

impl<'t> Values<'t> {
    /// Parses the file and refuses every key that has no row in the table of settings.
    pub(super) fn parse(text: &'t str, home: Option<&'t Path>) -> Result<Values<'t>, Mistake> {
        let mut values = Values { text, home, by_key: BTreeMap::new() };
        let table = DeTable::parse(text).map_err(|error| mistake(text, &error))?;
        values.gather("", table.into_inner())?;
        Ok(values)
    }

    fn gather(&mut self, prefix: &str, table: DeTable<'t>) -> Result<(), Mistake> {
        for (name, value) in table {
            let key = format!("{prefix}{}", name.get_ref());
            if let Some((known, row)) =
                super::rows().find_map(|row| Some((row.key.filter(|known| *known == key)?, row)))
            {
                self.refuse_unknown_parts(row, value.get_ref())?;
                self.by_key.insert(known, value);
                continue;
            }
            let below = format!("{key}.");
            if !super::rows().filter_map(|row| row.key).any(|known| known.starts_with(&below)) {
                let keys = super::rows().filter_map(|row| row.key?.strip_prefix(prefix));
                return Err(self.unknown_key(&name, keys.map(|rest| rest.split('.').next().unwrap_or(rest))));
            }
            let span = value.span();
            match value.into_inner() {
                DeValue::Table(table) => self.gather(&below, table)?,
                other => {
                    // Report the mistake as for every other value.
                    let other = Found { text: self.text, home: None, value: Spanned::new(span, other) };
                    other.read::<BTreeMap<String, toml::Value>>()?;
                }
            }
        }
        Ok(())
    }

    /// A setting that is a table, or a list or table of tables, has keys of its own.
    fn refuse_unknown_parts(&self, row: &Row, value: &DeValue<'t>) -> Result<(), Mistake> {
        let tables = match value {
            _ if row.parts.is_empty() => return Ok(()),
            DeValue::Array(entries) => entries.iter().filter_map(|entry| entry.get_ref().as_table()).collect(),
            DeValue::Table(named) => named.values().filter_map(|entry| entry.get_ref().as_table()).collect::<Vec<_>>(),
            _ => return Ok(()),
        };
        let known = || row.parts.iter().map(|part| part.key);
        match tables.into_iter().flat_map(DeTable::keys).find(|name| !known().any(|key| key == &**name.get_ref())) {
            Some(name) => Err(self.unknown_key(name, known())),
            None => Ok(()),
        }
    }

    fn unknown_key(
        &self,
        name: &Spanned<impl AsRef<str>>,
        known: impl Iterator<Item = &'static str> + Clone,
    ) -> Mistake {
        let text = name.get_ref().as_ref();
        let mut keys: Vec<&str> = Vec::new();
        for key in known {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let says = format!("unknown key `{}`, expected one of `{}`", Shown::new(text), keys.join("`, `"));
        let hint = nearest(text, keys.into_iter()).map(|key| format!("did you mean `{key}`?"));
        Mistake { hint, ..Mistake::at(self.text, name.span().start, says) }
    }

    /// Takes the value of a key, if the file has one.
    pub(super) fn take(&mut self, key: &str) -> Option<Found<'t>> {
        Some(Found { text: self.text, home: self.home, value: self.by_key.remove(key)? })
    }
}

/// A value in the file, and the context needed to parse it.
#[derive(Debug)]
pub(super) struct Found<'t> {
    pub(super) text: &'t str,
    pub(super) home: Option<&'t Path>,
    value: Spanned<DeValue<'t>>,
}

impl Found<'_> {
    /// The value as a type, or what is wrong with it.
    pub(super) fn read<T: DeserializeOwned>(self) -> Result<T, Mistake> {
        T::deserialize(ValueDeserializer::from(self.value)).map_err(|error| mistake(self.text, &error))
    }
}

fn mistake(text: &str, error: &toml::de::Error) -> Mistake {
    let offset = error.span().map_or(0, |span| span.start);
    Mistake::at(text, offset, parser_message::toml(error.message()))
}

/// The settings of a file alone.
#[cfg(test)]
pub(super) fn parse(text: &str, home: Option<&Path>) -> Result<super::Settings, Mistake> {
    use rootward_core::env::{Environment, VariableSettings};
    let (environment, said) = (Environment::default(), VariableSettings::default());
    let variables = super::row::Variables { environment: &environment, said: &said };
    super::Settings::read(&variables, &mut Values::parse(text, home)?)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rootward_core::session::NoRoots;
    use rootward_core::{Closed, Mode};
    use rootward_protocol::RefusalForm;

    use super::*;
    use crate::treat::Treat;

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
        let all = parse(text, Some(Path::new("/h"))).unwrap();
        let roots: Vec<_> =
            all.roots.value.iter().map(|named| (named.root.path.as_path(), named.root.access)).collect();
        let expect = [("/a", "ro"), ("/b c", "rw"), ("/h/d", "rwx")];
        assert_eq!(
            roots,
            expect.map(|(path, suffix)| (Path::new(path), rootward_core::Access::from_suffix(suffix).unwrap()))
        );
        assert_eq!((all.mode.value, all.no_roots.value), (Mode::Replace, NoRoots::AllowAll));
        assert_eq!(all.refusal.value, RefusalForm::ProtocolError);
        assert_eq!(all.fallback_dir.value.unwrap().root.path, Path::new("/h"));
        assert_eq!(all.debounce.value, Duration::from_millis(3));
        assert_eq!(all.revoked_grace.value, Duration::from_millis(4));
        let treat: Vec<String> = all.treat.value.iter().map(Treat::to_string).collect();
        assert_eq!(treat, ["search.root=text", "import.from=read"]);
        let restrict = all.restrict.value;
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
        check("strict = 'yes'", 1, 10, "expected a boolean, found string `yes`");
        check("strict = 1", 1, 10, "expected a boolean, found integer `1`");
        check("roots = '/srv'", 1, 9, "expected a list, found string `/srv`");
        check("roots = [7]", 1, 10, "expected a string, found integer `7`");
        check("mode = ['narrow']", 1, 8, "expected a string, found a list");
        check("roots = { a = 1 }", 1, 9, "expected a list, found a table");
        check("restrict = ['x']", 1, 13, "expected a table with `pattern`, `closed` and `below`, found string `x`");
        check("debounce_ms = 1.5", 1, 15, "expected a non-negative integer, found floating point `1.5`");
        check("mode = 'wide'", 1, 8, "unknown mode `wide`");
        check("mode = 'union'\nmode = 'union'", 2, 1, "duplicate key");
        check("roots = ['/a',\n  'b']", 2, 3, "not a usable root: `b` (not an absolute path)");
        check("# ä\nroots = ['http://x']", 2, 10, "scheme `http`");
        check("roots_ttl_ms = -1", 1, 16, "expected a non-negative integer, found integer `-1`");
        check("roots_timeout_ms = 0", 1, 20, "no client can answer");
        check("no_roots = 'allow'", 1, 12, "expected `deny` or `allow-all`");
        check("refusal = 'loud'", 1, 11, "expected `result` or `error`");
        check("[[restrict]]\npattern = 'a['", 2, 11, "`a[` (");
        check("[[restrict]]\npattern = ''", 2, 11, "matches nothing");
        check("[[restrict]]\nclosed = 'all'", 1, 1, "missing key `pattern`");
        check("[[restrict]]\npattern = 'x'\nclosed = 'some'", 3, 10, "expected `all` or `writing`");
        check("[[restrict]]\npattern = 'x'\nbelow = 'some'", 3, 9, "not an absolute path");
        check("treat = 'a.b=text'", 1, 9, "expected a list, found string `a.b=text`");
        check("treat = [1]", 1, 10, "expected a string, found integer `1`");
        check(
            "treat = ['a.b=text',\n  'c=text']",
            2,
            3,
            "`c=text` (expected `TOOL.ARGUMENT=text`, `=read` or `=write`)",
        );
        check("treat = ['a.b=fly']", 1, 10, "expected `TOOL.ARGUMENT=text`");
        check("treat = ['a.b=text', 'a.b=read']", 1, 22, "`a.b=read` (duplicate entry for this argument)");
        check("mode = ", 1, 8, "");
        check("sandbox = 1", 1, 11, "expected a table, found integer `1`");
        check("[sandbox]\nnetwork = true", 2, 11, "expected a string, found boolean `true`");
        check("[sandbox]\nnetwork = 'none'", 2, 11, "expected `on` or `off`");
        check("[sandbox]\nnet = 'off'", 2, 1, "unknown key `net`, expected one of `network`");
        check("[sandbox]\nenv = ['A=b']", 2, 8, "not the name of a variable");
        check("[sandbox]\nenv = ['*']", 2, 8, "every variable, and so every secret");
        check("[sandbox]\nenv = ['A*']", 2, 8, "at least 2 characters");
        check("[sandbox]\nenv = ['AWS_*', '*_KEY']", 2, 17, "can only be the last character");
        check("[sandbox.filesystem]\nallow_read = []", 2, 1, "unknown key `allow_read`, expected one of `allowRead`");
        check("[sandbox.filesystem]\ndenyWrite = ['x']", 2, 14, "not an absolute path");
        check("[[restrict]]\npattern = 'x'\nbelo = '/a'", 3, 1, "unknown key `belo`, expected one of `pattern`");
        check("[http.principals.ann]\ntoken = 'x'", 2, 1, "unknown key `token`, expected one of `token_file`");
        check("[http.principals.ann]\nroots = ['/a']", 1, 18, "its token is missing");
        check("[http]\nprincipals = 1", 2, 14, "expected a table, found integer `1`");
        check("http.limits = []", 1, 15, "expected a table, found a list");
    }

    #[test]
    fn a_misspelt_key_has_a_hint() {
        let check = |text: &str, hint: Option<&str>| {
            let mistake = parse(text, None).map(drop).unwrap_err();
            assert_eq!(mistake.hint.as_deref(), hint, "{text}: {}", mistake.says);
        };
        check("rots = []", Some("did you mean `roots`?"));
        check("sandobx = {}", Some("did you mean `sandbox`?"));
        check("[sandbox]\nnet = 'off'", Some("did you mean `network`?"));
        check("[http.limits]\nrates = 1", Some("did you mean `rate`?"));
        check("[http.principals.ann]\ntoken_fil = 'x'", Some("did you mean `token_file`?"));
        check("xyzzy = 1", None);
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
