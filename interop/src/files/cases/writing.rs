//! Writing files, creating directories, moving.

use rootward_testkit::tree::Item::{self, Directory, File, Link, Permissions};

use crate::files::case::Says::{Failure, Part, Text};
use crate::files::case::{Case, case, differ, fail, same};

const TREE: &[Item] = &[
    File("root/a.txt", "a\n"),
    File("root/kept.txt", "kept\n"),
    File("root/full/inner.txt", "inner"),
    Directory("root/empty"),
    Link("root/in", "a.txt"),
    Link("root/in-directory", "full"),
    Link("root/out", "{T}/outside/secret.txt"),
    Link("root/out-directory", "{T}/outside"),
    Link("root/dangling", "nothing"),
    Link("root/dangling-out", "{T}/outside/nothing"),
];

pub(in crate::files) const CASES: &[Case] = &[
    case(
        "a new file",
        TREE,
        &[
            same("write_file", r#"{"path":"$ROOT/new.txt","content":"one\ntwo\n"}"#),
            same("write_file", r#"{"path":"relative.txt","content":"é 😀\r\n\ufeff\u0000"}"#),
            same("write_file", r#"{"path":"$ROOT/empty.txt","content":""}"#),
            same("write_file", r#"{"path":"$ROOT/full/./../full/käse 😀.txt","content":"x"}"#),
            same("write_file", r#"{"path":"$ROOT/in-directory/through.txt","content":"x"}"#),
            same("write_file", r#"{"path":"$ROOT/.hidden","content":"x"}"#),
        ],
    ),
    case(
        "a file is replaced",
        TREE,
        &[
            same("write_file", r#"{"path":"$ROOT/a.txt","content":"other"}"#),
            same("write_file", r#"{"path":"$ROOT/kept.txt","content":""}"#),
        ],
    ),
    case(
        "a file behind a link is replaced, and the link stays",
        TREE,
        &[
            same("write_file", r#"{"path":"$ROOT/in","content":"through"}"#),
            same("read_text_file", r#"{"path":"$ROOT/a.txt"}"#),
        ],
    ),
    case(
        "permissions are kept",
        &[
            File("root/run.sh", "#!/bin/sh\n"),
            Permissions("root/run.sh", 0o751),
            File("root/private", "x"),
            Permissions("root/private", 0o600),
            File("root/open", "x"),
            Permissions("root/open", 0o666),
        ],
        &[
            same("write_file", r#"{"path":"$ROOT/run.sh","content":"x"}"#),
            same("edit_file", r#"{"path":"$ROOT/private","edits":[{"oldText":"x","newText":"y"}]}"#),
            same("write_file", r#"{"path":"$ROOT/open","content":"y"}"#),
        ],
    ),
    case(
        "paths that cannot be written",
        TREE,
        &[
            fail("write_file", r#"{"path":"$ROOT/missing/new.txt","content":"x"}"#),
            fail("write_file", r#"{"path":"$ROOT/full","content":"x"}"#),
            fail("write_file", r#"{"path":"$ROOT","content":"x"}"#),
            fail("write_file", r#"{"path":"$ROOT/a.txt/below","content":"x"}"#),
            fail("write_file", r#"{"path":"$ROOT/out","content":"x"}"#),
            fail("write_file", r#"{"path":"$ROOT/out-directory/new.txt","content":"x"}"#),
            fail("write_file", r#"{"path":"$TOP/outside/new.txt","content":"x"}"#),
            fail("write_file", r#"{"path":"../new.txt","content":"x"}"#),
            fail("write_file", r#"{"path":"$ROOT/dangling-out","content":"x"}"#),
        ],
    ),
    case(
        "writing through a dangling link",
        TREE,
        &[differ(
            "write_file",
            r#"{"path":"$ROOT/dangling","content":"x"}"#,
            "through a dangling link, the target is created, if it is inside",
            Failure("Parent directory does not exist"),
            Text("Successfully wrote to $ROOT/dangling"),
        )],
    )
    .leaving_another_tree(),
    case(
        "a name that ends in a slash",
        TREE,
        &[
            differ(
                "write_file",
                r#"{"path":"$ROOT/new.txt/","content":"x"}"#,
                SLASH,
                Part("wrote"),
                Failure("is a directory"),
            ),
            differ("read_text_file", r#"{"path":"$ROOT/a.txt/"}"#, SLASH, Text("a\n"), Failure("is not a directory")),
        ],
    )
    .leaving_another_tree(),
    case(
        "a new directory",
        TREE,
        &[
            same("create_directory", r#"{"path":"$ROOT/new"}"#),
            same("create_directory", r#"{"path":"relative/below/far below"}"#),
            same("create_directory", r#"{"path":"$ROOT/full/more/"}"#),
            same("create_directory", r#"{"path":"$ROOT/in-directory/through"}"#),
            same("create_directory", r#"{"path":"$ROOT/./full/../y"}"#),
        ],
    ),
    case(
        "a directory that exists already",
        TREE,
        &[
            same("create_directory", r#"{"path":"$ROOT/full"}"#),
            same("create_directory", r#"{"path":"$ROOT"}"#),
            same("create_directory", r#"{"path":"."}"#),
            same("create_directory", r#"{"path":"$ROOT/in-directory"}"#),
        ],
    ),
    case(
        "directories that cannot be created",
        TREE,
        &[
            fail("create_directory", r#"{"path":"$ROOT/a.txt"}"#),
            fail("create_directory", r#"{"path":"$ROOT/a.txt/below"}"#),
            fail("create_directory", r#"{"path":"$ROOT/in"}"#),
            fail("create_directory", r#"{"path":"$ROOT/out"}"#),
            fail("create_directory", r#"{"path":"$ROOT/out-directory/new"}"#),
            fail("create_directory", r#"{"path":"$TOP/new"}"#),
            fail("create_directory", r#"{"path":"$ROOT/dangling-out"}"#),
            fail("create_directory", r#"{"path":"$ROOT/dangling-out/below"}"#),
        ],
    ),
    case(
        "a file is moved",
        TREE,
        &[
            same("move_file", r#"{"source":"$ROOT/a.txt","destination":"$ROOT/b.txt"}"#),
            same("move_file", r#"{"source":"b.txt","destination":"full/c.txt"}"#),
            same("move_file", r#"{"source":"$ROOT/full/c.txt","destination":"$ROOT/in-directory/d.txt"}"#),
            same("move_file", r#"{"source":"$ROOT/kept.txt","destination":"$ROOT/empty/../käse.txt"}"#),
        ],
    ),
    case(
        "a directory is moved",
        TREE,
        &[
            same("move_file", r#"{"source":"$ROOT/full","destination":"$ROOT/empty/moved"}"#),
            same("move_file", r#"{"source":"$ROOT/empty","destination":"$ROOT/other"}"#),
        ],
    ),
    case(
        "moves that fail",
        TREE,
        &[
            fail("move_file", r#"{"source":"$ROOT/missing","destination":"$ROOT/new"}"#),
            fail("move_file", r#"{"source":"$ROOT/a.txt","destination":"$ROOT/kept.txt"}"#),
            fail("move_file", r#"{"source":"$ROOT/a.txt","destination":"$ROOT/a.txt"}"#),
            fail("move_file", r#"{"source":"$ROOT/a.txt","destination":"$ROOT/empty"}"#),
            fail("move_file", r#"{"source":"$ROOT/full","destination":"$ROOT/empty"}"#),
            fail("move_file", r#"{"source":"$ROOT/a.txt","destination":"$ROOT/in"}"#),
            fail("move_file", r#"{"source":"$ROOT/a.txt","destination":"$ROOT/missing/new"}"#),
            fail("move_file", r#"{"source":"$ROOT/full","destination":"$ROOT/full/below"}"#),
            fail("move_file", r#"{"source":"$ROOT/a.txt","destination":"$TOP/outside/new"}"#),
            fail("move_file", r#"{"source":"$ROOT/a.txt","destination":"$ROOT/out-directory/new"}"#),
            fail("move_file", r#"{"source":"$TOP/outside/secret.txt","destination":"$ROOT/new"}"#),
            fail("move_file", r#"{"source":"$ROOT/a.txt","destination":"$ROOT/out"}"#),
            fail("move_file", r#"{"source":"$ROOT/a.txt","destination":"$ROOT/dangling-out"}"#),
            fail("move_file", r#"{"source":"$ROOT/a.txt","destination":"$ROOT/kept.txt/below"}"#),
            fail("move_file", r#"{"source":"$ROOT","destination":"$ROOT/empty/root"}"#),
        ],
    ),
    case(
        "moving a file onto a dangling link",
        TREE,
        &[fail("move_file", r#"{"source":"$ROOT/a.txt","destination":"$ROOT/dangling"}"#)],
    ),
    case(
        "moving a file to a name that ends in a slash",
        TREE,
        &[differ(
            "move_file",
            r#"{"source":"$ROOT/a.txt","destination":"$ROOT/new/"}"#,
            SLASH,
            Part("moved"),
            Failure("is not a directory"),
        )],
    )
    .leaving_another_tree(),
    case(
        "a link is moved",
        TREE,
        &[
            same("move_file", r#"{"source":"$ROOT/in","destination":"$ROOT/moved"}"#),
            differ(
                "list_directory",
                r#"{"path":"$ROOT"}"#,
                "a symbolic link itself is moved",
                Part("[FILE] in\n"),
                Part("[FILE] a.txt\n"),
            ),
        ],
    )
    .leaving_another_tree(),
    case(
        "a name in another Unicode form",
        &[File("root/e\u{301}.txt", "decomposed")],
        &[
            differ(
                "read_text_file",
                "{\"path\":\"$ROOT/\u{e9}.txt\"}",
                UNICODE,
                Text("decomposed"),
                Failure("does not exist"),
            ),
            same("write_file", "{\"path\":\"$ROOT/\u{e9}.txt\",\"content\":\"x\"}"),
        ],
    )
    .leaving_another_tree(),
];

const SLASH: &str = "A path that ends in `/` names a directory, never a file. The reference removes the `/`.";
const UNICODE: &str = "names are compared as they are";
