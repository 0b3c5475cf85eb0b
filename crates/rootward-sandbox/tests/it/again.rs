//! If the superuser runs the tests, runs all of them again as an ordinary user.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rootward_testkit::tree::is_superuser;

use crate::scene::{STAGE, finish, stage};

/// A user that owns nothing.
const NOBODY: u32 = 65534;

#[test]
fn everything_holds_for_an_ordinary_user() {
    if !is_superuser() {
        // All other tests have just run as an ordinary user.
        assert!(std::env::var_os(STAGE).is_some() || rustix::process::geteuid().as_raw() != 0);
        return;
    }
    let directory = tempfile::Builder::new().prefix("again-").tempdir().unwrap();
    let own = directory.path().join("own");
    fs::create_dir(&own).unwrap();
    chown(&own, Some(NOBODY), Some(NOBODY)).unwrap();
    let tests = directory.path().join("it");
    let program = directory.path().join("sandbox-stage");
    fs::copy(std::env::current_exe().unwrap(), &tests).unwrap();
    fs::copy(stage(), &program).unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(&tests);
    command.env(STAGE, &program).env("TMPDIR", &own).env("HOME", &own).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.args(["--skip", "everything_holds_for_an_ordinary_user"]).current_dir(&own);
    let run = finish(command.uid(NOBODY).gid(NOBODY));
    assert_eq!(run.code, Some(0), "{}\n{}", run.out, run.err);
    assert!(run.out.contains("a_hostile_child_is_held ... ok"), "{}", run.out);
}
