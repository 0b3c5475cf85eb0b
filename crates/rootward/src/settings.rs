//! The effective settings, each with its source: flag over environment over settings file over default.
//!
//! Every setting has a row in `settings/table.rs`. Nothing is guessed: an unknown key, a wrong type or an unknown
//! word ends the program with the location of the mistake.

mod file;
mod http;
#[cfg(test)]
mod page;
mod parsers;
mod row;
mod sandbox;
mod serve;
mod table;
mod told;
mod words;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rootward_core::Closed;
use rootward_core::env::{Directories, Environment, VariableSettings};
use rootward_core::session::Follow;
#[cfg(any(test, feature = "serve", feature = "wrap"))]
use rootward_core::session::Policy;

use crate::message::Hinted;
#[cfg(feature = "wrap")]
pub(crate) use file::read_text_ambient;
pub(crate) use http::{PrincipalSettings, TokenFrom};
pub(crate) use row::{Row, flag_help, unknown_variables, variables_help};
#[cfg(feature = "http")]
pub(crate) use table::LimitSettings;
#[cfg(feature = "serve")]
use table::ServeSettings;
pub(crate) use table::{GROUPS, Settings};
use table::{SandboxSettings, rows};
pub(crate) use told::Told;

/// Where a value came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// The command line.
    Flag,
    /// This variable.
    Environment(&'static str),
    /// `config.toml`.
    File,
    /// The saved roots.
    Store,
    /// Not set anywhere.
    Default,
}

impl Source {
    /// The variable, if it came from one.
    pub(crate) fn variable(self) -> Option<&'static str> {
        match self {
            Source::Environment(name) => Some(name),
            Source::Flag | Source::File | Source::Store | Source::Default => None,
        }
    }

    /// One word, for programs.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Source::Flag => "flag",
            Source::Environment(_) => "environment",
            Source::File => "config",
            Source::Store => "store",
            Source::Default => "default",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Flag => f.write_str("flag"),
            Source::Environment(name) => write!(f, "environment ({name})"),
            Source::File => f.write_str("settings file"),
            Source::Store => f.write_str("saved roots"),
            Source::Default => f.write_str("default"),
        }
    }
}

/// A value and where it came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) source: Source,
}

impl<T> Setting<T> {
    /// The first of environment and file that has a value, else the default.
    fn first(environment: Option<(T, &'static str)>, file: Option<T>, default: T) -> Setting<T> {
        match (environment, file) {
            (Some((value, name)), _) => Setting { value, source: Source::Environment(name) },
            (None, Some(value)) => Setting { value, source: Source::File },
            (None, None) => Setting { value: default, source: Source::Default },
        }
    }
}

/// A restriction as written in the settings file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Restrict {
    pub(crate) pattern: String,
    pub(crate) closed: Closed,
    /// The directory that it applies in; everywhere if `None`.
    pub(crate) below: Option<PathBuf>,
}

/// The settings file and whether it exists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SettingsFile {
    Read(PathBuf),
    Missing(PathBuf),
    /// Neither `HOME` nor `XDG_CONFIG_HOME` is set, so there is no place for it.
    Nowhere,
}

impl SettingsFile {
    /// The caller of [`Settings::of_text`] knows which file was read.
    #[expect(clippy::unnecessary_wraps, reason = "the table reads every field alike")]
    fn read(_: &row::Variables<'_>, _: &mut file::Values<'_>) -> Result<SettingsFile, file::Mistake> {
        Ok(SettingsFile::Nowhere)
    }
}

impl Settings {
    /// Reads environment and settings file. The file is Rootward's own, so it is opened by name.
    pub(crate) fn load_ambient(environment: &Environment, directories: &Directories) -> Result<Settings> {
        let home = directories.home.as_deref();
        let Some(path) = directories.settings_file() else { return Settings::of_text(environment, "", home) };
        match file::read_ambient(&path)? {
            None => {
                let settings = Settings::of_text(environment, "", home)?;
                Ok(Settings { file: SettingsFile::Missing(path), ..settings })
            }
            Some(text) => {
                let settings = Settings::of_file(environment, &text, home, &path)?;
                Ok(Settings { file: SettingsFile::Read(path), ..settings })
            }
        }
    }

