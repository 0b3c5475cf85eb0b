//! Parses the text of a recipe. Anything unknown is an error with its position.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rootward_sandbox::{OwnProc, PassedVariable, Registry, is_of_system};
use serde::Deserialize;
use toml::Spanned;

use super::append::{self, Append};
use super::{Allow, HomeKind, Recipe, RecipeError, Takes};
use crate::scan::{Need, Treatment};

/// The longest text that is read, in bytes.
pub(super) const LONGEST: usize = 64 << 10;

/// Variables that Rootward sets itself.
const OWN_VARIABLES: [&str; 3] = ["HOME", "PATH", "TMPDIR"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    about: String,
    #[serde(default)]
    packages: Vec<Spanned<String>>,
    #[serde(default)]
    programs: Vec<Spanned<String>>,
    #[serde(default)]
    env: Vec<Spanned<String>>,
    #[serde(default)]
    set: BTreeMap<Spanned<String>, String>,
    #[serde(default)]
    append: Vec<AppendKeys>,
    #[serde(default)]
    own_proc: bool,
    home: Option<Spanned<String>>,
    directories: Option<Spanned<String>>,
    #[serde(default)]
    switches: Vec<String>,
    #[serde(default)]
    arguments: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    allow: AllowKeys,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct AllowKeys {
    #[serde(default)]
    read: Vec<Spanned<String>>,
    #[serde(default)]
    write: Vec<Spanned<String>>,
    #[serde(default)]
    sockets: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AppendKeys {
    arguments: Vec<Spanned<String>>,
    #[serde(default)]
    unless: Vec<Spanned<String>>,
    #[serde(default)]
    missing: Vec<Spanned<String>>,
}

pub(super) fn read(name: &str, text: &str) -> Result<Recipe, RecipeError> {
    if text.len() > LONGEST {
        return Err(error_at(text, 0, format!("a recipe of more than {} KiB", LONGEST >> 10)));
    }
    let keys: Keys = toml::from_str(text).map_err(|error| {
        let says = error.message().lines().collect::<Vec<_>>().join(", ");
        let says = says.replace("unknown field", "unknown key").replace("missing field", "missing key");
        error_at(text, error.span().map_or(0, |span| span.start), says)
    })?;
    let wrong = |spot: &Spanned<String>, reason: &str| {
        error_at(text, spot.span().start, format!("`{}`: {reason}", spot.get_ref().escape_debug()))
    };
    let each = |spots: &[Spanned<String>], read: &dyn Fn(&str) -> Result<PathBuf, &'static str>| {
        let one = |spot: &Spanned<String>| read(spot.get_ref()).map_err(|reason| wrong(spot, reason));
        spots.iter().map(one).collect::<Result<Vec<_>, _>>()
    };
    let packages = keys.packages.iter().map(|spot| package(spot.get_ref()).map_err(|reason| wrong(spot, reason)));
    let programs = keys.programs.iter().map(|spot| program(spot.get_ref()).map_err(|reason| wrong(spot, reason)));
    let env = keys
        .env
        .iter()
        .map(|spot| PassedVariable::read(spot.get_ref()).map_err(|error| wrong(spot, &error.to_string())));
    let set = keys.set.iter().map(|(spot, value)| {
        let name = variable(spot.get_ref()).map_err(|reason| wrong(spot, reason))?;
        Ok((name, value.clone()))
    });
    let arguments = keys.arguments.iter().map(|(place, spot)| {
        let treatment = treatment(spot.get_ref()).map_err(|reason| wrong(spot, reason))?;
        let place = argument(place.get_ref()).map_err(|reason| wrong(place, reason))?;
        Ok((place, treatment))
    });
    let home = keys.home.as_ref().map(|spot| home(spot.get_ref()).map_err(|reason| wrong(spot, reason)));
    let directories = keys
        .directories
        .as_ref()
        .map(|spot| takes(spot.get_ref(), &keys.switches).map_err(|reason| wrong(spot, reason)));
    let allow = Allow {
        read: each(&keys.allow.read, &place)?,
        write: each(&keys.allow.write, &place)?,
        sockets: each(&keys.allow.sockets, &place)?,
    };
    let texts = |spots: &[Spanned<String>], check: &dyn Fn(&str) -> Result<(), &'static str>| {
        let one = |spot: &Spanned<String>| {
            check(spot.get_ref()).map(|()| spot.get_ref().clone()).map_err(|reason| wrong(spot, reason))
        };
        spots.iter().map(one).collect::<Result<Vec<_>, _>>()
    };
    let append = keys.append.iter().map(|keys| {
        Ok(Append {
            arguments: texts(&keys.arguments, &|text| appended(text, &allow))?,
            unless: texts(&keys.unless, &excluding)?,
            missing: each(&keys.missing, &absolute)?,
        })
    });
    let recipe = Recipe {
        name: name.to_owned(),
        append: append.collect::<Result<_, RecipeError>>()?,
        own_proc: if keys.own_proc { OwnProc::EveryProcess } else { OwnProc::FirstProcess },
        packages: packages.collect::<Result<_, _>>()?,
        programs: programs.collect::<Result<_, _>>()?,
        env: env.collect::<Result<_, _>>()?,
        set: set.collect::<Result<_, RecipeError>>()?,
        arguments: arguments.collect::<Result<_, RecipeError>>()?,
        home: home.transpose()?,
        directories: directories.transpose()?,
        allow,
        about: keys.about,
        notes: keys.notes,
    };
    if recipe.packages.is_empty() && recipe.programs.is_empty() {
        return Err(error_at(text, 0, "neither `packages` nor `programs`: the recipe matches no server".to_owned()));
    }
    Ok(recipe)
}

