//! Tables of strings and their expansions.

use super::super::{ConfigChange, ConfigVariables, HubConfig, changes};
use super::*;

fn environment() -> ConfigVariables {
    let pairs = [
        ("TOKEN", "hunter2secret"),
        ("EMPTY", ""),
        ("HOME", "/home/me"),
        ("BREAK", "a\r\nX: y"),
        ("REL", "rel"),
        ("DOTS", "/a/../b"),
    ];
    pairs.into_iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
}

fn server(text: &str) -> ServerConfig {
    let text = format!("{{\"servers\": {{\"s\": {text}}}}}");
    HubConfig::read(&text).unwrap_or_else(|error| panic!("{text}: {error}")).servers.remove(0)
}

fn with(server: &ServerConfig, roots: RootValues<'_>) -> Result<Expanded, ExpandError> {
    let environment = environment();
    expand(server, &Surroundings { environment: &environment, home: Some(Path::new("/home/me")), roots })
}

fn in_roots(text: &str, roots: &[&str]) -> Result<Expanded, ExpandError> {
    let roots: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
    with(&server(text), RootValues::At(&roots))
}

#[track_caller]
fn args(written: &[&str], roots: &[&str], expect: &[&str]) {
    let text = format!("{{\"command\": \"a\", \"args\": {}}}", serde_json::json!(written));
    let ExpandedKind::Stdio { args, .. } = in_roots(&text, roots).unwrap().what else { panic!("{text}") };
    assert_eq!(args, expect, "{text}");
}

#[track_caller]
fn fails(text: &str, says: &str, hint: &str) {
    let error = in_roots(text, &["/r"]).expect_err(text);
    assert_eq!(error.to_string(), format!("server `s`: {says}"), "{text}");
    assert!(error.hint.contains(hint), "{text}: {}", error.hint);
}

#[test]
fn arguments() {
    args(&["${roots}"], &["/a", "/b ${root}"], &["/a", "/b ${root}"]);
    args(&["x", "${roots}", "y"], &[], &["x", "y"]);
    args(&["--d=${root}", "${workspaceFolder}/x"], &["/a", "/b"], &["--d=/a", "/a/x"]);
    args(&["${userHome}/x${/}y"], &[], &["/home/me/x/y"]);
    args(&["${TOKEN}", "${env:TOKEN}"], &[], &["hunter2secret", "hunter2secret"]);
    args(&["${NO:-d}", "${EMPTY:-d}", "${EMPTY}", "${TOKEN:-d}"], &[], &["d", "d", "", "hunter2secret"]);
    args(&["$${root} $HOME $$"], &["/a"], &["${root} $HOME $$"]);
}

