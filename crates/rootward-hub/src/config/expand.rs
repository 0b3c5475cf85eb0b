//! Fills in a server's variables for one session.
//!
//! A variable that is not set is an error for this server only. Messages never contain values, which may be secrets.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rootward_core::secrets::names_secret;
use rootward_core::{Origin, Root, Shown};
use rootward_sandbox::Filesystem;

use super::expanded::{ExpandError, Expanded, ExpandedKind};
use super::masked;
use super::path_map::{PathPairs, is_clean};
use super::server::{Http, ServerConfig, ServerKind, Stdio};
use super::settings::RootsFrom;
use super::surroundings::{RootValues, Surroundings};
use super::template::{Piece, Template};

/// Maximum total length of a server's strings, in bytes. The kernel accepts no longer command line.
const MOST: usize = 2 << 20;
/// Values shorter than this are not masked, because they would mask common words.
const SHORTEST_SECRET: usize = 6;
/// Variables that are not secret.
const PLAIN_VARIABLES: [&str; 9] = ["HOME", "USER", "LOGNAME", "PATH", "LANG", "PWD", "SHELL", "TMPDIR", "TERM"];

/// Fills in the variables of a server.
///
/// # Errors
///
/// If a variable is not set and has no default, if the text uses a root and there is none, or if the result is not
/// usable.
pub fn expand(server: &ServerConfig, around: &Surroundings<'_>) -> Result<Expanded, ExpandError> {
    let mut filling = Filling { around, left: MOST, secrets: Vec::new() };
    let expanded = filling.server(server).map_err(|problem| problem.of(server))?;
    Ok(Expanded { secrets: filling.secrets, ..expanded })
}

impl ServerConfig {
    /// The server's fixed roots: `None` if it uses the client's roots, empty if it has no roots. They do not depend
    /// on the session, so they are known before [`expand`] fills in `${root}`.
    ///
    /// # Errors
    ///
    /// If a variable cannot be filled in, or the result is not a root.
    pub fn fixed_roots(&self, around: &Surroundings<'_>) -> Result<Option<Vec<Root>>, ExpandError> {
        let mut filling = Filling { around, left: MOST, secrets: Vec::new() };
        filling.fixed_roots(self).map_err(|problem| problem.of(self))
    }

    /// The server's own names for directories of this machine.
    ///
    /// # Errors
    ///
    /// If a variable cannot be filled in.
    pub fn path_pairs(&self, around: &Surroundings<'_>) -> Result<PathPairs, ExpandError> {
        let around = Surroundings { roots: RootValues::Later, ..*around };
        let mut filling = Filling { around: &around, left: MOST, secrets: Vec::new() };
        let pairs = self.rootward.paths.iter().map(|pair| Ok((filling.from(&pair.from)?, pair.to.clone())));
        let pairs: Result<Vec<_>, Problem> = pairs.collect();
        Ok(PathPairs::new(pairs.map_err(|problem| problem.of(self))?))
    }
}

/// An error before the server's name is added.
#[derive(Debug)]
struct Problem {
    says: String,
    hint: String,
}

impl Problem {
    fn new(says: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem { says: says.into(), hint: hint.into() }
    }

    fn of(self, server: &ServerConfig) -> ExpandError {
        ExpandError { server: server.name.clone(), says: self.says, hint: self.hint }
    }
}

/// Fills in the strings of one server.
struct Filling<'s> {
    around: &'s Surroundings<'s>,
    /// How many more bytes are allowed.
    left: usize,
    secrets: Vec<String>,
}

