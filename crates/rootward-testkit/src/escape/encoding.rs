//! Encodings: a `file:` URI is decoded once and strictly, plain text is not decoded, and look-alikes are just names.

use super::Act::{Check, Put, Read};
use super::{Row, row};
use crate::tree::Item::{Inside, Secret};

const RFC: &str = "RFC 8089, RFC 3986 2.1";
const PLAIN: &str = "design: plain text is not decoded";
const ENCODED: &str = "design: encoded separators in a URI are refused";
const DOTS: &str = "design: dot segments in a URI are refused";
const LOOKALIKE: &str = "Unicode TR 36, look-alikes; nothing is normalised";

pub(super) static ROWS: &[Row] = &[
    row("uri-plain", RFC, Read, "file://{T}/root/in.txt").allow("{T}/root/in.txt"),
    row("uri-localhost", RFC, Read, "file://localhost{T}/root/in.txt").allow("{T}/root/in.txt"),
    row("uri-escape", RFC, Read, "file://{T}/root/a%20b.txt").tree(&[Inside("root/a b.txt")]).allow("{T}/root/a b.txt"),
    row("uri-escaped-percent", "decoded once", Read, "file://{T}/root/100%25.txt")
        .tree(&[Inside("root/100%.txt")])
        .allow("{T}/root/100%.txt"),
    row("uri-escaped-letter", RFC, Read, "file://{T}/root/%69n.txt").allow("{T}/root/in.txt"),
    row("uri-escaped-hash", RFC, Read, "file://{T}/root/a%23b").tree(&[Inside("root/a#b")]).allow("{T}/root/a#b"),
    row(
        "uri-escaped-backslash",
        "`%5C` is a byte of a name on POSIX, and survives the URI",
        Read,
        "file://{T}/root/a%5Cb",
    )
    .tree(&[Inside("root/a\\b")])
    .allow("{T}/root/a\\b"),
    row("uri-accents", RFC, Read, "file://{T}/root/%C3%A9.txt")
        .tree(&[Inside("root/\u{e9}.txt")])
        .allow("{T}/root/\u{e9}.txt"),
    row("uri-outside", RFC, Read, "file://{T}/outside/secret.txt").outside(),
    row("uri-top", RFC, Check, "file:///").outside(),
    row("uri-prefix-sibling", "CVE-2025-53110", Read, "file://{T}/root-evil/secret.txt").outside(),
    row("uri-dotdot", DOTS, Read, "file://{T}/root/../outside/secret.txt").deny("invalid_path"),
    row("uri-dotdot-inside", DOTS, Read, "file://{T}/root/dir/../in.txt").deny("invalid_path"),
    row("uri-dot", DOTS, Read, "file://{T}/root/./in.txt").deny("invalid_path"),
    row("uri-dotdot-last", DOTS, Check, "file://{T}/root/..").deny("invalid_path"),
    row("uri-encoded-dotdot", DOTS, Read, "file://{T}/root/%2e%2e/outside/secret.txt").deny("invalid_path"),
    row("uri-encoded-dotdot-upper", DOTS, Read, "file://{T}/root/%2E%2E/outside/secret.txt").deny("invalid_path"),
    row("uri-half-encoded-dotdot", "CVE-2021-41773", Read, "file://{T}/root/.%2e/outside/secret.txt")
        .deny("invalid_path"),
    row("uri-other-half-encoded-dotdot", "CVE-2021-41773", Read, "file://{T}/root/%2e./outside/secret.txt")
        .deny("invalid_path"),
    row("uri-encoded-dot", DOTS, Read, "file://{T}/root/%2e/in.txt").deny("invalid_path"),
    row("uri-encoded-slash", ENCODED, Read, "file://{T}/root/dir%2Fin.txt").deny("invalid_path"),
    row("uri-encoded-slash-lower", ENCODED, Read, "file://{T}/root/dir%2fin.txt").deny("invalid_path"),
    row(
        "uri-dotdot-encoded-slash",
        "facts: `url` decodes `%2F` after removing dots",
        Read,
        "file://{T}/root/..%2Foutside%2Fsecret.txt",
    )
    .deny("invalid_path"),
    row("uri-all-encoded", ENCODED, Read, "file://{T}/root/%2E%2E%2Foutside%2Fsecret.txt").deny("invalid_path"),
    row(
        "uri-encoded-backslash-dots",
        "a name on POSIX, never a way up",
        Read,
        "file://{T}/root/..%5C..%5Coutside%5Csecret.txt",
    )
    .refused(),
    row("uri-double-encoded", "CVE-2001-0333, double decoding", Read, "file://{T}/root/%252e%252e/outside/secret.txt")
        .missing(),
    row("uri-double-encoded-slash", "CVE-2001-0333, double decoding", Read, "file://{T}/root/..%252Foutside").missing(),
    row("uri-double-encoded-name", "decoded once, the name contains `%`", Read, "file://{T}/root/%252e%252e")
        .tree(&[Inside("root/%2e%2e")])
        .allow("{T}/root/%2e%2e"),
    row("uri-nul", "CWE-158", Read, "file://{T}/root/in.txt%00.png").deny("invalid_path"),
    row("uri-nul-then-dots", "CWE-158", Read, "file://{T}/root/%00/../../outside/secret.txt").deny("invalid_path"),
    row("uri-not-utf8", "facts: escapes that are not UTF-8 are refused", Read, "file://{T}/root/%ff")
        .deny("invalid_path"),
    row("uri-overlong-dot", "CVE-2000-0884, overlong UTF-8", Read, "file://{T}/root/%c0%ae%c0%ae/outside/secret.txt")
        .deny("invalid_path"),
    row("uri-overlong-slash", "CVE-2000-0884, overlong UTF-8", Read, "file://{T}/root/..%c0%afoutside")
        .deny("invalid_path"),
    row("uri-bad-escape", RFC, Read, "file://{T}/root/%zz").deny("invalid_path"),
    row("uri-cut-escape", RFC, Read, "file://{T}/root/in.txt%2").deny("invalid_path"),
    row("uri-nested-escape", "CVE-2021-42013, `%%32%65`", Read, "file://{T}/root/%%32%65%%32%65/outside/secret.txt")
        .deny("invalid_path"),
    row("uri-unicode-escape", "IIS `%u002e`", Read, "file://{T}/root/%u002e%u002e/outside/secret.txt")
        .deny("invalid_path"),
    row("uri-query", "facts: cutting it widens the path", Read, "file://{T}/root/in.txt?x").deny("invalid_path"),
    row("uri-fragment", "facts: cutting it widens the path", Read, "file://{T}/root/in.txt#x").deny("invalid_path"),
    row("uri-query-hides-dots", "facts: cutting it widens the path", Read, "file://{T}/root/dir?/../../outside")
        .deny("invalid_path"),
    row("uri-other-host", "RFC 8089: not a local file", Read, "file://example.org{T}/root/in.txt").refused(),
    row("uri-host-with-user", "RFC 3986 3.2.1", Read, "file://user@localhost{T}/root/in.txt").refused(),
    row("uri-host-with-port", "RFC 8089 has no port", Read, "file://localhost:80{T}/root/in.txt").refused(),
    row("uri-loopback-host", "only `localhost` is local by name", Read, "file://127.0.0.1{T}/root/in.txt").refused(),
    row("uri-no-path", "facts: `url` makes it `/`", Check, "file://").deny("invalid_path"),
    row("uri-relative", "facts: `url` makes `file:x` `/x`", Read, "file:in.txt").refused(),
    row("uri-tilde-is-a-name", "`~` means home only as the first byte of plain text", Read, "file:///~/in.txt")
        .home("{T}/root")
        .outside(),
    row("plain-encoded-dotdot", PLAIN, Read, "%2e%2e/outside/secret.txt").missing(),
    row("plain-encoded-dotdot-name", PLAIN, Read, "%2e%2e/x.txt")
        .tree(&[Inside("root/%2e%2e/x.txt")])
        .allow("{T}/root/%2e%2e/x.txt"),
    row("plain-encoded-slash", PLAIN, Read, "..%2foutside%2fsecret.txt").missing(),
    row("plain-encoded-all", PLAIN, Read, "%2e%2e%2foutside%2fsecret.txt").missing(),
    row("plain-encoded-absolute", PLAIN, Read, "%2fetc%2fpasswd").missing(),
    row("plain-encoded-below-root", PLAIN, Read, "{T}/root/%2e%2e/outside/secret.txt").missing(),
    row("plain-encoded-outside-name", PLAIN, Read, "{T}/%72oot/x.txt").tree(&[Secret("%72oot/x.txt")]).outside(),
    row("plain-double-encoded", PLAIN, Read, "%252e%252e%252foutside").missing(),
    row(
        "plain-overlong-slash",
        "CVE-2000-0884: the bytes C0 AF are not a slash",
        Read,
        "..{x:c0af}outside{x:c0af}secret.txt",
    )
    .missing(),
    row("plain-overlong-dot", "CVE-2000-0884: the bytes C0 AE are not a dot", Read, "{x:c0aec0ae}/outside/secret.txt")
        .missing(),
    row("plain-utf16-slash", "UTF-16 `/` brings a NUL", Read, "..{x:2f00}outside").deny("invalid_path"),
    row("plain-division-slash", LOOKALIKE, Read, "..\u{2215}outside\u{2215}secret.txt").missing(),
    row("plain-fraction-slash", LOOKALIKE, Read, "..\u{2044}outside").missing(),
    row("plain-fullwidth-slash", LOOKALIKE, Read, "..\u{ff0f}outside\u{ff0f}secret.txt").missing(),
    row("plain-fullwidth-dots", LOOKALIKE, Read, "\u{ff0e}\u{ff0e}/outside/secret.txt").missing(),
    row("plain-two-dot-leader", LOOKALIKE, Read, "\u{2025}/outside/secret.txt").missing(),
    row("plain-one-dot-leaders", LOOKALIKE, Read, "\u{2024}\u{2024}/outside/secret.txt").missing(),
    row("plain-zero-width-between-dots", LOOKALIKE, Read, ".\u{200b}./outside/secret.txt").missing(),
    row("plain-fullwidth-dots-name", LOOKALIKE, Read, "\u{ff0e}\u{ff0e}/x.txt")
        .tree(&[Inside("root/\u{ff0e}\u{ff0e}/x.txt")])
        .allow("{T}/root/\u{ff0e}\u{ff0e}/x.txt"),
    row("plain-lookalike-sibling", LOOKALIKE, Read, "{T}/r\u{43e}\u{43e}t/secret.txt")
        .tree(&[Secret("r\u{43e}\u{43e}t/secret.txt")])
        .outside(),
    row("plain-byte-order-mark", "nothing is trimmed", Read, "\u{feff}in.txt").missing(),
    row("uri-fullwidth-dots", LOOKALIKE, Read, "file://{T}/root/%EF%BC%8E%EF%BC%8E/outside").missing(),
    row("plain-html-escape", "nothing is decoded", Read, "&#46;&#46;/outside/secret.txt").missing(),
    row("plain-put-encoded-name", PLAIN, Put, "%2e%2e%2fnew.txt").allow("{T}/root/%2e%2e%2fnew.txt"),
];
