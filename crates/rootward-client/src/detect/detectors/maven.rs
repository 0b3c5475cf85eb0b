//! `pom.xml`: Maven projects and their modules.

use super::xml::{self, Piece};
use crate::detect::Kind;
use crate::detect::found::Found;
use crate::detect::members::Members;

pub(super) fn read(_file: &str, text: &str) -> Vec<Found> {
    let (mut name, mut artifact, mut modules) = (None, None, Vec::new());
    let readable = xml::each(text, |way, piece| {
        let Piece::Text(text) = piece else { return };
        if text.is_empty() {
            return;
        }
        let way: Vec<&str> = way.iter().map(String::as_str).collect();
        match way.as_slice() {
            ["project", "name"] => name = Some(text.to_owned()),
            ["project", "artifactId"] => artifact = Some(text.to_owned()),
            ["project", "modules", "module"] => modules.push(text.trim_end_matches("/pom.xml").to_owned()),
            _ => {}
        }
    });
    if readable.is_none() {
        return vec![Found::likely(Kind::MavenProject)];
    }
    // A name may be put together from properties, which are elsewhere.
    let name = name.filter(|name| !name.contains("${")).or(artifact).filter(|name| !name.contains("${"));
    let found = if name.is_some() { Found::certain } else { Found::likely };
    let members = Members::named(modules.iter().map(String::as_str));
    let workspace = (!modules.is_empty()).then(|| Found::certain(Kind::MavenModules).with_members(members));
    workspace.into_iter().chain([found(Kind::MavenProject).named(name.as_deref())]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use Kind::{MavenModules, MavenProject};

    #[test]
    fn projects() {
        let check = |text: &str, expect: &[_]| check(read, "pom.xml", text, expect);
        let project = |inner: &str| format!("<?xml version=\"1.0\"?><project xmlns=\"x\">{inner}</project>");
        check(&project("<artifactId>a</artifactId>"), &[(MavenProject, Some("a"), 0)]);
        check(
            &project("<parent><artifactId>p</artifactId></parent><artifactId> a </artifactId><name>My App</name>"),
            &[(MavenProject, Some("My App"), 0)],
        );
        check(&project("<name>${x}</name><artifactId>a</artifactId>"), &[(MavenProject, Some("a"), 0)]);
        check(
            &project("<artifactId>a</artifactId><modules><module>b</module><module>c/pom.xml</module></modules>"),
            &[(MavenModules, None, 2), (MavenProject, Some("a"), 0)],
        );
        check(&project("<build><name>no</name></build>"), &[(MavenProject, None, 0)]);
        check("<project>", &[(MavenProject, None, 0)]);
        check("", &[(MavenProject, None, 0)]);
        check(&"<a>".repeat(300_000), &[(MavenProject, None, 0)]);
    }

    #[test]
    fn entities_are_not_expanded() {
        let bomb = "<!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\"><!ENTITY f SYSTEM \"file:///etc/passwd\">]>\
                    <project><artifactId>&b;&f;</artifactId></project>";
        check(read, "pom.xml", bomb, &[(MavenProject, None, 0)]);
    }
}
