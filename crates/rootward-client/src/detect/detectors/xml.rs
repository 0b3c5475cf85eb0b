//! XML, read piece by piece: elements with the way to them. Entities are not expanded, nothing is fetched.

use quick_xml::Reader;
use quick_xml::events::Event;

/// How deep elements are followed; below that they are passed over.
const DEEPEST: usize = 32;

/// What an element says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'x> {
    /// The text in it.
    Text(&'x str),
    /// An attribute: its name and its value.
    Attribute(&'x str, &'x str),
}

/// Tells each piece with the names of the elements around it, outermost first. None where the text is no XML.
pub(super) fn each(text: &str, mut tell: impl FnMut(&[String], Piece<'_>)) -> Option<()> {
    let mut reader = Reader::from_str(text);
    let mut way: Vec<String> = Vec::new();
    let mut depth = 0usize;
    let mut elements = 0usize;
    loop {
        match reader.read_event().ok()? {
            Event::Start(element) => {
                elements += 1;
                depth += 1;
                if depth <= DEEPEST {
                    way.push(String::from_utf8_lossy(element.local_name().as_ref()).into_owned());
                    attributes(&element, &way, &mut tell);
                }
            }
            Event::Empty(element) => {
                elements += 1;
                if depth < DEEPEST {
                    way.push(String::from_utf8_lossy(element.local_name().as_ref()).into_owned());
                    attributes(&element, &way, &mut tell);
                    way.pop();
                }
            }
            Event::End(_) => {
                if depth <= DEEPEST {
                    way.pop();
                }
                depth = depth.checked_sub(1)?;
            }
            Event::Text(piece) if depth <= DEEPEST => tell(&way, Piece::Text(piece.decode().ok()?.trim())),
            Event::Eof => return (depth == 0 && elements > 0).then_some(()),
            _ => {}
        }
    }
}

fn attributes(
    element: &quick_xml::events::BytesStart<'_>,
    way: &[String],
    tell: &mut impl FnMut(&[String], Piece<'_>),
) {
    for attribute in element.attributes().with_checks(false).flatten() {
        let name = String::from_utf8_lossy(attribute.key.local_name().as_ref()).into_owned();
        let value = String::from_utf8_lossy(&attribute.value).into_owned();
        tell(way, Piece::Attribute(&name, &value));
    }
}
