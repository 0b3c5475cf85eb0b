//! `rootward adopt`: puts `rootward wrap` before the servers in your clients' config files, or replaces them with
//! one `rootward hub`, and undoes it.

mod another;
mod diff;
mod gathering;
mod hubs;
mod lines;
mod recipe;
mod scratch;
mod talk;
mod told;
mod trials;
mod trying;
mod undoing;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use rootward_client::adopt::{FileError, Shelf, ShelfError, Verdict};
use rootward_client::import::Client;
use rootward_core::env::{Directories, Environment};
use rootward_core::{Material, Shown, Validation};
use rootward_hub::recipe::Book;

use self::gathering::{Gathered, Target, Way};
use self::trying::Tried;
use crate::Outcome;
use crate::message::{self, Hinted};

/// Put `rootward wrap` before the servers in your clients' config files, or replace them with one `rootward hub`
///
/// Finds the config files of Claude Code, Claude Desktop, Cursor, VS Code, Codex, Gemini CLI, opencode, Windsurf and
/// Zed: your own and those of the project in the working directory. Shows the change, asks, and replaces each file
/// only if nobody else changed it in the meantime. Comments, order and everything else in a file stay as they are.
/// Then it starts each server once, confined, to see whether it works. `--undo` reverts everything.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Adopt {
    /// Only the files of this client (`claude-code`, `claude-desktop`, `cursor`, `vscode`, `codex`, `gemini-cli`, `opencode`, `windsurf`,
    /// `zed`), or only this file
    #[arg(value_name = "CLIENT|FILE")]
    target: Option<OsString>,
    /// Move the servers into a file of their own, and replace them with one entry: `rootward hub`, which runs them
    /// all. Servers that the hub cannot run stay where they are
    #[arg(long)]
    hub: bool,
    /// Revert: a file that nobody changed since gets its old bytes back; in others, each server gets its own command
    /// back
    #[arg(long)]
    undo: bool,
    /// Do not start the servers afterwards
    #[arg(long, conflicts_with = "undo")]
    no_try: bool,
    #[command(flatten)]
    scripted: Scripted,
}

/// Flags for scripts.
#[derive(Args, Debug)]
struct Scripted {
    /// Do not ask. Servers from a project's files are not started then
    #[arg(long)]
    yes: bool,
    /// Print one JSON object: `files` (each with `client`, `file`, `holder`, `changed`, `error`, `servers`, `hubs`,
    /// `not_understood`; with `--undo`: `restored`, `left` and `kept`) and `unread`
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Exit codes: 0 done, or there was nothing to do; 1 the answer was no, no config file was found, a server \
does not work, or `--undo` left a changed server as it is; 2 wrong use or failure: a file that cannot be read or \
replaced stays as it is, and the others are adopted anyway";

/// What the verb works with.
struct Desk {
    environment: Environment,
    directories: Directories,
    material: Material,
    /// The recipes that `wrap` knows.
    book: Book,
    shelf: Shelf,
    here: Option<PathBuf>,
}

impl Desk {
    fn open_ambient() -> Result<Desk> {
        let environment: Environment = std::env::vars_os().collect();
        let directories = Directories::new(&environment);
        let material = Validation::of(&directories).material_ambient();
        let recipes = directories.settings.as_ref().map(|settings| settings.join("recipes"));
        let book = Book::load_ambient(recipes.as_deref())?;
        let shelf = Shelf::of(&directories).ok_or_else(|| Hinted {
            says: "there is no place for backups".to_owned(),
            hint: "set `HOME` or `XDG_STATE_HOME` to an absolute path".to_owned(),
        })?;
        Ok(Desk { environment, directories, material, book, shelf, here: std::env::current_dir().ok() })
    }

    fn shown(&self, path: &Path) -> String {
        message::from_home(path, self.directories.home.as_deref())
    }
}

/// Who consented.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Yes {
    /// A person, after seeing the change.
    Person,
    /// The command line, with `--yes`.
    Flag,
}

impl Adopt {
    pub(crate) fn run(self) -> Result<Outcome> {
        let desk = Desk::open_ambient()?;
        let target = Target::read(self.target.as_deref(), &desk)?;
        if self.undo {
            return undoing::run(&self, &target, &desk);
        }
        let caller = crate::calling::caller_ambient()?;
        another::warn_of_writable(&caller, &desk.material);
        let way = if self.hub { Way::Hub } else { Way::Wrap };
        if way == Way::Hub {
            hubs::check_directory_ambient(&desk)?;
        }
        let mut gathered = gathering::gather_ambient(&target, way, &desk, &caller)?;
        if gathered.is_empty() {
            message::error("no client config file was found");
            message::line("looked at:");
            for file in gathering::looked_at(&target, &desk) {
                message::line(&format!("  {}", desk.shown(&file)));
            }
            message::hints(&[
                "if your client keeps its servers in another file, name it: `rootward adopt FILE`".to_owned()
            ]);
            return Ok(Outcome::Denied);
        }
        let servers = gathered.to_adopt();
        if !self.scripted.json {
            let mut out = io::stdout().lock();
            lines::write(&mut out, &gathered, &desk)?;
            out.flush()?;
            lines::tell_unread(&gathered, &desk);
        }
        let answer = if servers == 0 { None } else { self.ask(&question("Adopt", servers), &adopting_hint())? };
        let outcome = match answer {
            None if servers == 0 => Outcome::Done,
            None => Outcome::Denied,
            Some(yes) => self.carry_out(&mut gathered, yes, &desk)?,
        };
        if self.scripted.json {
            told::write(&mut io::stdout().lock(), &gathered, &desk)?;
        } else if servers == 0 {
            message::line("there is nothing to adopt");
        }
        Ok(outcome.and(if gathered.unread.is_empty() { Outcome::Done } else { Outcome::Failed }))
    }

