//! Tokens: where each comes from, and which are refused.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use rootward_core::Shown;

use super::secret_file;
use crate::ground::Ground;
use crate::message::{self, Hinted};
use crate::settings::TokenFrom;

/// The shortest token, in characters.
const SHORTEST: usize = 32;
const LONGEST: usize = 4096;

/// A generated token's randomness, in bytes.
const GENERATED: usize = 32;

/// The file of the generated token, in the state directory.
const FILE: &str = "http-token";

/// Whether other machines can reach the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reach {
    Loopback,
    Beyond,
}

/// The token of a principal.
pub(super) fn read_ambient(ground: &Ground, from: &TokenFrom, reach: Reach) -> Result<String> {
    match from {
        TokenFrom::File(path) => {
            let bytes = secret_file::TOKEN.read_ambient(ground, path)?;
            checked(&bytes).map_err(|why| refused(&format!("token file `{}`", Shown::new(path)), why))
        }
        TokenFrom::Variable(name) => {
            let shown = format!("variable `{}`", Shown::new(name));
            let value = ground
                .environment
                .get(name)
                .ok_or_else(|| anyhow!("{shown} is not set, but the settings say that it holds a token"))?;
            checked(value.as_encoded_bytes()).map_err(|why| refused(&shown, why))
        }
        // SECURITY: nobody on another machine sees what is shown here, so the token would have to be sent some other
        // way
        // (test: beyond_loopback_a_token_must_be_given)
        TokenFrom::Generated if reach == Reach::Beyond => {
            let says = "a token is required, because other machines can reach this address".to_owned();
            Err(Hinted { says, hint: HOW_TO_MAKE.to_owned() }.into())
        }
        TokenFrom::Generated => generated_ambient(ground),
    }
}

const HOW_TO_MAKE: &str =
    "make one with `(umask 077 && openssl rand -hex 32 > FILE)`, and pass `--token-file FILE` or set `ROOTWARD_TOKEN`";

fn refused(shown: &str, why: &str) -> anyhow::Error {
    Hinted { says: format!("{shown}: {why}"), hint: HOW_TO_MAKE.to_owned() }.into()
}

/// A token from a file or a variable, without the line ending.
fn checked(bytes: &[u8]) -> Result<String, &'static str> {
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let text = std::str::from_utf8(text).map_err(|_| "the token is not ASCII")?;
    if text.chars().any(char::is_whitespace) {
        return Err("the token has whitespace in it");
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("the token is not ASCII");
    }
    match text.len() {
        SHORTEST..=LONGEST => Ok(text.to_owned()),
        ..SHORTEST => Err("the token is shorter than 32 characters"),
        _ => Err("the token is longer than 4096 characters"),
    }
}

/// The token that was generated before, or a new one, which is shown once.
fn generated_ambient(ground: &Ground) -> Result<String> {
    let Some(state) = &ground.directories.state else {
        let says = "no place for a token".to_owned();
        let hint = "set `XDG_STATE_HOME` or `HOME`, or pass `--token-file FILE`".to_owned();
        return Err(Hinted { says, hint }.into());
    };
    let path = state.join(FILE);
    let shown = Shown::new(&path).to_string();
    match write_new_ambient(state, &path) {
        Ok(token) => {
            message::line(&format!(
                "a token was generated and saved in `{shown}`; it is shown this once:\n\n  {token}\n"
            ));
            Ok(token)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let token = read_ambient(ground, &TokenFrom::File(path), Reach::Loopback)?;
            message::line(&format!("the token is in `{shown}`"));
            Ok(token)
        }
        Err(error) => Err(error).with_context(|| format!("token file `{shown}` cannot be written")),
    }
}

#[expect(clippy::disallowed_methods, reason = "Rootward's own file")]
fn write_new_ambient(state: &Path, path: &Path) -> std::io::Result<String> {
    DirBuilder::new().recursive(true).mode(0o700).create(state)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let mut random = [0; GENERATED];
    getrandom::fill(&mut random).map_err(std::io::Error::other)?;
    let token = random.iter().fold(String::new(), |token, byte| token + &format!("{byte:02x}"));
    file.write_all(format!("{token}\n").as_bytes())?;
    file.sync_all()?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_token_may_be() {
        let good = "x".repeat(SHORTEST);
        for (text, expect) in [
            (good.clone(), Ok(good.clone())),
            (format!("{good}\n"), Ok(good.clone())),
            (format!("{good}\r\n"), Ok(good.clone())),
            (format!("{good}\n\n"), Err("the token has whitespace in it")),
            (format!("{good} {good}"), Err("the token has whitespace in it")),
            (format!("{good}\u{e9}"), Err("the token is not ASCII")),
            (format!("{good}\u{1}"), Err("the token is not ASCII")),
            ("x".repeat(SHORTEST - 1), Err("the token is shorter than 32 characters")),
            (String::new(), Err("the token is shorter than 32 characters")),
            ("x".repeat(LONGEST + 1), Err("the token is longer than 4096 characters")),
        ] {
            assert_eq!(checked(text.as_bytes()), expect, "{text:?}");
        }
    }
}
