//! The environment of a confined command: a list of variables without secrets, and those that were named.
//!
//! If the value can contain a secret (a token in the URL of an index), it is checked, and passed on only if it cannot
//! contain one.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rootward_core::{Access, env};

use super::finding::{Findings, NeededAs, Trail};
use super::{OwnDirectories, PassedVariable, Profile, Surroundings};
use crate::package::Registry;

/// Passed on unchanged.
const PLAIN: &[&str] = &[
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_VERSION",
    "PYTHONUNBUFFERED",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "NODE_ENV",
];

/// The categories of a locale (locale(7)). Passed on if the value is a locale. Other names that begin with `LC_` are
/// not standard.
const LOCALES: &[&str] = &[
    "LC_ALL",
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "LC_ADDRESS",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_NAME",
    "LC_PAPER",
    "LC_TELEPHONE",
];

/// Passed on if the value is a plain URL.
const ADDRESSES: &[&str] = &[
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "npm_config_registry",
    "NPM_CONFIG_REGISTRY",
    "PIP_INDEX_URL",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
];

/// Passed on if the value is a list of hosts.
const HOSTS: &[&str] = &["no_proxy", "NO_PROXY"];

/// The common paths of index and registry URLs. Some hosts put a token into the path, so no other path is passed on.
const INDEXES: &[&str] = &["", "/simple", "/pypi", "/pypi/simple", "/pypi/web/simple", "/root/pypi/+simple", "/npm"];

/// Certificate paths: passed on, and the files they name are readable.
const CERTIFICATES: &[&str] = &[
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "PIP_CERT",
    "npm_config_cafile",
    "NPM_CONFIG_CAFILE",
    "GIT_SSL_CAINFO",
];

/// The files that variables name and programs read.
pub(super) fn seek_ambient(surroundings: &Surroundings<'_>, findings: &mut Findings) {
    for (name, value) in surroundings.variables {
        let certificates = name.to_str().is_some_and(|name| CERTIFICATES.contains(&name));
        if certificates && surroundings.is_its_own_ambient(Path::new(value)) {
            findings.seek_ambient(Path::new(value), Access::READ, NeededAs::Variable, &Trail::default());
        }
    }
}

/// Variables that a command gets with its own value.
const PRIVATE: [&str; 2] = ["HOME", "TMPDIR"];

pub(super) fn add(
    variables: &[(OsString, OsString)],
    passed: &[PassedVariable],
    own: &OwnDirectories,
    profile: &mut Profile,
) {
    for (name, value) in variables {
        // SECURITY: everything else in the environment (tokens, keys) is dropped unless it is named
        // (test: secrets_in_the_environment_are_passed_only_when_named, values_that_can_hold_a_secret_are_not_passed)
        if is_passed(name, value, passed) {
            profile.sets(name, value);
        }
    }
    for (name, place) in PRIVATE.into_iter().zip([&own.home, &own.temporary]) {
        if !is_named(OsStr::new(name), passed) {
            profile.sets(name, place);
        }
    }
    profile.needs_of_own(&own.home, own.home_access);
    profile.needs_of_own(&own.temporary, Access::ALL);
}

/// The names of the variables that a confined command does not get, in the order of the environment; never their
/// values. Omits those for which it has its own value, and Rootward's own settings.
pub fn withheld_variables<'v>(
    variables: impl IntoIterator<Item = (&'v OsStr, &'v OsStr)>,
    passed: &[PassedVariable],
) -> Vec<OsString> {
    let is_missed = |name: &OsStr| {
        !PRIVATE.iter().any(|private| name == *private) && !name.as_bytes().starts_with(env::PREFIX.as_bytes())
    };
    let withheld = variables.into_iter().filter(|(name, value)| is_missed(name) && !is_passed(name, value, passed));
    withheld.map(|(name, _)| name.to_owned()).collect()
}

/// The passed variables that configure this registry for a fetching program.
pub(crate) fn fetching_variables(
    variables: &[(OsString, OsString)],
    passed: &[PassedVariable],
    registry: Registry,
) -> Vec<(OsString, OsString)> {
    let is_about = |name: &OsStr| {
        let prefixes: &[&str] = match registry {
            Registry::Npm => &["npm_config_", "NPM_CONFIG_"],
            Registry::PyPi => &["UV_", "PIP_"],
        };
        prefixes.iter().any(|prefix| name.as_bytes().starts_with(prefix.as_bytes()))
            && !CERTIFICATES.iter().any(|known| name == *known)
    };
    variables.iter().filter(|(name, value)| is_about(name) && is_passed(name, value, passed)).cloned().collect()
}

fn is_passed(name: &OsStr, value: &OsStr, passed: &[PassedVariable]) -> bool {
    let is_known = |name: &str| PLAIN.contains(&name) || CERTIFICATES.contains(&name) || holds_no_secret(name, value);
    is_named(name, passed) || name.to_str().is_some_and(is_known)
}

fn is_named(name: &OsStr, passed: &[PassedVariable]) -> bool {
    passed.iter().any(|passed| passed.passes(name))
}

/// Whether a variable that may contain a secret has a value that cannot.
fn holds_no_secret(name: &str, value: &OsStr) -> bool {
    let Some(value) = value.to_str() else { return false };
    let judged: fn(&str) -> bool = match name {
        _ if LOCALES.contains(&name) => is_locale,
        _ if ADDRESSES.contains(&name) => is_address,
        _ if HOSTS.contains(&name) => |value| value.split(',').all(|host| is_host_or_network(host.trim())),
        _ => return false,
    };
    value.is_empty() || judged(value)
}

