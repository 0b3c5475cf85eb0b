//! `cargo xtask files`: compares `rootward serve` with the reference file server, call by call.
//!
//! Both servers get the same calls, each in a fresh copy of the same tree. Their answers and the trees afterwards must agree, or differ
//! as `docs/files.md` says. Every difference on that page must still exist.

mod answer;
mod case;
mod cases;
mod documented;
mod listed;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rootward_testkit::client::message;
use rootward_testkit::snapshot::Snapshot;
use rootward_testkit::tree::{Item, Tree};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cases::{chosen, judge};
use taskkit::built;
use taskkit::call::Call;
use taskkit::conversation::{Conversation, Roots};
use taskkit::install::{Runtime, node, packages, runtimes};
use taskkit::table;

use answer::Answer;
use case::{After, Case, Expect};

/// The reference server's script below `node_modules`.
const REFERENCE: &str = "@modelcontextprotocol/server-filesystem/dist/index.js";

/// The entries that every tree has.
const GROUND: &[Item] = &[Item::Directory("root"), Item::Secret("outside/secret.txt"), Item::Directory("home")];

/// One check.
#[derive(Clone, Copy, Debug)]
enum Check {
    /// Compares the `tools/list` of both servers.
    Tools,
    /// The documentation and the cases list the same differences.
    Documented,
    Calls(&'static Case),
}

impl Check {
    fn name(self) -> String {
        match self {
            Check::Tools => "the list of tools".to_owned(),
            Check::Documented => "the documented differences".to_owned(),
            Check::Calls(case) => case.name.to_owned(),
        }
    }
}

/// One of the two servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Reference,
    Rootward,
}

/// The calls that passed.
#[derive(Clone, Copy, Default, Debug)]
struct Counted {
    agreed: usize,
    on_purpose: usize,
}

/// The directories in which the trees are built, and the servers.
struct Ground {
    place: TempDir,
    /// Rootward's state. Not part of the tree that is compared.
    state: TempDir,
    rootward: PathBuf,
    node: PathBuf,
    reference: PathBuf,
    /// Both servers, reused by every case whose only root is `root`.
    usual: Option<[Conversation; 2]>,
}

fn checks() -> Vec<Check> {
    [Check::Tools, Check::Documented].into_iter().chain(cases::all().into_iter().map(Check::Calls)).collect()
}

/// Runs the cases whose names contain all of `parts`. Returns a note for the table of steps.
pub(crate) fn run(top: &Path, parts: &[&str]) -> Result<String> {
    let checks = chosen(checks(), parts, Check::name)?;
    let mut ground = Ground::prepare(top)?;
    let mut outcomes = Vec::new();
    let mut counted = Counted::default();
    let mut rows = vec![["case", "agreed", "on purpose"].map(str::to_owned).to_vec()];
    for check in &checks {
        let outcome = match *check {
            Check::Tools => ground.tools().map(|agreed| Counted { agreed, on_purpose: 0 }),
            Check::Documented => documented::check(top, &cases::all()).map(|_| Counted::default()),
            Check::Calls(case) => ground.play(case),
        };
        let number = |count: usize| if count == 0 { String::new() } else { count.to_string() };
        rows.push(match &outcome {
            Ok(this) => vec![check.name(), number(this.agreed), number(this.on_purpose)],
            Err(_) => vec![check.name(), "FAILED".to_owned()],
        });
        if let (Ok(this), Check::Calls(_)) = (&outcome, check) {
            counted.agreed += this.agreed;
            counted.on_purpose += this.on_purpose;
        }
        outcomes.push((*check, outcome.map(drop)));
    }
    println!("\n{}", table::lay_out(&rows));
    let note = judge(checks.len(), &outcomes, Check::name)?;
    Ok(format!("{note}: {} calls agree, {} differ on purpose", counted.agreed, counted.on_purpose))
}

impl Ground {
    fn prepare(top: &Path) -> Result<Ground> {
        runtimes(top, &[Runtime::Node])?;
        let [rootward] = built::programs(top, Call::cargo("build -p rootward --bin rootward"), ["rootward"])?;
        Ok(Ground {
            place: tempfile::Builder::new().prefix("files-").tempdir()?,
            state: tempfile::tempdir()?,
            rootward,
            node: node(top)?,
            reference: packages(top, "servers")?.join("node_modules").join(REFERENCE),
            usual: None,
        })
    }

