//! Reads the files: the user's own by name, those of a project below its handle.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rootward_core::env::Environment;
use rootward_core::{Access, Grant, GrantError};
use rustix::fs::OFlags;

use super::model::{Client, Holder, Import, ImportError, Imported, UnreadFile};
use super::places::{Form, Platform, project_files, user_files};
use super::variables::FileContext;
use crate::store::Mistake;

/// The largest file of the user to read: `.claude.json` contains much else.
const LARGEST: u64 = 8 << 20;
/// The largest file of a project to read.
const LARGEST_OF_PROJECT: u64 = 1 << 20;

/// Reads the user's own files of these clients.
pub fn user_ambient(clients: &[Client], environment: &Environment) -> Import {
    let platform = Platform::NATIVE;
    let around = FileContext { home: platform.home(environment), project: None };
    let mut import = Import::default();
    for place in user_files(platform, environment) {
        if clients.contains(&place.form.client()) {
            let bytes = read_ambient(&place.file);
            import.take(place.form, &place.file, Holder::User, bytes, &around);
        }
    }
    import
}

/// Reads the files of these clients in a readable project.
pub fn project(clients: &[Client], project: &Grant, home: Option<&Path>) -> Import {
    let around = FileContext { home: home.map(Path::to_owned), project: Some(project.path()) };
    let mut import = Import::default();
    for (form, name) in project_files() {
        if clients.contains(&form.client()) {
            let file = project.path().join(name);
            import.take(form, &file, Holder::Project, read_below(project, &file), &around);
        }
    }
    import
}

impl Import {
    fn take(
        &mut self,
        form: Form,
        file: &Path,
        holder: Holder,
        bytes: Result<Option<Vec<u8>>, ImportError>,
        around: &FileContext,
    ) {
        let (client, file) = (form.client(), file.to_owned());
        let found = match bytes {
            Ok(None) => return,
            Ok(Some(bytes)) => {
                text(&bytes).and_then(|text| super::parse(form, text, around)).map_err(ImportError::Damaged)
            }
            Err(error) => Err(error),
        };
        match found {
            Ok(found) => self.files.push(Imported { client, file, holder, found }),
            Err(error) => self.unread.push(UnreadFile { client, file, error }),
        }
    }

    /// Adds other results. A file that was read as the user's own is not also read as a project's.
    pub fn extend(&mut self, more: Import) {
        for imported in more.files {
            if !self.files.iter().any(|known| known.file == imported.file) {
                self.files.push(imported);
            }
        }
        for unread in more.unread {
            if !self.unread.iter().any(|known| known.file == unread.file) {
                self.unread.push(unread);
            }
        }
    }
}

