//! Config files, records and backups on a real disk.

#![expect(clippy::disallowed_methods, reason = "tests lay out files")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use rootward_core::Material;
use rootward_core::env::Directories;
use tempfile::TempDir;

use super::{Called, ConfigFile, FileError, Invocation, Plan, Record, SavedRecord, Shelf, ShelfError, plan};
use crate::import::{FileContext, Form, Holder};

const OLD: &str = "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\", \"args\": [\"y\"]} // mine\n  }\n}\n";

/// The text that adds a second server.
const MORE: &str = ", // mine\n    \"b\": {\"command\": \"z\"}";

/// A home with a config file in it.
struct Home {
    directory: TempDir,
    shelf: Shelf,
}

impl Home {
    fn with(text: &str) -> Home {
        let directory = tempfile::tempdir().unwrap();
        let shelf = Shelf::of(&Directories::new(&[("HOME", directory.path().as_os_str())].into())).unwrap();
        let home = Home { directory, shelf };
        home.write(text);
        home
    }

    fn top(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    fn file(&self) -> PathBuf {
        self.top().join("mcp.json")
    }

    fn write(&self, text: &str) {
        fs::write(self.file(), text).unwrap();
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    fn open(&self) -> Result<Option<ConfigFile>, FileError> {
        ConfigFile::open_ambient(&self.file(), None, &Material::default())
    }

    fn planned(&self) -> (ConfigFile, Plan) {
        let config = self.open().unwrap().unwrap();
        let caller = Invocation { path: "/opt/rootward".to_owned(), called: Called::ByName };
        let plan = plan(Form::Cursor, config.text(), &FileContext::default(), Holder::User, &caller).unwrap();
        (config, plan)
    }

    fn adopt(&self) -> Result<(), ShelfError> {
        let (config, plan) = self.planned();
        self.shelf.adopt_ambient(&config, Form::Cursor, &plan)
    }

    fn saved(&self) -> Option<SavedRecord> {
        self.shelf.record_ambient(&self.file()).unwrap()
    }

    fn undo(&self) -> Result<(), ShelfError> {
        let Some(saved) = self.saved() else { return Ok(()) };
        let config = self.open().unwrap().unwrap();
        let undone = saved.record.undo(config.text(), saved.backup.as_deref()).unwrap();
        self.shelf.undo_ambient(&saved, &config, &undone).map(drop)
    }

    fn kept(&self) -> Vec<String> {
        let names = fs::read_dir(self.top().join(".local/state/rootward/adopt")).unwrap();
        let mut names: Vec<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names.retain(|name| name != "lock");
        names
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn adopted_and_back_byte_for_byte() {
    let home = Home::with(&format!("\u{feff}{OLD}"));
    fs::set_permissions(home.file(), fs::Permissions::from_mode(0o640)).unwrap();
    home.adopt().unwrap();
    let text = home.text();
    assert!(text.starts_with("\u{feff}{\n") && text.contains(r#"["wrap", "--", "x", "y"]} // mine"#), "{text}");
    assert_eq!(mode(&home.file()), 0o640);
    let backup = home.shelf.backup_path(&home.file());
    assert_eq!((fs::read_to_string(&backup).unwrap().as_str(), mode(&backup)), (OLD, 0o600));
    assert_eq!(mode(backup.parent().unwrap()), 0o700);
    assert_eq!(home.kept().len(), 2);
    home.undo().unwrap();
    assert_eq!(home.text(), format!("\u{feff}{OLD}"));
    assert_eq!(mode(&home.file()), 0o640);
    assert!(home.kept().is_empty() && home.saved().is_none());
    home.undo().unwrap();
}

#[test]
fn two_adopts_and_one_undo() {
    let home = Home::with(OLD);
    home.adopt().unwrap();
    home.write(&home.text().replace(" // mine", MORE));
    home.adopt().unwrap();
    assert_eq!(home.saved().unwrap().record.entries.len(), 2);
    home.undo().unwrap();
    assert_eq!(home.text(), OLD.replace(" // mine", MORE));
    assert!(home.kept().is_empty());
    // The same without any change in between.
    home.write(OLD);
    home.adopt().unwrap();
    home.adopt().unwrap();
    home.undo().unwrap();
    assert_eq!(home.text(), OLD);
    // An entry that the user unwrapped by hand in between, and one with another command.
    home.adopt().unwrap();
    home.write(&OLD.replace("\"x\"", "\"other\""));
    home.adopt().unwrap();
    assert_eq!(home.saved().unwrap().record.entries.len(), 1);
    home.undo().unwrap();
    assert_eq!(home.text(), OLD.replace("\"x\"", "\"other\""));
}

#[test]
fn an_entry_that_was_changed_stays_on_record() {
    let home = Home::with(&OLD.replace(" // mine", ", \"b\": {\"command\": \"z\"}"));
    home.adopt().unwrap();
    home.write(&home.text().replace(r#""--", "x""#, r#""--root", "/srv", "--", "x""#));
    home.undo().unwrap();
    let text = home.text();
    assert!(text.contains(r#""wrap", "--root", "/srv", "--", "x", "y""#), "{text}");
    assert!(text.contains(r#""b": {"command": "z"}"#), "{text}");
    assert_eq!(home.saved().unwrap().record.entries.len(), 1);
    home.undo().unwrap();
    assert_eq!(home.text(), text);
    // Once the entry is restored, it can be undone as well.
    home.write(&text.replace(r#""--root", "/srv", "--", "x""#, r#""--", "x""#));
    home.undo().unwrap();
    assert_eq!(home.text(), OLD.replace(" // mine", ", \"b\": {\"command\": \"z\"}"));
    assert!(home.kept().is_empty());
}

#[test]
fn a_file_that_was_changed_meanwhile_stays() {
    let home = Home::with(OLD);
    let changed = |result: Result<(), ShelfError>| {
        assert!(matches!(result, Err(ShelfError::File(FileError::Changed))), "{result:?}");
    };
    let (config, plan) = home.planned();
    home.write("{}");
    changed(home.shelf.adopt_ambient(&config, Form::Cursor, &plan));
    assert_eq!(home.text(), "{}");
    assert!(home.saved().is_none());
    // Another file with the same text and name.
    home.write(OLD);
    let (config, plan) = home.planned();
    fs::rename(home.file(), home.top().join("aside")).unwrap();
    home.write(OLD);
    changed(home.shelf.adopt_ambient(&config, Form::Cursor, &plan));
    // A link in its place is not followed.
    let (config, plan) = home.planned();
    fs::remove_file(home.file()).unwrap();
    symlink("aside", home.file()).unwrap();
    assert!(home.shelf.adopt_ambient(&config, Form::Cursor, &plan).is_err());
    assert_eq!(fs::read_to_string(home.top().join("aside")).unwrap(), OLD);
    // It is undone only if the file and the record are as shown.
    fs::remove_file(home.file()).unwrap();
    home.write(OLD);
    home.adopt().unwrap();
    let (saved, config) = (home.saved().unwrap(), home.open().unwrap().unwrap());
    let undone = saved.record.undo(config.text(), saved.backup.as_deref()).unwrap();
    let wrapped = home.text();
    home.write(&format!("{wrapped}\n"));
    changed(home.shelf.undo_ambient(&saved, &config, &undone).map(drop));
    home.write(&wrapped);
    let config = home.open().unwrap().unwrap();
    let other = SavedRecord { backup: None, ..saved.clone() };
    changed(home.shelf.undo_ambient(&other, &config, &undone).map(drop));
    assert_eq!(home.text(), wrapped);
}

#[test]
fn files_that_are_not_touched() {
    let home = Home::with(OLD);
    let check = |expect: &str| {
        assert_eq!(home.open().unwrap_err().to_string(), expect);
        let _ = fs::remove_file(home.file()).or_else(|_| fs::remove_dir(home.file()));
    };
    fs::write(home.file(), b"{\n\"\xff\"}").unwrap();
    check("line 2, column 2: not UTF-8");
    rustix::fs::mknodat(rustix::fs::CWD, home.file(), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    check("not a regular file");
    fs::create_dir(home.file()).unwrap();
    check("not a regular file");
    fs::File::create(home.file()).unwrap().set_len(50 << 20).unwrap();
    check("larger than 8 MiB");
    assert!(home.open().unwrap().is_none());
    symlink("mcp.json", home.file()).unwrap();
    assert!(home.open().is_err());
}

#[test]
fn a_file_of_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        // Only root can give a file away, but everybody can find files of root.
        let found = ConfigFile::open_ambient(Path::new("/etc/passwd"), None, &Material::default());
        return assert!(matches!(found, Err(FileError::NotOwned | FileError::Refused(_))), "{found:?}");
    }
    let home = Home::with(OLD);
    chown(home.file(), Some(65534), None).unwrap();
    assert!(matches!(home.open(), Err(FileError::NotOwned)));
}

#[test]
fn a_planted_link_is_refused() {
    let home = Home::with(OLD);
    let top = home.top();
    fs::create_dir(top.join("given")).unwrap();
    fs::create_dir(top.join("own")).unwrap();
    for place in ["given/mcp.json", "own/mcp.json"] {
        fs::write(top.join(place), OLD).unwrap();
    }
    symlink("own/mcp.json", top.join("good")).unwrap();
    symlink("given/mcp.json", top.join("into")).unwrap();
    symlink("../own/mcp.json", top.join("given/out")).unwrap();
    symlink("given/out", top.join("over")).unwrap();
    let material = Material::new([top.join("given")]);
    let open = |name: &str| ConfigFile::open_ambient(&top.join(name), None, &material);
    assert_eq!(open("good").unwrap().unwrap().place, top.join("own/mcp.json"));
    for name in ["into", "given/out", "over"] {
        assert!(matches!(open(name), Err(FileError::Planted(_))), "{name}");
    }
    // Servers may write a project's own file, and wrapping only confines more.
    assert!(open("given/mcp.json").unwrap().is_some());
    // The user's link stays a link.
    let config = open("good").unwrap().unwrap();
    config.replace("{}").unwrap();
    assert!(fs::symlink_metadata(top.join("good")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(top.join("own/mcp.json")).unwrap(), "{}");
}

#[test]
fn a_project_is_not_left_by_a_link() {
    let home = Home::with(OLD);
    let top = home.top();
    fs::create_dir_all(top.join("project/sub")).unwrap();
    fs::write(top.join("project/sub/in.json"), OLD).unwrap();
    symlink("../mcp.json", top.join("project/.mcp.json")).unwrap();
    symlink("sub/in.json", top.join("project/inside")).unwrap();
    symlink("project", top.join("linked")).unwrap();
    let open = |name: &str, project: &str| {
        ConfigFile::open_ambient(&top.join(name), Some(&top.join(project)), &Material::default())
    };
    assert!(matches!(open("project/.mcp.json", "project"), Err(FileError::Outside(_))));
    assert!(open("project/inside", "project").unwrap().is_some());
    assert!(open("linked/inside", "linked").unwrap().is_some());
    assert!(open("project/gone", "project").unwrap().is_none());
}

#[test]
fn nothing_is_lost_if_nothing_can_be_written() {
    let home = Home::with(OLD);
    let (config, plan) = home.planned();
    // The state directory is a file: the backup cannot be written, so the config stays unchanged.
    fs::create_dir_all(home.top().join(".local/state")).unwrap();
    fs::write(home.top().join(".local/state/rootward"), "").unwrap();
    assert!(matches!(home.shelf.adopt_ambient(&config, Form::Cursor, &plan), Err(ShelfError::System { .. })));
    assert_eq!(home.text(), OLD);
    fs::remove_file(home.top().join(".local/state/rootward")).unwrap();
    home.adopt().unwrap();
    let (wrapped, saved) = (home.text(), home.saved().unwrap());
    // The config cannot be read again: the record stays unchanged.
    home.write(&wrapped.replace(" // mine", MORE));
    let (config, plan) = home.planned();
    let before = home.text();
    let inode = fs::metadata(home.file()).unwrap().ino();
    fs::rename(home.file(), home.top().join("aside")).unwrap();
    fs::create_dir(home.file()).unwrap();
    assert!(home.shelf.adopt_ambient(&config, Form::Cursor, &plan).is_err());
    fs::remove_dir(home.file()).unwrap();
    fs::rename(home.top().join("aside"), home.file()).unwrap();
    assert_eq!((home.text(), fs::metadata(home.file()).unwrap().ino()), (before, inode));
    assert_eq!(home.saved().unwrap(), saved);
}

#[test]
fn records_that_are_not_used() {
    let home = Home::with(OLD);
    home.adopt().unwrap();
    let directory = home.top().join(".local/state/rootward/adopt");
    let record = directory.join(Record::name_for(&home.file())).with_extension("json");
    let text = fs::read_to_string(&record).unwrap();
    // The record of one file under another file's name.
    fs::write(&record, text.replace("mcp.json", "other.json")).unwrap();
    assert!(matches!(home.shelf.record_ambient(&home.file()), Err(ShelfError::Record { .. })));
    let (saved, refused) = home.shelf.records_ambient().unwrap();
    assert_eq!((saved.len(), refused.len()), (0, 1));
    // The file is not adopted again over it either.
    assert!(matches!(home.adopt(), Err(ShelfError::Record { .. })));
    fs::remove_file(&record).unwrap();
    symlink("/dev/zero", &record).unwrap();
    assert!(matches!(home.shelf.record_ambient(&home.file()), Err(ShelfError::System { .. })));
    fs::remove_file(&record).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &record, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert!(matches!(home.shelf.record_ambient(&home.file()), Err(ShelfError::System { .. })));
}
