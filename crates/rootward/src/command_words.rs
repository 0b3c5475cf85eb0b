//! Which words of `wrap` and `sandbox` are Rootward's own, and where the command begins.
//!
//! Some clients drop the `--` from a command line that they save. So the first word that is not an option of
//! Rootward is the command, and everything after it belongs to the command, even if it looks like an option of
//! Rootward. Roots before a `--` keep working. An ambiguous line is an error that says how to write it: a parser
//! that guesses could start a program that the user meant as a root, or share a directory that the user meant as an
//! argument.
//!
//! The words are rewritten before `clap` parses them: a root becomes `--root=ROOT`, and a `--` is put before the
//! command. `clap` knows no other positional argument, so it refuses a line that is not understood here.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use rootward_core::{Access, FileKind, Origin, Resolver, Root, RootError, Shown, lookout_ambient};
use rootward_sandbox::Program;

use crate::message::{Hinted, for_shell};

/// The end of Rootward's own words.
const END: &str = "--";

/// The words of this process, rewritten if its verb starts a command.
pub(crate) fn arranged_ambient(words: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>, Hinted> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let Some(verb) = words.get(1).and_then(|word| Verb::named(word)) else { return Ok(words) };
    let own = words.split_off(2);
    words.extend(Line { verb, words: &own }.arranged(&verb.options(), &Surroundings::look_ambient())?);
    Ok(words)
}

/// The error if no command was given at all.
pub(crate) fn no_command(verb: Verb) -> anyhow::Error {
    let hint = format!("`rootward {} [--root DIR]… COMMAND`", verb.name());
    Hinted { says: "no command given".to_owned(), hint }.into()
}

/// A verb that starts a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verb {
    #[cfg(feature = "wrap")]
    Wrap,
    Sandbox,
}

impl Verb {
    fn named(word: &OsStr) -> Option<Verb> {
        match word.to_str()? {
            #[cfg(feature = "wrap")]
            "wrap" => Some(Verb::Wrap),
            "sandbox" => Some(Verb::Sandbox),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "wrap")]
            Verb::Wrap => "wrap",
            Verb::Sandbox => "sandbox",
        }
    }

    /// The options as `clap` knows them.
    fn options(self) -> Command {
        let command = Command::new(self.name());
        match self {
            #[cfg(feature = "wrap")]
            Verb::Wrap => crate::wrap::Wrap::augment_args(command),
            Verb::Sandbox => crate::sandbox::Sandbox::augment_args(command),
        }
    }
}

/// What a word is to Rootward, by its text alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// `--`.
    End,
    /// A complete option.
    Option,
    /// An option whose value is the next word.
    OptionWithValue,
    /// An option that Rootward does not have, or one that only `clap` handles, such as `--help`.
    OtherOption,
    /// A root, or a word of the command.
    Plain,
}

/// What a plain word could mean, by its text and by what is on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    /// A directory, a `file:` URI, or a text with an access suffix.
    Root,
    /// A file that is not a program: possible as a root, useless as a command.
    File,
    Program,
    /// Both a program and a possible root.
    Both,
    /// Nothing with this name exists.
    Neither,
}

/// How to look up a plain word.
trait Look {
    fn meaning(&self, word: &OsStr) -> Meaning;
}

/// The words after a verb.
struct Line<'w> {
    verb: Verb,
    words: &'w [OsString],
}

