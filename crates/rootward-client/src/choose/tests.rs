//! The list and its results, without a terminal.

use std::io;
use std::time::SystemTime;

use proptest::prelude::*;
use rootward_audit::AuditLines;

use super::*;
use crate::detect::{Certainty, Kind, Presence, Reason};
use crate::store::{Record, Store, StoreError};

fn suggestion(path: &str, name: Option<&str>) -> Suggestion {
    let reason = Reason {
        kind: Kind::GitRepository,
        file: ".git".to_owned(),
        why: "git repository".to_owned(),
        certainty: Certainty::Certain,
    };
    Suggestion {
        uri: None,
        path: path.into(),
        name: name.map(str::to_owned),
        reasons: vec![reason],
        certainty: Certainty::Certain,
        presence: Presence::Seen,
        within: None,
    }
}

fn saved(path: &str, access: Access, names: &[&str]) -> SavedRoot {
    let audience = Audience::of(names.iter().map(|name| (*name).to_owned()));
    SavedRoot { audience, ..SavedRoot::new(path, access) }
}

fn choices(found: &[&str], kept: &[SavedRoot], names: &[&str]) -> Choices {
    let found = found.iter().map(|path| suggestion(path, None)).collect();
    let audience = Audience::of(names.iter().map(|name| (*name).to_owned()));
    Choices::new(found, Kept::from(kept.to_vec()), &audience, |path| {
        path.starts_with("/etc").then(|| "of the system".to_owned())
    })
}

/// Each line as path, mark, depth, and whether it is saved and found.
fn lines(choices: &Choices) -> Vec<String> {
    let line = |choice: &Choice| {
        let mark = if choice.mark() == Mark::Chosen { "x" } else { " " };
        let saved = if choice.before().is_some() { " saved" } else { "" };
        let found = if choice.found().is_some() { " found" } else { "" };
        let peers = choice.root().audience.names().map(|names| format!(" for {}", names.join(","))).unwrap_or_default();
        format!("[{mark}] {}{}{peers}{saved}{found}", "  ".repeat(choice.depth()), choice.root().path.display())
    };
    choices.list().iter().map(line).collect()
}

#[test]
fn found_and_saved_roots_form_one_list() {
    let kept = [saved("/s/b", Access::READ, &[]), saved("/n", Access::ALL, &[]), saved("/s/a", Access::READ, &["git"])];
    let found = ["/s/a", "/s/a/x", "/s/a/x/y", "/s/ab", "/s/b"];
    let expect = [
        "[x] /n saved",
        "[x] /s/a for git saved",
        "[ ] /s/a found",
        "[ ]   /s/a/x found",
        "[ ]     /s/a/x/y found",
        "[ ] /s/ab found",
        "[x] /s/b saved found",
    ];
    assert_eq!(lines(&choices(&found, &kept, &[])), expect);
    // If the choice is for a peer that the root is saved for, both are one line.
    assert_eq!(lines(&choices(&["/s/a"], &kept[2..], &["git", "x"])), ["[x] /s/a for git saved found"]);
}

#[test]
fn only_saved_roots_are_preselected() {
    let choices = choices(&["/a", "/b"], &[saved("/b", Access::READ, &[])], &[]);
    let chosen: Vec<_> = choices.list().iter().filter(|choice| choice.mark() == Mark::Chosen).collect();
    assert!(chosen.len() == 1 && chosen[0].before() == Some(Access::READ));
    assert!(choices.difference().is_empty());
    assert_eq!(choices.result(), *choices.kept());
}

#[test]
fn unshareable_directories_cannot_be_chosen() {
    let mut choices = choices(&["/a", "/etc/x"], &[], &[]);
    let refused = Err(Unchosen::Obstacle("of the system".to_owned()));
    assert_eq!(choices.toggle(1), refused);
    assert_eq!(choices.grant(1, Access::READ), refused);
    assert_eq!(choices.toggle(2), Err(Unchosen::Nothing));
    choices.toggle(0).unwrap();
    choices.refuse(0, "gone".to_owned());
    assert!(choices.difference().is_empty() && choices.toggle(0).is_err());
}

#[test]
fn a_path_that_the_user_adds_is_inserted_in_order() {
    let mut choices = choices(&["/s/a", "/s/a/x", "/etc/x"], &[saved("/n", Access::READ, &[])], &[]);
    assert_eq!(choices.add(saved("/s", Access::READ, &[])), Ok(2));
    assert_eq!(choices.add(saved("/s/a/x", Access::READ, &[])), Ok(4));
    // A saved root keeps its access, and one that cannot be shared stays disabled.
    assert_eq!(choices.add(saved("/n", Access::ALL, &[])), Ok(1));
    assert_eq!(choices.add(saved("/etc/x", Access::READ, &[])), Err(Unchosen::Obstacle("of the system".to_owned())));
    let expect = ["[ ] /etc/x found", "[x] /n saved", "[x] /s", "[ ]   /s/a found", "[x]     /s/a/x found"];
    assert_eq!(lines(&choices), expect);
    let added = [&saved("/s", Access::READ, &[]), &saved("/s/a/x", Access::READ, &[])];
    assert_eq!(choices.difference().added, added);
}

#[test]
fn directories_that_were_not_seen_come_last() {
    let mut elsewhere = suggestion("/a", None);
    elsewhere.presence = Presence::OnlyNamed;
    let choices =
        Choices::new(vec![elsewhere, suggestion("/b", None)], Kept::default(), &Audience::All, |_: &Path| None);
    assert_eq!(lines(&choices), ["[ ] /b found", "[ ] /a found"]);
}

