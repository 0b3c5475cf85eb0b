//! The files that Prolog requests while it loads or runs a program. Each path is checked against the roots of the call, and the file is
//! read from the checked handle.

use std::path::Path;

use rootward_core::FileKind;
use rootward_server::{Access, Denial, Grant, GrantError, Roots};

use crate::refusal;

/// The largest file, in bytes.
pub(crate) const LARGEST: u64 = 8 << 20;

/// The extensions that a source's name may omit.
const ENDINGS: [&str; 2] = [".pl", ".prolog"];

/// The files that a call may read.
#[derive(Debug)]
pub(crate) struct Sources {
    /// `None` for calls that load nothing.
    pub(crate) roots: Option<Roots>,
}

/// The outcome of a search for a file.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Found {
    File { path: String, text: String },
    Missing,
    Refused(String),
}

impl Sources {
    /// Finds the file `name`, relative to the file `base` that names it. `base` is empty for a query.
    pub(crate) fn find(&self, kind: &str, base: &str, name: &str) -> Found {
        let Some(roots) = &self.roots else { return Found::Refused("this call cannot open files".to_owned()) };
        // SECURITY: both texts come from Prolog; the guard decides where they lead (test: files_name_others_only_in_the_roots)
        let place = match Path::new(base).parent() {
            Some(directory) if !base.is_empty() && !name.starts_with('~') => directory.join(name),
            _ => name.into(),
        };
        let place = place.to_string_lossy();
        let mut names = vec![place.clone().into_owned()];
        if kind == "source" && !ENDINGS.iter().any(|ending| place.ends_with(ending)) {
            names = ENDINGS.iter().map(|ending| format!("{place}{ending}")).chain(names).collect();
        }
        for name in &names {
            match roots.check(name, Access::READ) {
                Ok(grant) if grant.kind() == Some(FileKind::File) => {
                    return match read(&grant) {
                        Ok(text) => Found::File { path: grant.named_path().to_string_lossy().into_owned(), text },
                        Err(why) => Found::Refused(why),
                    };
                }
                Ok(_) => {}
                Err(denial) => return refused(&denial, roots),
            }
        }
        Found::Missing
    }
}

fn refused(denial: &Denial, roots: &Roots) -> Found {
    Found::Refused(refusal::words(denial, roots))
}

/// The text of a file.
pub(crate) fn read(grant: &Grant) -> Result<String, String> {
    let contents = grant.read(LARGEST).map_err(|error: GrantError| error.to_string())?;
    String::from_utf8(contents).map_err(|_| format!("`{}` is not UTF-8", grant.named_path().display()))
}
