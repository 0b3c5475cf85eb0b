//! `pom.xml`. Entities are not expanded, and nothing is fetched.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::super::marker::Beside;
use super::super::shown;
use super::{Facts, Purpose};

/// The deepest nesting of elements.
const DEEPEST: usize = 64;

pub(super) fn read(text: &str, beside: &Beside) -> Result<Facts, String> {
    let mut facts = Facts::default();
    let mut way: Vec<String> = Vec::new();
    let mut reader = Reader::from_str(text);
    let broken = || "not a Maven project: the XML is malformed".to_owned();
    loop {
        match reader.read_event().map_err(|_| broken())? {
            Event::Start(element) => {
                if way.len() >= DEEPEST {
                    return Err(format!("not read: elements are nested more than {DEEPEST} levels deep"));
                }
                way.push(String::from_utf8_lossy(element.local_name().as_ref()).into_owned());
            }
            Event::End(_) => drop(way.pop().ok_or_else(broken)?),
            Event::Text(piece) => {
                let text = piece.decode().map_err(|_| broken())?;
                let text = text.trim();
                match way.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
                    ["project", "artifactId"] => facts.name = Some(shown(text)),
                    ["project", "version"] => facts.version = Some(shown(text)),
                    ["project", "modules", "module"] => facts.workspace = true,
                    _ => {}
                }
            }
            Event::Eof if way.is_empty() => break,
            Event::Eof => return Err(broken()),
            _ => {}
        }
    }
    let maven = if beside.has("mvnw") { "./mvnw" } else { "mvn" };
    facts.command(Purpose::Build, format!("{maven} package"));
    facts.command(Purpose::Test, format!("{maven} test"));
    facts.command(Purpose::Lint, format!("{maven} verify"));
    Ok(facts)
}
