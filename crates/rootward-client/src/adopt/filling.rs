//! Fills in the variables that a client would fill in, to start a server as the client does.

use rootward_core::env::Environment;
use thiserror::Error;

use crate::import::{Around, Form, Syntax};

/// A variable whose value only the client knows.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("only the client knows `{}`", rootward_core::Shown::new(.0))]
pub struct Unfilled(pub String);

/// A text of an entry as the client passes it on.
pub fn fill(text: &str, form: Form, environment: &Environment, around: &Around) -> Result<String, Unfilled> {
    let syntax = form.syntax();
    let (open, names) = match syntax {
        Syntax::Nothing => return Ok(text.to_owned()),
        Syntax::Shell | Syntax::Gemini | Syntax::Editor => ("${", "$"),
        Syntax::Opencode => ("{", "{"),
    };
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(names) {
        filled.push_str(&rest[..start]);
        rest = &rest[start..];
        let braced = rest.strip_prefix(open).and_then(|behind| behind.split_once('}'));
        let bare = rest[1..].find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let bare = &rest[1..bare.map_or(rest.len(), |end| end + 1)];
        match braced {
            Some((name, behind)) => {
                let written = &rest[..rest.len() - behind.len()];
                filled.push_str(&value(name, written, syntax, environment, around)?);
                rest = behind;
            }
            None if syntax == Syntax::Gemini && !bare.is_empty() => {
                match environment.get(bare).and_then(|value| value.to_str()) {
                    Some(value) => filled.push_str(value),
                    None => filled.push_str(&rest[..=bare.len()]),
                }
                rest = &rest[1 + bare.len()..];
            }
            None => {
                filled.push_str(names);
                rest = &rest[names.len()..];
            }
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

fn value(
    name: &str,
    written: &str,
    syntax: Syntax,
    environment: &Environment,
    around: &Around,
) -> Result<String, Unfilled> {
    let unfilled = || Unfilled(written.to_owned());
    let variable = |name: &str| environment.get(name).and_then(|value| value.to_str()).map(str::to_owned);
    let path = |path: &std::path::Path| path.to_str().map(str::to_owned);
    match (syntax, name.split_once(":-"), name.strip_prefix("env:")) {
        (Syntax::Shell | Syntax::Gemini, Some((name, otherwise)), _) => {
            Ok(variable(name).unwrap_or_else(|| otherwise.to_owned()))
        }
        (Syntax::Shell, None, _) => variable(name).ok_or_else(unfilled),
        (Syntax::Gemini, None, _) => Ok(variable(name).unwrap_or_else(|| written.to_owned())),
        (Syntax::Opencode, _, Some(name)) => Ok(variable(name).unwrap_or_default()),
        // Braces are no variable by themselves.
        (Syntax::Opencode, ..) if !name.starts_with("file:") => Ok(written.to_owned()),
        (Syntax::Editor, _, Some(name)) => variable(name).ok_or_else(unfilled),
        (Syntax::Editor, ..) => {
            let project = around.project.as_deref();
            let known = match name {
                "userHome" => around.home.as_deref().and_then(path),
                "workspaceFolder" => project.and_then(path),
                "workspaceFolderBasename" => project.and_then(|project| path(project.file_name()?.as_ref())),
                "pathSeparator" | "/" => Some("/".to_owned()),
                _ => None,
            };
            known.ok_or_else(unfilled)
        }
        (Syntax::Opencode | Syntax::Nothing, ..) => Err(unfilled()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_as_each_client_does() {
        let environment: Environment = [("KEY", "abc"), ("HOME", "/h")].into();
        let around = Around { home: Some("/h".into()), project: Some("/p/app".into()) };
        let check = |form, text: &str, expect: Result<&str, &str>| {
            let filled = fill(text, form, &environment, &around);
            assert_eq!(filled, expect.map(str::to_owned).map_err(|name| Unfilled(name.to_owned())), "{text}");
        };
        check(Form::ClaudeDesktop, "${KEY} $KEY", Ok("${KEY} $KEY"));
        check(Form::ClaudeState, "a ${KEY}/${NO:-x}/$KEY $", Ok("a abc/x/$KEY $"));
        check(Form::ClaudeState, "${NO}", Err("${NO}"));
        check(Form::ClaudeState, "${KEY", Ok("${KEY"));
        check(Form::Gemini, "$KEY ${KEY} ${NO:-x} $NO ${NO} $", Ok("abc abc x $NO ${NO} $"));
        check(Form::VsCode, "${env:KEY} ${userHome}${/}x ${workspaceFolder}", Ok("abc /h/x /p/app"));
        check(Form::VsCode, "${workspaceFolderBasename} ${KEYS", Ok("app ${KEYS"));
        check(Form::VsCode, "${input:key}", Err("${input:key}"));
        check(Form::Windsurf, "${file:/x}", Err("${file:/x}"));
        check(Form::Opencode, "{env:KEY}-{env:NO}-{\"a\": 1} {", Ok("abc--{\"a\": 1} {"));
        check(Form::Opencode, "{file:./x}", Err("{file:./x}"));
        check(Form::Codex, "", Ok(""));
    }
}
