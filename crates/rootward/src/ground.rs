//! What every decision on the command line is based on: settings, home, closed places, and the current roots.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow};
use clap::Args;
use rootward_core::env::{Directories, Environment, NamedRoot, OWN_USUAL};
use rootward_core::session::Follow;
use rootward_core::{
    Access, Base, Closed, FileKind, Guard, GuardOptions, Material, Origin, PathStyle, PathText, Resolver, Restriction,
    Restrictions, Root, RootError, RootSet, Shown, Validation, WhyRefused, lookout_ambient, spellings_ambient,
};

use crate::hint;
use crate::message::{self, Hinted};
#[cfg(any(feature = "wrap", all(feature = "roots", feature = "serve")))]
use crate::patterns::Patterns;
use crate::saved::{AskingAs, Saved};
use crate::settings::{Setting, Settings, Source};

/// The maximum number of open root handles: enough for any command line, and below any limit on open files.
const MOST_HANDLES: usize = 128;

/// The base if there is none. It is not absolute, so the guard refuses every path relative to it; without a base,
/// relative paths would start at the first root.
const NO_BASE: &str = ".";

/// The flags that `check` and `explain` share.
#[derive(Args, Debug)]
pub(crate) struct Question {
    /// A directory or file to share: a path or `file:` URI, with `:ro` (read), `:rw` (read, write, delete; the
    /// default), `:rw-nodelete` (read, write) or `:rwx` (all) at its end; may be repeated. If one place is named
    /// twice, under any path, it gets only the access that both give. Without this flag, the roots of
    /// `ROOTWARD_ROOTS`, else those of the settings file, else the saved roots, else the fallback directory
    #[arg(long = "root", value_name = "ROOT")]
    pub(crate) roots: Vec<OsString>,
    /// What to do with the path: `read`, `write`, `execute`, `delete`, or several of them separated by commas. A
    /// link at the end of the path is always followed, so `delete` is about the place it leads to, not about the
    /// link
    #[arg(long, value_name = "ACCESS", default_value = "read", value_parser = access)]
    pub(crate) access: Access,
    /// Where relative paths start [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) base: Option<OsString>,
    #[command(flatten)]
    pub(crate) asking: AskingAs,
}

fn access(words: &str) -> Result<Access, String> {
    Access::from_words(words)
        .ok_or_else(|| "expected `read`, `write`, `execute`, `delete` or a comma-separated list".to_owned())
}

/// The roots that one source names, found on disk, and those left out.
#[derive(Debug)]
pub(crate) struct PlacedRoots {
    pub(crate) set: RootSet,
    /// Where the roots come from.
    pub(crate) source: Source,
    pub(crate) left_out: Vec<LeftOut>,
    /// The roots that were named more than once, under any path: the path that is kept, and each text.
    named_again: Vec<(PathBuf, Vec<String>)>,
}

/// A root that was named and cannot be used.
#[derive(Debug)]
pub(crate) struct LeftOut {
    pub(crate) text: String,
    pub(crate) reason: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "root `{}`: {}", self.text, self.reason)
    }
}

impl PlacedRoots {
    /// The texts of a root that was named more than once.
    pub(crate) fn named_again(&self, root: &Path) -> Option<&[String]> {
        let found = self.named_again.iter().find(|(path, _)| path == root);
        found.map(|(_, texts)| texts.as_slice())
    }

    /// Warns about the roots that were left out.
    pub(crate) fn warn(&self) {
        for LeftOut { text, reason } in &self.left_out {
            message::warning(&format!("root `{text}` is left out: {reason}"));
        }
    }
}

/// What all guards of this process share.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) environment: Environment,
    pub(crate) directories: Directories,
    pub(crate) settings: Settings,
    pub(crate) saved: Saved,
    /// Rootward's own files, as spelled and where that leads.
    own: Vec<PathBuf>,
    restrictions: Arc<Restrictions>,
    /// The rules that do not come from saved roots.
    #[cfg(all(feature = "roots", any(feature = "serve", feature = "wrap")))]
    rules: Vec<Restriction>,
    resolver: Resolver,
    /// None if it was removed or cannot be read: then no path can be relative to it.
    working_directory: Option<PathBuf>,
}

impl Ground {
    /// Reads environment, settings, saved roots and working directory.
    pub(crate) fn load_ambient() -> Result<Ground> {
        // SECURITY: a store that cannot be read may hold restrictions, which apply to everybody's roots
        // (test: a_damaged_store_is_not_an_empty_store)
        Ground::load_with_ambient(Saved::load_ambient)
    }

