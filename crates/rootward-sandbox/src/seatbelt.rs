//! The same confinement as a text profile for macOS's `sandbox-exec`.
//!
//! It has never been run on a Mac. The tests check the text: everything is denied first, each place gets exactly its
//! access, closed places come after open ones (the last matching rule decides), and no path can end its string.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use rootward_core::{Access, RootKind, Shown};
use thiserror::Error;

use crate::options::Network;

/// A place and the access that is given or taken away there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeatbeltPlace {
    /// Its resolved path: `/private/tmp`, not `/tmp`.
    pub path: PathBuf,
    /// The access.
    pub access: Access,
    /// Whether it includes what lies below.
    pub kind: RootKind,
}

/// Why a profile cannot be written.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SeatbeltError {
    /// The profile language cannot express the path.
    #[error("`{}` cannot be written in a macOS profile", Shown::new(.0))]
    Unwritable(PathBuf),
    /// There would be no outside.
    #[error("`{}` leaves nothing outside to protect", Shown::new(.0))]
    WholeDisk(PathBuf),
}

/// What every program on macOS needs: the loader's caches, the system's own services and devices.
const RUNTIME: &str = "(version 1)\n\
                       (deny default)\n\
                       (import \"system.sb\")\n\
                       (allow process-fork)\n\
                       (allow signal (target same-sandbox))\n\
                       (allow sysctl-read)\n\
                       (allow file-read-metadata)\n";

/// The profile: `open` places, then `closed` ones, which may lie below.
pub fn profile(open: &[SeatbeltPlace], closed: &[SeatbeltPlace], network: Network) -> Result<String, SeatbeltError> {
    let mut text = RUNTIME.to_owned();
    for place in open {
        // SECURITY: same as on Linux (test: a_profile_for_the_whole_disk_is_refused)
        if place.path.parent().is_none() {
            return Err(SeatbeltError::WholeDisk(place.path.clone()));
        }
        rules(&mut text, "allow", place)?;
    }
    for place in closed {
        rules(&mut text, "deny", place)?;
    }
    if network == Network::On {
        // Internet only: unix sockets reach agents and container engines.
        text.push_str(
            "(allow network-outbound (remote ip))\n(allow network-inbound (local ip))\n(allow system-socket)\n",
        );
    }
    Ok(text)
}

/// One rule for each kind of access.
fn rules(text: &mut String, verb: &str, place: &SeatbeltPlace) -> Result<(), SeatbeltError> {
    let shape = match place.kind {
        RootKind::Directory => "subpath",
        RootKind::File => "literal",
    };
    let quoted = quoted(&place.path)?;
    let operations = [
        (Access::READ, "file-read*"),
        (Access::WRITE, "file-write-create file-write-data file-write-mode file-write-times"),
        (Access::DELETE, "file-write-unlink"),
        (Access::EXECUTE, "process-exec*"),
    ];
    for (access, operation) in operations {
        if place.access.contains(access) {
            // Writing to a string does not fail.
            let _ = writeln!(text, "({verb} {operation} ({shape} {quoted}))");
        }
    }
    Ok(())
}

/// A path as a string of the profile language.
fn quoted(path: &Path) -> Result<String, SeatbeltError> {
    let unwritable = || SeatbeltError::Unwritable(path.to_owned());
    let text = path.to_str().filter(|_| path.is_absolute()).ok_or_else(unwritable)?;
    // SECURITY: a name that ends the string could add its own rules (test: no_name_ends_its_string)
    if text.chars().any(char::is_control) {
        return Err(unwritable());
    }
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str, access: Access) -> SeatbeltPlace {
        SeatbeltPlace { path: path.into(), access, kind: RootKind::Directory }
    }

    #[test]
    fn everything_is_denied_first_and_each_access_gives_its_own() {
        let text = profile(&[place("/p", Access::READ)], &[], Network::Off).unwrap();
        assert!(text.starts_with("(version 1)\n(deny default)\n"));
        assert!(text.ends_with("(allow file-read* (subpath \"/p\"))\n"), "{text}");
        assert!(!text.contains("file-write") && !text.contains("process-exec") && !text.contains("network"));
        let text = profile(&[place("/p", Access::ALL)], &[], Network::On).unwrap();
        for operation in ["file-write-create", "file-write-unlink", "process-exec*", "network-outbound"] {
            assert!(text.contains(operation), "{operation}");
        }
        let adds = profile(&[place("/p", Access::READ | Access::WRITE)], &[], Network::Off).unwrap();
        assert!(!adds.contains("file-write-unlink"));
    }

    #[test]
    fn what_is_closed_comes_last() {
        let text = profile(&[place("/p", Access::ALL)], &[place("/p/.ssh", Access::ALL)], Network::Off).unwrap();
        let (open, closed) = (text.rfind("(allow file-read*"), text.find("(deny file-read* (subpath \"/p/.ssh\"))"));
        assert!(open.unwrap() < closed.unwrap(), "{text}");
    }

    #[test]
    fn a_file_rule_covers_only_the_file() {
        let file = SeatbeltPlace { kind: RootKind::File, ..place("/p/notes", Access::READ) };
        assert!(profile(&[file], &[], Network::Off).unwrap().contains("(literal \"/p/notes\")"));
    }

    #[test]
    fn no_name_ends_its_string() {
        let text = profile(&[place("/p\")(allow default)(\"\\", Access::READ)], &[], Network::Off).unwrap();
        assert!(text.contains(r#"(subpath "/p\")(allow default)(\"\\")"#), "{text}");
        for path in ["/p\n(allow default)", "relative", "/p\u{7f}"] {
            let refused = profile(&[place(path, Access::READ)], &[], Network::Off);
            assert_eq!(refused, Err(SeatbeltError::Unwritable(path.into())));
        }
    }

    #[test]
    fn a_profile_for_the_whole_disk_is_refused() {
        let refused = profile(&[place("/", Access::READ)], &[], Network::Off);
        assert_eq!(refused, Err(SeatbeltError::WholeDisk("/".into())));
    }
}
