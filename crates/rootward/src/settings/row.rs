//! A row of the table of settings, and what is derived from rows: suggestions for misspelled names, the help of
//! flags, the list of variables.
//!
//! [`settings!`] makes a struct of values from its rows, so adding a row adds a setting.

use std::fmt::Write;

use rootward_core::env::{Environment, VariableSettings};

use super::Setting;
use super::file::{Found, Mistake, Values};
use super::parsers::Parsed;

/// One setting: what it is and how it is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Its name in `doctor`.
    pub(crate) name: &'static str,
    /// The key in the settings file, including its tables.
    pub(crate) key: Option<&'static str>,
    /// The environment variable.
    pub(crate) variable: Option<&'static str>,
    /// The flag, and whether it may be repeated.
    pub(crate) flag: Option<(&'static str, Repeated)>,
    /// The minimum and maximum, for a number with bounds.
    pub(crate) bounds: Option<(u64, u64)>,
    /// The default, as `doctor` shows it.
    pub(crate) default: fn() -> String,
    /// What it does, in one sentence without a full stop.
    pub(crate) means: &'static str,
    /// Further details: sentences, the last without a full stop.
    pub(crate) more: Option<&'static str>,
    /// The keys of each entry, for a setting whose entries are tables.
    pub(crate) parts: &'static [Part],
}

/// A key in an entry of a setting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) key: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "only the page of settings shows it"))]
    pub(crate) default: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "only the page of settings shows it"))]
    pub(crate) means: &'static str,
}

/// Whether a flag may be repeated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repeated {
    Once,
    Often,
}

/// The settings of one table in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// The table's name; empty for top-level keys.
    pub(crate) table: &'static str,
    /// The heading in `doctor`.
    pub(crate) title: &'static str,
    pub(crate) rows: &'static [Row],
}

/// The environment's values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variables<'e> {
    pub(super) environment: &'e Environment,
    /// The variables that servers built on `rootward-server` read, too.
    pub(super) said: &'e VariableSettings,
}

impl Row {
    /// The sentence and the further details.
    pub(crate) fn text(&self) -> String {
        match self.more {
            Some(more) => format!("{}. {more}", self.means),
            None => self.means.to_owned(),
        }
    }
}

/// Makes a struct of settings, its rows, and the function that reads them. A row is
///
/// ```text
/// "name" field: Type = default {
///     [key: "key" => parser,]              // `Found -> Parsed<Type>`
///     [variable: NAME => reader,]          // `&Variables -> Option<(Type, &'static str)>`
///     [flag: "--flag" Once|Often,]
///     [bounds: least, most,]
///     means: "one sentence",
///     [more: "further sentences",]
///     [parts: [("key", "default", "sentence"),]]
/// }
/// ```
macro_rules! settings {
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
    (
        $(#[$about:meta])*
        $struct:ident { $($nested:ident: $nested_type:ty,)* }
        $(
            $name:literal $field:ident: $type:ty = $default:expr => {
                $(key: $key:literal => $parser:expr,)?
                $(variable: $variable:expr => $reader:expr,)?
                $(flag: $flag:literal $repeated:ident,)?
                $(bounds: $least:expr, $most:expr,)?
                means: $means:expr,
                $(more: $more:expr,)?
                $(parts: [$(($part:literal, $part_default:literal, $part_means:literal),)*],)?
            }
        )*
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub(crate) struct $struct {
            $(pub(crate) $nested: $nested_type,)*
            $(pub(crate) $field: Setting<$type>,)*
        }

        impl $struct {
            /// The rows, in the order of the fields.
            pub(crate) const ROWS: &'static [Row] = &[$(Row {
                name: $name,
                key: settings!(@option $($key)?),
                variable: settings!(@option $($variable)?),
                flag: settings!(@option $(($flag, Repeated::$repeated))?),
                bounds: settings!(@option $(($least, $most))?),
                default: || <$type as Told>::shown(&$default),
                means: $means,
                more: settings!(@option $($more)?),
                parts: &[$($(Part { key: $part, default: $part_default, means: $part_means },)*)?],
            },)*];

            /// Reads the environment and the file.
            pub(super) fn read(variables: &Variables<'_>, file: &mut Values<'_>) -> Result<$struct, Mistake> {
                Ok($struct {
                    $($nested: <$nested_type>::read(variables, file)?,)*
                    $($field: {
                        let reader: Option<Reader<$type>> = settings!(@option $($reader)?);
                        let parser: Option<(&'static str, Parser<$type>)> = settings!(@option $(($key, $parser))?);
                        effective(variables, file, reader, parser, $default)?
                    },)*
                })
            }

            /// Each value with its row and its source.
            pub(crate) fn told(&self) -> Vec<(&'static Row, Source, &dyn Told)> {
                let values: Vec<(Source, &dyn Told)> = vec![$((self.$field.source, &self.$field.value as &dyn Told),)*];
                Self::ROWS.iter().zip(values).map(|(row, (source, value))| (row, source, value)).collect()
            }
        }
    };
}

