//! The places that are not shared: secrets, files that run code for the user, and files in which projects keep secrets.
//!
//! There is one table for each. They are used to refuse a root in such a place and to keep the place closed below other
//! roots. An entry is a sequence of components that matches anywhere in a path, with everything below it; `**` matches
//! any number of components, including none. The last component may begin or end with a `*`. ASCII case is ignored,
//! because on a case-insensitive disk `.SSH` is `.ssh`.
//!
//! `docs/closed.md` lists all of them.

/// No access.
pub const SECRET: &[&str] = &[
    // Keys and key stores.
    ".ssh",
    ".putty",
    ".gnupg",
    ".pki",
    ".password-store",
    ".local/share/gopass",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".gnome2/keyrings",
    ".kde/share/apps/kwallet",
    ".config/op",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/Bitwarden CLI",
    ".config/keepassxc",
    ".config/sops/age",
    ".google_authenticator",
    ".Xauthority",
    ".ICEauthority",
    "Library/Keychains",
    "AppData/Roaming/gnupg",
    "AppData/Local/Microsoft/Credentials",
    "AppData/Local/Microsoft/Vault",
    "AppData/Roaming/Microsoft/Credentials",
    "AppData/Roaming/Microsoft/Crypto",
    "AppData/Roaming/Microsoft/Protect",
    "AppData/Roaming/Microsoft/Vault",
    // Clouds and clusters.
    ".aws",
    ".azure",
    ".oci",
    ".aliyun",
    ".bluemix",
    ".kube",
    ".minikube",
    ".fly",
    ".boto",
    ".s3cfg",
    ".passwd-s3fs",
    ".databrickscfg",
    ".snowflake",
    ".snowsql",
    ".vault-token",
    ".terraformrc",
    ".terraform.d/credentials.tfrc.json",
    ".pulumi/credentials.json",
    ".config/gcloud",
    ".config/doctl",
    ".config/hcloud",
    ".config/linode-cli",
    ".config/scw",
    ".config/netlify",
    ".config/rclone",
    ".local/share/com.vercel.cli",
    "AppData/Roaming/gcloud",
    // Containers.
    ".docker/config.json",
    ".docker/contexts",
    ".config/containers/auth.json",
    ".config/helm/registry",
    // Code hosting and package registries.
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    "AppData/Roaming/GitHub CLI",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet/NuGet.Config",
    // Passwords for programs, databases and mail.
    ".netrc",
    "_netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".msmtprc",
    ".fetchmailrc",
    ".config/filezilla",
    ".local/share/remmina",
    // AI models and agents.
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".config/github-copilot",
    ".config/goose/secrets.yaml",
    ".local/share/opencode/auth.json",
    ".mcp-auth",
    ".cache/huggingface/token",
    ".huggingface/token",
    ".kaggle/kaggle.json",
    // Browsers, mail and messages: cookies, saved passwords, sessions.
    ".mozilla",
    ".thunderbird",
    ".librewolf",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/opera",
    ".config/vivaldi",
    ".config/Signal",
    "snap/chromium/common",
    ".var/app/com.google.Chrome",
    ".var/app/org.chromium.Chromium",
    ".var/app/org.mozilla.firefox",
    "Library/Cookies",
    "Library/Mail",
    "Library/Messages",
    "Library/Safari",
    "Library/Containers/com.apple.Safari",
    "Library/Application Support/BraveSoftware",
    "Library/Application Support/Chromium",
    "Library/Application Support/Firefox",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Microsoft Edge",
    "AppData/Local/BraveSoftware",
    "AppData/Local/Google/Chrome",
    "AppData/Local/Microsoft/Edge",
    "AppData/Roaming/Mozilla",
    "AppData/Roaming/Thunderbird",
    // Wallets.
    ".bitcoin",
    ".electrum",
    ".ethereum",
    ".bitmonero",
    ".config/solana/id.json",
    // History of typed commands, passwords included.
    ".bash_history",
    ".zsh_history",
    ".sh_history",
    ".local/share/fish/fish_history",
    ".mysql_history",
    ".psql_history",
    ".python_history",
    ".node_repl_history",
    // Rootward's own settings, store, audit log and cache.
    ".config/rootward",
    ".local/state/rootward",
    ".cache/rootward",
    "Library/Application Support/rootward",
    "AppData/Roaming/rootward",
];

/// No access in calls; open to processes.
///
/// A project's own programs need these files, so the kernel leaves them open to a confined server, and they never
/// prevent one from starting.
pub const GUARDED: &[&str] = &[
    ".env",
    ".env.*",
    "*.pem",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "terraform.tfstate",
    "terraform.tfstate.backup",
];

/// Suffixes that stay open although `.env.*` matches: templates, which are made to be shared.
pub const TEMPLATES: &[&str] = &[".example", ".sample", ".template", ".dist"];

