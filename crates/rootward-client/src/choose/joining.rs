//! Builds the list from what was found and what is saved.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rootward_core::Access;

use super::{Choice, Mark};
use crate::detect::{Presence, Suggestion};
use crate::store::{Audience, SavedRoot, usable_name};

pub(super) fn join(
    found: Vec<Suggestion>,
    saved: &[SavedRoot],
    audience: &Audience,
    obstacle: impl Fn(&Path) -> Option<String>,
) -> Vec<Choice> {
    let mut list: Vec<Choice> = Vec::with_capacity(found.len() + saved.len());
    let mut by_path: HashMap<&Path, Vec<usize>> = HashMap::new();
    for (position, root) in saved.iter().enumerate() {
        by_path.entry(&root.path).or_default().push(position);
        list.push(Choice {
            root: root.clone(),
            saved: Some(position),
            before: Some(root.access),
            name_before: root.name.clone(),
            found: None,
            depth: 0,
            obstacle: None,
            mark: Mark::Chosen,
        });
    }
    for suggestion in found {
        let same = by_path.get(suggestion.path.as_path());
        let same = same.and_then(|all| all.iter().find(|at| saved[**at].audience.overlaps(audience)));
        if let Some(same) = same {
            list[*same].found = Some(suggestion);
            continue;
        }
        list.push(Choice {
            root: SavedRoot {
                name: name(&suggestion),
                audience: audience.clone(),
                ..SavedRoot::new(&suggestion.path, Access::READ_WRITE)
            },
            saved: None,
            before: None,
            name_before: None,
            obstacle: obstacle(&suggestion.path),
            found: Some(suggestion),
            depth: 0,
            // SECURITY: a repository's content does not say what its user wants: only the user marks
            // (test: only_saved_roots_are_preselected)
            mark: Mark::Left,
        });
    }
    list.sort_by(|one, other| order(one).cmp(&order(other)));
    indent(&mut list);
    list
}

/// Adds a root that the user named to the list, chosen. Returns its index.
pub(super) fn insert(list: &mut Vec<Choice>, root: SavedRoot) -> usize {
    let choice = Choice {
        root,
        saved: None,
        before: None,
        name_before: None,
        found: None,
        depth: 0,
        obstacle: None,
        mark: Mark::Chosen,
    };
    let position = list.partition_point(|other| order(other) <= order(&choice));
    list.insert(position, choice);
    indent(list);
    position
}

/// By path; directories that were only named come last.
fn order(choice: &Choice) -> (bool, &Path) {
    let only_named = choice.found.as_ref().is_some_and(|found| found.presence == Presence::OnlyNamed);
    (only_named && choice.saved.is_none(), &choice.root.path)
}

/// The name that was found, if it is usable. One that looks like a path could be mistaken for another root on a
/// command line.
fn name(suggestion: &Suggestion) -> Option<String> {
    let is_path = |name: &&String| name.starts_with(['/', '~', '.']) || name.starts_with("file:");
    suggestion.name.as_ref().filter(|name| usable_name(name).is_ok()).filter(|name| !is_path(name)).cloned()
}

/// Counts the lines that contain each line. In path order, they come right before it.
fn indent(list: &mut [Choice]) {
    let mut around: Vec<PathBuf> = Vec::new();
    for choice in list {
        let path = &choice.root.path;
        while around.last().is_some_and(|above| path == above || !path.starts_with(above)) {
            around.pop();
        }
        choice.depth = around.len();
        around.push(path.clone());
    }
}
