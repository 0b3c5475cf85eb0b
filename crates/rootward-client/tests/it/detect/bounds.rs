//! The limits of a scan, and that the result reports them.

use std::sync::Mutex;
use std::time::Duration;

use rootward_client::detect::{Bound, DetectOptions, Limits, detect_ambient};

use super::{Tree, options};

fn limited(limits: Limits) -> DetectOptions {
    DetectOptions { limits, threads: 1, ..options() }
}

#[test]
fn depth() {
    let tree = Tree::new(&[
        ("go.mod", "module zero"),
        ("a/go.mod", "module one"),
        ("a/.git/HEAD", "ref: x"),
        ("a/b/go.mod", "module two"),
        ("a/node_modules/x/package.json", "{}"),
    ]);
    let check = |depth: usize, count: usize, bounds: &[Bound]| {
        let detection = tree.detect_with(&limited(Limits { depth, ..Limits::default() }));
        assert_eq!((detection.suggestions.len(), detection.bounds.as_slice()), (count, bounds), "depth {depth}");
    };
    check(0, 1, &[Bound::Depth]);
    check(1, 2, &[Bound::Depth]);
    check(2, 3, &[]);
    check(usize::MAX, 3, &[]);
    let shallow = tree.detect_with(&limited(Limits { depth: 1, ..Limits::default() }));
    assert_eq!(shallow.suggestions[1].reasons.len(), 2, "a `.git` at the deepest level is still read");
}

#[test]
fn entries_and_suggestions() {
    let files: Vec<_> = (0..40).map(|number| (format!("{number}/go.mod"), "module m")).collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let tree = Tree::new(&files);
    let some = tree.detect_with(&limited(Limits { entries: 60, ..Limits::default() }));
    assert_eq!(some.bounds, [Bound::Entries]);
    assert!(some.suggestions.len() <= 20, "at most forty directories and twenty of their files");
    let all = tree.detect_with(&limited(Limits { entries: 80, ..Limits::default() }));
    assert_eq!((all.bounds.as_slice(), all.suggestions.len(), all.visited), (&[][..], 40, 80));
    let few = tree.detect_with(&limited(Limits { suggestions: 7, ..Limits::default() }));
    assert_eq!((few.bounds.as_slice(), few.suggestions.len()), (&[Bound::Suggestions][..], 7));
    let enough = tree.detect_with(&limited(Limits { suggestions: 40, ..Limits::default() }));
    assert_eq!((enough.bounds.as_slice(), enough.suggestions.len()), (&[][..], 40));
}

#[test]
fn folders_count_as_suggestions() {
    let folders: Vec<String> = (0..50).map(|number| format!(r#"{{"path": "/srv/{number}"}}"#)).collect();
    let tree = Tree::new(&[("x.code-workspace", &format!(r#"{{"folders": [{}]}}"#, folders.join(",")))]);
    let few = tree.detect_with(&limited(Limits { suggestions: 7, ..Limits::default() }));
    assert_eq!((few.bounds.as_slice(), few.suggestions.len()), (&[Bound::Suggestions][..], 7));
}

#[test]
fn time() {
    let tree = Tree::new(&[("a/go.mod", "module m")]);
    let none = tree.detect_with(&limited(Limits { time: Duration::ZERO, ..Limits::default() }));
    assert_eq!((none.bounds.as_slice(), none.suggestions.len()), (&[Bound::Time][..], 0));
}

#[test]
fn progress_is_reported() {
    let tree = Tree::new(&[]);
    for number in 0..600 {
        tree.write(&format!("in/{number}"), b"");
    }
    let reported = Mutex::new(Vec::new());
    let options = DetectOptions { tell_every: Duration::ZERO, ..limited(Limits::default()) };
    detect_ambient(&[tree.top()], &options, &|progress| {
        reported.lock().unwrap().push((progress.visited, progress.found, progress.at.to_owned()));
    })
    .unwrap();
    assert_eq!(reported.into_inner().unwrap(), [(0, 0, "".into()), (256, 0, "in".into()), (512, 0, "in".into())]);
}
