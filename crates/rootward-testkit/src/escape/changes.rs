//! Writing, creating, removing and moving: which acts follow a link at the end of a path, and what a change may affect.

use super::Act::{Append, Copy, CreateNew, MakeDirectory, Put, Remove, Rename};
use super::{Row, row};
use crate::door::Failure::{AlreadyExists, NotADirectory, NotFound};
use crate::tree::Item::{Directory, File, HardLink, Inside, Link};

const DANGLING: &str = "CVE-2025-53109, an error mistaken for a new file";
const LAST: &str = "open(2) O_EXCL, mkdir(2), unlink(2), rename(2): a last link is not followed";

pub(super) static ROWS: &[Row] = &[
    row("put-new", "design: write", Put, "new.txt").allow("{T}/root/new.txt"),
    row("put-existing", "design: write", Put, "in.txt").allow("{T}/root/in.txt"),
    row("put-missing-parent", "the parent is missing", Put, "a/new.txt").error(NotFound),
    row("put-below-file", "open(2): ENOTDIR", Put, "in.txt/new.txt").error(NotADirectory),
    row("append-existing", "design: append", Append, "in.txt").allow("{T}/root/in.txt"),
    row("create-new", "design: create new", CreateNew, "new.txt").allow("{T}/root/new.txt"),
    row("create-existing", "open(2) O_EXCL", CreateNew, "in.txt").error(AlreadyExists),
    row("create-missing-parent", "the parent is missing", CreateNew, "a/new.txt").error(NotFound),
    row("make-directory", "design", MakeDirectory, "new").allow("{T}/root/new"),
    row("make-existing-directory", "mkdir(2)", MakeDirectory, "dir").error(AlreadyExists),
    row("remove-file", "design", Remove, "in.txt").allow("{T}/root/in.txt"),
    row("remove-empty-directory", "design", Remove, "empty").tree(&[Directory("root/empty")]).allow("{T}/root/empty"),
    row("remove-missing", "unlink(2)", Remove, "missing").error(NotFound),
    row("rename-file", "design", Rename, "in.txt").to("moved.txt").allow("{T}/root/moved.txt"),
    row("rename-directory", "design", Rename, "dir").to("moved").allow("{T}/root/moved"),
    row("rename-missing", "rename(2)", Rename, "missing").to("moved").error(NotFound),
    row("rename-to-missing-parent", "rename(2)", Rename, "in.txt").to("a/moved").error(NotFound),
    row("rename-into-itself", "rename(2): EINVAL", Rename, "dir").to("dir/deep/moved").refused(),
    row("copy-file", "design", Copy, "in.txt").to("copy.txt").allow("{T}/root/copy.txt"),
    row("put-dangling-in", "creates the link's target", Put, "l")
        .tree(&[Link("root/l", "new.txt")])
        .allow("{T}/root/new.txt"),
    row("put-dangling-in-absolute", "creates the link's target", Put, "l")
        .tree(&[Link("root/l", "{T}/root/dir/new.txt")])
        .allow("{T}/root/dir/new.txt"),
    row("put-dangling-chain-in", "creates the last link's target", Put, "a")
        .tree(&[Link("root/a", "b"), Link("root/b", "dir/new.txt")])
        .allow("{T}/root/dir/new.txt"),
    row("put-dangling-out", DANGLING, Put, "l").tree(&[Link("root/l", "{T}/outside/new.txt")]).outside(),
    row("put-dangling-out-relative", DANGLING, Put, "l").tree(&[Link("root/l", "../outside/new.txt")]).outside(),
    row("put-dangling-out-twice", DANGLING, Put, "a")
        .tree(&[Link("root/a", "b"), Link("root/b", "{T}/outside/new.txt")])
        .outside(),
    row("put-dangling-out-of-directory", DANGLING, Put, "l/new.txt")
        .tree(&[Link("root/l", "{T}/outside/missing")])
        .outside(),
    row("append-dangling-out", DANGLING, Append, "l").tree(&[Link("root/l", "{T}/outside/new.txt")]).outside(),
    row("create-over-dangling-out", LAST, CreateNew, "l")
        .tree(&[Link("root/l", "{T}/outside/new.txt")])
        .error(AlreadyExists),
    row("create-over-dangling-in", LAST, CreateNew, "l").tree(&[Link("root/l", "new.txt")]).error(AlreadyExists),
    row("create-over-link-out", LAST, CreateNew, "l")
        .tree(&[Link("root/l", "{T}/outside/secret.txt")])
        .error(AlreadyExists),
    row("create-over-loop", LAST, CreateNew, "l").tree(&[Link("root/l", "l")]).error(AlreadyExists),
    row("create-through-link-out", LAST, CreateNew, "l/new.txt").tree(&[Link("root/l", "{T}/outside")]).outside(),
    row("create-through-link-in", LAST, CreateNew, "l/new.txt")
        .tree(&[Link("root/l", "{T}/root/dir")])
        .allow("{T}/root/dir/new.txt"),
    row("make-directory-over-dangling-out", LAST, MakeDirectory, "l")
        .tree(&[Link("root/l", "{T}/outside/new")])
        .error(AlreadyExists),
    row("make-directory-through-link-out", LAST, MakeDirectory, "l/new")
        .tree(&[Link("root/l", "{T}/outside")])
        .outside(),
    row("make-directory-through-link-in", LAST, MakeDirectory, "l/new")
        .tree(&[Link("root/l", "dir/deep")])
        .allow("{T}/root/dir/deep/new"),
    row("remove-link-out", LAST, Remove, "l").tree(&[Link("root/l", "{T}/outside/secret.txt")]).allow("{T}/root/l"),
    row("remove-link-to-directory-out", LAST, Remove, "l").tree(&[Link("root/l", "{T}/outside")]).allow("{T}/root/l"),
    row("remove-dangling-link", LAST, Remove, "l").tree(&[Link("root/l", "{T}/outside/new")]).allow("{T}/root/l"),
    row("remove-loop", LAST, Remove, "l").tree(&[Link("root/l", "l")]).allow("{T}/root/l"),
    row("remove-link-in", LAST, Remove, "l").tree(&[Link("root/l", "in.txt")]).allow("{T}/root/l"),
    row("remove-through-link-out", LAST, Remove, "l/secret.txt").tree(&[Link("root/l", "{T}/outside")]).outside(),
    row("remove-through-link-in", LAST, Remove, "l/in.txt")
        .tree(&[Link("root/l", "{T}/root/dir")])
        .allow("{T}/root/dir/in.txt"),
    row("remove-by-link-outside", "the link itself lies outside", Remove, "{T}/outside/back")
        .tree(&[Link("outside/back", "{T}/root/in.txt")])
        .outside(),
    row("remove-full-directory-with-link", "a recursive removal must not follow links", Remove, "full")
        .tree(&[Link("root/full/l", "{T}/outside"), Inside("root/full/x.txt")])
        .harmless(),
    row("rename-link-out", LAST, Rename, "l")
        .to("m")
        .tree(&[Link("root/l", "{T}/outside/secret.txt")])
        .allow("{T}/root/m"),
    row("rename-out", "CWE-22", Rename, "in.txt").to("../outside/new.txt").outside(),
    row("rename-out-absolute", "CWE-36", Rename, "in.txt").to("{T}/outside/new.txt").outside(),
    row("rename-out-over", "CWE-22", Rename, "in.txt").to("{T}/outside/secret.txt").outside(),
    row("rename-out-through-link", "CWE-59", Rename, "in.txt")
        .to("l/new.txt")
        .tree(&[Link("root/l", "{T}/outside")])
        .outside(),
    row("rename-in", "CWE-22", Rename, "../outside/secret.txt").to("stolen.txt").outside(),
    row("rename-in-through-link", "CWE-59", Rename, "l/secret.txt")
        .to("stolen.txt")
        .tree(&[Link("root/l", "../outside")])
        .outside(),
    row("rename-over-link-out", "rename(2) replaces the link; a guard may refuse", Rename, "in.txt")
        .to("l")
        .tree(&[Link("root/l", "{T}/outside/secret.txt")])
        .harmless(),
    row("rename-to-prefix-sibling", "CVE-2025-53110", Rename, "in.txt").to("{T}/root-evil/new.txt").outside(),
    row("rename-across-roots", "design: delete on the source, write on the target", Rename, "in.txt")
        .to("{T}/second/moved.txt")
        .tree(&[Directory("second")])
        .roots(&[super::rw("{T}/root"), super::rw_nodelete("{T}/second")])
        .allow("{T}/second/moved.txt"),
    row("copy-out", "CWE-22", Copy, "in.txt").to("../outside/new.txt").outside(),
    row("copy-in", "CWE-22", Copy, "../outside/secret.txt").to("stolen.txt").outside(),
    row("copy-in-through-link", "CWE-59", Copy, "l")
        .to("stolen.txt")
        .tree(&[Link("root/l", "{T}/outside/secret.txt")])
        .outside(),
    row("copy-over-link-out", "a copy must not write through it; a guard may replace it", Copy, "in.txt")
        .to("l")
        .tree(&[Link("root/l", "{T}/outside/secret.txt")])
        .harmless(),
    row("put-hard-link", "design: replacing a file leaves its other names alone", Put, "twin")
        .tree(&[File("outside/shared.txt", "shared"), HardLink("root/twin", "outside/shared.txt")])
        .allow("{T}/root/twin"),
    row("remove-root", "design: the root itself is never removed", Remove, "{T}/root").deny("access_denied"),
    row("remove-empty-root", "design: the root itself is never removed", Remove, "{T}/empty")
        .tree(&[Directory("empty")])
        .roots(&[super::rw("{T}/empty")])
        .deny("access_denied"),
    row("remove-root-by-dot", "design: refused, because no name is left", Remove, ".").refused(),
    row("remove-root-by-route", "design: the root itself is never removed", Remove, "dir/../../root").refused(),
    row("remove-root-by-spelling", "a root that is a link, removed by the link's name", Remove, "{T}/alias")
        .tree(&[Link("alias", "root")])
        .roots(&[super::rw("{T}/alias")])
        .refused(),
    row("rename-root", "design: the root itself is never renamed", Rename, "{T}/root")
        .to("{T}/root/dir/moved")
        .refused(),
    row("rename-root-into-second", "design: the root itself is never renamed", Rename, "{T}/root")
        .to("{T}/second/moved")
        .tree(&[Directory("second")])
        .roots(&[super::rw("{T}/root"), super::rw("{T}/second")])
        .deny("access_denied"),
    row("rename-over-root", "design: the root itself is never replaced", Rename, "{T}/second/x")
        .to("{T}/empty")
        .tree(&[Directory("second/x"), Directory("empty")])
        .roots(&[super::rw("{T}/empty"), super::rw("{T}/second")])
        .refused(),
    row("create-root", "the root exists", MakeDirectory, "{T}/root").refused(),
];
