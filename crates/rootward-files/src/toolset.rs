//! Sets of tools that an operator switches on. Each tool that a model sees costs it attention, so a plain file server offers the
//! file tools alone.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::tool::Listed;
use crate::tools::{PROJECT_TOOLS, TOOLS};

/// A set of tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Toolset {
    /// The file tools. They are always offered.
    Files,
    /// `analyze_project`, `find_documentation`, `build_configuration`.
    Project,
}

/// The sets that a server offers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Toolsets {
    project: bool,
}

/// A word that is not the name of a set.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{0}` is not a set of tools (possible: `files`, `project`)")]
pub struct UnknownToolset(String);

impl Toolset {
    /// Every set.
    pub const ALL: [Toolset; 2] = [Toolset::Files, Toolset::Project];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Toolset::Files => "files",
            Toolset::Project => "project",
        }
    }
}

impl FromStr for Toolset {
    type Err = UnknownToolset;

    fn from_str(text: &str) -> Result<Toolset, UnknownToolset> {
        Toolset::ALL.into_iter().find(|set| set.name() == text).ok_or_else(|| UnknownToolset(text.to_owned()))
    }
}

impl FromIterator<Toolset> for Toolsets {
    fn from_iter<I: IntoIterator<Item = Toolset>>(sets: I) -> Toolsets {
        Toolsets { project: sets.into_iter().any(|set| set == Toolset::Project) }
    }
}

/// The names of the sets, separated by commas.
impl fmt::Display for Toolsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.project { "files, project" } else { "files" })
    }
}

impl Toolsets {
    /// The tools of these sets, in the order in which they are listed.
    pub(crate) fn tools(self) -> impl Iterator<Item = &'static Listed> {
        let project: &[Listed] = if self.project { PROJECT_TOOLS } else { &[] };
        TOOLS.iter().chain(project)
    }

    /// The tool of this name.
    pub(crate) fn find(self, name: &str) -> Option<&'static Listed> {
        self.tools().find(|tool| tool.about.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_known_by_name() {
        assert_eq!("project".parse(), Ok(Toolset::Project));
        let error = "projects".parse::<Toolset>().unwrap_err().to_string();
        assert_eq!(error, "`projects` is not a set of tools (possible: `files`, `project`)");
        assert!(Toolsets::default().find("analyze_project").is_none());
        let both: Toolsets = [Toolset::Project].into_iter().collect();
        assert!(both.find("analyze_project").is_some() && both.find("read_file").is_some());
    }
}
