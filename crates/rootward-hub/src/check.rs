//! The decision over one message: every path in it, every reading of each, against a guard.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::PathBuf;

use rootward_core::{Access, Cause, Code, Denial, Grant, Guard, TextError};
use rootward_protocol::{PlacedLimits, shortened};

use crate::config::{PathMap, is_relative};
use crate::fold::begins;
use crate::scan::{
    Call, Candidate, Certainty, Expansion, Form, Held, LONGEST_PATH, Last, Need, Reader, ScanError, Stop, Top, Why,
    climbs, has_another_scheme, names_nothing, scan,
};

/// Every path of a message, decided, in the order in which they stand.
#[derive(Clone, Default, Debug)]
pub struct Verdict {
    /// The paths.
    pub findings: Vec<Finding>,
}

/// One path and what was decided.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The key it stands under.
    pub key: String,
    /// The path as it was asked for, cut off where it is longer than any path.
    pub path: String,
    /// Why it counts as one.
    pub why: Why,
    /// What is done with it.
    pub need: Need,
    /// What it names, unless it is refused.
    pub named: Named,
    /// The refusal, if it is refused.
    pub refusal: Option<RefusedPath>,
}

/// What a string that counts as a path turned out to name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Named {
    /// A place, as far as it is known where.
    Place(Option<GrantedPlace>),
    /// No path after all: an address of another scheme, a text, a word by which nothing is called. Or it is refused.
    Nothing,
}

/// Where a path leads that is allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrantedPlace {
    /// The path, resolved and absolute; where it would be, if it does not exist.
    pub path: PathBuf,
    /// The root that it lies in.
    pub root: PathBuf,
}

/// Why a path is refused.
#[derive(Clone, Debug)]
pub struct RefusedPath {
    /// For the peer: names the path as it was asked for.
    pub denial: Denial,
    /// For the operator: the reading that lies outside, where it is not the text itself, and what the guard said to it.
    pub reading: Option<(String, Denial)>,
}

impl Verdict {
    /// The first path that is refused: the message must not be passed on.
    pub fn refused(&self) -> Option<(&Finding, &RefusedPath)> {
        self.findings.iter().find_map(|finding| Some((finding, finding.refusal.as_ref()?)))
    }
}

/// What a path must pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walls<'w> {
    /// The roots.
    pub(crate) guard: &'w Guard,
    /// What the host allows besides, where it limits the request.
    pub(crate) limits: Option<&'w PlacedLimits>,
    /// What the server calls directories of this machine, if it has other names for them.
    pub(crate) map: Option<&'w PathMap>,
}

