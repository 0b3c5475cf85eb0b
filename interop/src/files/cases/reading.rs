//! Reading: text, ranges of lines, media, several files.

use rootward_testkit::tree::Item::{self, Directory, File, Link, Secret};

use super::paths::REFUSAL;
use crate::files::case::Says::{Data, Failure, Part, Text};
use crate::files::case::{Call, Case, Expect, case, differ, fail, same};

const TEXTS: &[Item] = &[
    File("root/lines.txt", "one\ntwo\nthree\n"),
    File("root/open.txt", "one\ntwo\nthree"),
    File("root/return.txt", "one\r\ntwo\r\nthree\r\n"),
    File("root/lone.txt", "one\rtwo\rthree"),
    File("root/mark.txt", "\u{feff}one\ntwo\n"),
    File("root/empty.txt", ""),
    File("root/newlines.txt", "\n\n\n"),
    File("root/letters.txt", "käse 😀 e\u{301}\nあ\u{2028}\n"),
    File("root/bytes.txt", "a{x:ff}b{x:e282}\n{x:c0af}c\n"),
    File("root/wide.txt", "{x:fffe61000a00}"),
    File("root/zero.txt", "a{x:00}b"),
    File("root/long-line.txt", "{abcdefgh*40000}\nend\n"),
    File("root/many.txt", "{a line of text\n*5000}last\n"),
    File("root/many-open.txt", "{ein kÄse\n*5000}last"),
    File("root/large.txt", "{a*4194305}"),
    Directory("root/directory"),
    Link("root/in", "lines.txt"),
    Link("root/out", "{T}/outside/secret.txt"),
    Link("root/dangling", "nothing"),
    Link("root/loop", "loop"),
];

const TAIL: &str = "`tail` does not count an empty line after the final newline. In the reference `tail: 1` of a file that ends in a newline is empty.";
const COUNTS: &str = "`head` or `tail` of 0 or less, or with a fraction, is an error. The reference reads the whole file, or some lines of it.";
const BINARY: &str = "A file with a NUL is not text; the error points to `read_media_file`.";

const MEDIA: &[Item] = &[
    File("root/a.png", "{x:89504e470d0a1a0a00}"),
    File("root/a.JPG", "jpg"),
    File("root/a.jpeg", "jpeg"),
    File("root/a.gif", "GIF89a"),
    File("root/a.webp", "webp"),
    File("root/a.bmp", "BM"),
    File("root/a.svg", "<svg/>"),
    File("root/a.mp3", "ID3"),
    File("root/a.wav", "RIFF"),
    File("root/a.ogg", "OggS"),
    File("root/a.flac", "fLaC"),
    File("root/a.txt", "text"),
    File("root/no-extension", "{x:000102}"),
    File("root/.png", "hidden"),
    File("root/empty.png", ""),
    File("root/name with space, ü, %41#?[].bin", "x"),
    Link("root/link.png", "a.txt"),
    Link("root/out.png", "{T}/outside/secret.txt"),
    File("root/large.bin", "{a*8388609}"),
    Directory("root/directory.png"),
];

const SEVERAL: &[Item] = &[
    File("root/a.txt", "a\n"),
    File("root/b.txt", "b"),
    File("root/empty.txt", ""),
    Directory("root/directory"),
    Secret("root/secret-inside.txt"),
];