impl Line<'_> {
    fn arranged(&self, options: &Command, look: &impl Look) -> Result<Vec<OsString>, Hinted> {
        let mut rest = Rest { words: self.words, options, arranged: Vec::new() };
        let Some(first) = rest.next_plain() else { return Ok(rest.untouched()) };
        if !rest.words.iter().any(|word| word == END) {
            return match look.meaning(first) {
                Meaning::Root => Err(self.root_without_option(rest.words, look)),
                Meaning::File | Meaning::Program | Meaning::Both | Meaning::Neither => Ok(rest.command()),
            };
        }
        match look.meaning(first) {
            Meaning::Program => return Ok(rest.command()),
            Meaning::Root | Meaning::File => {}
            Meaning::Both => return Err(self.unclear(first, "is a program and also a root")),
            Meaning::Neither => return Err(self.unclear(first, "is neither a program nor a root that exists")),
        }
        while let Some(word) = rest.next_plain() {
            match look.meaning(word) {
                Meaning::Root | Meaning::File | Meaning::Both => rest.take_root(),
                // SECURITY: every word before `--` is a root, or the line is refused
                // (test: a_line_that_could_mean_two_things_is_refused)
                Meaning::Program | Meaning::Neither => {
                    return Err(self.unclear(word, "is among the roots and is not one"));
                }
            }
        }
        Ok(rest.untouched())
    }

    /// The first word is a root, and nothing says where the command begins.
    fn root_without_option(&self, words: &[OsString], look: &impl Look) -> Hinted {
        let is_root = |word: &&OsString| matches!(look.meaning(word), Meaning::Root | Meaning::File | Meaning::Both);
        let roots: Vec<&OsString> = words.iter().take_while(is_root).collect();
        let named: Vec<String> = roots.iter().map(|root| format!("--root {}", shown(root))).collect();
        let command = match words.get(roots.len()) {
            Some(program) if look.meaning(program) == Meaning::Program => format!("{} …", shown(program)),
            _ => "COMMAND".to_owned(),
        };
        let first = words.first().map(OsString::as_os_str).unwrap_or_default();
        if words.iter().all(|word| matches!(look.meaning(word), Meaning::Root | Meaning::File)) {
            let told: Vec<String> = words.iter().map(|root| format!("`{}`", Shown::new(root))).collect();
            let typed: Vec<String> = words.iter().map(|root| shown(root)).collect();
            return Hinted {
                says: format!("no command after {}", told.join(", ")),
                hint: format!("`rootward {} {} -- COMMAND`", self.verb.name(), typed.join(" ")),
            };
        }
        let what = if looks_like_root(first.as_bytes()) { "looks like a root" } else { "is a directory" };
        Hinted {
            says: format!("the first word is the command, and `{}` {what}", Shown::new(first)),
            hint: format!("name a root with `--root`: `rootward {} {} {command}`", self.verb.name(), named.join(" ")),
        }
    }

    /// A line with a `--` that is ambiguous or meaningless.
    fn unclear(&self, word: &OsStr, what: &str) -> Hinted {
        let (verb, word_shown) = (self.verb.name(), shown(word));
        Hinted {
            says: format!("`{}` {what}, so it is unclear where the command begins", Shown::new(word)),
            hint: format!(
                "write `rootward {verb} --root {word_shown} -- COMMAND` if it is a root, \
                 `rootward {verb} -- {word_shown} …` if it is the command"
            ),
        }
    }
}

/// The words that are not processed yet.
struct Rest<'w> {
    words: &'w [OsString],
    options: &'w Command,
    arranged: Vec<OsString>,
}

impl<'w> Rest<'w> {
    /// Skips options, and stops at a plain word. `None` if `clap` can do the rest.
    fn next_plain(&mut self) -> Option<&'w OsStr> {
        loop {
            let (first, behind) = self.words.split_first()?;
            let count = match form(first, self.options) {
                Form::Plain => return Some(first),
                Form::End | Form::OtherOption => return None,
                // `clap` does not accept `--` as a value either.
                Form::OptionWithValue if behind.first().is_some_and(|next| next != END) => 2,
                Form::Option | Form::OptionWithValue => 1,
            };
            let (passed, rest) = self.words.split_at(count);
            self.arranged.extend_from_slice(passed);
            self.words = rest;
        }
    }

    /// Takes the next word as a root.
    fn take_root(&mut self) {
        let Some((root, rest)) = self.words.split_first() else { return };
        let mut option = OsString::from("--root=");
        option.push(root);
        self.arranged.push(option);
        self.words = rest;
    }

    /// The command begins here.
    // SECURITY: a word of the server's own command is never an option of Rootward
    // (test: everything_behind_the_first_word_belongs_to_the_command)
    fn command(mut self) -> Vec<OsString> {
        self.arranged.push(END.into());
        self.untouched()
    }

    fn untouched(mut self) -> Vec<OsString> {
        self.arranged.extend_from_slice(self.words);
        self.arranged
    }
}

