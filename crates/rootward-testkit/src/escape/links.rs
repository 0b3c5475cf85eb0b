//! Symbolic links: only where they lead matters, not how their target is written.

use super::Act::{Append, Check, Execute, List, Put, Read, Stat};
use super::{Row, row};
use crate::tree::Item::{Chain, Directory, Inside, Link, Secret};

const SYMLINK: &str = "symlink(7)";
const CVE: &str = "CVE-2025-53109, link out of an allowed directory";
const ROUTE: &str = "design: the final object decides, not the route";
const FORTY: &str = "path_resolution(7): at most 40 links";
const DANGLING: &str = "facts: a dangling link is not a new file";

pub(super) static ROWS: &[Row] = &[
    row("link-absolute-out", CVE, Read, "l").tree(&[Link("root/l", "{T}/outside/secret.txt")]).outside(),
    row("link-relative-out", CVE, Read, "l").tree(&[Link("root/l", "../outside/secret.txt")]).outside(),
    row("link-out-stat", CVE, Stat, "l").tree(&[Link("root/l", "{T}/outside/secret.txt")]).outside(),
    row("link-out-check", CVE, Check, "l").tree(&[Link("root/l", "{T}/outside/secret.txt")]).outside(),
    row("link-out-put", CVE, Put, "l").tree(&[Link("root/l", "{T}/outside/secret.txt")]).outside(),
    row("link-out-append", CVE, Append, "l").tree(&[Link("root/l", "{T}/outside/secret.txt")]).outside(),
    row("link-out-execute", CVE, Execute, "l")
        .roots(&[super::rwx("{T}/root")])
        .tree(&[Link("root/l", "{T}/outside/secret.txt")])
        .outside(),
    row("link-directory-out", CVE, Read, "l/secret.txt").tree(&[Link("root/l", "{T}/outside")]).outside(),
    row("link-directory-out-list", CVE, List, "l").tree(&[Link("root/l", "{T}/outside")]).outside(),
    row("link-directory-out-missing", "design, invariant 7", Read, "l/missing")
        .tree(&[Link("root/l", "{T}/outside")])
        .outside(),
    row("link-directory-out-not-a-directory", "design, invariant 7", Read, "l/secret.txt/x")
        .tree(&[Link("root/l", "{T}/outside")])
        .outside(),
    row("link-directory-out-put", CVE, Put, "l/new.txt").tree(&[Link("root/l", "{T}/outside")]).outside(),
    row("link-deep-out", CVE, Read, "dir/deep/l/secret.txt")
        .tree(&[Link("root/dir/deep/l", "../../../outside/dir")])
        .outside(),
    row("link-to-parent", SYMLINK, List, "l").tree(&[Link("root/l", "..")]).outside(),
    row("link-to-top", SYMLINK, List, "l").tree(&[Link("root/l", "/")]).outside(),
    row("link-to-top-then-in", ROUTE, Read, "l{T}/root/in.txt").tree(&[Link("root/l", "/")]).allow("{T}/root/in.txt"),
    row("link-to-dot", SYMLINK, Read, "l/in.txt").tree(&[Link("root/l", ".")]).allow("{T}/root/in.txt"),
    row("link-to-own-root", SYMLINK, Read, "l/l/l/in.txt").tree(&[Link("root/l", "{T}/root")]).allow("{T}/root/in.txt"),
    row("link-past-the-top", SYMLINK, Read, "l").tree(&[Link("root/l", "{../*100}etc/passwd")]).outside(),
    row("link-to-prefix-sibling", "CVE-2025-53110 and 53109 together", Read, "l")
        .tree(&[Link("root/l", "../root-evil/secret.txt")])
        .outside(),
    row("link-relative-in", SYMLINK, Read, "l").tree(&[Link("root/l", "dir/in.txt")]).allow("{T}/root/dir/in.txt"),
    row(
        "link-absolute-in",
        "openat2(2): RESOLVE_BENEATH refuses a link that stays inside; a guard must not",
        Read,
        "l",
    )
    .tree(&[Link("root/l", "{T}/root/dir/in.txt")])
    .allow("{T}/root/dir/in.txt"),
    row("link-absolute-in-put", "as above, for writing", Put, "l")
        .tree(&[Link("root/l", "{T}/root/dir/in.txt")])
        .allow("{T}/root/dir/in.txt"),
    row("link-absolute-in-append", "as above, for writing", Append, "l")
        .tree(&[Link("root/l", "{T}/root/dir/in.txt")])
        .allow("{T}/root/dir/in.txt"),
    row("link-absolute-directory-in", "as above, in the middle", List, "l/deep")
        .tree(&[Link("root/l", "{T}/root/dir")])
        .allow("{T}/root/dir/deep"),
    row("link-out-and-in-by-dotdot", ROUTE, Read, "l")
        .tree(&[Link("root/l", "../root/in.txt")])
        .allow("{T}/root/in.txt"),
    row("link-out-and-back", ROUTE, Read, "l/back/in.txt")
        .tree(&[Link("root/l", "{T}/outside"), Link("outside/back", "{T}/root")])
        .allow("{T}/root/in.txt"),
    row("link-out-and-back-put", ROUTE, Put, "l/back/new.txt")
        .tree(&[Link("root/l", "{T}/outside"), Link("outside/back", "{T}/root")])
        .allow("{T}/root/new.txt"),
    row("link-from-outside-in", ROUTE, Read, "{T}/outside/back/in.txt")
        .tree(&[Link("outside/back", "../root")])
        .allow("{T}/root/in.txt"),
    row("link-file-from-outside-in", ROUTE, Read, "{T}/outside/back")
        .tree(&[Link("outside/back", "../root/in.txt")])
        .allow("{T}/root/in.txt"),
    row("link-in-then-out", "two links, the second leads out", Read, "a/b")
        .tree(&[Link("root/a", "dir"), Link("root/dir/b", "{T}/outside/secret.txt")])
        .outside(),
    row("link-to-link-out", SYMLINK, Read, "a")
        .tree(&[Link("root/a", "b"), Link("root/b", "{T}/outside/secret.txt")])
        .outside(),
    row("link-to-link-outside-to-in", ROUTE, Read, "a")
        .tree(&[Link("root/a", "{T}/outside/b"), Link("outside/b", "{T}/root/in.txt")])
        .allow("{T}/root/in.txt"),
    row("link-to-link-outside-to-outside", SYMLINK, Read, "a")
        .tree(&[Link("root/a", "{T}/outside/b"), Link("outside/b", "secret.txt")])
        .outside(),
    row("link-crossing-roots", "design: a link from one root into another", Read, "l")
        .tree(&[Inside("second/x.txt"), Link("root/l", "{T}/second/x.txt")])
        .roots(&[super::rw("{T}/root"), super::ro("{T}/second")])
        .allow("{T}/second/x.txt"),
    row("link-crossing-roots-target-access", "design: access of the place where it lies", Put, "l")
        .tree(&[Inside("second/x.txt"), Link("root/l", "{T}/second/x.txt")])
        .roots(&[super::rw("{T}/root"), super::ro("{T}/second")])
        .deny("access_denied"),
    row("link-crossing-roots-more-access", "design: access of the place where it lies", Put, "{T}/second/l")
        .tree(&[Directory("second"), Link("second/l", "{T}/root/in.txt")])
        .roots(&[super::ro("{T}/second"), super::rw("{T}/root")])
        .allow("{T}/root/in.txt"),
    row("link-crossing-roots-relative", "design: a link from one root into another", List, "l")
        .tree(&[Inside("second/x.txt"), Link("root/l", "../second")])
        .roots(&[super::rw("{T}/root"), super::ro("{T}/second")])
        .allow("{T}/second"),
    row("chain-of-40", FORTY, Read, "c40").tree(&[Chain("root/c", 40, "in.txt")]).allow("{T}/root/in.txt"),
    row("chain-of-41", FORTY, Read, "c41").tree(&[Chain("root/c", 41, "in.txt")]).deny("invalid_path"),
    row("chain-of-40-absolute-end", FORTY, Read, "c40")
        .tree(&[Chain("root/c", 40, "{T}/root/in.txt")])
        .allow("{T}/root/in.txt"),
    row("chain-of-41-absolute-end", FORTY, Read, "c41").tree(&[Chain("root/c", 41, "{T}/root/in.txt")]).refused(),
    row("chain-of-40-out", FORTY, Read, "c40").tree(&[Chain("root/c", 40, "{T}/outside/secret.txt")]).outside(),
    row("chain-of-41-out", "too long a chain must not be taken for a missing file", Put, "c41")
        .tree(&[Chain("root/c", 41, "{T}/outside/secret.txt")])
        .refused(),
    row("chain-through-directories", FORTY, Read, "l/l/l/l/l/l/l/l/l/l/in.txt")
        .tree(&[Link("root/l", ".")])
        .allow("{T}/root/in.txt"),
    row("chain-through-41-directories", FORTY, Read, "{l/*41}in.txt").tree(&[Link("root/l", ".")]).deny("invalid_path"),
    row("loop-of-one", "ELOOP", Read, "l").tree(&[Link("root/l", "l")]).deny("invalid_path"),
    row("loop-of-two", "ELOOP", Read, "a").tree(&[Link("root/a", "b"), Link("root/b", "a")]).deny("invalid_path"),
    row("loop-in-the-middle", "ELOOP", Read, "l/in.txt").tree(&[Link("root/l", "l")]).deny("invalid_path"),
    row("loop-through-outside", "ELOOP, partly outside", Read, "a")
        .tree(&[Link("root/a", "{T}/outside/b"), Link("outside/b", "{T}/root/a")])
        .refused(),
    row("loop-put", "a loop is not a new file", Put, "l").tree(&[Link("root/l", "l")]).refused(),
    row("loop-growing", "each round adds a component", Read, "l").tree(&[Link("root/l", "l/x")]).deny("invalid_path"),
    row("dangling-in-check", DANGLING, Check, "l").tree(&[Link("root/l", "new.txt")]).allow("{T}/root/new.txt"),
    row("dangling-in-read", DANGLING, Read, "l").tree(&[Link("root/l", "new.txt")]).missing(),
    row("dangling-in-absolute-check", DANGLING, Check, "l")
        .tree(&[Link("root/l", "{T}/root/new.txt")])
        .allow("{T}/root/new.txt"),
    row("dangling-in-deep-read", DANGLING, Read, "l").tree(&[Link("root/l", "a/b/new.txt")]).missing(),
    row("dangling-out-check", DANGLING, Check, "l").tree(&[Link("root/l", "{T}/outside/new.txt")]).outside(),
    row("dangling-out-read", DANGLING, Read, "l").tree(&[Link("root/l", "{T}/outside/new.txt")]).outside(),
    row("dangling-out-relative", DANGLING, Check, "l").tree(&[Link("root/l", "../outside/new.txt")]).outside(),
    row("dangling-out-deep", DANGLING, Check, "l").tree(&[Link("root/l", "{T}/outside/a/b/new.txt")]).outside(),
    row("dangling-out-directory", DANGLING, Check, "l/x/y").tree(&[Link("root/l", "{T}/outside/new")]).outside(),
    row("dangling-chain-out", DANGLING, Check, "a")
        .tree(&[Link("root/a", "b"), Link("root/b", "{T}/outside/new.txt")])
        .outside(),
    row("dangling-chain-in", DANGLING, Check, "a")
        .tree(&[Link("root/a", "b"), Link("root/b", "new.txt")])
        .allow("{T}/root/new.txt"),
    row("dangling-through-missing", "`..` after what is missing", Check, "l")
        .tree(&[Link("root/l", "missing/../../outside/x")])
        .refused(),
    row("dangling-to-prefix-sibling", "CVE-2025-53110", Check, "l").tree(&[Link("root/l", "{T}/root-new")]).outside(),
    row("link-named-like-root", "a name alone proves nothing", Read, "{T}/outside/root/x.txt")
        .tree(&[Secret("outside/root/x.txt")])
        .outside(),
    row("link-in-middle-of-root-text", "a link above the path's root part", Read, "{T}/alias/in.txt")
        .tree(&[Link("alias", "root")])
        .allow("{T}/root/in.txt"),
];
