//! Local links in Markdown files lead somewhere.

use super::{Finding, Repository};

/// Every local link in a Markdown file names a file or directory of the repository.
pub(super) fn lead_somewhere(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repository.files.iter().filter(|file| file.has_extension("md")) {
        let mut fence: Option<&str> = None;
        for (number, line) in file.lines() {
            let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
            match (fence, mark) {
                (None, Some(mark)) => fence = Some(mark),
                (Some(open), Some(mark)) if open == mark => fence = None,
                (None, None) => {
                    let dead = targets(&without_code(line))
                        .into_iter()
                        .filter(|target| !leads(repository, &file.path, target));
                    findings
                        .extend(dead.map(|target| file.finding(number, format!("the link `{target}` leads nowhere"))));
                }
                _ => {}
            }
        }
    }
    findings
}

/// The line without the text between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// The targets of `[text](target "title")`, `![image](target)` and `[label]: target`.
fn targets(line: &str) -> Vec<String> {
    let inline = line.match_indices("](").filter_map(|(position, mark)| line[position + mark.len()..].split_once(')'));
    let mut targets: Vec<&str> = inline.map(|(target, _)| target).collect();
    if let Some((label, target)) = line.split_once("]: ")
        && label.starts_with('[')
    {
        targets.push(target);
    }
    let first = |target: &str| Some(target.split_whitespace().next()?.trim_matches(['<', '>']).to_owned());
    targets.into_iter().filter_map(first).collect()
}

fn leads(repository: &Repository, from: &str, target: &str) -> bool {
    let elsewhere = target.contains("://") || target.starts_with("mailto:") || target.starts_with('#');
    if elsewhere {
        return true;
    }
    let path = target.split('#').next().unwrap_or(target);
    let mut place: Vec<&str> = from.split('/').collect();
    place.pop();
    for part in path.split('/') {
        match part {
            ".." if place.pop().is_none() => return false,
            "" | "." | ".." => {}
            name => place.push(name),
        }
    }
    let place = place.join("/");
    let inside = format!("{place}/");
    !path.starts_with('/')
        && (place.is_empty() || repository.paths.iter().any(|known| *known == place || known.starts_with(&inside)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, dead: &[&str]) {
        let known = [("README.md", ""), ("docs/deviations.md", ""), ("crates/a/src/lib.rs", "")];
        let found = lead_somewhere(&Repository::of(&[&known[..], &[(path, text)]].concat()));
        let says: Vec<String> = dead.iter().map(|target| format!("the link `{target}` leads nowhere")).collect();
        assert_eq!(found.into_iter().map(|finding| finding.says).collect::<Vec<_>>(), says, "{text}");
    }

    #[test]
    fn live_links_are_fine() {
        check("a.md", "[a](README.md) and [b](docs/deviations.md#one) and [c](crates/a/) and [d](.)", &[]);
        check("docs/a.md", "[a](../README.md) ![b](deviations.md \"title\") [c](<./deviations.md>)", &[]);
        check("a.md", "[a](https://example.com/x.md), [b](mailto:a@example.com), [c](#part)", &[]);
        check("a.md", "[label]: docs/deviations.md", &[]);
        check("a.md", "`[a](nowhere.md)`\n```\n[a](nowhere.md)\n~~~\n```\n", &[]);
    }

    #[test]
    fn dead_links_are_found() {
        check("a.md", "[a](nowhere.md) [b](docs/nowhere.md#x)", &["nowhere.md", "docs/nowhere.md#x"]);
        check("docs/a.md", "[a](README.md)", &["README.md"]);
        check("docs/a.md", "[a](../../README.md)", &["../../README.md"]);
        check("a.md", "[a](/README.md)", &["/README.md"]);
        check("a.md", "[a](doc)", &["doc"]);
        check("a.md", "[label]: nowhere.md", &["nowhere.md"]);
        check("a.md", "```\nx\n```\n[a](nowhere.md)", &["nowhere.md"]);
    }
}
