//! `--learn`: the recipe that is written when the server ends.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use rootward_core::{Material, Restrictions, Shown};
use rootward_hub::recipe::learned::{Learned, List};
use rootward_sandbox::{PackageCommand, PermittingFlag, Program, Refused, SocketKind, is_closed_ambient};

use crate::message::{self, Hinted, from_home};

/// The largest existing recipe file to read and rewrite, in bytes.
const LARGEST: u64 = 1 << 20;

/// A recipe in the making.
#[derive(Debug)]
pub(super) struct Learning {
    file: PathBuf,
    learned: Learned,
}

impl Learning {
    /// Checks the file before anything starts: an error at the end would lose what was learned.
    pub(super) fn begin_ambient(
        file: &Path,
        program: &OsStr,
        arguments: &[OsString],
        material: &Material,
    ) -> Result<Learning> {
        let file = std::path::absolute(file)?;
        check_place_ambient(&file, material)?;
        let subject = subject_ambient(program, arguments);
        let about = subject.iter().map(|(_, name)| Shown::new(name).to_string()).collect::<Vec<_>>().join(" ");
        let mut learned = Learned::new(&about, &subject);
        match earlier_ambient(&file) {
            Ok(None) => {}
            Ok(Some(text)) => {
                if let Err(error) = learned.add_earlier(&text) {
                    bail!(Hinted {
                        says: format!("`{}` exists: {error}", Shown::new(&file)),
                        hint: "name another file".to_owned(),
                    });
                }
            }
            Err(error) => return Err(error).context(format!("cannot read `{}`", Shown::new(&file))),
        }
        Ok(Learning { file, learned })
    }

    /// Writes what was learned.
    pub(super) fn end_ambient(
        mut self,
        refused: &[Refused],
        withheld: &[String],
        home: Option<&Path>,
        closed: &Arc<Restrictions>,
        material: &Material,
    ) -> Result<()> {
        check_place_ambient(&self.file, material)?;
        for name in withheld {
            self.learned.add(List::Env, name, "it is set, and the server did not get it");
        }
        for one in refused {
            let Refused { path, access, socket } = one;
            if matches!(one.permit(), Some(PermittingFlag::Alone(_))) {
                self.learned.add_own_proc();
                continue;
            }
            let holds_home = home.is_some_and(|home| home.starts_with(path));
            let is_device = path.starts_with("/proc") || path.starts_with("/sys") || path.starts_with("/dev/pts");
            // SECURITY: a person who accepts lines without reading them must not open a secret
            // (test: learning_proposes_no_secret)
            let acts_for_user = socket.is_some_and(|kind| kind != SocketKind::Ordinary);
            let is_kept_out = holds_home || is_device || acts_for_user || path.parent().is_none();
            if is_kept_out || is_closed_ambient(path, Arc::clone(closed)) {
                self.learned.leave_out();
                continue;
            }
            let (list, reason) = match access.as_str() {
                "write" => (List::Write, "it tried to write this"),
                "connect" => (List::Sockets, "it tried to connect to this"),
                _ => (List::Read, "it tried to read or run this"),
            };
            // A path that is not UTF-8 cannot be written down.
            if path.to_str().is_some() {
                self.learned.add(list, &from_home(path, home), reason);
            }
        }
        write_ambient(&self.file, &self.learned.text())
            .with_context(|| format!("cannot write `{}`", Shown::new(&self.file)))?;
        let what = if self.learned.is_empty() { "nothing was refused" } else { "read it and accept what you want" };
        message::line_in_passing(&format!("note: wrote `{}`: {what}", Shown::new(&self.file)));
        Ok(())
    }
}

/// Refuses a file that the server could have written or redirected.
// SECURITY: the server could accept lines in the user's name, or get its own recipe written into Rootward's settings
// (test: a_recipe_is_not_learned_where_the_server_can_write)
fn check_place_ambient(file: &Path, material: &Material) -> Result<()> {
    if material.may_be_planted_ambient(file) {
        bail!(Hinted {
            says: format!("`{}` is not written: a confined server could have changed it", Shown::new(file)),
            hint: "name a file outside the directories that are shared".to_owned(),
        });
    }
    Ok(())
}

/// What the recipe is for.
fn subject_ambient(program: &OsStr, arguments: &[OsString]) -> Vec<(&'static str, String)> {
    if let Some(package) = PackageCommand::read(program, arguments) {
        return vec![("packages", format!("{}:{}", package.registry, package.name))];
    }
    let here = std::env::current_dir().unwrap_or_default();
    let found = Program::find_ambient(program, std::env::var_os("PATH").as_deref(), &here);
    let path = found.map_or_else(|_| program.into(), |found| found.path().to_owned());
    vec![("programs", path.to_string_lossy().into_owned())]
}

#[expect(clippy::disallowed_methods, reason = "a file that the user names on the command line")]
fn earlier_ambient(file: &Path) -> io::Result<Option<String>> {
    let seen = match file.metadata() {
        Ok(seen) => seen,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !seen.is_file() || seen.len() > LARGEST {
        return Err(io::Error::other("not a small regular file"));
    }
    std::fs::read_to_string(file).map(Some)
}

#[expect(clippy::disallowed_methods, reason = "a file that the user names on the command line")]
fn write_ambient(file: &Path, text: &str) -> io::Result<()> {
    let mut name = file.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = file.with_file_name(name);
    let mut written = std::fs::OpenOptions::new().write(true).create_new(true).open(&beside)?;
    let outcome = written.write_all(text.as_bytes()).and_then(|()| std::fs::rename(&beside, file));
    if outcome.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    outcome
}
