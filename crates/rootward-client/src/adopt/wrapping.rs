//! What happens to one server: which words come before its command, or why none do.

use std::fmt;

use crate::import::{Client, ConfiguredCommand, FileVariables, Holder, Server, SuggestedBy, Transport};

/// How a config file calls this program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invocation {
    /// The program's absolute path.
    pub path: String,
    /// Whether the bare name is enough.
    pub called: Called,
}

/// Whether the bare name finds this program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Called {
    /// `rootward` is found on `PATH`, and is this same file.
    ByName,
    /// Only the absolute path is certain.
    ByPath,
}

impl Invocation {
    /// The first word of a command.
    pub(super) fn word(&self) -> String {
        if self.called == Called::ByName { "rootward".to_owned() } else { self.path.clone() }
    }

    /// The first word of a wrapped command.
    fn word_before(&self, line: &ConfiguredCommand) -> String {
        // Clients look up a bare name on the `PATH` of the entry's own variables.
        let moved = line.variables.iter().chain(line.from_file.known()).any(|(name, _)| name == "PATH");
        if moved { self.path.clone() } else { self.word() }
    }
}

/// Optional parts of a wrapped command.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Extras {
    /// The name under which roots are saved for the server.
    pub name: Option<String>,
    /// Directories that limit it, with their access.
    pub roots: Vec<String>,
}

/// What happens to a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It is wrapped.
    Wrap(Wrapping),
    /// It moves behind the hub. Only [`plan_hub`](super::plan_hub) returns this, never [`judge`].
    Hub,
    /// It is already wrapped with `rootward wrap`.
    Wrapped,
    /// It is Rootward itself.
    Rootward,
    /// It stays as it is, unconfined.
    NotWrapped(NotWrapped),
}

/// The words that come before a server's command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrapping {
    /// `rootward`, `wrap`, flags and `--`.
    pub before: Vec<String>,
    /// The variables of the entry that are not passed to the server, because they would affect Rootward or its
    /// sandbox.
    pub withheld: Vec<String>,
    /// Those among them that affect Rootward itself.
    pub steering: Vec<String>,
}

/// Why a server is not wrapped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotWrapped {
    /// It is not a process on this machine.
    Remote,
    /// A container's processes are not children of the command.
    Container,
    /// A project's file sets variables that affect Rootward itself.
    Steered(Vec<String>),
    /// A confined server may be able to write this file, whose variables affect Rootward itself.
    SteeredByFile(String),
    /// The hub cannot run it.
    NotByHub(String),
    /// The entry cannot be edited without guessing.
    Unclear(String),
}

impl fmt::Display for NotWrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotWrapped::Remote => f.write_str("a remote server, nothing to confine on this machine"),
            NotWrapped::Container => f.write_str("it runs in a container, which is not a child of this command"),
            NotWrapped::Steered(names) => {
                let names = names.join("`, `");
                write!(f, "the project sets `{names}`, which would decide what Rootward itself does")
            }
            NotWrapped::SteeredByFile(file) => write!(
                f,
                "a confined server may be able to write `{file}`, whose variables would decide what Rootward itself does; keep that file \
                 where no server can write"
            ),
            NotWrapped::NotByHub(why) | NotWrapped::Unclear(why) => f.write_str(why),
        }
    }
}

impl NotWrapped {
    /// A word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            NotWrapped::Remote => "remote",
            NotWrapped::Container => "container",
            NotWrapped::Steered(_) => "steered",
            NotWrapped::SteeredByFile(_) => "steered_by_file",
            NotWrapped::NotByHub(_) => "not_by_hub",
            NotWrapped::Unclear(_) => "unclear",
        }
    }
}

