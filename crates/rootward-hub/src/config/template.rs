//! Strings with variables: `${root}`, `${env:NAME}`, `${NAME:-default}`.
//!
//! A string is parsed when the file is read, so an unknown form is reported with its position. The values are known
//! later and differ by session, see [`super::expand`]. `$${` is a literal `${`. Any other `$` is a plain character.

/// Prefixes of forms that only the client can fill in.
const OF_THE_CLIENT: [&str; 5] = ["input:", "command:", "config:", "workspaceFolder:", "extensionInstallFolder:"];
/// Whole words that only the client can fill in. Without this list they would be read as environment variables.
const WORDS_OF_THE_CLIENT: [&str; 6] =
    ["workspaceFolderBasename", "workspaceRoot", "fileWorkspaceFolder", "execPath", "selectedText", "lineNumber"];

/// A string of the file, parsed into pieces.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Template {
    written: String,
    pieces: Vec<Piece>,
}

/// A part of a template.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Piece {
    /// Literal text.
    Literal(String),
    /// `${root}`, `${workspaceFolder}`: the first root.
    Root,
    /// `${roots}`: all roots.
    Roots,
    /// `${userHome}`.
    UserHome,
    /// An environment variable.
    Variable {
        /// Its name.
        name: String,
        /// Used if the variable is not set or empty.
        default: Option<String>,
    },
    /// A form that only the client can fill in, as written: `${input:key}`.
    OfClient(String),
}

/// Why a text is not a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TemplateError {
    /// The form, or its beginning. It may be part of a secret.
    pub(super) form: String,
    /// What is wrong with it.
    pub(super) why: &'static str,
}

impl TemplateError {
    /// Lists the valid forms.
    pub(super) const HINT: &str = "use `${root}`, `${roots}`, `${workspaceFolder}`, `${userHome}`, `${NAME}`, `${NAME:-default}` or \
                                   `${env:NAME}`; write `$${` for a literal `${`";
}

impl Template {
    /// The string as written in the file.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Whether it depends on the session's roots.
    pub fn uses_roots(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Root | Piece::Roots))
    }

    /// Whether it is exactly `${roots}`.
    pub(super) fn is_all_roots(&self) -> bool {
        self.pieces == [Piece::Roots]
    }

    /// Whether it contains `${roots}`.
    pub(super) fn has_all_roots(&self) -> bool {
        self.pieces.contains(&Piece::Roots)
    }

    /// The whole text, if it has no variables.
    pub(super) fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The literal text at the start.
    pub(super) fn beginning(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Literal(text)) => text,
            _ => "",
        }
    }

    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    pub(super) fn parse(text: &str) -> Result<Template, TemplateError> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let (before, behind) = (&rest[..start], &rest[start + 2..]);
            if let Some(before) = before.strip_suffix('$') {
                literal.push_str(before);
                literal.push_str("${");
                rest = behind;
                continue;
            }
            literal.push_str(before);
            let Some((inside, after)) = behind.split_once('}') else {
                return Err(unknown(&rest[start..], "`${` without `}`"));
            };
            let form = &rest[start..start + inside.len() + 3];
            match piece(form, inside)? {
                Piece::Literal(text) => literal.push_str(&text),
                piece => {
                    if !literal.is_empty() {
                        pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                    }
                    pieces.push(piece);
                }
            }
            rest = after;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Ok(Template { written: text.to_owned(), pieces })
    }
}

/// Shows only the variables: the text between them may be secret.
impl std::fmt::Debug for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Template({})", super::masked::references(self))
    }
}

