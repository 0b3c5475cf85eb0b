//! The environment of a confined command: a list of names that hold no secrets, and whatever was named.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use rootward_core::Access;

use super::finding::{Findings, Trail, Why};
use super::{Private, Profile, Surroundings};

/// Passed on as they are.
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

/// Passed on unless they hold a name and password, as an address may before its `@`.
const ADDRESSES: &[&str] = &[
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "npm_config_registry",
    "NPM_CONFIG_REGISTRY",
    "PIP_INDEX_URL",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
];

/// Passed on, and what they name is readable: where certificates are.
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

/// What variables name and programs read.
pub(super) fn seek_ambient(surroundings: &Surroundings<'_>, findings: &mut Findings) {
    for (name, value) in surroundings.variables {
        let certificates = name.to_str().is_some_and(|name| CERTIFICATES.contains(&name));
        if certificates && surroundings.is_its_own_ambient(Path::new(value)) {
            findings.seek_ambient(Path::new(value), Access::READ, Why::Variable, &Trail::default());
        }
    }
}

pub(super) fn add(variables: &[(OsString, OsString)], passed: &[OsString], private: &Private, profile: &mut Profile) {
    for (name, value) in variables {
        let named = passed.contains(name);
        let Some(text) = name.to_str() else {
            if named {
                profile.variables.push((name.clone(), value.clone()));
            }
            continue;
        };
        let address = ADDRESSES.contains(&text) && !value.as_encoded_bytes().contains(&b'@');
        // SECURITY: whatever else the environment holds (tokens, keys) stays here unless it is named
        // (test: secrets_in_the_environment_are_passed_only_when_named)
        if named || PLAIN.contains(&text) || text.starts_with("LC_") || address || CERTIFICATES.contains(&text) {
            profile.sets(text, value);
        }
    }
    for (name, place) in [("HOME", private.home()), ("TMPDIR", private.temporary())] {
        if !passed.iter().any(|passed| passed == OsStr::new(name)) {
            profile.sets(name, place);
        }
    }
    profile.needs_of_own(private.home(), Access::ALL);
    profile.needs_of_own(private.temporary(), Access::ALL);
}
