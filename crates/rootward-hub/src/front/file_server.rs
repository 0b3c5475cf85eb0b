//! File servers that are known to take their directories as arguments.
//!
//! What such a server is given on its command line is the operator's word: a ceiling. And the roots in force take the place of what was typed,
//! so that the server offers what it may reach. Only a server that is known beyond doubt is read like this: by the full name of its
//! package, or by the place of its program or script, if no confined command could have written what lies there.
//!
//! [`KNOWN`] is data. It says of each server how it is recognised, and which of its arguments are no directories.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rootward_core::{Material, follow_ambient};
use rootward_sandbox::Program;

use super::launch::has_template;

/// Where packages come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Registry {
    Npm,
    PyPi,
}

/// A file server that takes its directories as arguments.
struct Known {
    /// The packages it is in, by their full names.
    packages: &'static [(Registry, &'static str)],
    /// What its program is called.
    programs: &'static [&'static str],
    /// How the path of its script ends, where an interpreter runs it.
    scripts: &'static [&'static str],
    /// Options that may have `true` or `false` behind them. Any other word that begins with `-` is an option, too.
    switches: &'static [&'static str],
}

const KNOWN: [Known; 2] = [
    Known {
        packages: &[(Registry::Npm, "@modelcontextprotocol/server-filesystem")],
        programs: &["mcp-server-filesystem"],
        scripts: &["node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"],
        switches: &[],
    },
    Known {
        packages: &[(Registry::Npm, "@rustmcp/rust-mcp-filesystem")],
        programs: &["rust-mcp-filesystem"],
        scripts: &[],
        switches: &["-w", "--allow-write", "-t", "--enable-roots"],
    },
];

/// A program that fetches a package and runs it.
struct Runner {
    program: &'static str,
    /// The words behind it, up to its options.
    verb: &'static [&'static str],
    /// Its options that take no value. Behind any other, nobody knows which word is the package.
    switches: &'static [&'static str],
    registry: Registry,
}

const RUNNERS: [Runner; 5] = [
    Runner { program: "npx", verb: &[], switches: &["-y", "--yes", "-q", "--quiet", "--"], registry: Registry::Npm },
    Runner { program: "bunx", verb: &[], switches: &["--bun", "--silent"], registry: Registry::Npm },
    Runner { program: "pnpm", verb: &["dlx"], switches: &["--silent"], registry: Registry::Npm },
    Runner { program: "uvx", verb: &[], switches: &["-q", "--quiet"], registry: Registry::PyPi },
    Runner { program: "pipx", verb: &["run"], switches: &["-q", "--quiet"], registry: Registry::PyPi },
];

/// Programs that run a script of a known server.
const INTERPRETERS: [&str; 3] = ["node", "nodejs", "bun"];

/// A command line that starts a known file server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileServer {
    /// How many arguments belong to what starts it.
    before: usize,
    /// The positions of the arguments that are directories.
    directories: Vec<usize>,
}

/// Why a file server that looks like a known one is not taken for it: a confined command could have written what is at this place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planted(pub PathBuf);

impl FileServer {
    /// Recognises a known file server. `material` is what confined commands could have written.
    pub fn find_ambient(
        program: &OsStr,
        arguments: &[OsString],
        material: &Material,
    ) -> Result<Option<FileServer>, Planted> {
        let here = std::env::current_dir().unwrap_or_default();
        let Some(Recognised { known, before, places }) = Recognised::find_ambient(program, arguments, &here) else {
            return Ok(None);
        };
        // SECURITY: who could choose what is started would choose that what was typed as an argument is shared
        // (test: what_a_confined_command_could_write_is_no_known_server)
        let planted = places.iter().find_map(|place| written_ambient(place, material));
        planted.map_or_else(|| Ok(Some(FileServer::new(known, before, arguments))), |place| Err(Planted(place)))
    }

    fn new(known: &Known, before: usize, arguments: &[OsString]) -> FileServer {
        let is_switch = |word: &OsString| known.switches.iter().any(|switch| word == switch);
        let is_value = |position: usize| {
            let word = &arguments[position];
            position > before && is_switch(&arguments[position - 1]) && (word == "true" || word == "false")
        };
        let is_directory = |position: &usize| {
            let word = arguments[*position].as_bytes();
            !word.is_empty() && !word.starts_with(b"-") && !is_value(*position)
        };
        FileServer { before, directories: (before..arguments.len()).filter(is_directory).collect() }
    }

    /// The directories that were typed. `${root}` and its like stand for the roots in force, and name none.
    pub fn directories<'a>(&self, arguments: &'a [OsString]) -> Vec<&'a OsStr> {
        let typed = self.directories.iter().filter_map(|position| arguments.get(*position));
        typed.map(OsString::as_os_str).filter(|word| !has_template(word)).collect()
    }

    /// The arguments with these directories in place of those that were typed, before the server's options: an option may
    /// take the word behind it. `filled` puts the roots where `${root}` stands.
    pub(super) fn given(
        &self,
        arguments: &[OsString],
        directories: impl Iterator<Item = OsString>,
        filled: impl Fn(&[OsString]) -> Vec<OsString>,
    ) -> Vec<OsString> {
        let (before, own) = arguments.split_at(self.before.min(arguments.len()));
        let is_kept = |position: &usize| !self.directories.contains(position);
        let kept = (self.before..).zip(own).filter(|(position, _)| is_kept(position)).map(|(_, word)| word.clone());
        let kept: Vec<OsString> = kept.collect();
        filled(before).into_iter().chain(directories).chain(filled(&kept)).collect()
    }
}