impl Filling<'_> {
    fn server(&mut self, server: &ServerConfig) -> Result<Expanded, Problem> {
        let what = match &server.what {
            ServerKind::Stdio(process) => self.process(process)?,
            ServerKind::Http(remote) => self.remote(remote)?,
        };
        let settings = &server.rootward;
        let filesystem = Filesystem {
            allow_read: self.opened("allow.read", &settings.allow.read)?,
            deny_read: self.closed("deny.read", &settings.deny.read)?,
            allow_write: self.opened("allow.write", &settings.allow.write)?,
            deny_write: self.closed("deny.write", &settings.deny.write)?,
        };
        let roots = self.fixed_roots(server)?;
        Ok(Expanded {
            what,
            filesystem,
            sockets: self.opened("allow.sockets", &settings.allow.sockets)?,
            roots,
            ceiling: settings.ceiling.as_ref().map(|roots| self.roots("ceiling", roots)).transpose()?,
            secrets: Vec::new(),
        })
    }

    fn fixed_roots(&mut self, server: &ServerConfig) -> Result<Option<Vec<Root>>, Problem> {
        match &server.rootward.roots {
            RootsFrom::Client => Ok(None),
            RootsFrom::Fixed(roots) => self.roots("roots", roots).map(Some),
            RootsFrom::Nothing => Ok(Some(Vec::new())),
        }
    }

    fn process(&mut self, process: &Stdio) -> Result<ExpandedKind, Problem> {
        let mut args = Vec::with_capacity(process.args.len());
        for argument in &process.args {
            match self.around.roots {
                // Root paths are not searched for variables.
                RootValues::At(roots) if argument.is_all_roots() => {
                    for root in roots {
                        self.take(root.as_os_str().len())?;
                        args.push(root.into());
                    }
                }
                _ => args.push(self.text(argument)?),
            }
        }
        let command = self.text(&process.command)?;
        if command.is_empty() {
            return Err(Problem::new(
                "`command` is empty after its variables were filled in",
                "set the variable to a program",
            ));
        }
        let mut env = Vec::with_capacity(process.env.len());
        for (name, value) in &process.env {
            let value = self.text(value)?;
            if names_secret(name) {
                self.secret(&value);
            }
            env.push((name.clone(), value));
        }
        let env_file = process.env_file.as_ref().map(|file| self.place("envFile", file)).transpose()?;
        let cwd = process.cwd.as_ref().map(|directory| self.place("cwd", directory)).transpose()?;
        Ok(ExpandedKind::Stdio { command, args, env, env_file, cwd })
    }

    fn remote(&mut self, remote: &Http) -> Result<ExpandedKind, Problem> {
        let url = self.text(&remote.url)?;
        let is_visible = |url: &String| !url.contains(|letter: char| letter.is_control() || letter.is_whitespace());
        let is_http = |url: &String| {
            let url = url.to_ascii_lowercase();
            url.starts_with("http://") || url.starts_with("https://")
        };
        let url = url.into_string().ok().filter(is_visible).filter(is_http).ok_or_else(|| {
            let says = format!("`{}` is not an HTTP URL", Shown::new(&masked::address(&remote.url)));
            Problem::new(says, "an address begins with `http://` or `https://` and has no spaces")
        })?;
        let mut headers = Vec::with_capacity(remote.headers.len());
        for (name, value) in &remote.headers {
            let value = self.text(value)?;
            self.secret(&value);
            // SECURITY: a line break in a value would start another header (test: a_header_is_one_line)
            let is_line = |value: &String| !value.contains(|letter: char| letter.is_control() && letter != '\t');
            let value = value.into_string().ok().filter(is_line).ok_or_else(|| {
                let says = format!("header `{}` has a control character", Shown::new(name));
                Problem::new(says, "remove it from the variable or from the file")
            })?;
            headers.push((name.clone(), value));
        }
        Ok(ExpandedKind::Http { url, headers })
    }

    /// Places opened in addition to the roots. A place below a root is skipped: the session's access to the root
    /// applies there.
    fn opened(&mut self, key: &str, places: &[Template]) -> Result<Vec<PathBuf>, Problem> {
        // SECURITY: otherwise a root that the client shares read-only would become writable
        // (test: a_root_is_not_opened_by_its_variable)
        let others = places.iter().filter(|place| !place.uses_roots());
        others.map(|place| self.place(key, place)).collect()
    }

    /// Places that stay closed. Rules about roots are skipped if there are no roots.
    fn closed(&mut self, key: &str, places: &[Template]) -> Result<Vec<PathBuf>, Problem> {
        let is_empty = matches!(self.around.roots, RootValues::At([]));
        let meant = places.iter().filter(|place| !(is_empty && place.uses_roots()));
        meant.map(|place| self.place(key, place)).collect()
    }

    fn roots(&mut self, key: &str, roots: &[Template]) -> Result<Vec<Root>, Problem> {
        let one = |template: &Template| {
            let text = self.text(template)?;
            Root::from_typed(&text, Path::new(""), self.around.home, Origin::Config).map_err(|error| {
                let says = format!(
                    "`rootward.{key}`: `{}` is not a usable root: {}",
                    Shown::new(template.written()),
                    error.reason()
                );
                Problem::new(says, "write an absolute path, one from `~/`, or a `file:` URI")
            })
        };
        roots.iter().map(one).collect()
    }

    /// The local directory of a pair. If it depends on the roots, it is checked once they are known.
    fn from(&mut self, template: &Template) -> Result<OsString, Problem> {
        if template.uses_roots() { self.text(template) } else { Ok(self.place("paths", template)?.into()) }
    }

    /// An absolute path without dot segments.
    fn place(&mut self, key: &str, template: &Template) -> Result<PathBuf, Problem> {
        if let (RootValues::Later, true) = (self.around.roots, template.uses_roots()) {
            return Err(Problem::new(
                format!("`{key}`: `{}` needs the session's roots", Shown::new(template.written())),
                "start the server when its roots are known",
            ));
        }
        let text = self.text(template)?;
        let path = match text.as_bytes().strip_prefix(b"~/") {
            Some(below) => {
                let below: &[u8] = below;
                let start = below.iter().take_while(|byte| **byte == b'/').count();
                self.home()?.join(OsStr::from_bytes(&below[start..]))
            }
            None => PathBuf::from(text),
        };
        if !is_clean(&path) {
            let says =
                format!("`{key}`: `{}` is not an absolute path without `.` and `..`", Shown::new(template.written()));
            return Err(Problem::new(says, "begin it with `/`, `~/`, `${root}` or `${userHome}`"));
        }
        Ok(path)
    }

    fn text(&mut self, template: &Template) -> Result<OsString, Problem> {
        let mut filled = Vec::new();
        for piece in template.pieces() {
            match piece {
                Piece::Root | Piece::Roots => filled.extend(self.root(piece)?),
                Piece::UserHome => filled.extend(self.home()?.as_os_str().as_bytes()),
                Piece::Literal(text) => filled.extend(self.plain(text.as_bytes(), template)?),
                Piece::Variable { name, default } => {
                    let value = self.variable(name, default.as_deref())?;
                    filled.extend(self.plain(value.as_bytes(), template)?);
                }
                Piece::OfClient(form) => {
                    return Err(Problem::new(
                        format!("only the client that owns the file can fill in `{}`", Shown::new(form)),
                        "use an environment variable: `${NAME}`",
                    ));
                }
            }
            if filled.len() > self.left {
                break;
            }
        }
        self.take(filled.len())?;
        if filled.contains(&0) {
            return Err(Problem::new(format!("`{}` has a NUL character", masked::references(template)), "remove it"));
        }
        Ok(OsString::from_vec(filled))
    }

    /// The first root, or a placeholder if the roots are not known yet. `${roots}` gets here only in the second case.
    fn root(&self, piece: &Piece) -> Result<Vec<u8>, Problem> {
        match (self.around.roots, piece) {
            (RootValues::Later, Piece::Roots) => Ok(b"${roots}".to_vec()),
            (RootValues::Later, _) => Ok(b"${root}".to_vec()),
            (RootValues::At([first, ..]), _) => Ok(first.as_os_str().as_bytes().to_vec()),
            (RootValues::At([]), _) => Err(Problem::new(
                "it needs a root, but this client shared no directories",
                "share a directory in the client, or set `\"roots\"` under the server's key `rootward`",
            )),
        }
    }

    /// Returns literal text unchanged.
    fn plain<'v>(&self, text: &'v [u8], template: &Template) -> Result<&'v [u8], Problem> {
        let is_filled_later = self.around.roots == RootValues::Later && memchr::memmem::find(text, b"${root").is_some();
        if is_filled_later {
            let says =
                format!("a literal `${{root` in `{}` cannot be told from a variable", masked::references(template));
            return Err(Problem::new(says, "remove it"));
        }
        Ok(text)
    }

    fn variable(&mut self, name: &str, default: Option<&str>) -> Result<OsString, Problem> {
        let value = self.around.environment.0.get(name);
        match (value, default) {
            (Some(value), None) => {
                self.secret_of(name, value);
                Ok(value.clone())
            }
            (Some(value), Some(_)) if !value.is_empty() => {
                self.secret_of(name, value);
                Ok(value.clone())
            }
            (_, Some(default)) => Ok(default.into()),
            (None, None) => Err(Problem::new(
                format!("variable `{name}` is not set"),
                format!("set `{name}` in the environment of the hub, or write `${{{name}:-default}}`"),
            )),
        }
    }

    fn home(&self) -> Result<PathBuf, Problem> {
        let home = self.around.home.filter(|home| home.is_absolute());
        home.map(Path::to_owned).ok_or_else(|| Problem::new("your home directory is not known", "set `HOME`"))
    }

    fn secret_of(&mut self, variable: &str, value: &OsStr) {
        let is_plain =
            PLAIN_VARIABLES.contains(&variable) || variable.starts_with("XDG_") || variable.starts_with("LC_");
        if !is_plain {
            self.secret(value);
        }
    }

    fn secret(&mut self, value: &OsStr) {
        if let Some(value) = value.to_str().filter(|value| value.len() >= SHORTEST_SECRET) {
            let value = value.to_owned();
            if !self.secrets.contains(&value) {
                self.secrets.push(value);
            }
        }
    }

    fn take(&mut self, length: usize) -> Result<(), Problem> {
        self.left = self.left.checked_sub(length).ok_or_else(|| {
            Problem::new(
                format!("its command line and variables are longer than {} MiB", MOST >> 20),
                "no system can start a command that long",
            )
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
