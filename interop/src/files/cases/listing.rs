//! Listing: names, sizes, trees, and the metadata of one entry.

use rootward_testkit::tree::Item::{self, Directory, File, Link, Permissions, Socket, Sparse};

use crate::files::case::Says::{Data, Failure, Part, Text};
use crate::files::case::{Call, Case, Expect, case, differ, fail, same, same_lines, same_tree};

const ENTRIES: &[Item] = &[
    File("root/b.txt", "b\n"),
    File("root/a.txt", ""),
    File("root/.hidden", "x"),
    File("root/name with spaces", "xx"),
    File("root/käse 😀", "xxx"),
    File("root/a name that is longer than thirty letters.txt", "xxxx"),
    Directory("root/empty"),
    File("root/directory/inner.txt", "inner"),
    File("root/directory/deeper/deepest.txt", "deepest"),
    Directory("root/directory/deeper/empty"),
];

const LINKS: &[Item] = &[
    File("root/directory/inner.txt", "inner"),
    Link("root/to-directory", "directory"),
    Link("root/to-file", "directory/inner.txt"),
    Link("root/out", "{T}/outside"),
    Link("root/dangling", "nothing"),
    Socket("root/socket"),
];

const SIZES: &[Item] = &[
    File("root/a", "{x*1}"),
    File("root/b", "{x*1023}"),
    File("root/c", "{x*1024}"),
    File("root/d", "{x*1025}"),
    File("root/e", "{x*1536}"),
    Sparse("root/f", 1_048_576),
    Sparse("root/g", 1_048_575),
    Sparse("root/h", 5_368_709_120),
    Sparse("root/i", 1_099_511_627_776),
    File("root/j", ""),
];

/// A tree for every form of `excludePatterns`.
const NESTED: &[Item] = &[
    File("root/a.txt", ""),
    File("root/b.rs", ""),
    File("root/.hidden", ""),
    File("root/node_modules/x/index.js", ""),
    File("root/src/node_modules/y.js", ""),
    File("root/src/main.rs", ""),
    File("root/src/deep/a.txt", ""),
    File("root/build/out/a.o", ""),
    Directory("root/empty"),
];

const SORTED: &str =
    "Everything is sorted by name, byte by byte. In the reference the order depends on the disk or the locale.";
const LINK_SIZE: &str = "A link has its own size, not that of its target.";

