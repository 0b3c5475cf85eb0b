//! The roots and settings in the environment. An invalid value is an error; nothing is guessed.

use std::ffi::OsStr;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use crate::root::{Origin, Root, RootError};
use crate::session::{Follow, Policy};
use crate::set::Mode;
use crate::shown::Shown;

use super::Environment;

/// A value and the variable it came from.
type FromVariable<T> = Option<(T, &'static str)>;

/// A root as a user wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedRoot {
    /// The text as written.
    pub text: String,
    /// The root that it names.
    pub root: Root,
}

impl NamedRoot {
    /// Parses a root from the environment or a settings file. It must be absolute or start with `~`, because there is
    /// no working directory to resolve it against.
    pub fn read(text: &OsStr, home: Option<&Path>, origin: Origin) -> Result<NamedRoot, RootError> {
        let root = Root::from_typed(text, Path::new(""), home, origin)?;
        Ok(NamedRoot { text: Shown::new(text).to_string(), root })
    }
}

/// A variable with an invalid value, or variables that contradict each other.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{says}; {hint}")]
pub struct EnvironmentError {
    /// The problem.
    pub says: String,
    /// How to fix it.
    pub hint: String,
}

/// The settings that variables name, each with its variable.
#[derive(Default, Debug)]
pub struct VariableSettings {
    /// The operator's roots.
    pub roots: FromVariable<Vec<NamedRoot>>,
    /// How client roots and the ceiling combine.
    pub mode: FromVariable<Mode>,
    /// Whether only the client's own roots give access.
    pub strict: FromVariable<bool>,
    /// Whether only the ceiling counts.
    pub ignore_client: FromVariable<bool>,
    /// The directory to use if nobody names a root.
    pub fallback_dir: FromVariable<NamedRoot>,
    /// Whether only the fallback directory counts.
    pub fallback_only: FromVariable<bool>,
    /// How long a client's list is valid.
    pub roots_ttl: FromVariable<Duration>,
    /// How long the list of a client that announces changes is valid.
    pub roots_ttl_announced: FromVariable<Duration>,
    /// How long a client may take to answer.
    pub roots_timeout: FromVariable<Duration>,
    /// How long to wait after the last announcement of changes.
    pub debounce: FromVariable<Duration>,
    /// How long a wrapped server may finish its calls after one of its roots was removed.
    pub revoked_grace: FromVariable<Duration>,
}

impl VariableSettings {
    /// Parses the variables; `home` is the directory that `~` means.
    pub fn read(environment: &Environment, home: Option<&Path>) -> Result<VariableSettings, EnvironmentError> {
        let reader = Reader { environment };
        Ok(VariableSettings {
            roots: reader.roots(home)?,
            mode: reader.value(super::MODE, |text| Mode::from_str(text).map_err(|error| error.to_string()))?,
            strict: reader.value(super::STRICT, switch)?,
            ignore_client: reader.value(super::IGNORE_CLIENT, switch)?,
            fallback_dir: reader.fallback(home)?,
            fallback_only: reader.value(super::FALLBACK_ONLY, switch)?,
            roots_ttl: reader.value(super::ROOTS_TTL_MS, milliseconds)?,
            roots_ttl_announced: reader.value(super::ROOTS_TTL_ANNOUNCED_MS, milliseconds)?,
            roots_timeout: reader.value(super::ROOTS_TIMEOUT_MS, |text| match milliseconds(text)? {
                Duration::ZERO => Err("no client can answer in 0 ms".to_owned()),
                time => Ok(time),
            })?,
            debounce: reader.value(super::DEBOUNCE_MS, milliseconds)?,
            revoked_grace: reader.value(super::REVOKED_GRACE_MS, milliseconds)?,
        })
    }