    /// The defaults alone.
    #[cfg(test)]
    pub(crate) fn defaults() -> Settings {
        Settings::of_text(&Environment::default(), "", None).unwrap()
    }

    /// Reads the environment, and this text in place of a settings file.
    fn of_text(environment: &Environment, text: &str, home: Option<&Path>) -> Result<Settings> {
        Settings::of_file(environment, text, home, Path::new("config.toml"))
    }

    fn of_file(environment: &Environment, text: &str, home: Option<&Path>, path: &Path) -> Result<Settings> {
        let read = VariableSettings::read(environment, home);
        let nothing = VariableSettings::default();
        let variables = row::Variables { environment, said: read.as_ref().unwrap_or(&nothing) };
        let settings = file::Values::parse(text, home).and_then(|mut file| Settings::read(&variables, &mut file));
        // Report mistakes in the file before those in the environment.
        let mut settings = settings.map_err(|mistake| mistake.in_file(path))?;
        read.map_err(Hinted::from)?;
        settings.refuse_contradiction()?;
        // A lifetime set for all clients also applies to those that announce changes.
        if settings.roots_ttl_announced.source == Source::Default && settings.roots_ttl.source != Source::Default {
            settings.roots_ttl_announced = settings.roots_ttl.clone();
        }
        Ok(settings)
    }

    /// At most one of `strict`, `ignore_client` and `fallback_only` can be set: each one alone decides whose roots
    /// count.
    fn refuse_contradiction(&self) -> Result<(), Hinted> {
        let on: Vec<String> = self
            .switches()
            .into_iter()
            .filter(|(_, setting, _)| setting.value)
            .map(|(name, setting, _)| format!("`{name}` ({})", setting.source))
            .collect();
        match on.as_slice() {
            [] | [_] => Ok(()),
            _ => Err(Hinted {
                says: format!("settings contradict each other: {}", on.join(", ")),
                hint: "only one of them can be set: set the others to `false`".to_owned(),
            }),
        }
    }

