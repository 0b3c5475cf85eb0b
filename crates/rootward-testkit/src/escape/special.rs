//! Special files: FIFOs, sockets, devices, mounts, hard links, sparse files.
//!
//! No row may block a door: opening a FIFO for reading blocks until another process opens it for writing (fifo(7)).

use super::Act::{Append, Check, Copy, CreateNew, Execute, List, Put, Read, Remove, Rename, Stat};
use super::{Row, row};
use crate::door::Failure::{AlreadyExists, NotADirectory};
use crate::tree::Item::{BindMount, CharacterDevice, Directory, Fifo, File, HardLink, Inside, Link, Socket, Sparse};

const FIFO: &str = "fifo(7): open blocks; facts: a FIFO hangs the server";
const SOCKET: &str = "unix(7): a socket cannot be opened";
const DEVICE: &str = "design: opening a device is refused";
const MOUNT: &str = "mount(8): what is mounted below a root is inside";
const HARD: &str = "link(2): a hard link is the file itself";

pub(super) static ROWS: &[Row] = &[
    row("fifo-read", FIFO, Read, "f").tree(&[Fifo("root/f")]).deny("special_file"),
    row("fifo-put", FIFO, Put, "f").tree(&[Fifo("root/f")]).deny("special_file"),
    row("fifo-append", FIFO, Append, "f").tree(&[Fifo("root/f")]).deny("special_file"),
    row("fifo-execute", FIFO, Execute, "f")
        .tree(&[Fifo("root/f")])
        .roots(&[super::rwx("{T}/root")])
        .deny("special_file"),
    row("fifo-copy", FIFO, Copy, "f").to("copy").tree(&[Fifo("root/f")]).deny("special_file"),
    row("fifo-through-link", FIFO, Read, "l")
        .tree(&[Fifo("root/f"), Link("root/l", "{T}/root/f")])
        .deny("special_file"),
    row("fifo-outside-through-link", "outside takes priority", Read, "l")
        .tree(&[Fifo("outside/f"), Link("root/l", "{T}/outside/f")])
        .outside(),
    row("fifo-list", FIFO, List, "f").tree(&[Fifo("root/f")]).error(NotADirectory),
    row("fifo-below", FIFO, Read, "f/x").tree(&[Fifo("root/f")]).error(NotADirectory),
    row("fifo-stat", "stat opens nothing", Stat, "f").tree(&[Fifo("root/f")]).allow("{T}/root/f"),
    row("fifo-check", "stat opens nothing", Check, "f").tree(&[Fifo("root/f")]).allow("{T}/root/f"),
    row("fifo-create-over", "open(2) O_EXCL", CreateNew, "f").tree(&[Fifo("root/f")]).error(AlreadyExists),
    row("fifo-remove", "removing opens nothing", Remove, "f").tree(&[Fifo("root/f")]).allow("{T}/root/f"),
    row("fifo-rename", "moving opens nothing", Rename, "f").to("g").tree(&[Fifo("root/f")]).allow("{T}/root/g"),
    row("socket-read", SOCKET, Read, "s").tree(&[Socket("root/s")]).deny("special_file"),
    row("socket-put", SOCKET, Put, "s").tree(&[Socket("root/s")]).deny("special_file"),
    row("socket-append", SOCKET, Append, "s").tree(&[Socket("root/s")]).deny("special_file"),
    row("socket-stat", "stat opens nothing", Stat, "s").tree(&[Socket("root/s")]).allow("{T}/root/s"),
    row("device-read", DEVICE, Read, "null")
        .tree(&[CharacterDevice("root/null", 1, 3)])
        .as_superuser()
        .deny("special_file"),
    row("device-put", DEVICE, Put, "null")
        .tree(&[CharacterDevice("root/null", 1, 3)])
        .as_superuser()
        .deny("special_file"),
    row("device-append", DEVICE, Append, "null")
        .tree(&[CharacterDevice("root/null", 1, 3)])
        .as_superuser()
        .deny("special_file"),
    row("device-stat", "stat opens nothing", Stat, "null")
        .tree(&[CharacterDevice("root/null", 1, 3)])
        .as_superuser()
        .allow("{T}/root/null"),
    row("device-through-link", "a link to a device outside", Read, "l").tree(&[Link("root/l", "/dev/zero")]).outside(),
    row("device-put-through-link", "a link to a device outside", Put, "l")
        .tree(&[Link("root/l", "/dev/null")])
        .outside(),
    row("terminal-through-link", "open(2) O_NOCTTY", Read, "l").tree(&[Link("root/l", "/dev/tty")]).outside(),
    row("mount-read", MOUNT, Read, "m/shared.txt")
        .tree(&[File("source/shared.txt", "shared"), BindMount("root/m", "source")])
        .as_superuser()
        .allow("{T}/root/m/shared.txt"),
    row("mount-list", MOUNT, List, "m")
        .tree(&[File("source/shared.txt", "shared"), BindMount("root/m", "source")])
        .as_superuser()
        .allow("{T}/root/m"),
    row("mount-source", "the mount's source is outside", Read, "{T}/source/shared.txt")
        .tree(&[File("source/shared.txt", "shared"), BindMount("root/m", "source")])
        .as_superuser()
        .outside(),
    row("mount-dotdot", "path_resolution(7): `..` crosses the mount upwards", Read, "m/../in.txt")
        .tree(&[File("source/shared.txt", "shared"), BindMount("root/m", "source")])
        .as_superuser()
        .allow("{T}/root/in.txt"),
    row("mount-dotdot-out", "path_resolution(7): `..` crosses the mount upwards", Read, "m/../../outside/secret.txt")
        .tree(&[Directory("source"), BindMount("root/m", "source")])
        .as_superuser()
        .outside(),
    row("mount-link-out", "a link below the mount", List, "m/up")
        .tree(&[Link("source/up", "../../outside"), BindMount("root/m", "source")])
        .as_superuser()
        .outside(),
    row("mount-of-root-elsewhere", "the same object, another place: outside", Read, "{T}/elsewhere/in.txt")
        .tree(&[BindMount("elsewhere", "root")])
        .as_superuser()
        .outside(),
    row("mount-remove", "rmdir(2): EBUSY", Remove, "m")
        .tree(&[Directory("source"), BindMount("root/m", "source")])
        .as_superuser()
        .refused(),
    row("hard-link-read", HARD, Read, "twin")
        .tree(&[File("outside/shared.txt", "shared"), HardLink("root/twin", "outside/shared.txt")])
        .allow("{T}/root/twin"),
    row("hard-link-other-name", HARD, Read, "{T}/outside/shared.txt")
        .tree(&[File("outside/shared.txt", "shared"), HardLink("root/twin", "outside/shared.txt")])
        .outside(),
    row("hard-link-remove", HARD, Remove, "twin")
        .tree(&[File("outside/shared.txt", "shared"), HardLink("root/twin", "outside/shared.txt")])
        .allow("{T}/root/twin"),
    row("hard-link-of-link", "a hard link to a symlink leads where the symlink leads", Read, "m")
        .tree(&[Link("root/l", "{T}/outside/secret.txt"), HardLink("root/m", "root/l")])
        .outside(),
    row("sparse-stat", "a sparse file of a terabyte", Stat, "big")
        .tree(&[Sparse("root/big", 1 << 40)])
        .allow("{T}/root/big"),
    row("empty-file", "nothing in it", Read, "empty").tree(&[File("root/empty", "")]).allow("{T}/root/empty"),
    row("empty-directory", "nothing in it", List, "empty").tree(&[Directory("root/empty")]).allow("{T}/root/empty"),
    row("list-file", "ENOTDIR", List, "in.txt").error(NotADirectory),
    row("list-shows-links-as-names", "listing opens nothing", List, "d")
        .tree(&[Link("root/d/l", "{T}/outside"), Fifo("root/d/f"), Inside("root/d/x")])
        .allow("{T}/root/d"),
    row("execute-directory", "a directory cannot be run", Execute, "dir").roots(&[super::rwx("{T}/root")]).refused(),
];