fn error_at(text: &str, offset: usize, reason: String) -> RecipeError {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let (line, column) = (before.matches('\n').count() + 1, before[start..].chars().count() + 1);
    RecipeError { line, column, reason }
}

/// `npm:@scope/name`, `pypi:name`.
fn package(text: &str) -> Result<(Registry, String), &'static str> {
    const EXPECTED: &str = "expected `npm:NAME` or `pypi:NAME`, the full name of a package";
    let (registry, name) = text.split_once(':').ok_or(EXPECTED)?;
    let registry = Registry::named(registry).ok_or(EXPECTED)?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let scoped = if registry == Registry::Npm { name.strip_prefix('@') } else { None };
    let parts: Vec<&str> = scoped.map_or_else(|| vec![name], |scoped| scoped.split('/').collect());
    let is_whole = parts.len() == 1 + usize::from(scoped.is_some());
    let are_names = parts.iter().all(|part| !part.is_empty() && !part.starts_with('.') && part.chars().all(is_plain));
    (is_whole && are_names).then(|| (registry, registry.normalized(name))).ok_or(EXPECTED)
}

fn program(text: &str) -> Result<String, &'static str> {
    let is_name = !text.is_empty() && !text.contains('/') && text != "." && text != "..";
    let is_path = text.starts_with('/') && !text.ends_with('/');
    (is_name || is_path).then(|| text.to_owned()).ok_or("expected the name of a program, or its absolute path")
}

pub(crate) fn variable(text: &str) -> Result<String, &'static str> {
    // SECURITY: setting one of Rootward's own variables would change how the server is confined
    // (test: a_recipe_sets_no_variable_of_rootwards_own)
    if text.starts_with("ROOTWARD_") || OWN_VARIABLES.contains(&text) {
        return Err("Rootward sets this variable itself");
    }
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    (!text.is_empty() && text.chars().all(is_plain)).then(|| text.to_owned()).ok_or("not the name of a variable")
}

pub(crate) fn argument(text: &str) -> Result<String, &'static str> {
    let (tool, argument) = text.split_once('.').ok_or("expected `TOOL.ARGUMENT`, or `*.ARGUMENT` for every tool")?;
    let is_whole = !tool.is_empty() && !argument.is_empty() && !text.ends_with('.');
    is_whole.then(|| text.to_owned()).ok_or("expected `TOOL.ARGUMENT`, or `*.ARGUMENT` for every tool")
}

