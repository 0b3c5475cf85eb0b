//! `rootward recipe`: what known servers get.

use std::io::{self, Write};

use anyhow::Result;
use clap::Args;
use rootward_core::Shown;
use rootward_hub::recipe::{Book, Recipe};
use serde_json::{Value, json};

use crate::Outcome;
use crate::ground::Ground;
use crate::message::Hinted;
use crate::recipes;

/// Show what a known server gets
///
/// A recipe says what a server needs to work confined: variables, places, a home, and which arguments are paths.
/// `rootward wrap` uses it if the command clearly names the server. Your own recipes are `*.toml` files in `recipes`
/// in Rootward's settings directory; one with the name of a shipped recipe replaces it.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RecipeCommand {
    /// A recipe or a package; without it, all recipes are listed
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Exit codes: 0 done, 1 no such recipe, 2 wrong use or failure";

impl RecipeCommand {
    pub(crate) fn run(self) -> Result<Outcome> {
        let ground = Ground::load_ambient()?;
        let book = recipes::book_ambient(&ground)?;
        let mut out = io::stdout().lock();
        let Some(name) = &self.name else {
            list(&book, self.json, &mut out)?;
            return Ok(Outcome::Done);
        };
        let all = book.all();
        let has_package = |recipe: &Recipe| recipe.packages.iter().any(|(_, package)| package == name);
        let found = all.iter().find(|(recipe, _)| recipe.name == *name || has_package(recipe));
        let Some((recipe, _)) = found else {
            let says = format!("there is no recipe `{}`", Shown::new(name));
            crate::message::failure(&Hinted { says, hint: "`rootward recipe` lists all".to_owned() }.into());
            return Ok(Outcome::Denied);
        };
        let text = book.text_ambient(&recipe.name).unwrap_or_default();
        if self.json {
            serde_json::to_writer_pretty(
                &mut out,
                &json!({"name": recipe.name, "recipe": toml::from_str::<Value>(&text)?}),
            )?;
            out.write_all(b"\n")?;
        } else {
            write!(out, "{text}")?;
        }
        Ok(Outcome::Done)
    }
}

fn list(book: &Book, json: bool, out: &mut impl Write) -> Result<()> {
    let all = book.all();
    if json {
        let rows: Vec<Value> = all
            .iter()
            .map(|(recipe, file)| {
                let packages: Vec<String> =
                    recipe.packages.iter().map(|(registry, name)| format!("{registry}:{name}")).collect();
                json!({
                    "name": recipe.name,
                    "about": recipe.about,
                    "packages": packages,
                    "programs": recipe.programs,
                    "file": file.map(|file| file.display().to_string()),
                })
            })
            .collect();
        serde_json::to_writer_pretty(&mut *out, &rows)?;
        out.write_all(b"\n")?;
        return Ok(());
    }
    let width = all.iter().map(|(recipe, _)| recipe.name.len()).max().unwrap_or_default();
    for (recipe, file) in &all {
        let own = if file.is_some() { " (your own)" } else { "" };
        let name = Shown::new(&recipe.name).to_string();
        writeln!(out, "{name:width$}  {}{own}", Shown::new(&recipe.about))?;
    }
    Ok(())
}
