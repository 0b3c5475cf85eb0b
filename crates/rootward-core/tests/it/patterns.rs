//! Patterns in root definitions, on a real disk.

use std::fs;

use rootward_core::env::{Directories, Environment};
use rootward_core::{Access, Code, MOST_MATCHES, Origin, Root, RootError, RootSet, Validation, WhyRefused};

use crate::yard::Yard;

/// `src/one`, `src/two` and `src/.hidden` are directories, `src/file` is a file.
fn yard() -> Yard {
    let yard = Yard::new();
    for name in ["src/one/docs", "src/two/docs", "src/two/x", "src/.hidden"] {
        fs::create_dir_all(yard.path(name)).unwrap();
    }
    yard.file("src/file", "");
    yard
}

/// The places of a set below the yard, and the reasons for refused roots.
fn found(yard: &Yard, set: &RootSet) -> (Vec<String>, Vec<WhyRefused>) {
    let below = |place: &std::path::Path| place.strip_prefix(yard.path("")).unwrap().to_str().unwrap().to_owned();
    let places = set.roots().iter().map(|root| below(&root.place)).collect();
    (places, set.refused().iter().map(|refused| refused.reason.clone()).collect())
}

fn places(yard: &Yard, origin: Origin, roots: &[&str]) -> Vec<String> {
    found(yard, &yard.set(origin, roots)).0
}

#[test]
fn a_pattern_shares_the_directories_that_it_matches() {
    let yard = yard();
    for origin in [Origin::Flag, Origin::Env, Origin::Config, Origin::Store] {
        assert_eq!(places(&yard, origin, &["src/*"]), ["src/one", "src/two"], "{origin:?}");
    }
    let places = |root: &str| places(&yard, Origin::Flag, &[root]);
    assert_eq!(places("src/*/docs"), ["src/one/docs", "src/two/docs"]);
    assert_eq!(places("src/t*"), ["src/two"]);
    assert_eq!(places("src/*/x"), ["src/two/x"]);
    assert_eq!(places("src/*/*"), ["src/one/docs", "src/two/docs", "src/two/x"]);
    assert_eq!(places("src/.h*"), ["src/.hidden"]);
    let set = yard.set(Origin::Flag, &["src/*:ro"]);
    for root in set.roots() {
        assert_eq!((root.root.access, root.root.pattern()), (Access::READ, Some(&*yard.path("src/*"))));
    }
    let (kept, refused) = found(&yard, &yard.set(Origin::Flag, &["src/none*"]));
    assert_eq!((kept.len(), refused), (0, vec![WhyRefused::NoMatch]));
    assert!(yard.set(Origin::Flag, &["src/none*"]).names_any(), "it is still a ceiling");
    assert_eq!(found(&yard, &yard.set(Origin::Flag, &["gone/*"])).1, [WhyRefused::Missing]);
}

#[test]
fn a_client_has_no_patterns() {
    let yard = yard();
    let named = |uri: &str| Root::from_client(uri, None).unwrap();
    for uri in [format!("file://{}", yard.path("src/*").display()), yard.path("src/*").display().to_string()] {
        let set = RootSet::place_ambient([named(&uri)], &Validation::new(None));
        assert_eq!(found(&yard, &set), (vec![], vec![WhyRefused::Missing]), "{uri}");
    }
}

#[test]
fn a_directory_with_a_star_in_its_name_is_named_by_its_uri() {
    let yard = yard();
    fs::create_dir_all(yard.path("src/t*/in")).unwrap();
    assert_eq!(places(&yard, Origin::Flag, &["src/t*"]), ["src/t*", "src/two"]);
    for uri in ["src/t*", "src/t%2A"] {
        let uri = format!("file://{}", yard.path(uri).display());
        assert_eq!(places(&yard, Origin::Flag, &[&uri]), ["src/t*"], "{uri}");
    }
    // The base of a relative pattern is not a pattern.
    let root = Root::from_typed("i*".as_ref(), &yard.path("src/t*"), None, Origin::Flag).unwrap();
    let set = RootSet::place_ambient([root], &Validation::new(None));
    assert_eq!(found(&yard, &set).0, ["src/t*/in"]);
}

#[test]
fn two_stars_and_climbing_are_errors() {
    for text in ["/src/**", "~/src/**/docs", "/src/../*"] {
        let read = Root::from_typed(text.as_ref(), "/".as_ref(), Some("/home/me".as_ref()), Origin::Flag);
        assert!(matches!(read, Err(RootError::Pattern { .. })), "{text}");
    }
    let error = Root::from_typed("/src/**".as_ref(), "/".as_ref(), None, Origin::Flag).unwrap_err().to_string();
    assert!(error.starts_with("not a usable root: `/src/**` (`**` is not supported"), "{error}");
}