pub(crate) fn treatment(text: &str) -> Result<Treatment, &'static str> {
    match text {
        "text" => Ok(Treatment::Text),
        "read" => Ok(Treatment::Path(Need::READ)),
        "write" => Ok(Treatment::Path(Need::UNKNOWN)),
        _ => Err("expected `text`, `read` or `write`"),
    }
}

pub(crate) fn home(text: &str) -> Result<HomeKind, &'static str> {
    let known = HomeKind::ALL.into_iter().find(|kind| kind.word() == text);
    known.ok_or("expected `project`, `shared`, `private` or `none`")
}

pub(crate) fn takes(text: &str, switches: &[String]) -> Result<Takes, &'static str> {
    match text.strip_prefix("env:") {
        Some(name) => variable(name).map(Takes::Variable),
        None if text == "arguments" => Ok(Takes::Arguments { switches: switches.to_vec() }),
        None => Err("expected `arguments` or `env:NAME`"),
    }
}

/// Checks an option that is appended to the command.
fn appended(text: &str, allow: &Allow) -> Result<(), &'static str> {
    // SECURITY: a word that is not an option may be a directory, and would become a root
    // (test: a_recipe_appends_options_alone)
    let is_option = text.len() > 1 && text.starts_with('-') && text != "--";
    if !is_option || text.chars().any(char::is_control) {
        return Err("expected an option in one word: `--name` or `--name=value`");
    }
    let is_open = |place: &Path| {
        let given = allow.read.iter().chain(&allow.write).any(|given| place.starts_with(given));
        absolute(&place.to_string_lossy()).is_ok() && (given || is_of_system(place))
    };
    if append::places(text).all(is_open) {
        Ok(())
    } else {
        Err("expected an absolute path in a place that this recipe or the system opens")
    }
}

/// Checks an option or the name of a variable.
fn excluding(text: &str) -> Result<(), &'static str> {
    let is_option = text.len() > 1 && text.starts_with('-') && !text.contains('=');
    if is_option || variable(text).is_ok() { Ok(()) } else { Err("expected an option, or the name of a variable") }
}

fn absolute(text: &str) -> Result<PathBuf, &'static str> {
    place(text).ok().filter(|place| place.is_absolute()).ok_or("expected an absolute path")
}