pub(super) use settings;

/// Reads a value from the environment, with the variable's name.
pub(super) type Reader<T> = fn(&Variables<'_>) -> Option<(T, &'static str)>;

/// Reads a value of the settings file.
pub(super) type Parser<T> = fn(Found<'_>) -> Parsed<T>;

/// The value of the first source that has one.
pub(super) fn effective<T>(
    variables: &Variables<'_>,
    file: &mut Values<'_>,
    reader: Option<Reader<T>>,
    parser: Option<(&str, Parser<T>)>,
    default: T,
) -> Result<Setting<T>, Mistake> {
    // The file is parsed even if a variable overrides it, so that its mistakes are reported.
    let written = match parser.and_then(|(key, parser)| Some((file.take(key)?, parser))) {
        Some((found, parser)) => parser(found)?,
        None => None,
    };
    Ok(Setting::first(reader.and_then(|reader| reader(variables)), written, default))
}

/// How similar two names must be for one to count as a misspelling of the other.
const ALIKE: f64 = 0.8;

/// The known name that was probably meant.
pub(crate) fn nearest(wanted: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let wanted: String = wanted.chars().take(64).collect::<String>().to_lowercase();
    let likeness = |name: &str| strsim::jaro_winkler(&wanted, &name.to_lowercase());
    let alike = known.map(|name| (likeness(name), name)).filter(|(likeness, _)| *likeness >= ALIKE);
    alike.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, name)| name)
}

/// Variables that look like settings but are not, each with the one that was probably meant.
pub(crate) fn unknown_variables(environment: &Environment) -> Vec<(String, Option<&'static str>)> {
    let known = || super::rows().filter_map(|row| row.variable);
    let unknown = environment.with_our_prefix().filter(|name| !known().any(|known| known == name));
    let rest = |name: &'static str| name.strip_prefix(rootward_core::env::PREFIX);
    // Compare without the common prefix.
    let probable = |name: &str| {
        let wanted = name.strip_prefix(rootward_core::env::PREFIX)?;
        let nearest = nearest(wanted, known().filter_map(rest))?;
        known().find(|known| rest(known) == Some(nearest))
    };
    unknown.map(|name| (name.to_string(), probable(&name))).collect()
}

/// The help of a flag: the sentences of its setting, and how else to set it.
pub(crate) fn flag_help(flag: &str) -> String {
    let Some((row, repeated)) = super::rows().find_map(|row| {
        let (name, repeated) = row.flag?;
        (name == flag).then_some((row, repeated))
    }) else {
        return String::new();
    };
    let mut help = row.text();
    if repeated == Repeated::Often {
        help.push_str("; may be repeated");
    }
    if let Some(key) = row.key {
        let _ = write!(help, " [setting: {key}]");
    }
    help
}