#[test]
fn usable_project_names_are_taken() {
    let check = |name: &str, expect: Option<&str>| {
        let choices =
            Choices::new(vec![suggestion("/a", Some(name))], Kept::default(), &Audience::All, |_: &Path| None);
        assert_eq!(choices.list()[0].root().name.as_deref(), expect, "{name:?}");
    };
    check("@me/site", Some("@me/site"));
    check("a\u{202e}b", None);
    check("/home/me/other", None);
    check("~/other", None);
    check("../other", None);
    check("file:///other", None);
}

#[test]
fn a_name_that_was_edited_is_saved() {
    let kept = [saved("/a", Access::READ, &[])];
    let mut choices = choices(&["/b"], &kept, &[]);
    assert!(matches!(choices.rename(0, ""), Err(Unchosen::Name(_))));
    choices.rename(0, "notes").unwrap();
    choices.rename(1, "app").unwrap();
    let renamed: Vec<_> = choices.difference().renamed.iter().map(|(was, root)| (*was, root.name.as_deref())).collect();
    assert_eq!(renamed, [(None, Some("notes"))]);
    let store = tempfile::tempdir().unwrap();
    let store = Store::new(store.path().join("roots.toml"), None);
    let names: Vec<_> = stored(&store, &kept, &choices).unwrap().roots.into_iter().map(|root| root.name).collect();
    assert_eq!(names, [Some("notes".to_owned()), Some("app".to_owned())]);
}

#[test]
fn what_a_choice_changes() {
    let kept = [
        saved("/a", Access::READ, &[]),
        saved("/b", Access::READ, &[]),
        saved("/c", Access::ALL, &[]),
        saved("/d", Access::READ, &[]),
    ];
    let mut choices = choices(&["/e", "/f"], &kept, &[]);
    choices.grant(0, Access::READ_WRITE).unwrap();
    choices.grant(1, Access::ALL).unwrap();
    choices.toggle(1).unwrap();
    choices.grant(2, Access::READ).unwrap();
    choices.toggle(3).unwrap();
    choices.toggle(3).unwrap();
    choices.grant(4, Access::READ).unwrap();
    let difference = choices.difference();
    assert_eq!(difference.added, [&saved("/e", Access::READ, &[])]);
    let granted =
        [(Access::READ, &saved("/a", Access::READ_WRITE, &[])), (Access::ALL, &saved("/c", Access::READ, &[]))];
    assert_eq!(difference.granted, granted);
    assert_eq!(difference.removed, [&saved("/b", Access::READ, &[])]);
    let store = tempfile::tempdir().unwrap();
    let store = Store::new(store.path().join("roots.toml"), None);
    let after = stored(&store, &kept, &choices).unwrap();
    let by = |path: &str| {
        let root = after.roots.iter().find(|root| root.path == Path::new(path)).unwrap();
        root.given.as_ref().map(|given| given.by.clone())
    };
    // Consent is recorded for new roots and for more access.
    let expect = [Some("picker".to_owned()), None, None, Some("picker".to_owned())];
    assert_eq!([by("/a"), by("/c"), by("/d"), by("/e")], expect);
}

/// Saves the roots in a store, and then applies the choice.
fn stored(store: &Store, kept: &[SavedRoot], choices: &Choices) -> Result<Kept, StoreError> {
    let log = AuditLines::new(io::sink());
    let record = Record { audit: &log, requester: "picker", time: SystemTime::UNIX_EPOCH };
    store.edit_ambient(&record, |document| {
        for root in kept {
            document.add(root);
        }
        Ok::<_, StoreError>(())
    })?;
    store.edit_ambient(&record, |document| {
        choices.save(document, &record).unwrap();
        Ok::<_, StoreError>(())
    })?;
    store.load_ambient()
}

#[test]
fn a_store_that_changed_meanwhile_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().join("roots.toml"), None);
    let log = AuditLines::new(io::sink());
    let record = Record { audit: &log, requester: "picker", time: SystemTime::UNIX_EPOCH };
    let mut choices = choices(&["/a"], &[], &[]);
    choices.toggle(0).unwrap();
    let said = store.edit_ambient(&record, |document| {
        document.add(&saved("/other", Access::READ, &[]));
        Ok::<_, StoreError>(choices.save(document, &record))
    });
    assert_eq!(said.unwrap(), Err(ChangedMeanwhile));
    assert_eq!(store.load_ambient().unwrap().roots, [saved("/other", Access::READ, &[])]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any sequence of marking and unmarking, the store ends up as shown.
    #[test]
    fn what_is_shown_is_what_is_saved(
        kept in prop::collection::btree_set((0..6_u8, any::<bool>()), 0..6),
        found in prop::collection::btree_set(0..8_u8, 0..8),
        keys in prop::collection::vec((0..14_usize, 0..4_usize), 0..24),
    ) {
        let kept: Vec<SavedRoot> = kept
            .iter()
            .map(|(path, named)| saved(&format!("/p/{path}"), Access::READ, if *named { &["git"] } else { &[] }))
            .collect();
        let found: Vec<String> = found.iter().map(|path| format!("/p/{path}")).collect();
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        let mut choices = choices(&found, &kept, &[]);
        for (at, what) in keys {
            let _ = match what {
                0 => choices.toggle(at),
                1 => choices.grant(at, Access::READ),
                2 => choices.grant(at, Access::READ_WRITE),
                _ => choices.grant(at, Access::ALL),
            };
        }
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().join("roots.toml"), None);
        let mut after = stored(&store, &kept, &choices).unwrap();
        after.roots.iter_mut().for_each(|root| root.given = None);
        prop_assert_eq!(&after, &choices.result());
        let difference = choices.difference();
        prop_assert_eq!(difference.is_empty(), after.roots == kept);
        prop_assert_eq!(kept.len() + difference.added.len(), after.roots.len() + difference.removed.len());
    }
}
