//! Identifies the server that a command line starts. A recipe is used only if the server is known beyond doubt.
//!
//! A server is identified by the full package name that `npx` and similar tools fetch from a registry, by the package
//! that contains its script or program, or by its program. A path counts only if no confined command could have
//! written it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rootward_core::{Material, follow_ambient};
use rootward_sandbox::{PackageCommand, Program, Registry};

use super::{LaunchFacts, Recipe, Takes};
use crate::front::FileServerCommand;

/// Programs that run a package's script.
const INTERPRETERS: [&str; 3] = ["node", "nodejs", "bun"];

/// A recipe and the command line that it matched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Match {
    /// The recipe.
    pub recipe: Recipe,
    /// How many leading arguments belong to the launcher, not to the server.
    pub(crate) before: usize,
}

/// Why a matching recipe is not used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotUsed {
    /// A confined command could have written the file at this path.
    Planted {
        /// The recipe.
        recipe: String,
        /// The path.
        place: PathBuf,
    },
    /// `npx` would run this local package instead of the registry's.
    Nearer {
        /// The recipe.
        recipe: String,
        /// The path of the package.
        place: PathBuf,
    },
}

/// What a command line starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Subject {
    /// How the server can be identified, in order of precedence.
    pub(super) names: Vec<Named>,
    /// How many leading arguments belong to the launcher.
    pub(super) before: usize,
    /// The files that identified the server.
    places: Vec<PathBuf>,
    /// A local package that takes precedence over the registry's.
    nearer: Option<PathBuf>,
}

/// How a server is identified.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Named {
    Package(Registry, String),
    /// A program, by its path.
    Program(PathBuf),
}

impl Match {
    /// The directories in the command line, if the server takes them as arguments.
    pub fn file_server(&self, arguments: &[OsString]) -> Option<FileServerCommand> {
        match &self.recipe.directories {
            Some(Takes::Arguments { switches }) => Some(FileServerCommand::new(switches, self.before, arguments)),
            Some(Takes::Variable(_)) | None => None,
        }
    }

    /// The options that the recipe appends to the command line.
    pub fn appended(&self, arguments: &[OsString], facts: LaunchFacts<'_>) -> Vec<OsString> {
        let own = arguments.get(self.before..).unwrap_or_default();
        // After `--`, a word is not an option.
        if own.iter().any(|word| word == "--") {
            return Vec::new();
        }
        self.recipe.append.iter().flat_map(|append| append.added(own, facts)).collect()
    }
}

impl Subject {
    /// Parses a command line typed in the directory `here`.
    pub(super) fn find_ambient(program: &OsStr, arguments: &[OsString], here: &Path) -> Option<Subject> {
        let name = Path::new(program).file_name().and_then(OsStr::to_str)?;
        // A plain name is looked up in `PATH`, which the operator controls.
        let by_place = program.as_bytes().contains(&b'/').then(|| here.join(program));
        if let Some(package) = PackageCommand::read(program, arguments) {
            // SECURITY: npm's runners use a package from a parent directory before they ask the registry
            // (test: a_package_in_the_project_has_no_recipe)
            let nearer = here.ancestors().map(|above| above.join("node_modules").join(&package.name));
            let nearer = nearer.filter(|_| package.registry == Registry::Npm).find(|place| exists_ambient(place));
            return Some(Subject {
                names: vec![Named::Package(package.registry, package.name)],
                before: package.before,
                places: by_place.into_iter().collect(),
                nearer,
            });
        }
        if INTERPRETERS.contains(&name) {
            let script = here.join(arguments.first().filter(|word| !word.as_bytes().starts_with(b"-"))?);
            let package = package_of(&follow_ambient(&script).filter(|followed| followed.exists)?.place)?;
            let places = by_place.into_iter().chain([script]).collect();
            return Some(Subject { names: vec![package], before: 1, places, nearer: None });
        }
        let found = Program::find_ambient(program, std::env::var_os("PATH").as_deref(), here).ok()?;
        let place = follow_ambient(found.path())?.place;
        let by_path = [place.clone(), found.path().to_owned()].map(Named::Program);
        let names = package_of(&place).into_iter().chain(by_path).collect();
        Some(Subject { names, before: 0, places: vec![found.path().to_owned()], nearer: None })
    }

    /// Combines the subject with a recipe, if the recipe may be used.
    pub(super) fn with(self, recipe: Recipe, material: &Material) -> Result<Match, NotUsed> {
        let name = recipe.name.clone();
        if let Some(place) = self.nearer {
            return Err(NotUsed::Nearer { recipe: name, place });
        }
        // SECURITY: a command that can choose what is started could choose what the recipe grants
        // (test: what_a_confined_command_could_write_has_no_recipe)
        match self.places.iter().find_map(|place| written_ambient(place, material)) {
            Some(place) => Err(NotUsed::Planted { recipe: name, place }),
            None => Ok(Match { recipe, before: self.before }),
        }
    }
}

impl Named {
    pub(super) fn is_of(&self, recipe: &Recipe) -> bool {
        match self {
            Named::Package(registry, name) => recipe.is_for_package(*registry, name),
            Named::Program(path) => recipe.programs.iter().any(|known| {
                if known.starts_with('/') {
                    path == Path::new(known)
                } else {
                    path.file_name() == Some(OsStr::new(known))
                }
            }),
        }
    }

    /// A string that every recipe with this name contains.
    pub(super) fn mark(&self) -> String {
        match self {
            Named::Package(registry, name) => format!("\"{registry}:{name}\""),
            Named::Program(path) => {
                format!("{}\"", path.file_name().map(OsStr::to_string_lossy).unwrap_or_default())
            }
        }
    }
}

/// The npm package that a file belongs to, by its path.
fn package_of(file: &Path) -> Option<Named> {
    let mut parts = file.components().map(|part| part.as_os_str().to_str()).rev().collect::<Option<Vec<_>>>()?;
    let modules = parts.iter().position(|part| *part == "node_modules")?;
    parts.truncate(modules);
    let mut parts = parts.into_iter().rev();
    let first = parts.next()?;
    let name = if first.starts_with('@') { format!("{first}/{}", parts.next()?) } else { first.to_owned() };
    // The package's own directory is not a file in it, and `.bin` is not a package.
    (!name.starts_with('.') && parts.next().is_some()).then_some(Named::Package(Registry::Npm, name))
}

fn exists_ambient(place: &Path) -> bool {
    follow_ambient(place).is_none_or(|followed| followed.exists)
}

/// The first part of a file's path that a confined command could have written: a link on the way, or the file itself.
fn written_ambient(file: &Path, material: &Material) -> Option<PathBuf> {
    let Some(followed) = follow_ambient(file) else { return Some(file.to_owned()) };
    followed.links.into_iter().chain([followed.place]).find(|place| material.holds(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_the_innermost_package() {
        let check = |file: &str, expect: Option<&str>| {
            let expect = expect.map(|name| Named::Package(Registry::Npm, name.to_owned()));
            assert_eq!(package_of(Path::new(file)), expect, "{file}");
        };
        check("/x/node_modules/@a/b/dist/index.js", Some("@a/b"));
        check("/x/node_modules/a/node_modules/b/x.js", Some("b"));
        check("/x/node_modules/a/index.js", Some("a"));
        check("/x/node_modules/a", None);
        check("/x/node_modules/@a/b", None);
        check("/x/node_modules/.bin/a", None);
        check("/x/src/index.js", None);
    }
}