/// The variables and their meanings, for `--help`.
pub(crate) fn variables_help() -> String {
    let mut help = "Environment:\n".to_owned();
    for row in super::rows() {
        if let Some(variable) = row.variable {
            let _ = write!(help, "  {variable}\n          {}\n", row.means);
        }
    }
    help
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rootward_core::env;

    use super::super::{GROUPS, rows};
    use super::*;

    /// Servers built on `rootward-server` read the environment without this table, with the core's reader.
    #[test]
    fn the_table_and_the_core_know_the_same_variables() {
        let table: BTreeSet<&str> = rows().filter_map(|row| row.variable).collect();
        assert_eq!(table, env::ALL.into_iter().collect());
    }

    /// The core's reader and the table must agree about every variable.
    #[test]
    fn the_table_and_the_core_read_the_same() {
        let home = Some(std::path::Path::new("/h"));
        for (name, value) in [
            (env::ROOTS, "/a:~/b"),
            (env::FALLBACK_DIR, "~/f:ro"),
            (env::MODE, "union"),
            (env::STRICT, "yes"),
            (env::IGNORE_CLIENT, "on"),
            (env::FALLBACK_ONLY, "1"),
            (env::ROOTS_TTL_MS, "7"),
            (env::ROOTS_TTL_ANNOUNCED_MS, "8"),
            (env::ROOTS_TIMEOUT_MS, "9"),
            (env::DEBOUNCE_MS, "10"),
            (env::REVOKED_GRACE_MS, "11"),
        ] {
            let environment = Environment::from([(name, value)]);
            let said = VariableSettings::read(&environment, home).unwrap();
            let settings = super::super::Settings::of_text(&environment, "", home).unwrap();
            assert_eq!(settings.policy(), said.policy().unwrap(), "{name}");
            let told = settings.told();
            let (_, source, shown) = told.iter().find(|(row, ..)| row.variable == Some(name)).unwrap();
            assert_eq!(*source, super::super::Source::Environment(name));
            assert_ne!(shown.shown(), (rows().find(|row| row.variable == Some(name)).unwrap().default)(), "{name}");
        }
    }

    #[test]
    fn names_are_different_and_keys_are_in_their_tables() {
        let mut seen = BTreeSet::new();
        for group in GROUPS {
            for row in group.rows {
                let names = [Some(row.name), row.key, row.variable, row.flag.map(|(flag, _)| flag)];
                for (kind, name) in names.into_iter().enumerate() {
                    assert!(name.is_none_or(|name| seen.insert((kind, name))), "{}: {name:?} is taken", row.name);
                }
                let table = if group.table.is_empty() { String::new() } else { format!("{}.", group.table) };
                assert!(
                    row.name.starts_with(&table) && row.key.is_none_or(|key| key.starts_with(&table)),
                    "{}",
                    row.name
                );
                assert!(row.key.is_some() || row.variable.is_some(), "{} cannot be set", row.name);
            }
        }
    }

    #[test]
    fn sentences_are_plain() {
        let parts = rows().flat_map(|row| row.parts).map(|part| part.means);
        for text in rows().flat_map(|row| [Some(row.means), row.more]).flatten().chain(parts) {
            assert!(text.starts_with(|first: char| first.is_uppercase() || first == '`'), "{text}");
            assert!(!text.ends_with('.') && !text.contains('|') && !text.contains('\n'), "{text}");
        }
        assert!(rows().all(|row| !row.means.contains(". ")), "one sentence");
    }

    #[test]
    fn misspelt_variables() {
        let check = |name: &str, expect: Option<&str>| {
            let found = unknown_variables(&[(name, "x")].into());
            assert_eq!(found, [(name.to_owned(), expect)], "{name}");
        };
        check("ROOTWARD_ROOT", Some("ROOTWARD_ROOTS"));
        check("ROOTWARD_FALLBACK", Some("ROOTWARD_FALLBACK_DIR"));
        check("ROOTWARD_TTL_MS", None);
        check("ROOTWARD_STRICTLY", Some("ROOTWARD_STRICT"));
        check("ROOTWARD_XYZZY", None);
        assert_eq!(unknown_variables(&[("ROOTWARD_ROOTS", "/a"), ("ROOT", "/b")].into()), []);
    }
}
