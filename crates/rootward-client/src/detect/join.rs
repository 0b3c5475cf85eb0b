//! Turns findings into suggestions: one for each directory, with all its reasons, and what it belongs to.

use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};

use rootward_core::{Access, FileKind, Grant, Origin, Root, Shown};

use super::found::{Folder, Found, More, usable_name};
use super::kind::Family;
use super::members::{Matcher, Members};
use super::scan::{Scan, Walked};
use super::suggestion::{Bond, Certainty, Detection, Presence, Reason, Suggestion, Unreadable, Within};
use super::{Bound, Kind};

/// A workspace: its family, its patterns, and the patterns compiled on first use.
struct Workspace {
    family: Family,
    members: Members,
    matcher: Option<Matcher>,
}

/// A suggestion being built.
#[derive(Default)]
struct Candidate {
    reasons: Vec<Reason>,
    /// The name, and the kind that provided it.
    name: Option<(Kind, String)>,
    presence: Option<Presence>,
    /// The editor workspace that lists it as a folder.
    folder_of: Option<PathBuf>,
}

pub(super) fn join(scan: &Scan<'_>, walks: Vec<Walked<'_>>) -> Detection {
    let mut candidates: BTreeMap<PathBuf, Candidate> = BTreeMap::new();
    let mut workspaces: HashMap<PathBuf, Vec<Workspace>> = HashMap::new();
    let mut folders = Vec::new();
    let mut remotes: HashMap<PathBuf, String> = HashMap::new();
    let mut detection = Detection::default();
    let grants: Vec<&Grant> = walks.iter().map(|walked| walked.grant).collect();
    for Walked { grant, found, summary } in walks {
        detection.visited += summary.visited;
        let unreadable = |(path, error): (PathBuf, std::io::Error)| Unreadable { path, reason: said(&error) };
        detection.unreadable.extend(summary.errors.into_iter().map(unreadable));
        let top = grant.path();
        for (below, found) in found {
            // Joining an empty path would leave a trailing slash.
            let path = if below.as_os_str().is_empty() { top.clone() } else { top.join(below) };
            for (file, mut found) in found {
                match std::mem::replace(&mut found.more, More::Nothing) {
                    More::Members(members) => {
                        let workspace = Workspace { family: found.kind.family(), members, matcher: None };
                        workspaces.entry(path.clone()).or_default().push(workspace);
                    }
                    More::Submodules(members) => {
                        let workspace = Workspace { family: Family::Git, members, matcher: None };
                        workspaces.entry(path.clone()).or_default().push(workspace);
                        continue;
                    }
                    More::Remote(name) => {
                        remotes.insert(path.clone(), name);
                        continue;
                    }
                    More::Folders(named) => folders.push((path.clone(), file.clone(), named)),
                    More::Nothing => {}
                }
                let candidate = candidates.entry(path.clone()).or_default();
                candidate.presence = Some(Presence::Seen);
                candidate.add(&file, found);
            }
        }
    }
    for (above, file, named) in folders {
        for folder in named.iter().take_while(|_| !scan.is_late()) {
            add_folder(scan, &grants, &mut candidates, &above, &file, folder);
        }
    }
    detection.suggestions = finish(scan, candidates, &mut workspaces);
    for suggestion in &mut detection.suggestions {
        // The project's own name, else its git remote's, else its directory's.
        let name = suggestion.name.take().or_else(|| remotes.remove(&suggestion.path));
        suggestion.name = name.or_else(|| usable_name(&suggestion.path.file_name()?.to_string_lossy()));
    }
    detection.bounds = scan.bounds();
    let most = scan.options.limits.suggestions;
    if detection.suggestions.len() > most {
        detection.suggestions.truncate(most);
        detection.bounds.push(Bound::Suggestions);
        detection.bounds.sort_unstable();
        detection.bounds.dedup();
    }
    detection
}

/// What the system says, without the number.
fn said(error: &std::io::Error) -> String {
    let says = error.to_string().to_lowercase();
    says.split(" (os error").next().unwrap_or(&says).to_owned()
}

impl Candidate {
    fn add(&mut self, file: &str, found: Found) {
        let Found { kind, name, certainty, detail, more: _ } = found;
        if let Some(name) = name
            && self.name.as_ref().is_none_or(|(known, _)| kind < *known)
        {
            self.name = Some((kind, name));
        }
        let why = format!("{}{detail}", kind.words());
        let reason = Reason { kind, file: file.to_owned(), why, certainty };
        match self.reasons.iter_mut().find(|known| known.kind == kind && known.why == reason.why) {
            // If two files give the same reason, keep the more certain one, or else the first by name.
            Some(known) => {
                let order = |reason: &Reason| (std::cmp::Reverse(reason.certainty), reason.file.clone());
                if order(&reason) < order(known) {
                    *known = reason;
                }
            }
            None => self.reasons.push(reason),
        }
    }
}

