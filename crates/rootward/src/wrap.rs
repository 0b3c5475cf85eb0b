//! `rootward wrap`: one server, confined to the roots.

pub(crate) mod arguments;
mod learning;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use clap::builder::{StringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use rootward_core::session::Sources;
use rootward_core::{Material, PlacedRoot, RootSet, Validation};
use rootward_hub::config::PathPairs;
use rootward_hub::has_root_template;
use rootward_hub::hub::ConfiguredHub;
use rootward_hub::recipe::{HomeKind, Recipe, Takes};
use rootward_hub::scan::{Expansion, Need, Protection, Treatment};
use rootward_hub::wrap::{
    About, Confine, Enforce, Homes, Inject, LONGEST, Launch, Lookout, Operator, Rules, Runs, Tells, TreatedBy,
    Treatments, Wrap as Wrapped,
};
use rootward_sandbox::{Enforcement, Refused, StartError, Trace};

use crate::command_words::{Verb, no_command};
use crate::confinement_flags::{ConfinementFlags, Wanted};
use crate::ground::Ground;
use crate::message;
use crate::recipes;
use crate::recording::Recording;
use crate::sandbox::told;
use crate::saved::AskingAs;
use crate::settings::flag_help;
use crate::treat::{Treat, TreatedAs};
use crate::withheld;
use learning::Learning;

/// Run an MCP server confined to the roots
///
/// Put it before a server's command in a client's settings. The server starts in the client's roots, limited to the
/// directories named here. Calls with paths outside are refused with an explanation, and the kernel confines the
/// server itself. Everything else works as before.
#[derive(Args, Debug)]
#[command(override_usage = USAGE, after_help = AFTER_HELP)]
pub(crate) struct Wrap {
    /// A directory or file that limits what the client may share, with `:ro` (read), `:rw` (read, write, delete; the
    /// default), `:rw-nodelete` (read, write) or `:rwx` (all) at its end; may be repeated. If the client names no
    /// roots, these are the roots. Without any, those of `ROOTWARD_ROOTS`, else those of the settings file. If
    /// nobody names any, the saved roots (`rootward roots`)
    #[arg(long = "root", value_name = "DIR")]
    roots: Vec<OsString>,
    #[command(flatten)]
    asking: AskingAs,
    #[command(flatten)]
    confinement: ConfinementFlags,
    /// How the server gets its directories, besides over MCP: as arguments that replace those you typed, if it is a
    /// file server known to take them (`known`), as arguments at the end (`args`), in a variable (`env:NAME`), or
    /// not at all (`none`). `${root}` and `${roots}` in arguments and variables are replaced, too
    #[arg(long, value_name = "HOW", default_value = "known", value_parser = inject)]
    inject: Inject,
    /// The recipe to use: the one that fits the command (`auto`), a recipe by its name, or `none`. `rootward recipe`
    /// lists all
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = StringValueParser::new().map(|text| recipes::Wanted::read(&text)))]
    recipe: recipes::Wanted,
    /// The server's home: one per project, kept (`project`, the default), one for all projects, kept (`shared`), one
    /// that is removed when the server ends (`private`), or an empty, read-only one (`none`). A recipe may choose
    /// another default
    #[arg(long, value_name = "HOME", value_parser = home)]
    home: Option<HomeKind>,
    /// Write a recipe to FILE when the server ends: what it was refused or not given, each line commented out until
    /// you accept it. The server stays confined. This slows down every opening of a file
    #[arg(long, value_name = "FILE")]
    learn: Option<PathBuf>,
    /// What happens to a call with a path outside the roots
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Enforcing::Refuse)]
    enforce: Enforcing,
    #[arg(long = "treat", value_name = "WHAT", help = flag_help("--treat"))]
    treats: Vec<Treat>,
    /// When the server ends, print what it tried and was refused. This slows down every opening of a file
    #[arg(long)]
    trace: bool,
    #[arg(long, help = flag_help("--get-roots"))]
    get_roots: bool,
    #[command(flatten)]
    recording: Recording,
    /// The server's command. Everything after its first word belongs to it, even if it looks like an option of
    /// Rootward
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const USAGE: &str = "rootward wrap [--root DIR]... [OPTIONS] [--] COMMAND...
       rootward wrap [OPTIONS] DIR... -- COMMAND...";

