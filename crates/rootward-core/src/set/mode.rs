//! How the client's roots and the ceiling are combined into one set: `narrow`, `replace`, `union`.
//!
//! Each mode is a law about places, not about roots. `access(S, p)` is the access of the deepest root of `S` that
//! contains `p`:
//!
//! | mode | `p` is inside | `access(p)` |
//! |---|---|---|
//! | narrow | both | `access(client, p) ∩ access(ceiling, p)` |
//! | narrow, no ceiling named | the client's | `access(client, p)` |
//! | replace | the client's | `access(client, p)` |
//! | union | either | inside the ceiling `access(ceiling, p)`, elsewhere `access(client, p)` |

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::access::Access;
use crate::root::{Origin, PlacedRoot};

use super::{ByPlace, RootSet, at_one_place};

/// How the client's roots and the ceiling combine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Mode {
    /// What lies in both.
    #[default]
    Narrow,
    /// The client's roots, regardless of the ceiling.
    Replace,
    /// What lies in either.
    Union,
}

/// A word that is not a mode.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown mode `{0}`, expected `narrow`, `replace` or `union`")]
pub struct UnknownMode(String);

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 3] = [Mode::Narrow, Mode::Replace, Mode::Union];

    /// The mode's word.
    pub const fn word(self) -> &'static str {
        match self {
            Mode::Narrow => "narrow",
            Mode::Replace => "replace",
            Mode::Union => "union",
        }
    }
}

