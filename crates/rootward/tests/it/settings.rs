//! Settings: where roots come from, which source takes precedence, and how mistakes are reported.

use crate::stage::{Stage, assert_told};

#[test]
fn the_first_source_with_roots_counts() {
    let stage = Stage::new().with_settings("roots = ['[STAGE]/project:ro']");
    assert_told!("settings_file", stage, ["explain", "README.md"], ["check", "--root", "src", "README.md"]);
    let outside = stage.path("outside");
    let stage = stage.with("ROOTWARD_ROOTS", outside);
    assert_told!("settings_environment", stage, ["explain", "README.md"], ["check", "--root", "src", "src/main.rs"]);
}

#[test]
fn the_fallback_directory_is_used_without_other_roots() {
    let stage = Stage::new().with_settings("fallback_dir = '[STAGE]/project'");
    assert_told!("settings_fallback", stage, ["explain", "README.md"]);
    // The fallback does not apply if only the ceiling counts.
    let strict = Stage::new().with_settings("fallback_dir = '[STAGE]/project'\nignore_client = true");
    assert_eq!(strict.run(["check", "README.md"]).code, Some(1));
    // With `fallback_only`, only the fallback counts, unless a flag names roots.
    let only =
        Stage::new().with_settings("fallback_dir = '[STAGE]/outside'\nfallback_only = true\nroots = ['[STAGE]']");
    assert_eq!(only.run(["check", "README.md"]).code, Some(1));
    assert_eq!(only.run(["check", "../outside/secret"]).code, Some(0));
    assert_eq!(only.run(["check", "--root", ".", "README.md"]).code, Some(0));
}

#[test]
fn allow_all_is_for_sessions() {
    let stage = Stage::new().with_settings("no_roots = 'allow-all'");
    assert_told!("settings_allow_all", stage, ["check", "README.md"]);
}

#[test]
fn restrictions_of_the_file_hold_whatever_the_spelling() {
    let stage = Stage::new().with_settings(
        "restrict = [{ pattern = '*.md', closed = 'writing' }, { pattern = 'deep/**', below = '[STAGE]/project/leak' }]",
    );
    assert_told!(
        "settings_restrict",
        stage,
        ["check", "--root", ".", "README.md"],
        ["check", "--root", ".", "--access", "write", "README.md"],
        ["check", "--root", "../outside", "../outside/secret"],
        ["check", "--root", "../outside", "../outside/deep/x"],
    );
}

#[test]
fn mistakes() {
    let check = |name: &str, text: &str| assert_told!(name, Stage::new().with_settings(text), ["check", "README.md"]);
    check("settings_unknown_key", "mode = 'narrow'\nrots = ['/srv']\n");
    check("settings_wrong_type", "strict = 'yes'\n");
    check("settings_bad_root", "roots = [\n  '/srv',\n  'src',\n]\n");
    check("settings_no_toml", "roots = [\n");
    check("settings_contradiction", "strict = true\nignore_client = true\n");
    let check = |name: &str, variable: &str, value: &str| {
        assert_told!(name, Stage::new().with(variable, value), ["check", "README.md"]);
    };
    check("settings_bad_switch", "ROOTWARD_STRICT", "perhaps");
    check("settings_suffix_in_environment", "ROOTWARD_ROOTS", "/srv:ro");
}

#[test]
fn settings_in_the_working_directory_are_ignored() {
    let check = |variables: &[(&str, &str)]| {
        let stage = Stage::new();
        for place in ["config.toml", ".config/rootward/config.toml", "rootward/config.toml"] {
            stage.write(&format!("project/{place}"), "roots = ['/']");
        }
        let mut command = stage.command(["check", "--json", "README.md"]);
        let output = command.env_remove("HOME").envs(variables.iter().copied()).output().unwrap();
        assert!(String::from_utf8(output.stdout).unwrap().contains("\"no_roots\""), "{variables:?}");
    };
    check(&[]);
    check(&[("HOME", ".")]);
    check(&[("HOME", "")]);
    check(&[("XDG_CONFIG_HOME", ".")]);
    check(&[("XDG_CONFIG_HOME", ".config")]);
    check(&[("XDG_CONFIG_HOME", "")]);
}
