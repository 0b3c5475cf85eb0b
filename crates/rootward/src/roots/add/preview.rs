//! What a person sees before consenting.

use rootward_client::store::{Insistence, Kept, SavedRoot};
use rootward_core::{Access, Extent, Origin, PlacedRoot, Root, RootKind, RootSet, Shown, Validation, WhyRefused};

use crate::roots::desk::Desk;
use crate::roots::shown;

/// How many entries to search for closed places: a question is not worth a long wait.
const LOOKED_AT: usize = 20_000;
/// How many closed places to name.
const NAMED: usize = 8;

/// The lines above the question.
pub(in crate::roots) fn lines(
    saved: &SavedRoot,
    placed: &[PlacedRoot],
    warnings: &[String],
    desk: &Desk,
) -> Vec<String> {
    let placed = match placed {
        [one] if saved.pattern.is_none() => one,
        several => return lines_of_pattern(saved, several, warnings, desk),
    };
    let kind = if placed.kind == RootKind::File { "file" } else { "directory" };
    let mut lines = vec![format!("{kind} {}", Shown::new(&placed.place))];
    let mut row = |name: &str, says: &str| lines.push(format!("  {name:<8} {says}"));
    if let Some(name) = &saved.name {
        row("name", &Shown::new(name).to_string());
    }
    row("access", &saved.access.to_string());
    row("for", &format!("{}, until it is removed", shown::audience(&saved.audience)));
    if placed.root.path != placed.place {
        row("named as", &format!("{}, which leads there", Shown::new(&placed.root.path)));
    }
    if !saved.restrict.is_empty() {
        row("closed", &shown::patterns(&saved.restrict));
    }
    for says in closed(placed, desk) {
        row("closed", &says);
    }
    for warning in warnings {
        row("warning", warning);
    }
    lines
}

/// The lines above the question about a pattern.
fn lines_of_pattern(saved: &SavedRoot, matches: &[PlacedRoot], warnings: &[String], desk: &Desk) -> Vec<String> {
    let mut lines = vec![format!("every directory that matches {}", Shown::new(&saved.path))];
    let mut row = |name: &str, says: &str| lines.push(format!("  {name:<8} {says}"));
    if let Some(name) = &saved.name {
        row("name", &Shown::new(name).to_string());
    }
    row("access", &saved.access.to_string());
    row("for", &format!("{}, until it is removed", shown::audience(&saved.audience)));
    let now = matches.iter().take(NAMED).map(|placed| format!("`{}`", desk.shown(&placed.place)));
    let mut now: Vec<String> = now.collect();
    if matches.len() > NAMED {
        now.push(format!("and {} more directories", matches.len() - NAMED));
    }
    row("now", &if now.is_empty() { "nothing".to_owned() } else { now.join(", ") });
    row("later", "directories created there later are shared, too, without asking");
    for warning in warnings {
        row("warning", warning);
    }
    lines
}

/// The closed places inside it.
fn closed(placed: &PlacedRoot, desk: &Desk) -> Vec<String> {
    let set = RootSet::new([placed.clone()], []);
    let guard = desk.ground.guard(set, placed.place.clone());
    let Ok(seen) = guard.closed_places_below(0, LOOKED_AT) else { return Vec::new() };
    let one = |place: &rootward_core::ClosedPlace| {
        let below = place.place.strip_prefix(&placed.place).unwrap_or(&place.place);
        let how = if place.taken == Access::ALL { "" } else { " (for writing)" };
        format!("`{}`{how}", Shown::new(below))
    };
    let mut says: Vec<String> = seen.found.iter().take(NAMED).map(one).collect();
    if seen.found.len() > NAMED {
        says.push(format!("and {} more places", seen.found.len() - NAMED));
    }
    let mut lines = if says.is_empty() { Vec::new() } else { vec![says.join(", ")] };
    if seen.extent == Extent::Part {
        lines.push(format!("closed places are not searched for beyond {LOOKED_AT} entries"));
    }
    lines
}

/// Reasons to think twice.
pub(in crate::roots) fn warnings(saved: &SavedRoot, kept: &Kept, desk: &Desk) -> Vec<String> {
    let mut warnings = Vec::new();
    let path = &saved.path;
    let shown_path = desk.shown(path);
    if saved.insistence == Insistence::Forced
        && let Some(reason) = why_not(saved, desk)
    {
        warnings.push(format!("`{shown_path}` should not be shared: {reason}"));
    }
    if desk.ground.home().is_some_and(|home| home.starts_with(path)) {
        warnings.push(format!("`{shown_path}` holds your whole home directory: share only what is needed"));
    }
    for other in &kept.roots {
        if other.path != *path && path.starts_with(&other.path) {
            warnings.push(format!(
                "`{shown_path}` is inside {}: the settings of the deeper root apply there",
                shown::line(other, desk)
            ));
        } else if other.path != *path && other.path.starts_with(path) {
            warnings.push(format!("{} is inside it, and keeps its own settings", shown::line(other, desk)));
        }
    }
    warnings
}

/// Why a place needs `--force`.
fn why_not(saved: &SavedRoot, desk: &Desk) -> Option<String> {
    let judged = Root { origin: Origin::Store, ..saved.root() };
    let set = RootSet::place_ambient([judged], &Validation::new(desk.ground.directories.home.clone()));
    match &set.refused().first()?.reason {
        WhyRefused::NotShareable(reason) => Some(reason.clone()),
        _ => None,
    }
}
