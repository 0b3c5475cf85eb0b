//! The user's own classification of a tool argument, if Rootward guesses wrong: `TOOL.ARGUMENT=text`, on the command
//! line or in the settings file.

use std::fmt;
use std::str::FromStr;

/// One `TOOL.ARGUMENT=WORD`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Treat {
    /// `TOOL.ARGUMENT`. Names of tools and arguments may contain dots, so it is not split here.
    pub(crate) place: String,
    pub(crate) treated_as: TreatedAs,
}

/// What an argument is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TreatedAs {
    /// Text, no matter what it looks like.
    Text,
    /// A path that is read.
    Read,
    /// A path that is read and written.
    Write,
}

impl TreatedAs {
    const ALL: [TreatedAs; 3] = [TreatedAs::Text, TreatedAs::Read, TreatedAs::Write];

    fn word(self) -> &'static str {
        match self {
            TreatedAs::Text => "text",
            TreatedAs::Read => "read",
            TreatedAs::Write => "write",
        }
    }
}

impl FromStr for Treat {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Treat, &'static str> {
        let treat = || {
            let (place, word) = text.rsplit_once('=')?;
            let treated_as = TreatedAs::ALL.into_iter().find(|known| known.word() == word)?;
            let (tool, argument) = place.split_once('.')?;
            let is_whole = !tool.is_empty() && !argument.is_empty() && !place.ends_with('.');
            is_whole.then(|| Treat { place: place.to_owned(), treated_as })
        };
        treat().ok_or("expected `TOOL.ARGUMENT=text`, `=read` or `=write`")
    }
}

impl fmt::Display for Treat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.place, self.treated_as.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_words() {
        let check = |text: &str, place: &str, treated_as: TreatedAs| {
            let treat = Treat::from_str(text).unwrap();
            assert_eq!((treat.place.as_str(), treat.treated_as), (place, treated_as), "{text}");
            assert_eq!(treat.to_string(), text);
        };
        check("search.root=text", "search.root", TreatedAs::Text);
        check("git.log.repo.path=read", "git.log.repo.path", TreatedAs::Read);
        check("a.b=c=write", "a.b=c", TreatedAs::Write);
        for text in ["", "a", "a.b", "a=text", ".b=text", "a.=text", "a.b=fly", "a.b=Text", "a.b=text "] {
            assert!(Treat::from_str(text).is_err(), "{text}");
        }
    }
}
