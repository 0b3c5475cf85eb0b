//! `rootward explain`: one decision, step by step.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use clap::Args;
use rootward_core::{Access, Cause, Code, Guard, Origin, Shown, Step, TextForm};
use serde::Serialize;

use crate::Outcome;
use crate::answer::Answer;
use crate::decision::{Decision, Refused};
use crate::ground::{Ground, PlacedRoots, Question};
use crate::hint;

/// Show step by step how a path is decided
///
/// The same decision as `check` makes, with each step: how the text is parsed, which root it leads into, where links
/// lead, what access the root gives, and whether the place is closed.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Explain {
    #[command(flatten)]
    question: Question,
    /// Print one JSON object: that of `check`, and `steps`
    #[arg(long)]
    json: bool,
    /// A path or `file:` URI
    #[arg(value_name = "PATH")]
    path: OsString,
}

const AFTER_HELP: &str = "Exit codes: 0 allowed, 1 denied, 2 wrong use or failure";

/// The answer for programs.
#[derive(Serialize)]
struct Explained<'a> {
    #[serde(flatten)]
    answer: Answer<'a>,
    steps: &'a [Step],
}

impl Explain {
    pub(crate) fn run(self) -> Result<Outcome> {
        let ground = Ground::load_ambient()?;
        let roots = ground.roots(&self.question.roots, self.question.asking.name())?;
        roots.warn();
        let guard = ground.guard(roots.set.clone(), ground.base(self.question.base.as_deref(), None)?);
        let (steps, result) = guard.explain(&self.path, self.question.access);
        let decision = Decision::from_guard(result, &self.path);
        let mut out = io::stdout().lock();
        if self.json {
            let answer = Answer::new(&self.path, &decision);
            serde_json::to_writer(&mut out, &Explained { answer, steps: &steps })?;
            out.write_all(b"\n")?;
        } else {
            let told = Told { path: &self.path, access: self.question.access, steps: &steps, decision: &decision };
            told.write(&ground, &roots, &guard, &mut out)?;
        }
        out.flush()?;
        Ok(match decision {
            Decision::Allow(_) => Outcome::Done,
            Decision::Deny(_) => Outcome::Denied,
        })
    }
}

/// A decision, described for a person.
struct Told<'a> {
    path: &'a OsStr,
    access: Access,
    steps: &'a [Step],
    decision: &'a Decision,
}