fn form(word: &OsStr, options: &Command) -> Form {
    let bytes = word.as_bytes();
    match bytes {
        b"--" => return Form::End,
        b"-" => return Form::Plain,
        [b'-', ..] => {}
        _ => return Form::Plain,
    }
    let (name, value) = match bytes.iter().position(|byte| *byte == b'=') {
        Some(equals) => (&bytes[..equals], true),
        None => (bytes, false),
    };
    let name = std::str::from_utf8(name).ok().and_then(|name| name.strip_prefix("--"));
    let option = options.get_arguments().find(|option| option.get_long().is_some() && option.get_long() == name);
    match option.map(|option| option.get_action().takes_values()) {
        Some(true) if !value => Form::OptionWithValue,
        Some(_) => Form::Option,
        None => Form::OtherOption,
    }
}

/// Where to look up words.
struct Surroundings {
    path: Option<OsString>,
    here: PathBuf,
    home: Option<PathBuf>,
}

impl Surroundings {
    fn look_ambient() -> Surroundings {
        Surroundings {
            path: std::env::var_os("PATH"),
            here: std::env::current_dir().unwrap_or_default(),
            home: std::env::var_os("HOME").map(PathBuf::from),
        }
    }
}

impl Look for Surroundings {
    fn meaning(&self, word: &OsStr) -> Meaning {
        let is_program = Program::find_ambient(word, self.path.as_deref(), &self.here).is_ok();
        let root = Root::from_typed(word, &self.here, self.home.as_deref(), Origin::Flag);
        // As a root it is an error that names the intended access.
        let has_no_access = matches!(root, Err(RootError::NotAnAccess { .. }));
        let kind = root.ok().and_then(|root| {
            lookout_ambient(Resolver::detect()).check(&root.path, Access::NONE).ok().and_then(|seen| seen.kind())
        });
        let is_root = kind == Some(FileKind::Directory) || looks_like_root(word.as_bytes()) || has_no_access;
        // A path to a program is unambiguous; a plain name may be found in `PATH` and also be another file here.
        let is_other_file = kind.is_some() && !word.as_bytes().contains(&b'/');
        match is_program {
            true if is_root || is_other_file => Meaning::Both,
            true => Meaning::Program,
            false if is_root => Meaning::Root,
            false if kind == Some(FileKind::File) => Meaning::File,
            false => Meaning::Neither,
        }
    }
}

/// A `file:` URI, a pattern, or a text with an access suffix.
fn looks_like_root(word: &[u8]) -> bool {
    let is_pattern = word.contains(&b'*') && word.contains(&b'/');
    let is_uri = word.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"file:"));
    let suffix = word.iter().rposition(|byte| *byte == b':').map(|colon| &word[colon + 1..]);
    let access = suffix.and_then(|suffix| std::str::from_utf8(suffix).ok()).and_then(Access::from_suffix);
    is_uri || is_pattern || access.is_some()
}

fn shown(word: &OsStr) -> String {
    for_shell(Path::new(word), None, "")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "plays the user")]
mod tests {
    use super::*;

    /// `dir`, `other` and `dir:ro` are roots, `run`, `npx` and `node` programs, `both` is both, `file` a plain file.
    struct Words;

    impl Look for Words {
        fn meaning(&self, word: &OsStr) -> Meaning {
            match word.to_str().unwrap() {
                "dir" | "other" | "dir:ro" | "file:///x" => Meaning::Root,
                "run" | "npx" | "node" => Meaning::Program,
                "both" => Meaning::Both,
                "file" => Meaning::File,
                _ => Meaning::Neither,
            }
        }
    }