impl<'w> Walls<'w> {
    /// The roots alone.
    pub(crate) fn of(guard: &'w Guard) -> Walls<'w> {
        Walls { guard, limits: None, map: None }
    }
}

/// Decides a message for a server that is held so. An error means that the message is refused as it is.
///
/// A message without paths costs one walk over its params, and no memory.
pub fn check(guard: &Guard, expansion: &Expansion, held: Held, call: &Call<'_>) -> Result<Verdict, ScanError> {
    check_within(Walls::of(guard), expansion, held, call)
}

/// The same where there is more to pass than the roots.
pub(crate) fn check_within(
    walls: Walls<'_>,
    expansion: &Expansion,
    held: Held,
    call: &Call<'_>,
) -> Result<Verdict, ScanError> {
    let mut verdict = Verdict::default();
    paths(expansion, held, call, &mut |candidate| {
        let asked = Asked { path: &candidate.text, need: candidate.need, certainty: candidate.certainty };
        let (named, refusal) = match asked.check(walls, expansion) {
            Ok(named) => (named, None),
            Err(refusal) => (Named::Nothing, Some(refusal)),
        };
        verdict.findings.push(Finding {
            key: candidate.key.into_owned(),
            path: shortened(&candidate.text, LONGEST_PATH),
            why: candidate.why,
            need: candidate.need,
            named,
            refusal,
        });
    })?;
    Ok(verdict)
}

/// Hands every string of a message that is judged as a path to `found`, in the order in which they stand.
pub(crate) fn paths(
    expansion: &Expansion,
    held: Held,
    call: &Call<'_>,
    found: &mut dyn FnMut(Candidate<'_>),
) -> Result<(), ScanError> {
    if held == Held::Elsewhere {
        // SECURITY: only for a server that cannot open a file here; what could be read two ways is refused all the same
        // (test: servers_that_may_see_this_machine, paths_that_mean_nothing_here_are_not_checked)
        return scan(call, &mut |_| {});
    }
    let mut top = Top::default();
    scan(call, &mut |candidate| {
        // SECURITY: only for what nothing but its looks makes a path, and only where the kernel holds the server as well
        // (test: what_leads_nowhere_is_text_only_where_the_kernel_holds_the_server, keys_and_schemas_that_say_path_mean_it)
        let may_be_text = held == Held::ByKernel && candidate.certainty == Certainty::ByLooks;
        if !(may_be_text && top.leads_nowhere(&candidate.text, expansion)) {
            found(candidate);
        }
    })
}

/// Decides one path in all its readings.
pub fn check_path(guard: &Guard, expansion: &Expansion, path: &str, need: Need) -> Result<(), RefusedPath> {
    Asked { path, need, certainty: Certainty::Sure }.check(Walls::of(guard), expansion).map(drop)
}

impl Finding {
    /// Whether it goes on record: it is a path, or refused.
    pub fn is_on_record(&self) -> bool {
        // SECURITY: whatever it is, a refusal is on record (test: refusals_are_on_record_whatever_was_refused)
        self.refusal.is_some() || self.named != Named::Nothing
    }
}

impl GrantedPlace {
    fn of(grant: &Grant) -> GrantedPlace {
        GrantedPlace { path: grant.path(), root: grant.root().root.path.clone() }
    }
}

/// Why a reading passes.
enum Passed {
    Granted(Grant),
    /// The first root, if there is one.
    WorkingDirectory(Option<GrantedPlace>),
    /// Nothing can be opened by it.
    DeadEnd,
    /// It is no path.
    NoPath,
}

/// A path that is asked for.
struct Asked<'a> {
    path: &'a str,
    need: Need,
    certainty: Certainty,
}

impl Asked<'_> {
    fn check(&self, walls: Walls<'_>, expansion: &Expansion) -> Result<Named, RefusedPath> {
        let mut refusal = None;
        let mut named = Named::Nothing;
        let text = walls.map.map_or(Cow::Borrowed(self.path), |map| map.as_read(self.path));
        let mut judge = |reading: &str, form: Form| match self.judge(walls, reading, form) {
            Ok(passed) => {
                self.note(&mut named, reading, &passed);
                ControlFlow::Continue(())
            }
            Err(denial) if reading == self.path && walls.map.is_none() => {
                refusal = Some(RefusedPath { denial, reading: None });
                ControlFlow::Break(())
            }
            Err(denial) => {
                refusal = Some(RefusedPath { denial: self.told(&denial), reading: Some((reading.to_owned(), denial)) });
                ControlFlow::Break(())
            }
        };
        // The text itself comes first, whatever its readings are made of.
        let goes_on = *text == *self.path || judge(self.path, Form::Spoken).is_continue();
        let readings = if goes_on { Reader::each(expansion, &text, &mut judge) } else { Err(Stop::Enough) };
        match (readings, refusal) {
            (Ok(()), None) => Ok(named),
            (_, Some(refusal)) => Err(refusal),
            // SECURITY: what has more readings than are looked at is not known to lie inside
            // (test: too_many_readings_are_refused)
            (Err(Stop::TooMany | Stop::Enough), None) => {
                Err(RefusedPath { denial: self.denial(Code::InvalidPath), reading: None })
            }
        }
    }

    fn denial(&self, code: Code) -> Denial {
        Denial::new(code, self.path, self.need.access)
    }

    /// The refusal of a reading, for a peer that asked in other words.
    fn told(&self, denial: &Denial) -> Denial {
        match denial.cause() {
            Cause::OwnRules(_) => denial.clone().asked_as(self.path),
            _ => self.denial(denial.code().for_peer()),
        }
    }

    /// Takes note of what a reading names. The text itself is a path where that is sure; whatever else may be one is only if something
    /// is there.
    fn note(&self, named: &mut Named, reading: &str, passed: &Passed) {
        let is_meant = self.certainty == Certainty::Sure && reading == self.path;
        match (&*named, passed) {
            (Named::Nothing, Passed::Granted(grant)) if is_meant || grant.exists() => {
                *named = Named::Place(Some(GrantedPlace::of(grant)));
            }
            (Named::Nothing, Passed::WorkingDirectory(place)) if is_meant => *named = Named::Place(place.clone()),
            (Named::Nothing, Passed::DeadEnd) if is_meant => *named = Named::Place(None),
            // What the text is once collapsed.
            (Named::Place(None), Passed::Granted(grant)) => *named = Named::Place(Some(GrantedPlace::of(grant))),
            _ => {}
        }
    }

