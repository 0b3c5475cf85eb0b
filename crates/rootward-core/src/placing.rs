//! Finds roots on disk: from the name to the real place.
//!
//! Ambient: these functions look anywhere a root's path leads. They are for code that sets up a guard, never for a path
//! from a peer.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use crate::access::Access;
use crate::material::Material;
use crate::os;
use crate::pattern::{self, Pattern, Unexpanded};
use crate::resolve::guess::{Climb, Lost, Why, follow, guess};
use crate::resolve::{Leaf, Resolver, open};
use crate::root::{FileId, Origin, PlacedRoot, Root, RootKind};
use crate::set::{RefusedRoot, RootSet, WhyRefused};
use crate::validate::Validation;

/// A root that was found, the links in its path, and the names in it that a pattern matched.
struct Found {
    placed: PlacedRoot,
    links: Vec<PathBuf>,
    matched: Vec<PathBuf>,
}

/// Whether the links on the way to a root can be trusted.
enum Link {
    /// There are no links that a confined command could have created.
    Trusted,
    /// A confined command could have created one, but its target is open without it.
    AddsNothing,
    /// A confined command could have created this link to open more.
    Planted(PathBuf),
    /// A confined command could have created the directory that a pattern matches here.
    PlantedMatch(PathBuf),
}

impl RootSet {
    /// Looks up each root. A root that cannot be used is left out with the reason and does not affect the others.
    pub fn place_ambient(roots: impl IntoIterator<Item = Root>, validation: &Validation) -> RootSet {
        let resolver = Resolver::detect();
        let mut found = Vec::new();
        let mut refused = Vec::new();
        for root in roots {
            let placed = match root.pattern {
                Some(Pattern::Named { fixed }) => {
                    place_matches(resolver, &root, fixed, validation, &mut refused).map(|some| found.extend(some))
                }
                Some(Pattern::Matched { .. }) | None => place(resolver, &root, validation).map(|one| found.push(one)),
            };
            if let Err(reason) = placed {
                refused.push(keep_out(root, reason));
            }
        }
        // SECURITY: a link that a confined server could have created must not share more than is shared without it
        // (test: a_nested_root_that_became_a_link_is_left_out)
        let links = planted_links(&found, || validation.material_ambient());
        let mut placed = Vec::new();
        for (Found { placed: mut root, .. }, link) in found.into_iter().zip(links) {
            match link {
                Link::Trusted => placed.push(root),
                // Use the place itself, which is open, and not a link that may lead elsewhere next time.
                Link::AddsNothing => {
                    root.root.path.clone_from(&root.place);
                    placed.push(root);
                }
                Link::Planted(link) => refused.push(keep_out(root.root, WhyRefused::PlantedLink(link))),
                Link::PlantedMatch(holder) => {
                    let kept_out = keep_out(as_named(root.root), WhyRefused::PlantedMatch(holder));
                    // Report each pattern only once per directory.
                    if !refused.contains(&kept_out) {
                        refused.push(kept_out);
                    }
                }
            }
        }
        RootSet::new(placed, refused)
    }

    /// Looks up all roots again, including those that were left out: a missing root may have come back, and a link may
    /// lead elsewhere.
    #[must_use]
    pub fn place_again_ambient(&self, validation: &Validation) -> RootSet {
        let mut known: Vec<Root> = self.roots().iter().map(|placed| as_named(placed.root.clone())).collect();
        // One pattern may have matched several roots.
        known.dedup();
        let kept_out = self.refused().iter().filter_map(|refused| refused.root.clone());
        let unreadable = self.refused().iter().filter(|refused| refused.root.is_none()).cloned();
        let again = RootSet::place_ambient(known.into_iter().chain(kept_out), validation);
        RootSet::new(again.roots().iter().cloned(), again.refused().iter().cloned().chain(unreadable))
            .with_others(self.others().iter().cloned())
    }
}

