//! All recipes: the ones that Rootward ships, and the user's own in the settings directory, which take precedence.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rootward_core::{Material, Shown};
use rustix::fs::OFlags;
use thiserror::Error;

use super::matching::Subject;
use super::reading::LONGEST;
use super::shipped::SHIPPED;
use super::{Match, NotUsed, Recipe, RecipeError};

/// The recipes of one user. Shipped recipes are parsed on demand: a start needs at most one of them.
#[derive(Clone, Debug, Default)]
pub struct Book {
    own: Vec<(PathBuf, Recipe)>,
}

/// Why the user's recipes cannot be read.
#[derive(Debug, Error)]
pub enum BookError {
    /// A directory or file cannot be read.
    #[error("cannot read `{}`: {source}", Shown::new(path))]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file is not a valid recipe.
    #[error("recipe `{}`: {source}", Shown::new(path))]
    Damaged {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        source: RecipeError,
    },
}

impl Book {
    /// Reads the user's recipes: every `*.toml` in this directory, which may be absent.
    pub fn load_ambient(directory: Option<&Path>) -> Result<Book, BookError> {
        let Some(directory) = directory else { return Ok(Book::default()) };
        let mut own = Vec::new();
        for path in listed_ambient(directory)? {
            let unreadable = |source| BookError::Unreadable { path: path.clone(), source };
            let text = text_ambient(&path).map_err(unreadable)?;
            let name = path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default();
            let recipe = Recipe::read(&name, &text);
            let recipe = recipe.map_err(|source| BookError::Damaged { path: path.clone(), source })?;
            own.push((path, recipe));
        }
        Ok(Book { own })
    }

    /// The recipe for a command line typed in the working directory. `material` is what confined commands could have
    /// written.
    pub fn find_ambient(
        &self,
        program: &OsStr,
        arguments: &[OsString],
        material: &Material,
    ) -> Result<Option<Match>, NotUsed> {
        let here = std::env::current_dir().unwrap_or_default();
        self.find_in_ambient(program, arguments, material, &here)
    }

    fn find_in_ambient(
        &self,
        program: &OsStr,
        arguments: &[OsString],
        material: &Material,
        here: &Path,
    ) -> Result<Option<Match>, NotUsed> {
        let Some(subject) = Subject::find_ambient(program, arguments, here) else { return Ok(None) };
        let own = subject.names.iter().find_map(|name| self.own.iter().find(|(_, recipe)| name.is_of(recipe)));
        let shipped = || {
            let marks = subject.names.iter().map(|name| (name, name.mark()));
            marks.into_iter().find_map(|(name, mark)| {
                let mut marked =
                    SHIPPED.iter().filter(|(_, text)| memchr::memmem::find(text.as_bytes(), mark.as_bytes()).is_some());
                marked.find_map(|(title, text)| Recipe::read(title, text).ok().filter(|recipe| name.is_of(recipe)))
            })
        };
        let Some(recipe) = own.map(|(_, recipe)| recipe.clone()).or_else(shipped) else { return Ok(None) };
        subject.with(recipe, material).map(Some)
    }

    /// The recipe with this name.
    pub fn named(&self, name: &str) -> Option<Recipe> {
        let own = self.own.iter().map(|(_, recipe)| recipe).find(|recipe| recipe.name == name).cloned();
        let shipped = || {
            SHIPPED.iter().find(|(title, _)| *title == name).and_then(|(title, text)| Recipe::read(title, text).ok())
        };
        own.or_else(shipped)
    }

    /// The named recipe for a command line. The user says that it fits, so the command is not matched.
    pub fn named_for_ambient(&self, name: &str, program: &OsStr, arguments: &[OsString]) -> Option<Match> {
        let here = std::env::current_dir().unwrap_or_default();
        let before = Subject::find_ambient(program, arguments, &here).map_or(0, |subject| subject.before);
        Some(Match { recipe: self.named(name)?, before })
    }

