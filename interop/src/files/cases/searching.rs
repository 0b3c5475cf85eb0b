//! Searching by name, with globs of every form.

use rootward_testkit::tree::Item::{self, Directory, File, Link};

use crate::files::case::Says::{Failure, Text};
use crate::files::case::{Case, case, differ, fail, same, same_lines};

const TREE: &[Item] = &[
    File("root/a.txt", ""),
    File("root/A.TXT", ""),
    File("root/ab.txt", ""),
    File("root/a.md", ""),
    File("root/.hidden.txt", ""),
    File("root/file1", ""),
    File("root/file2", ""),
    File("root/file9", ""),
    File("root/star*", ""),
    File("root/[x]", ""),
    File("root/käse.txt", ""),
    File("root/src/main.rs", ""),
    File("root/src/lib.rs", ""),
    File("root/src/deep/a.txt", ""),
    File("root/src/deep/deeper/a.txt", ""),
    File("root/.git/config.txt", ""),
    File("root/node_modules/x/a.txt", ""),
    Directory("root/empty"),
    Directory("root/dir.txt"),
];

const LINKS: &[Item] = &[
    File("root/a.txt", ""),
    File("root/directory/b.txt", ""),
    Link("root/in.txt", "a.txt"),
    Link("root/to-directory", "directory"),
];

const GLOBS: &str = r"Globs are those of `globset`: no `{1..3}`, no `+(a\|b)`, no `[[:alpha:]]`; `?` and a set match one byte of a name, and an invalid pattern is an error, not a literal. A leading `./` is removed.";

pub(in crate::files) const CASES: &[Case] = &[
    case(
        "names in the directory itself",
        TREE,
        &[
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"*.txt"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"*"}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":"a.txt"}"#),
            same_lines("search_files", r#"{"path":".","pattern":"*.md"}"#),
            same_lines("search_files", r#"{"path":"$ROOT/src","pattern":"*.rs"}"#),
            same_lines("search_files", r#"{"path":"src/","pattern":"*.rs"}"#),
        ],
    ),
    case(
        "names at every depth",
        TREE,
        &[
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**/*.txt"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**/*"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**/a.txt"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"src/**"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"src/**/a.txt"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"src/*/a.txt"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**/deep/**"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"*/*.rs"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**/.git/**"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**/.*"}"#),
        ],
    ),
    case(
        "letters, sets and alternatives",
        TREE,
        &[
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"?.txt"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"file[12]"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"file[!1]"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"file[^1]"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"file[0-5]"}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":"src[!a]main.rs"}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":"src[^a]main.rs"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"a{,b}.txt"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"a{b,}.txt"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"*.{md,txt}"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"{a,src/main}.{txt,rs}"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**/*.{rs,md}"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"k*se.txt"}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":"star\\*"}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":"\\[x\\]"}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":"[[]x]"}"#),
        ],
    ),
    case(
        "patterns that begin with a special character",
        TREE,
        &[
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"!*.txt"}"#),
            same("search_files", r##"{"path":"$ROOT","pattern":"#a"}"##),
            same("search_files", r#"{"path":"$ROOT","pattern":"/a.txt"}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":"$ROOT/a.txt"}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":"../root/a.txt"}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":""}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":"src/"}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":"**/"}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":"src/**/"}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":"a.TXT"}"#),
        ],
    ),
    case(
        "nothing is found",
        TREE,
        &[
            same("search_files", r#"{"path":"$ROOT","pattern":"nothing"}"#),
            same("search_files", r#"{"path":"$ROOT/empty","pattern":"**"}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":"main.rs"}"#),
        ],
    ),
    case(
        "excluded names",
        TREE,
        &[
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**/*.txt","excludePatterns":["node_modules"]}"#),
            same_lines(
                "search_files",
                r#"{"path":"$ROOT","pattern":"**/*.txt","excludePatterns":["node_modules/**"]}"#,
            ),
            same_lines(
                "search_files",
                r#"{"path":"$ROOT","pattern":"**/*.txt","excludePatterns":["**/node_modules/**",".git","src/deep/*"]}"#,
            ),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**","excludePatterns":["*.txt"]}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**","excludePatterns":["deep"]}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**","excludePatterns":["**/deep"]}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**","excludePatterns":["!src"]}"#),
            same("search_files", r#"{"path":"$ROOT","pattern":"**","excludePatterns":["**"]}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"*","excludePatterns":[]}"#),
        ],
    ),
    case(
        "links are found and not followed",
        LINKS,
        &[
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**"}"#),
            same_lines("search_files", r#"{"path":"$ROOT","pattern":"**/*.txt"}"#),
        ],
    ),
    case(
        "a link that leads outside is found",
        &[File("root/a.txt", ""), Link("root/out.txt", "{T}/outside/secret.txt")],
        &[differ(
            "search_files",
            r#"{"path":"$ROOT","pattern":"*.txt"}"#,
            "`search_files` lists links wherever they lead. The reference leaves out links that lead outside.",
            Text("$ROOT/a.txt"),
            Text("$ROOT/a.txt\n$ROOT/out.txt"),
        )],
    ),
    case(
        "patterns that the two read differently",
        TREE,
        &[
            differ(
                "search_files",
                r#"{"path":"$ROOT","pattern":"file{1..1}"}"#,
                GLOBS,
                Text("$ROOT/file1"),
                Text("No matches found"),
            ),
            differ(
                "search_files",
                r#"{"path":"$ROOT","pattern":"+(a).md"}"#,
                GLOBS,
                Text("$ROOT/a.md"),
                Text("No matches found"),
            ),
            differ(
                "search_files",
                r#"{"path":"$ROOT","pattern":"[[:alpha:]].md"}"#,
                GLOBS,
                Text("$ROOT/a.md"),
                Text("No matches found"),
            ),
            differ(
                "search_files",
                r#"{"path":"$ROOT","pattern":"k?se.txt"}"#,
                GLOBS,
                Text("$ROOT/käse.txt"),
                Text("No matches found"),
            ),
            differ(
                "search_files",
                r#"{"path":"$ROOT","pattern":"["}"#,
                GLOBS,
                Text("No matches found"),
                Failure("is not a valid pattern"),
            ),
            differ(
                "search_files",
                r#"{"path":"$ROOT","pattern":"./a.md"}"#,
                GLOBS,
                Text("No matches found"),
                Text("$ROOT/a.md"),
            ),
        ],
    ),
    case(
        "directories that cannot be searched",
        TREE,
        &[
            fail("search_files", r#"{"path":"$ROOT/missing","pattern":"*"}"#),
            fail("search_files", r#"{"path":"$ROOT/a.txt","pattern":"*"}"#),
            fail("search_files", r#"{"path":"$TOP/outside","pattern":"*"}"#),
            fail("search_files", r#"{"path":"$TOP","pattern":"*"}"#),
        ],
    ),
];
