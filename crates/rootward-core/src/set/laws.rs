//! The laws of root sets, checked at every place of a small world with random sets.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::access::Access;
use crate::root::{FileId, Origin, PlacedRoot, Root, RootKind, Spelling};

use super::{ByPlace, Mode, RefusedRoot, RootSet, WhyRefused};

/// All places of depth up to four over two names.
fn world() -> Vec<PathBuf> {
    let mut places = vec![PathBuf::from("/")];
    let mut level = places.clone();
    for _ in 0..4 {
        level = level.iter().flat_map(|place| ["a", "ab"].map(|name| place.join(name))).collect();
        places.extend(level.iter().cloned());
    }
    places
}

fn place() -> impl Strategy<Value = PathBuf> {
    vec(prop_oneof![Just("a"), Just("ab")], 0..=3).prop_map(|names| Path::new("/").join(names.join("/")))
}

fn access() -> impl Strategy<Value = Access> {
    vec(prop_oneof![Just(Access::READ), Just(Access::WRITE), Just(Access::EXECUTE), Just(Access::DELETE)], 0..=4)
        .prop_map(|kinds| kinds.into_iter().fold(Access::NONE, |sum, kind| sum | kind))
}

fn root(origins: &'static [Origin]) -> impl Strategy<Value = PlacedRoot> {
    let kind = prop_oneof![3 => Just(RootKind::Directory), 1 => Just(RootKind::File)];
    (place(), kind, access(), option::of("[xy]"), 1..3_u64, prop::sample::select(origins)).prop_map(
        |(place, kind, access, name, inode, origin)| PlacedRoot {
            root: Root {
                path: place.clone(),
                name,
                access,
                origin,
                spelling: Spelling::Uri,
                meta: None,
                pattern: None,
            },
            place,
            kind,
            id: FileId { device: 1, inode, born: None },
        },
    )
}

fn roots(origins: &'static [Origin]) -> impl Strategy<Value = Vec<PlacedRoot>> {
    vec(root(origins), 0..8)
}

fn set(origins: &'static [Origin]) -> impl Strategy<Value = RootSet> {
    let refused = RefusedRoot { text: "/gone".to_owned(), root: None, reason: WhyRefused::Missing };
    (roots(origins), vec(Just(refused), 0..=1)).prop_map(|(roots, refused)| RootSet::new(roots, refused))
}

const CLIENT: &[Origin] = &[Origin::Client];
const OPERATOR: &[Origin] = &[Origin::Flag, Origin::Env];
const ANY: &[Origin] = &[Origin::Client, Origin::Flag, Origin::Store];

/// The access of the root that governs `place`; `None` means outside.
fn access_at(set: &RootSet, place: &Path) -> Option<Access> {
    set.governing(place).map(|root| root.root.access)
}

/// Whether the two sets disagree about the kind of `place` or of a directory above it.
fn in_doubt(one: &RootSet, other: &RootSet, place: &Path) -> bool {
    let kind =
        |set: &RootSet, ancestor: &Path| set.roots().iter().find(|root| root.place == ancestor).map(|root| root.kind);
    place.ancestors().any(|ancestor| match (kind(one, ancestor), kind(other, ancestor)) {
        (Some(first), Some(second)) => first != second,
        _ => false,
    })
}

/// The expected access at one place.
fn law(mode: Mode, client: Option<Access>, ceiling: Option<Access>, ceiling_is_named: bool) -> Option<Access> {
    let by_client_alone = client.map(|access| access.without(Access::EXECUTE));
    match mode {
        Mode::Narrow if ceiling_is_named => Some(client? & ceiling?),
        Mode::Narrow | Mode::Replace => by_client_alone,
        Mode::Union => ceiling.or(by_client_alone),
    }
}

