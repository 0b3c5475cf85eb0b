//! What the environment says.

use std::ffi::OsStr;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use rootward_core::{Mode, Origin, RootError, Shown, env};

use super::{NamedRoot, named_root};
use crate::directories::Environment;
use crate::message::Hinted;

/// A value and the variable it came from.
type From<T> = Option<(T, &'static str)>;

/// The settings that variables name.
#[derive(Default, Debug)]
pub(super) struct Said {
    pub(super) roots: From<Vec<NamedRoot>>,
    pub(super) mode: From<Mode>,
    pub(super) strict: From<bool>,
    pub(super) ignore_client: From<bool>,
    pub(super) fallback_dir: From<NamedRoot>,
    pub(super) fallback_only: From<bool>,
    pub(super) roots_ttl: From<Duration>,
    pub(super) roots_timeout: From<Duration>,
    pub(super) debounce: From<Duration>,
}

pub(super) fn read(environment: &Environment, home: Option<&Path>) -> Result<Said, Hinted> {
    let reader = Reader { environment };
    Ok(Said {
        roots: reader.roots(home)?,
        mode: reader.value(env::MODE, |text| Mode::from_str(text).map_err(|error| error.to_string()))?,
        strict: reader.value(env::STRICT, switch)?,
        ignore_client: reader.value(env::IGNORE_CLIENT, switch)?,
        fallback_dir: reader.fallback(home)?,
        fallback_only: reader.value(env::FALLBACK_ONLY, switch)?,
        roots_ttl: reader.value(env::ROOTS_TTL_MS, milliseconds)?,
        roots_timeout: reader.value(env::ROOTS_TIMEOUT_MS, |text| match milliseconds(text)? {
            Duration::ZERO => Err("no client can answer in 0 ms".to_owned()),
            time => Ok(time),
        })?,
        debounce: reader.value(env::DEBOUNCE_MS, milliseconds)?,
    })
}

struct Reader<'e> {
    environment: &'e Environment,
}

impl Reader<'_> {
    fn value<T>(&self, name: &'static str, read: impl Fn(&str) -> Result<T, String>) -> Result<From<T>, Hinted> {
        let Some(value) = self.environment.get(name) else { return Ok(None) };
        let read = value.to_str().ok_or_else(|| "not UTF-8".to_owned()).and_then(read);
        read.map(|value| Some((value, name))).map_err(|reason| wrong(name, value, &reason, "correct it or unset it"))
    }

    /// A list like `PATH`. Its entries hold no colon, so they carry no access suffix.
    fn roots(&self, home: Option<&Path>) -> Result<From<Vec<NamedRoot>>, Hinted> {
        let Some(value) = self.environment.get(env::ROOTS) else { return Ok(None) };
        let entries: Vec<_> = std::env::split_paths(value).filter(|entry| !entry.as_os_str().is_empty()).collect();
        let mut roots = Vec::new();
        for entry in &entries {
            let named = named_root(entry.as_os_str(), home, Origin::Env).map_err(|error| {
                let hint = "a list like `PATH` of absolute paths, separated by `:`; access suffixes such as `:ro` and `file:` \
                            URIs have their place in `--root` and in the settings file";
                wrong_root(env::ROOTS, &error, hint)
            })?;
            roots.push(named);
        }
        Ok((!roots.is_empty()).then_some((roots, env::ROOTS)))
    }

    fn fallback(&self, home: Option<&Path>) -> Result<From<NamedRoot>, Hinted> {
        let Some(value) = self.environment.get(env::FALLBACK_DIR) else { return Ok(None) };
        let named = named_root(value, home, Origin::Fallback);
        named
            .map(|named| Some((named, env::FALLBACK_DIR)))
            .map_err(|error| wrong_root(env::FALLBACK_DIR, &error, "name one directory by its absolute path"))
    }
}

fn wrong(name: &str, value: &OsStr, reason: &str, hint: &str) -> Hinted {
    Hinted { says: format!("environment variable {name}: `{}` ({reason})", Shown::new(value)), hint: hint.to_owned() }
}

fn wrong_root(name: &str, error: &RootError, hint: &str) -> Hinted {
    Hinted { says: format!("environment variable {name}: {error}"), hint: hint.to_owned() }
}

fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err("neither `true` nor `false`".to_owned()),
    }
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    text.parse().map(Duration::from_millis).map_err(|_| "not a whole number of milliseconds".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, value: &str) -> String {
        read(&[(name, value)].into(), Some(Path::new("/h"))).unwrap_err().says
    }

    #[test]
    fn values() {
        let said = read(
            &[
                ("ROOTWARD_ROOTS", "/a::~/b:/c/../d:"),
                ("ROOTWARD_IGNORE_CLIENT", "YES"),
                ("ROOTWARD_FALLBACK_DIR", "/f:ro"),
                ("ROOTWARD_ROOTS_TTL_MS", "0"),
                ("ROOTWARD_DEBOUNCE_MS", ""),
            ]
            .into(),
            Some(Path::new("/h")),
        )
        .unwrap();
        let roots: Vec<_> = said.roots.unwrap().0.into_iter().map(|named| named.root.path).collect();
        assert_eq!(roots, ["/a", "/h/b", "/c/../d"].map(std::path::PathBuf::from));
        assert_eq!(said.ignore_client, Some((true, "ROOTWARD_IGNORE_CLIENT")));
        assert_eq!(said.fallback_dir.unwrap().0.root.access.to_string(), "read");
        assert_eq!(said.roots_ttl.unwrap().0, Duration::ZERO);
        assert_eq!(said.debounce, None);
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let check = |name: &str, value: &str, expect: &str| {
            assert_eq!(refused(name, value), format!("environment variable {name}: {expect}"));
        };
        check("ROOTWARD_STRICT", "maybe", "`maybe` (neither `true` nor `false`)");
        check("ROOTWARD_MODE", "Narrow", "`Narrow` (unknown mode `Narrow`, expected `narrow`, `replace` or `union`)");
        check("ROOTWARD_ROOTS_TTL_MS", "-1", "`-1` (not a whole number of milliseconds)");
        check("ROOTWARD_ROOTS_TIMEOUT_MS", "0", "`0` (no client can answer in 0 ms)");
        check("ROOTWARD_ROOTS", "/a:ro", "not a usable root: `ro` (not an absolute path)");
        check("ROOTWARD_ROOTS", "src", "not a usable root: `src` (not an absolute path)");
        check(
            "ROOTWARD_FALLBACK_DIR",
            "~other",
            "not a usable root: `~other` (`~` with a name: only one's own home is known)",
        );
    }
}
