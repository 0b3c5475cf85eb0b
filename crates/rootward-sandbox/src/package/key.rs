//! Identifies a package: everything that decides what is installed, and the name of its directory in the store.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::command::{PackageCommand, Registry, Runner};

/// The maximum length of the readable part of a directory's name, in bytes. A file name can have 255.
const LONGEST_NAME: usize = 120;

/// A package as requested. Two command lines with the same key share an install.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Key {
    pub(crate) registry: Registry,
    /// Every runner has its own directory layout.
    pub(crate) runner: Runner,
    pub(crate) name: String,
    pub(crate) extras: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) options: Vec<(String, String)>,
    /// A hash of the registry settings in the environment. The same name may be another package in another registry.
    pub(crate) settings: Option<String>,
}

impl Key {
    /// The key of a command line. `settings` are the variables that configure the registry for the fetching program.
    // SECURITY: never use a package from one registry when another is configured
    // (test: another_registry_is_another_package)
    pub(crate) fn new(command: &PackageCommand, settings: &[(OsString, OsString)]) -> Key {
        let mut settings: Vec<(&OsStr, &OsStr)> = settings.iter().map(|(name, value)| (&**name, &**value)).collect();
        settings.sort_unstable();
        let mut text = Vec::new();
        for (name, value) in &settings {
            text.extend_from_slice(&[name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
        }
        Key {
            registry: command.registry,
            runner: command.runner,
            name: command.name.clone(),
            extras: command.extras.clone(),
            version: command.version.clone(),
            options: command.options.clone(),
            // Only a hash: a URL may contain a password.
            settings: (!settings.is_empty()).then(|| hash(&text)),
        }
    }

    /// Its directory, below the directory of all packages: a readable name and a hash of the whole key.
    pub(crate) fn directory(&self) -> PathBuf {
        let version = self.version.as_deref().unwrap_or_default();
        let at = if version.is_empty() || self.registry == Registry::PyPi { "" } else { "@" };
        let extras = self.extras.as_ref().map(|extras| format!("[{extras}]")).unwrap_or_default();
        let readable = safe(&format!("{}{extras}{at}{version}", self.name));
        // JSON makes the boundaries between the parts unambiguous.
        let words = serde_json::to_vec(self).unwrap_or_default();
        Path::new(self.registry.name()).join(format!("{readable}-{}", &hash(&words)[..16]))
    }
}

/// A text as part of a file name: `/` becomes `+`, which no package name contains, and unusual bytes are
/// percent-encoded.
fn safe(text: &str) -> String {
    let mut safe = String::new();
    for byte in text.bytes() {
        match byte {
            b'/' => safe.push('+'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'@' => safe.push(char::from(byte)),
            _ => drop(write!(safe, "%{byte:02x}")),
        }
        if safe.len() >= LONGEST_NAME {
            break;
        }
    }
    safe
}

/// The same in every build and on every machine.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(line: &str) -> Key {
        let mut words = line.split(' ').map(OsString::from);
        let program = words.next().unwrap();
        let command = PackageCommand::read(&program, &words.collect::<Vec<_>>()).unwrap();
        Key::new(&command, &[])
    }

    #[test]
    fn directories_are_readable_and_stay_the_same() {
        let check = |line: &str, expect: &str| assert_eq!(key(line).directory(), Path::new(expect), "{line}");
        check("npx -y @scope/name /srv", "npm/@scope+name-c6e4c7bb67d23e87");
        check("npx name@^1.2", "npm/name@%5e1.2-a94d5e09f112b7a2");
        check("uvx mcp[cli]>=1,<2", "pypi/mcp%5bcli%5d%3e%3d1%2c%3c2-ebe0b7759a648bc8");
        let long = key(&format!("npx name@{}", "1".repeat(4000))).directory();
        assert!(long.file_name().unwrap().len() < 200, "{long:?}");
    }

    #[test]
    fn whatever_decides_what_is_installed_decides_the_directory() {
        let lines = [
            "npx name",
            "npx name@1",
            "npx name@latest",
            "bunx name",
            "pnpm dlx name",
            "uvx name",
            "uvx name@1",
            "uvx name==1",
            "uvx name[a]",
            "uvx --with x name",
            "uvx --python 3.12 name",
            "pipx run name",
        ];
        let directories: std::collections::BTreeSet<PathBuf> = lines.iter().map(|line| key(line).directory()).collect();
        assert_eq!(directories.len(), lines.len(), "{directories:#?}");
        for (one, same) in [
            ("npx -y name /srv/a", "npx name --flag"),
            ("uvx name x", "/opt/uv/bin/uv tool run name y"),
            ("uvx name", "uvx --from name tool"),
        ] {
            assert_eq!(key(one), key(same), "{one}");
        }
    }

    #[test]
    fn another_registry_is_another_package() {
        let command = PackageCommand::read(OsStr::new("npx"), &["name".into()]).unwrap();
        let with = |pairs: &[(&str, &str)]| {
            let pairs: Vec<_> = pairs.iter().map(|(name, value)| (name.into(), value.into())).collect();
            Key::new(&command, &pairs).directory()
        };
        let (one, other) = ("https://me:pass@one.example", "https://other.example");
        assert_ne!(with(&[("npm_config_registry", one)]), with(&[("npm_config_registry", other)]));
        assert_ne!(with(&[]), with(&[("npm_config_registry", one)]));
        assert_eq!(with(&[("a", one), ("b", other)]), with(&[("b", other), ("a", one)]));
        assert!(!with(&[("npm_config_registry", one)]).to_str().unwrap().contains("pass"));
    }
}
