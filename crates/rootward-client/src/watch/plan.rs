//! Which directories to watch to notice that a path leads elsewhere: every directory on the way to it. Pure.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind};

/// Which directories, and which names in them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Plan {
    /// Parents before children, so that nothing created in a watched parent is missed.
    pub(super) directories: Vec<PathBuf>,
    /// The names of everything on the way. Only names: one directory may have two paths, and events report one.
    names: HashSet<OsString>,
    /// How many directories were left out because of the limit.
    pub(super) left_out: usize,
}

impl Plan {
    /// For these paths, at most `most` directories. If that is too few, the first paths take precedence, and for
    /// each the directory that contains it: most changes happen there.
    pub(super) fn new<'p>(paths: impl IntoIterator<Item = &'p Path>, most: usize) -> Plan {
        let mut plan = Plan::default();
        let mut seen: HashSet<&Path> = HashSet::new();
        for path in paths {
            plan.names.extend(path.components().filter_map(|component| match component {
                Component::Normal(name) => Some(name.to_owned()),
                _ => None,
            }));
            for directory in path.ancestors().skip(1).filter(|directory| directory.is_absolute()) {
                if !seen.insert(directory) {
                    continue;
                }
                if plan.directories.len() < most {
                    plan.directories.push(directory.to_owned());
                } else {
                    plan.left_out += 1;
                }
            }
        }
        plan.directories.sort();
        plan
    }

    /// Whether an event may matter. Its other details are ignored.
    pub(super) fn concerns(&self, event: &Event) -> bool {
        let written = AccessKind::Close(AccessMode::Write);
        if matches!(event.kind, EventKind::Access(kind) if kind != written) {
            // Reading changes nothing, and this reads itself.
            return false;
        }
        let is_named = |path: &PathBuf| path.file_name().is_none_or(|name| self.names.contains(name));
        event.need_rescan() || event.paths.is_empty() || event.paths.iter().any(is_named)
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, Flag};

    use super::*;

    fn plan(paths: &[&str], most: usize) -> Plan {
        Plan::new(paths.iter().map(Path::new), most)
    }

    #[test]
    fn every_directory_on_the_way() {
        let check = |paths: &[&str], most, expect: &[&str], left_out| {
            let plan = plan(paths, most);
            assert_eq!(plan.directories, expect.iter().map(PathBuf::from).collect::<Vec<_>>(), "{paths:?} {most}");
            assert_eq!(plan.left_out, left_out, "{paths:?} {most}");
        };
        check(&["/a/b/c"], 9, &["/", "/a", "/a/b"], 0);
        check(&["/a/b/c", "/a/b/d", "/a/x"], 9, &["/", "/a", "/a/b"], 0);
        check(&["/"], 9, &[], 0);
        check(&[], 9, &[], 0);
        // Too many: the parents of the first ones take precedence.
        check(&["/a/b/c", "/x/y"], 1, &["/a/b"], 3);
        check(&["/a/b/c", "/x/y"], 3, &["/", "/a", "/a/b"], 1);
        check(&["/a/b/c", "/x/y"], 0, &[], 4);
    }

    #[test]
    fn events_about_other_names_are_ignored() {
        let plan = plan(&["/home/me/src"], 9);
        let check = |kind, path: &str, expect| {
            let event = Event::new(kind).add_path(path.into());
            assert_eq!(plan.concerns(&event), expect, "{event:?}");
        };
        let made = EventKind::Create(CreateKind::Any);
        check(made, "/home/me/src", true);
        check(made, "/home/me", true);
        check(made, "/home/me/other", false);
        // The same directory under another path, and the top itself.
        check(made, "/elsewhere/src", true);
        check(EventKind::Any, "/", true);
        check(EventKind::Access(AccessKind::Open(AccessMode::Any)), "/home/me/src", false);
        check(EventKind::Access(AccessKind::Close(AccessMode::Write)), "/home/me/src", true);
        let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan).add_path("/x".into());
        assert!(plan.concerns(&lost) && plan.concerns(&Event::new(EventKind::Any)));
    }
}
