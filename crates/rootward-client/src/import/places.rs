//! Which files each client has, on each system.

use std::path::PathBuf;

use rootward_core::env::Environment;

use super::model::Client;

/// The format of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// `.claude.json` of Claude Code.
    ClaudeState,
    /// `.mcp.json` of a project.
    ClaudeProject,
    /// `settings.json` of Claude Code.
    ClaudeSettings,
    /// `claude_desktop_config.json`.
    ClaudeDesktop,
    /// `mcp.json` of Cursor.
    Cursor,
    /// `mcp.json` of VS Code.
    VsCode,
    /// `config.toml` of Codex.
    Codex,
    /// `settings.json` of Gemini CLI.
    Gemini,
    /// `opencode.json` and `opencode.jsonc`.
    Opencode,
    /// `mcp_config.json` of Windsurf.
    Windsurf,
    /// `settings.json` of Zed.
    Zed,
}

impl Form {
    /// The client that has such files.
    pub fn client(self) -> Client {
        match self {
            Form::ClaudeState | Form::ClaudeProject | Form::ClaudeSettings => Client::ClaudeCode,
            Form::ClaudeDesktop => Client::ClaudeDesktop,
            Form::Cursor => Client::Cursor,
            Form::VsCode => Client::VsCode,
            Form::Codex => Client::Codex,
            Form::Gemini => Client::GeminiCli,
            Form::Opencode => Client::Opencode,
            Form::Windsurf => Client::Windsurf,
            Form::Zed => Client::Zed,
        }
    }

    /// All of them.
    pub const ALL: [Form; 11] = [
        Form::ClaudeState,
        Form::ClaudeProject,
        Form::ClaudeSettings,
        Form::ClaudeDesktop,
        Form::Cursor,
        Form::VsCode,
        Form::Codex,
        Form::Gemini,
        Form::Opencode,
        Form::Windsurf,
        Form::Zed,
    ];

    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Form::ClaudeState => "claude-state",
            Form::ClaudeProject => "claude-project",
            Form::ClaudeSettings => "claude-settings",
            Form::ClaudeDesktop => "claude-desktop",
            Form::Cursor => "cursor",
            Form::VsCode => "vscode",
            Form::Codex => "codex",
            Form::Gemini => "gemini",
            Form::Opencode => "opencode",
            Form::Windsurf => "windsurf",
            Form::Zed => "zed",
        }
    }

    /// The key of the servers; `None` if such files have none.
    pub fn servers_key(self) -> Option<&'static str> {
        match self {
            Form::ClaudeSettings => None,
            Form::ClaudeState
            | Form::ClaudeProject
            | Form::ClaudeDesktop
            | Form::Cursor
            | Form::Gemini
            | Form::Windsurf => Some("mcpServers"),
            Form::VsCode => Some("servers"),
            Form::Codex => Some("mcp_servers"),
            Form::Opencode => Some("mcp"),
            Form::Zed => Some("context_servers"),
        }
    }
}

/// A file that may exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Its format.
    pub form: Form,
    /// Its path.
    pub file: PathBuf,
}

/// An operating system, as far as it matters for the location of files.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Platform {
    /// Linux, and other systems with `~/.config`.
    Linux,
    /// macOS.
    Macos,
    /// Windows.
    Windows,
}

impl Platform {
    /// The system that this program was built for.
    pub const NATIVE: Platform = if cfg!(target_os = "macos") {
        Platform::Macos
    } else if cfg!(windows) {
        Platform::Windows
    } else {
        Platform::Linux
    };

    /// The user's home.
    pub(super) fn home(self, environment: &Environment) -> Option<PathBuf> {
        environment.directory(if self == Platform::Windows { "USERPROFILE" } else { "HOME" })
    }

    /// Where applications keep their settings.
    fn settings(self, environment: &Environment) -> Option<PathBuf> {
        let home = self.home(environment);
        match self {
            Platform::Linux => environment.directory("XDG_CONFIG_HOME").or_else(|| Some(home?.join(".config"))),
            Platform::Macos => Some(home?.join("Library/Application Support")),
            Platform::Windows => environment.directory("APPDATA"),
        }
    }
}

/// The user's own files, whether or not they exist.
pub fn user_files(platform: Platform, environment: &Environment) -> Vec<Place> {
    let home = platform.home(environment);
    let at_home = |name: &str| home.as_ref().map(|home| home.join(name));
    let settings = platform.settings(environment);
    let in_settings = |name: &str| settings.as_ref().map(|settings| settings.join(name));
    // It replaces `~/.claude`, and `.claude.json` is then inside it instead of next to it.
    let claude = environment.directory("CLAUDE_CONFIG_DIR");
    let state = claude.as_ref().map(|claude| claude.join(".claude.json")).or_else(|| at_home(".claude.json"));
    let claude_settings = claude.or_else(|| at_home(".claude")).map(|claude| claude.join("settings.json"));
    let codex = environment.directory("CODEX_HOME").or_else(|| at_home(".codex"));
    let gemini = environment.directory("GEMINI_CLI_HOME").or_else(|| home.clone());
    // opencode follows the XDG base directory specification on every system.
    let opencode = environment.directory("XDG_CONFIG_HOME").or_else(|| at_home(".config"));
    let in_opencode = |name: &str| opencode.as_ref().map(|settings| settings.join("opencode").join(name));
    let zed = match platform {
        Platform::Linux => in_settings("zed/settings.json"),
        Platform::Macos => at_home(".config/zed/settings.json"),
        Platform::Windows => in_settings("Zed/settings.json"),
    };
    let places = [
        (Form::ClaudeState, state),
        (Form::ClaudeSettings, claude_settings),
        (Form::ClaudeDesktop, in_settings("Claude/claude_desktop_config.json")),
        (Form::Cursor, at_home(".cursor/mcp.json")),
        (Form::VsCode, in_settings("Code/User/mcp.json")),
        (Form::VsCode, in_settings("Code - Insiders/User/mcp.json")),
        (Form::Codex, codex.map(|codex| codex.join("config.toml"))),
        (Form::Gemini, gemini.map(|gemini| gemini.join(".gemini/settings.json"))),
        (Form::Opencode, in_opencode("config.json")),
        (Form::Opencode, in_opencode("opencode.json")),
        (Form::Opencode, in_opencode("opencode.jsonc")),
        (Form::Windsurf, at_home(".codeium/windsurf/mcp_config.json")),
        (Form::Zed, zed),
    ];
    places.into_iter().filter_map(|(form, file)| Some(Place { form, file: file? })).collect()
}

