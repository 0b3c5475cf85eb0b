//! Rootward's own settings and log are never inside a grant.

use std::os::unix::fs::symlink;

use crate::stage::Stage;

#[test]
fn rootwards_own_places_are_closed() {
    let check = |stage: &Stage, path: &str, roots: &[&str]| {
        let mut arguments = vec!["check".to_owned(), "--json".to_owned()];
        for root in roots {
            arguments.extend(["--root".to_owned(), format!("{}:rwx", stage.path(root).display())]);
        }
        arguments.push(stage.path(path).display().to_string());
        let run = stage.run(&arguments);
        assert!(run.stdout.contains("\"restricted\""), "{path} below {roots:?}: {}{}", run.stdout, run.stderr);
        assert_eq!(run.code, Some(1));
    };
    let stage = Stage::new();
    stage.write("conf/rootward/config.toml", "");
    let (conf, log, cache) = (stage.path("conf"), stage.path("state"), stage.path("cache"));
    let stage = stage.with("XDG_CONFIG_HOME", conf).with("XDG_STATE_HOME", log).with("XDG_CACHE_HOME", cache);
    for roots in
        [["."].as_slice(), &["conf"], &["conf/rootward"], &["conf/rootward/config.toml"], &[".", "conf/rootward"]]
    {
        check(&stage, "conf/rootward/config.toml", roots);
    }
    // Closed before it exists, so that no server can create it.
    check(&stage, "state/rootward/audit/new", &["."]);
    check(&stage, "cache/rootward/packages/new", &["."]);

    // If the directory is reached through a link, its real place is closed, too.
    let stage = Stage::new();
    std::fs::create_dir(stage.path("real")).unwrap();
    symlink("real", stage.path("conf")).unwrap();
    let conf = stage.path("conf");
    let stage = stage.with("XDG_CONFIG_HOME", conf);
    for path in ["real/rootward/config.toml", "conf/rootward/config.toml", "real/rootward"] {
        check(&stage, path, &["."]);
    }

    // The same if the target of the link does not exist yet.
    let stage = Stage::new();
    std::fs::create_dir(stage.path("conf")).unwrap();
    symlink("../later", stage.path("conf/rootward")).unwrap();
    let conf = stage.path("conf");
    let stage = stage.with("XDG_CONFIG_HOME", conf);
    for path in ["later", "later/config.toml", "conf/rootward/config.toml"] {
        check(&stage, path, &["."]);
    }
}

/// Whether a write to `path` is allowed with this root.
fn is_writable(stage: &Stage, root: &str, path: &str) -> bool {
    let root = format!("{}:rw", stage.path(root).display());
    let path = stage.path(path).display().to_string();
    let run = stage.run(["check", "--access", "write", "--root", &root, &path]);
    assert!(matches!(run.code, Some(0 | 1)), "{}", run.stderr);
    run.code == Some(0)
}

#[test]
fn a_settings_file_that_is_a_link_is_closed_where_it_leads() {
    let stage = Stage::new();
    stage.write("dotfiles/rootward.toml", "");
    std::fs::create_dir_all(stage.path("home/.config/rootward")).unwrap();
    symlink("../../../dotfiles/rootward.toml", stage.path("home/.config/rootward/config.toml")).unwrap();
    assert!(!is_writable(&stage, "dotfiles", "dotfiles/rootward.toml"));
    assert!(is_writable(&stage, "dotfiles", "dotfiles/other.toml"));
}
