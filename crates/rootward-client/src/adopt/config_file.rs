//! A client's config file: read safely, and replaced only if it is still the same.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootward_core::{
    Access, Grant, GrantError, Guard, GuardOptions, Material, Origin, Resolver, Restrictions, Root, RootSet, Shown,
    Validation, Version, follow_ambient, lookout_ambient,
};
use thiserror::Error;

use crate::store::Mistake;

/// The largest file to read: `.claude.json` contains much else.
const LARGEST: u64 = 8 << 20;

/// The byte order mark that some editors write.
const MARK: &str = "\u{feff}";

/// A file that was read.
#[derive(Debug)]
pub struct ConfigFile {
    /// As it was named.
    pub path: PathBuf,
    /// Its real path, without links.
    pub place: PathBuf,
    grant: Grant,
    version: Version,
    /// With its byte order mark.
    whole: String,
}

/// Why a file is neither read nor replaced.
#[derive(Debug, Error)]
pub enum FileError {
    /// The system refused to read it.
    #[error("{0}")]
    System(#[from] io::Error),
    /// It is a directory, a device, a FIFO or a socket.
    #[error("not a regular file")]
    Special,
    /// It is larger than the limit.
    #[error("larger than {} MiB", LARGEST >> 20)]
    TooLarge,
    /// Another user owns it.
    #[error("another user owns it")]
    NotOwned,
    /// A confined server could have created the link that leads there.
    #[error("it is a link, and a confined server could have written `{}`; to adopt that file, name it", Shown::new(.0))]
    Planted(PathBuf),
    /// A link in a project leads out of it.
    #[error("it leads out of the project, to `{}`", Shown::new(.0))]
    Outside(PathBuf),
    /// It is not where its name says.
    #[error("{0}")]
    Refused(String),
    /// It was changed after it was read.
    #[error("it was changed by another program")]
    Changed,
    /// Its text is damaged.
    #[error("{0}")]
    Damaged(Mistake),
}

impl From<GrantError> for FileError {
    fn from(error: GrantError) -> FileError {
        match error {
            GrantError::Io { source, .. } if source.kind() == io::ErrorKind::IsADirectory => FileError::Special,
            GrantError::Io { source, .. } => FileError::System(source),
            GrantError::TooLarge { .. } => FileError::TooLarge,
            GrantError::Changed { .. } => FileError::Changed,
            GrantError::Denied(denial) if denial.code() == rootward_core::Code::SpecialFile => FileError::Special,
            GrantError::Denied(denial) => FileError::Refused(denial.for_operator()),
        }
    }
}

impl ConfigFile {
    /// Opens a file by its absolute path; `None` if it does not exist. A project's file must be inside the project.
    pub fn open_ambient(
        path: &Path,
        project: Option<&Path>,
        material: &Material,
    ) -> Result<Option<ConfigFile>, FileError> {
        let Some(followed) = follow_ambient(path) else {
            // A loop, or a directory that cannot be searched: the system says which.
            return match lookout_ambient(Resolver::detect()).check(path, Access::NONE) {
                Ok(_) => Ok(None),
                Err(denial) => Err(FileError::Refused(denial.for_operator())),
            };
        };
        if !followed.exists {
            return Ok(None);
        }
        // SECURITY: a confined server that can write a link, or its target, must not choose which file is rewritten
        // (test: a_planted_link_is_refused)
        let planted = followed.links.iter().chain((!followed.links.is_empty()).then_some(&followed.place));
        if let Some(place) = planted.into_iter().find(|place| material.holds(place)) {
            return Err(FileError::Planted(place.clone()));
        }
        // SECURITY: somebody else wrote the project: its links must not make the user rewrite a file elsewhere
        // (test: a_project_is_not_left_by_a_link)
        let within = project.map(|project| follow_ambient(project).map(|followed| followed.place));
        if within.is_some_and(|within| !within.is_some_and(|project| followed.place.starts_with(project))) {
            return Err(FileError::Outside(followed.place));
        }
        let place = followed.place;
        let grant = granted_ambient(&place)?;
        let file = grant.open()?;
        let (version, bytes) = (file.version(), file.read_whole(LARGEST)?);
        // SECURITY: another user's file may contain anything, and would become this user's
        // (test: a_file_of_another_user_is_refused)
        if file.into_file().metadata()?.uid() != rustix::process::geteuid().as_raw() {
            return Err(FileError::NotOwned);
        }
        let whole = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let before = String::from_utf8_lossy(valid);
            FileError::Damaged(Mistake::at(&before, Some(before.len()..before.len()), "not UTF-8"))
        })?;
        Ok(Some(ConfigFile { path: path.to_owned(), place, grant, version, whole }))
    }

    /// Its text, without the byte order mark.
    pub fn text(&self) -> &str {
        self.whole.strip_prefix(MARK).unwrap_or(&self.whole)
    }

    /// Checks that the file is still what was read.
    pub(super) fn is_unchanged(&self) -> Result<(), FileError> {
        let now = self.grant.open()?;
        // Compare the bytes, too: the version does not show a second change within one clock tick.
        if now.version() != self.version || now.read_whole(LARGEST)? != self.whole.as_bytes() {
            return Err(FileError::Changed);
        }
        Ok(())
    }

    /// Replaces it atomically, if it is still what was read. Mode and owner stay.
    pub(super) fn replace(&self, text: &str) -> Result<(), FileError> {
        self.is_unchanged()?;
        let mark = if self.whole.starts_with(MARK) { MARK } else { "" };
        Ok(self.grant.replace_version(self.version, format!("{mark}{text}").as_bytes())?)
    }
}

/// The file below a handle of its directory: no link is followed from here on.
fn granted_ambient(place: &Path) -> Result<Grant, FileError> {
    let parent = place.parent().ok_or(FileError::Special)?;
    let root = Root::from_path(parent, Origin::Flag).map_err(|error| FileError::Refused(error.to_string()))?;
    let set = RootSet::place_ambient([root], &Validation::new(None));
    // This edits places that are closed by default, with the user's consent.
    let options = GuardOptions { restrictions: Arc::new(Restrictions::none()), ..GuardOptions::default() };
    let guard = Guard::new(set, options);
    let refused = |denial: rootward_core::Denial| FileError::Refused(denial.for_operator());
    let grant = guard.check(place, Access::READ_WRITE).map_err(refused)?;
    if grant.path() != place {
        return Err(FileError::Changed);
    }
    Ok(grant)
}
