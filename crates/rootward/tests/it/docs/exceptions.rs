//! Commands in the documentation that these tests do not run unchanged, each with the reason.

use Instead::{As, ByHand, Elsewhere};

/// An exception for the lines of a page that start with `line`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exception {
    pub(super) page: &'static str,
    pub(super) line: &'static str,
    pub(super) instead: Instead,
    #[expect(dead_code, reason = "for readers of the table")]
    why: &'static str,
}

/// What happens instead.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instead {
    /// It runs elsewhere: in a task of CONTRIBUTING.md, or in a file of these tests.
    Elsewhere(&'static str),
    /// It runs in this form; `%` is the command.
    As(&'static str),
    /// A person runs it to update versions.
    ByHand,
}

impl Exception {
    pub(super) fn runs_elsewhere(&self) -> Option<&'static str> {
        match self.instead {
            Elsewhere(place) => Some(place),
            As(_) | ByHand => None,
        }
    }
}

/// The row for a line of a page, if there is one.
pub(super) fn exception(page: &str, line: &str) -> Option<&'static Exception> {
    EXCEPTIONS.iter().find(|exception| exception.page == page && line.starts_with(exception.line))
}

const fn row(page: &'static str, line: &'static str, instead: Instead, why: &'static str) -> Exception {
    Exception { page, line, instead, why }
}

const BUILDS: &str = "builds the workspace with cargo, in a separate directory";
const NETWORK: &str = "downloads packages";
const LOCKS: &str = "creates new lock files from the package index";
const HOST: &str = "needs a client from npm";
const ASKS: &str = "asks on a terminal";
const ENDLESS: &str = "runs until it is interrupted";
const EMPTY: &str = "nothing is on record here, so its exit code is 1";

/// A list verb that finds nothing.
const NONE: &str = "% || [ $? = 1 ]";

/// A client that starts a session and ends it.
const SESSION: &str = r#"echo '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "docs", "version": "1"}}}' | %"#;

pub(super) const EXCEPTIONS: &[Exception] = &[
    row("README.md", "cargo install", Elsewhere("cargo xtask check"), BUILDS),
    row("README.md", "rootward adopt", As("% --yes"), ASKS),
    row("README.md", "cargo demo", Elsewhere("cargo demo"), NETWORK),
    row("README.md", "cargo xtask check", Elsewhere("cargo xtask check"), BUILDS),
    row("CONTRIBUTING.md", "cargo xtask check", Elsewhere("cargo xtask check"), BUILDS),
    row("docs/adopt.md", "rootward adopt", Elsewhere("cargo xtask adopt"), NETWORK),
    row("docs/audit.md", "rootward audit show", As(NONE), EMPTY),
    row("docs/audit.md", "rootward audit tail", As("timeout 2 % || [ $? = 124 ]"), ENDLESS),
    row("docs/benchmarks.md", "cargo xtask bench", Elsewhere("cargo xtask bench"), BUILDS),
    row("docs/clients.md", "claude mcp add", Elsewhere("cargo xtask hosts"), HOST),
    row("docs/clients.md", "gemini mcp add", Elsewhere("cargo xtask hosts"), HOST),
    row("docs/clients.md", "opencode mcp add", Elsewhere("cargo xtask hosts"), HOST),
    row("docs/clients.md", "codex mcp add", Elsewhere("cargo xtask hosts"), HOST),
    row("docs/clients.md", "copilot mcp add", Elsewhere("cargo xtask hosts"), HOST),
    row("docs/clients.md", "mcp-inspector", Elsewhere("cargo xtask hosts"), HOST),
    row("docs/packages.md", "rootward cache list", Elsewhere("wrap/packages.rs"), NETWORK),
    row("docs/recipes.md", "rootward wrap --learn", Elsewhere("wrap/learning.rs"), NETWORK),
    row("docs/roots.md", "rootward roots pick", Elsewhere("roots/pick/mod.rs"), ASKS),
    row("docs/roots.md", "rootward roots add", As("% --yes"), ASKS),
    row("docs/roots.md", "rootward roots grant app rw", As("% --yes"), ASKS),
    row("docs/roots.md", "rootward roots watch", Elsewhere("roots/watch.rs"), ENDLESS),
    row("docs/roots.md", "rootward serve", As(SESSION), "waits for a client on standard input"),
    row("docs/sandbox.md", "rootward sandbox --root ~/project npx", Elsewhere("cargo xtask servers"), NETWORK),
    row(
        "docs/wrap.md",
        "rootward wrap --root ~/src/app --root ~/notes:ro npx",
        Elsewhere("cargo xtask popular"),
        NETWORK,
    ),
    row("docs/troubleshooting.md", "rootward audit show", As(NONE), EMPTY),
    row("docs/wrap.md", "rootward wrap npx", Elsewhere("cargo xtask popular"), NETWORK),
    row("examples/conformance-server/README.md", "cargo ", Elsewhere("cargo xtask conformance"), BUILDS),
    row("examples/conformance-server/README.md", "cd target/peers", Elsewhere("cargo xtask conformance"), NETWORK),
    row("examples/conformance-server/README.md", "node_modules/", Elsewhere("cargo xtask conformance"), NETWORK),
    row("examples/http-server/README.md", "cargo run", Elsewhere("cargo xtask peers"), BUILDS),
    row("examples/http-server/README.md", "target/python", Elsewhere("cargo xtask peers"), NETWORK),
    row("examples/http-server/README.md", "node peers", Elsewhere("cargo xtask peers"), NETWORK),
    row("examples/knowledge-base/README.md", "apt-get", Elsewhere("cargo xtask check"), NETWORK),
    row("examples/knowledge-base/README.md", "cargo run", Elsewhere("cargo xtask check"), BUILDS),
    row("examples/minimal-host/README.md", "cargo build", Elsewhere("cargo xtask host"), BUILDS),
    row("examples/minimal-host/README.md", "echo ", Elsewhere("cargo xtask host"), BUILDS),
    row("examples/minimal-server/README.md", "cargo build", Elsewhere("cargo xtask peers"), BUILDS),
    row("examples/minimal-server/README.md", "python3 -m venv", Elsewhere("cargo xtask peers"), NETWORK),
    row("examples/minimal-server/README.md", "target/python", Elsewhere("cargo xtask peers"), NETWORK),
    row("examples/minimal-server/README.md", "(cd peers/typescript", Elsewhere("cargo xtask peers"), NETWORK),
    row("examples/minimal-server/README.md", "node peers", Elsewhere("cargo xtask peers"), NETWORK),
    row("peers/README.md", "echo ", ByHand, LOCKS),
    row("peers/README.md", "printf ", ByHand, LOCKS),
    row("peers/README.md", "options=", ByHand, LOCKS),
    row("peers/README.md", "  uv pip", ByHand, LOCKS),
    row("examples/workspace-shell/README.md", "cargo run", Elsewhere("cargo xtask check"), BUILDS),
];
