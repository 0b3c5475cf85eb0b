//! The picker without a terminal: keys in, lines out.

use std::fmt::Write;
use std::path::Path;

use proptest::prelude::*;
use rootward_client::choose::{Choices, Mark};
use rootward_client::detect::{Certainty, Kind, Presence, Reason, Suggestion};
use rootward_client::store::{Audience, Kept, SavedRoot};
use rootward_core::{Access, Shown};

use super::drawing::{Size, Style, draw, rows};
use super::fit::width;
use super::keys::Key;
use super::picker::{Mode, Picker, Step, Words};

const USUAL: Size = Size { columns: 80, lines: 24 };
const SMALL: Size = Size { columns: 20, lines: 5 };

fn suggestion(path: &str) -> Suggestion {
    let why = "git repository".to_owned();
    let reason = Reason { kind: Kind::GitRepository, file: ".git".to_owned(), why, certainty: Certainty::Certain };
    Suggestion {
        uri: None,
        path: path.into(),
        name: None,
        reasons: vec![reason],
        certainty: Certainty::Certain,
        presence: Presence::Seen,
        within: None,
    }
}

fn picker(found: &[&str], saved: &[(&str, Access)]) -> Picker {
    let kept = Kept::from(saved.iter().map(|(path, access)| SavedRoot::new(path, *access)).collect::<Vec<_>>());
    let found = found.iter().map(|path| suggestion(path)).collect();
    let obstacle = |path: &Path| path.ends_with(".ssh").then(|| "in `.ssh`, which holds secrets".to_owned());
    let choices = Choices::new(found, kept, &Audience::All, obstacle);
    let words = choices.list().iter().map(|choice| Words {
        name: Shown::new(choice.root().path.file_name().unwrap()).to_string(),
        path: Shown::new(&choice.root().path).to_string(),
        why: "git repository".to_owned(),
        ..Words::default()
    });
    let words = words.collect();
    Picker::new(choices, words, None)
}

fn small() -> Picker {
    picker(
        &["/src/app", "/src/app/core", "/src/app/世界", "/src/.ssh", "/src/shop"],
        &[("/notes", Access::READ), ("/src/shop", Access::READ_WRITE)],
    )
}

/// Presses keys by their letters; `^` is up, `v` is down.
fn press(picker: &mut Picker, keys: &str) -> Step {
    let mut step = Step::Stay;
    for letter in keys.chars() {
        let key = match letter {
            '^' => Key::Up,
            'v' => Key::Down,
            '\n' => Key::Enter,
            '\x1b' => Key::Escape,
            '\x7f' => Key::Backspace,
            letter => Key::Letter(letter),
        };
        step = picker.press(&key, rows(USUAL));
    }
    step
}

fn screen(picker: &mut Picker, size: Size) -> String {
    let lines = draw(picker, size);
    lines.iter().map(|line| line.text.trim_end().to_owned() + "\n").collect()
}

fn marked(picker: &Picker) -> Vec<(String, Access)> {
    let chosen = picker.choices.list().iter().filter(|choice| choice.mark() == Mark::Chosen);
    chosen.map(|choice| (choice.root().path.to_str().unwrap().to_owned(), choice.root().access)).collect()
}

#[test]
fn screens() {
    let mut told = String::new();
    let mut show = |picker: &mut Picker, keys: &str, size: Size| {
        press(picker, keys);
        let Size { columns, lines } = size;
        writeln!(told, "--- {} at {columns} x {lines}\n{}", keys.escape_debug(), screen(picker, size)).unwrap();
    };
    let mut choosing = small();
    show(&mut choosing, "", USUAL);
    show(&mut choosing, "v vrv ", USUAL);
    show(&mut choosing, "v ", USUAL);
    show(&mut choosing, "Gx", USUAL);
    show(&mut choosing, "/ss", USUAL);
    show(&mut choosing, "x", USUAL);
    show(&mut choosing, "\x1b?", USUAL);
    show(&mut choosing, "q", SMALL);
    show(&mut choosing, "g ", SMALL);
    show(&mut choosing, "?vv", SMALL);
    show(&mut choosing, "q", Size { columns: 40, lines: 8 });
    show(&mut choosing, "", Size { columns: 12, lines: 1 });
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("pick_screens", told);
    });
}

