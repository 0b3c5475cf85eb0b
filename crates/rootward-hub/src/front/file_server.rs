//! File servers that take their directories as arguments.
//!
//! The directories on such a server's command line come from the operator and act as a ceiling. The current roots
//! replace them, so that the server offers exactly what it may reach. Recipes say which servers these are.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::root_template::has_root_template;

/// A command line that starts a known file server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileServerCommand {
    /// How many leading arguments belong to the launcher.
    before: usize,
    /// The positions of the arguments that are directories.
    directories: Vec<usize>,
}

impl FileServerCommand {
    /// Finds the directories among the arguments from `before` on. `switches` are options that may be followed by
    /// `true` or `false`.
    pub(crate) fn new(switches: &[String], before: usize, arguments: &[OsString]) -> FileServerCommand {
        let is_switch = |word: &OsString| switches.iter().any(|switch| word == switch.as_str());
        let is_value = |position: usize| {
            let word = &arguments[position];
            position > before && is_switch(&arguments[position - 1]) && (word == "true" || word == "false")
        };
        let is_directory = |position: &usize| {
            let word = arguments[*position].as_bytes();
            !word.is_empty() && !word.starts_with(b"-") && !is_value(*position)
        };
        FileServerCommand { before, directories: (before..arguments.len()).filter(is_directory).collect() }
    }

    /// The directories that were typed, without arguments that contain `${root}` or `${roots}`.
    pub fn directories<'a>(&self, arguments: &'a [OsString]) -> Vec<&'a OsStr> {
        let typed = self.directories.iter().filter_map(|position| arguments.get(*position));
        typed.map(OsString::as_os_str).filter(|word| !has_root_template(word)).collect()
    }

    /// The arguments, with these directories instead of those that were typed. They go before the server's options,
    /// since an option may take the next word as its value. `filled` fills in `${root}`.
    pub(super) fn given(
        &self,
        arguments: &[OsString],
        directories: impl Iterator<Item = OsString>,
        filled: impl Fn(&[OsString]) -> Vec<OsString>,
    ) -> Vec<OsString> {
        let (before, own) = arguments.split_at(self.before.min(arguments.len()));
        let is_kept = |position: &usize| !self.directories.contains(position);
        let kept = (self.before..).zip(own).filter(|(position, _)| is_kept(position)).map(|(_, word)| word.clone());
        let kept: Vec<OsString> = kept.collect();
        filled(before).into_iter().chain(directories).chain(filled(&kept)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn server(arguments: &[OsString], before: usize) -> FileServerCommand {
        FileServerCommand::new(&["-w", "-t"].map(str::to_owned), before, arguments)
    }

    #[test]
    fn directories_are_distinguished_from_options() {
        let check = |line: &str, before: usize, expect: &[&str]| {
            let arguments = words(line);
            assert_eq!(server(&arguments, before).directories(&arguments), expect, "{line}");
        };
        check("-y package /a b", 2, &["/a", "b"]);
        check("package --allow-write /a -t true /b true", 1, &["/a", "/b", "true"]);
        check("package ${roots} /a", 1, &["/a"]);
        check("package", 1, &[]);
    }

    #[test]
    fn roots_replace_the_typed_directories() {
        let check = |line: &str, before: usize, expect: &str| {
            let arguments = words(line);
            let given = ["/r", "/s"].into_iter().map(OsString::from);
            let given = server(&arguments, before).given(&arguments, given, <[OsString]>::to_vec);
            let given: Vec<&str> = given.iter().map(|word| word.to_str().unwrap()).collect();
            assert_eq!(given.join(" "), expect, "{line}");
        };
        check("-y package /a ./b ${roots}", 2, "-y package /r /s");
        check("package -w true /a --enable-roots", 1, "package /r /s -w true --enable-roots");
        check("package", 1, "package /r /s");
    }
}