/// A server as a command line names it.
struct Recognised {
    known: &'static Known,
    /// How many arguments belong to what starts it.
    before: usize,
    /// The files whose places decided it.
    places: Vec<PathBuf>,
}

impl Recognised {
    fn find_ambient(program: &OsStr, arguments: &[OsString], here: &Path) -> Option<Recognised> {
        let name = Path::new(program).file_name().and_then(OsStr::to_str)?;
        // A plain name is found in `PATH`, which is the operator's word, as the name of a package is.
        let by_place = program.as_bytes().contains(&b'/').then(|| here.join(program));
        if let Some(runner) = RUNNERS.iter().find(|runner| runner.program == name) {
            let (known, before) = runner.package(arguments)?;
            let packages = known.packages.iter().filter(|(registry, _)| *registry == Registry::Npm);
            // SECURITY: `npx` takes a package from the directories above before it asks the registry
            // (test: a_package_in_the_project_is_no_known_server)
            let nearer = here
                .ancestors()
                .flat_map(|place| packages.clone().map(move |(_, package)| place.join("node_modules").join(package)));
            let nearer = nearer.filter(|place| follow_ambient(place).is_some_and(|followed| followed.exists));
            return Some(Recognised { known, before, places: by_place.into_iter().chain(nearer).collect() });
        }
        if INTERPRETERS.contains(&name) {
            let script = here.join(arguments.first().filter(|word| !word.as_bytes().starts_with(b"-"))?);
            let known = by_script(&follow_ambient(&script).filter(|followed| followed.exists)?.place)?;
            return Some(Recognised { known, before: 1, places: by_place.into_iter().chain([script]).collect() });
        }
        let found = Program::find_ambient(program, std::env::var_os("PATH").as_deref(), here).ok()?;
        let place = follow_ambient(found.path())?.place;
        let known = by_script(&place).or_else(|| by_name(&place)).or_else(|| by_name(found.path()))?;
        Some(Recognised { known, before: 0, places: vec![found.path().to_owned()] })
    }
}

impl Runner {
    /// The known server that this runs, and how many arguments come before its own.
    fn package(&self, arguments: &[OsString]) -> Option<(&'static Known, usize)> {
        let is = |words: &[&str], word: &OsString| words.iter().any(|known| word == known);
        let behind = self.verb.len();
        arguments.get(..behind)?.iter().zip(self.verb).all(|(word, verb)| word == verb).then_some(())?;
        let switches = arguments[behind..].iter().take_while(|word| is(self.switches, word)).count();
        let position = behind + switches;
        let name = package_name(arguments.get(position)?.to_str()?)?;
        let is_known = |known: &&Known| known.packages.contains(&(self.registry, name));
        Some((KNOWN.iter().find(is_known)?, position + 1))
    }
}

/// The name of a package of a registry, without its version. Nothing for what is fetched from elsewhere: a directory, a repository, an address,
/// or another package under this name (`name@npm:other`).
fn package_name(word: &str) -> Option<&str> {
    let version = word.char_indices().skip(1).find(|(_, letter)| *letter == '@').map(|(at, _)| at);
    let (name, version) = version.map_or((word, "@"), |at| word.split_at(at));
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-+^~_".contains(letter);
    version[1..].chars().all(is_plain).then_some(name)
}

fn by_script(place: &Path) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.scripts.iter().any(|script| place.ends_with(script)))
}

fn by_name(program: &Path) -> Option<&'static Known> {
    let name = program.file_name().and_then(OsStr::to_str)?;
    KNOWN.iter().find(|known| known.programs.contains(&name))
}