    /// The same without the saved roots, for callers that read these themselves. Do not decide anything with it.
    #[cfg(feature = "roots")]
    pub(crate) fn load_without_saved_ambient() -> Result<Ground> {
        Ground::load_with_ambient(|_, _| Ok(Saved::default()))
    }

    fn load_with_ambient(saved: impl FnOnce(&Directories, Resolver) -> Result<Saved>) -> Result<Ground> {
        let environment: Environment = std::env::vars_os().collect();
        let directories = Directories::new(&environment);
        let settings = Settings::load_ambient(&environment, &directories)?;
        let resolver = Resolver::detect();
        let closed = directories.closed_ambient(resolver);
        let closed =
            closed.map_err(|denial| anyhow!("cannot locate Rootward's own files: {}", denial.for_operator()))?;
        let places = closed.iter().filter(|rule| rule.closed() == Closed::Entirely);
        let own = places.filter_map(Restriction::own_place).map(Path::to_owned).collect();
        let saved = saved(&directories, resolver)?;
        let rules = restrictions(&settings, closed, &Validation::of(&directories), resolver)?;
        let closed = saved.closed_ambient(resolver)?;
        Ok(Ground {
            environment,
            directories,
            settings,
            saved,
            own,
            #[cfg(all(feature = "roots", any(feature = "serve", feature = "wrap")))]
            rules: rules.clone(),
            restrictions: Arc::new(Restrictions::new(rules.into_iter().chain(closed).collect())),
            resolver,
            working_directory: std::env::current_dir().ok(),
        })
    }

    /// The restrictions, given what the saved roots close.
    #[cfg(all(feature = "roots", any(feature = "serve", feature = "wrap")))]
    pub(crate) fn closed_with(&self, saved: Vec<Restriction>) -> Arc<Restrictions> {
        // SECURITY: these are resolved once, at the start: otherwise a command that can move a link that the
        // settings name could choose what is closed
        // (test: what_the_settings_close_stays_closed_when_the_saved_roots_change)
        Arc::new(Restrictions::new(self.rules.iter().cloned().chain(saved).collect()))
    }

    pub(crate) fn home(&self) -> Option<&Path> {
        self.directories.home.as_deref()
    }

    /// What stays closed below every root.
    pub(crate) fn restrictions(&self) -> &Restrictions {
        &self.restrictions
    }

    /// Whether a restriction with this pattern protects Rootward's own files.
    pub(crate) fn is_own(&self, pattern: &str) -> bool {
        OWN_USUAL.contains(&pattern) || self.own.iter().any(|place| place.as_os_str() == pattern)
    }

    /// Whether a place is one of Rootward's own, or inside one.
    #[cfg(feature = "roots")]
    pub(crate) fn is_in_own(&self, place: &Path) -> bool {
        self.own.iter().any(|own| place.starts_with(own))
    }

    /// Whether something exists there.
    pub(crate) fn exists(&self, place: &Path) -> bool {
        lookout_ambient(self.resolver).check(place, Access::NONE).is_ok_and(|seen| seen.exists())
    }

    /// The current roots: those of the flags, else of environment or settings file, else the saved ones, else the
    /// fallback directory. Sources are never merged.
    pub(crate) fn roots(&self, flags: &[OsString], peer: Option<&str>) -> Result<PlacedRoots> {
        if !flags.is_empty() {
            let named = flags.iter().map(|text| self.typed_root(text)).collect::<Result<Vec<_>>>()?;
            return Ok(self.place(&named, Source::Flag));
        }
        let roots = &self.settings.roots;
        Ok(match self.settings.follow() {
            Follow::FallbackOnly => self.fallback(),
            Follow::Client if roots.value.is_empty() => {
                let saved = self.saved(peer);
                if saved.set.names_any() { saved } else { self.fallback() }
            }
            Follow::Client | Follow::Strict | Follow::IgnoreClient => self.place(&roots.value, roots.source),
        })
    }

    /// The ceiling: the roots of the flags, else of environment or settings file. Sources are never merged.
    #[cfg(any(feature = "serve", feature = "wrap"))]
    pub(crate) fn ceiling(&self, flags: &[OsString]) -> Result<PlacedRoots> {
        let Setting { value, source } = &self.settings.roots;
        let ceiling = if flags.is_empty() { self.place(value, *source) } else { self.roots(flags, None)? };
        #[cfg(feature = "roots")]
        let ceiling = PlacedRoots { set: self.named(&ceiling.set), ..ceiling };
        Ok(ceiling)
    }

