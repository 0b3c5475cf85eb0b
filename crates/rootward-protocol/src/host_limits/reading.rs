//! Parses Codex's sandbox state, in every form that Codex has sent since April 2026 (0.121 and later).
//!
//! `permissionProfile` is `managed` (with a file system that is `restricted` to entries or `unrestricted`), `disabled`,
//! `external`, or, in the first versions, without a type. Earlier there was `sandboxPolicy`. If both are present, both
//! apply.

use std::path::{Component, Path, PathBuf};

use rootward_core::{PathStyle, RootUri};
use serde_json::value::RawValue;

use super::{Allowed, Entry, Layer};
use crate::frame::Members;

/// The maximum size of a state in bytes.
const LONGEST: usize = 1 << 18;

/// The maximum number of entries.
const MOST_ENTRIES: usize = 1000;

/// Codex's prefix for a pattern relative to the project.
const FROM_PROJECT: &str = "codex-project-roots://";

const NOT_AN_OBJECT: &str = "it is not an object, or has a duplicate key";
const UNKNOWN_PROFILE: &str = "its permission profile is of an unknown kind";
const MALFORMED_ENTRY: &str = "its file system has a malformed entry";
const UNKNOWN_ENTRY: &str = "it closes a place of an unknown kind";
const TOO_MUCH: &str = "it is too large";

type Read<T> = Result<T, &'static str>;

/// Where an entry applies.
enum Where {
    Place(PathBuf),
    /// A glob of absolute paths.
    Pattern(String),
    /// The parts of the system that programs need. No project lies there.
    System,
    Unknown,
}

/// The access in an entry.
enum Says {
    Allows(Allowed),
    /// A word that this version does not know.
    Unknown,
}

/// The layers of a state; empty if it sets no limits.
pub(super) fn layers(state: &RawValue) -> Read<Vec<Layer>> {
    if state.get().len() > LONGEST {
        return Err(TOO_MUCH);
    }
    let state = Members::read(state).ok_or(NOT_AN_OBJECT)?;
    let project = state.text("sandboxCwd").as_deref().and_then(place);
    let given = |key: &str| state.get(key).filter(|value| value.get() != "null");
    let (profile, policy) = (given("permissionProfile"), given("sandboxPolicy"));
    if profile.is_none() && policy.is_none() {
        return Err("it has no permission profile");
    }
    let profile = profile.map(|profile| of_profile(profile, project.as_deref())).transpose()?;
    let policy = policy.map(|policy| of_policy(policy, project.as_deref())).transpose()?;
    Ok([profile, policy].into_iter().flatten().flatten().collect())
}

fn of_profile(profile: &RawValue, project: Option<&Path>) -> Read<Option<Layer>> {
    let profile = Members::read(profile).ok_or(NOT_AN_OBJECT)?;
    let file_system = || profile.object("file_system").ok_or(UNKNOWN_PROFILE);
    match kind(&profile, "type")?.as_deref() {
        Some("managed") => {
            let file_system = file_system()?;
            match kind(&file_system, "type")?.as_deref() {
                Some("restricted") => of_entries(&file_system, project).map(Some),
                Some("unrestricted") => Ok(None),
                _ => Err(UNKNOWN_PROFILE),
            }
        }
        Some("disabled") => Ok(None),
        // SECURITY: Codex does not know what the other sandbox allows, and treats such a profile as read-only where it
        // enforces one (test: an_external_sandbox_is_read_only)
        Some("external") => Ok(Some(Layer::for_reading())),
        // From before types existed.
        None => of_entries(&file_system()?, project).map(Some),
        Some(_) => Err(UNKNOWN_PROFILE),
    }
}

