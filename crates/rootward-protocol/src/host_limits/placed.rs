//! Limits looked up on disk, and their decision about a path.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use rootward_core::{Access, Code, Denial, FileKind, Grant, Guard, follow_ambient};

use super::{Allowed, Entry, Exceeds, HostLimits, Layer};

/// Directories directly below a writable place that Codex keeps read-only unless an entry opens them.
const KEPT: [&str; 4] = [".git", ".agents", ".codex", ".aws"];

/// The characters that make a glob out of a name.
const WILD: [char; 6] = ['*', '?', '[', '{', '\\', '!'];

/// The limits of a request, looked up on disk.
#[derive(Clone, Debug)]
pub struct PlacedLimits {
    layers: Result<Vec<PlacedLayer>, &'static str>,
}

#[derive(Clone, Debug)]
struct PlacedLayer {
    entries: Vec<Entry>,
    closed: Vec<ClosedPattern>,
    nothing_writable: bool,
}

#[derive(Clone, Debug)]
struct ClosedPattern {
    glob: GlobMatcher,
    /// Every matching place lies below this one.
    below: PathBuf,
}

/// A question to the limits.
#[derive(Clone, Copy, Debug)]
struct Asked<'a> {
    place: &'a Path,
    kind: Option<FileKind>,
    access: Access,
}

impl HostLimits {
    /// Follows the links on the way to every place. `guard` has the roots of the session.
    ///
    /// This happens for each request, because links may change.
    pub fn place_ambient(&self, guard: &Guard) -> PlacedLimits {
        let place = |layers: &Vec<Layer>| layers.iter().map(|layer| PlacedLayer::new_ambient(layer, guard)).collect();
        PlacedLimits { layers: self.layers.as_ref().map_err(|why| *why).and_then(place) }
    }
}

impl PlacedLimits {
    /// Checks a grant that the roots gave for the path `asked`.
    pub fn check(&self, grant: &Grant, asked: &OsStr) -> Result<(), Denial> {
        self.check_for(grant, grant.access(), asked)
    }

    /// The same for an access other than the grant's.
    pub fn check_for(&self, grant: &Grant, access: Access, asked: &OsStr) -> Result<(), Denial> {
        let verdict = self.verdict(Asked { place: &grant.path(), kind: grant.kind(), access });
        verdict.map_err(|exceeds| exceeds.denial(grant, access, asked))
    }

    /// Refuses an operation that can access everything in the roots and cannot be confined further, unless the host
    /// sets no limits.
    pub fn check_unbounded(&self, grant: &Grant, asked: &OsStr) -> Result<(), Denial> {
        match &self.layers {
            Ok(layers) if layers.is_empty() => Ok(()),
            Ok(_) => Err(Exceeds::Unbounded.denial(grant, grant.access(), asked)),
            Err(why) => Err(Exceeds::Unclear(why).denial(grant, grant.access(), asked)),
        }
    }

    fn verdict(&self, asked: Asked<'_>) -> Result<(), Exceeds> {
        // SECURITY: a state that is not understood allows nothing
        // (test: a_state_that_is_not_understood_refuses_every_path)
        let layers = self.layers.as_ref().map_err(|&why| Exceeds::Unclear(why))?;
        layers.iter().try_for_each(|layer| layer.verdict(asked))
    }
}

impl Exceeds {
    fn denial(self, grant: &Grant, access: Access, asked: &OsStr) -> Denial {
        let code = match self {
            Exceeds::Writes => Code::AccessDenied,
            _ => Code::Restricted,
        };
        Denial::new(code, asked, access).by_own_rules(grant, self.to_string())
    }
}