/// What happens to a server of this client.
pub fn judge(server: &Server, client: Client, holder: Holder, caller: &Invocation) -> Verdict {
    let Transport::Command(line) = &server.transport else { return Verdict::NotWrapped(NotWrapped::Remote) };
    match line.rootward_verb() {
        Some("wrap") => return Verdict::Wrapped,
        Some(_) => return Verdict::Rootward,
        None if line.starts_container() => return Verdict::NotWrapped(NotWrapped::Container),
        None => {}
    }
    let steering: Vec<String> = line.names().filter(|name| steers_rootward(name)).map(str::to_owned).collect();
    // SECURITY: somebody else wrote the project: with `HOME` or `ROOTWARD_ROOTS` they would choose the settings that
    // confine their server
    // (test: a_project_does_not_choose_rootwards_settings)
    if holder == Holder::Project && !steering.is_empty() {
        return Verdict::NotWrapped(NotWrapped::Steered(steering));
    }
    // SECURITY: the client sets the file's variables for Rootward itself: with `LD_PRELOAD` in it, a server's own
    // code would run unconfined at the next start
    // (test: a_server_whose_variables_file_a_server_could_write_is_not_wrapped)
    if let (FileVariables::Doubtful, Some(file)) = (&line.from_file, &line.variables_file) {
        return Verdict::NotWrapped(NotWrapped::SteeredByFile(file.clone()));
    }
    let extras = Extras { name: None, roots: usual_roots(server, client) };
    Verdict::Wrap(line.wrapping(caller, &extras))
}

/// The directories that a server needs if its client shares none: the working directory, because Codex starts its
/// servers in the project. A file server that names its own directories is limited to those.
pub fn usual_roots(server: &Server, client: Client) -> Vec<String> {
    let in_project = match &server.transport {
        Transport::Command(line) => client == Client::Codex && line.directory.is_none(),
        Transport::Remote(_) => false,
    };
    let names_own = server.roots.iter().any(|root| root.why == SuggestedBy::FileServer);
    if in_project && !names_own { vec![".".to_owned()] } else { Vec::new() }
}

impl ConfiguredCommand {
    /// The words that confine this server.
    pub fn wrapping(&self, caller: &Invocation, extras: &Extras) -> Wrapping {
        let mut before = vec![caller.word_before(self), "wrap".to_owned()];
        let mut option = |name: &str, value: &str| {
            // A value that looks like an option must be part of the same word.
            if value.starts_with('-') {
                before.push(format!("{name}={value}"));
            } else {
                before.extend([name.to_owned(), value.to_owned()]);
            }
        };
        if let Some(name) = &extras.name {
            option("--as", name);
        }
        for root in &extras.roots {
            option("--root", root);
        }
        let mut withheld = Vec::new();
        let mut seen = Vec::new();
        for name in self.names() {
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            // SECURITY: `--env` would carry a loader's or Rootward's own variable into the sandbox, and a `*` would
            // pass more than the entry names
            // (test: variables_that_are_not_passed)
            if is_passed(name) {
                option("--env", name);
            } else {
                withheld.push(name.to_owned());
            }
        }
        before.push("--".to_owned());
        let steering = withheld.iter().filter(|name| steers_rootward(name)).cloned().collect();
        Wrapping { before, withheld, steering }
    }

    /// The program and its arguments.
    pub fn words(&self) -> Vec<String> {
        std::iter::once(&self.program).chain(&self.arguments).cloned().collect()
    }

    /// The names of its variables.
    fn names(&self) -> impl Iterator<Item = &str> {
        let set = self.variables.iter().chain(self.from_file.known()).map(|(name, _)| name);
        set.chain(&self.passed).map(String::as_str)
    }
}

/// Whether a variable of an entry is passed to the server.
pub(super) fn is_passed(name: &str) -> bool {
    let is_name = !name.is_empty() && !name.contains(['=', '*', '\0']);
    is_name && !steers_rootward(name) && !matches!(name, "PATH" | "TMPDIR")
}

