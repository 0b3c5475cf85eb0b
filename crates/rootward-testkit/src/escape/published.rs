//! Published path vulnerabilities of MCP servers and of the tools around them, each as its report describes it.

use super::Act::{Check, Copy, CreateNew, List, MakeDirectory, Put, Read, Rename, Stat};
use super::{Row, ro, row, rw};
use crate::tree::Item::{Directory, Inside, Link, Secret};

const PREFIX: &str = "CVE-2025-53110, reference file server: prefix test without a separator";
const LINK: &str = "CVE-2025-53109, reference file server: a link, and an error mistaken for a new file";
const INIT: &str = "CVE-2025-68143, reference git server: `git_init` in any directory";
const OPTION: &str = "CVE-2025-68144, reference git server: an argument that begins with `-`";
const FLAG: &str = "CVE-2025-68145, reference git server: `--repository` not enforced on later calls";
const STAGE: &str = "CVE-2026-27735 (GHSA-vjqx-cfc4-9h6v), reference git server: `git_add` of files outside";
const EXCEL: &str = "CVE-2026-40576, excel-mcp-server: absolute and joined relative paths unchecked";
const MOBILE: &str = "CVE-2026-33989, mobile-mcp: output path of a screenshot unchecked";
const SAVE: &str = "CVE-2026-7213, MLOps_MCP: `save_file` to any destination";
const BARE: &str = "CVE-2026-25871, bare `..`; class as published";
const ABSOLUTE: &str = "CVE-2026-7811, code-mcp: parents of `Path.absolute()`, which keeps `..`";
const RULE: &str = "CVE-2026-25724, Claude Code: deny rule checked on the requested path, not the link's target";
const DECODE: &str = "CVE-2026-6321, fast-uri: escapes decoded before dot segments are checked";
const SANDBOX: &str = "CVE-2026-39861, Claude Code: a link made inside, followed for writing";