fn keep_out(root: Root, reason: WhyRefused) -> RefusedRoot {
    RefusedRoot { text: root.path.display().to_string(), root: Some(root), reason }
}

/// Judges the links on the way to each root.
fn planted_links(found: &[Found], material: impl FnOnce() -> Material) -> Vec<Link> {
    if found.iter().all(|one| one.links.is_empty() && one.matched.is_empty()) {
        return found.iter().map(|_| Link::Trusted).collect();
    }
    let material = material();
    let is_suspect = |index: usize, link: &Path| {
        let holder = link.parent().unwrap_or(link);
        let in_writable_root = |(other, around): (usize, &Found)| {
            other != index && around.placed.root.access.contains(Access::WRITE) && around.placed.holds(holder)
        };
        material.holds(holder) || found.iter().enumerate().any(in_writable_root)
    };
    let suspect = |(index, one): (usize, &Found)| {
        let link = one.links.iter().find(|link| is_suspect(index, link)).cloned().map(Link::Planted);
        // SECURITY: a directory that a confined server created must not become a root because a pattern matches it
        // (test: a_pattern_matches_nothing_that_a_confined_command_could_have_created)
        let planted = || one.matched.iter().find(|name| is_suspect(index, name));
        link.or_else(|| planted().map(|name| Link::PlantedMatch(name.parent().unwrap_or(name).to_owned())))
    };
    let suspects: Vec<Option<Link>> = found.iter().enumerate().map(suspect).collect();
    let is_open_without = |one: &PlacedRoot| {
        let firm = found.iter().zip(&suspects).filter(|(_, suspect)| suspect.is_none());
        firm.map(|(other, _)| &other.placed)
            .any(|other| other.holds(&one.place) && other.root.access.contains(one.root.access))
    };
    let adds_nothing: Vec<bool> = found.iter().map(|one| is_open_without(&one.placed)).collect();
    let judged = suspects.into_iter().zip(adds_nothing).map(|(suspect, adds_nothing)| match suspect {
        None => Link::Trusted,
        Some(_) if adds_nothing => Link::AddsNothing,
        Some(suspect) => suspect,
    });
    judged.collect()
}

/// The pattern that matched this root, as a root; other roots stay unchanged.
fn as_named(root: Root) -> Root {
    match root.pattern {
        Some(Pattern::Matched { by, fixed }) => Root { path: by, pattern: Some(Pattern::Named { fixed }), ..root },
        _ => root,
    }
}

/// The directories that a pattern matches. A directory that cannot be shared is left out individually.
fn place_matches(
    resolver: Resolver,
    root: &Root,
    fixed: usize,
    validation: &Validation,
    refused: &mut Vec<RefusedRoot>,
) -> Result<Vec<Found>, WhyRefused> {
    let (start, names) = pattern::split(&root.path, fixed);
    let (place, links) = lead(resolver, start.as_os_str().as_bytes())?;
    // SECURITY: same rule as for a saved path (test: a_pattern_matches_no_link)
    if root.origin == Origin::Store && start != place {
        return Err(WhyRefused::Linked);
    }
    let unexpanded = |why: Unexpanded| match why {
        Unexpanded::TooMany => WhyRefused::TooManyMatches,
        Unexpanded::System(error) => refusal(error),
    };
    let mut found = Vec::new();
    let matches = pattern::matches(resolver, &place, &names).map_err(unexpanded)?;
    if matches.is_empty() {
        return Err(WhyRefused::NoMatch);
    }
    for one in matches {
        let shared = Root {
            path: start.join(&one.below),
            pattern: Some(Pattern::Matched { by: root.path.clone(), fixed }),
            name: root.name.as_ref().map(|name| format!("{name}: {}", one.below.display())),
            ..root.clone()
        };
        let lies_at = place.join(&one.below);
        // SECURITY: a pattern does not name a secret place explicitly, no matter who wrote it
        // (test: matches_of_a_pattern_are_judged_like_a_clients_roots)
        let judged = judge(validation, Origin::Client, &shared.path);
        if let Err(reason) = judged.and_then(|()| judge(validation, Origin::Client, &lies_at)) {
            let text = shared.path.display().to_string();
            refused.push(RefusedRoot { text, root: None, reason });
            continue;
        }
        let below = one.below.components().scan(place.clone(), |above, part| {
            above.push(part);
            Some(above.clone())
        });
        let placed = PlacedRoot { root: shared, kind: RootKind::Directory, id: one.id, place: lies_at };
        found.push(Found { placed, links: links.clone(), matched: below.collect() });
    }
    Ok(found)
}

