//! Environment variables under an author's own names, so that a server that had settings before it had roots can keep
//! their names.

use std::ffi::{OsStr, OsString};

use rootward_core::Origin;
use rootward_core::env::{self, Environment, EnvironmentError};

use crate::settings::Settings;

/// A server's own names for settings of its roots.
///
/// If a variable named here is set, it replaces Rootward's own (`ROOTWARD_ROOTS` and so on); otherwise Rootward's own
/// is read. Messages about a bad value name the variable that was set.
///
/// ```
/// use rootward_server::{OwnVariables, RootsService};
///
/// # fn service() -> Result<RootsService, Box<dyn std::error::Error>> {
/// let settings = OwnVariables::new()
///     .only_roots("NOTES_ROOTS") // the client is not asked where this is set
///     .strict("NOTES_STRICT")
///     .fallback_only("NOTES_LEGACY")
///     .cache_milliseconds("NOTES_ROOTS_TTL")
///     .usual_fallback("~/.notes")
///     .settings(std::env::vars_os())?;
/// # Ok(
/// RootsService::new(settings)
/// # )
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct OwnVariables {
    /// The author's name and Rootward's name.
    names: Vec<(&'static str, &'static str)>,
    /// The variable that names the only roots.
    only: Option<&'static str>,
    fallback: Option<&'static str>,
    system: SystemPlaces,
}

/// Whether the operator may name system directories.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum SystemPlaces {
    #[default]
    Named,
    Refused,
}

impl OwnVariables {
    /// No names yet.
    pub fn new() -> OwnVariables {
        OwnVariables::default()
    }

    /// The operator's roots, a list like `PATH`: the client's roots are narrowed to them (`ROOTWARD_ROOTS`).
    #[must_use]
    pub fn roots(self, name: &'static str) -> OwnVariables {
        self.named(name, env::ROOTS)
    }

    /// The only roots, a list like `PATH`: if it is set, the client is not asked (`ROOTWARD_ROOTS` with
    /// `ROOTWARD_IGNORE_CLIENT`).
    #[must_use]
    pub fn only_roots(self, name: &'static str) -> OwnVariables {
        OwnVariables { only: Some(name), ..self.named(name, env::ROOTS) }
    }

    /// A switch: only the client's roots give access, without a fallback (`ROOTWARD_STRICT`).
    #[must_use]
    pub fn strict(self, name: &'static str) -> OwnVariables {
        self.named(name, env::STRICT)
    }

    /// A switch: use only the fallback directory, whatever the client says (`ROOTWARD_FALLBACK_ONLY`).
    #[must_use]
    pub fn fallback_only(self, name: &'static str) -> OwnVariables {
        self.named(name, env::FALLBACK_ONLY)
    }

    /// The fallback directory (`ROOTWARD_FALLBACK_DIR`).
    #[must_use]
    pub fn fallback_directory(self, name: &'static str) -> OwnVariables {
        self.named(name, env::FALLBACK_DIR)
    }

    /// How long a client's list is valid, in milliseconds (`ROOTWARD_ROOTS_TTL_MS`).
    #[must_use]
    pub fn cache_milliseconds(self, name: &'static str) -> OwnVariables {
        self.named(name, env::ROOTS_TTL_MS)
    }

    /// The fallback directory if no variable names one: an absolute path, or `~/…` in the home directory.
    #[must_use]
    pub fn usual_fallback(self, directory: &'static str) -> OwnVariables {
        OwnVariables { fallback: Some(directory), ..self }
    }

    /// Also refuses system directories and secret places in the variables. By default only clients may not name them.
    #[must_use]
    pub fn without_system_places(self) -> OwnVariables {
        OwnVariables { system: SystemPlaces::Refused, ..self }
    }

    fn named(mut self, name: &'static str, meaning: &'static str) -> OwnVariables {
        self.names.push((name, meaning));
        self
    }