    fn arrange(line: &str) -> Result<String, Hinted> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let arranged = Line { verb: Verb::Sandbox, words: &words }.arranged(&Verb::Sandbox.options(), &Words)?;
        let arranged: Vec<&str> = arranged.iter().map(|word| word.to_str().unwrap()).collect();
        Ok(arranged.join(" "))
    }

    #[track_caller]
    fn check(line: &str, expect: &str) {
        assert_eq!(arrange(line).map_err(|error| error.says), Ok(expect.to_owned()), "{line}");
    }

    #[test]
    fn everything_behind_the_first_word_belongs_to_the_command() {
        check("npx -y pkg --flag x", "-- npx -y pkg --flag x");
        check("npx --root / --help --env X", "-- npx --root / --help --env X");
        check("npx -y pkg -- --flag", "-- npx -y pkg -- --flag");
        check("--root dir npx dir", "--root dir -- npx dir");
        check("--root dir --sandbox=off --json --env A npx", "--root dir --sandbox=off --json --env A -- npx");
        check("-- dir -- run", "-- dir -- run");
        check("--root both -- both -- run", "--root both -- both -- run");
        check("gone x", "-- gone x");
        check("both x", "-- both x");
        check("file x", "-- file x");
        check("- x", "-- - x");
    }

    #[test]
    fn roots_before_the_dashes_are_roots() {
        check("dir -- run", "--root=dir -- run");
        check(
            "dir:ro other file both -- run x -- y",
            "--root=dir:ro --root=other --root=file --root=both -- run x -- y",
        );
        check("dir --env A other --json -- run", "--root=dir --env A --root=other --json -- run");
        check("--root other dir -- run", "--root other --root=dir -- run");
        check("file:///x -- gone", "--root=file:///x -- gone");
        check("dir --", "--root=dir --");
        // `clap` reports what is wrong with these.
        check("dir --what other -- run", "--root=dir --what other -- run");
        check("dir --env -- run", "--root=dir --env -- run");
        check("--what npx", "--what npx");
        check("--help npx", "--help npx");
    }

    #[test]
    fn a_line_that_could_mean_two_things_is_refused() {
        let refused = |line: &str, word: &str| {
            let error = arrange(line).map(drop).unwrap_err();
            assert!(error.says.starts_with(&format!("`{word}` ")), "{line}: {}", error.says);
            assert!(error.hint.contains(&format!("--root {word} -- ")), "{line}: {}", error.hint);
        };
        refused("both -- run", "both");
        refused("gone -- run", "gone");
        refused("dir npx -- run", "npx");
        refused("dir gone -- run", "gone");
        let error = arrange("dir npx x").unwrap_err();
        assert_eq!(error.hint, "name a root with `--root`: `rootward sandbox --root dir npx …`");
        let error = arrange("dir:ro other").unwrap_err();
        assert_eq!(error.says, "no command after `dir:ro`, `other`");
        assert_eq!(error.hint, "`rootward sandbox dir:ro other -- COMMAND`");
    }

    #[test]
    fn words_are_looked_up() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path();
        for name in ["docs", "sh", "bin"] {
            std::fs::create_dir(top.join(name)).unwrap();
        }
        for name in ["notes", "true"] {
            std::fs::write(top.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink("/bin/sh", top.join("bin/server")).unwrap();
        let home = Some(top.to_owned());
        let look = Surroundings { path: Some("/usr/bin:/bin".into()), here: top.to_owned(), home };
        for (word, expect) in [
            ("docs", Meaning::Root),
            ("./docs", Meaning::Root),
            ("~/docs", Meaning::Root),
            ("gone:ro", Meaning::Root),
            ("gone:add", Meaning::Root),
            ("file:///gone", Meaning::Root),
            ("notes", Meaning::File),
            ("cat", Meaning::Program),
            ("bin/server", Meaning::Program),
            ("/bin/sh", Meaning::Program),
            ("sh", Meaning::Both),
            ("true", Meaning::Both),
            ("bin/server:rwx", Meaning::Root),
            ("gone", Meaning::Neither),
            ("./cat", Meaning::Neither),
            ("", Meaning::Neither),
        ] {
            assert_eq!(look.meaning(OsStr::new(word)), expect, "{word}");
        }
    }
}