#[test]
fn keys_mark_and_move() {
    let mut picker = small();
    assert_eq!(marked(&picker), [("/notes".to_owned(), Access::READ), ("/src/shop".to_owned(), Access::READ_WRITE)]);
    // The cursor stops at the last and the first line.
    press(&mut picker, "Gjvv ");
    assert_eq!(marked(&picker), [("/notes".to_owned(), Access::READ)]);
    press(&mut picker, " gk^x");
    assert_eq!(marked(&picker)[0].1, Access::ALL);
    for (letter, access) in [('r', Access::READ), ('w', Access::READ_WRITE), ('W', Access::READ | Access::WRITE)] {
        press(&mut picker, &letter.to_string());
        assert_eq!(marked(&picker)[0].1, access);
    }
    // A root that cannot be shared is not marked, and says why.
    press(&mut picker, "j");
    for key in [" ", "r", "x"] {
        press(&mut picker, key);
        assert!(picker.said.as_ref().unwrap().contains("holds secrets"));
    }
    assert_eq!(marked(&picker).len(), 2);
}

/// What the program does with a typed path.
fn add(picker: &mut Picker, path: &str) {
    picker.add(SavedRoot::new(path, Access::READ), |choice| Words {
        name: choice.root().root().title(),
        path: Shown::new(&choice.root().path).to_string(),
        why: "added by its path".to_owned(),
        ..Words::default()
    });
}

#[test]
fn a_directory_that_was_not_found_is_added() {
    let mut picker = small();
    assert_eq!(press(&mut picker, "a/src/m"), Step::Stay);
    assert_eq!((picker.mode, picker.typed.as_str()), (Mode::Adding, "/src/m"));
    assert!(screen(&mut picker, USUAL).contains("add: /src/m_"));
    assert_eq!(press(&mut picker, "\x7fmore\n"), Step::Add);
    add(&mut picker, "/src/more");
    assert_eq!(picker.mode, Mode::Choosing);
    // It is in its sorted position, and every line still has its own text.
    assert_eq!(picker.words[picker.current().unwrap()].path, "/src/more");
    let paths: Vec<_> = picker.choices.list().iter().map(|choice| choice.root().path.to_str().unwrap()).collect();
    assert_eq!(paths, picker.words.iter().map(|words| words.path.as_str()).collect::<Vec<_>>());
    assert!(marked(&picker).contains(&("/src/more".to_owned(), Access::READ)));
    assert!(screen(&mut picker, USUAL).contains("> [x] more"));
    assert_eq!(press(&mut picker, "\n"), Step::Accept);
    // One that is already in the list is marked there; a saved one keeps its access.
    let before = picker.choices.list().len();
    for (path, access) in [("/src/app", Access::READ), ("/src/shop", Access::READ_WRITE)] {
        add(&mut picker, path);
        assert!(marked(&picker).contains(&(path.to_owned(), access)), "{path}");
        assert_eq!(picker.said.as_deref(), Some("it is already in the list"));
    }
    add(&mut picker, "/src/.ssh");
    assert!(picker.said.as_ref().unwrap().contains("holds secrets"));
    assert_eq!(picker.choices.list().len(), before);
    // A filter that would hide it is cleared, and an empty line adds nothing.
    press(&mut picker, "/notes\n");
    add(&mut picker, "/else");
    assert_eq!(picker.words[picker.current().unwrap()].path, "/else");
    assert_eq!((press(&mut picker, "a \n"), picker.mode), (Step::Stay, Mode::Choosing));
    assert_eq!((press(&mut picker, "aq\x1b"), picker.mode), (Step::Stay, Mode::Choosing));
    // An empty list accepts a line.
    let mut empty = self::picker(&[], &[]);
    assert!(screen(&mut empty, USUAL).contains("nothing found: press a to add a directory"));
    add(&mut empty, "/src");
    assert_eq!((empty.current(), empty.marked()), (Some(0), 1));
}

#[test]
fn ways_to_leave() {
    let fresh = |keys: &str| press(&mut small(), keys);
    assert_eq!(fresh("q"), Step::Leave);
    assert_eq!(fresh(" q"), Step::Leave);
    assert_eq!(fresh("\x1b"), Step::Leave);
    assert_eq!(fresh(" \n"), Step::Accept);
    // Enter does not mark: without a change, the picker stays.
    assert_eq!(fresh("\n"), Step::Stay);
    assert_eq!(fresh("  \n"), Step::Stay);
    // Esc first clears the filter, or closes the help.
    assert_eq!(fresh("/q\x1b"), Step::Stay);
    assert_eq!(fresh("/q\x1b\x1b"), Step::Leave);
    assert_eq!(fresh("/q\n\x1b"), Step::Stay);
    assert_eq!(fresh("?q"), Step::Stay);
    for keys in ["", "/", "?", " ", "a", "n"] {
        let mut picker = small();
        press(&mut picker, keys);
        assert_eq!(picker.press(&Key::Interrupt, 1), Step::Leave, "{keys}");
    }
}