/// Variables that affect a program's loader, or Rootward itself.
fn steers_rootward(name: &str) -> bool {
    name == "HOME" || ["ROOTWARD_", "XDG_", "LD_", "DYLD_"].iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{FileContext, Form, parse};

    fn caller(called: Called) -> Invocation {
        Invocation { path: "/opt/rootward".to_owned(), called }
    }

    fn judged(client: Form, holder: Holder, entry: &str) -> Verdict {
        let text = format!("{{\"mcpServers\": {{\"a\": {entry}}}}}");
        let found = parse(client, &text, &FileContext::default()).unwrap();
        judge(&found.servers[0], client.client(), holder, &caller(Called::ByName))
    }

    #[track_caller]
    fn before(entry: &str, expect: &str) {
        let Verdict::Wrap(wrapping) = judged(Form::Cursor, Holder::User, entry) else { panic!("{entry}") };
        assert_eq!(wrapping.before.join(" "), expect, "{entry}");
    }

    #[test]
    fn variables_that_are_not_passed() {
        before(r#"{"command": "x"}"#, "rootward wrap --");
        before(r#"{"command": "x", "env": {"B": "1", "A": ""}}"#, "rootward wrap --env B --env A --");
        before(
            r#"{"command": "x", "env": {"HOME": "/x", "XDG_CONFIG_HOME": "/x", "LD_PRELOAD": "x", "DYLD_X": "x",
                "ROOTWARD_ROOTS": "/", "TMPDIR": "/x", "AB*": "x", "": "x", "A=B": "x", "OK": "x"}}"#,
            "rootward wrap --env OK --",
        );
        before(r#"{"command": "x", "env": {"-x": "1"}}"#, "rootward wrap --env=-x --");
        // With its own `PATH`, the bare name may not find this program.
        before(r#"{"command": "x", "env": {"PATH": "/x", "B": "1"}}"#, "/opt/rootward wrap --env B --");
        let Verdict::Wrap(wrapping) =
            judged(Form::Cursor, Holder::User, r#"{"command": "x", "env": {"HOME": "a", "A*": "b"}}"#)
        else {
            panic!()
        };
        assert_eq!(wrapping.withheld, ["HOME", "A*"]);
        assert_eq!(wrapping.steering, ["HOME"]);
    }

    #[test]
    fn variables_in_a_file_are_judged_like_those_of_the_entry() {
        let text = r#"{"servers": {"a": {"command": "x", "env": {"A": "1"}, "envFile": "f"}}}"#;
        let judged = |holder: Holder, names: &[&str]| {
            let mut found = parse(Form::VsCode, text, &FileContext::default()).unwrap();
            let Transport::Command(line) = &mut found.servers[0].transport else { panic!() };
            let variables = names.iter().map(|name| ((*name).to_owned(), "secret".to_owned()));
            line.from_file = FileVariables::Known(variables.collect());
            judge(&found.servers[0], Client::VsCode, holder, &caller(Called::ByName))
        };
        let wrapped = |before: &str, withheld: &[&str], steering: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let before = before.split(' ').map(str::to_owned).collect();
            Verdict::Wrap(Wrapping { before, withheld: owned(withheld), steering: owned(steering) })
        };
        assert_eq!(judged(Holder::Project, &["B", "A"]), wrapped("rootward wrap --env A --env B --", &[], &[]));
        assert_eq!(
            judged(Holder::User, &["PATH", "LD_PRELOAD"]),
            wrapped("/opt/rootward wrap --env A --", &["PATH", "LD_PRELOAD"], &["LD_PRELOAD"])
        );
        let steered = Verdict::NotWrapped(NotWrapped::Steered(vec!["LD_PRELOAD".to_owned()]));
        assert_eq!(judged(Holder::Project, &["LD_PRELOAD"]), steered);
    }

    #[test]
    fn a_server_whose_variables_file_a_server_could_write_is_not_wrapped() {
        let text = r#"{"servers": {"a": {"command": "x", "envFile": "f"}}}"#;
        let mut found = parse(Form::VsCode, text, &FileContext::default()).unwrap();
        let Transport::Command(line) = &mut found.servers[0].transport else { panic!() };
        line.from_file = FileVariables::Doubtful;
        let judged = judge(&found.servers[0], Client::VsCode, Holder::User, &caller(Called::ByName));
        assert_eq!(judged, Verdict::NotWrapped(NotWrapped::SteeredByFile("f".to_owned())));
    }

    #[test]
    fn a_project_does_not_choose_rootwards_settings() {
        for name in ["HOME", "XDG_CONFIG_HOME", "ROOTWARD_MODE", "LD_PRELOAD"] {
            let entry = format!("{{\"command\": \"x\", \"env\": {{\"{name}\": \"/evil\"}}}}");
            let expect = Verdict::NotWrapped(NotWrapped::Steered(vec![name.to_owned()]));
            assert_eq!(judged(Form::Cursor, Holder::Project, &entry), expect);
            assert!(matches!(judged(Form::Cursor, Holder::User, &entry), Verdict::Wrap(_)));
        }
        assert!(matches!(
            judged(Form::Cursor, Holder::Project, r#"{"command": "x", "env": {"PATH": "/x"}}"#),
            Verdict::Wrap(_)
        ));
    }

    #[test]
    fn servers_that_are_not_wrapped() {
        let check = |entry: &str, expect: Verdict| assert_eq!(judged(Form::Cursor, Holder::User, entry), expect);
        for program in ["rootward", "/usr/bin/rootward", "./rootward", "rootward.exe", r"C:\\bin\\rootward.exe"] {
            check(&format!(r#"{{"command": "{program}", "args": ["wrap", "--", "x"]}}"#), Verdict::Wrapped);
            check(&format!(r#"{{"command": "{program}", "args": ["serve"]}}"#), Verdict::Rootward);
            check(&format!(r#"{{"command": "{program}"}}"#), Verdict::Rootward);
        }
        check(r#"{"command": "env", "args": ["A=b", "rootward", "wrap", "x"]}"#, Verdict::Wrapped);
        check(r#"{"url": "https://x"}"#, Verdict::NotWrapped(NotWrapped::Remote));
        check(r#"{"command": "docker", "args": ["run", "x"]}"#, Verdict::NotWrapped(NotWrapped::Container));
        check(r#"{"command": "/usr/bin/podman", "args": ["run", "x"]}"#, Verdict::NotWrapped(NotWrapped::Container));
        // A command that only mentions Rootward is not confined by it.
        for entry in [
            r#"{"command": "evil", "args": ["rootward", "wrap"]}"#,
            r#"{"command": "env", "args": ["-i", "rootward", "wrap"]}"#,
            r#"{"command": "sh", "args": ["-c", "rootward wrap x"]}"#,
            r#"{"command": "rootward-evil", "args": ["wrap"]}"#,
            r#"{"command": "cmd", "args": ["/c", "npx", "x"]}"#,
        ] {
            assert!(matches!(judged(Form::Cursor, Holder::User, entry), Verdict::Wrap(_)), "{entry}");
        }
    }

    #[test]
    fn codex_shares_no_directories() {
        let wrapped = |text: &str| {
            let found = parse(Form::Codex, text, &FileContext::default()).unwrap();
            match judge(&found.servers[0], Client::Codex, Holder::User, &caller(Called::ByPath)) {
                Verdict::Wrap(wrapping) => wrapping.before.join(" "),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            wrapped(
                "[mcp_servers.a]\ncommand = 'x'\nenv_vars = ['A', { name = 'B', source = 'local' }]\nenv = { A = '1' }"
            ),
            "/opt/rootward wrap --root . --env A --env B --"
        );
        assert_eq!(wrapped("[mcp_servers.a]\ncommand = 'x'\ncwd = '/srv'"), "/opt/rootward wrap --");
        let files =
            "[mcp_servers.a]\ncommand = 'npx'\nargs = ['-y', '@modelcontextprotocol/server-filesystem', '/srv']";
        assert_eq!(wrapped(files), "/opt/rootward wrap --");
    }
}