/// The bytes as text, without a byte order mark.
fn text(bytes: &[u8]) -> Result<&str, Mistake> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        Mistake::at(&before, Some(before.len()..before.len()), "not UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// A file of the user. Links are followed: many users link to settings that are elsewhere.
#[expect(clippy::disallowed_methods, reason = "a place of the user's own, named by the environment")]
fn read_ambient(path: &Path) -> Result<Option<Vec<u8>>, ImportError> {
    // Opening a FIFO would block until it has a writer, so open without blocking, and then refuse it (open(2)).
    let without_waiting = OFlags::NONBLOCK.bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(without_waiting).open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !file.metadata()?.is_file() {
        return Err(ImportError::Special);
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(ImportError::TooLarge { limit: LARGEST });
    }
    Ok(Some(bytes))
}

/// A file of a project, through the checked handle.
fn read_below(project: &Grant, file: &Path) -> Result<Option<Vec<u8>>, ImportError> {
    // SECURITY: the guard decides where the name leads: a link out of the project is refused
    // (test: a_project_is_not_left)
    let granted = match project.guard().check(file, Access::READ) {
        Ok(granted) if granted.exists() => granted,
        Ok(_) => return Ok(None),
        Err(denial) => return Err(ImportError::Refused(denial.for_operator())),
    };
    granted.read(LARGEST_OF_PROJECT).map(Some).map_err(|error| match error {
        GrantError::TooLarge { limit, .. } => ImportError::TooLarge { limit },
        GrantError::Io { source, .. } if source.kind() == ErrorKind::IsADirectory => ImportError::Special,
        GrantError::Io { source, .. } => ImportError::System(source),
        GrantError::Denied(denial) => ImportError::Refused(denial.for_operator()),
        other @ GrantError::Changed { .. } => ImportError::System(io::Error::other(other.to_string())),
    })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay out files")]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rootward_core::{Guard, GuardOptions, Origin, Root, RootSet, Validation};

    use super::*;

    const GOOD: &str = r#"{"mcpServers": {"a": {"command": "x"}}}"#;

    fn home() -> (tempfile::TempDir, Environment) {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join(".cursor")).unwrap();
        fs::create_dir_all(home.path().join(".codex")).unwrap();
        let environment = [("HOME", home.path().as_os_str())].into();
        (home, environment)
    }

    fn why(import: &Import) -> Vec<String> {
        import.unread.iter().map(|unread| unread.error.to_string()).collect()
    }

    #[test]
    fn files_of_the_user() {
        let (home, environment) = home();
        let file = home.path().join(".cursor/mcp.json");
        let read = || user_ambient(&Client::ALL, &environment);
        let import = read();
        assert!(import.files.is_empty() && import.unread.is_empty());
        // A link is followed, and a byte order mark is not part of the text.
        fs::write(home.path().join("elsewhere.json"), format!("\u{feff}{GOOD}")).unwrap();
        symlink("../elsewhere.json", &file).unwrap();
        let import = read();
        assert_eq!((import.files.len(), import.files[0].found.servers.len(), import.unread.len()), (1, 1, 0));
        assert_eq!(import.files[0].file, file);
        assert!(user_ambient(&[Client::Codex], &environment).files.is_empty());
        // A damaged file does not keep the others from being read.
        fs::write(home.path().join(".codex/config.toml"), "[mcp_servers.b]\ncommand = 'y'\nx").unwrap();
        let import = read();
        assert_eq!((import.files.len(), import.unread.len()), (1, 1));
        assert!(why(&import)[0].starts_with("line 3, column 2: "), "{:?}", why(&import));
    }

    #[test]
    fn files_that_are_none() {
        let (home, environment) = home();
        let file = home.path().join(".cursor/mcp.json");
        let check = |expect: &str| {
            let import = user_ambient(&Client::ALL, &environment);
            assert!(import.files.is_empty());
            assert_eq!(why(&import), [expect]);
            let _ = fs::remove_file(&file).or_else(|_| fs::remove_dir(&file));
        };
        fs::write(
            &file,
            "{
\"ä\": 1,,}",
        )
        .unwrap();
        check("line 2, column 8: unexpected token in object");
        fs::write(&file, b"{\n\"\xc3\xa4\": \"\xff\"}").unwrap();
        check("line 2, column 7: not UTF-8");
        fs::create_dir(&file).unwrap();
        check("not a regular file");
        rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        check("not a regular file");
        fs::File::create(&file).unwrap().set_len(LARGEST + 1).unwrap();
        check("larger than 8 MiB");
        symlink("mcp.json", &file).unwrap();
        let import = user_ambient(&Client::ALL, &environment);
        assert!(matches!(import.unread[0].error, ImportError::System(_)));
    }

    #[test]
    fn a_project_is_not_left() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        for directory in ["p/.cursor", "p/.vscode", "p/.claude", "p/sub"] {
            fs::create_dir_all(place.join(directory)).unwrap();
        }
        fs::write(place.join("outside.json"), GOOD).unwrap();
        fs::write(place.join("p/sub/mcp.json"), GOOD).unwrap();
        symlink("../../outside.json", place.join("p/.cursor/mcp.json")).unwrap();
        symlink("sub/mcp.json", place.join("p/.mcp.json")).unwrap();
        fs::File::create(place.join("p/.vscode/mcp.json")).unwrap().set_len(LARGEST_OF_PROJECT + 1).unwrap();
        fs::create_dir(place.join("p/.claude/settings.json")).unwrap();
        symlink("..", place.join("p/.codex")).unwrap();
        let root = Root::from_path(place.join("p"), Origin::Flag).unwrap().with_access(Access::READ);
        let set = RootSet::place_ambient([root], &Validation::new(None));
        let granted = Guard::new(set, GuardOptions::default()).check(place.join("p"), Access::READ).unwrap();
        let import = project(&Client::ALL, &granted, None);
        let files: Vec<_> = import.files.iter().map(|imported| imported.file.strip_prefix(&place).unwrap()).collect();
        assert_eq!(files, [Path::new("p/.mcp.json")]);
        assert_eq!(import.files[0].holder, Holder::Project);
        let unread: Vec<_> = import
            .unread
            .iter()
            .map(|unread| (unread.file.strip_prefix(place.join("p")).unwrap().display().to_string(), &unread.error))
            .collect();
        assert!(
            matches!(&unread[..], [
            (settings, ImportError::Special),
            (cursor, ImportError::Refused(_)),
            (vscode, ImportError::TooLarge { .. }),
            (codex, ImportError::Refused(_)),
        ] if settings == ".claude/settings.json" && cursor == ".cursor/mcp.json" && vscode == ".vscode/mcp.json" && codex == ".codex/config.toml"),
            "{unread:?}"
        );
    }
}