#[test]
fn a_root_need_not_be_text() {
    let root = PathBuf::from(OsStr::from_bytes(b"/r\xff"));
    let server = server(r#"{"command": "${root}/a", "args": ["${roots}"]}"#);
    let ExpandedKind::Stdio { command, args, .. } =
        with(&server, RootValues::At(std::slice::from_ref(&root))).unwrap().what
    else {
        panic!()
    };
    assert_eq!((command, args), (root.join("a").into(), vec![root.into()]));
}

#[test]
fn what_is_missing_is_named() {
    fails(r#"{"command": "${NOT_SET}"}"#, "variable `NOT_SET` is not set", "${NOT_SET:-default}");
    fails(r#"{"command": "${EMPTY}"}"#, "`command` is empty after its variables were filled in", "program");
    fails(r#"{"command": "a", "cwd": "x"}"#, "`cwd`: `x` is not an absolute path without `.` and `..`", "`${root}`");
    fails(r#"{"command": "a", "cwd": "${REL}"}"#, "`cwd`: `${REL}` is not an absolute path without `.` and `..`", "");
    fails(
        r#"{"command": "a", "envFile": "${root}/../x"}"#,
        "`envFile`: `${root}/../x` is not an absolute path without `.` and `..`",
        "",
    );
    fails(
        r#"{"command": "a", "rootward": {"allow": {"read": ["${DOTS}"]}}}"#,
        "`allow.read`: `${DOTS}` is not an absolute path without `.` and `..`",
        "",
    );
    fails(
        r#"{"command": "a", "rootward": {"roots": ["${REL}"]}}"#,
        "`rootward.roots`: `${REL}` is not a usable root: not an absolute path",
        "`~/`",
    );
    let error = in_roots(r#"{"command": "a", "args": ["${root}"]}"#, &[]).unwrap_err();
    assert_eq!(error.says, "it needs a root, but this client shared no directories");
    let environment = ConfigVariables::default();
    let around = Surroundings { environment: &environment, home: None, roots: RootValues::At(&[]) };
    let error = expand(&server(r#"{"command": "${userHome}/a"}"#), &around).unwrap_err();
    assert_eq!(error.says, "your home directory is not known");
}

#[test]
fn a_header_is_one_line() {
    fails(r#"{"url": "http://a", "headers": {"X": "${BREAK}"}}"#, "header `X` has a control character", "remove it");
    fails(r#"{"url": "http://a", "headers": {"X": "a\nb"}}"#, "header `X` has a control character", "");
    fails(r#"{"url": "http://a/${BREAK}"}"#, "`http://a/${BREAK}` is not an HTTP URL", "no spaces");
    fails(r#"{"url": "${TOKEN}"}"#, "`${TOKEN}` is not an HTTP URL", "`http://`");
    fails(r#"{"url": "${NO:-http://u:hunter2@h/a b?hunter2}"}"#, "`${NO:-http://u:…@h/a b?…` is not an HTTP URL", "");
}

#[test]
fn an_address_and_its_headers() {
    let text = r#"{"url": "https://h/${NO:-mcp}", "headers": {"Authorization": "Bearer ${TOKEN}"}}"#;
    let expanded = in_roots(text, &[]).unwrap();
    let headers = vec![("Authorization".to_owned(), "Bearer hunter2secret".to_owned())];
    assert_eq!(expanded.what, ExpandedKind::Http { url: "https://h/mcp".to_owned(), headers });
    assert_eq!(expanded.secrets, ["hunter2secret", "Bearer hunter2secret"]);
}

#[test]
fn a_process_and_its_places() {
    let text = r#"{"command": "a", "cwd": "${root}/sub", "envFile": "~/.env", "env": {"B": "${root}", "A": "${HOME}", "MY_KEY": "literal-key"},
        "rootward": {"allow": {"read": ["~/r"], "sockets": ["/run/s"]}, "deny": {"read": ["${root}/secret"]},
        "roots": ["~/docs:ro"], "ceiling": ["${userHome}/x:rwx"]}}"#;
    let expanded = in_roots(text, &["/r"]).unwrap();
    let ExpandedKind::Stdio { env, env_file, cwd, .. } = &expanded.what else { panic!() };
    let expect = [("B", "/r"), ("A", "/home/me"), ("MY_KEY", "literal-key")];
    assert_eq!(env.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect::<Vec<_>>(), expect);
    assert_eq!((env_file.as_deref(), cwd.as_deref()), (Some(Path::new("/home/me/.env")), Some(Path::new("/r/sub"))));
    assert_eq!(expanded.filesystem.allow_read, [PathBuf::from("/home/me/r")]);
    assert_eq!(expanded.filesystem.deny_read, [PathBuf::from("/r/secret")]);
    assert_eq!(expanded.sockets, [PathBuf::from("/run/s")]);
    let roots = expanded.roots.as_ref().unwrap();
    assert_eq!((roots[0].path.as_path(), roots[0].access), (Path::new("/home/me/docs"), rootward_core::Access::READ));
    assert_eq!(expanded.ceiling.as_ref().unwrap()[0].access, rootward_core::Access::ALL);
    assert_eq!(roots[0].origin, Origin::Config);
    assert_eq!(expanded.secrets, ["literal-key"]);
}

#[test]
fn fixed_roots_are_known_before_the_sessions() {
    let environment = environment();
    let around =
        Surroundings { environment: &environment, home: Some(Path::new("/home/me")), roots: RootValues::At(&[]) };
    let fixed = |text: &str| {
        let roots = server(text).fixed_roots(&around).unwrap();
        roots.map(|roots| roots.into_iter().map(|root| root.path).collect::<Vec<_>>())
    };
    let text = r#"{"command": "a", "args": ["${root}"], "rootward": {"roots": ["${HOME}/docs"]}}"#;
    assert_eq!(fixed(text), Some(vec![PathBuf::from("/home/me/docs")]));
    assert_eq!(fixed(r#"{"command": "a", "rootward": {"roots": "none"}}"#), Some(Vec::new()));
    assert_eq!(fixed(r#"{"command": "a"}"#), None);
}

#[test]
fn a_root_is_not_opened_by_its_variable() {
    let text = r#"{"command": "a", "sandboxEnabled": true, "sandbox": {"filesystem": {
        "allowWrite": ["${workspaceFolder}", "${root}/x", "/w"], "allowRead": ["${workspaceFolder}"], "denyWrite": ["${workspaceFolder}/x"]}}}"#;
    let filesystem = in_roots(text, &["/r", "/s"]).unwrap().filesystem;
    assert_eq!((filesystem.allow_write, filesystem.allow_read), (vec![PathBuf::from("/w")], vec![]));
    assert_eq!(filesystem.deny_write, [PathBuf::from("/r/x")]);
    assert_eq!(in_roots(text, &[]).unwrap().filesystem.deny_write, Vec::<PathBuf>::new());
}

#[test]
fn roots_can_be_filled_in_later() {
    let later = |text: &str| with(&server(text), RootValues::Later);
    let expanded = later(r#"{"command": "a", "args": ["${roots}", "${workspaceFolder}/x", "${TOKEN}"]}"#).unwrap();
    let ExpandedKind::Stdio { args, .. } = expanded.what else { panic!() };
    assert_eq!(args, ["${roots}", "${root}/x", "hunter2secret"]);
    let error = later(r#"{"command": "a", "cwd": "${root}"}"#).unwrap_err();
    assert_eq!(error.says, "`cwd`: `${root}` needs the session's roots");
    let error = later(r#"{"command": "a", "args": ["hunter2 $${root}"]}"#).unwrap_err();
    assert_eq!(error.says, "a literal `${root` in `…` cannot be told from a variable");
}

#[test]
fn pairs_of_paths_wait_for_the_roots() {
    let server = server(
        r#"{"command": "a", "rootward": {"paths": [{"from": "${root}", "to": "/projects"}, {"from": "~/data", "to": "/data"}]}}"#,
    );
    let environment = environment();
    let roots = [PathBuf::from("/r")];
    for roots in [RootValues::At(&roots), RootValues::Later] {
        let around = Surroundings { environment: &environment, home: Some(Path::new("/home/me")), roots };
        let pairs = [("${root}".into(), "/projects".to_owned()), ("/home/me/data".into(), "/data".to_owned())];
        assert_eq!(server.path_pairs(&around), Ok(PathPairs::new(pairs)));
    }
    let around = Surroundings { environment: &environment, home: None, roots: RootValues::Later };
    assert_eq!(server.path_pairs(&around).unwrap_err().says, "your home directory is not known");
}

#[test]
fn large_values_end_in_an_error() {
    let environment: ConfigVariables = [("BIG".into(), "x".repeat(1 << 20).into())].into_iter().collect();
    let around = Surroundings { environment: &environment, home: None, roots: RootValues::At(&[]) };
    let many =
        |count: usize| server(&format!("{{\"command\": \"a\", \"args\": [{}]}}", vec!["\"${BIG}\""; count].join(",")));
    assert!(expand(&many(1), &around).is_ok());
    let says = "its command line and variables are longer than 2 MiB";
    assert_eq!(expand(&many(3), &around).unwrap_err().says, says);
    let long = server(&format!("{{\"command\": \"{}\"}}", "${BIG}".repeat(100_000)));
    assert_eq!(expand(&long, &around).unwrap_err().says, says);
}

#[test]
fn nothing_secret_is_debugged() {
    let text = r#"{"command": "a", "args": ["${TOKEN}"], "env": {"X": "${TOKEN}"}}"#;
    let shown = format!("{:?} {:?}", in_roots(text, &[]).unwrap(), environment());
    assert!(!shown.contains("hunter2") && shown.contains("TOKEN"), "{shown}");
    let shown = format!("{:?}", in_roots(r#"{"url": "http://${TOKEN}", "headers": {"A": "${TOKEN}"}}"#, &[]).unwrap());
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn a_template_is_the_same_only_with_the_same_text() {
    let config = |text: &str| HubConfig { servers: vec![server(text)], ..HubConfig::default() };
    let (one, other) = (config(r#"{"command": "${A}"}"#), config(r#"{"command": "${env:A}"}"#));
    assert_eq!(changes(&one, &other), [ConfigChange::Changed("s".to_owned())]);
}
