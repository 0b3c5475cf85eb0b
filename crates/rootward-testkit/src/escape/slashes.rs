//! Slashes: trailing, doubled, and at the end of a link's target.
//!
//! A trailing slash makes the kernel follow a last link even with `O_NOFOLLOW`, which broke Go's and
//! cap-std's walks.

use super::Act::{Check, CreateNew, List, MakeDirectory, Put, Read, Remove, Rename, Stat};
use super::{Row, row};
use crate::door::Failure::{IsADirectory, NotADirectory};
use crate::tree::Item::{Inside, Link};

const GO: &str = "Go CVE-2026-39822 (issue 79005): a trailing slash defeats O_NOFOLLOW";
const CAP_STD: &str = "cap-std GHSA-hp8f-xmx4-4qrg: a link's target ends in a slash";
const POSIX: &str = "POSIX 4.16, pathname resolution: a trailing slash asks for a directory";

pub(super) static ROWS: &[Row] = &[
    row("slash-link-out", GO, List, "l/").tree(&[Link("root/l", "{T}/outside")]).outside(),
    row("slash-link-out-relative", GO, List, "l/").tree(&[Link("root/l", "../outside")]).outside(),
    row("slash-link-out-deep", GO, List, "dir/deep/l/").tree(&[Link("root/dir/deep/l", "{T}/outside/dir")]).outside(),
    row("slash-link-out-many", GO, List, "l////").tree(&[Link("root/l", "{T}/outside")]).outside(),
    row("slash-link-out-dot", GO, List, "l/.").tree(&[Link("root/l", "{T}/outside")]).outside(),
    row("slash-link-out-stat", GO, Stat, "l/").tree(&[Link("root/l", "{T}/outside")]).outside(),
    row("slash-link-to-file-out", "a trailing slash must not reveal what a link leads to", Read, "l/")
        .tree(&[Link("root/l", "{T}/outside/secret.txt")])
        .outside(),
    row("slash-link-in", GO, List, "l/").tree(&[Link("root/l", "dir")]).allow("{T}/root/dir"),
    row("slash-in-target-out", CAP_STD, List, "l").tree(&[Link("root/l", "../outside/")]).outside(),
    row("slash-in-target-out-absolute", CAP_STD, List, "l").tree(&[Link("root/l", "{T}/outside/")]).outside(),
    row("slash-in-target-through-link", CAP_STD, List, "l")
        .tree(&[Link("root/l", "m/"), Link("root/m", "../outside")])
        .outside(),
    row("slash-in-target-through-two", CAP_STD, Read, "l/secret.txt")
        .tree(&[Link("root/l", "m/"), Link("root/m", "n/"), Link("root/n", "{T}/outside/")])
        .outside(),
    row("slash-in-target-dots", CAP_STD, List, "l").tree(&[Link("root/l", "dir/../../outside/.")]).outside(),
    row("slash-in-target-in", CAP_STD, List, "l").tree(&[Link("root/l", "dir/")]).allow("{T}/root/dir"),
    row("slash-in-target-file", CAP_STD, Read, "l").tree(&[Link("root/l", "in.txt/")]).error(NotADirectory),
    row("slash-in-target-put", CAP_STD, Put, "l/new.txt").tree(&[Link("root/l", "../outside/")]).outside(),
    row("slash-in-target-dangling-put", CAP_STD, Put, "l").tree(&[Link("root/l", "../outside/new.txt/")]).refused(),
    row("slash-after-file", POSIX, Read, "in.txt/").error(NotADirectory),
    row("slash-dot-after-file", POSIX, Read, "in.txt/.").error(NotADirectory),
    row("slash-below-file", POSIX, Read, "in.txt/x").error(NotADirectory),
    row("slash-after-directory", POSIX, List, "dir/").allow("{T}/root/dir"),
    row("slash-read-directory", "open(2): EISDIR", Read, "dir").error(IsADirectory),
    row("slash-put-directory", "open(2): EISDIR", Put, "dir").error(IsADirectory),
    row("slash-put-directory-slash", "open(2): EISDIR", Put, "dir/").refused(),
    row("slash-put-new", "a file's name does not end in a slash", Put, "new.txt/").refused(),
    row("slash-put-existing", "a file's name does not end in a slash", Put, "in.txt/").refused(),
    row("slash-put-root", "the root is a directory", Put, "{T}/root").refused(),
    row("slash-create-new", "design: a last component with a slash is not a name", CreateNew, "new.txt/").refused(),
    row("slash-create-link", GO, CreateNew, "l/").tree(&[Link("root/l", "{T}/outside/new.txt")]).refused(),
    row("slash-make-directory-through-dangling", GO, MakeDirectory, "l/")
        .tree(&[Link("root/l", "{T}/outside/new")])
        .refused(),
    row("slash-make-directory", "mkdir(2) takes a trailing slash; a guard may not", MakeDirectory, "new/").harmless(),
    row("slash-remove-link", "rmdir through a link's slash", Remove, "l/")
        .tree(&[Link("root/l", "{T}/outside/dir")])
        .refused(),
    row("slash-remove-link-in", "design: refused, because no name is left", Remove, "l/")
        .tree(&[Link("root/l", "dir/deep")])
        .refused(),
    row("slash-remove-file", "design: refused, because no name is left", Remove, "in.txt/").refused(),
    row("slash-remove-dot", "rmdir(2): EINVAL", Remove, "dir/.").refused(),
    row("slash-remove-dotdot", "rmdir(2): ENOTEMPTY", Remove, "dir/deep/..").refused(),
    row("slash-rename-from", "rename(2): a slash asks for a directory", Rename, "dir/")
        .to("moved")
        .allow("{T}/root/moved"),
    row("slash-rename-to", "design: refused, because no name is left", Rename, "in.txt").to("moved/").refused(),
    row("slash-rename-to-link", GO, Rename, "dir").to("l/").tree(&[Link("root/l", "{T}/outside/new")]).refused(),
    row("slash-rename-dot", "rename(2): EBUSY", Rename, "dir/.").to("moved").refused(),
    row("slash-rename-to-dotdot", "rename(2): EBUSY", Rename, "in.txt").to("dir/..").refused(),
    row("slash-double-inside", POSIX, Read, "dir//deep///in.txt").allow("{T}/root/dir/deep/in.txt"),
    row("slash-double-after-root", POSIX, Read, "{T}/root//in.txt").allow("{T}/root/in.txt"),
    row("slash-double-first", "POSIX: a leading `//` is system-defined; on Linux it is `/`", Read, "/{T}/root/in.txt")
        .allow("{T}/root/in.txt"),
    row("slash-triple-first", POSIX, Read, "//{T}/root/in.txt").allow("{T}/root/in.txt"),
    row("slash-double-is-not-relative", "a `//` in the middle does not start again", Read, "dir//etc/passwd").missing(),
    row("slash-double-out", POSIX, Read, "..//outside//secret.txt").outside(),
    row("slash-forward-share", "Windows reads a share, Linux a path", Read, "//host/share/x").outside(),
    row("slash-root-with-slash", "client roots often end in a slash", Read, "{T}/root/in.txt")
        .roots(&[super::rw("{T}/root/")])
        .allow("{T}/root/in.txt"),
    row("slash-root-doubled", POSIX, Read, "{T}/root/in.txt").roots(&[super::rw("{T}//root")]).allow("{T}/root/in.txt"),
    row("slash-root-leading-double", POSIX, Read, "{T}/root/in.txt")
        .roots(&[super::rw("/{T}/root")])
        .allow("{T}/root/in.txt"),
    row("slash-root-dot", POSIX, Read, "{T}/root/in.txt").roots(&[super::rw("{T}/./root/.")]).allow("{T}/root/in.txt"),
    row("slash-path-with-dot-before-root", POSIX, Read, "{T}/./root/./in.txt").allow("{T}/root/in.txt"),
    row("slash-new-below-file", POSIX, CreateNew, "in.txt/new").error(NotADirectory),
    row("slash-missing-directory-check", "Check of a missing directory", Check, "new/")
        .tree(&[Inside("root/x.txt")])
        .harmless(),
];
