//! What is known about a server's command: its recipe, what that adds to a start, and the directories in a file
//! server's arguments, which are a ceiling within any other ceiling.

use std::ffi::{OsStr, OsString};

use anyhow::Result;
use rootward_core::env::NamedRoot;
use rootward_core::{Access, Material, Mode, PlacedRoot, RefusedRoot, RootSet, Shown, Validation, WhyRefused};
use rootward_hub::recipe::{HomeKind, Match, Recipe, Takes};
use rootward_hub::scan::Treatment;
use rootward_hub::wrap::{About, Confine, FileServerCommand, Homes, Inject, Treatments};

use crate::ground::Ground;
use crate::message;
use crate::recipes;
use crate::settings::Source;

/// What is known about a server's command, and its ceiling.
#[derive(Debug)]
pub(crate) struct KnownServer {
    /// The server's recipe.
    found: Option<Match>,
    pub(crate) file_server: Option<FileServerCommand>,
    pub(crate) ceiling: RootSet,
}

impl KnownServer {
    /// A server without a recipe.
    pub(crate) fn unknown(ceiling: RootSet) -> KnownServer {
        KnownServer { found: None, file_server: None, ceiling }
    }

    /// Reads a command line: the directories in it narrow `operator`, the ceiling of the flags, the environment or
    /// the settings file. `find` finds the recipe for the command, given the material that confined commands could
    /// have written.
    pub(crate) fn read_ambient(
        ground: &Ground,
        operator: RootSet,
        arguments: &[OsString],
        find: &dyn Fn(&Material) -> Result<Option<Match>>,
    ) -> Result<KnownServer> {
        let mut material = Validation::of(&ground.directories).material_ambient();
        material.extend(writable(&operator));
        let Some(found) = find(&material)? else { return Ok(KnownServer::unknown(operator)) };
        let Some(server) = found.file_server(arguments) else {
            return Ok(KnownServer { found: Some(found), file_server: None, ceiling: operator });
        };
        let typed = server.directories(arguments);
        if typed.is_empty() {
            return Ok(KnownServer { found: Some(found), file_server: Some(server), ceiling: operator });
        }
        let named = typed.iter().map(|text| ground.directory_argument(text)).collect::<Result<Vec<NamedRoot>>>()?;
        let placed = ground.place(&named, Source::Flag);
        // The server is about to get these for writing, so their content must not decide whether it does.
        material.extend(writable(&placed.set));
        if find(&material)?.is_none() {
            return Ok(KnownServer::unknown(operator));
        }
        for left_out in &placed.left_out {
            warn(&left_out.text, &left_out.reason);
        }
        let ceiling = if operator.names_any() { narrowed(&placed.set, &operator) } else { placed.set };
        Ok(KnownServer { found: Some(found), file_server: Some(server), ceiling })
    }

    fn recipe(&self) -> Option<&Recipe> {
        self.found.as_ref().map(|found| &found.recipe)
    }

    /// Adds what the recipe opens, passes on and sets, if the server is confined; variables that are already set
    /// stay. Returns the options to append to the command, and a text about all of it for people.
    pub(crate) fn apply_ambient(
        &self,
        ground: &Ground,
        arguments: &[OsString],
        confine: &mut Confine,
        variables: &mut Vec<(OsString, OsString)>,
    ) -> Result<(Vec<OsString>, Option<String>)> {
        let (Some(found), Confine::To(options)) = (&self.found, confine) else { return Ok((Vec::new(), None)) };
        let recipe = &found.recipe;
        let mut told = recipes::apply_ambient(recipe, ground, options)?;
        let (appended, says) = recipes::append_ambient(found, ground, arguments, &options.variables);
        told.extend(says);
        add_variables(variables, recipes::set_variables_ambient(&recipe.set, ground, &options.variables));
        Ok((appended, recipes::line(recipe, &told)))
    }

    /// How the server gets its directories: as `asked`, unless that leaves it to the recipe, and as `otherwise` if
    /// the recipe does not say it either.
    pub(crate) fn inject(&self, asked: Inject, otherwise: Inject) -> Inject {
        match (asked, self.recipe().and_then(|recipe| recipe.directories.as_ref())) {
            (Inject::Known, Some(Takes::Variable(name))) => Inject::Variable(name.into()),
            (Inject::Known, None) => otherwise,
            (asked, _) => asked,
        }
    }

    /// The homes of the server, by its command as typed.
    pub(crate) fn homes_ambient(
        &self,
        asked: Option<HomeKind>,
        ground: &Ground,
        program: &OsStr,
        arguments: &[OsString],
    ) -> Homes {
        let kind = asked.or_else(|| self.recipe()?.home).unwrap_or_default();
        Homes::new_ambient(kind, ground.directories.state.as_deref(), program, arguments)
    }

    /// How arguments are treated: the recipe says so, the settings file overrides it, and the flags or the
    /// configuration of this server override both.
    pub(crate) fn treatments<'s>(
        &self,
        ground: &Ground,
        own: impl Iterator<Item = (&'s String, Treatment)>,
    ) -> Treatments {
        let mut treatments = Treatments::default();
        for (place, treatment) in self.recipe().iter().flat_map(|recipe| &recipe.arguments) {
            treatments.add(place, *treatment, About::EveryServer);
        }
        for treat in &ground.settings.treat.value {
            treatments.add(&treat.place, treat.treatment(), About::EveryServer);
        }
        for (place, treatment) in own {
            treatments.add(place, treatment, About::ThisServer);
        }
        treatments
    }
}

/// Adds the variables that are not set yet.
pub(crate) fn add_variables(variables: &mut Vec<(OsString, OsString)>, more: Vec<(OsString, OsString)>) {
    for (name, value) in more {
        if !variables.iter().any(|(known, _)| *known == name) {
            variables.push((name, value));
        }
    }
}

fn writable(set: &RootSet) -> impl Iterator<Item = std::path::PathBuf> {
    let writable = set.roots().iter().filter(|placed| placed.root.access.contains(Access::WRITE));
    writable.map(|placed| placed.place.clone())
}

/// The intersection.
fn narrowed(arguments: &RootSet, operator: &RootSet) -> RootSet {
    let both = RootSet::combine(Mode::Narrow, arguments, operator);
    let is_left_out = |argument: &&PlacedRoot| !both.roots().iter().any(|root| argument.holds(&root.place));
    let outside = arguments.roots().iter().filter(is_left_out).map(|argument| {
        let text = argument.root.path.display().to_string();
        let reason = WhyRefused::Unusable("outside the ceiling that `--root` or the settings name".to_owned());
        warn(&Shown::new(&text).to_string(), &reason.to_string());
        RefusedRoot { text, root: None, reason }
    });
    // SECURITY: a ceiling with nothing left in it is still a ceiling, so remember what was left out. It does not
    // come back by itself, because nobody would narrow it then
    // (test: arguments_and_flags_narrow_each_other)
    let refused = both.refused().iter().map(|refused| RefusedRoot { root: None, ..refused.clone() });
    let refused: Vec<RefusedRoot> = refused.chain(outside).collect();
    RootSet::new(both.roots().iter().cloned(), refused)
}

fn warn(text: &str, reason: &str) {
    message::warning(&format!("directory `{text}` in the server's arguments is left out: {reason}"));
}