    /// Whose roots count. `strict`, `ignore_client` and `fallback_only` exclude each other.
    pub fn follow(&self) -> Result<Follow, EnvironmentError> {
        let switches = [
            (&self.strict, Follow::Strict),
            (&self.ignore_client, Follow::IgnoreClient),
            (&self.fallback_only, Follow::FallbackOnly),
        ];
        let on: Vec<(&str, Follow)> = switches
            .into_iter()
            .filter_map(|(switch, follow)| switch.and_then(|(on, name)| on.then_some((name, follow))))
            .collect();
        match on.as_slice() {
            [] => Ok(Follow::Client),
            [(_, follow)] => Ok(*follow),
            several => Err(EnvironmentError {
                says: format!(
                    "settings contradict each other: {}",
                    several.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
                ),
                hint: "only one of them can be set: unset the others".to_owned(),
            }),
        }
    }

    /// The settings of a session that has no other source of settings.
    pub fn policy(&self) -> Result<Policy, EnvironmentError> {
        let default = Policy::default();
        let value = |setting: &FromVariable<Duration>| setting.map(|(time, _)| time);
        let debounce = value(&self.debounce).unwrap_or(default.debounce);
        Ok(Policy {
            mode: self.mode.map_or(default.mode, |(mode, _)| mode),
            follow: self.follow()?,
            no_roots: default.no_roots,
            timeout: value(&self.roots_timeout).unwrap_or(default.timeout),
            debounce,
            debounce_limit: default.debounce_limit.max(debounce),
            lifetime: value(&self.roots_ttl).or(default.lifetime),
            lifetime_announced: value(&self.roots_ttl_announced)
                .or(value(&self.roots_ttl))
                .or(default.lifetime_announced),
            retry_after: default.retry_after,
            revoked_grace: value(&self.revoked_grace).unwrap_or(default.revoked_grace),
        })
    }
}

struct Reader<'e> {
    environment: &'e Environment,
}

impl Reader<'_> {
    fn value<T>(
        &self,
        name: &'static str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<FromVariable<T>, EnvironmentError> {
        let Some(value) = self.environment.get(name) else { return Ok(None) };
        let read = value.to_str().ok_or_else(|| "not UTF-8".to_owned()).and_then(read);
        read.map(|value| Some((value, name))).map_err(|reason| wrong(name, value, &reason, "correct it or unset it"))
    }

    /// Parses a list like `PATH`. Its entries cannot contain a colon, so they have no access suffix.
    fn roots(&self, home: Option<&Path>) -> Result<FromVariable<Vec<NamedRoot>>, EnvironmentError> {
        let Some(value) = self.environment.get(super::ROOTS) else { return Ok(None) };
        let entries: Vec<_> = std::env::split_paths(value).filter(|entry| !entry.as_os_str().is_empty()).collect();
        let mut roots = Vec::new();
        for entry in &entries {
            let named = NamedRoot::read(entry.as_os_str(), home, Origin::Env).map_err(|error| {
                let hint = "a list like `PATH` of absolute paths, separated by `:`; access suffixes such as `:ro` and `file:` \
                            URIs belong in `--root` and in the settings file";
                wrong_root(super::ROOTS, &error, hint)
            })?;
            roots.push(named);
        }
        if roots.is_empty() {
            // The variable was meant to set the ceiling. Ignoring it would remove the ceiling.
            return Err(wrong(super::ROOTS, value, "names no root", "name the roots or unset it"));
        }
        Ok(Some((roots, super::ROOTS)))
    }

    fn fallback(&self, home: Option<&Path>) -> Result<FromVariable<NamedRoot>, EnvironmentError> {
        let Some(value) = self.environment.get(super::FALLBACK_DIR) else { return Ok(None) };
        let named = NamedRoot::read(value, home, Origin::Fallback);
        named
            .map(|named| Some((named, super::FALLBACK_DIR)))
            .map_err(|error| wrong_root(super::FALLBACK_DIR, &error, "name one directory by its absolute path"))
    }
}

fn wrong(name: &str, value: &OsStr, reason: &str, hint: &str) -> EnvironmentError {
    EnvironmentError {
        says: format!("environment variable {name}: `{}` ({reason})", Shown::new(value)),
        hint: hint.to_owned(),
    }
}

