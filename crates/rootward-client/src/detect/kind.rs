//! What a directory can be.

use serde::Serialize;

/// What a directory is, in the order in which kinds name a suggestion.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is what its words say")]
pub enum Kind {
    GitRepository,
    GitWorktree,
    GitSubmodule,
    CargoWorkspace,
    CargoPackage,
    NodeWorkspace,
    NodePackage,
    PythonWorkspace,
    PythonProject,
    GoWorkspace,
    GoModule,
    DenoProject,
    MavenProject,
    GradleProject,
    DotnetProject,
    PhpPackage,
    RubyProject,
    ElixirProject,
    CmakeProject,
    MakeProject,
    JetbrainsProject,
    VscodeWorkspace,
    VscodeFolder,
}

/// A family: a workspace has members of its own family.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Family {
    Git,
    Cargo,
    Node,
    Python,
    Go,
    Other,
}

impl Kind {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Kind::GitRepository => "git repository",
            Kind::GitWorktree => "git worktree",
            Kind::GitSubmodule => "git submodule",
            Kind::CargoWorkspace => "Cargo workspace",
            Kind::CargoPackage => "Cargo package",
            Kind::NodeWorkspace => "Node workspace",
            Kind::NodePackage => "Node package",
            Kind::DenoProject => "Deno project",
            Kind::PythonWorkspace => "Python workspace",
            Kind::PythonProject => "Python project",
            Kind::GoWorkspace => "Go workspace",
            Kind::GoModule => "Go module",
            Kind::MavenProject => "Maven project",
            Kind::GradleProject => "Gradle project",
            Kind::DotnetProject => ".NET project",
            Kind::PhpPackage => "PHP package",
            Kind::RubyProject => "Ruby project",
            Kind::ElixirProject => "Elixir project",
            Kind::CmakeProject => "CMake project",
            Kind::MakeProject => "Make project",
            Kind::JetbrainsProject => "JetBrains project",
            Kind::VscodeWorkspace => "VS Code workspace",
            Kind::VscodeFolder => "VS Code folder",
        }
    }

    /// Whether such files are in every directory of a project: below another suggestion they do not start a new one.
    pub(super) fn recurs(self) -> bool {
        matches!(self, Kind::CmakeProject | Kind::MakeProject)
    }

    pub(super) fn family(self) -> Family {
        match self {
            Kind::GitRepository | Kind::GitWorktree | Kind::GitSubmodule => Family::Git,
            Kind::CargoWorkspace | Kind::CargoPackage => Family::Cargo,
            Kind::NodeWorkspace | Kind::NodePackage => Family::Node,
            Kind::PythonWorkspace | Kind::PythonProject => Family::Python,
            Kind::GoWorkspace | Kind::GoModule => Family::Go,
            Kind::DenoProject
            | Kind::MavenProject
            | Kind::GradleProject
            | Kind::DotnetProject
            | Kind::PhpPackage
            | Kind::RubyProject
            | Kind::ElixirProject
            | Kind::CmakeProject
            | Kind::MakeProject
            | Kind::JetbrainsProject
            | Kind::VscodeWorkspace
            | Kind::VscodeFolder => Family::Other,
        }
    }
}
