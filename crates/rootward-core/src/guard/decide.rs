//! How a path is decided, in five steps: parse the text, find the root, resolve below it with the kernel, check access
//! and restrictions at the resulting place, return a grant.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::explain::{Step, TextForm, Trace};
use super::root_handle::RootTrouble;
use super::{Guard, join};
use crate::access::Access;
use crate::denial::{Cause, Code, Denial, says};
use crate::grant::{Absence, Grant, Target};
use crate::os;
use crate::resolve::guess::{Climb, Lost, Why, guess};
use crate::resolve::{Leaf, NameBuffer, Names, Rest, open};
use crate::restriction::Restriction;
use crate::root::RootKind;
use crate::text::PathText;
use crate::tree::{RootIndex, components};

/// How often to resolve a path that keeps changing before refusing it.
const ATTEMPTS: usize = 16;

/// A question to a guard.
#[derive(Debug)]
pub(crate) struct Ask<'t> {
    text: &'t OsStr,
    access: Access,
    leaf: Leaf,
    opening: Opening,
}

/// The kind of handle to open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Opening {
    /// One that pins the object.
    Pin,
    /// One for reading.
    Read,
}

/// Where a path leads: a root, and the names below it.
#[derive(Clone, Copy)]
struct Spot<'n> {
    root: RootIndex,
    rest: Names<'n>,
}

enum Opened {
    Found(Target),
    /// There is a link on the way, so the text is not the resolved path.
    Link,
}

impl<'t> Ask<'t> {
    pub(crate) fn new(text: &'t OsStr, access: Access, leaf: Leaf, opening: Opening) -> Ask<'t> {
        Ask { text, access, leaf, opening }
    }

    fn denial(&self, code: Code) -> Denial {
        Denial::new(code, self.text, self.access)
    }
}

impl Guard {
    pub(crate) fn decide<T: Trace>(&self, ask: &Ask<'_>, trace: &mut T) -> Result<Grant, Denial> {
        if self.0.set.is_empty() {
            return Err(ask.denial(Code::NoRoots));
        }
        let bytes = ask.text.as_bytes();
        let text = self.read_text(bytes).map_err(|error| ask.denial((&error).into()).because(Cause::Text(error)))?;
        if ask.leaf == Leaf::Keep && names_no_entry(bytes) {
            return Err(ask.denial(Code::InvalidPath));
        }
        let path: Cow<'_, [u8]> = match text {
            PathText::Absolute(path) => {
                trace.step(|| Step::Text { form: TextForm::Absolute, path: to_path(&path) });
                path
            }
            PathText::Relative(rest) => match &self.0.base {
                Some(base) => {
                    let path = join(base, rest);
                    if !path.starts_with(b"/") {
                        return Err(ask.denial(Code::InvalidPath));
                    }
                    trace.step(|| Step::Text { form: TextForm::FromBase, path: to_path(&path) });
                    path.into()
                }
                None => return self.relative_to_first_root(ask, rest, trace),
            },
        };
        match self.0.tree.deepest(&path) {
            Some((root, rest)) => self.below(ask, root, rest, &path, trace),
            None => {
                trace.step(|| Step::NoRootByText);
                self.through_links(ask, &path, Code::OutsideRoots, trace)
            }
        }
    }

    fn relative_to_first_root<T: Trace>(&self, ask: &Ask<'_>, rest: &[u8], trace: &mut T) -> Result<Grant, Denial> {
        let Some(root) = self.0.first_directory else {
            return Err(ask.denial(Code::OutsideRoots));
        };
        let path = || join(&self.placed(root).place, rest);
        trace.step(|| Step::Text { form: TextForm::FromFirstRoot, path: to_path(&path()) });
        let mut buffer = NameBuffer::new();
        match self.direct(ask, root, rest, &mut buffer, trace)? {
            Some((spot, target)) => self.grant(ask, spot, target, trace),
            None => self.through_links(ask, &path(), escape(rest), trace),
        }
    }