    /// The same roots, with a name for each directory: the project's own name, else the last part of its git remote,
    /// else the directory's name. Servers are told this name.
    #[cfg(all(feature = "roots", any(feature = "serve", feature = "wrap")))]
    fn named(&self, set: &RootSet) -> RootSet {
        if set.is_empty() {
            return set.clone();
        }
        let guard = Guard::new(set.clone(), self.guard_options(Base::FirstRoot));
        let named = set.roots().iter().map(|placed| {
            let find = || rootward_client::detect::name(&guard.check(&placed.place, Access::READ).ok()?);
            let name = placed
                .root
                .name
                .clone()
                .or_else(|| (placed.kind == rootward_core::RootKind::Directory).then(find).flatten());
            rootward_core::PlacedRoot { root: Root { name, ..placed.root.clone() }, ..placed.clone() }
        });
        RootSet::new(named.collect::<Vec<_>>(), set.refused().iter().cloned())
    }

    /// The roots that the user saved for this client or server, and for all.
    pub(crate) fn saved(&self, peer: Option<&str>) -> PlacedRoots {
        let set = self.saved.set_ambient(peer, self.home());
        let left_out = set.refused().iter().filter(|refused| refused.root.is_some());
        let left_out = left_out
            .map(|refused| LeftOut { text: Shown::new(&refused.text).to_string(), reason: refused.reason.to_string() });
        let left_out = left_out.collect();
        PlacedRoots { set, source: Source::Store, left_out, named_again: Vec::new() }
    }

    /// The operator's roots that are patterns; these are expanded again while servers run.
    #[cfg(any(feature = "wrap", all(feature = "roots", feature = "serve")))]
    pub(crate) fn patterns_of_operator(&self, flags: &[OsString]) -> Result<Patterns> {
        let typed = flags.iter().map(|text| Ok(self.typed_root(text)?.root)).collect::<Result<Vec<_>>>()?;
        let roots = if flags.is_empty() {
            self.settings.roots.value.iter().map(|named| named.root.clone()).collect()
        } else {
            typed
        };
        Ok(Patterns::new_ambient(roots, Validation::of(&self.directories)))
    }

    /// The fallback directory, if one is set.
    pub(crate) fn fallback(&self) -> PlacedRoots {
        let Setting { value, source } = &self.settings.fallback_dir;
        self.place(value.as_slice(), *source)
    }

    /// The fallback directory of a running server. If it does not exist yet, it is created inside the user's home;
    /// elsewhere it counts once it exists.
    #[cfg(any(feature = "serve", feature = "wrap"))]
    pub(crate) fn fallback_for_server_ambient(&self) -> PlacedRoots {
        let found = self.fallback();
        let Some(missing) = found.set.missing().find_map(|refused| refused.root.clone()) else { return found };
        let made = match self.home() {
            // Rootward's own places are never granted, and a pattern does not name a directory that could be
            // created.
            Some(home) if missing.pattern.is_none() && !self.own.iter().any(|own| missing.path.starts_with(own)) => {
                rootward_core::make_private_directory_ambient(home, &missing.path)
            }
            _ => return found,
        };
        match made {
            Ok(()) => self.fallback(),
            Err(error) if missing.path.starts_with(self.home().unwrap_or(Path::new("/"))) => {
                let (path, says) = (Shown::new(&missing.path), message::system_text(&error.to_string()));
                message::warning(&format!("the fallback directory `{path}` cannot be created: {says}"));
                found
            }
            Err(_) => found,
        }
    }

    /// A root from the command line or from a line of a batch.
    pub(crate) fn typed_root(&self, text: &OsStr) -> Result<NamedRoot> {
        // With an empty base, a relative root is an error, as it should be without a working directory.
        let base = self.working_directory.as_deref().unwrap_or(Path::new(""));
        let root = Root::from_typed(text, base, self.home(), Origin::Flag).map_err(|error| {
            let hint = match &error {
                RootError::Text { reason, .. } => hint::text(reason),
                _ => None,
            };
            let says = error.to_string();
            hint.map_or_else(|| error.into(), |hint| anyhow::Error::new(Hinted { says, hint }))
        })?;
        Ok(NamedRoot { text: Shown::new(text).to_string(), root })
    }

