//! A file with variables that an entry names: `envFile` of Cursor and VS Code.
//!
//! The client sets them for the command that it starts: first for Rootward, and a wrapped server gets those that
//! `--env` names. So a server must not be able to write such a file, and `adopt` has to know the names. Values are
//! needed to try the server once, and are not shown.

use rootward_core::{Material, follow_ambient};
use thiserror::Error;

use super::config_file::{ConfigFile, FileError};
use crate::import::{FileContext, FileVariables, Form, Holder};

/// Why the variables of a file are not known.
#[derive(Debug, Error)]
pub enum VariablesFileError {
    /// A project names a file elsewhere.
    #[error("a project names a file outside itself")]
    NamedByProject,
    /// There is no such file.
    #[error("it does not exist")]
    Missing,
    /// A line is not an assignment.
    #[error("line {0} is not understood")]
    NotUnderstood(usize),
    /// It cannot be read.
    #[error("{0}")]
    File(#[from] FileError),
}

/// What is known about the file that an entry of `holder` names as `text`.
pub fn variables_ambient(
    text: &str,
    form: Form,
    holder: Holder,
    around: &FileContext,
    material: &Material,
) -> Result<FileVariables, VariablesFileError> {
    // A relative path starts in the project, and servers write there.
    let Some(path) = around.resolve(text, form.syntax()) else { return Ok(FileVariables::Doubtful) };
    let Some(followed) = follow_ambient(&path) else { return Ok(FileVariables::Doubtful) };
    let within_project = around
        .project
        .as_deref()
        .is_some_and(|project| follow_ambient(project).is_none_or(|project| followed.place.starts_with(project.place)));
    let mut places = followed.links.iter().chain([&followed.place]);
    // SECURITY: a file that a server can write must not set variables for Rootward, nor choose which of the user's
    // variables the server gets
    // (test: a_file_that_a_server_could_have_written_is_doubtful)
    if within_project || places.any(|place| material.holds(place)) {
        return Ok(FileVariables::Doubtful);
    }
    if holder == Holder::Project {
        return Err(VariablesFileError::NamedByProject);
    }
    let file = ConfigFile::open_ambient(&path, None, material)?.ok_or(VariablesFileError::Missing)?;
    parse(file.text()).map(FileVariables::Known).map_err(VariablesFileError::NotUnderstood)
}

/// The assignments in a text; the error is the number of the first line that is not one.
fn parse(text: &str) -> Result<Vec<(String, String)>, usize> {
    let mut found = Vec::new();
    let mut lines = text.lines().zip(1_usize..);
    while let Some((line, number)) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        // One invalid line makes the others doubtful: they could be parts of a secret, and must not become names.
        let (name, value) = line.split_once('=').filter(|(name, _)| is_name(name.trim())).ok_or(number)?;
        let mut value = value.trim().to_owned();
        if let Some(quote) = value.chars().next().filter(|first| ['"', '\'', '`'].contains(first)) {
            let mut is_closed = value[1..].contains(quote);
            while !is_closed {
                let (more, _) = lines.next().ok_or(number)?;
                is_closed = more.contains(quote);
                value.push('\n');
                value.push_str(more);
            }
            let (inner, rest) = value[1..].split_once(quote).unwrap_or_default();
            let is_clear = !inner.ends_with('\\') && (rest.trim().is_empty() || rest.trim_start().starts_with('#'));
            value = is_clear.then(|| inner.to_owned()).ok_or(number)?;
        } else if let Some((before, _)) = value.split_once(" #") {
            let end = before.trim_end().len();
            value.truncate(end);
        }
        found.push((name.trim().to_owned(), value));
    }
    Ok(found)
}

fn is_name(text: &str) -> bool {
    let is_first = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    text.starts_with(is_first) && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.-".contains(letter))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "tests lay out files")]

    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn assignments() {
        let check = |text: &str, expect: Result<&[(&str, &str)], usize>| {
            let expect = expect.map(|all| all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
            assert_eq!(parse(text), expect.map(Iterator::collect), "{text}");
        };
        check("", Ok(&[]));
        check("A=b\r\n\n# C=d\n  export E = 'f g' # h\nI=\n", Ok(&[("A", "b"), ("E", "f g"), ("I", "")]));
        check("A=b=c # d\nA=\"e # f\"\nb.c-d=`x`", Ok(&[("A", "b=c"), ("A", "e # f"), ("b.c-d", "x")]));
        check("KEY=\"-----BEGIN\nAbc=\n-----END\"\nB=c", Ok(&[("KEY", "-----BEGIN\nAbc=\n-----END"), ("B", "c")]));
        // A key without quotes: a part of it must not be taken for a name.
        check("KEY=-----BEGIN\nabc\nAbc=\n-----END", Err(2));
        check("A=b\nKEY=\"never closed\nC=d", Err(2));
        for text in ["A", "=b", "1A=b", "A B=c", "A*=b", "$(x)=b", "set A=b", "A=\"b\\\"\nC=d\"", "A='b'c"] {
            check(text, Err(1));
        }
    }

    #[test]
    fn a_file_that_a_server_could_have_written_is_doubtful() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        for (name, text) in [("project/.env", "A=b\n"), ("shared/own.env", "A=b\n"), ("own.env", "C=d\n")] {
            fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
            fs::write(top.join(name), text).unwrap();
        }
        symlink("shared/own.env", top.join("link.env")).unwrap();
        symlink("../own.env", top.join("shared/link.env")).unwrap();
        let material = Material::new([top.join("shared")]);
        let read = |text: &str, holder: Holder| {
            let project = (holder == Holder::Project).then(|| top.join("project"));
            let around = FileContext { home: Some(top.clone()), project };
            variables_ambient(text, Form::VsCode, holder, &around, &material).map_err(|error| error.to_string())
        };
        for text in ["~/own.env", "${userHome}/own.env", top.join("own.env").to_str().unwrap()] {
            let known = FileVariables::Known(vec![("C".to_owned(), "d".to_owned())]);
            assert_eq!(read(text, Holder::User), Ok(known), "{text}");
            assert_eq!(read(text, Holder::Project), Err("a project names a file outside itself".to_owned()), "{text}");
        }
        for text in
            [".env", "./.env", "absent", "~/shared/own.env", "~/shared/absent", "~/link.env", "~/shared/link.env"]
        {
            assert_eq!(read(text, Holder::User), Ok(FileVariables::Doubtful), "{text}");
            assert_eq!(read(text, Holder::Project), Ok(FileVariables::Doubtful), "{text}");
        }
        for text in ["${workspaceFolder}/.env", "${workspaceFolder}/../project/.env", "${input:file}"] {
            assert_eq!(read(text, Holder::Project), Ok(FileVariables::Doubtful), "{text}");
        }
        assert_eq!(read("~/absent", Holder::User), Err("it does not exist".to_owned()));
        assert_eq!(read("~/project", Holder::User), Err("not a regular file".to_owned()));
    }
}