/// Whether a name is a template for a `.env`: `.env.example`, `.env.local.sample`.
pub(crate) fn is_template(name: &[u8]) -> bool {
    let starts = name.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b".env."));
    starts && TEMPLATES.iter().any(|end| ends_with(name, end.as_bytes()))
}

/// Whether a name has this suffix, ignoring case.
pub(crate) fn ends_with(name: &[u8], end: &[u8]) -> bool {
    name.len().checked_sub(end.len()).is_some_and(|start| name[start..].eq_ignore_ascii_case(end))
}

/// Closed for writing.
pub const RUNS_CODE: &[&str] = &[
    // Git runs hooks and programs that its configuration names (githooks(5), git-config(1)); `commondir` says where the
    // configuration lies (gitrepository-layout(5)).
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/modules/**/hooks",
    ".git/modules/**/config",
    ".git/modules/**/config.worktree",
    ".git/modules/**/commondir",
    ".git/worktrees/**/config.worktree",
    ".git/worktrees/**/commondir",
    // Attributes choose the filters, merge drivers and diff programs that git runs (gitattributes(5)).
    ".gitattributes",
    ".gitconfig",
    ".config/git",
    ".husky",
    ".pre-commit-config.yaml",
    ".hg/hgrc",
    ".hgrc",
    ".jj/repo/config.toml",
    ".config/jj",
    // Agents: the servers, hooks and commands that they start.
    ".mcp.json",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".cursor",
    ".windsurf",
    ".codeium",
    ".continue",
    ".kiro",
    ".roo",
    ".amazonq",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".config/opencode",
    ".config/goose",
    ".config/Claude",
    "Library/Application Support/Claude",
    "AppData/Roaming/Claude",
    // Package managers: the program that runs scripts, and the registry that they come from.
    ".npmrc",
    ".yarnrc.yml",
    // Editors: tasks, settings that name programs, startup files.
    ".vscode",
    "*.code-workspace",
    ".idea",
    ".zed",
    ".fleet",
    ".devcontainer",
    ".devcontainer.json",
    ".config/Code",
    ".config/Cursor",
    ".config/zed",
    "Library/Application Support/Code",
    "Library/Application Support/Cursor",
    "AppData/Roaming/Code",
    "AppData/Roaming/Cursor",
    ".vim",
    ".vimrc",
    ".gvimrc",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".config/nvim",
    ".emacs",
    ".emacs.d",
    ".config/emacs",
    ".dir-locals.el",
    // Shells.
    ".profile",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".bashrc",
    ".zshenv",
    ".zprofile",
    ".zshrc",
    ".zlogin",
    ".zlogout",
    ".config/zsh",
    ".oh-my-zsh",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".envrc",
    ".config/fish",
    ".config/nushell",
    ".config/powershell",
    "Documents/PowerShell",
    "Documents/WindowsPowerShell",
    ".pam_environment",
    ".config/environment.d",
    // Programs that read commands at startup.
    ".tmux.conf",
    ".config/tmux",
    ".screenrc",
    ".gdbinit",
    ".lldbinit",
    ".pdbrc",
    ".irbrc",
    ".pryrc",
    ".Rprofile",
    ".psqlrc",
    ".sqliterc",
    ".mailcap",
    ".forward",
    ".procmailrc",
    // Directories of programs, and what starts with the session.
    ".local/bin",
    ".cargo/bin",
    ".cargo/env",
    ".local/share/uv",
    ".pyenv",
    ".nvm",
    ".fnm",
    ".local/share/fnm",
    ".volta",
    ".asdf",
    ".local/share/mise",
    ".rbenv",
    ".rustup",
    ".bun",
    ".deno",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".config/autostart",
    ".config/systemd",
    ".config/plasma-workspace",
    ".config/hypr",
    ".config/i3",
    ".config/sway",
    ".local/share/systemd",
    ".local/share/applications",
    ".local/share/dbus-1",
    "Library/LaunchAgents",
    "Library/LaunchDaemons",
    "AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn entries_are_components() {
        for table in [SECRET, RUNS_CODE, GUARDED] {
            let mut seen = BTreeSet::new();
            for entry in table {
                assert!(seen.insert(entry.to_ascii_lowercase()), "{entry} is a duplicate");
                let (above, last) = entry.rsplit_once('/').unwrap_or(("", entry));
                let last = last.strip_prefix('*').or(last.strip_suffix('*')).unwrap_or(last);
                for component in above.split('/').skip(usize::from(above.is_empty())).chain([last]) {
                    assert!(!matches!(component, "" | "." | ".."), "{entry}");
                    assert!(component == "**" || !component.contains(['*', '?', '[', '{', '\\']), "{entry}");
                }
            }
        }
        assert!(SECRET.iter().all(|entry| !entry.contains('*')), "`validate` compares components one by one");
    }
}
