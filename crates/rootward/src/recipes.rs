//! Recipes on the command line: the one for a command, what it adds to a confinement, and what is printed about
//! that.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use rootward_core::{Material, Shown};
use rootward_hub::recipe::{Allow, Book, LaunchFacts, Match, NotUsed, Recipe};
use rootward_sandbox::{Options, OwnProc, PassedVariable, SessionSockets, SocketKind, UnixSockets, is_closed_ambient};

use crate::ground::Ground;
use crate::message;

/// A recipe's name for the user's own home, at the beginning of a variable that it sets.
const USER_HOME: &str = "${userHome}";

/// The directory of the user's own recipes.
pub(crate) fn directory(ground: &Ground) -> Option<PathBuf> {
    Some(ground.directories.settings.as_ref()?.join("recipes"))
}

pub(crate) fn book_ambient(ground: &Ground) -> Result<Book> {
    Ok(Book::load_ambient(directory(ground).as_deref())?)
}

/// `--recipe`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Wanted {
    /// The one that fits the command, if any.
    #[default]
    Fitting,
    /// This one, for any command.
    Named(String),
    /// None.
    Off,
}

impl Wanted {
    pub(crate) fn read(text: &str) -> Wanted {
        match text {
            "auto" => Wanted::Fitting,
            "none" => Wanted::Off,
            name => Wanted::Named(name.to_owned()),
        }
    }

    /// The recipe for a command. `material` is what confined commands could have written.
    pub(crate) fn find_ambient(
        &self,
        book: &Book,
        program: &OsStr,
        arguments: &[OsString],
        material: &Material,
    ) -> Result<Option<Match>> {
        match self {
            Wanted::Off => Ok(None),
            Wanted::Named(name) => match book.named_for_ambient(name, program, arguments) {
                Some(found) => Ok(Some(found)),
                None => bail!(message::Hinted {
                    says: format!("there is no recipe `{}`", Shown::new(name)),
                    hint: "`rootward recipe` lists all".to_owned(),
                }),
            },
            Wanted::Fitting => Ok(book.find_ambient(program, arguments, material).unwrap_or_else(|refused| {
                message::warning(&not_used(&refused));
                None
            })),
        }
    }
}

fn not_used(refused: &NotUsed) -> String {
    match refused {
        NotUsed::Planted { recipe, place } => format!(
            "recipe `{recipe}` is not used, because a confined server could have written `{}`; name the directories with `--root`, or \
             pass `--recipe {recipe}`",
            Shown::new(place)
        ),
        NotUsed::Nearer { recipe, place } => format!(
            "recipe `{recipe}` is not used, because `{}` would run in place of the package from the registry",
            Shown::new(place)
        ),
    }
}

/// Adds what a recipe opens and passes on to the options of a confinement; returns what it added, for people.
pub(crate) fn apply_ambient(recipe: &Recipe, ground: &Ground, options: &mut Options) -> Result<Vec<String>> {
    let mut told = Vec::new();
    let is_set = |variable: &&PassedVariable| {
        std::env::vars_os().any(|(name, _)| variable.passes(&name)) && !options.variables.contains(variable)
    };
    let passed: Vec<_> = recipe.env.iter().filter(is_set).cloned().collect();
    told.extend(passed.iter().map(|variable| format!("passes {variable}")));
    options.variables.extend(passed);
    let Allow { read, write, sockets } = &recipe.allow;
    let opened =
        [(read, "read", &mut options.filesystem.allow_read), (write, "write", &mut options.filesystem.allow_write)];
    for (paths, access, list) in opened {
        for path in paths {
            let Some(place) = place_ambient(recipe, path, ground)? else { continue };
            told.push(format!("opens `{}` for {access}", Shown::new(path)));
            list.push(place);
        }
    }
    if recipe.own_proc == OwnProc::EveryProcess && options.own_proc != OwnProc::EveryProcess {
        told.push("lets every process read its own files in `/proc`".to_owned());
        options.own_proc = OwnProc::EveryProcess;
    }
    if let UnixSockets::Named(named) = &mut options.unix_sockets {
        let session = SessionSockets::of_ambient(std::env::vars_os());
        for path in sockets {
            let Some(place) =
                place_of(path, ground).filter(|place| place.parent().is_some_and(|above| ground.exists(above)))
            else {
                continue;
            };
            // SECURITY: what listens there acts for the user; only the user's own flags may open it
            // (test: a_recipe_connects_to_nobody_who_acts_for_the_user)
            if session.kind(&place) != SocketKind::Ordinary {
                bail!(message::Hinted {
                    says: format!(
                        "recipe `{}` connects to `{}`, which acts for the user",
                        recipe.name,
                        Shown::new(path)
                    ),
                    hint: "take it out of the recipe".to_owned(),
                });
            }
            told.push(format!("connects to `{}`", Shown::new(path)));
            named.push(place);
        }
    }
    Ok(told)
}