    /// All recipes sorted by name, each with its file if it is the user's own.
    pub fn all(&self) -> Vec<(Recipe, Option<&Path>)> {
        let is_own = |name: &str| self.own.iter().any(|(_, recipe)| recipe.name == name);
        let shipped = SHIPPED.iter().filter(|(title, _)| !is_own(title));
        let shipped = shipped.filter_map(|(title, text)| Some((Recipe::read(title, text).ok()?, None)));
        let own = self.own.iter().map(|(path, recipe)| (recipe.clone(), Some(path.as_path())));
        let mut all: Vec<_> = own.chain(shipped).collect();
        all.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
        all
    }

    /// The text of the named recipe, as in its file.
    pub fn text_ambient(&self, name: &str) -> Option<String> {
        let own = self.own.iter().find(|(_, recipe)| recipe.name == name).map(|(path, _)| path);
        match own {
            Some(path) => text_ambient(path).ok(),
            None => SHIPPED.iter().find(|(title, _)| *title == name).map(|(_, text)| (*text).to_owned()),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "Rootward's own settings directory, which no server can write to")]
fn listed_ambient(directory: &Path) -> Result<Vec<PathBuf>, BookError> {
    let unreadable = |source| BookError::Unreadable { path: directory.to_owned(), source };
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path.extension() == Some(OsStr::new("toml")) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads one of the user's files, up to the size of the largest recipe.
#[expect(
    clippy::disallowed_methods,
    reason = "the settings directory and git's configuration, which no server can write to"
)]
pub(super) fn text_ambient(path: &Path) -> io::Result<String> {
    // Opening a FIFO without `O_NONBLOCK` would hang.
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::CLOEXEC).bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut text = String::new();
    file.take(LONGEST as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "plays the user and a hostile command")]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::recipe::matching::Named;

    fn words(line: &str) -> (OsString, Vec<OsString>) {
        let mut words = line.split(' ').map(OsString::from);
        (words.next().unwrap(), words.collect())
    }

    fn find(line: &str, material: &Material, here: &Path) -> Result<Option<String>, NotUsed> {
        let (program, arguments) = words(line);
        let found = Book::default().find_in_ambient(&program, &arguments, material, here)?;
        Ok(found.map(|found| found.recipe.name))
    }

    #[test]
    fn every_shipped_recipe_is_read_and_opens_no_secret_place() {
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/recipes")).unwrap();
        let mut files: Vec<String> =
            files.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        files.sort();
        let titles: Vec<&str> = SHIPPED.iter().map(|(title, _)| *title).collect();
        assert_eq!(titles, files, "`shipped.rs` lists every file of `recipes`, in order");
        let secrets = rootward_core::Restrictions::standard();
        for (title, text) in SHIPPED {
            let recipe = Recipe::read(title, text).unwrap_or_else(|error| panic!("{title}: {error}"));
            for (registry, package) in &recipe.packages {
                let mark = Named::Package(*registry, package.clone()).mark();
                assert!(text.contains(&mark), "{title}: packages of Python are written in lower case, with `-`");
            }
            for path in recipe.allow.read.iter().chain(&recipe.allow.write) {
                let place = path.to_str().unwrap().replacen('~', "/home/me", 1);
                assert!(!rootward_sandbox::is_closed_ambient(Path::new(&place), secrets.clone()), "{title}: {place}");
            }
        }
    }

    #[test]
    fn packages_are_known_by_their_full_names() {
        let here = tempfile::tempdir().unwrap();
        let check = |line: &str, expect: Option<&str>| {
            assert_eq!(find(line, &Material::everything(), here.path()), Ok(expect.map(str::to_owned)), "{line}");
        };
        check("npx -y @modelcontextprotocol/server-filesystem /a", Some("filesystem"));
        check("npx -y -q -- @modelcontextprotocol/server-filesystem@2026.1.14 ~/a", Some("filesystem"));
        check("bunx --bun @modelcontextprotocol/server-filesystem /a", Some("filesystem"));
        check("pnpm dlx @rustmcp/rust-mcp-filesystem /a", Some("rust-mcp-filesystem"));
        check("npx -y @modelcontextprotocol/server-memory", Some("memory"));
        for other in [
            "npx -y @someone/server-filesystem /a",
            "npx -y server-filesystem /a",
            "npx -y mcp-server-filesystem /a",
            "npx -y @modelcontextprotocol/server-filesystem@file:../x /a",
            "npx -y @modelcontextprotocol/server-filesystem@npm:other /a",
            "npx -y @modelcontextprotocol/server-filesystem@git+https://example.org/x /a",
            "npx -y file:@modelcontextprotocol/server-filesystem /a",
            "npx -y ./@modelcontextprotocol/server-filesystem /a",
            "npx -p other @modelcontextprotocol/server-filesystem /a",
            "npx --registry x @modelcontextprotocol/server-filesystem /a",
            "uvx @modelcontextprotocol/server-filesystem /a",
            "echo @modelcontextprotocol/server-filesystem /a",
            "node -e code /a",
            "npx",
        ] {
            check(other, None);
        }
    }

    #[test]
    fn a_package_in_the_project_has_no_recipe() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        let (project, package) = (top.join("p/src"), top.join("p/node_modules/@modelcontextprotocol/server-memory"));
        std::fs::create_dir_all(&project).unwrap();
        let line = "npx -y @modelcontextprotocol/server-memory";
        assert_eq!(find(line, &Material::default(), &project), Ok(Some("memory".to_owned())));
        std::fs::create_dir_all(&package).unwrap();
        let refused = NotUsed::Nearer { recipe: "memory".to_owned(), place: package };
        assert_eq!(find(line, &Material::default(), &project), Err(refused));
    }

    #[test]
    fn what_a_confined_command_could_write_has_no_recipe() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        let script = top.join("lib/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
        for made in [script.parent().unwrap(), &top.join("bin"), &top.join("written")] {
            std::fs::create_dir_all(made).unwrap();
        }
        for program in [script.clone(), top.join("bin/rust-mcp-filesystem"), top.join("written/rust-mcp-filesystem")] {
            std::fs::write(&program, "").unwrap();
            std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        }
        symlink(&script, top.join("bin/mcp-server-filesystem")).unwrap();
        symlink(&script, top.join("written/index.js")).unwrap();
        symlink(top.join("bin"), top.join("written/bin")).unwrap();
        let material = Material::new([top.join("written")]);
        let check = |line: &str, expect: Result<Option<&str>, &str>| {
            let line = line.replace('@', top.to_str().unwrap());
            let found = find(&line, &material, &top).map_err(|refused| match refused {
                NotUsed::Planted { place, .. } | NotUsed::Nearer { place, .. } => place,
            });
            assert_eq!(found, expect.map(|name| name.map(str::to_owned)).map_err(|place| top.join(place)), "{line}");
        };
        check("node @/lib/gone /a", Ok(None));
        check("@/bin/mcp-server-filesystem /a", Ok(Some("filesystem")));
        check("@/bin/rust-mcp-filesystem -w /a", Ok(Some("rust-mcp-filesystem")));
        check("@/written/rust-mcp-filesystem /a", Err("written/rust-mcp-filesystem"));
        check("@/written/bin/rust-mcp-filesystem /a", Err("written/bin"));
        check("node @/written/index.js /a", Err("written/index.js"));
        check("@/written/index.js /a", Err("written/index.js"));
        let typed = format!("node {} /a", script.display());
        assert_eq!(find(&typed, &material, &top), Ok(Some("filesystem".to_owned())));
    }

    #[test]
    fn the_users_recipes_count_more() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        write("memory.toml", "about = \"mine\"\npackages = [\"npm:@modelcontextprotocol/server-memory\"]\n");
        write("notes.txt", "not a recipe");
        let book = Book::load_ambient(Some(directory.path())).unwrap();
        let (program, arguments) = words("npx -y @modelcontextprotocol/server-memory");
        let found = book.find_ambient(&program, &arguments, &Material::default()).unwrap().unwrap();
        assert_eq!(found.recipe.about, "mine");
        assert_eq!(book.all().iter().filter(|(recipe, _)| recipe.name == "memory").count(), 1);
        write("broken.toml", "about = 1\n");
        let error = Book::load_ambient(Some(directory.path())).unwrap_err().to_string();
        assert!(error.contains("broken.toml`: line 1, column 9: "), "{error}");
        std::fs::remove_file(directory.path().join("broken.toml")).unwrap();
        let fifo = directory.path().join("fifo.toml");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        let error = Book::load_ambient(Some(directory.path())).unwrap_err().to_string();
        assert!(error.ends_with("fifo.toml`: not a regular file"), "{error}");
    }
}