    fn switches(&self) -> [(&'static str, &Setting<bool>, Follow); 3] {
        [
            ("strict", &self.strict, Follow::Strict),
            ("ignore_client", &self.ignore_client, Follow::IgnoreClient),
            ("fallback_only", &self.fallback_only, Follow::FallbackOnly),
        ]
    }

    /// The switch that is on, if any, and its source.
    pub(crate) fn switch_on(&self) -> Option<(&'static str, Source)> {
        let on = self.switches().into_iter().find(|(_, setting, _)| setting.value);
        on.map(|(name, setting, _)| (name, setting.source))
    }

    /// Whose roots count.
    pub(crate) fn follow(&self) -> Follow {
        let on = self.switches().into_iter().find(|(_, setting, _)| setting.value);
        on.map_or(Follow::Client, |(.., follow)| follow)
    }

    /// The settings of a session.
    #[cfg(any(test, feature = "serve", feature = "wrap"))]
    pub(crate) fn policy(&self) -> Policy {
        let default = Policy::default();
        Policy {
            mode: self.mode.value,
            follow: self.follow(),
            no_roots: self.no_roots.value,
            timeout: self.roots_timeout.value,
            debounce: self.debounce.value,
            debounce_limit: default.debounce_limit.max(self.debounce.value),
            lifetime: self.roots_ttl.value,
            lifetime_announced: self.roots_ttl_announced.value,
            retry_after: default.retry_after,
            revoked_grace: self.revoked_grace.value,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rootward_core::Mode;

    use super::*;

    fn settings(variables: impl Into<Environment>, text: &str) -> Result<Settings> {
        Settings::of_text(&variables.into(), text, Some(Path::new("/h")))
    }

    #[test]
    fn environment_over_file_over_default() {
        let text = "mode = 'union'\nroots = ['/a:ro', '~/b']\nstrict = true\nroots_ttl_ms = 7";
        let all = settings([("ROOTWARD_MODE", "replace"), ("ROOTWARD_STRICT", "off")], text).unwrap();
        assert_eq!((all.mode.value, all.mode.source), (Mode::Replace, Source::Environment("ROOTWARD_MODE")));
        assert_eq!((all.strict.value, all.strict.source), (false, Source::Environment("ROOTWARD_STRICT")));
        assert_eq!((all.debounce.value, all.debounce.source), (Duration::from_millis(250), Source::Default));
        let roots: Vec<_> = all.roots.value.iter().map(|named| named.root.path.to_str().unwrap()).collect();
        assert_eq!((roots.as_slice(), all.roots.source), (["/a", "/h/b"].as_slice(), Source::File));
        let policy = all.policy();
        assert_eq!(policy.lifetime, Some(Duration::from_millis(7)));
        assert_eq!(policy.lifetime_announced, Some(Duration::from_millis(7)));
        assert_eq!(policy.follow, Follow::Client);
    }

    #[test]
    fn each_lifetime_is_a_setting() {
        let check = |variables: Environment, text: &str, lifetime: u64, announced: u64| {
            let policy = settings(variables, text).unwrap().policy();
            let expect = [lifetime, announced].map(|time| Some(Duration::from_millis(time)));
            assert_eq!([policy.lifetime, policy.lifetime_announced], expect, "{text}");
        };
        check(Environment::default(), "", 300_000, 1_800_000);
        check(Environment::default(), "roots_ttl_announced_ms = 5", 300_000, 5);
        check(Environment::default(), "roots_ttl_ms = 7\nroots_ttl_announced_ms = 5", 7, 5);
        check(
            [("ROOTWARD_ROOTS_TTL_MS", "9"), ("ROOTWARD_ROOTS_TTL_ANNOUNCED_MS", "8")].into(),
            "roots_ttl_announced_ms = 5",
            9,
            8,
        );
    }

    #[test]
    fn nothing_said_is_the_default_policy() {
        let all = settings(Environment::default(), "").unwrap();
        assert_eq!(all.policy(), Policy::default());
    }

    #[test]
    fn roots_of_the_environment_replace_those_of_the_file() {
        let all = settings([("ROOTWARD_ROOTS", "/e")], "roots = ['/a']").unwrap();
        assert_eq!(all.roots.source, Source::Environment("ROOTWARD_ROOTS"));
        assert_eq!(all.roots.value.len(), 1);
        // An empty variable names nothing, so the next source counts.
        let all = settings([("ROOTWARD_ROOTS", "")], "roots = ['/a']").unwrap();
        assert_eq!(all.roots.source, Source::File);
    }

    #[test]
    fn three_answers_to_one_question_are_refused() {
        let check = |variables: Environment, text: &str, expect: Result<Follow, &str>| {
            let seen = settings(variables, text).map(|all| all.follow()).map_err(|error| error.to_string());
            assert_eq!(seen, expect.map_err(str::to_owned));
        };
        check([("ROOTWARD_STRICT", "1")].into(), "", Ok(Follow::Strict));
        check(Environment::default(), "ignore_client = true", Ok(Follow::IgnoreClient));
        check([("ROOTWARD_STRICT", "no")].into(), "strict = true\nfallback_only = true", Ok(Follow::FallbackOnly));
        check(
            [("ROOTWARD_STRICT", "yes")].into(),
            "ignore_client = true",
            Err("settings contradict each other: `strict` (environment (ROOTWARD_STRICT)), \
                 `ignore_client` (settings file)"),
        );
    }
}