fn of_entries(file_system: &Members<'_>, project: Option<&Path>) -> Read<Layer> {
    let mut layer = Layer::default();
    for entry in list(file_system, "entries", MALFORMED_ENTRY)?.ok_or(UNKNOWN_PROFILE)? {
        let entry = Members::read(entry).ok_or(MALFORMED_ENTRY)?;
        let says = match kind(&entry, "access")?.as_deref() {
            Some("read") => Says::Allows(Allowed::Reading),
            Some("write") => Says::Allows(Allowed::Writing),
            Some("deny" | "none") => Says::Allows(Allowed::Nothing),
            Some(_) => Says::Unknown,
            None => return Err(MALFORMED_ENTRY),
        };
        layer.add(of_path(&entry.object("path").ok_or(MALFORMED_ENTRY)?, project)?, &says)?;
    }
    Ok(layer)
}

fn of_path(path: &Members<'_>, project: Option<&Path>) -> Read<Where> {
    let found = match kind(path, "type")?.as_deref() {
        Some("path") => place(&path.text("path").ok_or(MALFORMED_ENTRY)?).map(Where::Place),
        Some("glob_pattern") => pattern(&path.text("pattern").ok_or(MALFORMED_ENTRY)?, project).map(Where::Pattern),
        Some("special") => {
            let value = path.object("value").ok_or(MALFORMED_ENTRY)?;
            match kind(&value, "kind")?.as_deref() {
                Some("root") => Some(Where::Place("/".into())),
                Some("slash_tmp") => Some(Where::Place("/tmp".into())),
                Some("minimal") => Some(Where::System),
                Some("project_roots" | "current_working_directory") => {
                    let below = kind(&value, "subpath")?;
                    project.and_then(|project| below_project(project, below.as_deref())).map(Where::Place)
                }
                // Also `tmpdir`: it depends on the environment of Codex, which is unknown.
                _ => None,
            }
        }
        _ => None,
    };
    Ok(found.unwrap_or(Where::Unknown))
}

impl Layer {
    fn for_reading() -> Layer {
        Layer { entries: vec![Entry { path: "/".into(), allowed: Allowed::Reading }], ..Layer::default() }
    }

    fn add(&mut self, at: Where, says: &Says) -> Read<()> {
        match (at, says) {
            (Where::Place(path), Says::Allows(allowed)) => self.allow(path, *allowed),
            // SECURITY: it may be an exception to an open place (test: unknown_entries_give_no_access)
            (Where::Place(path), Says::Unknown) => self.allow(path, Allowed::Nothing),
            (Where::Pattern(_) | Where::System | Where::Unknown, Says::Allows(Allowed::Writing))
            | (Where::System, Says::Allows(Allowed::Reading)) => {}
            (Where::Pattern(glob), _) => self.closed.push(glob),
            // SECURITY: it may be an exception to a writable place (test: unknown_entries_give_no_access)
            (Where::Unknown, Says::Allows(Allowed::Reading)) => self.nothing_writable = true,
            (Where::System | Where::Unknown, _) => return Err(UNKNOWN_ENTRY),
        }
        Ok(())
    }

    /// Adds an entry. Of two entries for the same path, Codex uses the one that denies, else the one that allows
    /// writing.
    fn allow(&mut self, path: PathBuf, allowed: Allowed) {
        match self.entries.iter_mut().find(|entry| entry.path == path) {
            None => self.entries.push(Entry { path, allowed }),
            Some(known) if known.allowed == Allowed::Nothing => {}
            Some(known) if allowed == Allowed::Nothing => known.allowed = allowed,
            Some(known) => known.allowed = known.allowed.max(allowed),
        }
    }
}

