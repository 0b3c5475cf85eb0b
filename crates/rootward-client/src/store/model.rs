//! The store against a plain list: for any sequence of edits, file and list agree, and comments stay.

#![expect(clippy::disallowed_methods, reason = "the test reads the file")]

use std::fmt::Write;
use std::fs;
use std::time::SystemTime;

use proptest::prelude::*;
use rootward_audit::AuditLines;
use rootward_core::Access;

use super::*;

const NAMES: [&str; 4] = ["app", "käse \"x\"", "it's", "a\\b"];
const PEERS: [&str; 3] = ["git", "editor", "an other"];
const ACCESS: [&str; 5] = ["ro", "rw", "rw-nodelete", "rwx", "read, execute"];

#[derive(Clone, Debug)]
enum Step {
    Add(u8, usize, Vec<usize>),
    Remove(usize),
    Rename(usize, Option<usize>),
    Grant(usize, usize),
    Restrict(usize, u8),
    ShareWith(usize, Vec<usize>),
    Withdraw(u8, Option<usize>),
}

fn step() -> impl Strategy<Value = Step> {
    let peers = || prop::collection::vec(0..PEERS.len(), 0..3);
    let at = 0..6_usize;
    prop_oneof![
        3 => (0..5_u8, 0..ACCESS.len(), peers()).prop_map(|(path, access, peers)| Step::Add(path, access, peers)),
        1 => at.clone().prop_map(Step::Remove),
        1 => (at.clone(), prop::option::of(0..NAMES.len())).prop_map(|(at, name)| Step::Rename(at, name)),
        1 => (at.clone(), 0..ACCESS.len()).prop_map(|(at, access)| Step::Grant(at, access)),
        1 => (at.clone(), 0..3_u8).prop_map(|(at, count)| Step::Restrict(at, count)),
        1 => (at, peers()).prop_map(|(at, peers)| Step::ShareWith(at, peers)),
        1 => (0..5_u8, prop::option::of(0..PEERS.len())).prop_map(|(path, peer)| Step::Withdraw(path, peer)),
    ]
}

fn path(number: u8) -> PathBuf {
    format!("/p/{number} ü\"'").into()
}

fn audience(peers: &[usize]) -> Audience {
    Audience::of(peers.iter().map(|peer| PEERS[*peer].to_owned()))
}

fn patterns(count: u8) -> Vec<Restrict> {
    let closed = [rootward_core::Closed::Entirely, rootward_core::Closed::ForWriting];
    let restrict = |number: u8| Restrict { pattern: format!("*.{number}"), closed: closed[usize::from(number % 2)] };
    (0..count).map(restrict).collect()
}

/// The list: what the same step does to plain values.
fn apply(list: &mut Vec<SavedRoot>, step: &Step) {
    match step {
        Step::Add(number, access, peers) => {
            let access = super::access(ACCESS[*access]).unwrap();
            list.push(SavedRoot { audience: audience(peers), ..SavedRoot::new(path(*number), access) });
        }
        Step::Remove(at) if *at < list.len() => drop(list.remove(*at)),
        Step::Rename(at, name) if *at < list.len() => list[*at].name = name.map(|name| NAMES[name].to_owned()),
        Step::Grant(at, access) if *at < list.len() => list[*at].access = super::access(ACCESS[*access]).unwrap(),
        Step::Restrict(at, count) if *at < list.len() => list[*at].restrict = patterns(*count),
        Step::ShareWith(at, peers) if *at < list.len() => list[*at].audience = audience(peers),
        Step::Withdraw(number, None) => {
            list.retain(|root| root.path != path(*number) || root.audience != Audience::All);
        }
        Step::Withdraw(number, Some(peer)) => {
            let for_all =
                list.iter().find(|root| root.path == path(*number) && root.audience == Audience::All).cloned();
            // An entry without access for the peer stays; of several, the last one.
            let nothing = |root: &SavedRoot| root.access.is_empty() && root.audience == audience(&[*peer]);
            let at_path = |root: &SavedRoot| root.path == path(*number);
            let stays = list.iter().rposition(|root| for_all.is_some() && at_path(root) && nothing(root));
            for (at, root) in list.iter_mut().enumerate().filter(|(_, root)| root.path == path(*number)) {
                if stays == Some(at) {
                    continue;
                }
                if let Audience::Only(names) = &mut root.audience {
                    names.retain(|name| name != PEERS[*peer]);
                }
            }
            list.retain(|root| root.path != path(*number) || root.audience != Audience::Only(Vec::new()));
            let for_all = for_all.filter(|_| stays.is_none());
            list.extend(for_all.map(|root| SavedRoot { access: Access::NONE, audience: audience(&[*peer]), ..root }));
        }
        _ => {}
    }
}

/// The file: the same step through the document.
fn edit(document: &mut Document, step: &Step) {
    match step {
        Step::Add(number, access, peers) => {
            let access = super::access(ACCESS[*access]).unwrap();
            document.add(&SavedRoot { audience: audience(peers), ..SavedRoot::new(path(*number), access) });
        }
        Step::Remove(at) => document.remove(*at),
        Step::Rename(at, name) => document.rename(*at, name.map(|name| NAMES[name])),
        Step::Grant(at, access) => document.grant(*at, super::access(ACCESS[*access]).unwrap()),
        Step::Restrict(at, count) => document.restrict(*at, &patterns(*count)),
        Step::ShareWith(at, peers) => document.share_with(*at, &audience(peers)),
        Step::Withdraw(number, peer) => {
            crate::consent::withdraw(document, &path(*number), peer.map(|peer| PEERS[peer]));
        }
    }
}

/// A file as somebody wrote it, with a comment of every kind.
fn by_hand(roots: u8) -> String {
    let mut text = "# Top.\nversion = 1 # One.\n".to_owned();
    for number in 0..roots {
        write!(text, "\n# Loose {number}.\n\n# Of {number}.\n[[root]]\npath = '/hand/{number}' # At {number}.\n")
            .unwrap();
    }
    text + "\n# End.\n"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn file_and_list_agree(hand in 0..3_u8, steps in prop::collection::vec(step(), 0..24)) {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().join("roots.toml"), None);
        fs::write(store.file(), by_hand(hand)).unwrap();
        let log = AuditLines::new(io::sink());
        let record = Record { audit: &log, requester: "model", time: SystemTime::UNIX_EPOCH };
        let mut list: Vec<SavedRoot> = Vec::new();
        for number in 0..hand {
            list.push(SavedRoot::new(format!("/hand/{number}"), Access::READ_WRITE));
        }
        let (mut current, _) = Current::begin_ambient(store.clone());
        for step in &steps {
            apply(&mut list, step);
            let change = |document: &mut Document| {
                edit(document, step);
                Ok::<_, StoreError>(())
            };
            store.edit_ambient(&record, change).unwrap();
            prop_assert_eq!(&store.load_ambient().unwrap().roots, &list);
            current.refresh_ambient().unwrap();
            prop_assert_eq!(&current.kept().unwrap().roots, &list);
            let text = fs::read_to_string(store.file()).unwrap();
            let mut comments = vec!["# Top.".to_owned(), "# One.".to_owned(), "# End.".to_owned()];
            for number in 0..hand {
                comments.push(format!("# Loose {number}."));
                if list.iter().any(|root| root.path == Path::new(&format!("/hand/{number}"))) {
                    comments.extend([format!("# Of {number}."), format!("# At {number}.")]);
                }
            }
            for comment in comments {
                prop_assert!(text.matches(&comment).count() == 1, "{comment} in {text}");
            }
        }
    }
}