    /// Decides a path whose components lead into a root.
    fn below<T: Trace>(
        &self,
        ask: &Ask<'_>,
        root: RootIndex,
        rest: &[u8],
        path: &[u8],
        trace: &mut T,
    ) -> Result<Grant, Denial> {
        trace.step(|| {
            let placed = self.placed(root);
            Step::RootByText { root: placed.root.path.clone(), place: placed.place.clone() }
        });
        let mut buffer = NameBuffer::new();
        if let Some((spot, target)) = self.direct(ask, root, rest, &mut buffer, trace)? {
            return self.grant(ask, spot, target, trace);
        }
        match self.placed(root).kind {
            // The path starts at the pinned root, even if the root's name leads elsewhere by now.
            RootKind::Directory => self.through_links(ask, &join(&self.placed(root).place, rest), escape(rest), trace),
            RootKind::File => self.through_links(ask, path, escape(rest), trace),
        }
    }

    /// The common case: no link, no `..`, one system call. `None` if there is one.
    fn direct<'n, T: Trace>(
        &self,
        ask: &Ask<'_>,
        root: RootIndex,
        rest: &'n [u8],
        buffer: &'n mut NameBuffer,
        trace: &mut T,
    ) -> Result<Option<(Spot<'n>, Target)>, Denial> {
        let Some(rest) = Names::plain(rest, buffer) else { return Ok(None) };
        let spot = match self.0.tree.deeper(root, rest.as_bytes()) {
            Some((deeper, behind)) => Spot { root: deeper, rest: rest.behind(behind) },
            None => Spot { root, rest },
        };
        match self.open_told(ask, &spot, trace)? {
            Opened::Link => Ok(None),
            Opened::Found(target) => {
                trace.step(|| Step::Direct { place: self.place(&spot) });
                Ok(Some((spot, target)))
            }
        }
    }

    /// Handles links, `..` and other spellings: guess where the path leads, then prove it by opening.
    fn through_links<T: Trace>(
        &self,
        ask: &Ask<'_>,
        path: &[u8],
        escape: Code,
        trace: &mut T,
    ) -> Result<Grant, Denial> {
        // A trailing slash asks for a directory, but the entry itself is meant.
        let (path, as_directory) = match ask.leaf {
            Leaf::Follow => (path, false),
            Leaf::Keep => (trim_slashes(path), path.ends_with(b"/")),
        };
        let known = |place: &[u8]| self.is_known_to_exist(place);
        let climbs = components(path).any(|(name, _)| name == b"..");
        let climb = if climbs { Climb::From(&known) } else { Climb::Anywhere };
        for _ in 0..ATTEMPTS {
            let guess = match guess(self.0.resolver, path, ask.leaf, climb) {
                Ok(guess) => guess,
                Err(lost) => {
                    trace.step(|| match lost.why {
                        Why::System(error) => Step::System { error: says(error.kind()) },
                        Why::Climbs => Step::Climbs { place: to_path(&lost.at) },
                        Why::MagicLink => Step::MagicLink { place: to_path(&lost.at) },
                    });
                    return Err(self.lost(ask, &lost));
                }
            };
            trace.step(|| Step::Followed { place: to_path(&guess.place) });
            let Some((root, rest)) = self.0.tree.deepest_place(&guess.place) else {
                return Err(ask.denial(escape).leading_to(to_path(&guess.place)));
            };
            let mut buffer = NameBuffer::new();
            let Some(rest) = Names::plain(rest, &mut buffer) else { break };
            let spot = Spot { root, rest: if as_directory { rest.as_a_directory() } else { rest } };
            // SECURITY: the guess is only text and proves nothing, so the object is opened again below its root
            // (test: nothing_outside_is_reached_while_directories_and_links_are_swapped)
            match self.open_told(ask, &spot, trace)? {
                Opened::Found(target) if target.is(guess.id) => return self.grant(ask, spot, target, trace),
                // It moved meanwhile.
                Opened::Found(_) | Opened::Link => {}
            }
        }
        Err(ask.denial(Code::OutsideRoots).because(Cause::Unsettled))
    }

    /// Whether a peer may know that a place exists: it may read there, or the place is on the way to a root, the base
    /// or the home.
    fn is_known_to_exist(&self, place: &[u8]) -> bool {
        self.is_readable(place) || self.0.tree.leads_to_a_known_path(place)
    }

    fn is_readable(&self, place: &[u8]) -> bool {
        self.0.tree.deepest_place(place).is_some_and(|(root, rest)| {
            Names::plain(rest, &mut NameBuffer::new())
                .is_some_and(|rest| self.permits(root, rest.as_bytes(), Access::READ).is_ok())
        })
    }

    /// The denial for a path that cannot be resolved.
    fn lost(&self, ask: &Ask<'_>, lost: &Lost) -> Denial {
        let outside = |cause: fn(PathBuf) -> Cause| ask.denial(Code::OutsideRoots).because(cause(to_path(&lost.at)));
        let error = match lost.why {
            Why::System(error) => error,
            Why::Climbs => return outside(Cause::Climbs),
            Why::MagicLink => return outside(Cause::MagicLink),
        };
        let code = match error {
            // SECURITY: a peer must not see system errors about places outside, so all of them get one code
            // (test: guard_passes_the_escape_corpus)
            _ if !self.is_readable(&lost.at) => Code::OutsideRoots,
            Errno::ACCESS | Errno::PERM => Code::AccessDenied,
            _ => Code::InvalidPath,
        };
        ask.denial(code).because(Cause::System(error.kind()))
    }

    fn open_told<T: Trace>(&self, ask: &Ask<'_>, spot: &Spot<'_>, trace: &mut T) -> Result<Opened, Denial> {
        self.open_at(ask, spot).inspect_err(|denial| {
            if let Cause::System(kind) = denial.cause() {
                trace.step(|| Step::System { error: says(*kind) });
            }
        })
    }

    fn open_at(&self, ask: &Ask<'_>, spot: &Spot<'_>) -> Result<Opened, Denial> {
        let placed = self.placed(spot.root);
        let handle = self.handle(spot.root).map_err(|trouble| {
            let cause = match trouble {
                RootTrouble::Changed => Cause::RootChanged,
                RootTrouble::System(error) => Cause::System(error.kind()),
            };
            ask.denial(Code::OutsideRoots).because(cause)
        })?;
        let names = match placed.kind {
            RootKind::Directory => spot.rest.as_bytes(),
            RootKind::File if spot.rest.is_root() => placed.place.file_name().unwrap_or_default().as_bytes(),
            RootKind::File => return Ok(Opened::Found(Target::Absent(Absence::NotADirectory))),
        };
        let flags = self.flags(ask, spot);
        match open(self.0.resolver, handle.as_fd(), names, flags) {
            // SECURITY: the file was shared, not a directory that replaced it
            // (test: a_directory_in_the_place_of_a_file_root_is_not_shared)
            Ok(object) if placed.kind == RootKind::File && may_be_directory(&object) => {
                Err(ask.denial(Code::OutsideRoots).because(Cause::RootChanged))
            }
            Ok(object) => Ok(Opened::Found(Target::Object(object))),
            Err(Errno::LOOP | Errno::XDEV) => Ok(Opened::Link),
            Err(Errno::NOTDIR) => Ok(Opened::Found(Target::Absent(Absence::NotADirectory))),
            Err(Errno::NOENT) => Ok(Opened::Found(Target::Absent(Absence::NotFound))),
            // Opening a socket, or a device without a driver, for reading (open(2)).
            Err(Errno::NXIO | Errno::NODEV) => Err(self.refusal(ask, spot, Code::SpecialFile, Cause::Plain)),
            Err(Errno::NAMETOOLONG) => {
                Err(ask.denial(Code::InvalidPath).because(Cause::System(Errno::NAMETOOLONG.kind())))
            }
            // SECURITY: a lookup that keeps failing is refused, never retried in a weaker way
            // (test: endless_eagain_is_a_refusal)
            Err(Errno::AGAIN) => Err(ask.denial(Code::OutsideRoots).because(Cause::Unsettled)),
            Err(error) => Err(self.refusal(ask, spot, Code::AccessDenied, Cause::System(error.kind()))),
        }
    }

    fn flags(&self, ask: &Ask<'_>, spot: &Spot<'_>) -> OFlags {
        // If access will be refused, only pin the object instead of opening it.
        let flags = match ask.opening {
            Opening::Read if self.verdict(ask.access, spot).is_ok() => os::READ,
            Opening::Read | Opening::Pin => os::PIN,
        };
        let leaf = if ask.leaf == Leaf::Keep { OFlags::NOFOLLOW } else { OFlags::empty() };
        let shape = if spot.rest.as_directory() { OFlags::DIRECTORY } else { OFlags::empty() };
        flags.union(leaf).union(shape)
    }

    /// Steps four and five: check access and restrictions at the object's place, then make the grant.
    fn grant<T: Trace>(&self, ask: &Ask<'_>, spot: Spot<'_>, target: Target, trace: &mut T) -> Result<Grant, Denial> {
        if let Target::Absent(absence) = target {
            trace.step(|| match absence {
                Absence::NotADirectory => Step::Blocked { place: self.place(&spot) },
                Absence::NotFound => Step::Absent { place: self.place(&spot) },
            });
        }
        trace.step(|| {
            let root = &self.placed(spot.root).root;
            Step::Governed { root: root.path.clone(), gives: root.access, asked: ask.access }
        });
        // SECURITY: decide by where the object was opened, not by where the text pointed
        // (test: guard_passes_the_escape_corpus)
        let verdict = self.verdict(ask.access, &spot);
        trace.steps(|| {
            let (takes, pattern) = self.taken(spot.root, spot.rest.as_bytes());
            pattern.map(|pattern| Step::Restriction { pattern: pattern.to_owned(), takes })
        });
        verdict.map_err(|(code, cause)| self.refusal(ask, &spot, code, cause))?;
        let grant = Grant::new(self.clone(), spot.root, Rest::from(spot.rest), ask.access, target);
        #[cfg(rootward_oracle)]
        crate::grant::oracle::compare(&grant);
        Ok(grant)
    }

    fn verdict(&self, access: Access, spot: &Spot<'_>) -> Result<(), (Code, Cause)> {
        self.permits(spot.root, spot.rest.as_bytes(), access)
    }

    /// Whether a place (a root and plain names below it) may be used for `access`.
    pub(crate) fn permits(&self, root: RootIndex, rest: &[u8], access: Access) -> Result<(), (Code, Cause)> {
        if !self.placed(root).root.access.contains(access) {
            return Err((Code::AccessDenied, Cause::Access));
        }
        let (taken, pattern) = self.taken(root, rest);
        if !(taken & access).is_empty() || taken == Access::ALL {
            let pattern = pattern.unwrap_or_default().to_owned();
            return Err((Code::Restricted, Cause::Restriction { pattern, takes: taken }));
        }
        Ok(())
    }

    /// The access that restrictions take away at a place, and the pattern of one that does.
    fn taken(&self, root: RootIndex, rest: &[u8]) -> (Access, Option<&str>) {
        let (at_root, pattern) = &self.0.taken_at_root[root as usize];
        let place = self.placed(root).place.as_os_str().as_bytes();
        let below = self.0.restrictions.taken_below(place, rest);
        (*at_root | below.access, below.rule.map(Restriction::pattern).or(pattern.as_deref()))
    }

    fn refusal(&self, ask: &Ask<'_>, spot: &Spot<'_>, code: Code, cause: Cause) -> Denial {
        ask.denial(code).because(cause).at(&self.placed(spot.root).root, self.place(spot))
    }

    fn place(&self, spot: &Spot<'_>) -> PathBuf {
        spot.rest.below(&self.placed(spot.root).place)
    }
}

/// The code for a path that begins in a root and ends outside: a link is the cause, unless the text contains `..`.
fn escape(rest: &[u8]) -> Code {
    if Names::plain(rest, &mut NameBuffer::new()).is_some() { Code::SymlinkEscape } else { Code::OutsideRoots }
}

fn may_be_directory(object: &OwnedFd) -> bool {
    os::status(object).map_or(true, |status| os::type_of(&status).is_dir())
}

/// A path without its trailing slashes.
fn trim_slashes(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    &path[..end.max(1)]
}

/// Whether a text ends in `.` or `..`. That is a directory, but not an entry that could be created, removed or renamed.
fn names_no_entry(text: &[u8]) -> bool {
    let last = text.split(|byte| *byte == b'/').rfind(|component| !component.is_empty());
    matches!(last, Some(b"." | b".."))
}

fn to_path(bytes: &[u8]) -> PathBuf {
    Path::new(OsStr::from_bytes(bytes)).to_owned()
}
