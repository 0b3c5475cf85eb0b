//! Tests of the machine, written as small scripts.
//!
//! A line is `TIME EVENT => EFFECTS | STANDING`: the time in milliseconds, the event, the expected effects, and the
//! standing of a call that arrives then (for `needed@TIME`, of a call that arrived at that time). Words that begin with
//! `/` are directories; `/…=N` means that the directory there has inode N; words that begin with `!` are refused roots.

mod asking;
mod states;

use std::time::Duration;

use crate::access::Access;
use crate::root::{FileId, Origin, PlacedRoot};
use crate::set::examples::{directory, refused};
use crate::set::{RootSet, WhyRefused};

use super::*;

fn time(text: &str) -> Duration {
    Duration::from_millis(text.parse().unwrap_or_else(|_| unreachable!("a time: `{text}`")))
}

fn set<'a>(words: impl IntoIterator<Item = &'a str>, origin: Origin) -> RootSet {
    let (gone, there): (Vec<_>, Vec<_>) = words.into_iter().partition(|word| word.starts_with('!'));
    let place = |word: &str| -> PlacedRoot {
        let (place, inode) = word.split_once('=').unwrap_or((word, "0"));
        let inode = inode.parse().unwrap_or_else(|_| unreachable!("a number: `{word}`"));
        PlacedRoot { id: FileId { device: 1, inode, born: None }, ..directory(place, Access::READ_WRITE, origin) }
    };
    RootSet::new(there.into_iter().map(place), gone.into_iter().map(|word| refused(word, WhyRefused::Missing)))
}

/// Parses `ceiling=/a saved=/b fallback=/c`, with commas between places.
fn sources(text: &str) -> Sources {
    let named = |name: &str, origin| {
        let words = text.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        set(words.into_iter().flat_map(|places| places.split(',')), origin)
    };
    Sources {
        ceiling: named("ceiling", Origin::Flag),
        saved: named("saved", Origin::Store),
        fallback: named("fallback", Origin::Fallback),
        bound: None,
    }
}

fn event(now: Duration, text: &str) -> (Duration, Event) {
    let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut words = rest.split(' ').filter(|word| !word.is_empty());
    let mut request = || RequestNumber(words.next().and_then(|word| word.parse().ok()).unwrap_or(0));
    let event = match verb {
        "needed" => Event::Needed { arrived: now },
        "changed" => Event::ListChanged,
        "named" => Event::Named { request: request() },
        "answer" => Event::Answered { request: request(), roots: set(words, Origin::Client) },
        "look" => Event::LookedAgain { request: request(), roots: set(words, Origin::Client) },
        "error" => Event::Failed { request: request(), reason: "-32601".to_owned() },
        "invalidate" => Event::Invalidate,
        "sources" => Event::SourcesChanged(sources(rest)),
        "closed" => Event::RestrictionsChanged,
        "tick" => Event::Tick,
        _ => match verb.strip_prefix("needed@") {
            Some(arrived) => return (time(arrived), Event::Needed { arrived: time(arrived) }),
            None => unreachable!("an event: `{text}`"),
        },
    };
    (now, event)
}

fn show_effect(effect: &Effect) -> String {
    match effect {
        Effect::Ask { request } => format!("ask {}", request.get()),
        Effect::Cancel { request } => format!("cancel {}", request.get()),
        Effect::Changed { generation } => format!("roots {generation}"),
        Effect::Settled => "settled".to_owned(),
        Effect::WakeAt(at) => format!("wake {}", at.as_millis()),
    }
}

fn show_standing(standing: Standing<'_>) -> String {
    match standing {
        Standing::Wait { .. } => "wait".to_owned(),
        Standing::Overdue => "overdue".to_owned(),
        Standing::Proceed(current) => {
            let places = current.roots.roots().iter().map(|root| root.place.to_string_lossy().into_owned());
            let places: Vec<String> = places.collect();
            let places = match (current.reach, places.is_empty()) {
                (Reach::AllowAll, _) => "everything".to_owned(),
                (Reach::Roots, true) => "nothing".to_owned(),
                (Reach::Roots, false) => places.join(" "),
            };
            format!("{} {places} {:?}", current.state, current.why)
        }
    }
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn play(policy: Policy, support: Support, named: &str, script: &str) {
    let mut session = SessionRoots::new(policy, sources(named), support);
    for line in script.lines().map(words).filter(|line| !line.is_empty()) {
        let heading = line.split(" => ").next().unwrap_or_default();
        let (at, what) = heading.split_once(' ').unwrap_or((heading, ""));
        let (arrived, event) = event(time(at), what);
        let effects = session.handle(time(at), event);
        let effects = effects.iter().map(show_effect).collect::<Vec<_>>().join(", ");
        let effects = if effects.is_empty() { "-" } else { &effects };
        let standing = show_standing(session.standing(arrived, time(at)));
        assert_eq!(format!("{heading} => {effects} | {standing}"), line, "in\n{script}");
    }
}

/// Default settings, with a client that announces changes.
fn check(named: &str, script: &str) {
    play(Policy::default(), Support::Announced, named, script);
}

fn following(follow: Follow) -> Policy {
    Policy { follow, ..Policy::default() }
}

fn allow_all() -> Policy {
    Policy { no_roots: NoRoots::AllowAll, ..Policy::default() }
}