fn place(text: &str) -> Result<PathBuf, &'static str> {
    let is_plain = !text.split('/').any(|part| part == ".." || part == ".") && !text.contains('\0');
    let is_absolute = text.starts_with('/') || text.starts_with("~/");
    (is_plain && is_absolute).then(|| PathBuf::from(text)).ok_or("expected an absolute path, or one from `~/`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read() {
        let recipe = read(
            "x",
            r#"
            about = "does things"
            packages = ["npm:@a/b", "pypi:C_d"]
            programs = ["b", "/opt/b"]
            env = ["B_KEY", "B_X_*"]
            home = "shared"
            directories = "arguments"
            switches = ["-w"]
            own_proc = true
            notes = ["a note"]
            [[append]]
            arguments = ["--headless", "--program=/usr/bin/b"]
            unless = ["--connect", "B_URL"]
            missing = ["/opt/b"]
            [set]
            B_FILE = "${home}/b"
            [arguments]
            "get.path" = "text"
            "*.file" = "read"
            [allow]
            read = ["~/.cache/b"]
            write = ["/dev/shm"]
            sockets = ["/run/b.sock"]
            "#,
        )
        .unwrap();
        assert_eq!(recipe.packages, [(Registry::Npm, "@a/b".to_owned()), (Registry::PyPi, "c-d".to_owned())]);
        assert_eq!(recipe.env.iter().map(ToString::to_string).collect::<Vec<_>>(), ["B_KEY", "B_X_*"]);
        assert_eq!(recipe.set["B_FILE"], "${home}/b");
        assert_eq!(recipe.home, Some(HomeKind::Shared));
        assert_eq!(recipe.own_proc, OwnProc::EveryProcess);
        assert_eq!(recipe.append[0].arguments, ["--headless", "--program=/usr/bin/b"]);
        assert_eq!(recipe.append[0].unless, ["--connect", "B_URL"]);
        assert_eq!(recipe.append[0].missing, [PathBuf::from("/opt/b")]);
        assert_eq!(recipe.directories, Some(Takes::Arguments { switches: vec!["-w".to_owned()] }));
        assert_eq!(recipe.arguments["get.path"], Treatment::Text);
        assert_eq!(recipe.allow.sockets, [PathBuf::from("/run/b.sock")]);
    }

    #[track_caller]
    fn check(more: &str, expect: &str) {
        let text = format!("about = \"x\"\nprograms = [\"x\"]\n{more}");
        assert_eq!(read("x", &text).unwrap_err().to_string(), expect);
    }

    #[test]
    fn errors_have_a_position() {
        check(
            "env = [\"*\"]",
            "line 3, column 8: `*`: every variable, and so every secret, would be passed on; name each one, or a prefix: `GITHUB_*`",
        );
        check("home = \"mine\"", "line 3, column 8: `mine`: expected `project`, `shared`, `private` or `none`");
        check(
            "packages = [\"npm:./x\"]",
            "line 3, column 13: `npm:./x`: expected `npm:NAME` or `pypi:NAME`, the full name of a package",
        );
        check(
            "packages = [\"npm:@a\"]",
            "line 3, column 13: `npm:@a`: expected `npm:NAME` or `pypi:NAME`, the full name of a package",
        );
        check("directories = \"flags\"", "line 3, column 15: `flags`: expected `arguments` or `env:NAME`");
        check(
            "[arguments]\n\"x\" = \"text\"",
            "line 4, column 1: `x`: expected `TOOL.ARGUMENT`, or `*.ARGUMENT` for every tool",
        );
        check(
            "[allow]\nread = [\"~/../x\"]",
            "line 4, column 9: `~/../x`: expected an absolute path, or one from `~/`",
        );
        check("[allow]\nread = [\"x\"]", "line 4, column 9: `x`: expected an absolute path, or one from `~/`");
        let error = read("x", "about = \"x\"\n").unwrap_err().to_string();
        assert_eq!(error, "line 1, column 1: neither `packages` nor `programs`: the recipe matches no server");
        let error = read("x", "about = \"x\"\nunknown = 1").unwrap_err();
        assert!(error.reason.starts_with("unknown key `unknown`"), "{error}");
    }

    #[test]
    fn a_recipe_appends_options_alone() {
        let check = |argument: &str, reason: &str| {
            let expect = format!("line 4, column 14: `{argument}`: {reason}");
            check(&format!("[[append]]\narguments = [\"{argument}\"]"), &expect);
        };
        for word in ["/home/me", "src", "--", "-", ""] {
            check(word, "expected an option in one word: `--name` or `--name=value`");
        }
        for word in ["--root=/", "--file=/etc/shadow", "--file=~/.ssh", "--x=--y=/home/me", "--file=/usr/../etc/shadow"]
        {
            check(word, "expected an absolute path in a place that this recipe or the system opens");
        }
        let with = |place: &str| {
            let text = format!(
                "about = \"x\"\nprograms = [\"x\"]\n[[append]]\narguments = [\"--file={place}/it\"]\n[allow]\nread = [\"/opt/x\"]"
            );
            read("x", &text)
        };
        assert!(with("/opt/x").is_ok() && with("/usr/bin").is_ok());
        assert!(with("/opt/xy").is_err());
    }

    #[test]
    fn a_recipe_sets_no_variable_of_rootwards_own() {
        for name in ["HOME", "PATH", "TMPDIR", "ROOTWARD_ROOTS"] {
            check(
                &format!("[set]\n{name} = \"x\""),
                &format!("line 4, column 1: `{name}`: Rootward sets this variable itself"),
            );
        }
    }
}