/// The options that a recipe adds to the end of the command, and the text about it for people. `passed` are the
/// variables that the server gets.
pub(crate) fn append_ambient(
    known: &Match,
    ground: &Ground,
    arguments: &[OsString],
    passed: &[PassedVariable],
) -> (Vec<OsString>, Option<String>) {
    let is_set = |name: &str| is_users(name, passed);
    let appended = known.appended(arguments, LaunchFacts { is_set: &is_set, exists: &|place| ground.exists(place) });
    let words: Vec<String> = appended.iter().map(|word| Shown::new(word).to_string()).collect();
    let told = (!words.is_empty()).then(|| format!("adds `{}`", words.join(" ")));
    (appended, told)
}

/// Whether the user sets a variable that is passed on.
fn is_users(name: &str, passed: &[PassedVariable]) -> bool {
    let is_passed = passed.iter().any(|passed| passed.passes(OsStr::new(name)));
    is_passed && std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// A path in a recipe, with `~` replaced by the user's own home.
fn place_of(path: &Path, ground: &Ground) -> Option<PathBuf> {
    match path.strip_prefix("~") {
        Ok(below) => Some(ground.home()?.join(below)),
        Err(_) => Some(path.to_owned()),
    }
}

/// The place that a recipe names; `None` if it does not exist.
fn place_ambient(recipe: &Recipe, path: &Path, ground: &Ground) -> Result<Option<PathBuf>> {
    let Some(place) = place_of(path, ground).filter(|place| ground.exists(place)) else { return Ok(None) };
    let holds_home = ground.home().is_some_and(|home| home.starts_with(&place));
    // SECURITY: a recipe is data that people pass around; only the user's own flags open a secret place
    // (test: a_recipe_opens_no_secret_place)
    if holds_home || is_closed_ambient(&place, Arc::new(ground.restrictions().for_processes())) {
        bail!(message::Hinted {
            says: format!(
                "recipe `{}` opens `{}`, which is a secret place or contains one",
                recipe.name,
                Shown::new(path)
            ),
            hint: format!(
                "take it out of the recipe, and pass `--allow-read {}` if the server needs it",
                Shown::new(path)
            ),
        });
    }
    Ok(Some(place))
}

/// The variables that a recipe sets. If the user sets one and it is `passed` on, the user's value wins. One that
/// names a place in the user's home is set only if the place exists, and one from the git configuration only if it
/// is set there.
pub(crate) fn set_variables_ambient(
    set: &BTreeMap<String, String>,
    ground: &Ground,
    passed: &[PassedVariable],
) -> Vec<(OsString, OsString)> {
    let set = set.iter().filter(|(name, _)| !is_users(name, passed));
    let filled = set.filter_map(|(name, value)| match value.strip_prefix(USER_HOME) {
        None if Recipe::is_from_git(value) => {
            Some((name.into(), Recipe::git_value_ambient(value, ground.home()?)?.into()))
        }
        None => Some((name.into(), value.into())),
        Some(below) => {
            let place = ground.home()?.join(below.trim_start_matches('/'));
            ground.exists(&place).then(|| (name.into(), place.into()))
        }
    });
    filled.collect()
}

/// One line about what a recipe adds, if it adds anything.
pub(crate) fn line(recipe: &Recipe, told: &[String]) -> Option<String> {
    (!told.is_empty()).then(|| format!("recipe `{}` {}", recipe.name, told.join(", ")))
}
