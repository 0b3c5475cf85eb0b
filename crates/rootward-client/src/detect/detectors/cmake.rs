//! `CMakeLists.txt`: projects of `CMake`. Most of these files belong to a directory of one; `project(…)` begins it.

use crate::detect::Kind;
use crate::detect::found::Found;

pub(super) fn read(_file: &str, text: &str) -> Vec<Found> {
    let name = text.lines().find_map(|line| {
        let line = line.trim_start();
        // Commands have no case.
        let word = line.get(..7).filter(|word| word.eq_ignore_ascii_case("project"))?;
        let arguments = line[word.len()..].trim_start().strip_prefix('(')?;
        Some(arguments.trim_start().split([' ', '\t', ')']).next().unwrap_or("").trim_matches('"'))
    });
    let project = |name: &str| Found::certain(Kind::CmakeProject).named((!name.contains('$')).then_some(name));
    name.map(project).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn projects() {
        let check = |text: &str, expect: &[_]| check(read, "CMakeLists.txt", text, expect);
        check("cmake_minimum_required(VERSION 3)\nproject(App VERSION 1)", &[(Kind::CmakeProject, Some("App"), 0)]);
        check("PROJECT( \"app\" )", &[(Kind::CmakeProject, Some("app"), 0)]);
        check("project(${NAME})", &[(Kind::CmakeProject, None, 0)]);
        check("project(", &[(Kind::CmakeProject, None, 0)]);
        check("# project(x)\nadd_library(a)\nprojekt", &[]);
        check("ää", &[]);
        check("", &[]);
    }
}