    /// Writes the files and starts the servers.
    fn carry_out(&self, gathered: &mut Gathered, yes: Yes, desk: &Desk) -> Result<Outcome> {
        let mut outcome = Outcome::Done;
        let mut adopted = 0;
        for file in gathered.files.iter_mut().filter(|file| file.plan.changed_servers() > 0) {
            match desk.shelf.adopt_ambient(&file.config, file.form, &file.plan) {
                Ok(()) => {
                    file.changed = true;
                    adopted += file.plan.changed_servers();
                }
                Err(error) => {
                    let says = not_replaced(&error);
                    message::error(&format!("`{}` stays as it is: {says}", desk.shown(&file.config.path)));
                    file.error = Some(says);
                    outcome = Outcome::Failed;
                }
            }
        }
        if !self.scripted.json && adopted > 0 {
            let servers = counted(adopted);
            writeln!(io::stdout().lock(), "adopted {servers}; `rootward adopt --undo` reverts it")?;
        }
        if !self.no_try {
            outcome = outcome.and(trying::run(gathered, yes, self.scripted.json, desk)?);
        }
        if !self.scripted.json {
            message::hints(&hints(gathered));
        }
        Ok(outcome)
    }

    /// The user's consent; `None` if the answer is no. Fails if nobody can be asked.
    fn ask(&self, question: &str, hint: &str) -> Result<Option<Yes>> {
        if self.scripted.yes {
            return Ok(Some(Yes::Flag));
        }
        // SECURITY: a file of another program is changed only with a person's consent
        // (test: nothing_is_changed_without_a_yes)
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            message::error("nothing was changed: there is no terminal to ask on");
            message::hints(&[hint.to_owned()]);
            return Ok(None);
        }
        let mut stderr = io::stderr().lock();
        write!(stderr, "{question} [y/N] ")?;
        stderr.flush()?;
        drop(stderr);
        let mut said = String::new();
        io::stdin().read_line(&mut said).context("the answer cannot be read")?;
        if ["y", "yes"].contains(&said.trim().to_lowercase().as_str()) {
            return Ok(Some(Yes::Person));
        }
        message::line("nothing was changed");
        Ok(None)
    }
}

fn question(verb: &str, servers: usize) -> String {
    match servers {
        1 => format!("{verb} this server?"),
        _ => format!("{verb} these {servers} servers?"),
    }
}

fn adopting_hint() -> String {
    "pass `--yes` to adopt them".to_owned()
}

fn counted(servers: usize) -> String {
    if servers == 1 { "1 server".to_owned() } else { format!("{servers} servers") }
}

/// Why a file was not replaced, in the house format.
fn not_replaced(error: &ShelfError) -> String {
    match error {
        ShelfError::File(error) => not_read(error),
        other => message::causes(other),
    }
}

/// Why a file cannot be read, in the house format.
fn not_read(error: &FileError) -> String {
    match error {
        FileError::System(error) => message::system_text(&error.to_string()),
        other => other.to_string(),
    }
}

/// What a person may still have to do.
fn hints(gathered: &Gathered) -> Vec<String> {
    let mut hints = Vec::new();
    let silent = [Client::ClaudeDesktop, Client::Windsurf, Client::Zed];
    for file in gathered.files.iter().filter(|file| file.changed && silent.contains(&file.form.client())) {
        let hint = format!(
            "if {} shares no directories with its servers, save some for them: `rootward roots add DIR`",
            file.form.client()
        );
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    let failed = gathered.servers().any(|(_, server)| matches!(server.tried, Some(Tried::Fails { .. })));
    if failed {
        hints.push("`rootward wrap --help` lists what you can give a server".to_owned());
    }
    hints
}

/// A verdict, for programs.
fn verdict_word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Wrap(_) => "wrap",
        Verdict::Hub => "hub",
        Verdict::Wrapped => "wrapped",
        Verdict::Rootward => "rootward",
        Verdict::NotWrapped(_) => "not_wrapped",
    }
}

/// A name, safe for a terminal.
fn name(text: &str) -> String {
    Shown::new(text).to_string()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use rootward_client::adopt::{Called, Extras, Invocation};
    use rootward_client::import::{ConfiguredCommand, FileVariables};
    use rootward_sandbox::PassedVariable;

    /// The client library cannot see what `wrap` accepts as the name of a variable, so compare.
    #[test]
    fn wrap_takes_every_variable_that_is_named() {
        let odd = ["A", "a.b", "A B", "ä", "-x", "--root", "", "=", "A=", "*", "A*", "AB*", "A*B", "\0", "$(x)", "\n"];
        let line = ConfiguredCommand {
            program: "x".to_owned(),
            arguments: Vec::new(),
            variables: odd.map(|name| (name.to_owned(), String::new())).to_vec(),
            passed: Vec::new(),
            variables_file: None,
            from_file: FileVariables::Unread,
            directory: None,
        };
        let caller = Invocation { path: "/rootward".to_owned(), called: Called::ByPath };
        let before = line.wrapping(&caller, &Extras::default()).before;
        let together = before.iter().filter_map(|word| word.strip_prefix("--env="));
        let apart = before.windows(2).filter(|pair| pair[0] == "--env").map(|pair| pair[1].as_str());
        let named: Vec<&str> = apart.chain(together).collect();
        assert_eq!(named, ["A", "a.b", "A B", "ä", "$(x)", "\n", "-x", "--root"]);
        for name in named {
            let passed = PassedVariable::read(name).unwrap();
            assert!(passed.passes(OsStr::new(name)) && !passed.passes(OsStr::new(&format!("{name}X"))), "{name}");
        }
    }
}
