//! What a choice changes, as shown above the question.

use std::collections::HashSet;
use std::path::Path;

use rootward_client::choose::{ChoiceChanges, Choices, Mark};
use rootward_client::store::More;
use rootward_core::{PlacedRoot, Shown};

use crate::roots::add::preview;
use crate::roots::desk::Desk;
use crate::roots::shown;

/// Where the new ones were found on disk, in their order.
pub(super) type Placed = Vec<PlacedRoot>;

/// Finds the new roots on disk. One that is missing or has changed is disabled in the list, and the first such
/// problem is returned.
pub(super) fn place_ambient(choices: &mut Choices, desk: &Desk) -> Result<Placed, String> {
    let mut placed = Vec::new();
    let mut refused = Vec::new();
    for (position, choice) in choices.list().iter().enumerate() {
        if choice.before().is_some() || choice.mark() == Mark::Left {
            continue;
        }
        match choice.root().find_ambient(desk.ground.home()) {
            Ok(found) => placed.push(found),
            Err(refusal) => refused.push((position, refusal.to_string())),
        }
    }
    let Some((first, reason)) = refused.first() else { return Ok(placed) };
    let path = desk.shown(&choices.list()[*first].root().path);
    let others = if refused.len() > 1 { format!(", and {} more", refused.len() - 1) } else { String::new() };
    let says = format!("unmarked `{path}`: {reason}{others}");
    for (position, reason) in refused {
        choices.refuse(position, reason);
    }
    Err(says)
}

/// The lines above the question: everything that would change, and nothing else.
pub(super) fn lines(choices: &Choices, placed: &Placed, desk: &Desk) -> Vec<String> {
    let difference = choices.difference();
    let result = choices.result();
    let mut lines = Vec::new();
    for (root, placed) in difference.added.iter().zip(placed) {
        let warnings = preview::warnings(root, &result, desk);
        let about = preview::lines(root, std::slice::from_ref(placed), &warnings, desk);
        lines.extend(
            about.into_iter().enumerate().map(|(at, line)| if at == 0 { format!("share {line}") } else { line }),
        );
    }
    for (before, root) in &difference.granted {
        let (path, peers) = (desk.shown(&root.path), shown::audience(&root.audience));
        let (was, now) = (shown::access_words(*before), shown::access_words(root.access));
        lines.push(format!("change `{path}` from {was} to {now}, for {peers}"));
    }
    for (was, root) in &difference.renamed {
        let was = was.map_or_else(String::new, |was| format!(" from `{}`", Shown::new(was)));
        lines.push(format!("rename `{}`{was} to `{}`", desk.shown(&root.path), Shown::new(&root.root().title())));
    }
    for root in &difference.removed {
        lines.push(format!("remove {}, for {}", shown::line(root, desk), shown::audience(&root.audience)));
    }
    // Removing a root can share more, too, if a root above it gives more.
    let told: HashSet<&Path> = difference
        .added
        .iter()
        .copied()
        .chain(difference.granted.iter().map(|(_, root)| *root))
        .map(|root| root.path.as_path())
        .collect();
    let more = result.more_than(choices.kept());
    let besides = more.iter().filter(|more| match more {
        More::Access { path, .. } => !told.contains(path.as_path()),
        More::Opened { .. } => true,
    });
    lines.extend(besides.map(|more| format!("  {}", desk.told(more, &result))));
    lines
}

pub(super) fn question(difference: &ChoiceChanges<'_>) -> &'static str {
    match (difference.added.len(), difference.granted.len() + difference.renamed.len() + difference.removed.len()) {
        (1, 0) => "share it?",
        (_, 0) => "share them?",
        (0, 1) => "make this change?",
        _ => "make these changes?",
    }
}
