//! The text about each choice, and which choices are disabled.

use std::path::Path;

use rootward_client::choose::{Choice, Choices};
use rootward_client::store::{Audience, Kept};
use rootward_client::watch::State;
use rootward_core::{Origin, Resolver, Shown, Validation, spellings_ambient};

use super::picker::Words;
use crate::roots::desk::Desk;
use crate::roots::detect::lines;
use crate::roots::shown;

/// Why a place cannot be chosen: what `roots add` refuses without `--force`, as far as its path tells.
pub(super) fn obstacle_ambient(desk: &Desk) -> impl Fn(&Path) -> Option<String> {
    let home = desk.ground.directories.home.clone();
    // A home that is reached through a link is still the user's own.
    let homes = home.as_ref().and_then(|home| spellings_ambient(home, Resolver::detect()).ok()).unwrap_or_default();
    let validation = homes.into_iter().fold(Validation::new(home), Validation::with_home);
    move |path| {
        if path.to_str().is_none() {
            return Some("its path is not UTF-8 and cannot be saved".to_owned());
        }
        if desk.ground.is_in_own(path) {
            return Some("Rootward's own settings, saved roots and audit log are never shared".to_owned());
        }
        validation.judge(Origin::Store, path).err().map(|reason| reason.to_string())
    }
}

/// The text about a typed root.
pub(super) fn of_typed(choice: &Choice, desk: &Desk) -> Words {
    let root = choice.root();
    let name = Shown::new(&root.root().title()).to_string();
    Words { name, path: desk.shown(&root.path), why: "added by its path".to_owned(), peers: None, trouble: None }
}

/// The text about each choice. Only saved roots are looked up on disk.
pub(super) fn of_ambient(choices: &Choices, audience: &Audience, desk: &Desk) -> Vec<Words> {
    choices.list().iter().map(|choice| one_ambient(choice, choices.kept(), audience, desk)).collect()
}

fn one_ambient(choice: &Choice, kept: &Kept, audience: &Audience, desk: &Desk) -> Words {
    let root = choice.root();
    let [found_name, path, why] = match choice.found() {
        Some(found) => lines::line(found, desk.ground.home()),
        None => [String::new(), desk.shown(&root.path), String::new()],
    };
    // The user chose the name that it was saved with.
    let saved_name = root.name.as_ref().filter(|_| choice.before().is_some());
    let last_name = || root.path.file_name().map_or_else(|| path.clone(), |name| Shown::new(name).to_string());
    let name = match saved_name {
        Some(name) => Shown::new(name).to_string(),
        None if found_name.is_empty() => last_name(),
        None => found_name,
    };
    let peers = (root.audience != *audience).then(|| shown::audience(&root.audience));
    let looked = choice.before().map(|_| State::look_ambient(root, kept, desk.ground.home()));
    let trouble = looked.and_then(|state| state.reason().map(ToString::to_string));
    let why = match root.pattern {
        Some(_) => "a pattern: also shares directories created later".to_owned(),
        None => why,
    };
    Words { name, path, why, peers, trouble }
}
