//! The directories that may be shared, and what a list of them allows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use rootward_core::session::Sources;
use rootward_core::{Closed, Origin, Restriction, Restrictions, Root, RootSet, Validation};
use rootward_protocol::session::Given;
use serde_json::{Value, json};

/// The number of directories.
pub(super) const PLACES: usize = 4;
/// Their names, in list order.
const NAMES: [&str; PLACES] = ["a", "b", "c", "a/inner"];
/// The place inside another one. Every list that contains it allows only reading there and names it last, so an
/// engine that takes the first page for the whole list would allow writing.
const INNER: usize = 3;
/// The place that contains it.
const OUTER: usize = 0;

/// A set of places, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Places(u8);

/// What a call wants to do at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Need {
    Read,
    Write,
}

impl Need {
    pub(super) const ALL: [Need; 2] = [Need::Read, Need::Write];

    /// The tool that does it.
    pub(super) fn tool(self) -> &'static str {
        match self {
            Need::Read => "read_file",
            Need::Write => "write_file",
        }
    }
}

impl Places {
    pub(super) const NONE: Places = Places(0);
    /// What clients share at first.
    pub(super) const AT_FIRST: Places = Places(1 << OUTER | 1 << 1 | 1 << INNER);

    pub(super) fn any() -> impl Strategy<Value = Places> {
        let nested = Places::NONE.with(OUTER).with(INNER);
        let any = || (0..1_u8 << PLACES).prop_map(Places);
        prop_oneof![2 => any(), 1 => any().prop_map(move |places| places.and(nested))]
    }

    pub(super) fn names(self, place: usize) -> bool {
        self.0 & (1 << place) != 0
    }

    pub(super) fn with(self, place: usize) -> Places {
        Places(self.0 | 1 << place)
    }

    pub(super) fn and(self, other: Places) -> Places {
        Places(self.0 | other.0)
    }

    /// The first place at or after this one.
    pub(super) fn next(self, from: usize) -> Option<usize> {
        (from..PLACES).find(|place| self.names(*place))
    }

    /// Whether a list of these places allows a call at one of them.
    pub(super) fn permit(self, place: usize, need: Need) -> bool {
        match place {
            INNER if self.names(INNER) => need == Need::Read,
            INNER => self.names(OUTER),
            _ => self.names(place),
        }
    }
}

/// The places on disk.
pub(super) struct Ground {
    top: PathBuf,
    _directory: tempfile::TempDir,
}

#[expect(clippy::disallowed_methods, reason = "tests build the trees that clients share")]
impl Ground {
    pub(super) fn new() -> Ground {
        let directory = tempfile::tempdir().unwrap();
        let ground = Ground { top: directory.path().canonicalize().unwrap(), _directory: directory };
        for place in 0..PLACES {
            std::fs::create_dir(ground.place(place)).unwrap();
            std::fs::write(ground.file(place), "").unwrap();
        }
        ground
    }
}

impl Ground {
    fn place(&self, place: usize) -> PathBuf {
        self.top.join(NAMES[place])
    }

    /// The file at a place that calls name.
    pub(super) fn file(&self, place: usize) -> PathBuf {
        self.place(place).join("file")
    }

    /// The place of a file.
    pub(super) fn place_of_file(&self, path: &str) -> usize {
        (0..PLACES).find(|place| self.file(*place) == Path::new(path)).unwrap()
    }

    /// A place as an entry of a list of roots.
    pub(super) fn entry(&self, place: usize) -> Value {
        let access = if place == INNER { "ro" } else { "rw" };
        let uri = format!("file://{}", self.place(place).display());
        json!({"uri": uri, "_meta": {"rootward.dev/access": access}})
    }

    /// The places of these directories.
    pub(super) fn places<'p>(&self, directories: impl IntoIterator<Item = &'p Path>) -> Places {
        let place = |path: &Path| (0..PLACES).find(|place| self.place(*place) == path).unwrap();
        directories.into_iter().fold(Places::NONE, |places, path| places.with(place(path)))
    }

    /// The places in a list of roots.
    pub(super) fn places_of_list(&self, list: &Value) -> Places {
        let entries = list["roots"].as_array().unwrap().iter();
        self.places(entries.map(|entry| Path::new(entry["uri"].as_str().unwrap().strip_prefix("file://").unwrap())))
    }

    fn roots(&self, places: Places, origin: Origin) -> RootSet {
        let root = |place: usize| {
            let access = if place == INNER { ":ro" } else { "" };
            let text = format!("{}{access}", self.place(place).display());
            Root::from_typed(text.as_ref(), &self.top, None, origin).unwrap()
        };
        let named = (0..PLACES).filter(|place| places.names(*place));
        RootSet::place_ambient(named.map(root), &Validation::new(None))
    }
}

/// The sources that the operator and the user provide.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Gift {
    /// The operator's roots; empty means no ceiling.
    pub(super) ceiling: Places,
    /// The user's saved roots.
    pub(super) saved: Places,
    /// Where the file is restricted.
    pub(super) closed: Places,
}

impl Gift {
    pub(super) fn any() -> impl Strategy<Value = Gift> {
        let often_none = || prop_oneof![2 => Just(Places::NONE), 3 => Places::any()];
        let parts = (often_none(), often_none(), prop_oneof![3 => Just(Places::NONE), 1 => Places::any()]);
        parts.prop_map(|(ceiling, saved, closed)| Gift { ceiling, saved, closed })
    }

    /// Whether a client may name roots that allow this access.
    pub(super) fn permits(self, place: usize, need: Need) -> bool {
        self.ceiling == Places::NONE || self.ceiling.permit(place, need)
    }

    /// The roots for a client that names none.
    pub(super) fn stand_in(self) -> Places {
        if self.ceiling == Places::NONE { self.saved } else { self.ceiling }
    }

    /// The form in which the engine gets it, after `before`.
    pub(super) fn told(self, ground: &Ground, before: (Gift, &Arc<Restrictions>)) -> Given {
        let restrictions = if before.0.closed == self.closed {
            Arc::clone(before.1)
        } else {
            let closed = (0..PLACES).filter(|place| self.closed.names(*place));
            let close = |place: usize| Restriction::below(&ground.place(place), "/file", Closed::Entirely).unwrap();
            Arc::new(Restrictions::new(closed.map(close).collect()))
        };
        let ceiling = ground.roots(self.ceiling, Origin::Flag);
        let saved = ground.roots(self.saved, Origin::Store);
        Given { sources: Sources { ceiling, saved, ..Sources::default() }, restrictions }
    }
}