/// Where a path leads, and the links on the way.
fn lead(resolver: Resolver, text: &[u8]) -> Result<(PathBuf, Vec<PathBuf>), WhyRefused> {
    let lost = |lost: Lost| match lost.why {
        Why::System(error) => refusal(error),
        Why::Climbs | Why::MagicLink => WhyRefused::Unreachable(std::io::ErrorKind::PermissionDenied),
    };
    let mut found = guess(resolver, text, Leaf::Follow, Climb::Anywhere).map_err(lost)?;
    let mut links = Vec::new();
    if found.place != text {
        // One walk returns both the place and the links, so a concurrent change of a link affects both or neither.
        let (walked, passed) = follow(text).map_err(lost)?;
        found = walked;
        links = passed.into_iter().map(|link| PathBuf::from(OsString::from_vec(link))).collect();
    }
    if found.id.is_none() {
        return Err(WhyRefused::Missing);
    }
    Ok((PathBuf::from(OsString::from_vec(found.place)), links))
}

fn place(resolver: Resolver, root: &Root, validation: &Validation) -> Result<Found, WhyRefused> {
    judge(validation, root.origin, &root.path)?;
    let (place, links) = lead(resolver, root.path.as_os_str().as_bytes())?;
    // SECURITY: also judge the resolved place: a link may lead into a system directory
    // (test: a_client_root_that_links_to_a_system_place_is_refused)
    judge(validation, root.origin, &place)?;
    // SECURITY: a saved consent is about a place. Anyone who can write above it could put a link there to share another
    // place (test: a_saved_root_is_not_followed_through_a_link)
    if root.origin == Origin::Store && root.path != place {
        return Err(WhyRefused::Linked);
    }
    let (kind, id) = look(resolver, &place).map_err(refusal)?;
    let kind = kind.ok_or(WhyRefused::Special)?;
    Ok(Found { placed: PlacedRoot { root: root.clone(), place, kind, id }, links, matched: Vec::new() })
}

fn judge(validation: &Validation, origin: Origin, path: &Path) -> Result<(), WhyRefused> {
    validation.judge(origin, path).map_err(|reason| WhyRefused::NotShareable(reason.to_string()))
}

/// The kind of a place, and the id of the directory that is pinned for it.
fn look(resolver: Resolver, place: &Path) -> Result<(Option<RootKind>, FileId), Errno> {
    let slash = os::pin_slash()?;
    let pin = |path: &Path, flags| {
        let bytes = path.as_os_str().as_bytes();
        open(resolver, slash.as_fd(), bytes.strip_prefix(b"/").unwrap_or(bytes), os::PIN.union(flags))
    };
    let found = pin(place, OFlags::empty())?;
    match os::type_of(&os::status(&found)?) {
        FileType::Directory => Ok((Some(RootKind::Directory), os::identity(&found)?)),
        FileType::RegularFile => {
            let parent = pin(place.parent().unwrap_or(place), OFlags::DIRECTORY)?;
            Ok((Some(RootKind::File), os::identity(&parent)?))
        }
        _ => Ok((None, os::identity(&found)?)),
    }
}

fn refusal(error: Errno) -> WhyRefused {
    match error {
        Errno::NOENT | Errno::NOTDIR => WhyRefused::Missing,
        error => WhyRefused::Unreachable(error.kind()),
    }
}
