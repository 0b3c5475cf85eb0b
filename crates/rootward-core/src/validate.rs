//! Who may name which roots.
//!
//! The user and the operator may name anything. A client may relay a model that was manipulated, so it cannot name a
//! system directory or secret place. A saved choice can only if the user forced it.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::env::Directories;
use crate::material::{Material, WritableRecord};
use crate::places::SECRET;
use crate::root::Origin;
use crate::style::PathStyle;
use crate::windows;

/// Why a place cannot be shared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
pub enum Unshareable {
    /// `/`, or the top of a drive.
    #[error("the top of the file system contains every system and secret place")]
    Top,
    /// A system directory, or something in it.
    #[error("in `{0}`, which belongs to the system")]
    System(&'static str),
    /// Windows: a share that only administrators see (`c$`).
    #[error("an administrative share belongs to the system")]
    AdministrativeShare,
    /// The directory that contains all homes.
    #[error("`{0}` contains the homes of all users")]
    Homes(&'static str),
    /// Another user's home.
    #[error("in the home of another user")]
    OtherHome,
    /// A secret place, or something in it.
    #[error("in `{0}`, which holds secrets")]
    Secret(&'static str),
    /// A relative path, which cannot be judged.
    #[error("not an absolute path")]
    Relative,
}

/// Whether a saved choice may name places that a client may not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Store {
    Judged,
    Forced,
}

/// The settings for judging a root.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Validation {
    homes: Vec<PathBuf>,
    store: Store,
    record: Option<WritableRecord>,
}

impl Validation {
    /// `home` is the user's own; without it, every home counts as another user's.
    pub fn new(home: Option<PathBuf>) -> Validation {
        Validation { homes: home.into_iter().collect(), store: Store::Judged, record: None }
    }

    /// The user's own home, and the record of what confined commands could write.
    pub fn of(directories: &Directories) -> Validation {
        Validation { record: directories.writable_record(), ..Validation::new(directories.home.clone()) }
    }

    /// What confined commands could write, according to the current record. If the record cannot be read, nothing is
    /// trusted.
    pub fn material_ambient(&self) -> Material {
        let Some(record) = &self.record else { return Material::default() };
        record.read_ambient().unwrap_or_else(|_| Material::everything())
    }

    /// Adds another spelling of the user's own home: its resolved path, if `/home` or the home is a link (`/var/home`
    /// on some systems).
    #[must_use]
    pub fn with_home(mut self, home: PathBuf) -> Validation {
        self.homes.push(home);
        self
    }

    /// Lets a saved choice name any place (`--force`). A client still may not.
    #[must_use]
    pub fn forced(self) -> Validation {
        Validation { store: Store::Forced, ..self }
    }

