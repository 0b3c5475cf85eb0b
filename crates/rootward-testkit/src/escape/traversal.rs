//! `..` in every form: it means what the kernel means, and only the final object decides.

use super::Act::{Append, Check, CreateNew, List, MakeDirectory, Put, Read, Remove, Stat};
use super::{DETOUR, Row, row};
use crate::tree::Item::{Directory, Inside, Link, Secret};

const CWE: &str = "CWE-22, path traversal";
const RESOLUTION: &str = "path_resolution(7)";

pub(super) static ROWS: &[Row] = &[
    row("plain-file", RESOLUTION, Read, "in.txt").allow("{T}/root/in.txt"),
    row("plain-absolute", RESOLUTION, Read, "{T}/root/in.txt").allow("{T}/root/in.txt"),
    row("plain-deep", RESOLUTION, Read, "dir/deep/in.txt").allow("{T}/root/dir/deep/in.txt"),
    row("plain-list", RESOLUTION, List, "dir").allow("{T}/root/dir"),
    row("root-itself-by-dot", RESOLUTION, List, ".").allow("{T}/root"),
    row("root-itself-absolute", RESOLUTION, List, "{T}/root").allow("{T}/root"),
    row("dotdot-read", CWE, Read, "../outside/secret.txt").outside(),
    row("dotdot-check", CWE, Check, "../outside/secret.txt").outside(),
    row("dotdot-stat", CWE, Stat, "../outside/secret.txt").outside(),
    row("dotdot-list", CWE, List, "../outside").outside(),
    row("dotdot-put", CWE, Put, "../outside/secret.txt").outside(),
    row("dotdot-put-new", CWE, Put, "../outside/new.txt").outside(),
    row("dotdot-append", CWE, Append, "../outside/secret.txt").outside(),
    row("dotdot-create-new", CWE, CreateNew, "../outside/new.txt").outside(),
    row(
        "dotdot-create-existing",
        "design, invariant 7: outside is never described",
        CreateNew,
        "../outside/secret.txt",
    )
    .outside(),
    row("dotdot-make-directory", CWE, MakeDirectory, "../outside/new").outside(),
    row("dotdot-remove", CWE, Remove, "../outside/secret.txt").outside(),
    row("dotdot-missing-outside", "design, invariant 7: outside is never described", Read, "../outside/missing")
        .outside(),
    row(
        "dotdot-below-a-file-outside",
        "design, invariant 7: outside is never described",
        Read,
        "../outside/secret.txt/x",
    )
    .outside(),
    row("dotdot-after-directory", CWE, Read, "dir/../../outside/secret.txt").outside(),
    row("dotdot-after-two", CWE, Read, "dir/deep/../../../outside/secret.txt").outside(),
    row("dotdot-absolute", CWE, Read, "{T}/root/../outside/secret.txt").outside(),
    row("dotdot-absolute-deep", CWE, Read, "{T}/root/dir/deep/../../../outside/secret.txt").outside(),
    row("dotdot-many", CWE, Read, "{../*64}etc/passwd").outside(),
    row("dotdot-past-the-top", "path_resolution(7): `..` at `/` stays there", Read, "{../*200}{T}/outside/secret.txt")
        .outside(),
    row("dotdot-past-the-top-and-in", "path_resolution(7): `..` at `/` stays there", Read, "{../*200}{T}/root/in.txt")
        .allow("{T}/root/in.txt"),
    row("dotdot-inside", RESOLUTION, Read, "dir/deep/../in.txt").allow("{T}/root/dir/in.txt"),
    row("dotdot-back-to-root", RESOLUTION, Read, "dir/../in.txt").allow("{T}/root/in.txt"),
    row("dotdot-out-and-in", "design: the final object decides, not the route", Read, "../root/in.txt")
        .allow("{T}/root/in.txt"),
    row("dotdot-from-outside-in", DETOUR, Read, "{T}/outside/../root/in.txt").deny("outside_roots"),
    row("dotdot-list-of-parent", "CWE-22, bare `..`", List, "..").outside(),
    row("dotdot-list-of-parent-slash", "CWE-22, bare `..`", List, "../").outside(),
    row("dotdot-list-of-parent-dot", "CWE-22, bare `..`", List, "../.").outside(),
    row("dotdot-list-from-directory", "CWE-22, bare `..`", List, "dir/../..").outside(),
    row("dotdot-to-root-is-root", RESOLUTION, List, "dir/..").allow("{T}/root"),
    row(
        "dotdot-through-file",
        "path_resolution(7): each component but the last is a directory",
        Read,
        "in.txt/../in.txt",
    )
    .deny("invalid_path"),
    row("dotdot-through-missing", "kernel meaning: a missing directory has no parent", Read, "missing/../in.txt")
        .deny("invalid_path"),
    row(
        "dotdot-through-missing-check",
        "strict-path and others collapse `missing/..` as text",
        Check,
        "missing/../../outside/secret.txt",
    )
    .refused(),
    row("dotdot-through-missing-out", "facts: never collapse `..` as text", Read, "missing/../../outside/secret.txt")
        .refused(),
    row("dotdot-through-missing-put", "facts: never collapse `..` as text", Put, "missing/../../outside/new.txt")
        .refused(),
    row(
        "dotdot-through-linked-directory",
        "path_resolution(7): `..` is the parent of where the link leads",
        Read,
        "l/../in.txt",
    )
    .tree(&[Link("root/l", "dir/deep")])
    .allow("{T}/root/dir/in.txt"),
    row(
        "dotdot-through-link-not-textual",
        "path_resolution(7); textual collapse would read the root's own",
        Read,
        "l/../x.txt",
    )
    .tree(&[Link("root/l", "dir/deep"), Inside("root/x.txt")])
    .missing(),
    row(
        "dotdot-through-link-out",
        "CVE-2025-53109 class: collapse as text says inside, the kernel outside",
        Read,
        "l/../secret.txt",
    )
    .tree(&[Link("root/l", "{T}/outside/dir"), Inside("root/plain.txt")])
    .outside(),
    row("dotdot-through-link-out-check", "textual collapse would allow `root/in.txt`", Check, "l/../in.txt")
        .tree(&[Link("root/l", "{T}/outside/dir")])
        .outside(),
    row("dotdot-through-link-out-and-back", DETOUR, Read, "l/../../root/in.txt")
        .tree(&[Link("root/l", "{T}/outside/dir")])
        .deny("outside_roots"),
    row("dotdot-in-link-target", "symlink(7)", Read, "l").tree(&[Link("root/l", "../outside/secret.txt")]).outside(),
    row("dotdot-in-link-target-inside", "symlink(7)", Read, "dir/l")
        .tree(&[Link("root/dir/l", "../in.txt")])
        .allow("{T}/root/in.txt"),
    row("dot-segments", RESOLUTION, Read, "./././dir/./in.txt").allow("{T}/root/dir/in.txt"),
    row("dot-and-dotdot-mixed", CWE, Read, "./dir/./../.././outside/./secret.txt").outside(),
    row(
        "doubled-dots-after-filter",
        "naive removal of `../` leaves one (OWASP path traversal)",
        Read,
        "....//outside/secret.txt",
    )
    .missing(),
    row("doubled-dots-after-filter-2", "naive removal of `../` leaves one", Read, "..././outside/secret.txt").missing(),
    row("semicolon-segment", "CVE-2020-5902 class: `..;` is a name here", Read, "..;/outside/secret.txt").missing(),
    row("backslash-dotdot", "on POSIX a backslash is part of a name", Read, "..\\outside\\secret.txt").missing(),
    row("backslash-mixed", "on POSIX a backslash is part of a name", Read, "dir\\..\\..\\/outside/secret.txt")
        .missing(),
    row("backslash-name", "on POSIX a backslash is part of a name", Read, "..\\x")
        .tree(&[Inside("root/..\\x")])
        .allow("{T}/root/..\\x"),
    row("absolute-elsewhere", "CWE-36, absolute path traversal", Read, "/etc/passwd").outside(),
    row("absolute-top", "CWE-36", List, "/").outside(),
    row("absolute-missing", "CWE-36", Check, "/rootward-no-such-place/x").outside(),
    row("parent-of-root", "a root does not share its parent", List, "{T}").outside(),
    row("missing-inside-check", "design: a missing path is a grant of its parent", Check, "new.txt")
        .allow("{T}/root/new.txt"),
    row("missing-inside-read", "design: opening it for reading says not found", Read, "new.txt").missing(),
    row("missing-deep-check", "design: a missing path inside is inside", Check, "a/b/c/d/new.txt")
        .allow("{T}/root/a/b/c/d/new.txt"),
    row("missing-deep-read", "design", Read, "a/b/c/d/new.txt").missing(),
    row(
        "missing-deep-then-out",
        "facts: `ENOENT` does not mean that it is a new file",
        Check,
        "a/b/../../../outside/new.txt",
    )
    .refused(),
    row("sibling-with-same-prefix-by-dotdot", "CVE-2025-53110", Read, "../root-evil/secret.txt").outside(),
    row("two-roots-second-by-dotdot", "the final object decides", Read, "../second/x.txt")
        .tree(&[Inside("second/x.txt")])
        .roots(&[super::rw("{T}/root"), super::ro("{T}/second")])
        .allow("{T}/second/x.txt"),
    row("relative-is-not-searched-in-all-roots", "design: relative to the first root", Read, "x.txt")
        .tree(&[Inside("second/x.txt")])
        .roots(&[super::rw("{T}/root"), super::ro("{T}/second")])
        .missing(),
    row("base-inside", "design: `--base`", Read, "in.txt").base("{T}/root/dir").allow("{T}/root/dir/in.txt"),
    row("base-outside", "design: the base is not a root", Read, "secret.txt").base("{T}/outside").outside(),
    row("base-outside-leads-in", "design: the final object decides", Read, "../root/in.txt")
        .base("{T}/outside")
        .allow("{T}/root/in.txt"),
    row("base-does-not-hold-dotdot", CWE, Read, "../../outside/secret.txt").base("{T}/root/dir").outside(),
    row("unreachable-parent-outside", "design, invariant 7", Check, "../closed/x")
        .tree(&[Directory("closed"), Secret("closed/secret.txt")])
        .outside(),
];