#[test]
fn a_pattern_matches_no_link() {
    let yard = yard();
    yard.link("src/link", "../outside");
    yard.link("src/one/way", "../../outside");
    assert_eq!(places(&yard, Origin::Flag, &["src/*"]), ["src/one", "src/two"]);
    assert!(places(&yard, Origin::Flag, &["src/*/way"]).is_empty());
    assert!(places(&yard, Origin::Flag, &["src/*/w*"]).is_empty());
    // The operator may name a link before the first wildcard; in a saved root it is refused.
    yard.link("way", "src");
    assert_eq!(places(&yard, Origin::Flag, &["way/*"]), ["src/one", "src/two"]);
    assert_eq!(found(&yard, &yard.set(Origin::Store, &["way/*"])).1, [WhyRefused::Linked]);
}

#[test]
fn matches_of_a_pattern_are_judged_like_a_clients_roots() {
    let yard = yard();
    fs::create_dir_all(yard.path("src/.ssh")).unwrap();
    let set = yard.set(Origin::Flag, &["src/.*"]);
    let (kept, refused) = found(&yard, &set);
    assert_eq!(kept, ["src/.hidden"]);
    assert!(matches!(&refused[..], [WhyRefused::NotShareable(_)]), "{refused:?}");
    assert_eq!(places(&yard, Origin::Flag, &["src/.ssh"]), ["src/.ssh"], "the operator may share it by name");
    let system = yard.set(Origin::Flag, &["/et*"]);
    assert!(system.is_empty() && system.names_any());
    // The resolved place is judged as well.
    yard.link("settings", "/etc");
    let linked = yard.set(Origin::Flag, &["settings/*"]);
    let (kept, refused) = found(&yard, &linked);
    assert!(kept.is_empty(), "{kept:?}");
    assert!(refused.iter().all(|reason| matches!(reason, WhyRefused::NotShareable(_))), "{refused:?}");
}

#[test]
fn a_pattern_lifts_no_restriction() {
    let yard = yard();
    fs::create_dir_all(yard.path("src/.vscode")).unwrap();
    let file = yard.path("src/.vscode/tasks.json");
    let named = yard.guard(&["src/.vscode"]);
    assert!(named.check(&file, Access::WRITE).is_ok());
    let matched = yard.guard(&["src/.v*"]);
    assert_eq!(matched.check(&file, Access::WRITE).unwrap_err().code(), Code::Restricted);
    assert!(matched.check(yard.path("src/.vscode"), Access::READ).is_ok());
}

#[test]
fn a_pattern_matches_nothing_that_a_confined_command_could_have_created() {
    let yard = yard();
    let environment = Environment::from([("HOME", yard.path("home")), ("XDG_STATE_HOME", yard.path("state"))]);
    let directories = Directories::new(&environment);
    let record = directories.writable_record().unwrap();
    let set = |roots: &[&str]| {
        let read = |root: &&str| Root::from_typed(root.as_ref(), &yard.path(""), None, Origin::Flag).unwrap();
        RootSet::place_ambient(roots.iter().map(read), &Validation::of(&directories))
    };
    let planted = |below: &str| WhyRefused::PlantedMatch(yard.path(below));
    // A root that is writable now.
    assert_eq!(found(&yard, &set(&["src", "src/*:rwx"])), (vec!["src".to_owned()], vec![planted("src")]));
    // Kept: matches that give less than their parent, and any match in a read-only root, where no server could have
    // created it.
    assert_eq!(found(&yard, &set(&["src", "src/*:ro"])).0, ["src", "src/one", "src/two"]);
    assert_eq!(found(&yard, &set(&["src:ro", "src/*"])).0, ["src", "src/one", "src/two"]);
    // A root that was writable at an earlier start.
    record.add_ambient([yard.path("src/two")]).unwrap();
    assert_eq!(found(&yard, &set(&["src/*"])).0, ["src/one", "src/two"], "the match itself");
    let (kept, refused) = found(&yard, &set(&["src/*/*"]));
    assert_eq!((kept, refused), (vec!["src/one/docs".to_owned()], vec![planted("src/two")]));
    record.add_ambient([yard.path("src")]).unwrap();
    assert_eq!(found(&yard, &set(&["src/*"])), (vec![], vec![planted("src")]));
    assert_eq!(found(&yard, &set(&["src/one"])).0, ["src/one"], "by name");
}

#[test]
fn a_pattern_that_matches_too_much_matches_nothing() {
    let yard = yard();
    for number in 0..=MOST_MATCHES {
        fs::create_dir_all(yard.path(&format!("many/{number}"))).unwrap();
    }
    assert_eq!(found(&yard, &yard.set(Origin::Flag, &["many/*"])), (vec![], vec![WhyRefused::TooManyMatches]));
    fs::remove_dir(yard.path("many/0")).unwrap();
    assert_eq!(yard.set(Origin::Flag, &["many/*"]).len(), MOST_MATCHES);
}

#[test]
fn a_pattern_is_expanded_again_when_it_is_placed_again() {
    let yard = yard();
    let set = yard.set(Origin::Flag, &["src/*"]);
    fs::create_dir(yard.path("src/zebra")).unwrap();
    fs::remove_dir_all(yard.path("src/one")).unwrap();
    let again = set.place_again_ambient(&Validation::new(None));
    assert_eq!(found(&yard, &again).0, ["src/two", "src/zebra"]);
}