    /// Whether this origin may name this path.
    ///
    /// This does not follow links or `..`: the caller asks twice, for the path as named and for the resolved place.
    pub fn judge(&self, origin: Origin, path: &Path) -> Result<(), Unshareable> {
        match origin {
            Origin::Flag | Origin::Env | Origin::Config | Origin::Fallback => Ok(()),
            Origin::Store if self.store == Store::Forced => Ok(()),
            Origin::Store | Origin::Client => {
                let homes: Vec<&[u8]> = self.homes.iter().map(|home| home.as_os_str().as_bytes()).collect();
                judge_place(path.as_os_str().as_bytes(), &homes, PathStyle::NATIVE)
            }
        }
    }
}

/// System directories at the top, plain and, on macOS, below `/private`.
const SYSTEM: &[(&str, &str)] = &[
    ("etc", "/etc"),
    ("usr", "/usr"),
    ("bin", "/bin"),
    ("sbin", "/sbin"),
    ("lib", "/lib"),
    ("lib32", "/lib32"),
    ("lib64", "/lib64"),
    ("libx32", "/libx32"),
    ("libexec", "/libexec"),
    ("boot", "/boot"),
    ("dev", "/dev"),
    ("proc", "/proc"),
    ("sys", "/sys"),
    ("run", "/run"),
    ("var", "/var"),
    ("System", "/System"),
];

/// Directories that contain homes. `/usr/home` is used by the BSDs.
const HOMES: &[(&[&str], &str)] =
    &[(&["home"], "/home"), (&["Users"], "/Users"), (&["var", "home"], "/var/home"), (&["usr", "home"], "/usr/home")];

/// Temporary directories in `/var`.
const TEMPORARY: &[&[&str]] = &[&["var", "tmp"], &["var", "folders"]];

/// System directories at the top of any drive.
const WINDOWS_SYSTEM: &[&str] = &[
    "Windows",
    "Program Files",
    "Program Files (x86)",
    "ProgramData",
    "Recovery",
    "Boot",
    "EFI",
    "PerfLogs",
    "MSOCache",
    "Config.Msi",
    "System Volume Information",
    "$Recycle.Bin",
    "$WinREAgent",
    "$SysReset",
];

/// Directories of a drive that contain homes; the second is the old name of the first.
const WINDOWS_HOMES: &[&str] = &["Users", "Documents and Settings"];

/// Judges a place for an origin that may not name every place.
pub(crate) fn judge_place(path: &[u8], homes: &[&[u8]], style: PathStyle) -> Result<(), Unshareable> {
    let names = components(path, style).ok_or(Unshareable::Relative)?;
    // SECURITY: check before homes: the user's own home does not open its secret places (test: secret)
    if let Some(place) = SECRET.iter().find(|place| occurs(place, &names)) {
        return Err(Unshareable::Secret(place));
    }
    let mut homes = homes.iter().filter_map(|home| components(home, style));
    let own = homes.find(|home| starts_with(&names, home, style));
    match style {
        PathStyle::Posix => judge_posix(&names, own.as_deref()),
        PathStyle::Windows => judge_windows(&names, own.as_deref()),
    }
}

/// `home` is set if the place lies in it.
fn judge_posix(names: &[&[u8]], home: Option<&[&[u8]]>) -> Result<(), Unshareable> {
    let Some(top) = names.first() else {
        return Err(Unshareable::Top);
    };
    let below = |place: &[&str]| {
        names.len() >= place.len() && place.iter().zip(names).all(|(one, name)| one.as_bytes() == *name)
    };
    for (homes, shown) in HOMES {
        if below(homes) {
            return match home {
                _ if names.len() == homes.len() => Err(Unshareable::Homes(shown)),
                // SECURITY: a "home" that is `/` or `/home` would make every other home the user's own
                // (test: odd_homes)
                Some(home) if home.len() > homes.len() => Ok(()),
                _ => Err(Unshareable::OtherHome),
            };
        }
    }
    if below(&["root"]) {
        return if home.is_some_and(|home| !home.is_empty()) { Ok(()) } else { Err(Unshareable::OtherHome) };
    }
    // Service accounts have homes anywhere in `/var`. A home elsewhere in the system (`/usr/sbin`, `/dev`: passwd(5) on
    // many systems) opens nothing.
    let served = below(&["var"]) && home.is_some_and(|home| home.len() > 1);
    if served || TEMPORARY.iter().any(|place| below(place)) {
        return Ok(());
    }
    if names == [b"private"] {
        return Err(Unshareable::System("/private"));
    }
    match SYSTEM.iter().find(|(name, _)| name.as_bytes() == *top) {
        Some((_, shown)) => Err(Unshareable::System(shown)),
        None => Ok(()),
    }
}

/// `names` starts with the drive, or with an empty name, the host and the share.
fn judge_windows(names: &[&[u8]], home: Option<&[&[u8]]>) -> Result<(), Unshareable> {
    let is = |name: &[u8], known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    match names {
        [b"", _, share, ..] => {
            if share.ends_with(b"$") {
                Err(Unshareable::AdministrativeShare)
            } else {
                Ok(())
            }
        }
        [_drive, top, below @ ..] => {
            if let Some(homes) = WINDOWS_HOMES.iter().find(|known| is(top, known)) {
                return match home {
                    _ if below.is_empty() => Err(Unshareable::Homes(homes)),
                    Some(home) if home.len() > 2 => Ok(()),
                    _ => Err(Unshareable::OtherHome),
                };
            }
            match WINDOWS_SYSTEM.iter().find(|known| is(top, known)) {
                Some(known) => Err(Unshareable::System(known)),
                None => Ok(()),
            }
        }
        _ => Err(Unshareable::Top),
    }
}

/// The names in an absolute path, without empty ones and `.`; macOS's `/private/var` becomes `/var`.
fn components(path: &[u8], style: PathStyle) -> Option<Vec<&[u8]>> {
    let is_kept = |name: &&[u8]| !matches!(*name, b"" | b".");
    match style {
        PathStyle::Posix => {
            let mut names: Vec<&[u8]> = path.strip_prefix(b"/")?.split(|byte| *byte == b'/').filter(is_kept).collect();
            if matches!(names.as_slice(), [b"private", b"etc" | b"var" | b"tmp", ..]) {
                names.remove(0);
            }
            Some(names)
        }
        PathStyle::Windows => {
            if windows::read(path) != Ok(windows::Kind::Absolute) {
                return None;
            }
            let share = path.starts_with(br"\\").then_some(b"".as_slice());
            let names = path.split(|byte| windows::is_separator(*byte)).filter(is_kept);
            Some(share.into_iter().chain(names).collect())
        }
    }
}

fn starts_with(names: &[&[u8]], place: &[&[u8]], style: PathStyle) -> bool {
    let same = |one: &[u8], other: &[u8]| match (style, std::str::from_utf8(one), std::str::from_utf8(other)) {
        (PathStyle::Windows, Ok(one), Ok(other)) => windows::same_name(one, other),
        _ => one == other,
    };
    names.len() >= place.len() && names.iter().zip(place).all(|(one, other)| same(one, other))
}

/// Whether the components of `place` occur in sequence in `names`.
fn occurs(place: &str, names: &[&[u8]]) -> bool {
    let count = place.split('/').count();
    names
        .windows(count)
        .any(|some| place.split('/').zip(some).all(|(one, name)| one.as_bytes().eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use PathStyle::{Posix, Windows};

    #[track_caller]
    fn check(home: &str, style: PathStyle, paths: &[&str], expect: Result<(), Unshareable>) {
        for path in paths {
            assert_eq!(judge_place(path.as_bytes(), &[home.as_bytes()], style), expect, "{path}");
        }
    }

    #[test]
    fn posix() {
        let check = |paths: &[&str], expect| check("/home/me", Posix, paths, expect);
        check(
            &["/home/me", "/home/me/", "/home/me/src/app", "/tmp", "/tmp/x", "/srv/app", "/opt/x", "/mnt/data"],
            Ok(()),
        );
        check(&["/var/tmp", "/var/tmp/x", "/var/folders/ab/T", "/private/var/folders/ab/T", "/private/tmp/x"], Ok(()));
        check(
            &["/etc2", "/home2", "/home2/x", "/users/x", "/rooted", "/variable", "/private/x", "/srv/etc", "/libx"],
            Ok(()),
        );
        check(&["/", "//", "/."], Err(Unshareable::Top));
        for (_, shown) in SYSTEM {
            check(&[shown, &format!("{shown}/x/y"), &format!("/{shown}//")], Err(Unshareable::System(shown)));
        }
        check(&["/var/lib", "/var/tmp2", "/private/var", "/private/var/db"], Err(Unshareable::System("/var")));
        check(&["/private/etc/ssl"], Err(Unshareable::System("/etc")));
        check(&["/private", "/private/"], Err(Unshareable::System("/private")));
        check(&["/usr/local/src"], Err(Unshareable::System("/usr")));
        check(&["/home", "/home/"], Err(Unshareable::Homes("/home")));
        check(&["/Users"], Err(Unshareable::Homes("/Users")));
        check(&["/var/home"], Err(Unshareable::Homes("/var/home")));
        check(&["/home/other", "/home/mel", "/home/other/src", "/Users/me", "/var/home/me", "/root", "/root/x"], {
            Err(Unshareable::OtherHome)
        });
        check(&["home/me", "", "~"], Err(Unshareable::Relative));
    }

    #[test]
    fn secret() {
        let check = |paths: &[&str], place| check("/home/me", Posix, paths, Err(Unshareable::Secret(place)));
        check(&["/home/me/.ssh", "/home/me/.ssh/keys", "/srv/backup/.ssh", "/home/other/.ssh", "/srv/.SSH"], ".ssh");
        check(&["/home/me/.config/gh", "/home/me//.config/./gh/x"], ".config/gh");
        check(&["/home/me/.docker/config.json"], ".docker/config.json");
        check(&["/home/me/.config/rootward"], ".config/rootward");
        check(&["/Users/me/Library/Keychains/x"], "Library/Keychains");
        for path in ["/home/me/.sshd", "/home/me/.config", "/home/me/.config/ghost", "/home/me/gh", "/home/me/.docker"]
        {
            assert_eq!(judge_place(path.as_bytes(), &[b"/home/me"], Posix), Ok(()), "{path}");
        }
    }

    #[test]
    fn odd_homes() {
        check("/root", Posix, &["/root", "/root/x"], Ok(()));
        check("/root/sub", Posix, &["/root"], Err(Unshareable::OtherHome));
        check("/Users/me", Posix, &["/Users/me/x"], Ok(()));
        check("/var/home/me", Posix, &["/var/home/me", "/var/home/me/x"], Ok(()));
        check("/var/home/me", Posix, &["/var/home/other"], Err(Unshareable::OtherHome));
        check("/usr/home/me", Posix, &["/usr/home/me/x"], Ok(()));
        check("/var/lib/service", Posix, &["/var/lib/service/x", "/private/var/lib/service"], Ok(()));
        check("/var/lib/service", Posix, &["/var/lib/other"], Err(Unshareable::System("/var")));
        check("/home/group/me", Posix, &["/home/group/me/x"], Ok(()));
        check("/home/group/me", Posix, &["/home/group", "/home/group/other"], Err(Unshareable::OtherHome));
        for home in ["/", "/home", "", "home/me"] {
            check(home, Posix, &["/home/me"], Err(Unshareable::OtherHome));
            check(home, Posix, &["/"], Err(Unshareable::Top));
            check(home, Posix, &["/etc"], Err(Unshareable::System("/etc")));
            check(home, Posix, &["/var/x"], Err(Unshareable::System("/var")));
            check(home, Posix, &["/root"], Err(Unshareable::OtherHome));
        }
        check("/var", Posix, &["/var/x"], Err(Unshareable::System("/var")));
        check("/usr/sbin", Posix, &["/usr/sbin"], Err(Unshareable::System("/usr")));
        assert_eq!(judge_place(b"/home/me", &[], Posix), Err(Unshareable::OtherHome));
    }

    #[test]
    fn windows() {
        let check = |paths: &[&str], expect| check(r"C:\Users\Me", Windows, paths, expect);
        check(&[r"C:\Users\me", r"c:\users\ME\src", r"C:\dev", r"D:\x", r"C:\Windows2", r"\\server\share\x"], Ok(()));
        check(&[r"C:\Users\me\AppData\Local\Temp", r"\\wsl$\Ubuntu\home\me", r"C:\dev\Windows"], Ok(()));
        check(&[r"C:\", "d:/"], Err(Unshareable::Top));
        check(&[r"C:\Windows", r"c:\WINDOWS\System32", "D:/windows"], Err(Unshareable::System("Windows")));
        check(&[r"C:\Program Files (x86)\x"], Err(Unshareable::System("Program Files (x86)")));
        check(&[r"C:\Users", r"C:\users\"], Err(Unshareable::Homes("Users")));
        check(&[r"C:\Users\other", r"D:\Users\me", r"C:\Documents and Settings\me"], Err(Unshareable::OtherHome));
        check(&[r"C:\Users\me\.ssh", r"C:\x\.SSH\y"], Err(Unshareable::Secret(".ssh")));
        check(&[r"C:\Users\me\appdata\roaming\GNUPG"], Err(Unshareable::Secret("AppData/Roaming/gnupg")));
        check(&[r"\\server\c$", r"\\server\ADMIN$\x"], Err(Unshareable::AdministrativeShare));
        check(&[r"\Users\me", "C:x", r"\\?\C:\dev", "/dev", r"C:\Windows.", "dev"], Err(Unshareable::Relative));
        assert_eq!(judge_place(br"C:\Users\me", &[br"C:\"], Windows), Err(Unshareable::OtherHome));
        assert_eq!(judge_place(br"C:\Users\me", &[br"C:\Users"], Windows), Err(Unshareable::OtherHome));
    }

    #[test]
    fn origins_and_places() {
        let linked = Validation::new(Some(PathBuf::from("/home/me"))).with_home(PathBuf::from("/var/home/me"));
        for home in ["/home/me/src", "/var/home/me/src"] {
            assert_eq!(linked.judge(Origin::Client, Path::new(home)), Ok(()));
        }
        assert_eq!(linked.judge(Origin::Client, Path::new("/var/home/other")), Err(Unshareable::OtherHome));

        let judged = Validation::new(Some(PathBuf::from("/home/me")));
        let forced = judged.clone().forced();
        let etc = Path::new("/etc");
        let refused = Err(Unshareable::System("/etc"));
        for origin in [Origin::Flag, Origin::Env, Origin::Config, Origin::Fallback] {
            assert_eq!(judged.judge(origin, etc), Ok(()));
        }
        assert_eq!(judged.judge(Origin::Store, etc), refused);
        assert_eq!(forced.judge(Origin::Store, etc), Ok(()));
        assert_eq!(judged.judge(Origin::Client, etc), refused);
        assert_eq!(forced.judge(Origin::Client, etc), refused);
        assert_eq!(judged.judge(Origin::Client, Path::new("/home/me/src")), Ok(()));
        assert_eq!(Unshareable::Secret(".ssh").to_string(), "in `.ssh`, which holds secrets");
    }
}