fn wrong_root(name: &str, error: &RootError, hint: &str) -> EnvironmentError {
    EnvironmentError { says: format!("environment variable {name}: {error}"), hint: hint.to_owned() }
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
        VariableSettings::read(&[(name, value)].into(), Some(Path::new("/h"))).unwrap_err().says
    }

    #[test]
    fn values() {
        let said = VariableSettings::read(
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
    fn at_most_one_switch() {
        let follow = |variables: Environment| VariableSettings::read(&variables, None).unwrap().follow();
        assert_eq!(follow([("ROOTWARD_STRICT", "1")].into()), Ok(Follow::Strict));
        assert_eq!(
            follow([("ROOTWARD_STRICT", "0"), ("ROOTWARD_FALLBACK_ONLY", "on")].into()),
            Ok(Follow::FallbackOnly)
        );
        assert_eq!(follow(Environment::default()), Ok(Follow::Client));
        let both = follow([("ROOTWARD_STRICT", "1"), ("ROOTWARD_IGNORE_CLIENT", "1")].into()).unwrap_err();
        assert_eq!(both.says, "settings contradict each other: ROOTWARD_STRICT, ROOTWARD_IGNORE_CLIENT");
    }

    #[test]
    fn a_policy_from_the_environment() {
        let policy = |variables: Environment| VariableSettings::read(&variables, None).unwrap().policy().unwrap();
        assert_eq!(policy(Environment::default()), Policy::default());
        let read = policy(
            [
                ("ROOTWARD_MODE", "union"),
                ("ROOTWARD_ROOTS_TTL_MS", "7"),
                ("ROOTWARD_ROOTS_TIMEOUT_MS", "8"),
                ("ROOTWARD_DEBOUNCE_MS", "9000"),
                ("ROOTWARD_REVOKED_GRACE_MS", "0"),
            ]
            .into(),
        );
        let milliseconds = Duration::from_millis;
        assert_eq!((read.mode, read.timeout), (Mode::Union, milliseconds(8)));
        assert_eq!((read.lifetime, read.lifetime_announced), (Some(milliseconds(7)), Some(milliseconds(7))));
        assert_eq!((read.debounce, read.debounce_limit), (milliseconds(9000), milliseconds(9000)));
        assert_eq!(read.revoked_grace, Duration::ZERO);
        // Each lifetime has its own setting; the general one applies if the other is not set.
        let announced = policy([("ROOTWARD_ROOTS_TTL_ANNOUNCED_MS", "6")].into());
        assert_eq!(
            (announced.lifetime, announced.lifetime_announced),
            (Some(Duration::from_mins(5)), Some(milliseconds(6)))
        );
    }

    #[test]
    fn invalid_values_are_refused() {
        let check = |name: &str, value: &str, expect: &str| {
            assert_eq!(refused(name, value), format!("environment variable {name}: {expect}"));
        };
        check("ROOTWARD_STRICT", "maybe", "`maybe` (neither `true` nor `false`)");
        check("ROOTWARD_MODE", "Narrow", "`Narrow` (unknown mode `Narrow`, expected `narrow`, `replace` or `union`)");
        check("ROOTWARD_ROOTS_TTL_MS", "-1", "`-1` (not a whole number of milliseconds)");
        check("ROOTWARD_ROOTS_TIMEOUT_MS", "0", "`0` (no client can answer in 0 ms)");
        check("ROOTWARD_ROOTS", "/a:ro", "not a usable root: `ro` (not an absolute path)");
        check("ROOTWARD_ROOTS", ":", "`:` (names no root)");
        check("ROOTWARD_ROOTS", "src", "not a usable root: `src` (not an absolute path)");
        check("ROOTWARD_FALLBACK_DIR", "~other", "not a usable root: `~other` (`~` with a user name is not supported)");
    }
}
