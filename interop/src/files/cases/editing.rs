//! Edits of all kinds.

use rootward_testkit::tree::Item::{self, Directory, File, Link};

use crate::files::case::Says::{Failure, Part, Text};
use crate::files::case::{Case, case, differ, fail, same};

const TREE: &[Item] = &[
    File("root/a.txt", "one\ntwo\nthree\n"),
    File("root/open.txt", "one\ntwo\nthree"),
    File("root/empty.txt", ""),
    File("root/code.rs", "fn main() {x:7b}\n    let a = 1;\n    if a {x:7b}\n        b();\n    {x:7d}\n{x:7d}\n"),
    File("root/tabs.txt", "\tone\n\t\ttwo\n\tthree  \n"),
    File(
        "root/numbers.txt",
        "l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nl10\nl11\nl12\nl13\nl14\nl15\nl16\nl17\nl18\nl19\nl20\n",
    ),
    File("root/fence.md", "```sh\nls\n```\n"),
    File("root/letters.txt", "käse 😀\n$& $1 $$\n"),
    File("root/mark.txt", "\u{feff}one\ntwo\n"),
    File("root/return.txt", "one\r\ntwo\r\nthree\r\n"),
    File("root/bytes.txt", "a{x:ff}b\n"),
    File("root/twice.txt", "x1\nx2\n"),
    Directory("root/directory"),
    Link("root/in", "a.txt"),
    Link("root/out", "{T}/outside/secret.txt"),
    Link("root/dangling", "nothing"),
];

const EMPTY: &str = "an empty `oldText` is refused";