const AFTER_HELP: &str = "Exit codes: the server's own, 128 plus the signal that ended it, or 2 if it was not started";

/// `--enforce`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Enforcing {
    /// Refuse it; it does not reach the server
    Refuse,
    /// Record it as refused, but pass it to the server
    Report,
}

fn inject(text: &str) -> Result<Inject, String> {
    match text {
        "known" => Ok(Inject::Known),
        "args" => Ok(Inject::Arguments),
        "none" => Ok(Inject::Nothing),
        _ => match text.strip_prefix("env:") {
            Some(name) if !name.is_empty() && !name.contains('=') => Ok(Inject::Variable(name.into())),
            _ => Err("expected `known`, `args`, `env:NAME` or `none`".to_owned()),
        },
    }
}

fn home(text: &str) -> Result<HomeKind, String> {
    let known = HomeKind::ALL.into_iter().find(|kind| kind.word() == text);
    known.ok_or_else(|| "expected `project`, `shared`, `private` or `none`".to_owned())
}

impl Wrap {
    pub(crate) fn run(self) -> Result<u8> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(no_command(Verb::Wrap));
        };
        let ground = Ground::load_ambient()?;
        let book = recipes::book_ambient(&ground)?;
        let operator = ground.ceiling(&self.roots)?;
        operator.warn();
        let find = |material: &Material| self.recipe.find_ambient(&book, program, arguments, material);
        let arguments::Read { known, file_server, ceiling } =
            arguments::read_ambient(&ground, operator.set, arguments, &find)?;
        let recipe = known.as_ref().map(|known| &known.recipe);
        let mut variables = variables_with_roots();
        let mut appended = Vec::new();
        let confine = match self.confinement.strength {
            Wanted::Off => {
                message::warning(
                    "the server is not confined (`--sandbox off`): only the paths in its calls are checked",
                );
                Confine::Off
            }
            Wanted::Auto | Wanted::Landlock => {
                let mut options = self.confinement.options(&ground)?;
                if let Some(known) = &known {
                    let recipe = &known.recipe;
                    let mut told = recipes::apply_ambient(recipe, &ground, &mut options)?;
                    let (added, says) = recipes::append_ambient(known, &ground, arguments, &options.variables);
                    appended = added;
                    told.extend(says);
                    if let Some(line) = recipes::line(recipe, &told) {
                        message::line_in_passing(&line);
                    }
                    variables.extend(recipes::set_variables_ambient(&recipe.set, &ground, &options.variables));
                }
                Confine::To(Box::new(options))
            }
        };
        if let (Confine::Off, Some(_)) = (&confine, &self.learn) {
            let says = "`--learn` needs a confined server: without the sandbox, nothing is refused".to_owned();
            return Err(message::Hinted { says, hint: "leave `--sandbox off` out".to_owned() }.into());
        }
        let validation = Validation::of(&ground.directories);
        let learning = self.learn.as_deref().map(|file| {
            let mut material = validation.material_ambient();
            material.extend(ceiling.roots().iter().map(|root| root.place.clone()));
            Learning::begin_ambient(file, program, arguments, &material)
        });
        let learning = learning.transpose()?;
        let withheld = match &confine {
            Confine::To(options) => {
                withheld::worth_telling(&std::env::vars_os().collect::<Vec<_>>(), &options.variables, &variables)
            }
            Confine::Off => Vec::new(),
        };
        if let Some(note) = withheld::line(&withheld) {
            message::line_in_passing(&note);
        }
        let secrets = secrets(&confine);
        let launch = Launch {
            program: program.clone(),
            arguments: [arguments, &appended].concat(),
            typed_in: None,
            runs: Runs::Here,
            variables,
            withheld,
            file_server,
            inject: self.inject(recipe),
            paths: PathPairs::default(),
            confine,
            homes: self.homes_ambient(recipe, &ground, program, arguments),
            trace: if self.trace || learning.is_some() { Trace::On } else { Trace::Off },
            secrets,
        };
        let withheld = launch.withheld.clone();
        let rules = self.rules(&ground, recipe, ceiling, launch.protection())?;
        let handshakes = ground.directories.state.as_ref().map(|state| state.join("handshakes"));
        let status = ground.directories.state.as_ref().map(|state| state.join(crate::status::DIRECTORY));
        let home = ground.home().map(Path::to_owned);
        let closed = Arc::new(ground.restrictions().for_processes());
        let offers_roots = self.get_roots || ground.settings.get_roots.value;
        let follow = self.follow_ambient(ground, &rules)?;
        message::never_wait();
        let trace = if self.trace { Trace::On } else { Trace::Off };
        let mut terminal = Terminal { home: home.as_deref(), trace, refused: Vec::new() };
        let wrapped = Wrapped { rules, launch, handshakes, status, longest: LONGEST, follow };
        let code = if offers_roots {
            ConfiguredHub::of_one(wrapped).run(&mut terminal)?
        } else {
            wrapped.run(&mut terminal)?
        };
        if let Some(learning) = learning {
            // What the servers were given is recorded by now.
            let material = validation.material_ambient();
            learning.end_ambient(&terminal.refused, &withheld, home.as_deref(), &closed, &material)?;
        }
        Ok(code.try_into().unwrap_or(u8::MAX))
    }

    /// How the server gets its directories.
    fn inject(&self, recipe: Option<&Recipe>) -> Inject {
        match (&self.inject, recipe.and_then(|recipe| recipe.directories.as_ref())) {
            (Inject::Known, Some(Takes::Variable(name))) => Inject::Variable(name.into()),
            (inject, _) => inject.clone(),
        }
    }

    fn homes_ambient(
        &self,
        recipe: Option<&Recipe>,
        ground: &Ground,
        program: &OsStr,
        arguments: &[OsString],
    ) -> Homes {
        let kind = self.home.or_else(|| recipe?.home).unwrap_or_default();
        Homes::new_ambient(kind, ground.directories.state.as_deref(), program, arguments)
    }

    /// Watches for roots that the user saves or removes, and for roots that disappear.
    #[cfg(feature = "roots")]
    fn follow_ambient(&self, ground: Ground, rules: &Rules) -> Result<Option<Box<dyn Lookout>>> {
        let peer = self.asking.name().map(str::to_owned);
        let patterns = ground.patterns_of_operator(&self.roots)?;
        let (flags, recipe, command) = (self.roots.clone(), self.recipe.clone(), self.command.clone());
        // As at the start, including the directories in the command.
        let look_ambient = Box::new(move |ground: &Ground| -> Option<RootSet> {
            let (program, arguments) = command.split_first()?;
            let operator = ground.ceiling(&flags).ok()?;
            let book = recipes::book_ambient(ground).ok()?;
            let find = |material: &Material| recipe.find_ambient(&book, program, arguments, material);
            Some(arguments::read_ambient(ground, operator.set, arguments, &find).ok()?.ceiling)
        });
        let ceiling = crate::following::Ceiling { patterns, look_ambient };
        let asked = crate::following::Asked::begin_ambient(ground, peer, rules.sources.clone(), ceiling);
        Ok(asked.map(|asked| Box::new(asked) as Box<dyn Lookout>))
    }

    #[cfg(not(feature = "roots"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
    fn follow_ambient(&self, _: Ground, _: &Rules) -> Result<Option<Box<dyn Lookout>>> {
        Ok(None)
    }

    fn rules(
        &self,
        ground: &Ground,
        recipe: Option<&Recipe>,
        ceiling: RootSet,
        protection: Protection,
    ) -> Result<Rules> {
        let fallback = ground.fallback_for_server_ambient();
        fallback.warn();
        let saved = ground.saved(self.asking.name());
        if !ceiling.names_any() {
            saved.warn();
        }
        Ok(Rules {
            policy: ground.settings.policy(),
            sources: Sources { ceiling, saved: saved.set, fallback: fallback.set, bound: None },
            guard: ground.guard_options(ground.base_of_server()),
            validation: Validation::of(&ground.directories),
            expansion: expansion(),
            protection,
            way: Some("name one with `--root DIR` in the server's command, or save one with `rootward roots add DIR`"),
            refusals: ground.settings.refusal.value,
            enforce: match self.enforce {
                Enforcing::Refuse => Enforce::Refuse,
                Enforcing::Report => Enforce::Report,
            },
            treatments: self.treatments(ground, recipe),
            treated_by: TreatedBy::default(),
            paths: PathPairs::default(),
            tells: Tells::default(),
            audit: self.recording.open_ambient(ground)?,
        })
    }

    /// How arguments are treated: the recipe says so, the settings file overrides it, and the flags override both.
    fn treatments(&self, ground: &Ground, recipe: Option<&Recipe>) -> Treatments {
        let of_file = ground.settings.treat.value.iter().map(|treat| (treat, About::EveryServer));
        let of_flags = self.treats.iter().map(|treat| (treat, About::ThisServer));
        let mut treatments = Treatments::default();
        for (place, treatment) in recipe.iter().flat_map(|recipe| &recipe.arguments) {
            treatments.add(place, *treatment, About::EveryServer);
        }
        for (treat, about) in of_file.chain(of_flags) {
            treatments.add(&treat.place, treat.treatment(), about);
        }
        treatments
    }
}

