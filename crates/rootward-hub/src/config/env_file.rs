//! The text of an `envFile`: one variable per line.
//!
//! `NAME=value`, with an optional `export` before it. Lines that start with `#` are comments. A value in single
//! quotes is taken literally; in double quotes, `\n`, `\r`, `\t`, `\"` and `\\` mean the same as in shells. Nothing
//! is expanded. Messages never contain a value.

use std::collections::HashSet;

use rootward_core::Shown;

use super::error::ConfigError;
use super::template::is_name;

/// The largest file, in bytes.
const LONGEST: usize = 1 << 20;

/// Reads the variables of an `envFile`, in file order. A duplicate name is an error.
pub fn read_env_file(text: &str) -> Result<Vec<(String, String)>, ConfigError> {
    if text.len() > LONGEST {
        let says = format!("the file is larger than {} MiB", LONGEST >> 20);
        return Err(ConfigError::at(text, 0, says, "keep only variables in it"));
    }
    let mut variables: Vec<(String, String)> = Vec::new();
    let mut known = HashSet::new();
    let mut offset = 0;
    for whole in text.split_inclusive('\n') {
        let start = offset;
        offset += whole.len();
        let line = whole.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |says: String, hint: &str| {
            let indent = whole.len() - whole.trim_start().len();
            ConfigError::at(text, start + indent, says, hint)
        };
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, value)) = line.split_once('=') else {
            return Err(wrong("not a variable".to_owned(), "write `NAME=value`, or `#` before a comment"));
        };
        let name = name.trim();
        if !is_name(name) {
            return Err(wrong(
                format!("`{}` is not a valid variable name", Shown::new(name)),
                "use letters, digits and `_`",
            ));
        }
        if !known.insert(name) {
            return Err(wrong(format!("duplicate variable `{name}`"), "keep one of the two"));
        }
        let value = unquoted(value.trim())
            .ok_or_else(|| wrong(format!("the value of `{name}` has an unclosed quote"), "close the quote"))?;
        if value.contains('\0') {
            return Err(wrong(format!("the value of `{name}` has a NUL character"), "remove it"));
        }
        variables.push((name.to_owned(), value));
    }
    Ok(variables)
}

fn unquoted(value: &str) -> Option<String> {
    if let Some(rest) = value.strip_prefix('\'') {
        let (inside, after) = rest.split_once('\'')?;
        return is_comment(after).then(|| inside.to_owned());
    }
    let Some(rest) = value.strip_prefix('"') else {
        let end = value.find(" #").unwrap_or(value.len());
        return Some(value[..end].trim_end().to_owned());
    };
    let mut inside = String::new();
    let mut letters = rest.chars();
    loop {
        match letters.next()? {
            '"' => return is_comment(letters.as_str()).then_some(inside),
            '\\' => match letters.next()? {
                'n' => inside.push('\n'),
                'r' => inside.push('\r'),
                't' => inside.push('\t'),
                letter @ ('"' | '\\') => inside.push(letter),
                letter => inside.extend(['\\', letter]),
            },
            letter => inside.push(letter),
        }
    }
}

/// Whether the rest of the line is empty or a comment.
fn is_comment(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.is_empty() || rest.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        let text =
            "# a comment\r\nA=1\nexport B = two words # why\n\nC='$x # y' # z\nD=\"a\\nb\\\"c\\\\d\\q\"\nE=\nF=a=b#c\n";
        let found = read_env_file(text).unwrap();
        let expect =
            [("A", "1"), ("B", "two words"), ("C", "$x # y"), ("D", "a\nb\"c\\d\\q"), ("E", ""), ("F", "a=b#c")];
        assert_eq!(found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<Vec<_>>(), expect);
        assert_eq!(read_env_file("").unwrap(), []);
    }

    #[test]
    fn errors_have_a_position_and_no_values() {
        let check =
            |text: &str, expect: &str| assert_eq!(read_env_file(text).unwrap_err().to_string(), expect, "{text}");
        check("A=1\n  hunter2\n", "line 2, column 3: not a variable");
        check("=x", "line 1, column 1: `` is not a valid variable name");
        check("a b=x", "line 1, column 1: `a b` is not a valid variable name");
        check("A=1\nA=2", "line 2, column 1: duplicate variable `A`");
        check("A=\"hunter2", "line 1, column 1: the value of `A` has an unclosed quote");
        check("A='hunter2' x", "line 1, column 1: the value of `A` has an unclosed quote");
        check("A=\0", "line 1, column 1: the value of `A` has a NUL character");
        assert_eq!(read_env_file(&"#".repeat(LONGEST + 1)).unwrap_err().says, "the file is larger than 1 MiB");
    }
}
