//! Which files to adopt, and what each would become.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rootward_client::adopt::{
    ConfigFile, FileError, Invocation, Plan, PlanError, Planned, VariablesFileError, Verdict, plan_found, recognise,
    variables_ambient,
};
use rootward_client::import::{
    Client, FileContext, Form, Holder, Platform, Server, Transport, parse, project_files, user_files,
};
use rootward_client::store::Mistake;
use rootward_core::Shown;

use super::trying::Tried;
use super::{Desk, another, hubs, not_read, recipe};
use crate::message::Hinted;

/// How servers are confined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// Each with `rootward wrap`.
    Wrap,
    /// All with one `rootward hub`.
    Hub,
}

/// What the command line names.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Target {
    Everything,
    Client(Client),
    /// An absolute path.
    File(PathBuf),
}

impl Target {
    pub(super) fn read(text: Option<&OsStr>, desk: &Desk) -> Result<Target> {
        let Some(text) = text else { return Ok(Target::Everything) };
        let named = |client: &Client| text == client.name() || (*client == Client::GeminiCli && text == "gemini");
        if let Some(client) = Client::ALL.into_iter().find(named) {
            return Ok(Target::Client(client));
        }
        let path = Path::new(text);
        match &desk.here {
            _ if path.is_absolute() => Ok(Target::File(clean(path))),
            Some(here) => Ok(Target::File(clean(&here.join(path)))),
            None => Err(not_found(path, desk)),
        }
    }

    pub(super) fn takes(&self, client: Client) -> bool {
        match self {
            Target::Everything => true,
            Target::Client(only) => *only == client,
            Target::File(_) => false,
        }
    }
}

/// Without `.` and double slashes; `..` stays, because of links.
fn clean(path: &Path) -> PathBuf {
    path.components().collect()
}

fn not_found(path: &Path, desk: &Desk) -> anyhow::Error {
    // Show it as typed, or nearly so.
    let path = desk.here.as_ref().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
    let clients: Vec<&str> = Client::ALL.iter().map(|client| client.name()).collect();
    Hinted {
        says: format!("`{}` is neither a client nor a file", Shown::new(path)),
        hint: format!("clients: {}", clients.join(", ")),
    }
    .into()
}

/// A file that may exist.
struct Candidate {
    form: Form,
    file: PathBuf,
    holder: Holder,
    project: Option<PathBuf>,
}

/// The findings.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) files: Vec<Adoptable>,
    pub(super) unread: Vec<Unread>,
}

/// A file, and what it would become.
pub(super) struct Adoptable {
    pub(super) form: Form,
    pub(super) holder: Holder,
    pub(super) config: ConfigFile,
    pub(super) plan: Plan,
    pub(super) servers: Vec<Listed>,
    /// Whether it was replaced.
    pub(super) changed: bool,
    /// Why it was not replaced.
    pub(super) error: Option<String>,
}

/// A server in a file.
pub(super) struct Listed {
    pub(super) planned: Planned,
    /// It begins with `rootward`, but that is another program.
    pub(super) another: bool,
    pub(super) recipe: Option<recipe::Used>,
    /// Why the variables of its env file are not passed on.
    pub(super) unread_variables: Option<String>,
    pub(super) tried: Option<Tried>,
}

/// A file that cannot be adopted.
pub(super) struct Unread {
    pub(super) client: Client,
    pub(super) file: PathBuf,
    pub(super) mistake: Option<Mistake>,
    pub(super) says: String,
}

impl Gathered {
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.unread.is_empty()
    }

    /// How many servers would be adopted.
    pub(super) fn to_adopt(&self) -> usize {
        self.files.iter().map(|file| file.plan.changed_servers()).sum()
    }

    /// The hub configurations that would be written.
    fn hub_files(&self) -> Vec<PathBuf> {
        let hubs = self.files.iter().flat_map(|file| &file.plan.hubs);
        hubs.map(|hub| hub.adopted.file.clone()).collect()
    }

    pub(super) fn servers(&self) -> impl Iterator<Item = (&Adoptable, &Listed)> {
        self.files.iter().flat_map(|file| file.servers.iter().map(move |server| (file, server)))
    }

    fn take(&mut self, candidate: Candidate, way: Way, desk: &Desk, caller: &Invocation) -> Option<()> {
        let Candidate { form, file, holder, project } = candidate;
        let unread = |mistake: Option<Mistake>, says: String| Unread {
            client: form.client(),
            file: file.clone(),
            mistake,
            says,
        };
        let within = project.as_deref().filter(|_| holder == Holder::Project);
        let config = match ConfigFile::open_ambient(&file, within, &desk.material) {
            Ok(config) => config?,
            Err(error) => {
                self.unread.push(unread(mistake_of(&error), not_read(&error)));
                return Some(());
            }
        };
        // A project's file may also be the user's own, if the project is the home.
        if self.files.iter().any(|known| known.config.place == config.place) {
            return Some(());
        }
        let around = FileContext { home: desk.directories.home.clone(), project: project.clone() };
        let mut unread_variables = Vec::new();
        let planned = parse(form, config.text(), &around).map_err(PlanError::Damaged).and_then(|mut found| {
            let read = |server: &mut Server| read_variables_ambient(server, form, holder, &around, desk).err();
            unread_variables = found.servers.iter_mut().map(read).collect();
            match way {
                Way::Wrap => plan_found(form, config.text(), found, holder, caller),
                Way::Hub => hubs::plan_ambient((form, holder), &config, found, caller, &self.hub_files(), desk),
            }
        });
        match planned {
            Ok(plan) => {
                let listed = plan.servers.iter().zip(unread_variables).map(|(planned, unread_variables)| Listed {
                    unread_variables,
                    ..listed(planned, caller, project.as_deref(), desk)
                });
                let servers = listed.collect();
                let file = Adoptable { form, holder, config, plan, servers, changed: false, error: None };
                self.files.push(file);
            }
            Err(PlanError::Damaged(mistake)) => {
                let says = mistake.to_string();
                self.unread.push(unread(Some(mistake), says));
            }
            Err(error @ PlanError::Edit(_)) => self.unread.push(unread(None, error.to_string())),
        }
        Some(())
    }
}

