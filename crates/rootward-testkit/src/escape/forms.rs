//! Forms of text that are not a plain path: schemes, other systems' paths, `~`, NUL, quotes and blanks.

use super::Act::{Check, CreateNew, List, MakeDirectory, Put, Read, Remove, Rename};
use super::{Row, row};
use crate::tree::Item::{Inside, Link, Secret};

const SCHEME: &str = "RFC 3986 3.1; design: another scheme is refused";
const FOREIGN: &str = "design: a path of another system is refused";
const TILDE: &str = "design: `~` and `~/` by the first byte only";
const NUL: &str = "CWE-158: the kernel would stop at the NUL";
const TRIM: &str = "facts: the reference server trims; nothing is trimmed or unquoted here";

pub(super) static ROWS: &[Row] = &[
    row("empty", "design: empty text is refused", Check, "").deny("invalid_path"),
    row("empty-list", "empty text is not the root", List, "").deny("invalid_path"),
    row("empty-put", "design: empty text is refused", Put, "").deny("invalid_path"),
    row("empty-remove", "design: empty text is refused", Remove, "").deny("invalid_path"),
    row("empty-target", "design: empty text is refused", Rename, "in.txt").to("").deny("invalid_path"),
    row("nul-at-end", NUL, Read, "in.txt\0").deny("invalid_path"),
    row("nul-in-middle", NUL, Read, "in.txt\0.png").deny("invalid_path"),
    row("nul-after-outside", NUL, Read, "../outside/secret.txt\0/../../root/in.txt").deny("invalid_path"),
    row("nul-alone", NUL, Check, "\0").deny("invalid_path"),
    row("nul-create", NUL, CreateNew, "new\0.txt").deny("invalid_path"),
    row("nul-target", NUL, Rename, "in.txt").to("moved\0").deny("invalid_path"),
    row(
        "scheme-http",
        "facts: `url` gives `http://localhost/etc/passwd` a path",
        Read,
        "http://localhost{T}/root/in.txt",
    )
    .deny("unsupported_scheme"),
    row("scheme-https", SCHEME, Read, "https://example.org/x").deny("unsupported_scheme"),
    row("scheme-ftp", SCHEME, Read, "ftp://localhost{T}/root/in.txt").deny("unsupported_scheme"),
    row("scheme-remote-editor", "facts: VS Code sends it", Read, "vscode-remote://ssh{T}/root/in.txt")
        .deny("unsupported_scheme"),
    row("scheme-unknown", SCHEME, Read, "x-y+z.1://{T}/root/in.txt").deny("unsupported_scheme"),
    row("scheme-put", SCHEME, Put, "http://localhost{T}/root/new.txt").deny("unsupported_scheme"),
    row("scheme-dotless-i", "a Turkish `f\u{131}le` is not a scheme", Read, "f\u{131}le://{T}/outside/secret.txt")
        .refused(),
    row("scheme-not-first", "a scheme must come first", Read, "./http://x").missing(),
    row("drive-backslash", FOREIGN, Read, "C:\\Windows\\win.ini").deny("foreign_path"),
    row("drive-slash", FOREIGN, Read, "C:/Windows/win.ini").deny("foreign_path"),
    row("drive-lower", FOREIGN, Read, "c:\\x").deny("foreign_path"),
    row("drive-put", FOREIGN, Put, "D:/new.txt").deny("foreign_path"),
    row("share", FOREIGN, Read, "\\\\host\\share\\x").deny("foreign_path"),
    row("share-device", "Windows device namespace", Read, "\\\\.\\PhysicalDrive0").deny("foreign_path"),
    row("share-verbatim", "Windows verbatim path", Read, "\\\\?\\C:\\x").deny("foreign_path"),
    row("drive-below-dot", "after `./` it is a name", Read, "./C:/x")
        .tree(&[Inside("root/C:/x")])
        .allow("{T}/root/C:/x"),
    row("colon-in-name", "a colon does not make a scheme", Read, "notes: today.txt")
        .tree(&[Inside("root/notes: today.txt")])
        .allow("{T}/root/notes: today.txt"),
    row("tilde-home-inside", TILDE, Read, "~/in.txt").home("{T}/root").allow("{T}/root/in.txt"),
    row("tilde-alone", TILDE, List, "~").home("{T}/root/dir").allow("{T}/root/dir"),
    row("tilde-home-outside", TILDE, Read, "~/secret.txt").home("{T}/outside").outside(),
    row("tilde-home-prefix-sibling", "CVE-2025-53110", Read, "~/secret.txt").home("{T}/root-evil").outside(),
    row("tilde-dotdot", TILDE, Read, "~/../outside/secret.txt").home("{T}/root").outside(),
    row("tilde-dotdot-in", TILDE, Read, "~/../root/in.txt").home("{T}/outside").allow("{T}/root/in.txt"),
    row("tilde-other", "another user's home is refused", Read, "~root/.bashrc").home("{T}/root").deny("invalid_path"),
    row("tilde-other-slashless", "another user's home is refused", Check, "~nobody")
        .home("{T}/root")
        .deny("invalid_path"),
    row("tilde-plus", "the shell's `~+` is refused", Check, "~+/in.txt").home("{T}/root").deny("invalid_path"),
    row("tilde-in-middle", "facts: never expand `~` in the middle", Read, "./~/x.txt")
        .tree(&[Inside("root/~/x.txt")])
        .home("{T}/outside")
        .allow("{T}/root/~/x.txt"),
    row("tilde-after-directory", "facts: never expand `~` in the middle", Read, "dir/~/secret.txt")
        .home("{T}/outside")
        .missing(),
    row("tilde-absolute", "facts: never expand `~` in the middle", Read, "{T}/root/~/secret.txt")
        .home("{T}/outside")
        .missing(),
    row("tilde-link", "`~` in a link's target is a name", Read, "l")
        .tree(&[Link("root/l", "~/secret.txt")])
        .home("{T}/outside")
        .missing(),
    row("tilde-double-slash", "POSIX: `~//x`", Read, "~//in.txt").home("{T}/root").allow("{T}/root/in.txt"),
    row("variable", "no shell reads the text", Read, "$HOME/secret.txt").home("{T}/outside").missing(),
    row("variable-braces", "no shell reads the text", Read, "%HOME%/secret.txt").home("{T}/outside").missing(),
    row("command-substitution", "no shell reads the text", Read, "$(cat ../outside/secret.txt)").missing(),
    row("glob-star", "`*` is a byte of a name", Read, "*.txt").missing(),
    row("glob-out", "`*` is a byte of a name", List, "../out*").outside(),
    row("quoted", TRIM, Read, "\"{T}/root/in.txt\"").missing(),
    row("single-quoted", TRIM, Read, "'in.txt'").missing(),
    row("leading-blank", TRIM, Read, " in.txt").missing(),
    row("leading-blank-absolute", TRIM, Read, " {T}/outside/secret.txt").missing(),
    row("leading-blank-uri", TRIM, Read, " file://{T}/outside/secret.txt").missing(),
    row("trailing-blank", TRIM, Read, "in.txt ").missing(),
    row("trailing-newline", TRIM, Read, "in.txt\n").missing(),
    row("trailing-carriage-return", TRIM, Read, "in.txt\r").missing(),
    row("leading-tab", TRIM, Read, "\tin.txt").missing(),
    row("blank-alone", TRIM, Read, " ").missing(),
    row("blank-name", "a blank is a valid name", Read, " ").tree(&[Inside("root/ ")]).allow("{T}/root/ "),
    row("sibling-with-blank", "facts: a sibling named `root ` was listable", Read, "{T}/root /secret.txt")
        .tree(&[Secret("root /secret.txt")])
        .outside(),
    row("sibling-with-blank-list", "facts: a sibling named `root ` was listable", List, "{T}/root ")
        .tree(&[Secret("root /secret.txt")])
        .outside(),
    row("sibling-with-newline", TRIM, Read, "{T}/root\n/secret.txt").tree(&[Secret("root\n/secret.txt")]).outside(),
    row("root-with-blank", "the root is the one with the blank", Read, "{T}/root/in.txt")
        .tree(&[Secret("root /secret.txt")])
        .roots(&[super::rw("{T}/root ")])
        .outside(),
    row("dash-name", "CVE-2025-68144 class: a name that looks like an option", Read, "-rf")
        .tree(&[Inside("root/-rf")])
        .allow("{T}/root/-rf"),
    row("dash-directory", "CVE-2025-68144 class: a name that looks like an option", MakeDirectory, "--help")
        .allow("{T}/root/--help"),
];
