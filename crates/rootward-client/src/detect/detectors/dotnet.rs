//! `*.sln`, `*.slnx` and project files of .NET: they are called as their file is.

use super::xml::{self, Piece};
use super::{quoted, stem};
use crate::detect::Kind;
use crate::detect::found::Found;
use crate::detect::members::Members;

/// Lines such as `Project("{…}") = "App", "src\App\App.csproj", "{…}"`.
pub(super) fn read_solution(file: &str, text: &str) -> Vec<Found> {
    let projects = text.lines().filter(|line| line.trim_start().starts_with("Project("));
    vec![solution(file, projects.filter_map(|line| quoted(line).nth(2)))]
}

/// `<Project Path="src/App/App.csproj" />`.
pub(super) fn read_xml_solution(file: &str, text: &str) -> Vec<Found> {
    let mut projects = Vec::new();
    let readable = xml::each(text, |way, piece| {
        if let (Piece::Attribute("Path", path), Some("Project")) = (piece, way.last().map(String::as_str)) {
            projects.push(path.to_owned());
        }
    });
    match readable {
        Some(()) => vec![solution(file, projects.iter().map(String::as_str))],
        None => vec![Found::likely(Kind::DotnetSolution).named(Some(stem(file)))],
    }
}

pub(super) fn read_project(file: &str, _text: &str) -> Vec<Found> {
    vec![Found::certain(Kind::DotnetProject).named(Some(stem(file)))]
}

fn solution<'p>(file: &str, projects: impl Iterator<Item = &'p str>) -> Found {
    let directory = |path: &str| path.replace('\\', "/").rsplit_once('/').map(|(directory, _)| directory.to_owned());
    let directories: Vec<String> = projects.filter_map(directory).collect();
    let members = Members::named(directories.iter().map(String::as_str));
    Found::certain(Kind::DotnetSolution).named(Some(stem(file))).with_members(members)
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn solutions() {
        let text = "\nMicrosoft Visual Studio Solution File, Format Version 12.00\n\
            Project(\"{FAE0}\") = \"App\", \"src\\App\\App.csproj\", \"{1}\"\nEndProject\n\
            Project(\"{2150}\") = \"items\", \"items\", \"{2}\"\nEndProject\n";
        check(read_solution, "My.Shop.sln", text, &[(Kind::DotnetSolution, Some("My.Shop"), 1)]);
        check(read_solution, "Empty.sln", "", &[(Kind::DotnetSolution, Some("Empty"), 0)]);
        let text = "<Solution><Folder Name=\"/x/\"><Project Path=\"a/A.csproj\" /></Folder><Project Path=\"b/B.fsproj\"/></Solution>";
        check(read_xml_solution, "Shop.slnx", text, &[(Kind::DotnetSolution, Some("Shop"), 2)]);
        check(read_xml_solution, "Bad.slnx", "<", &[(Kind::DotnetSolution, Some("Bad"), 0)]);
    }

    #[test]
    fn projects() {
        check(read_project, "My.App.csproj", "", &[(Kind::DotnetProject, Some("My.App"), 0)]);
    }
}
