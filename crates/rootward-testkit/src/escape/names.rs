//! Names that look like something else: dots, case, composed letters, control bytes, bytes that are not UTF-8.

use super::Act::{Check, CreateNew, List, MakeDirectory, Put, Read, Remove, Rename};
use super::{Row, row};
use crate::tree::Item::{Directory, Inside, Link, Secret};

const DOTS: &str = "only `.` and `..` are special (path_resolution(7))";
const CASE: &str = "design: POSIX names keep their case";
const PREFIX: &str = "CVE-2025-53110, prefix without a separator";
const NORMAL: &str = "Unicode TR 15: NFC and NFD are two names on Linux";
const BYTES: &str = "a name is any bytes but `/` and NUL";

pub(super) static ROWS: &[Row] = &[
    row("dots-then-name", DOTS, Read, "..foo").tree(&[Inside("root/..foo")]).allow("{T}/root/..foo"),
    row("dots-then-name-directory", DOTS, Read, "..foo/in.txt")
        .tree(&[Inside("root/..foo/in.txt")])
        .allow("{T}/root/..foo/in.txt"),
    row("dots-three", DOTS, Read, ".../x.txt").tree(&[Inside("root/.../x.txt")]).allow("{T}/root/.../x.txt"),
    row("dots-three-missing", "Windows 9x took `...` for `../..`", Read, ".../outside/secret.txt").missing(),
    row("dots-four", DOTS, List, "....").tree(&[Directory("root/....")]).allow("{T}/root/...."),
    row("name-then-dots", DOTS, Read, "foo..").tree(&[Inside("root/foo..")]).allow("{T}/root/foo.."),
    row("name-dots-name", "a check for `..` anywhere in the text refuses it", Read, "a..b")
        .tree(&[Inside("root/a..b")])
        .allow("{T}/root/a..b"),
    row("name-then-dot", "Windows drops trailing dots, POSIX does not", Read, "in.txt.").missing(),
    row("dotdot-blank", "`.. ` is a name", Read, ".. /outside/secret.txt").missing(),
    row("dotdot-blank-name", "`.. ` is a name", Read, ".. /x.txt")
        .tree(&[Inside("root/.. /x.txt")])
        .allow("{T}/root/.. /x.txt"),
    row("dot-blank-dot", "`. .` is a name", Read, ". ./outside/secret.txt").missing(),
    row("dotdot-dot", "`../.` is the parent", List, ".././outside").outside(),
    row("hidden", DOTS, Read, ".hidden").tree(&[Inside("root/.hidden")]).allow("{T}/root/.hidden"),
    row("create-dots-name", DOTS, CreateNew, "..new").allow("{T}/root/..new"),
    row("create-dot", "`.` always exists", CreateNew, "dir/.").refused(),
    row("create-dotdot", "`..` always exists", CreateNew, "dir/..").refused(),
    row("make-directory-dot", "mkdir(2): EEXIST", MakeDirectory, "dir/.").refused(),
    row("make-directory-dotdot", "CVE-2026-25871, bare `..`", MakeDirectory, "..").refused(),
    row("remove-dotdot", "CVE-2026-25871, bare `..`", Remove, "..").refused(),
    row("rename-dotdot", "CVE-2026-25871, bare `..`", Rename, "..").to("moved").refused(),
    row("case-of-name", CASE, Read, "IN.TXT").missing(),
    row("case-of-root", CASE, Read, "{T}/ROOT/in.txt").outside(),
    row("case-sibling", CASE, Read, "{T}/Root/secret.txt").tree(&[Secret("Root/secret.txt")]).outside(),
    row("case-sibling-check", CASE, Check, "{T}/ROOT/new.txt").tree(&[Directory("ROOT")]).outside(),
    row("case-two-names", CASE, Read, "A.txt")
        .tree(&[Inside("root/a.txt"), Inside("root/A.txt")])
        .allow("{T}/root/A.txt"),
    row("prefix-sibling", PREFIX, Read, "{T}/root-evil/secret.txt").outside(),
    row("prefix-sibling-list", PREFIX, List, "{T}/root-evil").outside(),
    row("prefix-sibling-put", PREFIX, Put, "{T}/root-evil/new.txt").outside(),
    row("prefix-sibling-letter", PREFIX, Read, "{T}/roots/secret.txt").tree(&[Secret("roots/secret.txt")]).outside(),
    row("prefix-sibling-file", PREFIX, Read, "{T}/root.txt").tree(&[Secret("root.txt")]).outside(),
    row("prefix-sibling-backslash", PREFIX, Read, "{T}/root\\secret.txt").tree(&[Secret("root\\secret.txt")]).outside(),
    row("prefix-sibling-missing", PREFIX, Check, "{T}/root2").outside(),
    row("prefix-shorter", "half the root's name is not the root", List, "{T}/roo")
        .tree(&[Secret("roo/secret.txt")])
        .outside(),
    row("prefix-sibling-dots", PREFIX, Read, "{T}/root../secret.txt").tree(&[Secret("root../secret.txt")]).outside(),
    row("prefix-sibling-of-second", PREFIX, Read, "{T}/second-evil/secret.txt")
        .tree(&[Directory("second"), Secret("second-evil/secret.txt")])
        .roots(&[super::rw("{T}/root"), super::rw("{T}/second")])
        .outside(),
    row("composed-name", NORMAL, Read, "\u{e9}.txt").tree(&[Inside("root/\u{e9}.txt")]).allow("{T}/root/\u{e9}.txt"),
    row("composed-asked-decomposed", NORMAL, Read, "e\u{301}.txt").tree(&[Inside("root/\u{e9}.txt")]).missing(),
    row("composed-both", NORMAL, Read, "e\u{301}.txt")
        .tree(&[Inside("root/\u{e9}.txt"), Inside("root/e\u{301}.txt")])
        .allow("{T}/root/e\u{301}.txt"),
    row("composed-root-sibling", NORMAL, Read, "{T}/caf\u{65}\u{301}/secret.txt")
        .tree(&[Directory("caf\u{e9}"), Secret("caf\u{65}\u{301}/secret.txt")])
        .roots(&[super::rw("{T}/caf\u{e9}")])
        .outside(),
    row("compatibility-letter", "NFKC would make it `in.txt`", Read, "\u{2139}n.txt").missing(),
    row("sharp-s", "case folding would make it `strasse`", Read, "STRASSE")
        .tree(&[Inside("root/stra\u{df}e")])
        .missing(),
    row("not-utf8-name", BYTES, Read, "{x:fffe}.txt")
        .tree(&[Inside("root/{x:fffe}.txt")])
        .allow("{T}/root/{x:fffe}.txt"),
    row("not-utf8-missing", BYTES, Read, "{x:ff}").missing(),
    row("not-utf8-replaced", "U+FFFD must not match other bytes", Read, "\u{fffd}")
        .tree(&[Inside("root/{x:ff}")])
        .missing(),
    row("not-utf8-sibling", "U+FFFD must not match other bytes", Read, "{T}/r{x:fe}/secret.txt")
        .tree(&[Directory("r{x:ff}"), Secret("r{x:fe}/secret.txt")])
        .roots(&[super::rw("{T}/r{x:ff}")])
        .outside(),
    row("not-utf8-root", "issue: a directory whose name is not UTF-8 can be a root", Read, "{T}/r{x:ff}/in.txt")
        .tree(&[Inside("r{x:ff}/in.txt")])
        .roots(&[super::rw("{T}/r{x:ff}")])
        .allow("{T}/r{x:ff}/in.txt"),
    row("not-utf8-create", BYTES, CreateNew, "{x:80}").allow("{T}/root/{x:80}"),
    row("not-utf8-link", BYTES, Read, "{x:ff}").tree(&[Link("root/{x:ff}", "{T}/outside/secret.txt")]).outside(),
    row("not-utf8-out", BYTES, Read, "../o{x:ff}/secret.txt").tree(&[Secret("o{x:ff}/secret.txt")]).outside(),
    row("newline-name", BYTES, Read, "a\nb").tree(&[Inside("root/a\nb")]).allow("{T}/root/a\nb"),
    row("escape-sequence-name", "a message must not send it raw to a terminal", Read, "\u{1b}[2Ja").missing(),
    row("control-name", BYTES, Read, "\u{1}\u{7f}").tree(&[Inside("root/\u{1}\u{7f}")]).allow("{T}/root/\u{1}\u{7f}"),
    row("newline-out", BYTES, Read, "a\n/../../outside/secret.txt").tree(&[Directory("root/a\n")]).outside(),
    row("right-to-left-name", "Trojan Source, CVE-2021-42574", Read, "\u{202e}txt.ni").missing(),
    row("emoji-name", BYTES, Read, "\u{1f4c1}/x").tree(&[Inside("root/\u{1f4c1}/x")]).allow("{T}/root/\u{1f4c1}/x"),
    row("windows-device-name", "a reserved name of Windows is a name here", CreateNew, "NUL").allow("{T}/root/NUL"),
    row("windows-stream-name", "NTFS streams are names here", CreateNew, "in.txt::$DATA")
        .allow("{T}/root/in.txt::$DATA"),
    row("percent-name", "not a format string", Read, "%s%n").tree(&[Inside("root/%s%n")]).allow("{T}/root/%s%n"),
    row("root-name-again-inside", "the root's own name below it", Read, "root/in.txt")
        .tree(&[Inside("root/root/in.txt")])
        .allow("{T}/root/root/in.txt"),
];
