//! Access: what each root allows, which of two nested roots applies, and both ends of a move.

use super::Act::{Append, Copy, CreateNew, Execute, List, MakeDirectory, Put, Read, Remove, Rename, Stat};
use super::{Row, ro, row, rw, rw_nodelete, rwx};
use crate::tree::Item::{Directory, File, Link, Permissions};

const RO: &str = "design: `:ro` is read-only";
const NO_DELETE: &str = "design: `:rw-nodelete` is read and write, no delete";
const EXECUTE: &str = "design: execute only if granted";
const NESTED: &str = "design: the deepest root applies";
const MOVE: &str = "facts: renaming needs delete on the source and write on the target";
const LESSER: &str = "design: the lesser access if a place is named twice";

pub(super) static ROWS: &[Row] = &[
    row("ro-read", RO, Read, "in.txt").roots(&[ro("{T}/root")]).allow("{T}/root/in.txt"),
    row("ro-list", RO, List, "dir").roots(&[ro("{T}/root")]).allow("{T}/root/dir"),
    row("ro-stat", RO, Stat, "in.txt").roots(&[ro("{T}/root")]).allow("{T}/root/in.txt"),
    row("ro-put", RO, Put, "in.txt").roots(&[ro("{T}/root")]).deny("access_denied"),
    row("ro-put-new", RO, Put, "new.txt").roots(&[ro("{T}/root")]).deny("access_denied"),
    row("ro-append", RO, Append, "in.txt").roots(&[ro("{T}/root")]).deny("access_denied"),
    row("ro-create", RO, CreateNew, "new.txt").roots(&[ro("{T}/root")]).deny("access_denied"),
    row("ro-make-directory", RO, MakeDirectory, "new").roots(&[ro("{T}/root")]).deny("access_denied"),
    row("ro-remove", RO, Remove, "in.txt").roots(&[ro("{T}/root")]).deny("access_denied"),
    row("ro-rename", RO, Rename, "in.txt").to("moved.txt").roots(&[ro("{T}/root")]).deny("access_denied"),
    row("ro-copy", RO, Copy, "in.txt").to("copy.txt").roots(&[ro("{T}/root")]).deny("access_denied"),
    row("ro-execute", EXECUTE, Execute, "run").roots(&[ro("{T}/root")]).tree(RUN).deny("access_denied"),
    row("ro-put-through-link", RO, Put, "l")
        .roots(&[ro("{T}/root")])
        .tree(&[Link("root/l", "in.txt")])
        .deny("access_denied"),
    row("ro-put-dangling", RO, Put, "l")
        .roots(&[ro("{T}/root")])
        .tree(&[Link("root/l", "new.txt")])
        .deny("access_denied"),
    row("ro-put-outside", "outside takes priority", Put, "../outside/new.txt").roots(&[ro("{T}/root")]).outside(),
    row("rw-nodelete-put-new", NO_DELETE, Put, "new.txt").roots(&[rw_nodelete("{T}/root")]).allow("{T}/root/new.txt"),
    row("rw-nodelete-append", NO_DELETE, Append, "in.txt").roots(&[rw_nodelete("{T}/root")]).allow("{T}/root/in.txt"),
    row("rw-nodelete-create", NO_DELETE, CreateNew, "new.txt")
        .roots(&[rw_nodelete("{T}/root")])
        .allow("{T}/root/new.txt"),
    row("rw-nodelete-remove", NO_DELETE, Remove, "in.txt").roots(&[rw_nodelete("{T}/root")]).deny("access_denied"),
    row("rw-nodelete-remove-link", NO_DELETE, Remove, "l")
        .roots(&[rw_nodelete("{T}/root")])
        .tree(&[Link("root/l", "in.txt")])
        .deny("access_denied"),
    row("rw-nodelete-rename", NO_DELETE, Rename, "in.txt")
        .to("moved.txt")
        .roots(&[rw_nodelete("{T}/root")])
        .deny("access_denied"),
    row("rw-nodelete-execute", EXECUTE, Execute, "run")
        .roots(&[rw_nodelete("{T}/root")])
        .tree(RUN)
        .deny("access_denied"),
    row("rw-execute", EXECUTE, Execute, "run").tree(RUN).deny("access_denied"),
    row("rwx-execute", EXECUTE, Execute, "run").roots(&[rwx("{T}/root")]).tree(RUN).allow("{T}/root/run"),
    row("rwx-execute-link-to-rw", NESTED, Execute, "l")
        .roots(&[rwx("{T}/root"), rw("{T}/second")])
        .tree(&[File("second/run", "#!/bin/sh\n"), Permissions("second/run", 0o755), Link("root/l", "../second/run")])
        .deny("access_denied"),
    row("nested-ro-in-rw-put", NESTED, Put, "dir/in.txt")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir")])
        .deny("access_denied"),
    row("nested-ro-in-rw-other-order", NESTED, Put, "{T}/root/dir/in.txt")
        .roots(&[ro("{T}/root/dir"), rw("{T}/root")])
        .deny("access_denied"),
    row("nested-ro-in-rw-above", NESTED, Put, "in.txt")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir")])
        .allow("{T}/root/in.txt"),
    row("nested-ro-in-rw-read", NESTED, Read, "dir/in.txt")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir")])
        .allow("{T}/root/dir/in.txt"),
    row("nested-ro-in-rw-by-link", NESTED, Put, "l/in.txt")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir")])
        .tree(&[Link("root/l", "dir")])
        .deny("access_denied"),
    row("nested-ro-in-rw-by-absolute-link", NESTED, Put, "l")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir")])
        .tree(&[Link("root/l", "{T}/root/dir/in.txt")])
        .deny("access_denied"),
    row("nested-ro-in-rw-by-dotdot", NESTED, Put, "dir/../dir/in.txt")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir")])
        .deny("access_denied"),
    row("nested-ro-in-rw-by-alias", NESTED, Put, "{T}/alias/dir/in.txt")
        .roots(&[rw("{T}/alias"), ro("{T}/root/dir")])
        .tree(&[Link("alias", "root")])
        .deny("access_denied"),
    row("nested-ro-in-rw-create", NESTED, CreateNew, "dir/new.txt")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir")])
        .deny("access_denied"),
    row("nested-ro-in-rw-remove", NESTED, Remove, "dir/in.txt")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir")])
        .deny("access_denied"),
    row("nested-ro-in-rw-move-out", MOVE, Rename, "dir/in.txt")
        .to("x.txt")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir")])
        .deny("access_denied"),
    row("nested-ro-in-rw-move-in", MOVE, Rename, "in.txt")
        .to("dir/x.txt")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir")])
        .deny("access_denied"),
    row("nested-root-moved", "design: a move that carries a root of other access along is refused", Rename, "dir")
        .to("moved")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir")])
        .refused(),
    row("nested-root-carried", "design: a move that carries a root of other access along is refused", Rename, "dir")
        .to("moved")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir/deep")])
        .refused(),
    row(
        "nested-file-root-carried",
        "design: a move that carries a root of other access along is refused",
        Rename,
        "dir",
    )
    .to("moved")
    .roots(&[rw("{T}/root"), ro("{T}/root/dir/in.txt")])
    .refused(),
    row("nested-file-root-put", NESTED, Put, "dir/in.txt")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir/in.txt")])
        .deny("access_denied"),
    row("nested-root-removed", "design: the root itself is never removed", Remove, "empty")
        .roots(&[rw("{T}/root"), rw("{T}/root/empty")])
        .tree(&[Directory("root/empty")])
        .deny("access_denied"),
    row("nested-rw-in-ro-put", NESTED, Put, "dir/in.txt")
        .roots(&[ro("{T}/root"), rw("{T}/root/dir")])
        .allow("{T}/root/dir/in.txt"),
    row("nested-rw-in-ro-above", NESTED, Put, "in.txt")
        .roots(&[ro("{T}/root"), rw("{T}/root/dir")])
        .deny("access_denied"),
    row("nested-rw-in-ro-dotdot", NESTED, Put, "dir/../in.txt")
        .roots(&[ro("{T}/root"), rw("{T}/root/dir")])
        .deny("access_denied"),
    row("nested-rw-in-ro-link-up", NESTED, Put, "dir/up/in.txt")
        .roots(&[ro("{T}/root"), rw("{T}/root/dir")])
        .tree(&[Link("root/dir/up", "..")])
        .deny("access_denied"),
    row("nested-three", NESTED, Put, "dir/deep/in.txt")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir"), rw("{T}/root/dir/deep")])
        .allow("{T}/root/dir/deep/in.txt"),
    row("nested-three-middle", NESTED, Put, "dir/deep/../in.txt")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir"), rw("{T}/root/dir/deep")])
        .deny("access_denied"),
    row("nested-prefix-sibling-access", "a sibling of the inner root keeps the outer's access", Put, "dir2/new.txt")
        .roots(&[rw("{T}/root"), ro("{T}/root/dir")])
        .tree(&[Directory("root/dir2")])
        .allow("{T}/root/dir2/new.txt"),
    row("same-twice", LESSER, Put, "in.txt").roots(&[rw("{T}/root"), ro("{T}/root")]).deny("access_denied"),
    row("same-twice-other-order", LESSER, Put, "in.txt").roots(&[ro("{T}/root"), rw("{T}/root")]).deny("access_denied"),
    row("same-twice-slash", LESSER, Put, "in.txt").roots(&[rw("{T}/root"), ro("{T}/root/")]).deny("access_denied"),
    row("same-twice-dotdot", LESSER, Put, "in.txt")
        .roots(&[rw("{T}/root"), ro("{T}/outside/../root")])
        .deny("access_denied"),
    row("same-twice-alias", LESSER, Put, "{T}/root/in.txt")
        .roots(&[rw("{T}/root"), ro("{T}/alias")])
        .tree(&[Link("alias", "root")])
        .deny("access_denied"),
    row("same-twice-alias-asked", LESSER, Put, "{T}/alias/in.txt")
        .roots(&[ro("{T}/root"), rw("{T}/alias")])
        .tree(&[Link("alias", "root")])
        .deny("access_denied"),
    row("same-twice-read", LESSER, Read, "in.txt").roots(&[rw("{T}/root"), ro("{T}/root")]).allow("{T}/root/in.txt"),
    row("move-to-ro", MOVE, Rename, "in.txt")
        .to("{T}/second/x")
        .roots(&[rw("{T}/root"), ro("{T}/second")])
        .tree(&[Directory("second")])
        .deny("access_denied"),
    row("move-from-ro", MOVE, Rename, "in.txt")
        .to("{T}/second/x")
        .roots(&[ro("{T}/root"), rw("{T}/second")])
        .tree(&[Directory("second")])
        .deny("access_denied"),
    row("move-from-rw-nodelete", MOVE, Rename, "in.txt")
        .to("{T}/second/x")
        .roots(&[rw_nodelete("{T}/root"), rw("{T}/second")])
        .tree(&[Directory("second")])
        .deny("access_denied"),
    row("copy-from-ro", "a copy needs read on the source", Copy, "in.txt")
        .to("{T}/second/x")
        .roots(&[ro("{T}/root"), rw("{T}/second")])
        .tree(&[Directory("second")])
        .allow("{T}/second/x"),
    row("copy-to-ro", "a copy needs write on the target", Copy, "in.txt")
        .to("{T}/second/x")
        .roots(&[rw("{T}/root"), ro("{T}/second")])
        .tree(&[Directory("second")])
        .deny("access_denied"),
];

const RUN: &[crate::tree::Item] = &[File("root/run", "#!/bin/sh\nexit 0\n"), Permissions("root/run", 0o755)];
