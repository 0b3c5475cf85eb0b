//! How paths are interpreted and shown, with one root and with several.

use rootward_testkit::tree::Item::{Directory, File, Link};

use crate::files::case::Says::{Failure, Part, Text};
use crate::files::case::{Case, case, differ, fail, same, same_lines};

pub(super) const REFUSAL: &str = "A refusal is a sentence with the current roots, and data with a code. It is the same whether or not the path exists outside.";
const DOTS: &str = "`..` is followed as the system does, not removed from the text of the path.";
const URI: &str = "A `file://` URI is also a path. The reference looks for a file of that name.";
const OTHER: &str = r"`~name`, `\\name` and `name://` are refused. To the reference they are names below the root; here `./` in front makes them names.";
const DRIVE: &str = "`C:` alone is a name. To the reference it is a drive.";
const EMPTY: &str = "An empty path is refused. To the reference it is the first root.";
const SHOWN: &str = "A path is shown with its root as it was named. The reference shows the real path.";

pub(in crate::files) const CASES: &[Case] = &[
    case("the shared directory", &[], &[same("list_allowed_directories", "{}")]),
    case(
        "several shared directories",
        &[File("one/a.txt", "a"), File("two/b.txt", "b")],
        &[
            same("list_allowed_directories", "{}"),
            same("read_text_file", r#"{"path":"$TOP/two/b.txt"}"#),
            same("read_text_file", r#"{"path":"a.txt"}"#),
            same("move_file", r#"{"source":"$TOP/one/a.txt","destination":"$TOP/two/a.txt"}"#),
            fail("read_text_file", r#"{"path":"b.txt"}"#),
            fail("list_directory", r#"{"path":"$TOP"}"#),
        ],
    )
    .in_roots(&["one", "two"]),
    case(
        "a shared directory and one below it",
        &[File("one/deep/a.txt", "a")],
        &[
            same("read_text_file", r#"{"path":"$TOP/one/deep/a.txt"}"#),
            same_lines("list_directory", r#"{"path":"$TOP/one"}"#),
        ],
    )
    .in_roots(&["one", "one/deep"]),
    case(
        "a relative path that exists only in another root",
        &[Directory("one"), File("other/deep/a.txt", "a")],
        &[differ(
            "read_text_file",
            r#"{"path":"../deep/a.txt"}"#,
            "Relative paths start at the first root. The reference tries each root.",
            Text("a"),
            Failure("is outside every root"),
        )],
    )
    .in_roots(&["one", "other/deep"]),
    case(
        "a root that is a link",
        &[File("real/a.txt", "one\n"), Link("link", "real")],
        &[
            differ(
                "list_allowed_directories",
                "{}",
                SHOWN,
                Text("Allowed directories:\n$TOP/link\n$TOP/real"),
                Text("Allowed directories:\n$TOP/link"),
            ),
            same("read_text_file", r#"{"path":"$TOP/link/a.txt"}"#),
            same("read_text_file", r#"{"path":"$TOP/real/a.txt"}"#),
            differ(
                "search_files",
                r#"{"path":"$TOP/link","pattern":"*"}"#,
                SHOWN,
                Text("$TOP/real/a.txt"),
                Text("$TOP/link/a.txt"),
            ),
            differ(
                "edit_file",
                r#"{"path":"$TOP/link/a.txt","edits":[{"oldText":"one","newText":"two"}],"dryRun":true}"#,
                "the diff shows the path with its root as it was named",
                Part("Index: $TOP/real/a.txt\n"),
                Part("Index: $TOP/link/a.txt\n"),
            ),
        ],
    )
    .in_roots(&["link"]),
    case(
        "`..` after a link",
        &[
            File("root/a.txt", "here"),
            File("root/deep/a.txt", "there"),
            Directory("root/deep/directory"),
            Link("root/link", "deep/directory"),
        ],
        &[differ("read_text_file", r#"{"path":"$ROOT/link/../a.txt"}"#, DOTS, Text("here"), Text("there"))],
    ),
    case(
        "`..` after a missing directory",
        &[File("root/a.txt", "here")],
        &[
            differ(
                "read_text_file",
                r#"{"path":"$ROOT/missing/../a.txt"}"#,
                DOTS,
                Text("here"),
                Failure("does not exist"),
            ),
            differ(
                "create_directory",
                r#"{"path":"$ROOT/missing/../new"}"#,
                DOTS,
                Part("created"),
                Failure("does not exist"),
            ),
        ],
    )
    .leaving_another_tree(),
    case(
        "paths outside the root",
        &[Link("root/out", "{T}/outside"), Directory("root-evil")],
        &[
            differ(
                "read_text_file",
                r#"{"path":"$TOP/outside/secret.txt"}"#,
                REFUSAL,
                Failure("Access denied"),
                Failure("is outside every root"),
            ),
            differ(
                "read_text_file",
                r#"{"path":"$ROOT/out/secret.txt"}"#,
                REFUSAL,
                Failure("$TOP/outside/secret.txt"),
                Failure("is outside every root"),
            ),
            fail("read_text_file", r#"{"path":"/etc/passwd"}"#),
            fail("read_text_file", r#"{"path":"../outside/secret.txt"}"#),
            fail("list_directory", r#"{"path":"$ROOT-evil"}"#),
            fail("list_directory", r#"{"path":"$TOP"}"#),
            fail("read_text_file", r#"{"path":"~/secret.txt"}"#),
            fail("list_directory", r#"{"path":"~"}"#),
            fail("read_text_file", r#"{"path":"C:\\Windows\\system.ini"}"#),
            fail("write_file", r#"{"path":"C:\\new.txt","content":"x"}"#),
            fail("write_file", r#"{"path":"c:/new.txt","content":"x"}"#),
            fail("read_text_file", r#"{"path":"$ROOT/a\u0000b"}"#),
        ],
    ),
    case(
        "unusual paths",
        &[
            File("root/a b", "x"),
            File("root/ a", "y"),
            File("root/%41", "z"),
            File("root/C:x", "c"),
            File("root/back\\slash", "b"),
            File("root/-rf", "r"),
        ],
        &[
            same("read_text_file", r#"{"path":"$ROOT/a b"}"#),
            same("read_text_file", r#"{"path":"$ROOT/ a"}"#),
            same("read_text_file", r#"{"path":"$ROOT/%41"}"#),
            same("read_text_file", r#"{"path":"C:x"}"#),
            same("read_text_file", r#"{"path":"$ROOT/back\\slash"}"#),
            same("read_text_file", r#"{"path":"-rf"}"#),
            differ("read_text_file", r#"{"path":"file://$ROOT/a%20b"}"#, URI, Failure("ENOENT"), Text("x")),
            fail("read_text_file", r#"{"path":"\"$ROOT/a b\""}"#),
        ],
    ),
    case(
        "names that look like something else",
        &[
            File("root/~a", "tilde"),
            File("root/C:", "drive"),
            File("root/\\\\a", "share"),
            File("root/ab:/b", "scheme"),
        ],
        &[
            differ(
                "read_text_file",
                r#"{"path":"~a"}"#,
                OTHER,
                Text("tilde"),
                Failure("with a user name is not supported"),
            ),
            differ("read_text_file", r#"{"path":"\\\\a"}"#, OTHER, Text("share"), Failure("another system")),
            differ("read_text_file", r#"{"path":"ab://b"}"#, OTHER, Text("scheme"), Failure("scheme")),
            differ("read_text_file", r#"{"path":"C:"}"#, DRIVE, Failure("Windows-style path"), Text("drive")),
            same("read_text_file", r#"{"path":"./~a"}"#),
            same("read_text_file", r#"{"path":"./\\\\a"}"#),
            same("read_text_file", r#"{"path":"./ab://b"}"#),
            same("read_text_file", r#"{"path":"$ROOT/~a"}"#),
            same("read_text_file", r#"{"path":"./C:"}"#),
        ],
    ),
    case(
        "paths that are too long",
        &[],
        &[fail(
            "read_text_file",
            concat!(
                r#"{"path":"$ROOT/"#,
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                r#""}"#
            ),
        )],
    ),
    case(
        "an empty path",
        &[File("root/a", "")],
        &[
            fail("read_text_file", r#"{"path":""}"#),
            differ("list_directory", r#"{"path":""}"#, EMPTY, Text("[FILE] a"), Failure("(empty)")),
        ],
    ),
];
