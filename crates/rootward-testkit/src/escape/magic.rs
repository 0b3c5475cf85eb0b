//! Magic links and the system's own trees. `/proc/self/root` and similar links jump to an object, whatever their target's
//! text (openat2(2), `RESOLVE_NO_MAGICLINKS`). They count as outside, wherever they lead.

use super::Act::{Check, List, Put, Read, Stat};
use super::{DETOUR, Row, row};
use crate::tree::Item::{Link, Secret};

const PROC: &str = "proc(5): a magic link; openat2(2) RESOLVE_NO_MAGICLINKS";
const RUNC: &str = "CVE-2024-21626, /proc/self/fd/N as a way out";

pub(super) static ROWS: &[Row] = &[
    row("magic-root", PROC, List, "/proc/self/root").outside(),
    row("magic-root-to-outside", PROC, Read, "/proc/self/root{T}/outside/secret.txt").outside(),
    row("magic-root-to-inside", "design: refused even if it leads inside", Read, "/proc/self/root{T}/root/in.txt")
        .outside(),
    row("magic-root-by-number", PROC, Read, "/proc/{pid}/root{T}/root/in.txt").outside(),
    row("magic-root-of-thread", PROC, Read, "/proc/thread-self/root{T}/root/in.txt").outside(),
    row("magic-root-put", PROC, Put, "/proc/self/root{T}/root/new.txt").outside(),
    row("magic-working-directory", PROC, List, "/proc/self/cwd").outside(),
    row("magic-descriptor", RUNC, Read, "/proc/self/fd/0").outside(),
    row("magic-descriptor-list", RUNC, List, "/proc/self/fd").outside(),
    row("magic-descriptor-dotdot", RUNC, Read, "/proc/self/fd/7/../../../etc/passwd").outside(),
    row("magic-program", PROC, Read, "/proc/self/exe").outside(),
    row("magic-link-in-root", PROC, Read, "m{T}/root/in.txt").tree(&[Link("root/m", "/proc/self/root")]).outside(),
    row("magic-link-in-root-out", PROC, Read, "m{T}/outside/secret.txt")
        .tree(&[Link("root/m", "/proc/self/root")])
        .outside(),
    row("magic-link-in-root-check", PROC, Check, "m/{../*10}").tree(&[Link("root/m", "/proc/self/cwd")]).outside(),
    row("magic-link-in-root-stat", PROC, Stat, "m").tree(&[Link("root/m", "/proc/self/fd/1")]).outside(),
    row("magic-link-in-root-put", RUNC, Put, "m").tree(&[Link("root/m", "/proc/self/fd/63")]).outside(),
    row("magic-link-outside", PROC, Read, "l{T}/root/in.txt")
        .tree(&[Link("root/l", "../outside/m"), Link("outside/m", "/proc/self/root")])
        .outside(),
    row("magic-dev-descriptor", "/dev/fd is a link to /proc/self/fd", Read, "/dev/fd/0").outside(),
    row("magic-dev-stdin", "/dev/stdin is a link to /proc/self/fd/0", Read, "/dev/stdin").outside(),
    row("magic-dev-stdout-put", "/dev/stdout is a link to /proc/self/fd/1", Put, "/dev/stdout").outside(),
    row("magic-dev-stdin-by-link", "/dev/stdin is a link to /proc/self/fd/0", Read, "l")
        .tree(&[Link("root/l", "/dev/stdin")])
        .outside(),
    row("proc-environment", "the secrets of the server's own process", Read, "/proc/self/environ").outside(),
    row("proc-environment-by-link", "the secrets of the server's own process", Read, "l")
        .tree(&[Link("root/l", "/proc/self/environ")])
        .outside(),
    row("proc-memory", "writing it rewrites the process", Put, "/proc/self/mem").outside(),
    row("proc-map-files", PROC, List, "/proc/self/map_files").outside(),
    row("proc-passed-through", DETOUR, Read, "/proc/self/../..{T}/root/in.txt").deny("outside_roots"),
    row("proc-named-directory-inside", "a directory of that name", Read, "proc/self/root/x")
        .tree(&[Secret("proc/self/root/x")])
        .missing(),
    row("sys-kernel", "CWE-36", Put, "/sys/kernel/uevent_helper").outside(),
    row("dev-shared-memory", "CWE-36", Check, "/dev/shm/rootward-x").outside(),
];
