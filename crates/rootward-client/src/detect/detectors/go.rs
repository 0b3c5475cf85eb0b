//! `go.mod` and `go.work`: modules and workspaces of Go (<https://go.dev/ref/mod>).

use crate::detect::Kind;
use crate::detect::found::Found;
use crate::detect::members::Members;

pub(super) fn read_module(_file: &str, text: &str) -> Vec<Found> {
    let name = lines(text).find_map(|line| argument(line, "module"));
    let found = if name.is_some() { Found::certain } else { Found::likely };
    vec![found(Kind::GoModule).named(name)]
}

pub(super) fn read_workspace(_file: &str, text: &str) -> Vec<Found> {
    let mut uses = Vec::new();
    let mut in_block = false;
    for line in lines(text) {
        match (in_block, argument(line, "use")) {
            (true, _) if line == ")" => in_block = false,
            (true, _) => uses.push(unquoted(line)),
            (false, Some("(")) => in_block = true,
            (false, Some(place)) => uses.push(place),
            (false, None) => {}
        }
    }
    let found = if text.is_empty() { Found::likely } else { Found::certain };
    vec![found(Kind::GoWorkspace).with_members(Members::named(uses))]
}

/// Lines without comments and surrounding blanks.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split("//").next().unwrap_or(line).trim()).filter(|line| !line.is_empty())
}

/// The text after a keyword: `module example.com/a`, `use (`, `use(`.
fn argument<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(word)?;
    let separate = rest.starts_with([' ', '\t', '(']);
    (separate && !rest.trim().is_empty()).then(|| unquoted(rest.trim()))
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '`'])
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn modules() {
        let check = |text: &str, name| check(read_module, "go.mod", text, &[(Kind::GoModule, name, 0)]);
        check("module example.com/a/b\n\ngo 1.22\n", Some("example.com/a/b"));
        check("// Deprecated: no\nmodule \"quoted.org/x\" // why\n", Some("quoted.org/x"));
        check("modules x", None);
        check("", None);
    }

    #[test]
    fn workspaces() {
        let check = |text: &str, members| check(read_workspace, "go.work", text, &[(Kind::GoWorkspace, None, members)]);
        check("go 1.22\nuse ./a\nuse (\n\t./b\n\t// ./no\n\t\"./c\"\n)\nreplace x => ../y\n", 3);
        check("use(\n./a\n)\n", 1);
        check("go 1.22", 0);
        check("use (\n", 0);
    }
}
