//! Missing, wrong and unknown arguments, and unknown tools.

use rootward_testkit::tree::Item::{self, File};

use crate::files::case::{Case, case, fail, same};

const TREE: &[Item] = &[File("root/a.txt", "a\n")];

pub(in crate::files) const CASES: &[Case] = &[
    case(
        "missing arguments",
        TREE,
        &[
            fail("read_file", "{}"),
            fail("read_text_file", "{}"),
            fail("read_media_file", "{}"),
            fail("read_multiple_files", "{}"),
            fail("write_file", r#"{"path":"$ROOT/a.txt"}"#),
            fail("write_file", r#"{"content":"x"}"#),
            fail("edit_file", r#"{"path":"$ROOT/a.txt"}"#),
            fail("edit_file", r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"a"}]}"#),
            fail("edit_file", r#"{"path":"$ROOT/a.txt","edits":[{"newText":"a"}]}"#),
            fail("create_directory", "{}"),
            fail("list_directory", "{}"),
            fail("list_directory_with_sizes", "{}"),
            fail("directory_tree", "{}"),
            fail("move_file", r#"{"source":"$ROOT/a.txt"}"#),
            fail("move_file", r#"{"destination":"$ROOT/b.txt"}"#),
            fail("search_files", r#"{"path":"$ROOT"}"#),
            fail("search_files", r#"{"pattern":"*"}"#),
            fail("get_file_info", "{}"),
        ],
    ),
    case(
        "arguments of the wrong type",
        TREE,
        &[
            fail("read_text_file", r#"{"path":1}"#),
            fail("read_text_file", r#"{"path":null}"#),
            fail("read_text_file", r#"{"path":["$ROOT/a.txt"]}"#),
            fail("read_text_file", r#"{"path":"$ROOT/a.txt","head":"1"}"#),
            fail("read_text_file", r#"{"path":"$ROOT/a.txt","tail":true}"#),
            fail("read_multiple_files", r#"{"paths":"$ROOT/a.txt"}"#),
            fail("read_multiple_files", r#"{"paths":["$ROOT/a.txt",1]}"#),
            fail("write_file", r#"{"path":"$ROOT/a.txt","content":1}"#),
            fail("write_file", r#"{"path":"$ROOT/a.txt","content":null}"#),
            fail("edit_file", r#"{"path":"$ROOT/a.txt","edits":{"oldText":"a","newText":"b"}}"#),
            fail("edit_file", r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"a","newText":"b"}],"dryRun":"yes"}"#),
            fail("directory_tree", r#"{"path":"$ROOT","excludePatterns":"*"}"#),
            fail("directory_tree", r#"{"path":"$ROOT","excludePatterns":[1]}"#),
            fail("search_files", r#"{"path":"$ROOT","pattern":["*"]}"#),
            fail("list_directory_with_sizes", r#"{"path":"$ROOT","sortBy":1}"#),
        ],
    ),
    case(
        "null arguments",
        TREE,
        &[
            fail("edit_file", r#"{"path":"$ROOT/a.txt","edits":[],"dryRun":null}"#),
            fail("directory_tree", r#"{"path":"$ROOT","excludePatterns":null}"#),
            fail("list_directory_with_sizes", r#"{"path":"$ROOT","sortBy":null}"#),
        ],
    ),
    case(
        "unknown arguments",
        TREE,
        &[
            same("read_text_file", r#"{"path":"$ROOT/a.txt","encoding":"utf-8"}"#),
            same("list_allowed_directories", r#"{"path":"$ROOT"}"#),
            same("edit_file", r#"{"path":"$ROOT/a.txt","edits":[{"oldText":"a","newText":"b","count":2}]}"#),
        ],
    ),
    case(
        "unknown tools",
        TREE,
        &[fail("no_such_tool", "{}"), fail("", "{}"), fail("READ_FILE", r#"{"path":"$ROOT/a.txt"}"#)],
    ),
];
