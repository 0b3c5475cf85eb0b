//! What a text in a client's file means as a path, if that is certain.

use std::path::{Path, PathBuf};

/// The maximum length of a path (`PATH_MAX`).
const LONGEST: usize = 4096;

/// The context of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileContext {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The project that the file belongs to.
    pub project: Option<PathBuf>,
}

/// Which variables a client expands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Syntax {
    /// None.
    Nothing,
    /// `${NAME}` and `${NAME:-otherwise}`, from the environment.
    Shell,
    /// The same and `$NAME`; unset variables stay as written.
    Gemini,
    /// `${userHome}`, `${workspaceFolder}`, `${env:NAME}`, `${input:NAME}` and similar.
    Editor,
    /// `{env:NAME}` and `{file:PATH}`.
    Opencode,
}

impl FileContext {
    /// The absolute path that a text means. `None` if it is relative, for another system, or contains a variable
    /// whose value only the client knows.
    pub(crate) fn resolve(&self, text: &str, syntax: Syntax) -> Option<PathBuf> {
        if text.len() > LONGEST || text.contains('\0') {
            return None;
        }
        let mut filled = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let (before, behind) = rest.split_at(start);
            let (name, after) = behind[2..].split_once('}')?;
            filled.push_str(before);
            filled.push_str(&self.value(name, syntax)?);
            rest = after;
        }
        filled.push_str(rest);
        if syntax == Syntax::Opencode && filled.contains('{') {
            return None;
        }
        // Without braces it is a variable only to a shell; how the server treats it is unknown.
        if filled.contains('$') {
            return None;
        }
        let path = match filled.strip_prefix('~') {
            Some("") => self.home.clone()?,
            Some(rest) => self.home.as_ref()?.join(rest.strip_prefix('/')?.trim_start_matches('/')),
            None => PathBuf::from(filled),
        };
        path.is_absolute().then_some(path)
    }

    fn value(&self, name: &str, syntax: Syntax) -> Option<String> {
        let text = |path: &Path| path.to_str().map(str::to_owned);
        match (syntax, name) {
            (Syntax::Shell | Syntax::Gemini, name) if name.split(":-").next() == Some("HOME") => {
                text(self.home.as_ref()?)
            }
            (Syntax::Editor, "userHome" | "env:HOME") => text(self.home.as_ref()?),
            (Syntax::Editor, "workspaceFolder") => text(self.project.as_ref()?),
            (Syntax::Editor, "workspaceFolderBasename") => text(self.project.as_ref()?.file_name()?.as_ref()),
            (Syntax::Editor, "pathSeparator" | "/") => Some("/".to_owned()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_filled_in_and_nothing_else() {
        let around = FileContext { home: Some("/home/me".into()), project: Some("/home/me/app".into()) };
        let check = |syntax, text: &str, expect: Option<&str>| {
            assert_eq!(around.resolve(text, syntax), expect.map(PathBuf::from), "{text}");
        };
        check(Syntax::Nothing, "/srv/a b", Some("/srv/a b"));
        check(Syntax::Nothing, "~", Some("/home/me"));
        check(Syntax::Nothing, "~/src", Some("/home/me/src"));
        check(Syntax::Nothing, "~//etc", Some("/home/me/etc"));
        check(Syntax::Nothing, "~you/src", None);
        check(Syntax::Nothing, "src", None);
        check(Syntax::Nothing, "", None);
        check(Syntax::Nothing, r"C:\src", None);
        check(Syntax::Nothing, "%USERPROFILE%/src", None);
        check(Syntax::Nothing, "${HOME}/src", None);
        check(Syntax::Nothing, "/srv/$NAME", None);
        check(Syntax::Nothing, "file:///srv", None);
        check(Syntax::Nothing, "/a\0b", None);
        check(Syntax::Shell, "${HOME}/src", Some("/home/me/src"));
        check(Syntax::Shell, "${HOME:-/x}/src", Some("/home/me/src"));
        check(Syntax::Shell, "${OTHER:-/x}/src", None);
        check(Syntax::Shell, "${userHome}/src", None);
        check(Syntax::Shell, "${HOME", None);
        check(Syntax::Editor, "${userHome}/src", Some("/home/me/src"));
        check(Syntax::Editor, "${workspaceFolder}${/}src", Some("/home/me/app/src"));
        check(Syntax::Editor, "/srv/${workspaceFolderBasename}", Some("/srv/app"));
        check(Syntax::Editor, "${env:HOME}/src", Some("/home/me/src"));
        check(Syntax::Editor, "${env:OTHER}/src", None);
        check(Syntax::Editor, "${input:where}", None);
        assert_eq!(FileContext::default().resolve("~/x", Syntax::Nothing), None);
        assert_eq!(FileContext::default().resolve("${workspaceFolder}", Syntax::Editor), None);
    }
}
