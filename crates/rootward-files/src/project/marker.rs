//! Detects a directory's build system by file names: manifests, and the lock files and wrapper scripts next to them.

use std::collections::BTreeSet;
use std::ffi::OsStr;

/// A build system.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum System {
    Cargo,
    Npm,
    Python,
    Go,
    Maven,
    Gradle,
    Make,
    /// A build system whose manifests are listed but not read.
    Other(&'static str),
}

impl System {
    /// Its name.
    pub(crate) fn word(self) -> &'static str {
        match self {
            System::Cargo => "cargo",
            System::Npm => "npm",
            System::Python => "python",
            System::Go => "go",
            System::Maven => "maven",
            System::Gradle => "gradle",
            System::Make => "make",
            System::Other(word) => word,
        }
    }
}

/// What a file name indicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Marker {
    /// A manifest of this system.
    Manifest(System),
    /// A file next to a manifest that determines which command to use.
    Beside,
}

/// What a file name indicates; `None` for most names.
pub(crate) fn marker(name: &OsStr) -> Option<Marker> {
    Some(match name.to_str()? {
        "Cargo.toml" => Marker::Manifest(System::Cargo),
        "package.json" => Marker::Manifest(System::Npm),
        "pyproject.toml" => Marker::Manifest(System::Python),
        "go.mod" => Marker::Manifest(System::Go),
        "pom.xml" => Marker::Manifest(System::Maven),
        "build.gradle" | "build.gradle.kts" => Marker::Manifest(System::Gradle),
        "Makefile" | "makefile" | "GNUmakefile" => Marker::Manifest(System::Make),
        "setup.py" | "setup.cfg" | "requirements.txt" | "Pipfile" => Marker::Manifest(System::Other("python")),
        "deno.json" | "deno.jsonc" => Marker::Manifest(System::Other("deno")),
        "CMakeLists.txt" => Marker::Manifest(System::Other("cmake")),
        "meson.build" => Marker::Manifest(System::Other("meson")),
        "composer.json" => Marker::Manifest(System::Other("composer")),
        "Gemfile" => Marker::Manifest(System::Other("bundler")),
        "mix.exs" => Marker::Manifest(System::Other("mix")),
        "Package.swift" => Marker::Manifest(System::Other("swift")),
        "pubspec.yaml" => Marker::Manifest(System::Other("pub")),
        "build.sbt" => Marker::Manifest(System::Other("sbt")),
        "flake.nix" => Marker::Manifest(System::Other("nix")),
        "justfile" | "Justfile" => Marker::Manifest(System::Other("just")),
        "MODULE.bazel" => Marker::Manifest(System::Other("bazel")),
        "Dockerfile" | "Containerfile" => Marker::Manifest(System::Other("docker")),
        "compose.yaml" | "compose.yml" | "docker-compose.yml" | "docker-compose.yaml" => {
            Marker::Manifest(System::Other("compose"))
        }
        "yarn.lock" | "pnpm-lock.yaml" | "bun.lock" | "bun.lockb" | "package-lock.json" | "uv.lock" | "poetry.lock"
        | "pdm.lock" | "gradlew" | "mvnw" => Marker::Beside,
        name => match name.rsplit_once('.')?.1 {
            "csproj" | "fsproj" | "sln" => Marker::Manifest(System::Other("dotnet")),
            _ => return None,
        },
    })
}

/// The marker files next to a manifest, by name.
#[derive(Clone, Default, Debug)]
pub(crate) struct Beside(BTreeSet<String>);

impl Beside {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

impl FromIterator<String> for Beside {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Beside {
        Beside(names.into_iter().collect())
    }
}