    /// The settings from these variables, with defaults for the rest.
    pub fn settings(
        &self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Settings, EnvironmentError> {
        let mut given: Vec<(OsString, OsString)> = variables.into_iter().collect();
        let set: Vec<(&str, &str, OsString)> = self
            .names
            .iter()
            .filter_map(|&(name, meaning)| Some((name, meaning, value(&given, name)?.to_owned())))
            .collect();
        let only = self.only.filter(|only| set.iter().any(|(name, ..)| name == only));
        for (_, meaning, value) in &set {
            // Strict mode forbids substitutes for the client's roots. If these are the only roots, there is no
            // substitute.
            let value = if only.is_some() && *meaning == env::STRICT { OsString::new() } else { value.clone() };
            given.push(((*meaning).into(), value));
        }
        if only.is_some() {
            given.push((env::IGNORE_CLIENT.into(), "true".into()));
        }
        if let Some(fallback) = self.fallback.filter(|_| value(&given, env::FALLBACK_DIR).is_none()) {
            given.push((env::FALLBACK_DIR.into(), fallback.into()));
        }
        // If a variable appears twice, the last one wins.
        let environment: Environment = given.into_iter().collect();
        let settings = Settings::from_environment(&environment).map_err(|error| in_own_words(error, only, &set))?;
        self.judge(&settings, only)?;
        Ok(settings)
    }

    // SECURITY: if the author closed system directories, a variable cannot bypass that
    // (test: system_places_are_refused_where_the_author_says_so)
    fn judge(&self, settings: &Settings, only: Option<&str>) -> Result<(), EnvironmentError> {
        if self.system == SystemPlaces::Named {
            return Ok(());
        }
        let name = only.unwrap_or(env::ROOTS);
        for placed in settings.sources.ceiling.roots() {
            for place in [&placed.root.path, &placed.place] {
                settings.validation.judge(Origin::Client, place).map_err(|reason| EnvironmentError {
                    says: format!(
                        "environment variable {name}: `{}` cannot be shared ({reason})",
                        placed.root.path.display()
                    ),
                    hint: "name directories of your own".to_owned(),
                })?;
            }
        }
        Ok(())
    }
}

/// The value of a variable that is set and not empty.
fn value<'g>(given: &'g [(OsString, OsString)], name: &str) -> Option<&'g OsStr> {
    let found = given.iter().rev().find(|(given, _)| given == OsStr::new(name));
    found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
}

/// The error, with the variable names that the user knows.
fn in_own_words(error: EnvironmentError, only: Option<&str>, set: &[(&str, &str, OsString)]) -> EnvironmentError {
    let mut names: Vec<(&str, &str)> = set.iter().map(|&(name, meaning, _)| (meaning, name)).collect();
    names.extend(only.map(|only| (env::IGNORE_CLIENT, only)));
    // Longest first: some of Rootward's names are prefixes of others.
    names.sort_by_key(|(meaning, _)| std::cmp::Reverse(meaning.len()));
    let reworded = |text: String| names.iter().fold(text, |text, (meaning, name)| text.replace(meaning, name));
    EnvironmentError { says: reworded(error.says), hint: reworded(error.hint) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rootward_core::session::Follow;

    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<Settings, EnvironmentError> {
        let own = OwnVariables::new()
            .only_roots("X_ROOTS")
            .strict("X_STRICT")
            .fallback_only("X_LEGACY")
            .cache_milliseconds("X_TTL")
            .usual_fallback("~/.x")
            .without_system_places();
        let home = tempfile::tempdir().unwrap();
        let home = ("HOME".into(), home.path().into());
        let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        own.settings(variables.chain([home]))
    }

    #[test]
    fn own_names_mean_what_rootwards_do() {
        let follow = |variables: &[(&str, &str)]| settings(variables).unwrap().policy.follow;
        assert_eq!(follow(&[]), Follow::Client);
        assert_eq!(follow(&[("X_STRICT", "true")]), Follow::Strict);
        assert_eq!(follow(&[("X_LEGACY", "1")]), Follow::FallbackOnly);
        assert_eq!(follow(&[("X_ROOTS", "")]), Follow::Client);
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().to_str().unwrap();
        let only = settings(&[("X_ROOTS", place), ("X_STRICT", "true"), ("ROOTWARD_ROOTS", "/nowhere")]).unwrap();
        assert_eq!(only.policy.follow, Follow::IgnoreClient);
        assert_eq!(only.sources.ceiling.roots()[0].root.path, directory.path());
        let lifetime = settings(&[("X_TTL", "7")]).unwrap().policy.lifetime;
        assert_eq!(lifetime, Some(Duration::from_millis(7)));
    }

    #[test]
    fn the_usual_fallback_gives_way() {
        let fallback = |variables: &[(&str, &str)]| settings(variables).unwrap().sources.fallback;
        // It is created if it is in the home directory; elsewhere it need not exist yet.
        assert!(fallback(&[]).roots()[0].root.path.ends_with(".x"));
        assert_eq!(fallback(&[("ROOTWARD_FALLBACK_DIR", "/none/here")]).refused()[0].text, "/none/here");
    }

    #[test]
    fn errors_use_the_names_that_were_set() {
        let says = |variables: &[(&str, &str)]| settings(variables).unwrap_err().says;
        assert_eq!(
            says(&[("X_TTL", "soon")]),
            "environment variable X_TTL: `soon` (not a whole number of milliseconds)"
        );
        assert_eq!(
            says(&[("X_ROOTS", "src")]),
            "environment variable X_ROOTS: not a usable root: `src` (not an absolute path)"
        );
        assert_eq!(
            says(&[("X_ROOTS", "/tmp"), ("X_LEGACY", "1")]),
            "settings contradict each other: X_ROOTS, X_LEGACY"
        );
    }

    #[test]
    fn system_places_are_refused_where_the_author_says_so() {
        for place in ["/etc", "/usr/share", "/"] {
            let says = settings(&[("X_ROOTS", place)]).unwrap_err().says;
            assert!(says.starts_with(&format!("environment variable X_ROOTS: `{place}` cannot be shared (")), "{says}");
        }
    }
}
