//! `rootward roots pick`: choose on the terminal what is shared.

mod change;
mod drawing;
mod fit;
mod keys;
mod numbers;
mod picker;
mod screen;
#[cfg(test)]
mod tests;
mod words;

use std::ffi::OsStr;
use std::io::{self, IsTerminal};

use anyhow::{Context, Result, anyhow};
use clap::Args;
use rootward_client::choose::{ChangedMeanwhile, Choices};
use rootward_client::store::{Audience, usable_name};
use rootward_core::Shown;

use super::asking::{Answer, Scripted};
use super::desk::Desk;
use super::detect::Place;
use super::shown::{Done, tell};
use super::{add, detect, list};
use crate::Outcome;
use crate::message::{self, Hinted};
use picker::{Picker, Step};
use screen::{Event, Screen, Styles, forget_what_was_typed};

/// Choose on the terminal what is shared
///
/// Finds repositories, projects and workspaces as `roots detect` does, and lists them together with the saved roots.
/// What you mark and confirm is shared from now on; a saved root that you unmark is no longer shared. Only saved
/// roots are marked at first, and nothing changes until you confirm at the end. `a` adds a directory by its path;
/// `?` shows all keys.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Pick {
    #[command(flatten)]
    place: Place,
    /// Share new roots only with the client or server of this name (`--as` of `serve` and `wrap`); may be repeated
    #[arg(long = "for", value_name = "NAME")]
    peers: Vec<String>,
}

const AFTER_HELP: &str = "Exit codes: 0 done, 1 nothing was changed, 2 wrong use or failure";

/// The verb, as recorded in the audit log.
const VERB: &str = "pick";

impl Pick {
    pub(super) fn run(&self, desk: &Desk) -> Result<Outcome> {
        // SECURITY: only a person can choose; input from a pipe does not count
        // (test: without_a_terminal_nothing_is_picked)
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Err(Hinted {
                says: "this needs a terminal".to_owned(),
                hint: "`rootward roots detect` lists what could be shared, `rootward roots add DIR --yes` shares it"
                    .to_owned(),
            }
            .into());
        }
        for name in &self.peers {
            usable_name(name).map_err(|why| anyhow!("not a usable name: `{}` ({why})", Shown::new(name)))?;
        }
        let kept = desk.store.load_ambient()?;
        let detection = self.place.look(&desk.ground)?;
        detect::remarks(&detection, &self.place.limits(), &desk.ground);
        // With a screen, the user can still add a directory by its path.
        if detection.suggestions.is_empty() && kept.roots.is_empty() && !has_screen(desk) {
            return Ok(Outcome::Denied);
        }
        let is_part = !detection.bounds.is_empty() || !detection.unreadable.is_empty();
        let audience = Audience::of(self.peers.clone());
        let obstacle = words::obstacle_ambient(desk);
        let choices = Choices::new(detection.suggestions, kept, &audience, obstacle);
        let words = words::of_ambient(&choices, &audience, desk);
        let said = is_part.then(|| "the search was incomplete: there may be more".to_owned());
        let mut picker = Picker::new(choices, words, said);
        let chosen =
            if has_screen(desk) { self.on_screen(&mut picker, desk)? } else { numbers::choose(&mut picker, desk)? };
        let Some(placed) = chosen else { return Ok(nothing()) };
        let choices = picker.choices;
        let scripted = Scripted { yes: false, json: false };
        let about = change::lines(&choices, &placed, desk);
        if scripted.ask(&about, change::question(&choices.difference()))? == Answer::No {
            return Ok(nothing());
        }
        let saved = desk.edit_ambient(&scripted.requester(VERB), |document, record| {
            choices.save(document, record).map_err(anyhow::Error::from)
        });
        saved.map_err(|error| match error.downcast::<ChangedMeanwhile>() {
            Ok(changed) => Hinted {
                says: format!("{changed}, and nothing was changed here"),
                hint: "run `rootward roots pick` again to see what is saved by now".to_owned(),
            }
            .into(),
            Err(error) => error,
        })?;
        done(&choices, desk)
    }

    /// Lets the user choose until there is a valid change; `None` if nothing changes.
    fn on_screen(&self, picker: &mut Picker, desk: &Desk) -> Result<Option<change::Placed>> {
        let colour = desk.ground.environment.get("NO_COLOR").is_none_or(OsStr::is_empty);
        let styles = if colour { Styles::Used } else { Styles::Unused };
        let mut screen = Screen::take(styles).context("the terminal cannot be used")?;
        loop {
            let size = Screen::size();
            screen.show(&drawing::draw(picker, size));
            let key = loop {
                match screen.wait().context("the terminal cannot be read")? {
                    Event::Key(key) => break Some(key),
                    Event::Nothing if Screen::size() != size => break None,
                    Event::Nothing => {}
                    Event::Closed => return Ok(None),
                    Event::Ended => {
                        drop(screen);
                        return Err(anyhow!("ended by a signal; nothing was changed"));
                    }
                }
            };
            match key.map_or(Step::Stay, |key| picker.press(&key, drawing::rows(size))) {
                Step::Stay => {}
                Step::Leave => return Ok(None),
                Step::Add => match add::typed(picker.typed.trim(), &self.peers, desk) {
                    Ok(root) => picker.add(root, |choice| words::of_typed(choice, desk)),
                    Err(error) => picker.said = Some(in_short(&message::told(&error), picker.typed.trim())),
                },
                Step::Accept => match change::place_ambient(&mut picker.choices, desk) {
                    Ok(placed) => {
                        forget_what_was_typed();
                        return Ok(Some(placed));
                    }
                    Err(reason) => picker.said = Some(reason),
                },
            }
        }
    }
}

/// Why a typed path is refused, without the path: the line is short, and the path was just on it.
fn in_short(told: &str, typed: &str) -> String {
    let Some((_, reason)) = told.split_once(&format!("`{}` ", Shown::new(typed))) else { return told.to_owned() };
    match reason.strip_prefix('(').and_then(|reason| reason.strip_suffix(')')) {
        Some(reason) => format!("not usable: {reason}"),
        None => format!("it {reason}"),
    }
}

fn nothing() -> Outcome {
    message::line("nothing was changed");
    Outcome::Denied
}

/// Reports the result.
fn done(choices: &Choices, desk: &Desk) -> Result<Outcome> {
    let difference = choices.difference();
    let granted = difference.granted.iter().map(|(_, root)| *root);
    let renamed = difference.renamed.iter().map(|(_, root)| *root);
    let renamed = renamed.filter(|root| !difference.granted.iter().any(|(_, granted)| granted == root));
    tell(Done::Shared, &difference.added.iter().copied().cloned().collect::<Vec<_>>(), false, desk)?;
    tell(Done::Granted, &granted.cloned().collect::<Vec<_>>(), false, desk)?;
    tell(Done::Renamed, &renamed.cloned().collect::<Vec<_>>(), false, desk)?;
    tell(Done::Removed, &difference.removed.iter().copied().cloned().collect::<Vec<_>>(), false, desk)?;
    if let Some(instead) = list::instead(desk) {
        message::warning(&format!("the saved roots are not used: {instead}"));
    } else if !difference.added.is_empty() {
        message::hints(&["`rootward serve` without any arguments serves the saved roots".to_owned()]);
    }
    Ok(Outcome::Done)
}

/// Whether the terminal can do more than print lines.
fn has_screen(desk: &Desk) -> bool {
    desk.ground.environment.get("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}
