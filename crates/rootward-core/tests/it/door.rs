//! The guard as a door for the escape corpus and the races.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rootward_core::{
    Access, Denial, Grant, GrantError, Guard, GuardOptions, Origin, Replace, Resolver, Root, RootSet, Validation,
};
use rootward_testkit::door::{Door, Outcome, Request};
use rootward_testkit::escape::Act;

/// A new guard for every request, with one of the two resolvers.
pub(crate) struct GuardDoor(pub(crate) Resolver);

impl Door for GuardDoor {
    fn act(&self, request: &Request) -> Outcome {
        let guard = guard(self.0, request);
        act(&guard, request).unwrap_or_else(|failure| failure)
    }
}

pub(crate) fn guard(resolver: Resolver, request: &Request) -> Guard {
    let roots = request.roots.iter().map(|root| {
        // Parsed as typed input, to accept any spelling, but judged as a client's root.
        let mut typed = root.path.clone().into_os_string();
        typed.push(":");
        typed.push(root.access);
        let base = request.base.as_deref().unwrap_or(Path::new("/"));
        let root = Root::from_typed(&typed, base, request.home.as_deref(), Origin::Client);
        root.expect("a usable root")
    });
    let set = RootSet::place_ambient(roots, &Validation::new(request.home.clone()));
    let options = GuardOptions {
        home: request.home.clone(),
        base: request.base.clone().into(),
        resolver,
        ..GuardOptions::default()
    };
    Guard::new(set, options)
}

pub(crate) fn act(guard: &Guard, request: &Request) -> Result<Outcome, Outcome> {
    let path = OsStr::from_bytes(&request.path);
    let to = OsStr::from_bytes(request.to.as_deref().unwrap_or_default());
    let check = |access| guard.check(path, access).map_err(denied);
    let entry = |path, access| guard.check_entry(path, access).map_err(denied);
    match request.act {
        Act::Check => Ok(done(&check(Access::NONE)?)),
        Act::Read => {
            // Both ways of reading a file must agree.
            let opened = guard.open(path).and_then(|file| file.read_whole(1 << 20));
            let granted = guard.check(path, Access::READ).map_err(Into::into).and_then(|grant| grant.read(1 << 20));
            match (opened, granted) {
                (Ok(content), Ok(again)) if content == again => {
                    Ok(Outcome::Done { content: Some(content), entries: None, place: None })
                }
                (Err(error), _) | (Ok(_), Err(error)) => Err(failed(error)),
                // Only while somebody swaps files concurrently.
                (Ok(content), Ok(_)) => Ok(Outcome::Done { content: Some(content), entries: None, place: None }),
            }
        }
        Act::List => {
            let grant = check(Access::READ)?;
            let entries = grant.list().map_err(failed)?;
            let names = entries.into_iter().map(|entry| entry.name).collect();
            Ok(Outcome::Done { content: None, entries: Some(names), place: Some(grant.path()) })
        }
        Act::Stat => acted(&check(Access::READ)?, |grant| grant.metadata().map(drop)),
        Act::Execute => acted(&check(Access::EXECUTE)?, |grant| grant.open_executable().map(drop)),
        Act::Put => acted(&check(Access::WRITE)?, |grant| grant.replace(&request.data)),
        Act::Append => acted(&check(Access::WRITE)?, |grant| grant.append(&request.data)),
        Act::CreateNew => acted(&entry(path, Access::WRITE)?, |grant| grant.create_new(&request.data)),
        Act::MakeDirectory => acted(&entry(path, Access::WRITE)?, Grant::create_directory),
        Act::Remove => acted(&entry(path, Access::DELETE)?, Grant::remove),
        Act::Rename => {
            let source = entry(path, Access::DELETE)?;
            acted(&entry(to, Access::WRITE)?, |target| source.rename_to(target, Replace::Yes))
        }
        Act::Copy => {
            let source = check(Access::READ)?;
            let target = guard.check(to, Access::WRITE).map_err(denied)?;
            acted(&target, |target| source.copy_to(target, Replace::Yes).map(drop))
        }
    }
}

fn acted(grant: &Grant, verb: impl FnOnce(&Grant) -> Result<(), GrantError>) -> Result<Outcome, Outcome> {
    verb(grant).map_err(failed)?;
    Ok(done(grant))
}

fn done(grant: &Grant) -> Outcome {
    let place: PathBuf = grant.path();
    Outcome::Done { content: None, entries: None, place: Some(place) }
}

#[expect(clippy::needless_pass_by_value, reason = "used in `map_err`")]
fn denied(denial: Denial) -> Outcome {
    Outcome::denied(denial.code().for_peer().as_str(), denial.to_string())
}

fn failed(error: GrantError) -> Outcome {
    match error {
        GrantError::Denied(denial) => denied(denial),
        GrantError::Io { source, .. } => Outcome::failed(&source),
        error @ GrantError::Changed { .. } => Outcome::denied("changed", error.to_string()),
        error @ GrantError::TooLarge { .. } => Outcome::denied("too_large", error.to_string()),
    }
}