#[test]
fn a_paste_chooses_nothing() {
    let mut picker = small();
    let pasted = Key::Pasted(" x\n y\nq".to_owned());
    assert_eq!(picker.press(&pasted, 5), Step::Stay);
    assert!(picker.choices.difference().is_empty() && picker.filter.is_empty());
    press(&mut picker, "/");
    assert_eq!(picker.press(&pasted, 5), Step::Stay);
    assert!(picker.choices.difference().is_empty());
    assert_eq!((picker.filter.as_str(), picker.mode), (" x yq", Mode::Filtering));
}

#[test]
fn the_filter_leaves_what_has_all_its_words() {
    let mut picker = small();
    let check = |picker: &mut Picker, keys: &str, expect: &[&str]| {
        press(picker, keys);
        let seen: Vec<&str> = picker.visible.iter().map(|at| picker.words[*at].name.as_str()).collect();
        assert_eq!(seen, expect, "{keys}");
    };
    check(&mut picker, "/APP", &["app", "core", "世界"]);
    check(&mut picker, " co", &["core"]);
    check(&mut picker, "\x7f\x7f\x7f\x7f\x7f\x7f世", &["世界"]);
    // It is marked in place, and the cursor stays with it.
    check(&mut picker, "\n \x1b", &["notes", ".ssh", "app", "core", "世界", "shop"]);
    assert_eq!(picker.words[picker.current().unwrap()].name, "世界");
    assert!(marked(&picker).iter().any(|(path, _)| path == "/src/app/世界"));
    check(&mut picker, "/no such", &[]);
    assert_eq!(press(&mut picker, "\n jkgG"), Step::Stay);
    assert_eq!(picker.current(), None);
}

#[test]
fn ten_thousand_lines() {
    let paths: Vec<String> = (0..10_000).map(|number| format!("/src/{number:05}")).collect();
    let mut picker = picker(&paths.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    let last = |picker: &mut Picker, size| screen(picker, size).lines().nth(rows(size) + 1).unwrap().to_owned();
    press(&mut picker, "G ");
    assert!(last(&mut picker, USUAL).starts_with("> [x] 09999  /src/09999"));
    picker.press(&Key::PageUp, rows(USUAL));
    assert_eq!(picker.current(), Some(9_999 - rows(USUAL)));
    picker.press(&Key::Home, rows(USUAL));
    screen(&mut picker, USUAL);
    picker.press(&Key::PageDown, rows(USUAL));
    assert!(last(&mut picker, USUAL).starts_with("> [ ] 00017"), "{}", screen(&mut picker, USUAL));
    assert!(screen(&mut picker, USUAL).contains(" 2 to 18 of 10000 ──"));
    press(&mut picker, "/9998");
    assert_eq!(picker.visible, [9998]);
}

#[test]
fn colours_say_nothing_that_words_do_not() {
    let mut picker = small();
    press(&mut picker, "v");
    let lines = draw(&mut picker, USUAL);
    for line in &lines {
        assert_eq!(line.style == Style::Current, line.text.starts_with('>'), "{line:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any names, words, keys and screen size: lines of the right width, without control characters.
    #[test]
    fn nothing_but_text_is_drawn(
        words in prop::collection::vec(any::<String>(), 4),
        keys in "[\\PC\n\x1b\x7f ]{0,12}",
        columns in 1..100_usize,
        lines in 1..40_usize,
    ) {
        let mut picker = small();
        let hostile = "\x1b[2J\x1b]0;x\x07\r\n\u{202e}\u{9b}31m";
        for one in &mut picker.words {
            *one = Words {
                name: words[0].clone() + hostile,
                path: words[1].clone() + hostile,
                why: words[2].clone() + hostile,
                peers: Some(hostile.to_owned()),
                trouble: Some(words[3].clone()),
            };
        }
        press(&mut picker, &keys);
        let drawn = draw(&mut picker, Size { columns, lines });
        prop_assert_eq!(drawn.len(), lines);
        for line in drawn {
            prop_assert_eq!(width(&line.text), columns);
            prop_assert!(!line.text.contains(|letter: char| letter.is_control() || letter == '\u{202e}'), "{:?}", line.text);
        }
    }
}
