//! Situations for `rootward serve` alone: each kind of result that its tools return, as an SDK reads it.

use super::situation::{Asked, Capability, FIRST, SECOND, Situation, THIRD};
use super::step::Answer::Roots;
use super::step::Outcome::{Errs, Fails, Gives, Prints, Refused, RefusedWith, Says, Shows};
use super::step::Step::{Announce, Answer, Call, CallDuring, Describe, Hear, Read, TakeBack};
use super::step::ToolCall;

/// Prints that it began, and ends when the file `go` exists.
const WAITS: ToolCall = ToolCall("shell", r#"{"command": "echo began; until [ -e go ]; do sleep 0.05; done; cat go"}"#);

/// Locks a file as long as it runs.
const HOLDS: ToolCall = ToolCall("shell", r#"{"command": "exec 9>lock; flock 9; echo began; sleep 600"}"#);

/// Ends when that file is unlocked.
const TAKES: ToolCall = ToolCall("shell", r#"{"command": "flock lock echo free"}"#);

/// The situations, slowest first.
pub(super) const OF_SERVE: [Situation; 7] = [
    Situation {
        name: "gets progress of a call",
        capability: Capability::Undeclared,
        served: &["first:rwx"],
        steps: &[CallDuring(
            WAITS,
            Prints("began\ngone"),
            ToolCall("write_file", r#"{"path": "go", "content": "gone"}"#),
            Says("Successfully wrote to go"),
        )],
        asked: Asked::Times { legacy: 0, modern: 0 },
    },
    Situation {
        name: "cancels a call",
        capability: Capability::Undeclared,
        served: &["first:rwx"],
        steps: &[TakeBack(HOLDS), Call(TAKES, Prints("free\n"))],
        asked: Asked::Times { legacy: 0, modern: 0 },
    },
    Situation {
        name: "each kind of result",
        capability: Capability::Declared,
        served: &[],
        steps: &[
            Answer(Roots(&[FIRST])),
            Call(ToolCall("read_text_file", r#"{"path": "STAGE/first/file"}"#), Says("first")),
            Describe {
                legacy: "…Allowed: `STAGE/first` (read, write, delete). …",
                modern: "…has not named its roots yet…",
            },
            Call(
                ToolCall("write_file", r#"{"path": "new", "content": "one\ntwo\n"}"#),
                Says("Successfully wrote to new"),
            ),
            Call(ToolCall("read_text_file", r#"{"path": "new", "tail": 1}"#), Says("two")),
            Call(
                ToolCall("edit_file", r#"{"path": "new", "edits": [{"oldText": "two", "newText": "three"}]}"#),
                Says("…-two\n+three\n…"),
            ),
            Call(ToolCall("read_text_file", r#"{"path": "new"}"#), Says("one\nthree\n")),
            Call(ToolCall("create_directory", r#"{"path": "sub"}"#), Says("Successfully created directory sub")),
            Call(ToolCall("write_file", r#"{"path": "sub/dot.png", "content": "pixels"}"#), Says("Success…")),
            Call(ToolCall("list_directory", r#"{"path": "."}"#), Says("[FILE] file\n[FILE] new\n[DIR] sub")),
            Call(ToolCall("directory_tree", r#"{"path": "sub"}"#), Says("…\"name\": \"dot.png\"…")),
            Call(ToolCall("search_files", r#"{"path": ".", "pattern": "**/*.png"}"#), Says("STAGE/first/sub/dot.png")),
            Call(
                ToolCall("read_media_file", r#"{"path": "sub/dot.png"}"#),
                Shows(r#"{"type": "image", "data": "cGl4ZWxz", "mimeType": "image/png"}"#),
            ),
        ],
        asked: Asked::Times { legacy: 1, modern: 11 },
    },
    Situation {
        name: "each kind of failure",
        capability: Capability::Declared,
        served: &[],
        steps: &[
            Answer(Roots(&[FIRST])),
            Describe { legacy: "List…", modern: "List…" },
            Call(
                ToolCall("read_text_file", r#"{"path": "STAGE/third/file"}"#),
                RefusedWith(
                    "outside_roots",
                    "path `STAGE/third/file` is outside every root; current roots: `STAGE/first`…",
                ),
            ),
            Call(ToolCall("read_media_file", r#"{"path": "../third/file"}"#), RefusedWith("outside_roots", "path…")),
            Call(ToolCall("get_file_info", r#"{"path": "/etc/passwd"}"#), RefusedWith("outside_roots", "path…")),
            Call(ToolCall("read_text_file", r#"{"path": "missing"}"#), Fails("`STAGE/first/missing` does not exist…")),
            Call(ToolCall("read_text_file", r#"{"path": "file", "head": "many"}"#), Fails("invalid arguments…")),
            Call(ToolCall("write_file", r#"{"path": "file"}"#), Fails("invalid arguments: missing field `content`")),
            Call(ToolCall("no_such_tool", "{}"), Errs(-32602)),
        ],
        asked: Asked::Some,
    },
    Situation {
        name: "other roots, and tools that name them",
        capability: Capability::Declared,
        served: &[],
        steps: &[
            Answer(Roots(&[FIRST])),
            Read(FIRST, Gives(FIRST)),
            Describe { legacy: "…start at `STAGE/first`.", modern: "…has not named its roots yet…" },
            Answer(Roots(&[SECOND])),
            Announce,
            Read(FIRST, Refused("outside_roots")),
            Hear,
            Describe { legacy: "…start at `STAGE/second #2 ü%`.", modern: "…has not named its roots yet…" },
            Read(SECOND, Gives(SECOND)),
        ],
        asked: Asked::Times { legacy: 2, modern: 3 },
    },
    Situation {
        name: "roots within the operator's roots",
        capability: Capability::Declared,
        served: &["first", "third:ro"],
        steps: &[
            Answer(Roots(&[SECOND, THIRD])),
            Read(SECOND, Refused("outside_roots")),
            Read(FIRST, Refused("outside_roots")),
            Read(THIRD, Gives(THIRD)),
            Call(ToolCall("write_file", r#"{"path": "file", "content": ""}"#), RefusedWith("access_denied", "…read…")),
        ],
        asked: Asked::Times { legacy: 1, modern: 4 },
    },
    Situation {
        name: "no roots capability, roots from the operator",
        capability: Capability::Undeclared,
        served: &["first", "second #2 ü%:ro"],
        steps: &[
            Describe { legacy: BOTH, modern: BOTH },
            Read(FIRST, Gives(FIRST)),
            Read(SECOND, Gives(SECOND)),
            Read(THIRD, Refused("outside_roots")),
        ],
        asked: Asked::Times { legacy: 0, modern: 0 },
    },
];

const BOTH: &str = "…Allowed: `STAGE/first` (read, write, delete), `STAGE/second #2 ü%` (read). …";