impl Treat {
    pub(crate) fn treatment(&self) -> Treatment {
        match self.treated_as {
            TreatedAs::Text => Treatment::Text,
            TreatedAs::Read => Treatment::Path(Need::READ),
            TreatedAs::Write => Treatment::Path(Need::UNKNOWN),
        }
    }
}

/// What variables and `~` mean to the server.
pub(crate) fn expansion() -> Expansion {
    let text = |value: OsString| value.into_string().ok();
    let variables = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
    Expansion { home: std::env::var("HOME").ok(), variables: variables.collect() }
}

/// Variables that contain `${root}` or `${roots}`.
fn variables_with_roots() -> Vec<(OsString, OsString)> {
    std::env::vars_os().filter(|(_, value)| has_root_template(value)).collect()
}

/// Parts of the names of variables that hold secrets.
const SECRET_WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CRED"];

/// The values of variables that only the server may read: those passed by name, or, if all are passed, those whose
/// names look like secrets.
pub(crate) fn secrets(confine: &Confine) -> Vec<String> {
    let is_given = |name: &OsStr| match confine {
        Confine::To(options) => options.variables.iter().any(|given| given.passes(name)),
        Confine::Off => {
            let name = name.to_string_lossy().to_ascii_uppercase();
            SECRET_WORDS.iter().any(|word| name.contains(word))
        }
    };
    std::env::vars_os().filter(|(name, _)| is_given(name)).filter_map(|(_, value)| value.into_string().ok()).collect()
}

/// The operator, who reads standard error.
struct Terminal<'t> {
    home: Option<&'t Path>,
    /// Whether to print what was refused.
    trace: Trace,
    /// What all traced servers were refused.
    refused: Vec<Refused>,
}

impl Operator for Terminal<'_> {
    fn started(&mut self, _: &[PlacedRoot], enforcement: &Enforcement) {
        told::enforcement(enforcement);
    }

    fn not_started(&mut self, launch: &Launch, error: StartError) -> String {
        let error = told::not_started(&launch.program, error);
        message::failure(&error);
        message::in_one_line(&error)
    }

    fn refused(&mut self, refused: &[Refused]) {
        self.refused.extend_from_slice(refused);
        if self.trace == Trace::On {
            told::refused(refused, self.home);
        }
    }

    fn says(&mut self, text: &str) {
        message::line_in_passing(&format!("rootward: {text}"));
    }
}
