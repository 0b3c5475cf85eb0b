//! The recipes, as `doctor` shows them.

use std::io::{self, Write};

use rootward_core::Shown;
use serde::Serialize;

use super::report::row;
use crate::answer::text;
use crate::ground::Ground;
use crate::message::told;
use crate::recipes;

#[derive(Debug, Default, Serialize)]
pub(super) struct Recipes {
    /// The directory of the user's own recipes.
    directory: Option<String>,
    /// The number of recipes that Rootward ships.
    shipped: usize,
    /// The names of the user's own recipes.
    own: Vec<String>,
    /// Why the user's own recipes cannot be read; `wrap` starts nothing then.
    #[serde(skip_serializing_if = "Option::is_none")]
    mistake: Option<String>,
}

impl Recipes {
    pub(super) fn look_ambient(ground: &Ground) -> Recipes {
        let directory = recipes::directory(ground).map(|directory| text(directory.as_os_str()).into_owned());
        match recipes::book_ambient(ground) {
            Ok(book) => {
                let (own, shipped): (Vec<_>, Vec<_>) = book.all().into_iter().partition(|(_, file)| file.is_some());
                let own = own.into_iter().map(|(recipe, _)| recipe.name).collect();
                Recipes { directory, shipped: shipped.len(), own, mistake: None }
            }
            Err(error) => Recipes { directory, mistake: Some(told(&error)), ..Recipes::default() },
        }
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(directory) = &self.directory else { return Ok(()) };
        writeln!(out, "\nrecipes")?;
        row(out, "your own", &Shown::new(directory))?;
        if let Some(mistake) = &self.mistake {
            return row(out, "mistake", mistake);
        }
        let own = if self.own.is_empty() { String::new() } else { format!(", your own: {}", self.own.join(", ")) };
        row(out, "known servers", &format_args!("{} shipped{own}; `rootward recipe` lists all", self.shipped))
    }

    pub(super) fn is_whole(&self) -> bool {
        self.mistake.is_none()
    }
}