/// `C`, `en_US.UTF-8`, `sr_RS.utf8@latin`: with a length limit for each part.
fn is_locale(value: &str) -> bool {
    let is = |part: &str, most: usize| {
        (1..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let (value, modifier) = value.split_once('@').unwrap_or((value, "x"));
    let (value, charset) = value.split_once('.').unwrap_or((value, "x"));
    let (language, territory) = value.split_once('_').unwrap_or((value, "x"));
    is(language, 8) && is(territory, 3) && is(charset, 12) && is(modifier, 12)
}

/// A scheme, a host, a port and the path of an index; no user, password or query.
fn is_address(value: &str) -> bool {
    let (scheme, rest) = value.split_once("://").unwrap_or(("http", value));
    let (host, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
    let path = path.strip_suffix('/').unwrap_or(path);
    matches!(scheme, "http" | "https" | "socks4" | "socks4a" | "socks5" | "socks5h")
        && is_host(host)
        && INDEXES.contains(&path)
}

/// A host name or address, with or without a port.
fn is_host(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte))
}

/// What else a list of hosts may contain: `*`, `*.example.com`, `10.0.0.0/8`.
fn is_host_or_network(value: &str) -> bool {
    let (host, length) = value.split_once('/').unwrap_or((value, "0"));
    let host = host.strip_prefix('*').unwrap_or(host);
    (host.is_empty() || is_host(host)) && length.len() <= 3 && length.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn withheld_variables_are_listed_by_name() {
        let variables = [
            ("PATH", "/bin"),
            ("HOME", "/home/me"),
            ("TMPDIR", "/tmp"),
            ("ROOTWARD_TOKEN", "s3cr3t"),
            ("GITHUB_TOKEN", "s3cr3t"),
            ("LC_ALL", "C.UTF-8"),
            ("LC_TOKEN", "x"),
            ("PIP_INDEX_URL", "https://me:pass@example.com/simple"),
            ("SSL_CERT_FILE", "/etc/x"),
            ("AWS_REGION", "x"),
        ];
        let check = |passed: &[&str], expect: &[&str]| {
            let passed: Vec<PassedVariable> = passed.iter().map(|text| PassedVariable::read(text).unwrap()).collect();
            let variables = variables.iter().map(|(name, value)| (OsStr::new(*name), OsStr::new(*value)));
            assert_eq!(withheld_variables(variables, &passed), expect, "{passed:?}");
        };
        check(&[], &["GITHUB_TOKEN", "LC_TOKEN", "PIP_INDEX_URL", "AWS_REGION"]);
        check(&["AWS_*", "GITHUB_TOKEN", "PIP_INDEX_URL"], &["LC_TOKEN"]);
    }

    #[test]
    fn values_that_can_hold_a_secret_are_not_passed() {
        let check = |name: &str, value: &str, expect: bool| {
            assert_eq!(holds_no_secret(name, OsStr::new(value)), expect, "{name}={value}");
        };
        for locale in
            ["", "C", "POSIX", "C.UTF-8", "en_US.UTF-8", "de_DE@euro", "sr_RS.utf8@latin", "zh_CN.GB18030", "eo"]
        {
            check("LC_ALL", locale, true);
            check("LC_CTYPE", locale, true);
            check("LC_TOKEN", locale, false);
        }
        for other in [
            "ghp_16C7e42F292c6912E7",
            "sk-abcdefghijklmnop",
            "/home/me/locales/C",
            "a b",
            "en_US.UTF-8;x",
            "en_US.",
            "_",
        ] {
            check("LC_ALL", other, false);
        }
        for address in [
            "https://index.example.com/simple",
            "https://index.example.com/simple/",
            "https://mirrors.example.com/pypi/simple/",
            "https://registry.example.com/",
            "https://registry.example.com",
            "http://127.0.0.1:8080",
            "http://[::1]:8080/simple",
            "https://devpi.example.com/root/pypi/+simple/",
            "proxy:3128",
            "socks5h://proxy:1080",
        ] {
            check("PIP_INDEX_URL", address, true);
            check("https_proxy", address, true);
            check("PIP_EXTRA_INDEX_URL", address, false);
        }
        for address in [
            "https://dl.example.io/s3cr3tt0k3n/org/repo/python/simple/",
            "https://example.com/s3cr3t/simple",
            "https://example.com/simple/s3cr3t",
            "https://me:pass@example.com/simple",
            "https://token@example.com",
            "https://example.com/simple?token=s3cr3t",
            "https://example.com/simple#s3cr3t",
            "https://example.com?s3cr3t",
            "https://example.com/simple//",
            "https://example.com/%73imple",
            "file:///home/me/index",
            "https:///simple",
            "name=https://example.com/simple",
        ] {
            for name in ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "npm_config_registry", "HTTPS_PROXY"] {
                check(name, address, false);
            }
        }
        for hosts in ["localhost,127.0.0.1,::1", "*", ".example.com, *.corp,10.0.0.0/8", "[::1]:80", "a,"] {
            check("no_proxy", hosts, true);
        }
        for hosts in ["http://me:pass@host", "me@host", "host/path", "10.0.0.0/8/9", "a?b"] {
            check("NO_PROXY", hosts, false);
        }
        let broken = OsStr::from_bytes(b"\xff");
        assert!(!holds_no_secret("LC_ALL", broken) && !holds_no_secret("PIP_INDEX_URL", broken));
    }
}