pub(super) static ROWS: &[Row] = &[
    row("cve-2025-53110-read", PREFIX, Read, "{T}/allowed_evil/secret.txt")
        .tree(&[Directory("allowed"), Secret("allowed_evil/secret.txt")])
        .roots(&[rw("{T}/allowed")])
        .outside(),
    row("cve-2025-53110-list", PREFIX, List, "{T}/allowed_evil")
        .tree(&[Directory("allowed"), Secret("allowed_evil/secret.txt")])
        .roots(&[rw("{T}/allowed")])
        .outside(),
    row("cve-2025-53110-make", PREFIX, MakeDirectory, "{T}/allowed_evil2")
        .tree(&[Directory("allowed")])
        .roots(&[rw("{T}/allowed")])
        .outside(),
    row("cve-2025-53109-read", LINK, Read, "link").tree(&[Link("root/link", "/etc/shadow")]).outside(),
    row("cve-2025-53109-put", LINK, Put, "link").tree(&[Link("root/link", "{T}/outside/secret.txt")]).outside(),
    row("cve-2025-53109-new", LINK, Put, "link").tree(&[Link("root/link", "{T}/outside/agents/new.plist")]).outside(),
    row("cve-2025-53109-parent", LINK, Put, "link/new.txt").tree(&[Link("root/link", "{T}/outside")]).outside(),
    row("cve-2025-53109-chained", "CVE-2025-53109 by way of 53110", Read, "{T}/root-evil/link")
        .tree(&[Link("root-evil/link", "{T}/outside/secret.txt")])
        .outside(),
    row("cve-2025-68143-absolute", INIT, MakeDirectory, "{T}/outside/.git").outside(),
    row("cve-2025-68143-relative", INIT, MakeDirectory, "../outside/.git").outside(),
    row("cve-2025-68143-list", INIT, List, "{T}/outside").outside(),
    row("cve-2025-68144-output", OPTION, Put, "--output={T}/outside/secret.txt").missing(),
    row("cve-2025-68144-read", OPTION, Read, "--output=x")
        .tree(&[Inside("root/--output=x")])
        .allow("{T}/root/--output=x"),
    row("cve-2025-68144-short", OPTION, CreateNew, "-o").allow("{T}/root/-o"),
    row("cve-2025-68145-other-repository", FLAG, Read, "{T}/other/HEAD").tree(&[Secret("other/HEAD")]).outside(),
    row("cve-2025-68145-base", FLAG, Read, "HEAD").tree(&[Secret("other/HEAD")]).base("{T}/other").outside(),
    row("cve-2026-27735-read", STAGE, Read, "../../../.kube/config").outside(),
    row("cve-2026-27735-copy", STAGE, Copy, "../outside/secret.txt").to("staged").outside(),
    row("cve-2026-27735-deep", STAGE, Copy, "dir/deep/../../../outside/secret.txt").to("staged").outside(),
    row("cve-2026-40576-absolute", EXCEL, Read, "{T}/outside/book.xlsx").tree(&[Secret("outside/book.xlsx")]).outside(),
    row("cve-2026-40576-joined", EXCEL, Put, "../outside/book.xlsx").outside(),
    row("cve-2026-40576-copy", EXCEL, Copy, "in.txt").to("{T}/outside/book.xlsx").outside(),
    row("cve-2026-33989-absolute", MOBILE, Put, "{T}/outside/screen.png").outside(),
    row("cve-2026-33989-relative", MOBILE, Put, "../../.bashrc").outside(),
    row("cve-2026-33989-through-link", MOBILE, CreateNew, "shots/screen.png")
        .tree(&[Link("root/shots", "{T}/outside")])
        .outside(),
    row("cve-2026-7213-new", SAVE, CreateNew, "../outside/model.bin").outside(),
    row("cve-2026-7213-replace", SAVE, Put, "../outside/secret.txt").outside(),
    row("cve-2026-7213-rename", SAVE, Rename, "in.txt").to("../outside/model.bin").outside(),
    row("cve-2026-25871-list", BARE, List, "..").outside(),
    row("cve-2026-25871-check", BARE, Check, "..").outside(),
    row("cve-2026-25871-stat", BARE, Stat, "..").outside(),
    row("cve-2026-25871-absolute", BARE, List, "{T}/root/..").outside(),
    row("cve-2026-25871-inner-root", BARE, List, "..").roots(&[rw("{T}/root/dir/deep")]).outside(),
    row("cve-2026-7811-absolute", ABSOLUTE, Read, "{T}/root/../outside/secret.txt").outside(),
    row("cve-2026-7811-put", ABSOLUTE, Put, "{T}/root/../outside/new.txt").outside(),
    row("cve-2026-7811-twice", ABSOLUTE, Read, "{T}/root/dir/../../outside/secret.txt").outside(),
    row("cve-2026-25724-read", RULE, Read, "notes.txt")
        .tree(&[Inside("root/.ssh/id"), Link("root/notes.txt", ".ssh/id")])
        .deny("restricted"),
    row("cve-2026-25724-two-links", RULE, Read, "a")
        .tree(&[Inside("root/.ssh/id"), Link("root/a", "b"), Link("root/b", "{T}/root/.ssh/id")])
        .deny("restricted"),
    row("cve-2026-25724-directory", RULE, List, "d")
        .tree(&[Inside("root/.aws/x"), Link("root/d", ".aws")])
        .deny("restricted"),
    row("cve-2026-6321-dots", DECODE, Read, "file://{T}/root/public/%2e%2e/%2e%2e/outside/secret.txt")
        .deny("invalid_path"),
    row("cve-2026-6321-slash", DECODE, Read, "file://{T}/root/public%2F..%2F..%2Foutside").deny("invalid_path"),
    row("cve-2026-6321-mixed", DECODE, Read, "file://{T}/root/public/.%2E/%2E./outside/secret.txt")
        .deny("invalid_path"),
    row("cve-2026-6321-twice", DECODE, Read, "file://{T}/root/%252e%252e/%252e%252e/outside/secret.txt").missing(),
    row("cve-2026-39861-put", SANDBOX, Put, "made/new.txt").tree(&[Link("root/made", "{T}/outside")]).outside(),
    row("rule-on-one-spelling", "a rule on one spelling, the write by another (class)", Put, "{T}/alias/in.txt")
        .tree(&[Link("alias", "root")])
        .roots(&[ro("{T}/root")])
        .deny("access_denied"),
    row("zip-slip", "CVE-2018-1002200, archive entries that climb", CreateNew, "dir/../../outside/entry.sh").outside(),
    row("tar-link-then-file", "CVE-2007-4559, CVE-2021-32803: a link first, then a file below it", Put, "d/entry")
        .tree(&[Link("root/d", "../outside")])
        .outside(),
    row("docker-cp-link", "CVE-2018-15664 class: a link resolved outside the container", Read, "w/secret.txt")
        .tree(&[Link("root/w", "../../../../..{T}/outside")])
        .outside(),
    row("apache-half-encoded", "CVE-2021-41773 as plain text: only a name", Read, ".%2e/outside/secret.txt").missing(),
    row(
        "starlette-common-prefix",
        "CVE-2023-29159: common prefix of text, not of components",
        Read,
        "../root-evil/secret.txt",
    )
    .outside(),
];