pub(in crate::files) const CASES: &[Case] = &[
    case(
        "text is replaced",
        TREE,
        &[
            same("edit_file", r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"two","newText":"TWO"}]}"#),
            same("edit_file", r#"{"path":"open.txt","edits":[{"oldText":"three","newText":"3"}]}"#),
            same("edit_file", r#"{"path":"$ROOT/letters.txt","edits":[{"oldText":"😀","newText":"$& $1 $$ \\n"}]}"#),
            same("edit_file", r#"{"path":"$ROOT/mark.txt","edits":[{"oldText":"one","newText":"ONE"}]}"#),
            same("edit_file", r#"{"path":"$ROOT/in","edits":[{"oldText":"one","newText":"1"}]}"#),
        ],
    ),
    case(
        "lines are added and removed",
        TREE,
        &[
            same("edit_file", r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"two\n","newText":""}]}"#),
            same(
                "edit_file",
                r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"one\n","newText":"zero\none\nand a half\n"}]}"#,
            ),
            same("edit_file", r#"{"path":"$ROOT/open.txt","edits":[{"oldText":"three","newText":"three\n"}]}"#),
            same("edit_file", r#"{"path":"$ROOT/numbers.txt","edits":[{"oldText":"l20\n","newText":"20"}]}"#),
        ],
    ),
    case(
        "the whole text is removed",
        TREE,
        &[same("edit_file", r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"one\ntwo\nthree\n","newText":""}]}"#)],
    ),
    case(
        "several edits, each applied to the result of the one before",
        TREE,
        &[
            same(
                "edit_file",
                r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"one","newText":"two and"},{"oldText":"two and\ntwo","newText":"x"}]}"#,
            ),
            same(
                "edit_file",
                r#"{"path":"$ROOT/numbers.txt","edits":[{"oldText":"\nl3\n","newText":"\nthree\n"},{"oldText":"18","newText":"eighteen"}]}"#,
            ),
        ],
    ),
    case(
        "changes far apart and close together",
        TREE,
        &[
            same(
                "edit_file",
                r#"{"path":"$ROOT/numbers.txt","edits":[{"oldText":"l5\n","newText":"five\n"},{"oldText":"14","newText":"fourteen"}],"dryRun":true}"#,
            ),
            same(
                "edit_file",
                r#"{"path":"$ROOT/numbers.txt","edits":[{"oldText":"l5\n","newText":"five\n"},{"oldText":"15","newText":"fifteen"}],"dryRun":true}"#,
            ),
            same(
                "edit_file",
                r#"{"path":"$ROOT/numbers.txt","edits":[{"oldText":"l5\n","newText":""},{"oldText":"l7\n","newText":""}],"dryRun":true}"#,
            ),
        ],
    ),
    case(
        "a dry run",
        TREE,
        &[
            same("edit_file", r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"two","newText":"TWO"}],"dryRun":true}"#),
            same("read_text_file", r#"{"path":"$ROOT/a.txt"}"#),
            same("edit_file", r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"two","newText":"TWO"}],"dryRun":false}"#),
            same("read_text_file", r#"{"path":"$ROOT/a.txt"}"#),
        ],
    ),
    case(
        "nothing changes",
        TREE,
        &[
            same("edit_file", r#"{"path":"$ROOT/a.txt","edits":[]}"#),
            same("edit_file", r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"two","newText":"two"}]}"#),
        ],
    ),
    case(
        "lines with different white space at their ends",
        TREE,
        &[
            same(
                "edit_file",
                r#"{"path":"$ROOT/code.rs","edits":[{"oldText":"  let a = 1;","newText":"  let b = 2;"}]}"#,
            ),
            same(
                "edit_file",
                r#"{"path":"$ROOT/code.rs","edits":[{"oldText":"if a {\n    b();","newText":"if c {\n    d();\n        e();"}]}"#,
            ),
            same(
                "edit_file",
                r#"{"path":"$ROOT/tabs.txt","edits":[{"oldText":"one\ntwo\nthree","newText":"1\n  2\n3\n4"}]}"#,
            ),
            same("edit_file", r#"{"path":"$ROOT/open.txt","edits":[{"oldText":" two \n three ","newText":"x"}]}"#),
        ],
    ),
    case(
        "lines that a diff may pair in two ways",
        TREE,
        &[differ(
            "edit_file",
            r#"{"path":"$ROOT/code.rs","edits":[{"oldText":"if a {\n    b();\n}","newText":"if c {\n    d();\n}"}]}"#,
            "of several equivalent diffs, another may be shown",
            Part("+    d();\n }\n+}\n"),
            Part("+    d();\n+}\n }\n"),
        )],
    ),
    case(
        "fences in a file",
        TREE,
        &[same("edit_file", r#"{"path":"$ROOT/fence.md","edits":[{"oldText":"ls","newText":"ls\n````\n"}]}"#)],
    ),
    case(
        "line ends in the arguments",
        TREE,
        &[same("edit_file", r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"one\r\ntwo","newText":"1\r\n2"}]}"#)],
    ),
    case(
        "a file with CRLF",
        TREE,
        &[
            same("edit_file", r#"{"path":"$ROOT/return.txt","edits":[{"oldText":"two","newText":"TWO"}]}"#),
            differ(
                "read_text_file",
                r#"{"path":"$ROOT/return.txt"}"#,
                r"each line keeps its `\r\n` or `\n`",
                Text("one\nTWO\nthree\n"),
                Text("one\r\nTWO\r\nthree\r\n"),
            ),
        ],
    )
    .leaving_another_tree(),
    case(
        "an edit with an empty `oldText`",
        TREE,
        &[differ(
            "edit_file",
            r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"","newText":"x"}]}"#,
            EMPTY,
            Part("+xone"),
            Failure("`oldText` is empty"),
        )],
    )
    .leaving_another_tree(),
    case(
        "an edit of a file that is not UTF-8",
        TREE,
        &[differ(
            "edit_file",
            r#"{"path":"$ROOT/bytes.txt","edits":[{"oldText":"b","newText":"c"}]}"#,
            "a file that is not UTF-8 is refused",
            Part("+a\u{fffd}c"),
            Failure("is not UTF-8 text"),
        )],
    )
    .leaving_another_tree(),
    case(
        "text that occurs twice",
        TREE,
        &[differ(
            "edit_file",
            r#"{"path":"$ROOT/twice.txt","edits":[{"oldText":"x","newText":"y"}]}"#,
            "says when an `oldText` matched several places",
            Part("-x1\n+y1\n x2\n```\n\n"),
            Part("-x1\n+y1\n x2\n```\n\nEdit 1 matched 2 places"),
        )],
    ),
    case(
        "edits that fail",
        TREE,
        &[
            fail("edit_file", r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"missing","newText":"x"}]}"#),
            fail(
                "edit_file",
                r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"one","newText":"x"},{"oldText":"one","newText":"y"}]}"#,
            ),
            fail("edit_file", r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"one\n\ntwo","newText":"x"}]}"#),
            fail("edit_file", r#"{"path":"$ROOT/empty.txt","edits":[{"oldText":"x","newText":"y"}]}"#),
            fail("edit_file", r#"{"path":"$ROOT/missing","edits":[{"oldText":"x","newText":"y"}]}"#),
            fail("edit_file", r#"{"path":"$ROOT/directory","edits":[{"oldText":"x","newText":"y"}]}"#),
            fail("edit_file", r#"{"path":"$ROOT/out","edits":[{"oldText":"S","newText":"y"}]}"#),
            fail("edit_file", r#"{"path":"$ROOT/dangling","edits":[{"oldText":"S","newText":"y"}]}"#),
            fail("edit_file", r#"{"path":"$TOP/outside/secret.txt","edits":[{"oldText":"S","newText":"y"}]}"#),
        ],
    ),
];