    /// A path as typed, without an access suffix.
    pub(crate) fn typed_path(&self, text: &OsStr) -> Result<PathBuf> {
        // Add a suffix, so that none is parsed from the name.
        let mut typed = text.to_owned();
        typed.push(":rw");
        Ok(self.typed_root(&typed)?.root.path)
    }

    /// A directory as a file server parses it in its arguments: neither a URI nor an access suffix.
    #[cfg(feature = "wrap")]
    pub(crate) fn directory_argument(&self, text: &OsStr) -> Result<NamedRoot> {
        let below_home = match text.as_bytes() {
            b"~" => Some(""),
            [b'~', b'/', rest @ ..] => std::str::from_utf8(rest).ok(),
            _ => None,
        };
        let here = self.working_directory.as_deref().unwrap_or(Path::new(""));
        let path = match (below_home, self.home()) {
            (Some(below), Some(home)) => home.join(below),
            _ => here.join(text),
        };
        // Add a suffix, so that none is parsed from the name. The server does not expand patterns either.
        let mut typed = path.into_os_string();
        typed.push(":rw");
        let root = Root::from_typed_literally(&typed, here, self.home(), Origin::Flag)?;
        Ok(NamedRoot { text: Shown::new(text).to_string(), root })
    }

    /// Finds roots on disk.
    pub(crate) fn place(&self, named: &[NamedRoot], source: Source) -> PlacedRoots {
        let validation = Validation::of(&self.directories);
        let set = RootSet::place_ambient(named.iter().map(|named| named.root.clone()), &validation);
        let left_out = set.refused().iter().map(|refused| {
            let as_written = named.iter().find(|named| Some(&named.root) == refused.root.as_ref());
            let text = as_written.map_or_else(|| refused.text.clone(), |named| named.text.clone());
            let typo = refused.root.as_ref().filter(|_| refused.reason == WhyRefused::Missing);
            let typo = typo.and_then(|root| self.mistyped_access(root)).map(|typo| format!(" ({typo})"));
            let is_fallback = refused.root.as_ref().is_some_and(|root| root.origin == Origin::Fallback);
            let later =
                if is_fallback && refused.reason == WhyRefused::Missing { ", and is used once it does" } else { "" };
            LeftOut { text, reason: format!("{}{later}{}", refused.reason, typo.unwrap_or_default()) }
        });
        let left_out = left_out.collect();
        let merged = set.len() + set.refused().len() < named.len();
        let set = shown_where_they_lie(&set);
        let named_again = if merged { named_again(named, &set, &validation) } else { Vec::new() };
        PlacedRoots { set, source, left_out, named_again }
    }

    /// What to say about a missing root that would exist without the part after its last colon.
    pub(crate) fn mistyped_access(&self, root: &Root) -> Option<String> {
        let path = root.path.as_os_str().as_bytes();
        let colon = path.iter().rposition(|byte| *byte == b':')?;
        let before = Root { path: OsStr::from_bytes(&path[..colon]).into(), ..root.clone() };
        let there = !RootSet::place_ambient([before], &Validation::of(&self.directories)).is_empty();
        let suffix = Shown::new(OsStr::from_bytes(&path[colon..])).to_string();
        there.then(|| format!("unknown access `{suffix}`: use `:ro`, `:rw`, `:rw-nodelete` or `:rwx`"))
    }

    pub(crate) fn guard(&self, set: RootSet, base: PathBuf) -> Guard {
        Guard::new(set, self.guard_options(Base::At(base)))
    }

    /// The options for guards.
    pub(crate) fn guard_options(&self, base: Base) -> GuardOptions {
        options(self.directories.home.clone(), base, &self.restrictions, self.resolver)
    }

    /// Where a server starts, and its relative paths with it, if it may work in the working directory: there if a
    /// root contains it, otherwise in the first root.
    #[cfg(feature = "wrap")]
    pub(crate) fn base_of_server(&self) -> Base {
        self.working_directory.clone().map_or(Base::FirstRoot, Base::Within)
    }