pub(in crate::files) const CASES: &[Case] = &[
    case(
        "a directory is listed",
        ENTRIES,
        &[
            same_lines("list_directory", r#"{"path":"$ROOT"}"#),
            same_lines("list_directory", r#"{"path":"."}"#),
            same_lines("list_directory", r#"{"path":"$ROOT/"}"#),
            same_lines("list_directory", r#"{"path":"$ROOT/directory"}"#),
            same("list_directory", r#"{"path":"$ROOT/directory/deeper/empty"}"#),
        ],
    ),
    case(
        "links and sockets in a list",
        LINKS,
        &[
            same_lines("list_directory", r#"{"path":"$ROOT"}"#),
            same_lines("list_directory", r#"{"path":"$ROOT/to-directory"}"#),
        ],
    ),
    case(
        "lists that fail",
        LINKS,
        &[
            fail("list_directory", r#"{"path":"$ROOT/missing"}"#),
            fail("list_directory", r#"{"path":"$ROOT/directory/inner.txt"}"#),
            fail("list_directory", r#"{"path":"$ROOT/out"}"#),
            fail("list_directory", r#"{"path":"$TOP"}"#),
            fail("list_directory", r#"{"path":"/"}"#),
            fail("list_directory", r#"{"path":".."}"#),
            fail("list_directory_with_sizes", r#"{"path":"$ROOT/missing"}"#),
            fail("list_directory_with_sizes", r#"{"path":"$ROOT/directory/inner.txt"}"#),
            fail("list_directory_with_sizes", r#"{"path":"$ROOT","sortBy":"time"}"#),
            fail("directory_tree", r#"{"path":"$ROOT/missing"}"#),
            fail("directory_tree", r#"{"path":"$ROOT/directory/inner.txt"}"#),
            fail("directory_tree", r#"{"path":"$ROOT/out"}"#),
        ],
    ),
    case(
        "a name with a newline in it",
        &[File("root/a\n[DIR] b", "")],
        &[differ(
            "list_directory",
            r#"{"path":"$ROOT"}"#,
            "Control characters and bytes that are not UTF-8 are escaped in listed names.",
            Text("[FILE] a\n[DIR] b"),
            Text("[FILE] a\\n[DIR] b"),
        )],
    ),
    case(
        "sizes in every unit",
        SIZES,
        &[
            same("list_directory_with_sizes", r#"{"path":"$ROOT"}"#),
            same("list_directory_with_sizes", r#"{"path":"$ROOT","sortBy":"name"}"#),
            same("list_directory_with_sizes", r#"{"path":"$ROOT","sortBy":"size"}"#),
        ],
    ),
    case(
        "sizes of the entries of a directory",
        ENTRIES,
        &[
            same_lines("list_directory_with_sizes", r#"{"path":"$ROOT"}"#),
            same("list_directory_with_sizes", r#"{"path":"$ROOT/directory/deeper/empty"}"#),
            same("list_directory_with_sizes", r#"{"path":"$ROOT/directory"}"#),
        ],
    ),
    case(
        "names whose order depends on the language",
        &[File("root/B", ""), File("root/a", "")],
        &[differ(
            "list_directory_with_sizes",
            r#"{"path":"$ROOT"}"#,
            SORTED,
            Part("[FILE] a                                     0 B\n[FILE] B "),
            Part("[FILE] B                                     0 B\n[FILE] a "),
        )],
    ),
    case(
        "directories among sizes",
        &[File("root/a", "a"), Directory("root/b"), File("root/c", "ccc")],
        &[differ(
            "list_directory_with_sizes",
            r#"{"path":"$ROOT","sortBy":"size"}"#,
            "Sorted by size, directories come last. The reference uses the size of the directory entry on disk.",
            Part("[DIR] b                              \n[FILE] c "),
            Part("1 B\n[DIR] b "),
        )],
    ),
    case(
        "the size of a link",
        &[File("root/a", "{x*5000}"), Link("root/b", "a")],
        &[differ(
            "list_directory_with_sizes",
            r#"{"path":"$ROOT"}"#,
            LINK_SIZE,
            Part("Combined size: 9.77 KB"),
            Part("Combined size: 4.88 KB"),
        )],
    ),
    case(
        "a tree",
        ENTRIES,
        &[
            same_tree(r#"{"path":"$ROOT"}"#),
            same_tree(r#"{"path":"$ROOT/directory"}"#),
            same_tree(r#"{"path":"directory"}"#),
            same("directory_tree", r#"{"path":"$ROOT/empty"}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":[]}"#),
        ],
    ),
    case("links in a tree", LINKS, &[same_tree(r#"{"path":"$ROOT"}"#), same_tree(r#"{"path":"$ROOT/to-directory"}"#)]),
    case(
        "a tree without entries of a given name",
        NESTED,
        &[
            same_tree(r#"{"path":"$ROOT","excludePatterns":["node_modules"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":["a.txt"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":[".hidden","empty"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":["src/deep"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":["deep/a.txt"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":["nothing"]}"#),
        ],
    ),
    case(
        "a tree without entries that match a pattern",
        NESTED,
        &[
            same_tree(r#"{"path":"$ROOT","excludePatterns":["*.txt"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":["**/*.txt"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":["**/node_modules/**"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":["src/**"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":["*","!a.txt"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":["**"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":["{a,b}.*","?uild"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":["[ab].*"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":["src/"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":["/src"]}"#),
            same_tree(r#"{"path":"$ROOT","excludePatterns":[""]}"#),
        ],
    ),
    case(
        "metadata of an entry",
        &[
            File("root/a.txt", "12345"),
            Permissions("root/a.txt", 0o640),
            File("root/run", ""),
            Permissions("root/run", 0o755),
            Directory("root/directory"),
            Link("root/in", "a.txt"),
            Socket("root/socket"),
        ],
        &[
            info(r#"{"path":"$ROOT/a.txt"}"#),
            info(r#"{"path":"$ROOT/run"}"#),
            info(r#"{"path":"$ROOT/in"}"#),
            info(r#"{"path":"run"}"#),
            info(r#"{"path":"$ROOT/directory"}"#),
        ],
    ),
    case(
        "metadata as structured data",
        &[File("root/a.txt", "12345")],
        &[differ(
            "get_file_info",
            r#"{"path":"$ROOT/a.txt"}"#,
            "The values are also structured data: `size`, `created`, `modified`, `accessed`, `isDirectory`, `isFile`, `permissions`, `kind`.",
            Data(r#"{"content":"size: 5\n"#),
            Data(r#","size":5}"#),
        )],
    ),
    case(
        "metadata that cannot be read",
        LINKS,
        &[
            fail("get_file_info", r#"{"path":"$ROOT/missing"}"#),
            fail("get_file_info", r#"{"path":"$ROOT/out"}"#),
            fail("get_file_info", r#"{"path":"$ROOT/dangling"}"#),
            fail("get_file_info", r#"{"path":"$ROOT/directory/inner.txt/below"}"#),
        ],
    ),
    case(
        "a file with secrets among other files",
        &[File("root/.env", "TOKEN=1"), File("root/.env.example", "TOKEN=")],
        &[
            same("read_text_file", r#"{"path":"$ROOT/.env.example"}"#),
            differ("read_text_file", r#"{"path":"$ROOT/.env"}"#, CLOSED, Text("TOKEN=1"), Failure("")),
            differ(
                "directory_tree",
                r#"{"path":"$ROOT"}"#,
                CLOSED,
                Part("\".env\""),
                Text("[\n  {\n    \"name\": \".env.example\",\n    \"type\": \"file\"\n  }\n]"),
            ),
        ],
    ),
    case(
        "a directory with keys",
        &[File("root/.ssh/id_ed25519", "KEY"), File("root/a", "")],
        &[
            differ("read_text_file", r#"{"path":"$ROOT/.ssh/id_ed25519"}"#, CLOSED, Text("KEY"), Failure("")),
            differ("list_directory", r#"{"path":"$ROOT/.ssh"}"#, CLOSED, Text("[FILE] id_ed25519"), Failure("")),
            differ(
                "directory_tree",
                r#"{"path":"$ROOT"}"#,
                CLOSED,
                Part("id_ed25519"),
                Text("[\n  {\n    \"name\": \"a\",\n    \"type\": \"file\"\n  }\n]"),
            ),
        ],
    ),
];

const CLOSED: &str = "Closed places (`.ssh`, `.env` and so on, [closed.md](closed.md)) are neither read nor listed.";

/// A call whose answers differ only in the times.
const fn info(arguments: &'static str) -> Call {
    const TIMES: &str = "Times are ISO 8601 in UTC; the reference writes human-readable text in the local time zone. A time that is not known, or before 1970, is `unknown`.";
    Call {
        tool: "get_file_info",
        arguments,
        expect: Expect::SameBut(TIMES, &["created: ", "modified: ", "accessed: "]),
    }
}
