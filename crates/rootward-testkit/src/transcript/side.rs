//! The implementations that play the transcripts, and the lines that apply to only one of them.

use std::fmt;

/// Which implementation a transcript is played through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// `rootward-server`: the library in a server's own process.
    Library,
    /// The engine of `rootward wrap`: a process in front of a server. It may request roots before a call needs them, because it
    /// starts the server in them.
    Wrap,
}

/// Whether a side is expected to pass a transcript.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It must pass.
    Kept,
    /// Only the other side plays the transcript, for this reason.
    Elsewhere(String),
    /// It should pass but does not, for this reason. The transcript is still played and must fail, so that a fix also removes
    /// the reason.
    Differs(String),
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Library => "library",
            Side::Wrap => "wrap",
        })
    }
}

impl Side {
    pub(super) fn other(self) -> Side {
        match self {
            Side::Library => Side::Wrap,
            Side::Wrap => Side::Library,
        }
    }

    fn read(text: &str) -> Result<Side, String> {
        [Side::Library, Side::Wrap]
            .into_iter()
            .find(|side| side.to_string() == text)
            .ok_or_else(|| format!("no such side: `{text}`"))
    }
}

/// Parses `through: SIDE, REASON` and `differs: SIDE, REASON`, and returns what the line says about `side`. `None` for other lines.
pub(super) fn header(line: &str, side: Side) -> Result<Option<Standing>, String> {
    let Some((word @ ("through" | "differs"), rest)) = line.split_once(':') else { return Ok(None) };
    let (named, reason) = rest.split_once(',').unwrap_or((rest, ""));
    let named = Side::read(named.trim())?;
    let reason = reason.trim().to_owned();
    if reason.is_empty() {
        return Err(format!("no reason: `{word}: {named}, REASON`"));
    }
    Ok(Some(match word {
        "through" if named != side => Standing::Elsewhere(reason),
        "differs" if named == side => Standing::Differs(reason),
        _ => Standing::Kept,
    }))
}

/// The line without its `[SIDE]` prefix; `None` if it names the other side.
pub(super) fn only(line: &str, side: Side) -> Result<Option<&str>, String> {
    match line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((named, rest)) => Ok((Side::read(named)? == side).then_some(rest)),
        None => Ok(Some(line)),
    }
}