fn listed(planned: &Planned, caller: &Invocation, project: Option<&Path>, desk: &Desk) -> Listed {
    let line = match &planned.server.transport {
        Transport::Command(line) => Some(line),
        Transport::Remote(_) => None,
    };
    let calls_rootward = matches!(planned.verdict, Verdict::Wrapped | Verdict::Rootward);
    // SECURITY: a program that a project calls `rootward` is not this one, and must not be mistaken for it
    // (test: a_program_that_calls_itself_rootward_is_not_trusted)
    let another = calls_rootward && line.is_some_and(|line| another::is_another_ambient(line, caller, project));
    let recipe = match (&planned.verdict, line) {
        (Verdict::Wrap(_) | Verdict::Hub, Some(line)) => recipe::recipe_of_ambient(line, desk),
        _ => None,
    };
    Listed { planned: planned.clone(), another, recipe, unread_variables: None, tried: None }
}

/// Adds the variables of the env file that a server's entry names; the error says why not.
fn read_variables_ambient(
    server: &mut Server,
    form: Form,
    holder: Holder,
    around: &FileContext,
    desk: &Desk,
) -> Result<(), String> {
    let Transport::Command(line) = &mut server.transport else { return Ok(()) };
    let Some(file) = &line.variables_file else { return Ok(()) };
    line.from_file = variables_ambient(file, form, holder, around, &desk.material).map_err(|error| match error {
        VariablesFileError::File(error) => not_read(&error),
        other => other.to_string(),
    })?;
    Ok(())
}

fn mistake_of(error: &FileError) -> Option<Mistake> {
    match error {
        FileError::Damaged(mistake) => Some(mistake.clone()),
        _ => None,
    }
}

/// Reads the files that exist.
pub(super) fn gather_ambient(target: &Target, way: Way, desk: &Desk, caller: &Invocation) -> Result<Gathered> {
    let mut gathered = Gathered::default();
    if let Target::File(file) = target {
        let candidate = named_ambient(file, desk)?;
        let missing = gathered.take(candidate, way, desk, caller).is_none();
        return if missing { Err(not_found(file, desk)) } else { Ok(gathered) };
    }
    for candidate in usual(target, desk) {
        gathered.take(candidate, way, desk, caller);
    }
    Ok(gathered)
}

/// The files that clients usually have: the user's own, and those of the project in the working directory.
fn usual(target: &Target, desk: &Desk) -> impl Iterator<Item = Candidate> {
    let own = user_files(Platform::NATIVE, &desk.environment).into_iter();
    let own = own.map(|place| Candidate { form: place.form, file: place.file, holder: Holder::User, project: None });
    let of_project = desk.here.iter().flat_map(|here| {
        project_files().map(|(form, name)| Candidate {
            form,
            file: here.join(name),
            holder: Holder::Project,
            project: Some(here.clone()),
        })
    });
    let candidates = own.chain(of_project);
    candidates.filter(|candidate| candidate.form.servers_key().is_some() && target.takes(candidate.form.client()))
}

/// Where [`gather_ambient`] looks, each path once.
pub(super) fn looked_at(target: &Target, desk: &Desk) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for Candidate { file, .. } in usual(target, desk) {
        if !paths.contains(&file) {
            paths.push(file);
        }
    }
    paths
}

/// A file named on the command line; its path or its keys tell which client it belongs to.
fn named_ambient(file: &Path, desk: &Desk) -> Result<Candidate> {
    let unreadable = |error: &FileError| Hinted {
        says: format!("`{}` cannot be adopted: {}", desk.shown(file), not_read(error)),
        hint: "name a config file of a client that you own".to_owned(),
    };
    let config = ConfigFile::open_ambient(file, None, &desk.material).map_err(|error| unreadable(&error))?;
    let config = config.ok_or_else(|| not_found(file, desk))?;
    let found = recognise(file, config.text(), &desk.environment);
    let found = found.or_else(|| recognise(&config.place, config.text(), &desk.environment));
    let (form, holder, project) = found.filter(|(form, ..)| form.servers_key().is_some()).ok_or_else(|| Hinted {
        says: format!("`{}` is not a config file with servers of a known client", desk.shown(file)),
        hint: "its servers must be under `mcpServers`, `servers`, `mcp`, `context_servers` or `[mcp_servers]`"
            .to_owned(),
    })?;
    Ok(Candidate { form, file: file.to_owned(), holder, project })
}
