//! Tables of configuration texts: what is accepted, what is rejected, and where.

use std::time::Duration;

use proptest::prelude::*;
use rootward_core::Access;
use rootward_sandbox::Network;

use super::*;
use crate::recipe::{HomeKind, Takes};
use crate::scan::Treatment;

/// A file with one server.
fn one(server: &str) -> String {
    format!("{{\"mcpServers\": {{\"a\": {server}}}}}")
}

/// A process with these settings.
fn with_settings(settings: &str) -> String {
    one(&format!("{{\"command\": \"a\", \"rootward\": {{{settings}}}}}"))
}

fn settings(text: &str) -> ServerSettings {
    HubConfig::read(&with_settings(text)).unwrap_or_else(|error| panic!("{text}: {error}")).servers.remove(0).rootward
}

#[track_caller]
fn refused(text: &str, says: &str, hint: &str) {
    let error = HubConfig::read(text).expect_err(text);
    assert_eq!(error.to_string(), says, "{text}");
    assert!(error.hint.contains(hint), "{text}: {}", error.hint);
}

/// Like `refused`, for the settings of a server, without the position.
#[track_caller]
fn settings_refused(text: &str, says: &str, hint: &str) {
    let text = with_settings(text);
    let error = HubConfig::read(&text).expect_err(&text);
    assert_eq!(error.says, says, "{text}");
    assert!(error.hint.contains(hint), "{text}: {}", error.hint);
}

fn written(templates: &[Template]) -> Vec<&str> {
    templates.iter().map(Template::written).collect()
}

#[test]
fn every_setting_of_a_server_is_read() {
    let text = r#"
        "recipe": "memory", "env": ["GITHUB_*", "X"], "set": {"M": "${home}/m"}, "home": "shared",
        "directories": "arguments", "switches": ["-w"], "arguments": {"get.path": "text"},
        "allow": {"read": ["~/.cache/x"], "write": ["${userHome}/w"], "sockets": ["/run/x.sock"]},
        "deny": {"read": ["${root}/secret"], "write": ["/b"]},
        "sandbox": "landlock", "network": "off", "unix_sockets": "on",
        "roots": ["~/docs:ro", "/srv"], "ceiling": ["~/src"], "access": "rw-nodelete",
        "paths": [{"from": "${root}", "to": "/projects"}, {"from": "/mnt/c", "to": "C:\\"}],
        "tell_roots": false, "isolation": "all", "tools": {"allow": ["read_*"], "deny": ["read_secret"]}, "prefix": "fs",
    "#;
    let settings = settings(text);
    assert_eq!(settings.recipe, RecipeChoice::Named("memory".to_owned()));
    assert_eq!(settings.env.iter().map(ToString::to_string).collect::<Vec<_>>(), ["GITHUB_*", "X"]);
    assert_eq!(settings.set["M"], "${home}/m");
    assert_eq!(settings.home, Some(HomeKind::Shared));
    assert_eq!(settings.directories, Some(Takes::Arguments { switches: vec!["-w".to_owned()] }));
    assert_eq!(settings.arguments["get.path"], Treatment::Text);
    assert_eq!(written(&settings.allow.read), ["~/.cache/x"]);
    assert_eq!(written(&settings.allow.write), ["${userHome}/w"]);
    assert_eq!(written(&settings.allow.sockets), ["/run/x.sock"]);
    assert_eq!(written(&settings.deny.read), ["${root}/secret"]);
    assert_eq!(written(&settings.deny.write), ["/b"]);
    assert_eq!((settings.sandbox, settings.network), (SandboxLevel::Landlock, Some(Network::Off)));
    assert_eq!(settings.unix_sockets, Some(UnixSocketLevel::On));
    let RootsFrom::Fixed(roots) = &settings.roots else { panic!("{settings:?}") };
    assert_eq!(written(roots), ["~/docs:ro", "/srv"]);
    assert_eq!(settings.ceiling.as_deref().map(written), Some(vec!["~/src"]));
    assert_eq!(settings.access, Some(Access::READ | Access::WRITE));
    assert_eq!(settings.paths[1].to, "C:\\");
    assert_eq!((settings.tell_roots, settings.isolation), (Some(false), Isolation::All));
    assert!(settings.tools.allows("read_file") && !settings.tools.allows("read_secret"));
    assert_eq!(settings.prefix.as_deref(), Some("fs"));
}