/// The form used before June 2026.
fn of_policy(policy: &RawValue, project: Option<&Path>) -> Read<Option<Layer>> {
    let policy = Members::read(policy).ok_or(NOT_AN_OBJECT)?;
    match kind(&policy, "type")?.as_deref() {
        Some("danger-full-access") => Ok(None),
        Some("external-sandbox") => Ok(Some(Layer::for_reading())),
        Some("read-only") => of_reading(&policy, "access").map(Some),
        Some("workspace-write") => {
            let mut layer = of_reading(&policy, "read_only_access")?;
            let roots = list(&policy, "writable_roots", MALFORMED_ENTRY)?.unwrap_or_default();
            let roots = roots.into_iter().filter_map(|root| place(&serde_json::from_str::<String>(root.get()).ok()?));
            let is_shared = policy.get("exclude_slash_tmp").is_none_or(|excluded| excluded.get() == "false");
            let temporary = is_shared.then(|| PathBuf::from("/tmp"));
            for path in roots.chain(project.map(Path::to_owned)).chain(temporary) {
                layer.allow(path, Allowed::Writing);
            }
            Ok(Some(layer))
        }
        _ => Err(UNKNOWN_PROFILE),
    }
}

/// What such a policy allows to read.
fn of_reading(policy: &Members<'_>, key: &str) -> Read<Layer> {
    let Some(reading) = policy.get(key).filter(|reading| reading.get() != "null") else {
        return Ok(Layer::for_reading());
    };
    let reading = Members::read(reading).ok_or(NOT_AN_OBJECT)?;
    match kind(&reading, "type")?.as_deref() {
        Some("full-access") => Ok(Layer::for_reading()),
        Some("restricted") => {
            let mut layer = Layer::default();
            for root in list(&reading, "readable_roots", MALFORMED_ENTRY)?.unwrap_or_default() {
                if let Some(path) = serde_json::from_str::<String>(root.get()).ok().as_deref().and_then(place) {
                    layer.allow(path, Allowed::Reading);
                }
            }
            Ok(layer)
        }
        _ => Err(UNKNOWN_PROFILE),
    }
}

/// A string member; `None` if it is missing or `null`, an error if it is anything else.
fn kind(members: &Members<'_>, key: &str) -> Read<Option<String>> {
    match members.get(key) {
        None => Ok(None),
        Some(value) if value.get() == "null" => Ok(None),
        Some(_) => members.text(key).map(Some).ok_or(UNKNOWN_PROFILE),
    }
}

/// A list member with a limited number of entries; `None` if it is missing or `null`.
fn list<'j>(members: &Members<'j>, key: &str, otherwise: &'static str) -> Read<Option<Vec<&'j RawValue>>> {
    let Some(value) = members.get(key).filter(|value| value.get() != "null") else { return Ok(None) };
    let list: Vec<&RawValue> = serde_json::from_str(value.get()).map_err(|_| otherwise)?;
    if list.len() > MOST_ENTRIES { Err(TOO_MUCH) } else { Ok(Some(list)) }
}

/// Parses an absolute path or a `file:` URI into a path without dot segments.
fn place(text: &str) -> Option<PathBuf> {
    let decoded = match RootUri::parse(text, PathStyle::NATIVE) {
        Ok(uri) => uri.path().to_owned(),
        Err(_) => text.to_owned(),
    };
    let path = Path::new(&decoded);
    let is_plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    (path.is_absolute() && is_plain && !decoded.contains('\0')).then(|| path.components().collect())
}

fn below_project(project: &Path, below: Option<&str>) -> Option<PathBuf> {
    let below = Path::new(below.unwrap_or_default());
    let is_plain = below.components().all(|part| matches!(part, Component::CurDir | Component::Normal(_)));
    is_plain.then(|| project.components().chain(below.components()).filter(|part| *part != Component::CurDir).collect())
}

/// A glob of absolute paths. Relative ones start at the project.
fn pattern(text: &str, project: Option<&Path>) -> Option<String> {
    let below = text.strip_prefix(FROM_PROJECT).unwrap_or(text);
    let absolute = match below.strip_prefix('/') {
        Some(_) => below.to_owned(),
        None => format!("{}/{below}", globset::escape(project?.to_str()?)),
    };
    // `..` would never match a resolved path.
    let names = absolute.split('/').filter(|name| !matches!(*name, "" | "."));
    let names: Option<Vec<&str>> = names.map(|name| (name != "..").then_some(name)).collect();
    Some(format!("/{}", names?.join("/")))
}
