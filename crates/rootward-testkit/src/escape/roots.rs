//! Roots of all kinds: links, files, nested, missing, none.

use super::Act::{Check, CreateNew, List, Put, Read, Remove, Rename};
use super::{DETOUR, Row, ro, row, rw};
use crate::tree::Item::{Directory, Inside, Link, Secret};

const ALIAS: &str = "facts: a root that is a symlink (`/tmp` on macOS); both spellings work";
const FILE: &str = "facts: clients send file roots";
const NONE: &str = "design: an empty guard denies everything";

pub(super) static ROWS: &[Row] = &[
    row("no-roots", NONE, Read, "{T}/root/in.txt").roots(&[]).deny("no_roots"),
    row("no-roots-check", NONE, Check, "{T}/root").roots(&[]).deny("no_roots"),
    row("no-roots-relative", NONE, Read, "in.txt").roots(&[]).deny("no_roots"),
    row("no-roots-put", NONE, Put, "{T}/root/new.txt").roots(&[]).deny("no_roots"),
    row("no-roots-with-base", "a base is not a root", Read, "in.txt").roots(&[]).base("{T}/root").deny("no_roots"),
    row("missing-root", "issue: missing roots are dropped", Read, "{T}/missing/x")
        .roots(&[rw("{T}/missing")])
        .refused(),
    row("missing-root-create", "a missing root cannot be created", CreateNew, "{T}/missing")
        .roots(&[rw("{T}/missing")])
        .refused(),
    row("missing-root-beside-good", "facts: one bad root must not affect the good ones", Read, "{T}/root/in.txt")
        .roots(&[rw("{T}/missing"), rw("{T}/root")])
        .allow("{T}/root/in.txt"),
    row("alias-by-link", ALIAS, Read, "{T}/alias/in.txt")
        .tree(&[Link("alias", "root")])
        .roots(&[rw("{T}/alias")])
        .allow("{T}/root/in.txt"),
    row("alias-by-place", ALIAS, Read, "{T}/root/in.txt")
        .tree(&[Link("alias", "root")])
        .roots(&[rw("{T}/alias")])
        .allow("{T}/root/in.txt"),
    row("alias-relative", ALIAS, Read, "in.txt")
        .tree(&[Link("alias", "{T}/root")])
        .roots(&[rw("{T}/alias")])
        .allow("{T}/root/in.txt"),
    row("alias-create", ALIAS, CreateNew, "{T}/alias/new.txt")
        .tree(&[Link("alias", "root")])
        .roots(&[rw("{T}/alias")])
        .allow("{T}/root/new.txt"),
    row("alias-of-alias", ALIAS, Read, "{T}/a/in.txt")
        .tree(&[Link("a", "b"), Link("b", "{T}/root")])
        .roots(&[rw("{T}/a")])
        .allow("{T}/root/in.txt"),
    row("alias-in-middle", ALIAS, Read, "{T}/up/root/in.txt")
        .tree(&[Link("up", ".")])
        .roots(&[rw("{T}/up/root")])
        .allow("{T}/root/in.txt"),
    row("alias-in-middle-by-place", ALIAS, Read, "{T}/root/in.txt")
        .tree(&[Link("up", ".")])
        .roots(&[rw("{T}/up/root")])
        .allow("{T}/root/in.txt"),
    row(
        "alias-dotdot",
        "path_resolution(7): `..` is the parent of where the link leads",
        Read,
        "{T}/alias/../secret.txt",
    )
    .tree(&[Link("alias", "outside/dir"), Secret("secret.txt")])
    .roots(&[rw("{T}/alias")])
    .outside(),
    row("alias-dotdot-text", "collapsed as text it would be `{T}/root/in.txt`", Read, "{T}/alias/../root/in.txt")
        .tree(&[Link("alias", "outside/dir")])
        .roots(&[rw("{T}/alias"), rw("{T}/root")])
        .outside(),
    row("alias-sibling", "CVE-2025-53110 by the link's name", Read, "{T}/alias-evil/secret.txt")
        .tree(&[Link("alias", "root"), Secret("alias-evil/secret.txt")])
        .roots(&[rw("{T}/alias")])
        .outside(),
    row("alias-same-place-other-link", "another link to the root", Read, "{T}/other/in.txt")
        .tree(&[Link("alias", "root"), Link("other", "root")])
        .roots(&[rw("{T}/alias")])
        .allow("{T}/root/in.txt"),
    row("root-spelled-with-dotdot", "a root whose path contains `..`", Read, "{T}/root/in.txt")
        .roots(&[rw("{T}/outside/../root")])
        .allow("{T}/root/in.txt"),
    row("root-spelled-with-dotdot-asked-so", DETOUR, Read, "{T}/outside/../root/in.txt")
        .roots(&[rw("{T}/outside/../root")])
        .deny("outside_roots"),
    row(
        "root-spelled-with-dotdot-outside",
        "the directories in a root's path are not roots",
        Read,
        "{T}/outside/secret.txt",
    )
    .roots(&[rw("{T}/outside/../root")])
    .outside(),
    row("path-spelled-with-detour", DETOUR, Read, "{T}/root-evil/../root/in.txt").deny("outside_roots"),
    row("file-root", FILE, Read, "{T}/root/in.txt").roots(&[rw("{T}/root/in.txt")]).allow("{T}/root/in.txt"),
    row("file-root-put", FILE, Put, "{T}/root/in.txt").roots(&[rw("{T}/root/in.txt")]).allow("{T}/root/in.txt"),
    row("file-root-sibling", FILE, Read, "{T}/root/other.txt")
        .tree(&[Secret("root/other.txt")])
        .roots(&[rw("{T}/root/in.txt")])
        .outside(),
    row("file-root-sibling-prefix", "CVE-2025-53110", Read, "{T}/root/in.txt2")
        .tree(&[Secret("root/in.txt2")])
        .roots(&[rw("{T}/root/in.txt")])
        .outside(),
    row("file-root-sibling-new", FILE, CreateNew, "{T}/root/new.txt").roots(&[rw("{T}/root/in.txt")]).outside(),
    row("file-root-parent", FILE, List, "{T}/root").roots(&[rw("{T}/root/in.txt")]).outside(),
    row("file-root-below", FILE, Read, "{T}/root/in.txt/x").roots(&[rw("{T}/root/in.txt")]).refused(),
    row("file-root-dotdot", FILE, Read, "{T}/root/in.txt/../dir/in.txt").roots(&[rw("{T}/root/in.txt")]).refused(),
    row("file-root-relative-sibling", "relative paths cannot start at a file", Read, "../dir/in.txt")
        .roots(&[rw("{T}/root/in.txt")])
        .refused(),
    row("file-root-remove", "design: the root itself is never removed", Remove, "{T}/root/in.txt")
        .roots(&[rw("{T}/root/in.txt")])
        .deny("access_denied"),
    row("file-root-rename", "design: the root itself is never renamed", Rename, "{T}/root/in.txt")
        .to("{T}/second/in.txt")
        .tree(&[Directory("second")])
        .roots(&[rw("{T}/root/in.txt"), rw("{T}/second")])
        .deny("access_denied"),
    row("file-root-by-link", "a file root that is a link", Read, "{T}/alias.txt")
        .tree(&[Link("alias.txt", "root/in.txt")])
        .roots(&[rw("{T}/alias.txt")])
        .allow("{T}/root/in.txt"),
    row("file-root-by-link-place", "a file root that is a link", Read, "{T}/root/in.txt")
        .tree(&[Link("alias.txt", "root/in.txt")])
        .roots(&[rw("{T}/alias.txt")])
        .allow("{T}/root/in.txt"),
    row("file-root-from-directory-root", "a link from a root to a file root", Read, "{T}/second/l")
        .tree(&[Link("second/l", "{T}/root/in.txt")])
        .roots(&[ro("{T}/second"), rw("{T}/root/in.txt")])
        .allow("{T}/root/in.txt"),
    row("file-root-from-directory-root-sibling", "a link from a root to beside a file root", Read, "{T}/second/l")
        .tree(&[Link("second/l", "{T}/root/dir/in.txt")])
        .roots(&[ro("{T}/second"), rw("{T}/root/in.txt")])
        .outside(),
    row("two-roots-each", "both are open", Read, "{T}/second/x")
        .tree(&[Inside("second/x")])
        .roots(&[rw("{T}/root"), rw("{T}/second")])
        .allow("{T}/second/x"),
    row("two-roots-between", "what lies between is outside", Read, "{T}/outside/secret.txt")
        .tree(&[Inside("second/x")])
        .roots(&[rw("{T}/root"), rw("{T}/second")])
        .outside(),
    row("two-roots-parent", "a parent of all roots is outside", List, "{T}")
        .tree(&[Inside("second/x")])
        .roots(&[rw("{T}/root"), rw("{T}/second")])
        .outside(),
    row("nested-parent-of-root", "the inner root alone shares nothing above", Read, "{T}/root/in.txt")
        .roots(&[rw("{T}/root/dir")])
        .outside(),
    row("nested-parent-by-dotdot", "the inner root alone shares nothing above", Read, "../in.txt")
        .roots(&[rw("{T}/root/dir")])
        .outside(),
];
