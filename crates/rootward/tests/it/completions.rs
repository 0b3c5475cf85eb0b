//! Completions and manual pages: every shell's script names every verb, and the programs that read them accept them.

use std::path::Path;
use std::process::Command;

use crate::stage::Stage;

/// The verbs that `--help` lists.
fn verbs(stage: &Stage) -> Vec<String> {
    let help = stage.run(["--help"]).stdout;
    let list = help.split_once("Commands:\n").unwrap().1.split_once("\n\n").unwrap().0;
    let first_words = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let verbs: Vec<String> = first_words.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    assert!(verbs.len() > 10 && verbs.contains(&"roots".to_owned()), "{help}");
    verbs
}

fn is_installed(program: &str) -> bool {
    std::env::split_paths("/usr/bin:/bin:/usr/local/bin").any(|directory| directory.join(program).exists())
}

#[test]
fn every_script_names_every_verb_and_no_hidden_one() {
    let stage = Stage::new();
    let verbs = verbs(&stage);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = stage.run(["completions", shell]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{shell}");
        for verb in &verbs {
            let is_named = run.stdout.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| word == verb);
            assert!(is_named, "{verb} in the script of {shell}");
        }
        assert!(!run.stdout.contains("hub__front") && !run.stdout.contains("Speak to an MCP server"), "{shell}");
    }
    assert_eq!(stage.run(["completions", "csh"]).code, Some(2));
}

#[test]
fn bash_completes_verbs_and_options() {
    if !is_installed("bash") {
        return;
    }
    let stage = Stage::new();
    let script = stage.path("home/rootward.bash");
    std::fs::write(&script, stage.run(["completions", "bash"]).stdout).unwrap();
    assert!(Command::new("bash").arg("-n").arg(&script).status().unwrap().success());
    let completed = |words: &[&str]| {
        let last = words.len() - 1;
        let call = "source \"$1\"; shift; COMP_CWORD=$(($# - 1)); COMP_WORDS=(\"$@\"); \
                    _rootward rootward \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"; \
                    printf '%s\\n' \"${COMPREPLY[@]}\"";
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", call, "bash"]).arg(&script).args(words);
        let output = bash.output().unwrap();
        assert!(last > 0 && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(completed(&["rootward", "ro"]), ["roots"]);
    assert_eq!(completed(&["rootward", "wrap", "--get"]), ["--get-roots"]);
    assert_eq!(completed(&["rootward", "sandbox", "--network", "o"]), ["on", "off"]);
}

/// The pages in a directory.
fn pages(directory: &Path) -> Vec<String> {
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn there_is_a_page_for_each_verb() {
    let stage = Stage::new();
    let run = stage.run(["man", "made/man1"]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""));
    let directory = stage.path("project/made/man1");
    let pages = pages(&directory);
    for verb in verbs(&stage).iter().filter(|verb| *verb != "help") {
        assert!(pages.contains(&format!("rootward-{verb}.1")), "{verb} in {pages:?}");
    }
    assert!(
        pages.contains(&"rootward.1".to_owned()) && pages.contains(&"rootward-roots-add.1".to_owned()),
        "{pages:?}"
    );
    assert!(!pages.iter().any(|page| page.contains("connect") || page.contains("front")), "{pages:?}");
    let main = stage.run(["man"]).stdout;
    for part in [".TH rootward 1", "ROOTWARD_ROOTS", "rootward\\-wrap(1)"] {
        assert!(main.contains(part), "{part} in {main}");
    }
    if is_installed("groff") {
        for page in &pages {
            let groff = ["-Kutf8", "-man", "-Tutf8", "-ww", "-z"];
            let output = Command::new("groff").args(groff).arg(directory.join(page)).output().unwrap();
            let says = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && says.is_empty(), "{page}: {says}");
        }
    }
}

#[test]
fn a_directory_that_cannot_be_created_is_reported() {
    let stage = Stage::new();
    let run = stage.run(["man", "README.md"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("the manual pages cannot be written into `README.md`"), "{}", run.stderr);
}
