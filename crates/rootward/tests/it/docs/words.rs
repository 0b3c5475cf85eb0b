//! The program's verbs and flags, parsed from its own help.

use std::collections::BTreeMap;
use std::process::Command;

/// Verbs by their full names (`roots add`), each with its flags.
#[derive(Debug)]
pub(super) struct Verbs(BTreeMap<String, Flags>);

/// Flags. The boolean says whether the flag takes a value.
type Flags = BTreeMap<String, bool>;

/// Verbs whose first word that is not a flag starts another program's command.
const RUNNERS: [&str; 2] = ["wrap", "sandbox"];

/// Verbs that no help lists, because users do not type them.
const HIDDEN: [&str; 1] = ["connect"];

impl Verbs {
    pub(super) fn of_program() -> Verbs {
        let mut verbs = BTreeMap::new();
        add(&mut verbs, &[]);
        for verb in &HIDDEN {
            add(&mut verbs, &[verb]);
        }
        Verbs(verbs)
    }

    /// Checks that the verb and all flags of a command line exist.
    pub(super) fn judge(&self, line: &str) -> Result<(), String> {
        let line = line.split(" #").next().unwrap_or_default();
        // A synopsis has brackets and dots.
        let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches(['[', ']', '.', '…'])).collect();
        let mut words = words.into_iter().filter(|word| !word.is_empty()).peekable();
        let mut verb = String::new();
        while let Some(longer) = words.peek().map(|word| format!("{verb} {word}").trim().to_owned())
            && self.0.contains_key(&longer)
        {
            verb = longer;
            words.next();
        }
        let Some(flags) = self.0.get(&verb).filter(|_| !verb.is_empty() || line.starts_with('-')) else {
            return Err("no such verb".to_owned());
        };
        while let Some(word) = words.next() {
            let (flag, has_value) = word.split_once('=').map_or((word, false), |(flag, _)| (flag, true));
            match flags.get(flag) {
                Some(takes_value) if *takes_value && !has_value => drop(words.next()),
                None if word == "--" => return Ok(()),
                None if flag.starts_with('-') => return Err(format!("`{verb}` has no flag `{flag}`")),
                None if RUNNERS.contains(&verb.as_str()) && words.peek() != Some(&"--") => return Ok(()),
                None if self.has_verbs(&verb) => return Err(format!("`{verb}` has no verb `{word}`")),
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    fn has_verbs(&self, verb: &str) -> bool {
        self.0.keys().any(|known| known.starts_with(&format!("{verb} ")))
    }
}

/// Adds a verb and its subcommands.
fn add(verbs: &mut BTreeMap<String, Flags>, words: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_rootward")).args(words).arg("--help").env_clear().output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let (mut flags, mut below, mut lists_verbs) = (Flags::new(), Vec::new(), false);
    for line in help.lines() {
        if !line.starts_with(' ') && !line.is_empty() {
            lists_verbs = line == "Commands:";
        }
        let names = line.trim_start();
        let indent = line.len() - names.len();
        if names.starts_with('-') && indent < 10 {
            for name in names.split("  ").next().unwrap_or_default().split(", ") {
                let (flag, value) = name.split_once(' ').unwrap_or((name, ""));
                flags.insert(flag.to_owned(), value.starts_with('<'));
            }
        } else if lists_verbs && indent == 2 {
            below.extend(names.split_whitespace().next().filter(|verb| *verb != "help"));
        }
    }
    verbs.insert(words.join(" "), flags);
    for verb in below {
        add(verbs, &[words, &[verb]].concat());
    }
}

#[test]
fn verbs_and_flags_are_told_apart() {
    let verbs = Verbs::of_program();
    for good in [
        "wrap",
        "wrap --root ~/docs server --data ~/docs",
        "wrap [--env NAME]... -- npx -y pkg",
        "roots add '~/src/*'",
        "audit show --server NAME",
        "adopt [CLIENT|FILE] [--hub] [--yes]",
        "--version",
        "hub --root=DIR   # --no-flag",
    ] {
        assert_eq!(verbs.judge(good), Ok(()), "{good}");
    }
    for bad in ["conect", "wrap --roots DIR", "audit watch", "roots add --fro DIR", "sandbox --net off x"] {
        assert!(verbs.judge(bad).is_err(), "{bad}");
    }
}