/// Parses one form; `inside` is the text between its braces.
fn piece(form: &str, inside: &str) -> Result<Piece, TemplateError> {
    match inside {
        "root" | "workspaceFolder" => return Ok(Piece::Root),
        "roots" => return Ok(Piece::Roots),
        "userHome" => return Ok(Piece::UserHome),
        "pathSeparator" | "/" => return Ok(Piece::Literal("/".to_owned())),
        _ => {}
    }
    let is_of_client = OF_THE_CLIENT.iter().any(|form| inside.starts_with(form));
    if is_of_client || WORDS_OF_THE_CLIENT.contains(&inside) {
        return Ok(Piece::OfClient(form.to_owned()));
    }
    let variable = inside.strip_prefix("env:").unwrap_or(inside);
    let (name, default) = match variable.split_once(":-") {
        Some((_, default)) if default.contains("${") => {
            return Err(unknown(form, "a default cannot contain another variable"));
        }
        Some((name, default)) => (name, Some(default.to_owned())),
        None => (variable, None),
    };
    if !is_name(name) {
        return Err(unknown(form, "unknown variable syntax"));
    }
    Ok(Piece::Variable { name: name.to_owned(), default })
}

/// Whether a text is a valid variable name.
pub(super) fn is_name(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.chars().all(is_plain) && !text.is_empty() && !text.starts_with(|letter: char| letter.is_ascii_digit())
}

fn unknown(form: &str, why: &'static str) -> TemplateError {
    TemplateError { form: form.chars().take(64).collect(), why }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn literal(text: &str) -> Piece {
        Piece::Literal(text.to_owned())
    }

    fn variable(name: &str, default: Option<&str>) -> Piece {
        Piece::Variable { name: name.to_owned(), default: default.map(str::to_owned) }
    }

    #[test]
    fn forms() {
        let check = |text: &str, pieces: &[Piece]| {
            let template = Template::parse(text).unwrap();
            assert_eq!(template.pieces(), pieces, "{text}");
            assert_eq!(template.written(), text);
        };
        check("", &[]);
        check("plain $HOME $$ 5$ %X% {a}", &[literal("plain $HOME $$ 5$ %X% {a}")]);
        check("${root}/a", &[Piece::Root, literal("/a")]);
        check("--d=${workspaceFolder}", &[literal("--d="), Piece::Root]);
        check("${roots}", &[Piece::Roots]);
        check("${userHome}${/}x", &[Piece::UserHome, literal("/x")]);
        check("${TOKEN}${env:X_1}", &[variable("TOKEN", None), variable("X_1", None)]);
        check("${A:-b:-c}${env:A:-}", &[variable("A", Some("b:-c")), variable("A", Some(""))]);
        check("a$${b}c", &[literal("a${b}c")]);
        check("$$${b}", &[literal("$${b}")]);
        check("${input:key}", &[Piece::OfClient("${input:key}".to_owned())]);
        check("${workspaceFolder:api}", &[Piece::OfClient("${workspaceFolder:api}".to_owned())]);
    }

    #[test]
    fn unknown_forms() {
        let check = |text: &str, form: &str, why: &str| {
            let error = Template::parse(text).unwrap_err();
            assert_eq!((error.form.as_str(), error.why), (form, why), "{text}");
        };
        check("${", "${", "`${` without `}`");
        check("a ${b", "${b", "`${` without `}`");
        check("x${A:-${B}}", "${A:-${B}", "a default cannot contain another variable");
        for text in ["${}", "${A-b}", "${A:=b}", "${#A}", "${1}", "${A%%.*}", "${file:x}", "${\u{202e}a}", "${a b}"] {
            check(text, text, "unknown variable syntax");
        }
    }

    #[test]
    fn roots_are_noticed() {
        let uses = |text: &str| Template::parse(text).unwrap().uses_roots();
        assert!(uses("${root}") && uses("x${roots}") && uses("${workspaceFolder}/x"));
        assert!(!uses("$${root}") && !uses("${rooted}") && !uses("${userHome}"));
    }

    proptest! {
        #[test]
        fn a_text_without_braces_is_itself(text in "[^{]{0,40}") {
            let template = Template::parse(&text).unwrap();
            prop_assert_eq!(template.literal(), Some(text.as_str()));
        }

        #[test]
        fn nothing_panics(text in r"[${}:\-a-zA-Zä/.]{0,32}") {
            let _ = Template::parse(&text);
        }
    }
}
