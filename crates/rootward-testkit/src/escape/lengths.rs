//! Long names, long paths and deep trees, at the limits of limits.h(0p).

use super::Act::{Check, CreateNew, Put, Read};
use super::{Row, row};
use crate::tree::Item::{Inside, Link};

const NAME_MAX: &str = "NAME_MAX, 255 bytes";
const PATH_MAX: &str = "PATH_MAX, 4096 bytes with the NUL";

pub(super) static ROWS: &[Row] = &[
    row("name-of-255", NAME_MAX, Read, "{a*255}").tree(&[Inside("root/{a*255}")]).allow("{T}/root/{a*255}"),
    row("name-of-255-new", NAME_MAX, CreateNew, "{a*255}").allow("{T}/root/{a*255}"),
    row("name-of-256", NAME_MAX, Read, "{a*256}").deny("invalid_path"),
    row("name-of-256-new", NAME_MAX, CreateNew, "{a*256}").deny("invalid_path"),
    row("name-of-256-check", "can never exist; refusing and granting the parent are both harmless", Check, "{a*256}")
        .harmless(),
    row("name-of-256-then-out", "ENAMETOOLONG is not ENOENT", Read, "{a*256}/../../outside/secret.txt").refused(),
    row("name-of-256-put-out", "ENAMETOOLONG is not a new file", Put, "{a*256}/../../outside/new.txt").refused(),
    // The temporary file of an atomic replace must not have a longer name.
    row("name-of-255-put", "atomic replace of the longest name", Put, "{a*255}")
        .tree(&[Inside("root/{a*255}")])
        .allow("{T}/root/{a*255}"),
    row("name-of-255-in-characters", "255 bytes, not characters", Read, "{\u{e9}*128}").deny("invalid_path"),
    row("text-of-4095", PATH_MAX, Read, "{T}/root{/=4095}in.txt").allow("{T}/root/in.txt"),
    row("text-of-4096", PATH_MAX, Read, "{T}/root{/=4096}in.txt").deny("invalid_path"),
    row("text-of-4096-relative", PATH_MAX, Read, "{/*0}dir{/=4096}in.txt").deny("invalid_path"),
    row("text-of-4096-outside", PATH_MAX, Read, "{T}/outside{/=4096}secret.txt").deny("invalid_path"),
    row("text-of-100000", "a peer cannot make the guard allocate without limit", Read, "{a/*50000}x")
        .deny("invalid_path"),
    row("text-of-100000-dotdot", "cut short, it would lead elsewhere", Read, "{../*40000}etc/passwd")
        .deny("invalid_path"),
    row("text-long-dots", PATH_MAX, Read, "{./*1500}in.txt").allow("{T}/root/in.txt"),
    row("text-long-round-trips", PATH_MAX, Read, "{dir/../*400}in.txt").allow("{T}/root/in.txt"),
    row("text-long-round-trips-out", PATH_MAX, Read, "{dir/../*400}../outside/secret.txt").outside(),
    row("deep-missing", "a thousand directories that are not there", Read, "{d/*1000}x").missing(),
    row("deep-missing-check", "a thousand directories that are not there", Check, "{d/*200}x")
        .allow("{T}/root/{d/*200}x"),
    row("deep-existing", "depth alone is not a reason to refuse", Read, "{d/*100}x")
        .tree(&[Inside("root/{d/*100}x")])
        .allow("{T}/root/{d/*100}x"),
    row("deep-existing-out", "one `..` more than directories", Read, "{d/*100}{../*101}outside/secret.txt")
        .tree(&[Inside("root/{d/*100}x")])
        .outside(),
    row("deep-link-out", "at the bottom of a deep tree", Read, "{d/*100}l")
        .tree(&[Inside("root/{d/*100}x"), Link("root/{d/*100}l", "{T}/outside/secret.txt")])
        .outside(),
    row("link-text-long", "a link's text of 4,000 bytes", Read, "l")
        .tree(&[Link("root/l", "{./*1990}in.txt")])
        .allow("{T}/root/in.txt"),
    row("link-text-long-out", "a link's text of 4,000 bytes", Read, "l")
        .tree(&[Link("root/l", "{./*1980}../outside/secret.txt")])
        .outside(),
    row("link-doubles-length", "expanded links may be longer than PATH_MAX", Read, "l/{a*200}/{a*200}/x")
        .tree(&[Link("root/l", "{./*1500}m"), Link("root/m", "{./*1500}dir"), Inside("root/dir/{a*200}/{a*200}/x")])
        .allow("{T}/root/dir/{a*200}/{a*200}/x"),
];