/// What decides where a file lies, and could have been written by a confined command: a link on the way, or the file.
fn written_ambient(file: &Path, material: &Material) -> Option<PathBuf> {
    let Some(followed) = follow_ambient(file) else { return Some(file.to_owned()) };
    followed.links.into_iter().chain([followed.place]).find(|place| material.holds(place))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "plays the user and a hostile command")]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn words(line: &str) -> (OsString, Vec<OsString>) {
        let mut words = line.split(' ').map(OsString::from);
        (words.next().unwrap(), words.collect())
    }

    fn directories(line: &str, material: &Material) -> Result<Option<Vec<String>>, Planted> {
        let (program, arguments) = words(line);
        let found = FileServer::find_ambient(&program, &arguments, material)?;
        let texts = |server: FileServer| {
            server.directories(&arguments).iter().map(|word| word.to_str().unwrap().to_owned()).collect()
        };
        Ok(found.map(texts))
    }

    #[test]
    fn a_package_in_the_project_is_no_known_server() {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path().canonicalize().unwrap().join("project/src");
        let package = directory.path().canonicalize().unwrap().join("project/node_modules/@modelcontextprotocol");
        std::fs::create_dir_all(&project).unwrap();
        let (program, arguments) = words("npx -y @modelcontextprotocol/server-filesystem docs");
        let places = || Recognised::find_ambient(&program, &arguments, &project).unwrap().places;
        assert_eq!(places(), Vec::<PathBuf>::new());
        std::fs::create_dir_all(package.join("server-filesystem")).unwrap();
        assert_eq!(places(), [package.join("server-filesystem")]);
    }

    const SCRIPT: &str = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";

    #[test]
    fn servers_are_known_by_the_full_name_of_their_package() {
        let check = |line: &str, expect: Option<&[&str]>| {
            let expect = expect.map(|words| words.iter().map(|word| (*word).to_owned()).collect());
            assert_eq!(directories(line, &Material::everything()), Ok(expect), "{line}");
        };
        check("npx -y @modelcontextprotocol/server-filesystem /a b", Some(&["/a", "b"]));
        check("npx -y -q -- @modelcontextprotocol/server-filesystem@2026.1.14 ~/a", Some(&["~/a"]));
        check("npx @modelcontextprotocol/server-filesystem@latest", Some(&[]));
        check("bunx --bun @modelcontextprotocol/server-filesystem /a", Some(&["/a"]));
        check("pnpm dlx @rustmcp/rust-mcp-filesystem --allow-write /a -t true /b true", Some(&["/a", "/b", "true"]));
        check("npx @modelcontextprotocol/server-filesystem ${roots} /a", Some(&["/a"]));
        for other in [
            "npx -y @modelcontextprotocol/server-memory /a",
            "npx -y @someone/server-filesystem /a",
            "npx -y server-filesystem /a",
            "npx -y mcp-server-filesystem /a",
            "npx -y @modelcontextprotocol/server-filesystem@file:../x /a",
            "npx -y @modelcontextprotocol/server-filesystem@npm:other /a",
            "npx -y @modelcontextprotocol/server-filesystem@git+https://example.org/x /a",
            "npx -y @modelcontextprotocol/server-filesystem@https://example.org/x.tgz /a",
            "npx -y file:@modelcontextprotocol/server-filesystem /a",
            "npx -y ./@modelcontextprotocol/server-filesystem /a",
            "npx -y other @modelcontextprotocol/server-filesystem /a",
            "npx --registry x @modelcontextprotocol/server-filesystem /a",
            "npx -c @modelcontextprotocol/server-filesystem /a",
            "pnpm run @modelcontextprotocol/server-filesystem /a",
            "uvx @modelcontextprotocol/server-filesystem /a",
            "pipx run rust-mcp-filesystem /a",
            "echo @modelcontextprotocol/server-filesystem /a",
            "node -e code /a",
            "npx",
        ] {
            check(other, None);
        }
    }

    #[test]
    fn what_a_confined_command_could_write_is_no_known_server() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        let script = top.join("lib").join(SCRIPT);
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
        let check = |line: &str, expect: Result<bool, &str>| {
            let line = line.replace('@', top.to_str().unwrap());
            let known = directories(&line, &material).map(|found| found == Some(vec!["/a".to_owned()]));
            assert_eq!(known, expect.map_err(|place| Planted(top.join(place))), "{line}");
        };
        check("node @/lib/gone /a", Ok(false));
        let typed = format!("node {} /a", script.display());
        assert_eq!(directories(&typed, &material), Ok(Some(vec!["/a".to_owned()])));
        check("@/bin/mcp-server-filesystem /a", Ok(true));
        check("@/bin/rust-mcp-filesystem -w /a", Ok(true));
        check("@/written/rust-mcp-filesystem /a", Err("written/rust-mcp-filesystem"));
        check("@/written/bin/rust-mcp-filesystem /a", Err("written/bin"));
        check("node @/written/index.js /a", Err("written/index.js"));
        check("@/written/index.js /a", Err("written/index.js"));
    }

    #[test]
    fn roots_take_the_place_of_what_was_typed() {
        let check = |line: &str, expect: &str| {
            let (program, arguments) = words(line);
            let server = FileServer::find_ambient(&program, &arguments, &Material::default()).unwrap().unwrap();
            let given = server.given(&arguments, ["/r", "/s"].into_iter().map(OsString::from), <[OsString]>::to_vec);
            let given: Vec<&str> = given.iter().map(|word| word.to_str().unwrap()).collect();
            assert_eq!(given.join(" "), expect, "{line}");
        };
        check(
            "npx -y @modelcontextprotocol/server-filesystem /a ./b ${roots}",
            "-y @modelcontextprotocol/server-filesystem /r /s",
        );
        check(
            "npx @rustmcp/rust-mcp-filesystem -w true /a --enable-roots",
            "@rustmcp/rust-mcp-filesystem /r /s -w true --enable-roots",
        );
        check("npx @rustmcp/rust-mcp-filesystem", "@rustmcp/rust-mcp-filesystem /r /s");
    }
}