/// The files of a project, relative to it.
pub fn project_files() -> [(Form, &'static str); 12] {
    [
        (Form::ClaudeProject, ".mcp.json"),
        (Form::ClaudeSettings, ".claude/settings.json"),
        (Form::ClaudeSettings, ".claude/settings.local.json"),
        (Form::Cursor, ".cursor/mcp.json"),
        (Form::VsCode, ".vscode/mcp.json"),
        (Form::Codex, ".codex/config.toml"),
        (Form::Gemini, ".gemini/settings.json"),
        (Form::Opencode, "opencode.json"),
        (Form::Opencode, "opencode.jsonc"),
        (Form::Opencode, ".opencode/opencode.json"),
        (Form::Opencode, ".opencode/opencode.jsonc"),
        (Form::Zed, ".zed/settings.json"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(platform: Platform, environment: &Environment, expect: &[&str]) {
        let files: Vec<String> =
            user_files(platform, environment).iter().map(|place| place.file.display().to_string()).collect();
        assert_eq!(files, expect);
    }

    #[test]
    fn files_on_each_system() {
        check(
            Platform::Linux,
            &[("HOME", "/h")].into(),
            &[
                "/h/.claude.json",
                "/h/.claude/settings.json",
                "/h/.config/Claude/claude_desktop_config.json",
                "/h/.cursor/mcp.json",
                "/h/.config/Code/User/mcp.json",
                "/h/.config/Code - Insiders/User/mcp.json",
                "/h/.codex/config.toml",
                "/h/.gemini/settings.json",
                "/h/.config/opencode/config.json",
                "/h/.config/opencode/opencode.json",
                "/h/.config/opencode/opencode.jsonc",
                "/h/.codeium/windsurf/mcp_config.json",
                "/h/.config/zed/settings.json",
            ],
        );
        check(
            Platform::Macos,
            &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")].into(),
            &[
                "/h/.claude.json",
                "/h/.claude/settings.json",
                "/h/Library/Application Support/Claude/claude_desktop_config.json",
                "/h/.cursor/mcp.json",
                "/h/Library/Application Support/Code/User/mcp.json",
                "/h/Library/Application Support/Code - Insiders/User/mcp.json",
                "/h/.codex/config.toml",
                "/h/.gemini/settings.json",
                "/x/opencode/config.json",
                "/x/opencode/opencode.json",
                "/x/opencode/opencode.jsonc",
                "/h/.codeium/windsurf/mcp_config.json",
                "/h/.config/zed/settings.json",
            ],
        );
        check(
            Platform::Windows,
            &[("USERPROFILE", "/u"), ("APPDATA", "/a"), ("HOME", "/h")].into(),
            &[
                "/u/.claude.json",
                "/u/.claude/settings.json",
                "/a/Claude/claude_desktop_config.json",
                "/u/.cursor/mcp.json",
                "/a/Code/User/mcp.json",
                "/a/Code - Insiders/User/mcp.json",
                "/u/.codex/config.toml",
                "/u/.gemini/settings.json",
                "/u/.config/opencode/config.json",
                "/u/.config/opencode/opencode.json",
                "/u/.config/opencode/opencode.jsonc",
                "/u/.codeium/windsurf/mcp_config.json",
                "/a/Zed/settings.json",
            ],
        );
    }

    #[test]
    fn variables_say_otherwise() {
        check(
            Platform::Linux,
            &[
                ("HOME", "/h"),
                ("XDG_CONFIG_HOME", "/x"),
                ("CLAUDE_CONFIG_DIR", "/c"),
                ("CODEX_HOME", "/o"),
                ("GEMINI_CLI_HOME", "/g"),
            ]
            .into(),
            &[
                "/c/.claude.json",
                "/c/settings.json",
                "/x/Claude/claude_desktop_config.json",
                "/h/.cursor/mcp.json",
                "/x/Code/User/mcp.json",
                "/x/Code - Insiders/User/mcp.json",
                "/o/config.toml",
                "/g/.gemini/settings.json",
                "/x/opencode/config.json",
                "/x/opencode/opencode.json",
                "/x/opencode/opencode.jsonc",
                "/h/.codeium/windsurf/mcp_config.json",
                "/x/zed/settings.json",
            ],
        );
        // Ignore a relative value: it would mean a place in the working directory.
        check(Platform::Linux, &[("CLAUDE_CONFIG_DIR", "c"), ("CODEX_HOME", "./o"), ("HOME", "h")].into(), &[]);
    }
}
