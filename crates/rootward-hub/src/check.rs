//! Checks one message: every path in it, in every possible reading, against a guard.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::PathBuf;

use rootward_core::{Access, Cause, Code, Denial, Grant, Guard, TextError};
use rootward_protocol::{PlacedLimits, shortened};

use crate::config::{PathMap, is_relative};
use crate::fold::begins;
use crate::scan::{
    Call, Candidate, Certainty, Evidence, Expansion, Form, LONGEST_PATH, Last, Need, Protection, Reader, ScanError,
    Stop, Top, climbs, has_another_scheme, names_nothing, scan,
};

/// The decision for every path in a message, in document order.
#[derive(Clone, Default, Debug)]
pub struct Verdict {
    /// One entry per path.
    pub findings: Vec<Finding>,
}

/// One path and its decision.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The key that the path was found under.
    pub key: String,
    /// The path as requested, cut to the maximum path length.
    pub path: String,
    /// Why this string counts as a path.
    pub why: Evidence,
    /// What the call does with the path.
    pub need: Need,
    /// What the path names; [`Named::Nothing`] if it is refused.
    pub named: Named,
    /// The refusal, if it is refused.
    pub refusal: Option<RefusedPath>,
}

/// What a string that counts as a path turned out to name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Named {
    /// A place, with its location if known.
    Place(Option<GrantedPlace>),
    /// Nothing: a URI of another scheme, plain text, a word that matches no file, or a refused path.
    Nothing,
}

/// Where an allowed path leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrantedPlace {
    /// The absolute, resolved path. If the file does not exist yet, the path it would have.
    pub path: PathBuf,
    /// The root that contains the path.
    pub root: PathBuf,
}

/// Why a path was refused.
#[derive(Clone, Debug)]
pub struct RefusedPath {
    /// For the peer: names the path as requested.
    pub denial: Denial,
    /// For the operator: the reading that was refused and the guard's reason, if that reading differs from the text
    /// itself.
    pub reading: Option<(String, Denial)>,
}

impl Verdict {
    /// The first refused path. If there is one, the message must not be forwarded.
    pub fn refused(&self) -> Option<(&Finding, &RefusedPath)> {
        self.findings.iter().find_map(|finding| Some((finding, finding.refusal.as_ref()?)))
    }
}

/// Everything that a path is checked against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckContext<'c> {
    pub(crate) guard: &'c Guard,
    /// The host's own limits on this request, if it has any.
    pub(crate) limits: Option<&'c PlacedLimits>,
    /// The server's own names for directories of this machine, if they differ.
    pub(crate) map: Option<&'c PathMap>,
}