/// A directory that an editor workspace names. It may be anywhere.
fn add_folder(
    scan: &Scan<'_>,
    grants: &[&Grant],
    candidates: &mut BTreeMap<PathBuf, Candidate>,
    above: &Path,
    file: &str,
    folder: &Folder,
) {
    let Some(path) = plain(&above.join(&folder.path)) else { return };
    let within = grants.iter().find(|grant| path.starts_with(grant.path()));
    let (path, presence, certainty) = match within {
        Some(grant) => match grant.guard().check(&path, Access::READ) {
            // Through its handle: a link that leads outside is denied.
            Ok(seen) if seen.kind() == Some(FileKind::Directory) => (seen.path(), Presence::Seen, Certainty::Certain),
            _ => return,
        },
        // SECURITY: a directory elsewhere is reported only as text, without looking at it, and only if a client
        // might name it: the file's author speaks, not the user
        // (test: folders_elsewhere_are_only_named)
        None if scan.options.validation.judge(Origin::Client, &path).is_ok() => {
            (path, Presence::OnlyNamed, Certainty::Possible)
        }
        None => return,
    };
    let detail = format!(" of `{}`", Shown::new(file));
    let found = Found { certainty, ..Found::certain(Kind::VscodeFolder) };
    let candidate = candidates.entry(path.clone()).or_default();
    candidate.presence.get_or_insert(presence);
    candidate.add(file, found.with_detail(detail).named(folder.name.as_deref()));
    if path != above && path.starts_with(above) {
        candidate.folder_of.get_or_insert_with(|| above.to_owned());
    }
}

/// A path without `.` and `..`, by its text; `None` if it climbs above `/`.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            component => plain.push(component),
        }
    }
    Some(plain)
}

fn finish(
    scan: &Scan<'_>,
    candidates: BTreeMap<PathBuf, Candidate>,
    workspaces: &mut HashMap<PathBuf, Vec<Workspace>>,
) -> Vec<Suggestion> {
    let mut suggestions: Vec<Suggestion> = Vec::with_capacity(candidates.len());
    // The indexes of the suggestions that contain the current one; in path order, they come before it.
    let mut around: Vec<usize> = Vec::new();
    for (path, mut candidate) in candidates {
        while around.last().is_some_and(|above| !path.starts_with(&suggestions[*above].path)) {
            around.pop();
        }
        if !around.is_empty() && candidate.reasons.iter().all(|reason| reason.kind.recurs()) {
            continue;
        }
        let families: Vec<Family> = candidate.reasons.iter().map(|reason| reason.kind.family()).collect();
        let mut has = |family: Family, above: &Path| {
            let of_family = |workspace: &&mut Workspace| workspace.family == family && families.contains(&family);
            let Ok(below) = path.strip_prefix(above) else { return false };
            workspaces.get_mut(above).into_iter().flatten().filter(of_family).any(|workspace| {
                // Compiling patterns takes time, and their author chose how many there are.
                !scan.is_late()
                    && workspace
                        .matcher
                        .get_or_insert_with(|| std::mem::take(&mut workspace.members).into_matcher())
                        .has(below)
            })
        };
        let mut above = around.iter().rev().map(|above| &suggestions[*above]);
        let workspace = above.clone().find(|above| {
            let is_folder = candidate.folder_of.as_ref() == Some(&above.path);
            is_folder || families.iter().any(|family| *family != Family::Git && has(*family, &above.path))
        });
        let superproject = above.clone().find(|above| has(Family::Git, &above.path));
        if superproject.is_some() {
            // A submodule with a `.git` of its own, as old versions of git made them.
            for reason in candidate.reasons.iter_mut().filter(|reason| reason.kind == Kind::GitRepository) {
                (reason.kind, reason.why) = (Kind::GitSubmodule, Kind::GitSubmodule.words().to_owned());
            }
        }
        let is_submodule = candidate.reasons.iter().any(|reason| reason.kind == Kind::GitSubmodule);
        let is_git = |above: &&Suggestion| above.reasons.iter().any(|reason| reason.kind.family() == Family::Git);
        let superproject = superproject.or_else(|| above.clone().find(is_git).filter(|_| is_submodule));
        let bound = |bond| move |above: &Suggestion| Within { path: above.path.clone(), bond };
        let within = workspace.map(bound(Bond::Member)).or_else(|| superproject.map(bound(Bond::Submodule)));
        let within = within.or_else(|| above.next().map(bound(Bond::Below)));
        candidate.reasons.sort_by(|one, other| (one.kind, &one.file).cmp(&(other.kind, &other.file)));
        let certainty = candidate.reasons.iter().map(|reason| reason.certainty).max();
        around.push(suggestions.len());
        suggestions.push(Suggestion {
            uri: Root::from_path(&path, Origin::Flag).ok().and_then(|root| Some(root.uri()?.as_str().to_owned())),
            path,
            name: candidate.name.map(|(_, name)| name),
            certainty: certainty.unwrap_or(Certainty::Possible),
            reasons: candidate.reasons,
            presence: candidate.presence.unwrap_or(Presence::OnlyNamed),
            within,
        });
    }
    suggestions
}