pub(in crate::files) const CASES: &[Case] = &[
    case(
        "a file is read whole",
        TEXTS,
        &[
            same("read_text_file", r#"{"path":"$ROOT/lines.txt"}"#),
            same("read_text_file", r#"{"path":"$ROOT/open.txt"}"#),
            same("read_text_file", r#"{"path":"$ROOT/empty.txt"}"#),
            same("read_text_file", r#"{"path":"$ROOT/newlines.txt"}"#),
            same("read_text_file", r#"{"path":"$ROOT/letters.txt"}"#),
            same("read_text_file", r#"{"path":"lines.txt"}"#),
            same("read_text_file", r#"{"path":"./directory/.././lines.txt"}"#),
            same("read_text_file", r#"{"path":"$ROOT//lines.txt"}"#),
            same("read_text_file", r#"{"path":"$ROOT/in"}"#),
            same("read_file", r#"{"path":"$ROOT/lines.txt"}"#),
        ],
    ),
    case(
        "line ends and a byte order mark are kept",
        TEXTS,
        &[
            same("read_text_file", r#"{"path":"$ROOT/return.txt"}"#),
            same("read_text_file", r#"{"path":"$ROOT/lone.txt"}"#),
            same("read_text_file", r#"{"path":"$ROOT/mark.txt"}"#),
            same("read_text_file", r#"{"path":"$ROOT/mark.txt","head":1}"#),
        ],
    ),
    case(
        "bytes that are not UTF-8 become replacement characters",
        TEXTS,
        &[
            same("read_text_file", r#"{"path":"$ROOT/bytes.txt"}"#),
            same("read_text_file", r#"{"path":"$ROOT/bytes.txt","head":1}"#),
        ],
    ),
    case(
        "long lines and many lines",
        TEXTS,
        &[
            same("read_text_file", r#"{"path":"$ROOT/long-line.txt"}"#),
            same("read_text_file", r#"{"path":"$ROOT/long-line.txt","head":1}"#),
            same("read_text_file", r#"{"path":"$ROOT/many.txt"}"#),
            same("read_text_file", r#"{"path":"$ROOT/many.txt","head":4000}"#),
            same("read_text_file", r#"{"path":"$ROOT/many-open.txt","tail":4000}"#),
        ],
    ),
    case(
        "the first lines",
        TEXTS,
        &[
            same("read_text_file", r#"{"path":"$ROOT/lines.txt","head":1}"#),
            same("read_text_file", r#"{"path":"$ROOT/lines.txt","head":2}"#),
            same("read_text_file", r#"{"path":"$ROOT/lines.txt","head":3}"#),
            same("read_text_file", r#"{"path":"$ROOT/open.txt","head":3}"#),
            same("read_text_file", r#"{"path":"$ROOT/open.txt","head":100}"#),
            same("read_text_file", r#"{"path":"$ROOT/empty.txt","head":1}"#),
            same("read_text_file", r#"{"path":"$ROOT/newlines.txt","head":2}"#),
            same("read_text_file", r#"{"path":"$ROOT/return.txt","head":2}"#),
            same("read_text_file", r#"{"path":"$ROOT/lone.txt","head":1}"#),
            same("read_file", r#"{"path":"$ROOT/lines.txt","head":1}"#),
        ],
    ),
    case(
        "more lines than the file has, which ends in a newline",
        TEXTS,
        &[same("read_text_file", r#"{"path":"$ROOT/lines.txt","head":100}"#)],
    ),
    case(
        "the last lines of a file that ends without a newline",
        TEXTS,
        &[
            same("read_text_file", r#"{"path":"$ROOT/open.txt","tail":1}"#),
            same("read_text_file", r#"{"path":"$ROOT/open.txt","tail":2}"#),
            same("read_text_file", r#"{"path":"$ROOT/open.txt","tail":100}"#),
            same("read_text_file", r#"{"path":"$ROOT/empty.txt","tail":1}"#),
            same("read_text_file", r#"{"path":"$ROOT/lone.txt","tail":1}"#),
            same("read_file", r#"{"path":"$ROOT/open.txt","tail":1}"#),
        ],
    ),
    case(
        "the last lines of a file that ends in a newline",
        TEXTS,
        &[
            differ("read_text_file", r#"{"path":"$ROOT/lines.txt","tail":1}"#, TAIL, Text(""), Text("three")),
            differ(
                "read_text_file",
                r#"{"path":"$ROOT/lines.txt","tail":2}"#,
                TAIL,
                Text("three\n"),
                Text("two\nthree"),
            ),
        ],
    ),
    case(
        "the last lines with CRLF",
        TEXTS,
        &[differ(
            "read_text_file",
            r#"{"path":"$ROOT/return.txt","tail":3}"#,
            "`tail` keeps CRLF, as `head` does. The reference converts it to LF.",
            Text("two\nthree\n"),
            Text("one\r\ntwo\r\nthree\r"),
        )],
    ),
    case(
        "invalid numbers of lines",
        TEXTS,
        &[
            differ(
                "read_text_file",
                r#"{"path":"$ROOT/open.txt","head":0}"#,
                COUNTS,
                Text("one\ntwo\nthree"),
                Failure("`head` is 0"),
            ),
            differ(
                "read_text_file",
                r#"{"path":"$ROOT/open.txt","tail":0}"#,
                COUNTS,
                Text("one\ntwo\nthree"),
                Failure("`tail` is 0"),
            ),
            differ(
                "read_text_file",
                r#"{"path":"$ROOT/open.txt","head":-1}"#,
                COUNTS,
                Text(""),
                Failure("`head` is -1"),
            ),
            differ(
                "read_text_file",
                r#"{"path":"$ROOT/open.txt","head":1.5}"#,
                COUNTS,
                Text("one\ntwo"),
                Failure("`head` is 1.5"),
            ),
        ],
    ),
    case(
        "null instead of a number",
        TEXTS,
        &[differ(
            "read_text_file",
            r#"{"path":"$ROOT/open.txt","head":null}"#,
            "`null` instead of a number counts as not given. In the reference it is an error.",
            Failure("received null"),
            Text("one\ntwo\nthree"),
        )],
    ),
    case(
        "lines from the middle",
        TEXTS,
        &[differ(
            "read_text_file",
            r#"{"path":"$ROOT/lines.txt","offset":2,"limit":1}"#,
            "`offset` and `limit` read lines from the middle.",
            Text("one\ntwo\nthree\n"),
            Text("two"),
        )],
    ),
    case(
        "UTF-16",
        TEXTS,
        &[differ(
            "read_text_file",
            r#"{"path":"$ROOT/wide.txt"}"#,
            "UTF-16 with a byte order mark is decoded.",
            Part("\u{fffd}"),
            Text("a\n"),
        )],
    ),
    case(
        "a file that is not text",
        TEXTS,
        &[differ("read_text_file", r#"{"path":"$ROOT/zero.txt"}"#, BINARY, Text("a\u{0}b"), Failure("is not text"))],
    ),
    case(
        "a file of more than 4 MiB",
        TEXTS,
        &[differ(
            "read_text_file",
            r#"{"path":"$ROOT/large.txt"}"#,
            "At most 4 MiB; longer files are read by lines.",
            Part("aaaa"),
            Failure("has 4194305 bytes"),
        )],
    ),
    case(
        "text files that cannot be read",
        TEXTS,
        &[
            fail("read_text_file", r#"{"path":"$ROOT/missing.txt"}"#),
            fail("read_text_file", r#"{"path":"$ROOT/missing/missing.txt"}"#),
            fail("read_text_file", r#"{"path":"$ROOT/lines.txt/below"}"#),
            fail("read_text_file", r#"{"path":"$ROOT/directory"}"#),
            fail("read_text_file", r#"{"path":"$ROOT"}"#),
            fail("read_text_file", r#"{"path":"$ROOT/out"}"#),
            fail("read_text_file", r#"{"path":"$ROOT/dangling"}"#),
            fail("read_text_file", r#"{"path":"$ROOT/loop"}"#),
            fail("read_text_file", r#"{"path":"$ROOT/open.txt","head":1,"tail":1}"#),
            fail("read_file", r#"{"path":"$ROOT/missing.txt"}"#),
        ],
    ),
    case(
        "images",
        MEDIA,
        &[
            same("read_media_file", r#"{"path":"$ROOT/a.png"}"#),
            same("read_media_file", r#"{"path":"$ROOT/a.JPG"}"#),
            same("read_media_file", r#"{"path":"$ROOT/a.jpeg"}"#),
            same("read_media_file", r#"{"path":"$ROOT/a.gif"}"#),
            same("read_media_file", r#"{"path":"$ROOT/a.webp"}"#),
            same("read_media_file", r#"{"path":"$ROOT/a.bmp"}"#),
            same("read_media_file", r#"{"path":"$ROOT/a.svg"}"#),
            same("read_media_file", r#"{"path":"$ROOT/empty.png"}"#),
        ],
    ),
    case(
        "audio",
        MEDIA,
        &[
            same("read_media_file", r#"{"path":"$ROOT/a.mp3"}"#),
            same("read_media_file", r#"{"path":"$ROOT/a.wav"}"#),
            same("read_media_file", r#"{"path":"$ROOT/a.ogg"}"#),
            same("read_media_file", r#"{"path":"$ROOT/a.flac"}"#),
        ],
    ),
    case(
        "any other file as a resource",
        MEDIA,
        &[
            same("read_media_file", r#"{"path":"$ROOT/a.txt"}"#),
            same("read_media_file", r#"{"path":"$ROOT/no-extension"}"#),
            same("read_media_file", r#"{"path":"$ROOT/.png"}"#),
        ],
    ),
    case("media behind a link", MEDIA, &[same("read_media_file", r#"{"path":"$ROOT/link.png"}"#)]),
    case(
        "a resource with a name that a URI escapes",
        MEDIA,
        &[same("read_media_file", r#"{"path":"$ROOT/name with space, ü, %41#?[].bin"}"#)],
    ),
    case(
        "media that cannot be read",
        MEDIA,
        &[
            fail("read_media_file", r#"{"path":"$ROOT/missing.png"}"#),
            fail("read_media_file", r#"{"path":"$ROOT/directory.png"}"#),
            fail("read_media_file", r#"{"path":"$ROOT/out.png"}"#),
            fail("read_media_file", r#"{"path":"$TOP/outside/secret.txt"}"#),
        ],
    ),
    case(
        "media of more than 8 MiB",
        MEDIA,
        &[differ(
            "read_media_file",
            r#"{"path":"$ROOT/large.bin"}"#,
            "At most 8 MiB of media, 8 MiB of text in total, 1000 files per call.",
            Data("YWFh"),
            Failure("has 8388609 bytes"),
        )],
    ),
    case(
        "several files",
        SEVERAL,
        &[
            same("read_multiple_files", r#"{"paths":["$ROOT/a.txt"]}"#),
            same("read_multiple_files", r#"{"paths":["$ROOT/a.txt","$ROOT/b.txt","$ROOT/empty.txt"]}"#),
            same("read_multiple_files", r#"{"paths":["b.txt","./a.txt","b.txt"]}"#),
        ],
    ),
    case(
        "several files, of which some cannot be read",
        SEVERAL,
        &[Call {
            tool: "read_multiple_files",
            arguments: r#"{"paths":["$ROOT/missing.txt","$ROOT/a.txt","$TOP/outside/secret.txt","$ROOT/directory","b.txt"]}"#,
            expect: Expect::SameBut(
                REFUSAL,
                &["$ROOT/missing.txt: Error - ", "$TOP/outside/secret.txt: Error - ", "$ROOT/directory: Error - "],
            ),
        }],
    ),
    case("no files at all", SEVERAL, &[fail("read_multiple_files", r#"{"paths":[]}"#)]),
];
