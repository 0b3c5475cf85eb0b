//! The changes from one root set to the next, by place.

use crate::root::PlacedRoot;

use super::{ByPlace, RootSet};

/// The changes between two sets. Roots are compared by place, so a different order is not a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Roots at places that had none, in the newer set's order.
    pub added: Vec<PlacedRoot>,
    /// Roots at places that have none now, in the older set's order.
    pub removed: Vec<PlacedRoot>,
    /// Roots that changed but kept their place, in the newer set's order.
    pub changed: Vec<ChangedRoot>,
}

/// A root that differs in access, name, kind, object on disk, origin or spelling, at the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedRoot {
    /// The old root.
    pub before: PlacedRoot,
    /// The new root.
    pub after: PlacedRoot,
}

impl Difference {
    /// Whether nothing was added, removed or changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

impl RootSet {
    /// The changes that turn `self` into `newer`.
    #[must_use]
    pub fn difference(&self, newer: &RootSet) -> Difference {
        let (before, after) = (ByPlace::new(self), ByPlace::new(newer));
        let mut difference = Difference::default();
        for root in &*newer.roots {
            match before.at(&root.place) {
                None => difference.added.push(root.clone()),
                Some(old) if old != root => {
                    difference.changed.push(ChangedRoot { before: old.clone(), after: root.clone() });
                }
                Some(_) => {}
            }
        }
        difference.removed.extend(self.roots.iter().filter(|root| after.at(&root.place).is_none()).cloned());
        difference
    }
}

#[cfg(test)]
mod tests {
    use crate::access::Access;
    use crate::root::{FileId, Origin};
    use crate::set::examples::{directory, file, of};

    use super::*;

    #[test]
    fn each_kind_of_change() {
        let old = directory("/a", Access::READ, Origin::Client);
        let check = |alter: fn(&mut PlacedRoot), expect: bool| {
            let mut new = old.clone();
            alter(&mut new);
            let difference = of([old.clone()]).difference(&of([new.clone()]));
            assert_eq!(difference.changed.len() == 1, expect, "{new:?}");
            assert_eq!(difference.is_empty(), !expect, "{new:?}");
        };
        check(|_| (), false);
        check(|root| root.root.access = Access::ALL, true);
        check(|root| root.root.name = Some("name".to_owned()), true);
        check(|root| root.kind = crate::root::RootKind::File, true);
        check(|root| root.id = FileId { device: 9, inode: 9, born: None }, true);
        check(|root| root.root.origin = Origin::Flag, true);
    }

    #[test]
    fn places_come_and_go() {
        let [a, b, c] = ["/a", "/b", "/c"].map(|place| file(place, Access::READ, Origin::Client));
        let difference = of([a.clone(), b.clone()]).difference(&of([c.clone(), b.clone()]));
        assert_eq!(difference, Difference { added: vec![c], removed: vec![a.clone()], changed: vec![] });
        assert!(of([a.clone(), b.clone()]).difference(&of([b, a])).is_empty());
    }
}