    /// Where relative paths start: `text`, itself relative to `above` or to the working directory.
    pub(crate) fn base(&self, text: Option<&OsStr>, above: Option<&Path>) -> Result<PathBuf> {
        let above = above.or(self.working_directory.as_deref()).unwrap_or(Path::new(NO_BASE));
        let Some(text) = text else { return Ok(above.to_owned()) };
        let home = self.home().map(|home| home.as_os_str().as_bytes());
        let bad = |reason: &str| anyhow!("not a usable base: `{}` ({reason})", Shown::new(text));
        let base = match PathText::read(text.as_bytes(), PathStyle::NATIVE, home) {
            Ok(PathText::Absolute(path)) => path_from(path),
            Ok(PathText::Relative(_)) if !above.is_absolute() => {
                return Err(bad("relative, and the working directory cannot be found"));
            }
            Ok(PathText::Relative(path)) => above.join(OsStr::from_bytes(path)),
            Err(reason) => return Err(bad(&reason.to_string())),
        };
        let seen =
            lookout_ambient(self.resolver).check(&base, Access::NONE).map_err(|denial| bad(&denial.for_operator()))?;
        match seen.kind() {
            Some(FileKind::Directory) => Ok(base),
            Some(_) => Err(bad("not a directory")),
            None => Err(bad("does not exist")),
        }
    }
}

/// For each root of the set that several of `named` lead to: their texts.
fn named_again(named: &[NamedRoot], set: &RootSet, validation: &Validation) -> Vec<(PathBuf, Vec<String>)> {
    let mut texts: HashMap<PathBuf, Vec<String>> = HashMap::new();
    for NamedRoot { text, root } in named {
        for placed in RootSet::place_ambient([root.clone()], validation).roots() {
            texts.entry(placed.place.clone()).or_default().push(text.clone());
        }
    }
    let kept = set.roots().iter().map(|placed| (placed.root.path.clone(), texts.remove(&placed.place)));
    kept.filter_map(|(path, texts)| Some((path, texts.filter(|texts| texts.len() > 1)?))).collect()
}

/// A root that was named with a `..` is called by its real place: `/src/app/..` says less than `/src`.
fn shown_where_they_lie(set: &RootSet) -> RootSet {
    let roots = set.roots().iter().cloned().map(|mut placed| {
        if placed.root.path.components().any(|component| component == Component::ParentDir) {
            placed.root.path.clone_from(&placed.place);
        }
        placed
    });
    RootSet::new(roots, set.refused().iter().cloned())
}

fn path_from(bytes: Cow<'_, [u8]>) -> PathBuf {
    OsString::from_vec(bytes.into_owned()).into()
}

/// Sets every field: taking the rest from the default would compile the standard restrictions a second time.
fn options(home: Option<PathBuf>, base: Base, restrictions: &Arc<Restrictions>, resolver: Resolver) -> GuardOptions {
    GuardOptions {
        home,
        base,
        restrictions: Arc::clone(restrictions),
        resolver,
        generation: 0,
        most_handles: MOST_HANDLES,
    }
}

/// The standard closed places, those of the settings file, and Rootward's own.
fn restrictions(
    settings: &Settings,
    own: Vec<Restriction>,
    validation: &Validation,
    resolver: Resolver,
) -> Result<Vec<Restriction>> {
    let material = if settings.restrict.value.is_empty() { Material::default() } else { validation.material_ambient() };
    let mut rules = Restriction::standard();
    for restrict in &settings.restrict.value {
        match &restrict.below {
            None => rules.push(Restriction::anywhere(&restrict.pattern, restrict.closed)?),
            Some(place) => {
                // SECURITY: a command that could redirect the place would open what was closed
                // (test: what_the_settings_close_is_not_moved_by_a_planted_link)
                if let Some(link) = material.planted_link_ambient(place) {
                    let says = format!(
                        "`{}` cannot be closed: `{}` is a link that a confined server could have made",
                        Shown::new(&restrict.pattern),
                        Shown::new(&link)
                    );
                    let hint = "name the target of the link in `below`".to_owned();
                    return Err(Hinted { says, hint }.into());
                }
                for place in spellings(place, resolver)? {
                    rules.push(Restriction::below(&place, &restrict.pattern, restrict.closed)?);
                }
            }
        }
    }
    // SECURITY: a server that can write Rootward's settings chooses its own roots. They are closed wherever the
    // environment puts them, both as spelled and where that leads, even before they exist
    // (test: rootwards_own_places_are_closed)
    rules.extend(own);
    Ok(rules)
}

/// A place as spelled, and where that leads.
fn spellings(place: &Path, resolver: Resolver) -> Result<Vec<PathBuf>> {
    spellings_ambient(place, resolver)
        .map_err(|denial| anyhow!("cannot resolve `{}`: {}", Shown::new(place), denial.for_operator()))
}
