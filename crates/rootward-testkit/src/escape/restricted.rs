//! Restrictions: secrets stay closed and files that run code for the user stay read-only, whatever path or root leads
//! to them.

use super::Act::{Append, Copy, CreateNew, List, MakeDirectory, Put, Read, Remove, Rename, Stat};
use super::{Row, row, rw};
use crate::tree::Item::{self, Directory, Inside, Link};

const SECRET: &str = "design: secrets are closed";
const RUNS: &str = "design: files that run code are read-only";
const CLAUDE: &str = "CVE-2026-25724: a rule bypassed through a link";
const CARRY: &str = "design: a move that would carry a restricted place along is refused";
const PLACE: &str = "design: restrictions belong to places, not to roots";

const REPOSITORY: &[Item] =
    &[Inside("root/.git/config"), Inside("root/.git/hooks/pre-commit"), Inside("root/.git/HEAD")];
const KEYS: &[Item] = &[Inside("root/.ssh/id_ed25519"), Inside("root/.aws/credentials"), Inside("root/.gnupg/ring")];
const BUNDLE: &[Item] = &[Inside("root/x/hooks/pre-commit"), Inside("root/.git/HEAD")];

pub(super) static ROWS: &[Row] = &[
    row("ssh-read", SECRET, Read, ".ssh/id_ed25519").tree(KEYS).deny("restricted"),
    row("ssh-list", SECRET, List, ".ssh").tree(KEYS).deny("restricted"),
    row("ssh-stat", SECRET, Stat, ".ssh/id_ed25519").tree(KEYS).deny("restricted"),
    row("ssh-put", SECRET, Put, ".ssh/authorized_keys").tree(KEYS).deny("restricted"),
    row("ssh-remove", SECRET, Remove, ".ssh/id_ed25519").tree(KEYS).deny("restricted"),
    row("ssh-make", SECRET, MakeDirectory, ".ssh").deny("restricted"),
    row("ssh-missing", "closed before it exists", Read, ".ssh/id_ed25519").deny("restricted"),
    row("ssh-deep", "below any root, at any depth", Read, "a/b/.ssh/key")
        .tree(&[Inside("root/a/b/.ssh/key")])
        .deny("restricted"),
    row("aws-read", SECRET, Read, ".aws/credentials").tree(KEYS).deny("restricted"),
    row("gnupg-read", SECRET, Read, ".gnupg/ring").tree(KEYS).deny("restricted"),
    row("ssh-by-link", CLAUDE, Read, "harmless.txt")
        .tree(&[Inside("root/.ssh/id"), Link("root/harmless.txt", ".ssh/id")])
        .deny("restricted"),
    row("ssh-by-absolute-link", CLAUDE, Read, "l/id")
        .tree(&[Inside("root/.ssh/id"), Link("root/l", "{T}/root/.ssh")])
        .deny("restricted"),
    row("ssh-by-dotdot", CLAUDE, Read, "dir/../.ssh/id_ed25519").tree(KEYS).deny("restricted"),
    row("ssh-by-dot", CLAUDE, Read, ".//.ssh/./id_ed25519").tree(KEYS).deny("restricted"),
    row("ssh-by-alias", PLACE, Read, "{T}/alias/.ssh/id")
        .tree(&[Inside("root/.ssh/id"), Link("alias", "root")])
        .deny("restricted"),
    row("ssh-as-root", PLACE, Read, "{T}/root/.ssh/id")
        .tree(&[Inside("root/.ssh/id")])
        .roots(&[rw("{T}/root/.ssh")])
        .refused(),
    row("ssh-copy", SECRET, Copy, ".ssh/id_ed25519").to("x").tree(KEYS).deny("restricted"),
    row("ssh-move-away", CARRY, Rename, ".ssh").to("x").tree(KEYS).deny("restricted"),
    row("ssh-move-into", CARRY, Rename, "in.txt").to(".ssh/authorized_keys").tree(KEYS).deny("restricted"),
    row("ssh-carried", CARRY, Rename, "a").to("b").tree(&[Inside("root/a/.ssh/id")]).deny("restricted"),
    row("ssh-like-name", "only the exact name", Read, ".sshx/id")
        .tree(&[Inside("root/.sshx/id")])
        .allow("{T}/root/.sshx/id"),
    row("ssh-like-name-without-dot", "only the exact name", Read, "ssh/id")
        .tree(&[Inside("root/ssh/id")])
        .allow("{T}/root/ssh/id"),
    row("git-config-read", "reading is fine", Read, ".git/config").tree(REPOSITORY).allow("{T}/root/.git/config"),
    row("git-config-put", RUNS, Put, ".git/config").tree(REPOSITORY).deny("restricted"),
    row("git-config-append", RUNS, Append, ".git/config").tree(REPOSITORY).deny("restricted"),
    row("git-config-create", RUNS, CreateNew, "sub/.git/config").tree(&[Directory("root/sub/.git")]).deny("restricted"),
    row("git-config-remove", RUNS, Remove, ".git/config").tree(REPOSITORY).deny("restricted"),
    row("git-config-move-away", CARRY, Rename, ".git/config").to("x").tree(REPOSITORY).deny("restricted"),
    row("git-config-move-over", CARRY, Rename, "in.txt").to(".git/config").tree(REPOSITORY).deny("restricted"),
    row("git-config-copy-over", RUNS, Copy, "in.txt").to(".git/config").tree(REPOSITORY).deny("restricted"),
    row("git-config-copy-from", "reading is fine", Copy, ".git/config").to("x").tree(REPOSITORY).allow("{T}/root/x"),
    row("git-hook-read", "reading is fine", Read, ".git/hooks/pre-commit")
        .tree(REPOSITORY)
        .allow("{T}/root/.git/hooks/pre-commit"),
    row("git-hook-list", "reading is fine", List, ".git/hooks").tree(REPOSITORY).allow("{T}/root/.git/hooks"),
    row("git-hook-put", RUNS, Put, ".git/hooks/pre-commit").tree(REPOSITORY).deny("restricted"),
    row("git-hook-create", RUNS, CreateNew, ".git/hooks/post-merge").tree(REPOSITORY).deny("restricted"),
    row("git-hook-make-directory", RUNS, MakeDirectory, ".git/hooks")
        .tree(&[Inside("root/.git/HEAD")])
        .deny("restricted"),
    row("git-hook-by-link", CLAUDE, Put, "h/pre-commit")
        .tree(&[Inside("root/.git/hooks/a"), Link("root/h", ".git/hooks")])
        .deny("restricted"),
    row("git-hook-by-absolute-link", CLAUDE, Put, "l")
        .tree(&[Inside("root/.git/hooks/a"), Link("root/l", "{T}/root/.git/hooks/a")])
        .deny("restricted"),
    row("git-hook-by-dangling-link", CLAUDE, Put, "l")
        .tree(&[Directory("root/.git/hooks"), Link("root/l", ".git/hooks/pre-push")])
        .deny("restricted"),
    row("git-hook-by-dotdot", CLAUDE, Put, "dir/../.git/hooks/pre-commit").tree(REPOSITORY).deny("restricted"),
    row("git-hook-by-root-at-git", PLACE, Put, "hooks/pre-commit")
        .tree(REPOSITORY)
        .roots(&[rw("{T}/root/.git")])
        .deny("restricted"),
    row("git-hook-by-root-at-hooks", PLACE, Put, "pre-commit")
        .tree(REPOSITORY)
        .roots(&[rw("{T}/root/.git/hooks")])
        .deny("restricted"),
    row("git-hook-by-aliased-root", PLACE, Put, "hooks/pre-commit")
        .tree(&[Inside("root/.git/hooks/pre-commit"), Link("alias", "root/.git")])
        .roots(&[rw("{T}/alias")])
        .deny("restricted"),
    row("git-other-put", "the rest of `.git` is not restricted", Put, ".git/HEAD")
        .tree(REPOSITORY)
        .allow("{T}/root/.git/HEAD"),
    row("git-moved", CARRY, Rename, ".git").to("x").tree(REPOSITORY).deny("restricted"),
    row("git-carried", CARRY, Rename, "project")
        .to("moved")
        .tree(&[Inside("root/project/.git/hooks/a"), Inside("root/project/x")])
        .deny("restricted"),
    row("git-removed-whole", "a recursive removal reaches the hooks", Remove, ".git").tree(REPOSITORY).refused(),
    row("git-brought", "design: a move into place: `x` holds `hooks/`", Rename, "x")
        .to("sub/.git")
        .tree(&[Inside("root/x/hooks/pre-commit"), Directory("root/sub")])
        .deny("restricted"),
    row("git-hooks-brought", CARRY, Rename, "x/hooks").to(".git/hooks").tree(BUNDLE).deny("restricted"),
    row("git-hook-brought", CARRY, Rename, "x/hooks/pre-commit").to(".git/hooks").tree(BUNDLE).deny("restricted"),
    row("git-brought-by-link", "a link put in the place of the hooks", Rename, "l")
        .to(".git/hooks")
        .tree(&[Inside("root/.git/HEAD"), Link("root/l", "x")])
        .deny("restricted"),
    row("mcp-json-read", "reading is fine", Read, ".mcp.json")
        .tree(&[Inside("root/.mcp.json")])
        .allow("{T}/root/.mcp.json"),
    row("mcp-json-put", RUNS, Put, ".mcp.json").deny("restricted"),
    row("mcp-json-create-deep", RUNS, CreateNew, "dir/.mcp.json").deny("restricted"),
    row("mcp-json-rename-to", CARRY, Rename, "in.txt").to(".mcp.json").deny("restricted"),
    row("vscode-put", RUNS, Put, ".vscode/tasks.json").tree(&[Inside("root/.vscode/tasks.json")]).deny("restricted"),
    row("vscode-read", "reading is fine", Read, ".vscode/tasks.json")
        .tree(&[Inside("root/.vscode/tasks.json")])
        .allow("{T}/root/.vscode/tasks.json"),
    row("vscode-make", RUNS, MakeDirectory, ".vscode").deny("restricted"),
    row("claude-create", "CVE-2026-25725: settings that did not exist yet", CreateNew, ".claude/settings.json")
        .tree(&[Directory("root/.claude")])
        .deny("restricted"),
    row("claude-remove", RUNS, Remove, ".claude/settings.json")
        .tree(&[Inside("root/.claude/settings.json")])
        .deny("restricted"),
    row("cursor-put", RUNS, Put, ".cursor/mcp.json").tree(&[Directory("root/.cursor")]).deny("restricted"),
    row("bashrc-put", RUNS, Put, ".bashrc").deny("restricted"),
    row("bashrc-append", RUNS, Append, ".bashrc").tree(&[Inside("root/.bashrc")]).deny("restricted"),
    row("bashrc-read", "reading is fine", Read, ".bashrc").tree(&[Inside("root/.bashrc")]).allow("{T}/root/.bashrc"),
    row("zshrc-put", RUNS, Put, ".zshrc").deny("restricted"),
    row("profile-put", RUNS, Put, ".profile").deny("restricted"),
    row("bashrc-by-home", RUNS, Put, "~/.bashrc").home("{T}/root").deny("restricted"),
    row("bashrc-by-uri", RUNS, Put, "file://{T}/root/%2Ebashrc").deny("restricted"),
    row("bashrc-as-file-root", PLACE, Put, "{T}/root/.bashrc")
        .tree(&[Inside("root/.bashrc")])
        .roots(&[rw("{T}/root/.bashrc")])
        .deny("restricted"),
    row("bashrc-outside", "outside takes priority", Put, "../outside/.bashrc").outside(),
    row("ssh-outside", "outside takes priority", Read, "../outside/.ssh/id").outside(),
    row("restricted-name-as-link", "removing a link so named", Remove, ".mcp.json")
        .tree(&[Link("root/.mcp.json", "in.txt")])
        .deny("restricted"),
];
