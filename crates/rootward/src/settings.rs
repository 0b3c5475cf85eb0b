//! The settings in force, each with where it came from: flag over environment over settings file over default.
//!
//! Nothing is guessed: an unknown key, a wrong type or a word that means nothing ends the program with the place of the mistake.

mod file;
mod http;
mod limits;
mod sandbox;
mod serve;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use rootward_core::env::{Directories, Environment, NamedRoot, Said};
use rootward_core::session::{Follow, NoRoots, Policy};
use rootward_core::{Closed, Mode};
use rootward_protocol::RefusalForm;

use crate::message::Hinted;
use crate::treat::Treat;
#[cfg(feature = "wrap")]
pub(crate) use file::read_text_ambient;
#[cfg(feature = "http")]
pub(crate) use http::TokenFrom;
pub(crate) use http::{HttpSettings, PrincipalSettings};
#[cfg(feature = "http")]
pub(crate) use limits::LimitSettings;
pub(crate) use sandbox::SandboxSettings;
pub(crate) use serve::ServeSettings;

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
    /// Nobody said anything.
    Default,
}

impl Source {
    /// The variable, where it was one.
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
    /// The first of environment and file that says something, else the default.
    fn first(environment: Option<(T, &'static str)>, file: Option<T>, default: T) -> Setting<T> {
        match (environment, file) {
            (Some((value, name)), _) => Setting { value, source: Source::Environment(name) },
            (None, Some(value)) => Setting { value, source: Source::File },
            (None, None) => Setting { value: default, source: Source::Default },
        }
    }
}

/// A restriction as the settings file has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Restrict {
    pub(crate) pattern: String,
    pub(crate) closed: Closed,
    /// The directory it holds in; everywhere where there is none.
    pub(crate) below: Option<PathBuf>,
}

/// The settings file and whether there is one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SettingsFile {
    Read(PathBuf),
    Missing(PathBuf),
    /// Neither `HOME` nor `XDG_CONFIG_HOME` says where it would be.
    Nowhere,
}

/// Everything that can be set.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) file: SettingsFile,
    pub(crate) roots: Setting<Vec<NamedRoot>>,
    pub(crate) mode: Setting<Mode>,
    pub(crate) strict: Setting<bool>,
    pub(crate) ignore_client: Setting<bool>,
    pub(crate) fallback_dir: Setting<Option<NamedRoot>>,
    pub(crate) fallback_only: Setting<bool>,
    pub(crate) no_roots: Setting<NoRoots>,
    /// How a refused tool call is answered.
    pub(crate) refusal: Setting<RefusalForm>,
    pub(crate) roots_ttl: Setting<Option<Duration>>,
    pub(crate) roots_ttl_announced: Setting<Option<Duration>>,
    pub(crate) roots_timeout: Setting<Duration>,
    pub(crate) debounce: Setting<Duration>,
    pub(crate) revoked_grace: Setting<Duration>,
    pub(crate) restrict: Setting<Vec<Restrict>>,
    pub(crate) treat: Setting<Vec<Treat>>,
    /// Whether `wrap` offers `get-roots`.
    pub(crate) get_roots: Setting<bool>,
    pub(crate) sandbox: SandboxSettings,
    pub(crate) http: HttpSettings,
    pub(crate) serve: ServeSettings,
}

impl Settings {
    /// Reads environment and settings file. The file is Rootward's own, so it is opened by name.
    pub(crate) fn load_ambient(environment: &Environment, directories: &Directories) -> Result<Settings> {
        let home = directories.home.as_deref();
        let (state, written) = match directories.settings_file() {
            None => (SettingsFile::Nowhere, file::Written::default()),
            Some(path) => match file::read_ambient(&path)? {
                None => (SettingsFile::Missing(path), file::Written::default()),
                Some(text) => {
                    let written = file::parse(&text, home).map_err(|mistake| mistake.in_file(&path))?;
                    (SettingsFile::Read(path), written)
                }
            },
        };
        let said = Said::read(environment, home).map_err(Hinted::from)?;
        Settings::combine(state, said, written, environment)
    }

    fn combine(state: SettingsFile, said: Said, written: file::Written, environment: &Environment) -> Result<Settings> {
        let default = Policy::default();
        let named = |roots: Vec<NamedRoot>| (!roots.is_empty()).then_some(roots);
        let settings = Settings {
            file: state,
            roots: Setting::first(said.roots, named(written.roots), Vec::new()),
            mode: Setting::first(said.mode, written.mode, default.mode),
            strict: Setting::first(said.strict, written.strict, false),
            ignore_client: Setting::first(said.ignore_client, written.ignore_client, false),
            fallback_dir: Setting::first(
                said.fallback_dir.map(|(root, name)| (Some(root), name)),
                written.fallback_dir.map(Some),
                None,
            ),
            fallback_only: Setting::first(said.fallback_only, written.fallback_only, false),
            no_roots: Setting::first(None, written.no_roots, default.no_roots),
            refusal: Setting::first(None, written.refusal, RefusalForm::default()),
            roots_ttl: Setting::first(
                said.roots_ttl.map(|(time, name)| (Some(time), name)),
                written.roots_ttl.map(Some),
                None,
            ),
            roots_ttl_announced: Setting::first(
                said.roots_ttl_announced.map(|(time, name)| (Some(time), name)),
                written.roots_ttl_announced.map(Some),
                None,
            ),
            roots_timeout: Setting::first(said.roots_timeout, written.roots_timeout, default.timeout),
            debounce: Setting::first(said.debounce, written.debounce, default.debounce),
            revoked_grace: Setting::first(said.revoked_grace, written.revoked_grace, default.revoked_grace),
            restrict: Setting::first(None, written.restrict, Vec::new()),
            treat: Setting::first(None, written.treat, Vec::new()),
            get_roots: Setting::first(None, written.get_roots, false),
            sandbox: written.sandbox.into(),
            http: written.http.combine(environment),
            serve: written.serve.into(),
        };
        settings.refuse_contradiction()?;
        Ok(settings)
    }

    /// `strict`, `ignore_client` and `fallback_only` are three answers to one question.
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

    /// The switch that says whose roots count, where one is on, and who set it.
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
    pub(crate) fn policy(&self) -> Policy {
        let default = Policy::default();
        Policy {
            mode: self.mode.value,
            follow: self.follow(),
            no_roots: self.no_roots.value,
            timeout: self.roots_timeout.value,
            debounce: self.debounce.value,
            debounce_limit: default.debounce_limit.max(self.debounce.value),
            lifetime: self.roots_ttl.value.or(default.lifetime),
            lifetime_announced: self.roots_ttl_announced.value.or(self.roots_ttl.value).or(default.lifetime_announced),
            retry_after: default.retry_after,
            revoked_grace: self.revoked_grace.value,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn settings(variables: impl Into<Environment>, text: &str) -> Result<Settings> {
        let home = Some(Path::new("/h"));
        let written = file::parse(text, home).map_err(|mistake| mistake.in_file(Path::new("/c.toml")))?;
        let variables = variables.into();
        let said = Said::read(&variables, home).map_err(Hinted::from)?;
        Settings::combine(SettingsFile::Nowhere, said, written, &variables)
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
        // Named by nobody: the next one is asked.
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