    /// Starts a server. The tree must already exist.
    fn start(&self, side: Side, roots: &[&str]) -> Result<Conversation> {
        let top = self.place.path().canonicalize()?;
        let mut command = match side {
            Side::Reference => {
                let mut command = Command::new(&self.node);
                command.arg(&self.reference);
                command
            }
            Side::Rootward => {
                let mut command = Command::new(&self.rootward);
                command.arg("serve");
                command
            }
        };
        command.args(roots.iter().map(|root| top.join(root))).current_dir(self.state.path());
        command.env("HOME", top.join("home")).env_remove("ROOTWARD_ROOTS");
        command.env("XDG_STATE_HOME", self.state.path()).env("XDG_CONFIG_HOME", self.state.path());
        Conversation::start(command, Roots::Unknown)
    }

    /// Builds the tree and sends the calls to a server. Returns its answers and the tree afterwards.
    fn ask(&mut self, side: Side, case: &Case) -> Result<(Vec<Answer>, Snapshot)> {
        let tree = Tree::build_in(self.place.path(), &[GROUND, case.tree]).context("cannot build the tree")?;
        let mut own;
        let server = if case.roots == ["root"] {
            if self.usual.is_none() {
                self.usual = Some([self.start(Side::Reference, case.roots)?, self.start(Side::Rootward, case.roots)?]);
            }
            let [reference, rootward] = self.usual.as_mut().context("no server")?;
            if side == Side::Reference { reference } else { rootward }
        } else {
            own = self.start(side, case.roots)?;
            &mut own
        };
        let mut answers = Vec::new();
        for call in case.calls {
            let arguments: Value = serde_json::from_str(&filled(call.arguments, tree.top()))
                .with_context(|| format!("not JSON: {}", call.arguments))?;
            let message = server.ask("tools/call", message::call(call.tool, arguments))?;
            answers.push(Answer::of(&message));
        }
        Ok((answers, tree.snapshot()?))
    }

    fn play(&mut self, case: &Case) -> Result<Counted> {
        let (reference, after_reference) = self.ask(Side::Reference, case).context("the reference")?;
        let (rootward, after_rootward) = self.ask(Side::Rootward, case).context("Rootward")?;
        let top = self.place.path().canonicalize()?;
        let mut counted = Counted::default();
        let mut wrong = Vec::new();
        for ((call, reference), rootward) in case.calls.iter().zip(&reference).zip(&rootward) {
            if let Err(error) = Answer::compare(reference, rootward, call.expect, |text| filled(text, &top)) {
                wrong.push(format!("\n{} {}: {error}", call.tool, call.arguments));
            }
            match call.expect {
                Expect::Differ(..) | Expect::SameBut(..) => counted.on_purpose += 1,
                Expect::Same | Expect::SameLines | Expect::SameTree | Expect::Fail => counted.agreed += 1,
            }
        }
        ensure!(wrong.is_empty(), "{}", wrong.concat());
        let differences = after_reference.differences(&after_rootward);
        match case.after {
            After::Same => ensure!(differences.is_empty(), "they leave different trees: {differences:?}"),
            After::Different => ensure!(!differences.is_empty(), "they no longer leave different trees"),
        }
        Ok(counted)
    }

    fn tools(&self) -> Result<usize> {
        let _tree = Tree::build_in(self.place.path(), &[GROUND])?;
        let list = |side| self.start(side, &["root"])?.ask("tools/list", json!({}));
        listed::compare(&list(Side::Reference)?, &list(Side::Rootward)?)
    }
}

/// Replaces `$ROOT` and `$TOP` by their paths.
fn filled(text: &str, top: &Path) -> String {
    text.replace("$ROOT", &top.join("root").display().to_string()).replace("$TOP", &top.display().to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_tool_is_called_and_case_names_are_unique() {
        let cases = cases::all();
        let names: BTreeSet<&str> = cases.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), cases.len());
        for tool in [
            "read_file",
            "read_text_file",
            "read_media_file",
            "read_multiple_files",
            "write_file",
            "edit_file",
            "create_directory",
            "list_directory",
            "list_directory_with_sizes",
            "directory_tree",
            "move_file",
            "search_files",
            "get_file_info",
            "list_allowed_directories",
        ] {
            let calls: Vec<_> = cases.iter().flat_map(|case| case.calls).filter(|call| call.tool == tool).collect();
            let of = |fails: bool| calls.iter().filter(|call| matches!(call.expect, Expect::Fail) == fails).count();
            assert!(of(false) > 0, "{tool}");
            assert!(of(true) > 0 || tool == "list_allowed_directories", "{tool}");
        }
    }
}