impl PlacedLayer {
    fn new_ambient(layer: &Layer, guard: &Guard) -> Result<PlacedLayer, &'static str> {
        let mut entries = Vec::with_capacity(layer.entries.len());
        for entry in &layer.entries {
            // SECURITY: a closed place is closed under both names (test: a_closed_place_is_closed_by_either_name)
            let led = follow_ambient(&entry.path).filter(|followed| followed.place != entry.path);
            let Some(led) = led else {
                entries.push(entry.clone());
                continue;
            };
            // SECURITY: a server may have created a link in a root, and must not use it to choose what the host allows
            // (test: a_link_in_a_root_moves_no_limit)
            let is_of_server =
                led.links.iter().any(|link| guard.roots().iter().any(|root| link.starts_with(&root.place)));
            let there = match (entry.allowed, is_of_server) {
                (allowed, false) => Some(allowed),
                (Allowed::Writing, true) => None,
                (Allowed::Nothing | Allowed::Reading, true) => Some(Allowed::Nothing),
            };
            entries.extend(there.map(|allowed| Entry { path: led.place, allowed }));
            // The link may be replaced before the server uses it.
            if entry.allowed != Allowed::Writing {
                entries.push(entry.clone());
            }
        }
        let closed = layer.closed.iter().map(|glob| ClosedPattern::both_ambient(glob));
        let closed = closed.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        Ok(PlacedLayer { entries, closed, nothing_writable: layer.nothing_writable })
    }

    fn verdict(&self, asked: Asked<'_>) -> Result<(), Exceeds> {
        let allowed = self.allowed(asked.place);
        if allowed == Allowed::Nothing {
            return Err(Exceeds::Closed);
        }
        let changes = !(asked.access & Access::WRITE.with(Access::DELETE)).is_empty();
        if changes && allowed != Allowed::Writing {
            return Err(Exceeds::Writes);
        }
        if asked.access.is_empty() || asked.kind != Some(FileKind::Directory) {
            return Ok(());
        }
        // SECURITY: access to a directory includes its contents (test: a_directory_with_a_closed_place_is_refused)
        if self.has_below(asked.place, Allowed::Nothing)
            || self.closed.iter().any(|closed| closed.may_lie_below(asked.place))
        {
            return Err(Exceeds::ClosedBelow);
        }
        // SECURITY: removing a directory removes its contents
        // (test: a_directory_with_a_read_only_place_cannot_be_deleted)
        let goes = asked.access.contains(Access::DELETE);
        let keeps = |entry: &Entry| entry.allowed == Allowed::Writing && entry.path.starts_with(asked.place);
        if goes && (self.has_below(asked.place, Allowed::Reading) || self.entries.iter().any(keeps)) {
            return Err(Exceeds::WritesBelow);
        }
        Ok(())
    }

    /// The access allowed in a place.
    fn allowed(&self, place: &Path) -> Allowed {
        // SECURITY: everything below a closed place is closed (test: patterns_close_what_they_match_and_what_is_in_it)
        if place.ancestors().any(|above| self.closed.iter().any(|closed| closed.glob.is_match(above))) {
            return Allowed::Nothing;
        }
        let depth = |entry: &&Entry| entry.path.components().count();
        let over = || self.entries.iter().filter(|entry| place.starts_with(&entry.path));
        let Some(deepest) = over().map(|entry| depth(&entry)).max() else { return Allowed::Nothing };
        // Two entries may be the same place under different names: the lesser access counts.
        let deepest = over().filter(|entry| depth(entry) == deepest).map(|entry| entry.allowed).min();
        let allowed = deepest.unwrap_or(Allowed::Nothing);
        if allowed == Allowed::Writing && (self.nothing_writable || self.keeps(place)) {
            Allowed::Reading
        } else {
            allowed
        }
    }

    /// Whether Codex keeps a place read-only although it lies in a writable place.
    fn keeps(&self, place: &Path) -> bool {
        let is_kept = |name: &OsStr| KEPT.iter().any(|kept| name.eq_ignore_ascii_case(kept));
        let writable = || self.entries.iter().filter(|entry| entry.allowed == Allowed::Writing);
        writable().any(|entry| {
            let Ok(below) = place.strip_prefix(&entry.path) else { return false };
            let Some(name) = below.components().next().filter(|name| is_kept(name.as_os_str())) else { return false };
            let kept = entry.path.join(name);
            !writable().any(|opened| opened.path.starts_with(&kept) && place.starts_with(&opened.path))
        })
    }

    /// Whether an entry below a place allows no more than this.
    fn has_below(&self, place: &Path, at_most: Allowed) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.allowed <= at_most && entry.path != place && entry.path.starts_with(place))
    }
}

impl ClosedPattern {
    /// A glob as written, and with its fixed part resolved.
    fn both_ambient(glob: &str) -> Result<Vec<ClosedPattern>, &'static str> {
        let names: Vec<&str> = glob.split('/').skip(1).collect();
        let fixed = names.iter().take_while(|name| !name.contains(WILD)).count();
        let below = Path::new("/").join(names[..fixed].join("/"));
        let wild = names[fixed..].join("/");
        let led = follow_ambient(&below).map(|followed| followed.place).filter(|place| *place != below);
        let led = led.and_then(|place| {
            let written = globset::escape(place.to_str()?);
            Some((format!("{}/{wild}", written.trim_end_matches('/')), place))
        });
        let both = [Some((glob.to_owned(), below)), led].into_iter().flatten();
        both.map(|(glob, below)| ClosedPattern::new(glob.trim_end_matches('/'), below)).collect()
    }

    fn new(glob: &str, below: PathBuf) -> Result<ClosedPattern, &'static str> {
        let mut builder = GlobBuilder::new(glob);
        // Ignoring case only closes more.
        builder.literal_separator(true).allow_unclosed_class(true).case_insensitive(true);
        let glob = builder.build().map_err(|_| "it has a malformed pattern")?.compile_matcher();
        Ok(ClosedPattern { glob, below })
    }

    fn may_lie_below(&self, directory: &Path) -> bool {
        self.below.starts_with(directory) || directory.starts_with(&self.below)
    }
}
