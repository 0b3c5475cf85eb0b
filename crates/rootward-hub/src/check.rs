//! The decision over one message: every path in it, every reading of each, against a guard.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::PathBuf;

use rootward_core::{Access, Cause, Code, Denial, Grant, Guard, TextError};
use rootward_protocol::shortened;

use crate::fold::begins;
use crate::scan::{
    Call, Candidate, Certainty, Expansion, Form, Held, LONGEST_PATH, Need, Reader, ScanError, Stop, Top, Why, climbs,
    has_another_scheme, names_nothing, scan,
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

/// Decides a message for a server that is held so. An error means that the message is refused as it is.
///
/// A message without paths costs one walk over its params, and no memory.
pub fn check(guard: &Guard, expansion: &Expansion, held: Held, call: &Call<'_>) -> Result<Verdict, ScanError> {
    let mut verdict = Verdict::default();
    paths(expansion, held, call, &mut |candidate| {
        let asked = Asked { path: &candidate.text, need: candidate.need, certainty: candidate.certainty };
        let (named, refusal) = match asked.check(guard, expansion) {
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
    Asked { path, need, certainty: Certainty::Sure }.check(guard, expansion).map(drop)
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
    fn check(&self, guard: &Guard, expansion: &Expansion) -> Result<Named, RefusedPath> {
        let mut refusal = None;
        let mut named = Named::Nothing;
        let readings =
            Reader::each(expansion, self.path, &mut |reading, form| match self.judge(guard, reading, form) {
                Ok(passed) => {
                    self.note(&mut named, reading, &passed);
                    ControlFlow::Continue(())
                }
                Err(denial) if reading == self.path => {
                    refusal = Some(RefusedPath { denial, reading: None });
                    ControlFlow::Break(())
                }
                Err(denial) => {
                    refusal = Some(RefusedPath {
                        denial: self.denial(denial.code().for_peer()),
                        reading: Some((reading.to_owned(), denial)),
                    });
                    ControlFlow::Break(())
                }
            });
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

    fn judge(&self, guard: &Guard, reading: &str, form: Form) -> Result<Passed, Denial> {
        // The working directory, which lies in a root.
        if reading.is_empty() {
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
        match self.need.check(guard, reading) {
            Ok(grant) => Ok(Passed::Granted(grant)),
            Err(denial) if is_dead_end(reading, &denial) => Ok(Passed::DeadEnd),
            Err(denial) if self.is_only_a_word(guard, reading, &denial) => Ok(Passed::NoPath),
            Err(denial) => Err(denial),
        }
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
