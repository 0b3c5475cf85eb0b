//! The picker for terminals that can only print lines: a numbered list, and a line of numbers as the answer.

use std::io::{self, Write};

use anyhow::{Context, Result};
use rootward_client::choose::{Choices, Mark};
use rootward_client::store::access;

use super::change::{self, Placed};
use super::drawing::tells;
use super::picker::Picker;
use super::screen::forget_what_was_typed;
use crate::message;
use crate::roots::desk::Desk;

const HINT: &str = "type numbers to mark (`1 3:ro 5:rwx`) or unmark (`-2`), or press Enter to quit: ";

/// Asks until there is a valid change; `None` if the answer is empty.
pub(super) fn choose(picker: &mut Picker, desk: &Desk) -> Result<Option<Placed>> {
    list(picker);
    loop {
        let mut stderr = io::stderr().lock();
        write!(stderr, "{HINT}")?;
        stderr.flush()?;
        drop(stderr);
        let mut typed = String::new();
        io::stdin().read_line(&mut typed).context("the answer cannot be read")?;
        if typed.trim().is_empty() {
            return Ok(None);
        }
        // If one part is not understood, do none of it.
        let mut choices = picker.choices.clone();
        let done = mark(&typed, &mut choices).and_then(|()| {
            if choices.difference().is_empty() {
                return Err("that changes nothing".to_owned());
            }
            change::place_ambient(&mut choices, desk)
        });
        match done {
            Ok(placed) => {
                picker.choices = choices;
                forget_what_was_typed();
                return Ok(Some(placed));
            }
            Err(says) => message::line(&says),
        }
    }
}

fn list(picker: &Picker) {
    let digits = picker.words.len().to_string().len();
    for (at, (choice, words)) in picker.choices.list().iter().zip(&picker.words).enumerate() {
        let mark = match choice.mark() {
            _ if choice.obstacle().is_some() => " - ",
            Mark::Chosen => "[x]",
            Mark::Left => "[ ]",
        };
        let number = at + 1;
        message::line(&format!("{number:>digits$} {mark} {}  {}  {}", words.name, words.path, tells(choice, words)));
    }
}

/// Applies a line of numbers.
fn mark(typed: &str, choices: &mut Choices) -> Result<(), String> {
    for word in typed.split([' ', '\t', ',', '\n', '\r']).filter(|word| !word.is_empty()) {
        let unclear = || format!("not a number from the list: `{}`", rootward_core::Shown::new(word));
        let (number, wanted) = match word.split_once(':') {
            Some((number, wanted)) => {
                (number, Some(access(wanted).filter(|access| !access.is_empty()).ok_or_else(unclear)?))
            }
            None => (word, None),
        };
        let (number, to) = match number.strip_prefix('-') {
            Some(number) if wanted.is_none() => (number, Mark::Left),
            _ => (number, Mark::Chosen),
        };
        let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1)).ok_or_else(unclear)?;
        let now = choices.list().get(at).ok_or_else(unclear)?.mark();
        let done = match wanted {
            Some(access) => choices.grant(at, access),
            None if now == to => Ok(()),
            None => choices.toggle(at),
        };
        done.map_err(|unchosen| format!("{number}: {unchosen}"))?;
    }
    Ok(())
}