#[test]
fn missing_settings_have_defaults() {
    assert_eq!(settings(""), ServerSettings::default());
    let config = HubConfig::read(&one(r#"{"command": "a"}"#)).unwrap();
    assert_eq!(config.servers[0].rootward, ServerSettings::default());
    assert_eq!(config.hub, HubSettings::default());
    assert_eq!(config.notes, []);
    assert_eq!(HubConfig::read("{\"servers\": {}}").unwrap(), HubConfig::default());
    assert_eq!(settings(r#""roots": "client", "recipe": "auto", "isolation": "session""#), ServerSettings::default());
}

#[test]
fn every_setting_of_the_hub_is_read() {
    let text = r#"{"servers": {}, "rootward": {"catalog": "compact", "prefix": "collisions", "separator": "-", "idle_seconds": 5,
        "limits": {"sessions": 1, "children": 2, "queued_calls": 3, "open_questions": 4}}}"#;
    let expect = HubSettings {
        catalog: Catalog::Compact,
        prefix: Prefix::Collisions,
        separator: "-".to_owned(),
        idle: Duration::from_secs(5),
        limits: Limits { sessions: 1, children: 2, queued_calls: 3, open_questions: 4 },
    };
    assert_eq!(HubConfig::read(text).unwrap().hub, expect);
}

#[test]
fn mistakes_have_line_column_and_a_way_out() {
    refused(
        "{\n  // a comment\n  \"mcpServers\": {\n    \"a\": {\"command\": \"ä\", \"rootward\": {\"isolaton\": \"all\"}}\n  }\n}",
        "line 4, column 40: unknown key `rootward.isolaton`",
        "did you mean `isolation`? known keys: `recipe`, ",
    );
    refused("[]", "line 1, column 1: expected an object, found a list", "write an object");
    refused(
        "{}",
        "line 1, column 1: the file has no servers: neither `mcpServers` nor `servers`",
        "\"mcpServers\": {…}",
    );
    refused("{\"servers\": null}", "line 1, column 13: `servers`: expected an object, found `null`", "");
    refused(
        "{\"servers\": {}, \"mcpServers\": {}}",
        "line 1, column 2: the file has servers under `mcpServers` and under `servers`",
        "keep one",
    );
    refused("{\"servers\": {\"a\": []}}", "line 1, column 19: `servers.a`: expected an object, found a list", "");
    refused(
        "{\"servers\": {}, \"rootward\": {\"prefix\": \"some\"}}",
        "line 1, column 40: `rootward.prefix`: unknown value `some`",
        "use `always`, `collisions`, `never`",
    );
    refused(
        "{\"servers\": {}, \"rootward\": {\"limits\": {\"sessions\": 0}}}",
        "line 1, column 53: `rootward.limits.sessions`: `0` is out of range",
        "a whole number from 1 to 100000",
    );
    for number in ["-1", "1.5", "1e3", "100001", "99999999999999999999"] {
        let text = format!("{{\"servers\": {{}}, \"rootward\": {{\"limits\": {{\"sessions\": {number}}}}}}}");
        let says = format!("line 1, column 53: `rootward.limits.sessions`: `{number}` is out of range");
        refused(&text, &says, "a whole number");
    }
}

#[test]
fn a_misspelt_key_of_rootward_is_refused() {
    for key in ["Rootward", "rootwards", "rootwad", "root_ward", "rootwrad"] {
        let text = one(&format!("{{\"command\": \"a\", \"{key}\": {{\"sandbox\": \"off\"}}}}"));
        refused(&text, &format!("line 1, column 39: unknown key `{key}`"), "did you mean `rootward`?");
        let text = format!("{{\"servers\": {{}}, \"{key}\": {{}}}}");
        refused(&text, &format!("line 1, column 17: unknown key `{key}`"), "did you mean `rootward`?");
    }
}

#[test]
fn servers_that_are_not_understood() {
    let check = |server: &str, says: &str, hint: &str| {
        let text = one(server);
        let error = HubConfig::read(&text).expect_err(&text);
        assert_eq!(error.says, says, "{text}");
        assert!(error.hint.contains(hint), "{text}: {}", error.hint);
    };
    check("{}", "the server has neither `command` nor `url`", "`command` starts a program");
    check(r#"{"command": "a", "url": "http://a"}"#, "the server has both `command` and `url`", "keep one");
    check(r#"{"url": "http://a", "httpUrl": "http://a"}"#, "the server has both `url` and `httpUrl`", "keep one");
    check(r#"{"command": " "}"#, "`command` is empty", "write the program");
    check(r#"{"command": ["a"]}"#, "`command`: expected a string, found a list", "write a string");
    check(r#"{"command": "a", "args": "b"}"#, "`args`: expected a list, found a string", "brackets");
    check(r#"{"command": "a", "args": [1]}"#, "`args`: expected a string, found a number", "put it in quotes");
    check(r#"{"command": "a", "env": {"A": true}}"#, "`env.A`: expected a string, found a boolean", "put it in quotes");
    check(r#"{"command": "a", "env": {"A=B": "c"}}"#, "`A=B` is not a valid variable name", "contain `=`");
    check(
        r#"{"command": "a", "disabled": "yes"}"#,
        "`disabled`: expected a boolean, found a string",
        "write a boolean",
    );
    check(r#"{"command": "a\u0000"}"#, "`command` has a NUL character", "remove it");
    check(
        r#"{"command": "a", "type": "http"}"#,
        "`type` is `http`, which does not match the other keys",
        "`http` needs `url`",
    );
    check(
        r#"{"url": "http://a", "type": "stdio"}"#,
        "`type` is `stdio`, which does not match the other keys",
        "needs `command`",
    );
    check(r#"{"url": "http://a", "type": "ws"}"#, "`type`: unknown value `ws`", "use `stdio`, `http`");
    let sse = "`type`: `sse` is not supported; streamable HTTP replaced it";
    check(r#"{"url": "http://a", "type": "sse"}"#, sse, "\"type\": \"http\"");
    let sse = "`transport`: `sse` is not supported; streamable HTTP replaced it";
    check(r#"{"url": "http://a", "transport": "sse"}"#, sse, "\"disabled\": true");
    let address = "`url` is not an address that begins with `http://` or `https://`";
    for url in ["a", "ws://a", "unix:///a.sock", "file:///a", "", "ftp://${X}"] {
        check(&format!("{{\"url\": \"{url}\"}}"), address, "streamable HTTP");
    }
    check(r#"{"url": "http://a", "headers": {"a b": "c"}}"#, "`a b` is not a valid header name", "letters");
    check(r#"{"url": "http://a", "headers": {"a\r\nb": "c"}}"#, "`a\\r\\nb` is not a valid header name", "letters");
    check(r#"{"command": "${A%%b}"}"#, "`${A%%b}`: unknown variable syntax", "`$${`");
    check(r#"{"command": "a", "env": {"A": "x${hunter2"}}"#, "`env.A`: `${` without `}`", "`$${`");
    check(r#"{"url": "http://a", "headers": {"A": "${hunter-2}"}}"#, "`headers.A`: unknown variable syntax", "`$${`");
    check(r#"{"command": "/opt/rootward", "args": ["hub"]}"#, "the server is itself a Rootward hub", "remove it");
    check(
        r#"{"command": "a", "args": ["x${roots}"]}"#,
        "`args`: `${roots}` must be an argument of its own",
        "`${root}`",
    );
    check(
        r#"{"command": "a", "env": {"R": "${roots}"}}"#,
        "`env.R`: `${roots}` must be an argument of its own",
        "env:NAME",
    );
    check(r#"{"command": "${roots}"}"#, "`command`: `${roots}` must be an argument of its own", "`${root}`");
    check(
        r#"{"url": "http://a", "rootward": {"network": "off"}}"#,
        "`rootward.network` has no effect on a server that is reached by its address",
        "only what it starts",
    );
    for key in ["check_paths", "allow_plain_http"] {
        check(
            &format!("{{\"command\": \"a\", \"rootward\": {{\"{key}\": true}}}}"),
            &format!("`rootward.{key}` has no effect on a server that is a command"),
            "reached by an address",
        );
    }
}

#[test]
fn names_that_could_not_be_shown_are_refused() {
    let check = |name: &str, says: &str| {
        let text = format!("{{\"servers\": {{{}: {{\"command\": \"a\"}}}}}}", serde_json::Value::from(name));
        assert_eq!(HubConfig::read(&text).expect_err(name).to_string(), format!("line 1, column 14: {says}"));
    };
    check("", "a server has an empty name");
    check(" \t", "a server's name is only white space");
    check("a\u{1b}[31m", "server `a\\u{1b}[31m` has a control character in its name");
    check("a\nb", "server `a\\nb` has a control character in its name");
    check("a\u{202e}b", "server `a\\u{202e}b` has a control character in its name");
    check(&"x".repeat(129), "the name of a server is longer than 128 bytes");
}

#[test]
fn settings_that_are_not_understood() {
    settings_refused(r#""env": ["*"]"#, "`rootward.env`: `*` is not usable", "every variable, and so every secret");
    settings_refused(
        r#""set": {"HOME": "/x"}"#,
        "`rootward.set.HOME`: `HOME` is not usable",
        "Rootward sets this variable",
    );
    settings_refused(
        r#""set": {"ROOTWARD_MODE": "x"}"#,
        "`rootward.set.ROOTWARD_MODE`: `ROOTWARD_MODE` is not usable",
        "itself",
    );
    settings_refused(r#""home": "mine""#, "`rootward.home`: `mine` is not usable", "`shared`");
    settings_refused(r#""directories": "env:HOME""#, "`rootward.directories`: `env:HOME` is not usable", "itself");
    settings_refused(r#""switches": ["-w"]"#, "`rootward.switches` has no effect here", "arguments");
    settings_refused(
        r#""arguments": {"get.path": "fly"}"#,
        "`rootward.arguments.get.path`: `fly` is not usable",
        "`text`",
    );
    settings_refused(r#""allow": {"raed": []}"#, "unknown key `rootward.allow.raed`", "did you mean `read`?");
    for path in ["", "x", "./x", "/a/../b", "/a/.", "~", "~me/x", "${root}/../x", "x${root}", "C:\\\\x", "/a\\u0000"] {
        let text = with_settings(&format!("\"allow\": {{\"read\": [\"{path}\"]}}"));
        let error = HubConfig::read(&text).expect_err(&text);
        assert!(
            error.says.starts_with("`rootward.allow.read`: `") && error.says.ends_with("` is not usable"),
            "{error}"
        );
    }
    settings_refused(
        r#""allow": {"read": ["${roots}"]}"#,
        "`rootward.allow.read`: `${roots}` must be an argument of its own",
        "",
    );
    settings_refused(r#""roots": "all""#, "`rootward.roots`: unknown value `all`", "`client`, `none`, or a list");
    settings_refused(r#""roots": []"#, "`rootward.roots`: an empty list", "`none`");
    settings_refused(r#""roots": ["docs"]"#, "not a usable root: `docs` (not an absolute path)", "`~/`");
    settings_refused(r#""ceiling": ["C:\\x"]"#, "not a usable root: `C:\\x` (a path of another system)", "absolute");
    settings_refused(
        r#""access": "read""#,
        "`rootward.access`: unknown value `read`",
        "use `ro`, `rw`, `rw-nodelete`, `rwx`",
    );
    settings_refused(
        r#""paths": [{"from": "/a"}]"#,
        "a pair of paths needs `from` and `to`",
        "`from` is the path here",
    );
    let says =
        "`rootward.paths`: `b` is not an absolute path without `.` and `..`, neither like `/a/b` nor like `C:\\a`";
    settings_refused(r#""paths": [{"from": "${root}", "to": "b"}]"#, says, "correct the pair");
    let twice = r#""paths": [{"from": "/a", "to": "/b"}, {"from": "/a/", "to": "/c"}]"#;
    settings_refused(twice, "`rootward.paths`: `/a/` is mapped twice", "remove it");
    settings_refused(r#""tools": {"allow": [""]}"#, "`rootward.tools.allow`: an empty name", "`*`");
    settings_refused(r#""prefix": "a b""#, "`rootward.prefix`: `a b` is not usable", "at most 32");
    settings_refused(
        r#""tell_roots": 1"#,
        "`rootward.tell_roots`: expected a boolean, found a number",
        "write a boolean",
    );
    settings_refused(r#""sandbox": "on""#, "`rootward.sandbox`: unknown value `on`", "`auto`, `landlock`, `off`");
    settings_refused(r#""network": null"#, "`rootward.network`: expected a string, found `null`", "remove the key");
    settings_refused(r#""about": "x""#, "unknown key `rootward.about`", "known keys:");
    settings_refused(
        r#""unix_sockets": "none", "allow": {"sockets": ["/x"]}"#,
        "`rootward.unix_sockets` is `none`, but `rootward.allow.sockets` names sockets",
        "remove one",
    );
}

#[test]
fn the_operators_roots_do_not_depend_on_the_session() {
    for key in ["roots", "ceiling"] {
        for text in ["${root}", "${workspaceFolder}/x", "${roots}"] {
            let says = format!("`rootward.{key}`: `{text}` depends on the client");
            settings_refused(&format!("\"{key}\": [\"{text}\"]"), &says, "directories of your own");
        }
    }
}

#[test]
fn a_child_for_all_has_no_clients_roots() {
    let says = "`rootward.isolation` is `all`, but the server gets the roots of each client";
    settings_refused(r#""isolation": "all""#, says, "\"roots\": \"none\"");
    assert_eq!(settings(r#""isolation": "all", "roots": "none""#).isolation, Isolation::All);
    assert_eq!(settings(r#""isolation": "all", "roots": ["/docs"]"#).isolation, Isolation::All);
    let remote = |settings: &str| {
        one(&format!("{{\"url\": \"https://a\", \"rootward\": {{\"isolation\": \"all\"{settings}}}}}"))
    };
    assert!(HubConfig::read(&remote("")).is_ok());
    let text = remote(", \"tell_roots\": true");
    assert_eq!(HubConfig::read(&text).unwrap_err().says, says);
    let text = one(r#"{"url": "https://a/${root}", "rootward": {"isolation": "all"}}"#);
    assert_eq!(HubConfig::read(&text).unwrap_err().says, says);
}

#[test]
fn a_server_without_roots_uses_none() {
    let text = one(r#"{"command": "a", "args": ["${roots}"], "rootward": {"roots": "none"}}"#);
    assert_eq!(HubConfig::read(&text).unwrap_err().says, "the server uses `${root}`, but `rootward.roots` is `none`");
}

#[test]
fn servers_are_switched_off() {
    let text = r#"{"servers": {"a": {"command": "a", "disabled": true}, "b": {"command": "b", "enabled": false},
        "c": {"command": "c", "disabled": false, "enabled": true}, "d": {"command": "d", "disabled": null},
        "e": {"url": "http://e", "type": "sse", "disabled": true}}}"#;
    let config = HubConfig::read(text).unwrap();
    assert_eq!(config.enabled().map(|server| server.name.as_str()).collect::<Vec<_>>(), ["c", "d"]);
    assert_eq!(config.servers.len(), 5);
}

#[test]
fn a_wrapped_server_is_noted() {
    let notes = |server: &str| HubConfig::read(&one(server)).unwrap().notes.len();
    assert_eq!(notes(r#"{"command": "rootward", "args": ["wrap", "a"]}"#), 1);
    assert_eq!(notes(r#"{"command": "rootward", "args": ["hub"], "disabled": true}"#), 0);
    assert_eq!(notes(r#"{"command": "rootward", "args": ["serve"]}"#), 0);
    assert_eq!(notes(r#"{"command": "wrap", "args": ["wrap"]}"#), 0);
}

#[test]
fn tools_that_a_client_switched_off_are_off() {
    let text = one(r#"{"command": "a", "disabledTools": ["x"], "excludeTools": ["y"], "includeTools": ["x", "z", "w"],
        "rootward": {"tools": {"deny": ["w"]}}}"#);
    let config = HubConfig::read(&text).unwrap();
    let allowed: Vec<&str> =
        ["v", "w", "x", "y", "z"].into_iter().filter(|tool| config.servers[0].rootward.tools.allows(tool)).collect();
    assert_eq!(allowed, ["z"]);
}

#[test]
fn prefixes_differ() {
    let servers = r#"{"servers": {"a b": {"command": "a"}, "a_b": {"command": "b"}}"#;
    refused(
        &format!("{servers}}}"),
        "line 1, column 39: servers `a b` and `a_b` have the same prefix `a_b`",
        "\"rootward\": {\"prefix\": \"…\"}",
    );
    assert!(HubConfig::read(&format!("{servers}, \"rootward\": {{\"prefix\": \"never\"}}}}")).is_ok());
    let other = servers.replacen("{\"command\": \"a\"}", "{\"command\": \"a\", \"rootward\": {\"prefix\": \"x\"}}", 1);
    let config = HubConfig::read(&format!("{other}}}")).unwrap();
    assert_eq!(config.servers.iter().map(ServerConfig::prefix).collect::<Vec<_>>(), ["x", "a_b"]);
}

#[test]
fn many_servers() {
    let file = |count: usize| {
        let servers: Vec<String> = (0..count).map(|number| format!("\"s{number}\": {{\"command\": \"a\"}}")).collect();
        format!("{{\"servers\": {{{}}}}}", servers.join(","))
    };
    assert_eq!(HubConfig::read(&file(1000)).unwrap().servers.len(), 1000);
    assert_eq!(HubConfig::read(&file(100_000)).unwrap_err().says, "more than 1000 servers");
}

#[test]
fn use_of_the_roots_is_detected() {
    let check = |server: &str, expect: bool| {
        assert_eq!(HubConfig::read(&one(server)).unwrap().servers[0].uses_roots(), expect, "{server}");
    };
    check(r#"{"command": "a", "args": ["$${root}", "${HOME}"]}"#, false);
    check(r#"{"command": "a", "args": ["${roots}"]}"#, true);
    check(r#"{"command": "${root}/a"}"#, true);
    check(r#"{"command": "a", "env": {"A": "${workspaceFolder}"}}"#, true);
    check(r#"{"command": "a", "cwd": "${workspaceFolder}"}"#, true);
    check(r#"{"command": "a", "envFile": "${workspaceFolder}/.env"}"#, true);
    check(r#"{"command": "a", "rootward": {"set": {"A": "${root}"}}}"#, true);
    check(r#"{"command": "a", "rootward": {"deny": {"read": ["${root}/x"]}}}"#, true);
    check(r#"{"command": "a", "rootward": {"paths": [{"from": "${root}", "to": "/w"}]}}"#, true);
    check(r#"{"url": "http://a/${root}"}"#, true);
    check(r#"{"url": "http://a", "headers": {"R": "${root}"}}"#, true);
    check(r#"{"url": "http://a"}"#, false);
}

#[test]
fn which_servers_get_the_roots() {
    let check = |server: &str, expect: bool| {
        assert_eq!(HubConfig::read(&one(server)).unwrap().servers[0].tells_roots(), expect, "{server}");
    };
    check(r#"{"command": "a"}"#, true);
    check(r#"{"command": "a", "rootward": {"tell_roots": false}}"#, false);
    check(r#"{"url": "http://a"}"#, false);
    check(r#"{"url": "http://a", "rootward": {"tell_roots": true}}"#, true);
}

#[test]
fn the_sandbox_of_vs_code() {
    let file = |server: &str, top: &str| format!("{{\"servers\": {{\"a\": {{\"command\": \"a\", {server}}}}}{top}}}");
    let read = |server: &str, top: &str| HubConfig::read(&file(server, top)).unwrap_or_else(|error| panic!("{error}"));
    let own = r#""sandbox": {"filesystem": {"allowRead": ["/r"], "allowWrite": ["${workspaceFolder}"],
        "denyRead": ["${userHome}/.ssh"], "denyWrite": ["/d"]}}"#;
    let config = read(&format!(r#""sandboxEnabled": true, {own}, "rootward": {{"allow": {{"read": ["/own"]}}}}"#), "");
    let settings = &config.servers[0].rootward;
    assert_eq!(written(&settings.allow.read), ["/own", "/r"]);
    assert_eq!(written(&settings.allow.write), ["${workspaceFolder}"]);
    assert_eq!(written(&settings.deny.read), ["${userHome}/.ssh"]);
    assert_eq!(written(&settings.deny.write), ["/d"]);
    assert_eq!((settings.sandbox, settings.network, config.notes.len()), (SandboxLevel::Auto, None, 0));
    // The top-level `sandbox`.
    let top = r#", "sandbox": {"filesystem": {"allowWrite": ["/w"], "denyRead": ["/d"]}}"#;
    let settings = |server: &str| read(server, top).servers.remove(0).rootward;
    assert_eq!(written(&settings(r#""sandboxEnabled": true"#).allow.write), ["/w"]);
    let unconfined = settings(r#""x": 1"#);
    assert_eq!((written(&unconfined.allow.write), written(&unconfined.deny.read)), (vec![], vec!["/d"]));
    // Keys that have a different meaning here.
    let config = read(r#""sandboxEnabled": false"#, "");
    assert_eq!(config.servers[0].rootward.sandbox, SandboxLevel::Auto);
    assert!(config.notes[0].says.contains("Rootward confines the server anyway"), "{:?}", config.notes);
    assert_eq!(read(r#""sandbox": {"enabled": true}"#, "").notes[0].says, "`sandbox.enabled` has no effect");
    let error = HubConfig::read(&file(r#""sandbox": {"filesystem": {"denyReads": []}}"#, "")).unwrap_err();
    assert_eq!(error.says, "unknown key `sandbox.filesystem.denyReads`");
    let error = HubConfig::read(&file(r#""sandboxEnabled": true, "rootward": {"sandbox": "off"}"#, "")).unwrap_err();
    assert_eq!(error.says, "`sandboxEnabled` is `true`, but `rootward.sandbox` is `off`");
    // Another client's key with the same name.
    assert!(HubConfig::read(r#"{"mcpServers": {}, "sandbox": {"filesystem": 1}}"#).is_ok());
}

#[test]
fn domains_are_for_the_user_to_decide() {
    let read = |network: &str, rest: &str| {
        HubConfig::read(&one(&format!("{{\"command\": \"a\", \"sandbox\": {{\"network\": {network}}}{rest}}}")))
    };
    let enabled = ", \"sandboxEnabled\": true";
    for network in [r#"{"allowedDomains": ["a.example"]}"#, r#"{"deniedDomains": ["a.example"]}"#] {
        let error = read(network, enabled).unwrap_err();
        assert_eq!(error.says, "`sandbox.network`: Rootward cannot filter the network by domain");
        assert!(error.hint.contains("\"network\""), "{}", error.hint);
        let decided = format!("{enabled}, \"rootward\": {{\"network\": \"on\"}}");
        assert_eq!(read(network, &decided).unwrap().servers[0].rootward.network, Some(Network::On));
        let config = read(network, "").unwrap();
        assert_eq!((config.notes.len(), config.servers[0].rootward.network), (1, None));
    }
    let closed = read(r#"{"allowedDomains": []}"#, enabled).unwrap();
    assert_eq!(closed.servers[0].rootward.network, Some(Network::Off));
    let nothing = read(r#"{"deniedDomains": []}"#, enabled).unwrap();
    assert_eq!((nothing.servers[0].rootward.network, nothing.notes.len()), (None, 0));
}

#[test]
fn variables_that_are_null_are_removed() {
    let config = HubConfig::read(&one(r#"{"command": "a", "env": {"B": 1.50, "A": "x", "C": null}}"#)).unwrap();
    let ServerKind::Stdio(process) = &config.servers[0].what else { panic!("{config:?}") };
    let env: Vec<(&str, &str)> = process.env.iter().map(|(name, value)| (name.as_str(), value.written())).collect();
    assert_eq!(env, [("B", "1.50"), ("A", "x")]);
    assert_eq!(process.unset, ["C"]);
}

proptest! {
    #[test]
    fn nothing_panics(text in r#"[{}\[\]",:a-z /*$\\0-9]{0,64}"#) {
        let _ = HubConfig::read(&text);
    }

    #[test]
    fn a_damaged_file_is_read_or_refused(at in 0_usize..200, letter in any::<char>()) {
        let text = with_settings(r#""roots": ["~/docs:ro"], "tools": {"deny": ["x"]}, "paths": [{"from": "/a", "to": "/b"}]"#);
        let mut letters: Vec<char> = text.chars().collect();
        let at = at % letters.len();
        letters[at] = letter;
        let text: String = letters.into_iter().collect();
        if let Err(error) = HubConfig::read(&text) {
            prop_assert!(error.line >= 1 && error.column >= 1 && !error.says.is_empty() && !error.hint.is_empty());
        }
    }
}