proptest! {
    #[test]
    fn order_does_not_change_access((roots, shuffled) in roots(ANY).prop_flat_map(|roots| {
        (Just(roots.clone()), Just(roots).prop_shuffle())
    })) {
        let (set, other) = (RootSet::new(roots, []), RootSet::new(shuffled, []));
        for place in world() {
            let of = |set: &RootSet| set.governing(&place).map(|root| (root.root.access, root.root.origin == Origin::Client));
            prop_assert_eq!(of(&set), of(&other), "{:?}", place);
        }
    }

    #[test]
    fn a_set_made_again_is_the_same(set in set(ANY)) {
        let again = RootSet::new(set.roots().iter().cloned(), set.refused().iter().cloned());
        prop_assert_eq!(&again, &set);
        let twice = RootSet::new(set.roots().iter().chain(set.roots()).cloned(), set.refused().iter().cloned());
        prop_assert_eq!(&twice, &set);
        for mode in Mode::ALL {
            for place in world() {
                let itself = RootSet::combine(mode, &set, &set);
                let here = access_at(&set, &place);
                prop_assert_eq!(access_at(&itself, &place), law(mode, here, here, set.names_any()), "{} {:?}", mode, place);
            }
        }
    }

    #[test]
    fn a_duplicate_only_narrows(roots in vec(root(ANY), 1..8), more in root(ANY), which in any::<prop::sample::Index>()) {
        let more = PlacedRoot { place: which.get(&roots).place.clone(), ..more };
        let before = RootSet::new(roots.iter().cloned(), []);
        let after = RootSet::new(roots.into_iter().chain([more]), []);
        for place in world() {
            let (old, new) = (access_at(&before, &place), access_at(&after, &place).unwrap_or_default());
            prop_assert!(old.unwrap_or_default().contains(new), "{:?}", place);
        }
    }

    #[test]
    fn each_mode_keeps_its_law_at_every_place(client in set(CLIENT), ceiling in set(OPERATOR)) {
        for mode in Mode::ALL {
            let set = RootSet::combine(mode, &client, &ceiling);
            for place in world() {
                let (in_client, in_ceiling) = (access_at(&client, &place), access_at(&ceiling, &place));
                let expect = law(mode, in_client, in_ceiling, ceiling.names_any());
                let got = access_at(&set, &place);
                if mode == Mode::Replace || !in_doubt(&client, &ceiling, &place) {
                    prop_assert_eq!(got, expect, "{} {:?}", mode, place);
                } else {
                    prop_assert!(expect.unwrap_or_default().contains(got.unwrap_or_default()), "{} {:?}", mode, place);
                }
            }
            let places = set.roots().iter().map(|root| &root.place);
            prop_assert_eq!(places.collect::<std::collections::HashSet<_>>().len(), set.len(), "duplicate place");
        }
    }

    #[test]
    fn narrow_widens_neither_side_and_is_stable(client in set(CLIENT), ceiling in set(OPERATOR)) {
        let narrowed = RootSet::combine(Mode::Narrow, &client, &ceiling);
        let again = RootSet::combine(Mode::Narrow, &narrowed, &ceiling);
        for place in world() {
            let got = access_at(&narrowed, &place);
            let in_client = access_at(&client, &place);
            prop_assert!(got.is_none() || in_client.is_some_and(|most| most.contains(got.unwrap_or_default())) ||
                in_doubt(&client, &ceiling, &place));
            if ceiling.names_any() {
                let most = access_at(&ceiling, &place).unwrap_or_default();
                prop_assert!(most.contains(got.unwrap_or_default()));
            }
            if !in_doubt(&client, &ceiling, &place) {
                prop_assert_eq!(access_at(&again, &place), got, "{:?}", place);
            }
        }
    }

    #[test]
    fn only_what_the_operator_named_has_an_operator_as_origin(client in set(CLIENT), ceiling in set(OPERATOR)) {
        for mode in Mode::ALL {
            for root in RootSet::combine(mode, &client, &ceiling).roots() {
                let named = ceiling.roots().iter().any(|other| other.place == root.place);
                prop_assert!(root.root.origin == Origin::Client || named, "{} {:?}", mode, root);
            }
        }
    }

    #[test]
    fn the_index_agrees_with_the_definition(set in set(ANY)) {
        let index = ByPlace::new(&set);
        for place in world() {
            prop_assert_eq!(index.governing(&place), set.governing(&place));
        }
    }

    #[test]
    fn a_difference_leads_to_the_newer_set(older in set(ANY), newer in set(ANY)) {
        let by_place = |set: &RootSet| -> HashMap<PathBuf, PlacedRoot> {
            set.roots().iter().map(|root| (root.place.clone(), root.clone())).collect()
        };
        let difference = older.difference(&newer);
        let mut applied = by_place(&older);
        for root in &difference.removed {
            prop_assert_eq!(applied.remove(&root.place), Some(root.clone()));
        }
        for change in &difference.changed {
            let before = applied.insert(change.after.place.clone(), change.after.clone());
            prop_assert_eq!(before, Some(change.before.clone()));
        }
        for root in &difference.added {
            prop_assert_eq!(applied.insert(root.place.clone(), root.clone()), None);
        }
        prop_assert_eq!(applied, by_place(&newer));
        prop_assert!(newer.difference(&newer).is_empty());
    }
}
