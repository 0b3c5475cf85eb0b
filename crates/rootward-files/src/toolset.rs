//! Sets of tools that an operator switches on. Each listed tool costs a model attention, so by default the server
//! offers only the file tools.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::tool::Listed;
use crate::tools::{PROJECT_TOOLS, ROOTS_TOOLS, TOOLS};

/// A set of tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Toolset {
    /// The file tools. The server always offers them.
    Files,
    /// `analyze_project`, `find_documentation`, `build_configuration`.
    Project,
    /// `get-roots`, `roots`. The server answers them even if they are not listed.
    Roots,
}

/// The sets that a server lists.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Toolsets {
    project: bool,
    roots: bool,
}

/// A word that is not the name of a set.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{0}` is not a set of tools (possible: `files`, `project`, `roots`)")]
pub struct UnknownToolset(String);

impl Toolset {
    /// Every set.
    pub const ALL: [Toolset; 3] = [Toolset::Files, Toolset::Project, Toolset::Roots];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Toolset::Files => "files",
            Toolset::Project => "project",
            Toolset::Roots => "roots",
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
        let mut all = Toolsets::default();
        for set in sets {
            match set {
                Toolset::Files => {}
                Toolset::Project => all.project = true,
                Toolset::Roots => all.roots = true,
            }
        }
        all
    }
}

/// The names of the sets, separated by commas.
impl fmt::Display for Toolsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Toolset::Files.name())?;
        for (listed, set) in [(self.project, Toolset::Project), (self.roots, Toolset::Roots)] {
            if listed {
                write!(f, ", {}", set.name())?;
            }
        }
        Ok(())
    }
}

impl Toolsets {
    /// The tools of these sets, in list order.
    pub(crate) fn listed(self) -> impl Iterator<Item = &'static Listed> {
        let when = |listed: bool, tools: &'static [Listed]| if listed { tools } else { &[] };
        TOOLS.iter().chain(when(self.roots, ROOTS_TOOLS)).chain(when(self.project, PROJECT_TOOLS))
    }

    /// The tool with this name: a listed tool, or one of the set `roots`.
    pub(crate) fn find(self, name: &str) -> Option<&'static Listed> {
        self.listed().chain(ROOTS_TOOLS).find(|tool| tool.about.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_known_by_name() {
        assert_eq!("project".parse(), Ok(Toolset::Project));
        let error = "projects".parse::<Toolset>().unwrap_err().to_string();
        assert_eq!(error, "`projects` is not a set of tools (possible: `files`, `project`, `roots`)");
        assert!(Toolsets::default().find("analyze_project").is_none());
        let both: Toolsets = [Toolset::Project].into_iter().collect();
        assert!(both.find("analyze_project").is_some() && both.find("read_file").is_some());
        assert_eq!(Toolset::ALL.into_iter().collect::<Toolsets>().to_string(), "files, project, roots");
        let lists = |sets: Toolsets| sets.listed().any(|tool| tool.about.name == "get-roots");
        assert!(!lists(both) && lists([Toolset::Roots].into_iter().collect()));
        assert!(both.find("get-roots").is_some() && both.find("roots").is_some());
    }
}
