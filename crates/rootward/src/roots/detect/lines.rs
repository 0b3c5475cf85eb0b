//! Suggestions for people: one line each, with name, path and reason.

use std::io::{self, Write};
use std::path::Path;

use rootward_client::detect::{Bond, Certainty, Presence, Reason, Suggestion};
use rootward_core::Shown;

use crate::message::from_home;

/// The maximum width of a column; longer entries stick out.
const WIDEST_NAME: usize = 32;
const WIDEST_PATH: usize = 60;

pub(super) fn write(out: &mut impl Write, suggestions: &[Suggestion], home: Option<&Path>) -> io::Result<()> {
    // Directories that exist come first.
    let of = |presence| suggestions.iter().filter(move |suggestion| suggestion.presence == presence);
    let in_order = of(Presence::Seen).chain(of(Presence::OnlyNamed));
    let lines: Vec<[String; 3]> = in_order.map(|suggestion| line(suggestion, home)).collect();
    let width = |column: usize, widest: usize| {
        lines.iter().map(|line| line[column].chars().count()).filter(|width| *width <= widest).max().unwrap_or(0)
    };
    let (names, paths) = (width(0, WIDEST_NAME), width(1, WIDEST_PATH));
    for [name, path, why] in &lines {
        writeln!(out, "{name:names$}  {path:paths$}  {why}")?;
    }
    Ok(())
}

/// Name, path and reason.
pub(in crate::roots) fn line(suggestion: &Suggestion, home: Option<&Path>) -> [String; 3] {
    let name = Shown::new(suggestion.title().as_ref()).to_string();
    let path = from_home(&suggestion.path, home);
    let mut why: Vec<String> = suggestion.reasons.iter().map(reason).collect();
    if suggestion.presence == Presence::OnlyNamed {
        why.push("is elsewhere and was not scanned".to_owned());
    }
    if let Some(within) = &suggestion.within {
        let around = from_home(&within.path, home);
        why.push(match within.bond {
            Bond::Member => format!("member of `{around}`"),
            Bond::Submodule | Bond::Below => format!("in `{around}`"),
        });
    }
    [name, path, why.join(", ")]
}

fn reason(reason: &Reason) -> String {
    let sure = match reason.certainty {
        Certainty::Certain => "",
        Certainty::Likely => "likely ",
        Certainty::Possible => "possible ",
    };
    format!("{sure}{}", reason.why)
}