impl<'c> CheckContext<'c> {
    /// Checks against the roots only.
    pub(crate) fn of(guard: &'c Guard) -> CheckContext<'c> {
        CheckContext { guard, limits: None, map: None }
    }
}

/// Checks a message for a server with this `protection`. An error means that the message must be refused.
///
/// A message without paths costs one walk over its params and allocates nothing.
pub fn check(
    guard: &Guard,
    expansion: &Expansion,
    protection: Protection,
    call: &Call<'_>,
) -> Result<Verdict, ScanError> {
    check_within(CheckContext::of(guard), expansion, protection, call)
}

/// Like [`check`], but also applies the host's limits and the path map.
pub(crate) fn check_within(
    context: CheckContext<'_>,
    expansion: &Expansion,
    protection: Protection,
    call: &Call<'_>,
) -> Result<Verdict, ScanError> {
    let mut verdict = Verdict::default();
    paths(expansion, protection, call, &mut |candidate| {
        let request = PathRequest { path: &candidate.text, need: candidate.need, certainty: candidate.certainty };
        let (named, refusal) = match request.check(context, expansion) {
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

/// Passes every string of a message that counts as a path to `found`, in document order.
pub(crate) fn paths(
    expansion: &Expansion,
    protection: Protection,
    call: &Call<'_>,
    found: &mut dyn FnMut(Candidate<'_>),
) -> Result<(), ScanError> {
    if protection == Protection::Elsewhere {
        // SECURITY: only for a server that cannot open files on this machine; ambiguous JSON is still refused
        // (test: servers_that_may_see_this_machine, paths_that_mean_nothing_here_are_not_checked)
        return scan(call, &mut |_| {});
    }
    let mut top = Top::default();
    scan(call, &mut |candidate| {
        // SECURITY: only for strings that merely look like paths, and only if the kernel confines the server as well
        // (test: a_path_to_nowhere_is_text_only_for_a_confined_server,
        // keys_and_schemas_make_any_string_a_path)
        let may_be_text = protection == Protection::Kernel && candidate.certainty == Certainty::ByLooks;
        if !(may_be_text && top.leads_nowhere(&candidate.text, expansion)) {
            found(candidate);
        }
    })
}

/// Checks one path in all its readings.
pub fn check_path(guard: &Guard, expansion: &Expansion, path: &str, need: Need) -> Result<(), RefusedPath> {
    PathRequest { path, need, certainty: Certainty::Sure }.check(CheckContext::of(guard), expansion).map(drop)
}

impl Finding {
    /// Whether this finding is audited: it is a path, or it was refused.
    pub fn is_on_record(&self) -> bool {
        // SECURITY: every refusal is audited, whatever was refused
        // (test: every_refusal_is_audited)
        self.refusal.is_some() || self.named != Named::Nothing
    }
}

impl GrantedPlace {
    fn of(grant: &Grant) -> GrantedPlace {
        GrantedPlace { path: grant.path(), root: grant.root().root.path.clone() }
    }
}

/// Why a reading was allowed.
enum Passed {
    Granted(Grant),
    /// The first root, if there is one.
    WorkingDirectory(Option<GrantedPlace>),
    /// No file can be opened by this text.
    DeadEnd,
    /// Not a path.
    NoPath,
}

/// A requested path.
struct PathRequest<'a> {
    path: &'a str,
    need: Need,
    certainty: Certainty,
}

impl PathRequest<'_> {
    fn check(&self, context: CheckContext<'_>, expansion: &Expansion) -> Result<Named, RefusedPath> {
        let mut refusal = None;
        let mut named = Named::Nothing;
        let text = context.map.map_or(Cow::Borrowed(self.path), |map| map.as_read(self.path));
        let mut judge = |reading: &str, form: Form| match self.judge(context, reading, form) {
            Ok(passed) => {
                self.note(&mut named, reading, &passed);
                ControlFlow::Continue(())
            }
            Err(denial) if reading == self.path && context.map.is_none() => {
                refusal = Some(RefusedPath { denial, reading: None });
                ControlFlow::Break(())
            }
            Err(denial) => {
                refusal = Some(RefusedPath { denial: self.told(&denial), reading: Some((reading.to_owned(), denial)) });
                ControlFlow::Break(())
            }
        };
        // Check the text itself first, before any reading derived from it.
        let goes_on = *text == *self.path || judge(self.path, Form::Spoken).is_continue();
        let readings = if goes_on { Reader::each(expansion, &text, &mut judge) } else { Err(Stop::Enough) };
        match (readings, refusal) {
            (Ok(()), None) => Ok(named),
            (_, Some(refusal)) => Err(refusal),
            // SECURITY: with more readings than the limit, some were never checked
            // (test: too_many_readings_are_refused)
            (Err(Stop::TooMany | Stop::Enough), None) => {
                Err(RefusedPath { denial: self.denial(Code::InvalidPath), reading: None })
            }
        }
    }

    fn denial(&self, code: Code) -> Denial {
        Denial::new(code, self.path, self.need.access)
    }

    /// Turns the refusal of a reading into one that names the text the peer sent.
    fn told(&self, denial: &Denial) -> Denial {
        match denial.cause() {
            Cause::OwnRules(_) => denial.clone().asked_as(self.path),
            _ => self.denial(denial.code().for_peer()),
        }
    }

    /// Records what a reading names. The original text counts as a path if that is certain. Any other reading counts
    /// only if the file exists.
    fn note(&self, named: &mut Named, reading: &str, passed: &Passed) {
        let is_meant = self.certainty == Certainty::Sure && reading == self.path;
        match (&*named, passed) {
            (Named::Nothing, Passed::Granted(grant)) if is_meant || grant.exists() => {
                *named = Named::Place(Some(GrantedPlace::of(grant)));
            }
            (Named::Nothing, Passed::WorkingDirectory(place)) if is_meant => *named = Named::Place(place.clone()),
            (Named::Nothing, Passed::DeadEnd) if is_meant => *named = Named::Place(None),
            // The collapsed form of the same text.
            (Named::Place(None), Passed::Granted(grant)) => *named = Named::Place(Some(GrantedPlace::of(grant))),
            _ => {}
        }
    }

    fn judge(&self, context: CheckContext<'_>, reading: &str, form: Form) -> Result<Passed, Denial> {
        let guard = context.guard;
        // An empty path means the working directory, which is inside a root.
        if reading.is_empty() && context.map.is_none() {
            if let (Some(limits), Ok(grant)) = (context.limits, guard.check(".", Access::READ)) {
                limits.check(&grant, self.path.as_ref())?;
            }
            let first = guard.root_set().first_directory();
            let first = first.map(|root| GrantedPlace { path: root.place.clone(), root: root.root.path.clone() });
            return Ok(Passed::WorkingDirectory(first));
        }
        let is_uri = begins(reading, "file:");
        // After decoding this is no longer a URI; its path is checked as a separate reading.
        if is_uri && form == Form::Made {
            return Ok(Passed::NoPath);
        }
        if has_another_scheme(reading) {
            // SECURITY: joined to a directory and collapsed as text, `x://../../y` leads above that directory
            // (test: other_schemes_are_not_paths_unless_they_climb)
            return if climbs(reading) { Err(self.denial(Code::OutsideRoots)) } else { Ok(Passed::NoPath) };
        }
        if !is_uri && names_nothing(reading) {
            // SECURITY: joined to a directory and collapsed as text, a thousand `../` become `/`
            // (test: a_long_text_that_may_be_a_path_is_decided)
            return if climbs(reading) { Err(self.denial(Code::OutsideRoots)) } else { Ok(Passed::NoPath) };
        }
        match context.map {
            Some(map) => self.judge_mapped(context, map, reading),
            None => self.judge_place(context, reading),
        }
    }

    fn judge_place(&self, context: CheckContext<'_>, reading: &str) -> Result<Passed, Denial> {
        let given = self.need.check(context.guard, reading);
        match given.and_then(|grant| self.within_limits(context, reading, grant)) {
            Ok(grant) => Ok(Passed::Granted(grant)),
            Err(denial) if is_dead_end(reading, &denial) => Ok(Passed::DeadEnd),
            Err(denial) if self.is_only_a_word(context.guard, reading, &denial) => Ok(Passed::NoPath),
            Err(denial) => Err(denial),
        }
    }

    /// Checks a reading for a server that has its own names for directories.
    fn judge_mapped(&self, context: CheckContext<'_>, map: &PathMap, reading: &str) -> Result<Passed, Denial> {
        if let Some(place) = map.meant(reading) {
            return self.judge_place(context, &place.to_string_lossy());
        }
        // SECURITY: an absolute path that does not map may lead outside the roots
        // (test: what_does_not_map_is_refused)
        if !is_relative(reading) || climbs(reading) {
            return Err(self.denial(Code::OutsideRoots));
        }
        // SECURITY: only the server knows its working directory, so a relative path is refused. A word that only may
        // be a path is treated as a word
        // (test: a_relative_path_does_not_map)
        let is_path = match self.certainty {
            Certainty::Sure | Certainty::ByLooks => true,
            Certainty::Likely => reading.contains(['/', '\\']),
        };
        if is_path && reading == self.path { Err(self.denial(Code::OutsideRoots)) } else { Ok(Passed::NoPath) }
    }

    /// Narrows a grant from the roots to what the host allows.
    fn within_limits(&self, context: CheckContext<'_>, reading: &str, grant: Grant) -> Result<Grant, Denial> {
        let Some(limits) = context.limits else { return Ok(grant) };
        // SECURITY: the host may allow less than the roots do (test: a_call_beyond_the_limits_is_refused)
        limits.check_for(&grant, self.need.access, reading.as_ref())?;
        // SECURITY: some servers act on a link, others on its target, so check both
        // (test: limits_apply_to_a_link_and_its_target)
        if matches!(self.need.last, Last::Replaced | Last::Removed) {
            let both = [context.guard.check(reading, Access::NONE), context.guard.check_entry(reading, Access::NONE)];
            for either in both.iter().flatten() {
                limits.check_for(either, self.need.access, reading.as_ref())?;
            }
        }
        Ok(grant)
    }

    /// True for a possible word that names nothing inside a root where the access is not enough. Without this, every
    /// tool with a `target` argument would fail in read-only roots.
    fn is_only_a_word(&self, guard: &Guard, reading: &str, denial: &Denial) -> bool {
        self.certainty == Certainty::Likely
            // SECURITY: a restricted place never counts as a word (test: a_word_does_not_open_a_restricted_place)
            && denial.code() == Code::AccessDenied
            && guard.check(reading, Access::NONE).is_ok_and(|grant| !grant.exists())
    }
}

/// True for a path inside the roots that cannot be opened as written: a directory before `..` is missing, or a name
/// is too long. The collapsed path is checked as a separate reading.
fn is_dead_end(reading: &str, denial: &Denial) -> bool {
    if denial.code() != Code::InvalidPath {
        return false;
    }
    match denial.cause() {
        Cause::System(ErrorKind::InvalidFilename) | Cause::Text(TextError::TooLong) => true,
        // SECURITY: without `..` in the text, the `..` is in a link target, and no other reading covers that
        // (test: a_link_through_what_is_missing_is_refused)
        Cause::System(ErrorKind::NotFound | ErrorKind::NotADirectory) => reading.split('/').any(|name| name == ".."),
        _ => false,
    }
}