    fn judge(&self, walls: Walls<'_>, reading: &str, form: Form) -> Result<Passed, Denial> {
        let guard = walls.guard;
        // The working directory, which lies in a root.
        if reading.is_empty() && walls.map.is_none() {
            if let (Some(limits), Ok(grant)) = (walls.limits, guard.check(".", Access::READ)) {
                limits.check(&grant, self.path.as_ref())?;
            }
            let first = guard.root_set().first_directory();
            let first = first.map(|root| GrantedPlace { path: root.place.clone(), root: root.root.path.clone() });
            return Ok(Passed::WorkingDirectory(first));
        }
        let is_uri = begins(reading, "file:");
        // A URI that was decoded is no URI any more: its path is a reading of its own.
        if is_uri && form == Form::Made {
            return Ok(Passed::NoPath);
        }
        if has_another_scheme(reading) {
            // SECURITY: joined to a directory and collapsed as text, `x://../../y` leads above it
            // (test: other_schemes_are_no_paths_unless_they_climb)
            return if climbs(reading) { Err(self.denial(Code::OutsideRoots)) } else { Ok(Passed::NoPath) };
        }
        if !is_uri && names_nothing(reading) {
            // SECURITY: joined to a directory and collapsed as text, a thousand `../` are `/`
            // (test: a_long_text_that_may_be_a_path_is_decided)
            return if climbs(reading) { Err(self.denial(Code::OutsideRoots)) } else { Ok(Passed::NoPath) };
        }
        match walls.map {
            Some(map) => self.judge_mapped(walls, map, reading),
            None => self.judge_place(walls, reading),
        }
    }

    fn judge_place(&self, walls: Walls<'_>, reading: &str) -> Result<Passed, Denial> {
        let given = self.need.check(walls.guard, reading);
        match given.and_then(|grant| self.within_limits(walls, reading, grant)) {
            Ok(grant) => Ok(Passed::Granted(grant)),
            Err(denial) if is_dead_end(reading, &denial) => Ok(Passed::DeadEnd),
            Err(denial) if self.is_only_a_word(walls.guard, reading, &denial) => Ok(Passed::NoPath),
            Err(denial) => Err(denial),
        }
    }

    /// The place that a server with names of its own means.
    fn judge_mapped(&self, walls: Walls<'_>, map: &PathMap, reading: &str) -> Result<Passed, Denial> {
        if let Some(place) = map.meant(reading) {
            return self.judge_place(walls, &place.to_string_lossy());
        }
        // SECURITY: what the server cannot see under a mapped name is not known to lie in a root
        // (test: what_does_not_map_is_refused)
        if !is_relative(reading) || climbs(reading) {
            return Err(self.denial(Code::OutsideRoots));
        }
        // SECURITY: only the server knows where a relative path begins; a word that may mean anything is taken for a word
        // (test: a_relative_path_does_not_map)
        let is_path = match self.certainty {
            Certainty::Sure | Certainty::ByLooks => true,
            Certainty::Likely => reading.contains(['/', '\\']),
        };
        if is_path && reading == self.path { Err(self.denial(Code::OutsideRoots)) } else { Ok(Passed::NoPath) }
    }

    /// What the roots give, if the host allows it, too.
    fn within_limits(&self, walls: Walls<'_>, reading: &str, grant: Grant) -> Result<Grant, Denial> {
        let Some(limits) = walls.limits else { return Ok(grant) };
        // SECURITY: the roots alone do not decide where the host allows less (test: a_call_beyond_the_limits_is_refused)
        limits.check_for(&grant, self.need.access, reading.as_ref())?;
        // SECURITY: servers differ in whether they touch a link or what it leads to (test: limits_hold_a_link_and_what_it_leads_to)
        if matches!(self.need.last, Last::Replaced | Last::Removed) {
            let both = [walls.guard.check(reading, Access::NONE), walls.guard.check_entry(reading, Access::NONE)];
            for either in both.iter().flatten() {
                limits.check_for(either, self.need.access, reading.as_ref())?;
            }
        }
        Ok(grant)
    }

    /// Inside, with too little access, and nothing is there: what may be a word most likely is one. The roots that are shared
    /// for reading would otherwise break every tool with a `target`.
    fn is_only_a_word(&self, guard: &Guard, reading: &str, denial: &Denial) -> bool {
        self.certainty == Certainty::Likely
            // SECURITY: a place that stays closed is no word (test: a_word_is_no_way_into_a_closed_place)
            && denial.code() == Code::AccessDenied
            && guard.check(reading, Access::NONE).is_ok_and(|grant| !grant.exists())
    }
}

/// Inside, but the way back by `..` does not exist, or a name is too long: nothing is opened by it as it is. What it is once
/// collapsed is a reading of its own.
fn is_dead_end(reading: &str, denial: &Denial) -> bool {
    if denial.code() != Code::InvalidPath {
        return false;
    }
    match denial.cause() {
        Cause::System(ErrorKind::InvalidFilename) | Cause::Text(TextError::TooLong) => true,
        // SECURITY: without `..` in the text it is in a link, of which no other reading is made
        // (test: a_link_through_what_is_missing_is_refused)
        Cause::System(ErrorKind::NotFound | ErrorKind::NotADirectory) => reading.split('/').any(|name| name == ".."),
        _ => false,
    }
}