impl Told<'_> {
    fn write(&self, ground: &Ground, roots: &PlacedRoots, guard: &Guard, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "path    {}", Shown::new(self.path))?;
        writeln!(out, "access  {}", self.access)?;
        if guard.roots().is_empty() {
            writeln!(out, "roots   none")?;
        } else {
            let fallback = guard.roots().iter().any(|placed| placed.root.origin == Origin::Fallback);
            let from = if fallback { "the fallback directory of the" } else { "from" };
            writeln!(out, "roots   {}, {from} {}", hint::listed(guard, ground.home()), roots.source)?;
        }
        writeln!(out)?;
        let lines = self.lines();
        let width = lines.iter().map(|(what, _)| what.len()).max().unwrap_or(0);
        for (number, (what, says)) in (1..).zip(&lines) {
            writeln!(out, "{number:>2}. {what:width$}  {says}")?;
        }
        if !lines.is_empty() {
            writeln!(out)?;
        }
        match self.decision {
            Decision::Allow(grant) => writeln!(out, "allowed: {} of `{}`", self.access, shown(&grant.path())),
            Decision::Deny(refused) => {
                writeln!(out, "denied ({}): {}", refused.denial.code(), refused.denial.for_operator())?;
                match hint::hint(refused, guard, ground, roots) {
                    Some(hint) => writeln!(out, "\nhint: {hint}"),
                    None => Ok(()),
                }
            }
        }
    }

    /// Each step: its subject and its result.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines: Vec<_> = self.steps.iter().map(|step| self.line(step)).collect();
        let closed = self.steps.iter().any(|step| matches!(step, Step::Restriction { .. }));
        match self.decision {
            Decision::Allow(_) if closed => {}
            Decision::Allow(_) => lines.push(("closed places", "none of them contains this place".to_owned())),
            Decision::Deny(refused) => lines.extend(last_step(refused)),
        }
        lines
    }

    /// Whether the path's text already names this place.
    fn is_text(&self, place: &Path) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Text { path, .. } if path == place))
    }

    fn line(&self, step: &Step) -> (&'static str, String) {
        match step {
            Step::Text { form, path } => ("text", self.text(*form, path)),
            Step::RootByText { root, place } if root == place => {
                ("root", format!("the names lead into root `{}`", shown(root)))
            }
            Step::RootByText { root, place } => {
                ("root", format!("the names lead into root `{}`, which is at `{}`", shown(root), shown(place)))
            }
            Step::NoRootByText => (
                "root",
                "the path is not in a root by name; a link may lead into one, so links are followed".to_owned(),
            ),
            Step::Direct { place } => ("resolved", format!("there are no links on the way: `{}`", shown(place))),
            Step::Followed { place } if self.is_text(place) => {
                ("resolved", format!("there are no links on the way: `{}`", shown(place)))
            }
            Step::Followed { place } => {
                ("resolved", format!("with links and `..` followed, the path leads to `{}`", shown(place)))
            }
            Step::Absent { .. } => ("exists", "not yet: reading says \"not found\", writing may create it".to_owned()),
            Step::Blocked { .. } => ("exists", "no, and it cannot: something on the way is not a directory".to_owned()),
            Step::MagicLink { place } => {
                ("resolved", format!("`{}` is a magic link, which is never followed", shown(place)))
            }
            Step::Climbs { place } => {
                ("resolved", format!("it climbs by `..` from `{}`, which is outside every root", shown(place)))
            }
            Step::System { error } => ("resolved", format!("the system does not resolve the path: {error}")),
            Step::Governed { root, gives, asked } => {
                let verdict = if gives.contains(*asked) { "enough for" } else { "not enough for" };
                ("access", format!("root `{}` is shared for {gives}: {verdict} {asked}", shown(root)))
            }
            Step::Restriction { pattern, takes } => {
                let closed = if *takes == Access::ALL { "closed".to_owned() } else { format!("closed for {takes}") };
                let open = if (*takes & self.access).is_empty() {
                    format!(", not for {}", self.access)
                } else {
                    String::new()
                };
                ("closed places", format!("the place is {closed} by `{}`{open}", Shown::new(pattern)))
            }
        }
    }

    fn text(&self, form: TextForm, path: &Path) -> String {
        let path = shown(path);
        let bytes = self.path.as_encoded_bytes();
        match form {
            TextForm::FromBase => format!("a relative path, counted from the base: `{path}`"),
            TextForm::FromFirstRoot => format!("a relative path, counted from the first root: `{path}`"),
            TextForm::Absolute if bytes.starts_with(b"/") => "an absolute path".to_owned(),
            TextForm::Absolute if bytes.starts_with(b"~") => format!("a path from the home directory: `{path}`"),
            TextForm::Absolute => format!("a `file:` URI: `{path}`"),
        }
    }
}

/// The step at which the guard stopped, which it does not report itself.
fn last_step(refused: &Refused) -> Option<(&'static str, String)> {
    match (refused.denial.code(), refused.denial.cause()) {
        (Code::NoRoots, _) => Some(("root", "there are no roots".to_owned())),
        (_, Cause::RootItself) => Some(("root", "the path names the root itself, which is never removed".to_owned())),
        (Code::SpecialFile, _) => Some(("opening", "a device, FIFO or socket is never opened".to_owned())),
        (Code::OutsideRoots | Code::SymlinkEscape, Cause::Plain) => {
            Some(("root", "no root contains that place".to_owned()))
        }
        (_, Cause::Text(reason)) => Some(("text", format!("not a usable path: {reason}"))),
        _ => None,
    }
}

fn shown(path: &Path) -> Shown<'_> {
    Shown::new(path)
}