impl FromStr for Mode {
    type Err = UnknownMode;
    fn from_str(word: &str) -> Result<Mode, UnknownMode> {
        Mode::ALL.into_iter().find(|mode| mode.word() == word).ok_or_else(|| UnknownMode(word.to_owned()))
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for Mode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl RootSet {
    /// The current roots if the client names `client` and the operator set `ceiling`.
    ///
    /// The client's order and names come first. A part of the ceiling is placed next to the client's root that contains
    /// it; in a union, at the end. A place that only the client named keeps the client's origin, even inside the
    /// ceiling: the operator vouched for the ceiling, not for what the client picks within it. If the ceiling names
    /// exactly the same place, the origin is the operator's. Refused roots of both sets are kept.
    #[must_use]
    pub fn combine(mode: Mode, client: &RootSet, ceiling: &RootSet) -> RootSet {
        let roots = match mode {
            // SECURITY: a named ceiling with no roots left allows nothing; treating it as no ceiling would widen access
            // (test: a_ceiling_that_is_gone_still_is_one)
            Mode::Narrow if ceiling.names_any() => narrow(client, ceiling).into(),
            Mode::Narrow | Mode::Replace => client.roots.iter().map(by_client_alone).collect(),
            Mode::Union => union(client, ceiling).into(),
        };
        let refused = match (client.refused.is_empty(), ceiling.refused.is_empty()) {
            (_, true) => client.refused.clone(),
            (true, false) => ceiling.refused.clone(),
            (false, false) => client.refused.iter().chain(&*ceiling.refused).cloned().collect(),
        };
        // A ceiling only contains file paths, so roots of other schemes come from the client.
        RootSet { roots, refused, others: client.others.clone() }
    }

    /// The part of this set that lies within `bound`, with the access that both give. An empty bound leaves nothing.
    #[must_use]
    pub fn within(&self, bound: &RootSet) -> RootSet {
        RootSet { roots: narrow(self, bound).into(), ..self.clone() }
    }
}

/// Every root of either set that lies in the other. For each place, the deeper of the two governing roots is among
/// them, so it also governs in the result, with the access that both give.
fn narrow(client: &RootSet, ceiling: &RootSet) -> Vec<PlacedRoot> {
    let (in_client, in_ceiling) = (ByPlace::new(client), ByPlace::new(ceiling));
    let mut parts: Vec<Vec<PlacedRoot>> = vec![Vec::new(); client.len()];
    for part in &*ceiling.roots {
        if let Some(position) = in_client.governing_position(&part.place)
            && client.roots[position].place != part.place
        {
            let access = part.root.access & client.roots[position].root.access;
            parts[position].push(with_access(part.clone(), access));
        }
    }
    let mut result = Vec::new();
    for (root, parts) in client.roots.iter().zip(parts) {
        if let Some(above) = in_ceiling.governing(&root.place) {
            result.push(below(root, above, root.root.access & above.root.access));
        }
        result.extend(parts);
    }
    result
}

/// Every root of both sets, with the ceiling's access wherever the ceiling reaches.
fn union(client: &RootSet, ceiling: &RootSet) -> Vec<PlacedRoot> {
    let (in_client, in_ceiling) = (ByPlace::new(client), ByPlace::new(ceiling));
    let named = client.roots.iter().map(|root| match in_ceiling.governing(&root.place) {
        Some(above) => below(root, above, above.root.access),
        None => by_client_alone(root),
    });
    let rest = ceiling.roots.iter().filter(|root| in_client.at(&root.place).is_none());
    named.chain(rest.cloned()).collect()
}

/// The client's `root` outside any ceiling.
fn by_client_alone(root: &PlacedRoot) -> PlacedRoot {
    // SECURITY: only the operator can grant execute (test: a_client_alone_grants_no_execute)
    with_access(root.clone(), root.root.access.without(Access::EXECUTE))
}

/// The client's `root` below the root of the ceiling that governs it.
fn below(root: &PlacedRoot, above: &PlacedRoot, access: Access) -> PlacedRoot {
    if root.place == above.place {
        // An operator's pattern does not name this place explicitly.
        let origin = if above.root.pattern.is_some() { Origin::Client } else { above.root.origin };
        at_one_place(root.clone(), above, access, origin)
    } else {
        // SECURITY: the origin stays the client's (test: a_place_picked_by_the_client_keeps_its_origin)
        with_access(root.clone(), access)
    }
}

fn with_access(mut root: PlacedRoot, access: Access) -> PlacedRoot {
    root.root.access = access;
    root
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::root::Origin::{Client, Flag};
    use crate::set::WhyRefused;
    use crate::set::examples::{directory, file, of, refused};

    use super::*;

    const RO: Access = Access::READ;
    const RW: Access = Access::READ_WRITE;

    fn shown(set: &RootSet) -> Vec<(&str, Access)> {
        set.roots.iter().map(|root| (root.place.to_str().unwrap_or("?"), root.root.access)).collect()
    }

    #[test]
    fn modes() {
        let client = of([
            directory("/srv/app", RW, Client),
            directory("/home/me", RW, Client),
            directory("/opt", RW, Client),
            file("/srv/notes", RW, Client),
        ]);
        let ceiling = of([
            directory("/home/me/two", RO, Flag),
            directory("/srv", RO, Flag),
            directory("/home/me/one", RW, Flag),
            directory("/data", RO, Flag),
        ]);
        let check = |mode, expect: &[(&str, Access)]| {
            assert_eq!(shown(&RootSet::combine(mode, &client, &ceiling)), expect, "{mode}");
        };
        check(Mode::Narrow, &[("/srv/app", RO), ("/home/me/two", RO), ("/home/me/one", RW), ("/srv/notes", RO)]);
        check(Mode::Replace, &[("/srv/app", RW), ("/home/me", RW), ("/opt", RW), ("/srv/notes", RW)]);
        check(
            Mode::Union,
            &[
                ("/srv/app", RO),
                ("/home/me", RW),
                ("/opt", RW),
                ("/srv/notes", RO),
                ("/home/me/two", RO),
                ("/srv", RO),
                ("/home/me/one", RW),
                ("/data", RO),
            ],
        );
        for mode in Mode::ALL {
            assert_eq!(RootSet::combine(mode, &client, &RootSet::default()), client, "{mode}, no ceiling");
        }
    }

    #[test]
    fn a_client_alone_grants_no_execute() {
        let client = of([directory("/srv/app", Access::ALL, Client), directory("/opt", Access::ALL, Client)]);
        let ceiling = of([directory("/srv", Access::ALL, Flag)]);
        let check = |mode, ceiling: &RootSet, place: &str, expect: Option<Access>| {
            let set = RootSet::combine(mode, &client, ceiling);
            assert_eq!(set.governing(Path::new(place)).map(|root| root.root.access), expect, "{mode} {place}");
        };
        for mode in Mode::ALL {
            check(mode, &RootSet::default(), "/srv/app", Some(RW));
        }
        check(Mode::Replace, &ceiling, "/srv/app", Some(RW));
        check(Mode::Narrow, &ceiling, "/srv/app", Some(Access::ALL));
        check(Mode::Narrow, &ceiling, "/opt", None);
        check(Mode::Union, &ceiling, "/srv/app", Some(Access::ALL));
        check(Mode::Union, &ceiling, "/opt", Some(RW));
    }

    #[test]
    fn a_ceiling_that_is_gone_still_is_one() {
        let client = of([directory("/srv/app", RW, Client)]);
        let gone = RootSet::new([], [refused("/srv", WhyRefused::Missing)]);
        let narrowed = RootSet::combine(Mode::Narrow, &client, &gone);
        assert!(narrowed.is_empty(), "{narrowed:?}");
        assert_eq!(narrowed.refused(), gone.refused());
    }

    #[test]
    fn a_place_picked_by_the_client_keeps_its_origin() {
        let mut same = directory("/same", RW, Client);
        same.root.name = Some("mine".to_owned());
        let client = of([directory("/srv/app", RW, Client), same, directory("/home", RW, Client)]);
        let mut vouched = directory("/same", RO, Flag);
        vouched.root.name = Some("theirs".to_owned());
        let ceiling = of([directory("/srv", RW, Flag), vouched, directory("/home/me", RW, Flag)]);
        for mode in [Mode::Narrow, Mode::Union] {
            let set = RootSet::combine(mode, &client, &ceiling);
            let check = |place: &str, origin, name: Option<&str>| {
                let root = set.governing(Path::new(place)).map(|found| &found.root);
                assert_eq!(
                    root.map(|root| (root.origin, root.name.as_deref())),
                    Some((origin, name)),
                    "{mode} {place}"
                );
            };
            check("/srv/app", Client, None);
            check("/same", Flag, Some("mine"));
            check("/home/me", Flag, None);
        }
    }

    #[test]
    fn a_file_for_one_and_a_directory_for_the_other_is_closed() {
        let client = of([directory("/", RW, Client), directory("/a", RO, Client)]);
        let ceiling = of([directory("/", RW, Flag), file("/a", RW, Flag)]);
        for mode in [Mode::Narrow, Mode::Union] {
            let set = RootSet::combine(mode, &client, &ceiling);
            let governing = set.governing(Path::new("/a/below")).map(|root| root.root.access);
            assert_eq!(governing, Some(Access::NONE), "{mode}");
        }
    }

    #[test]
    fn words() {
        for mode in Mode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
            assert_eq!(serde_json::to_value(mode).ok(), Some(mode.word().into()));
        }
        let unknown = "Narrow".parse::<Mode>().map_err(|error| error.to_string());
        assert_eq!(unknown, Err("unknown mode `Narrow`, expected `narrow`, `replace` or `union`".to_owned()));
    }
}
