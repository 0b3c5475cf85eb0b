//! The variables that a client expands: expanded here, to start a server as the client does, or translated for the
//! hub's configuration.

use rootward_core::env::Environment;
use thiserror::Error;

use crate::import::{FileContext, Form, Syntax};

/// A variable whose value only the client knows.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("only the client knows `{}`", rootward_core::Shown::new(.0))]
pub struct Unfilled(pub String);

/// A part of a text.
enum Piece<'t> {
    Literal(&'t str),
    /// `${name}`, or `{name}`.
    Braced {
        name: &'t str,
        written: &'t str,
    },
    /// `$name`.
    Bare(&'t str),
}

/// A text of an entry as the client expands it.
pub fn fill(text: &str, form: Form, environment: &Environment, around: &FileContext) -> Result<String, Unfilled> {
    let syntax = form.syntax();
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text, syntax) {
        match piece {
            Piece::Literal(text) => filled.push_str(text),
            Piece::Braced { name, written } => filled.push_str(&value(name, written, syntax, environment, around)?),
            Piece::Bare(name) => match environment.get(name).and_then(|value| value.to_str()) {
                Some(value) => filled.push_str(value),
                None => filled.extend(["$", name]),
            },
        }
    }
    Ok(filled)
}

/// A text of an entry in the syntax of the hub's configuration. The error is a form that the hub does not support.
pub(super) fn for_hub(text: &str, form: Form) -> Result<String, Unfilled> {
    let syntax = form.syntax();
    // `$${` is a literal `${` there.
    let escaped = |literal: &str| literal.replace("${", "$${");
    let (mut whole, mut literal) = (String::with_capacity(text.len()), String::new());
    for piece in pieces(text, syntax) {
        let (variable, written) = match piece {
            Piece::Literal(text) => {
                literal.push_str(text);
                continue;
            }
            // Braces alone are not a variable.
            Piece::Braced { name, written }
                if syntax == Syntax::Opencode && !["env:", "file:"].iter().any(|form| name.starts_with(form)) =>
            {
                literal.push_str(written);
                continue;
            }
            Piece::Braced { name, written } => (variable_for_hub(name, written, syntax), written),
            Piece::Bare(name) => (Some(format!("${{{name}}}")), name),
        };
        let variable = variable.filter(|_| !literal.ends_with('$')).ok_or_else(|| Unfilled(written.to_owned()))?;
        whole.push_str(&escaped(&literal));
        whole.push_str(&variable);
        literal.clear();
    }
    whole.push_str(&escaped(&literal));
    Ok(whole)
}

/// A variable in the syntax of the hub's configuration, if the hub gives it the same value.
fn variable_for_hub(name: &str, written: &str, syntax: Syntax) -> Option<String> {
    // Names that the hub does not treat as environment variables.
    const WORDS: [&str; 5] = ["root", "roots", "workspaceFolder", "userHome", "pathSeparator"];
    const OF_EDITORS: [&str; 4] = ["workspaceFolder", "userHome", "pathSeparator", "/"];
    let of_environment = name.strip_prefix("env:");
    match syntax {
        Syntax::Shell | Syntax::Gemini => (!WORDS.contains(&name)).then(|| written.to_owned()),
        Syntax::Editor => (of_environment.is_some() || OF_EDITORS.contains(&name)).then(|| written.to_owned()),
        // An unset variable is empty there.
        Syntax::Opencode => of_environment.map(|name| format!("${{{name}:-}}")),
        Syntax::Nothing => None,
    }
}

fn pieces(text: &str, syntax: Syntax) -> Vec<Piece<'_>> {
    let (open, sign) = match syntax {
        Syntax::Nothing => return vec![Piece::Literal(text)],
        Syntax::Shell | Syntax::Gemini | Syntax::Editor => ("${", "$"),
        Syntax::Opencode => ("{", "{"),
    };
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(sign) {
        let (before, from) = rest.split_at(start);
        pieces.push(Piece::Literal(before));
        let braced = from.strip_prefix(open).and_then(|behind| behind.split_once('}'));
        let bare = from[1..].find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let bare = &from[1..bare.map_or(from.len(), |end| end + 1)];
        let (piece, length) = match braced {
            Some((name, behind)) => {
                let length = from.len() - behind.len();
                (Piece::Braced { name, written: &from[..length] }, length)
            }
            None if syntax == Syntax::Gemini && !bare.is_empty() => (Piece::Bare(bare), 1 + bare.len()),
            None => (Piece::Literal(sign), sign.len()),
        };
        pieces.push(piece);
        rest = &from[length..];
    }
    pieces.push(Piece::Literal(rest));
    pieces
}

fn value(
    name: &str,
    written: &str,
    syntax: Syntax,
    environment: &Environment,
    around: &FileContext,
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
        // Braces alone are not a variable.
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
        let around = FileContext { home: Some("/h".into()), project: Some("/p/app".into()) };
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
    #[test]
    fn variables_are_written_as_the_hub_has_them() {
        let check = |form, text: &str, expect: Result<&str, &str>| {
            let written = for_hub(text, form);
            assert_eq!(written, expect.map(str::to_owned).map_err(|name| Unfilled(name.to_owned())), "{text}");
        };
        check(Form::ClaudeDesktop, "a ${KEY} $KEY $${", Ok("a $${KEY} $KEY $$${"));
        check(Form::ClaudeState, "a ${KEY}/${NO:-x} $KEY ${open", Ok("a ${KEY}/${NO:-x} $KEY $${open"));
        check(Form::ClaudeState, "${roots}", Err("${roots}"));
        check(Form::ClaudeState, "$${KEY}", Err("${KEY}"));
        check(Form::Gemini, "$KEY ${KEY} $", Ok("${KEY} ${KEY} $"));
        check(
            Form::VsCode,
            "${env:KEY} ${userHome}${/}x ${workspaceFolder}",
            Ok("${env:KEY} ${userHome}${/}x ${workspaceFolder}"),
        );
        check(Form::VsCode, "${input:key}", Err("${input:key}"));
        check(Form::VsCode, "${workspaceFolderBasename}", Err("${workspaceFolderBasename}"));
        check(Form::Opencode, "{env:KEY} {\"a\": 1} ${KEY} {", Ok("${KEY:-} {\"a\": 1} $${KEY} {"));
        check(Form::Opencode, "{file:./x}", Err("{file:./x}"));
        check(Form::Codex, "", Ok(""));
    }
}
