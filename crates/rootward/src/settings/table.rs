//! The table of settings: every setting in one row.
//!
//! `rootward doctor`, `rootward --help`, the help of the flags, `docs/settings.md` and the suggestions for
//! misspelled names all come from here. To add a setting, add a row and use its field.

use std::path::PathBuf;
use std::time::Duration;

use rootward_core::Mode;
use rootward_core::env::{self, NamedRoot};
use rootward_core::session::{NoRoots, Policy};
use rootward_protocol::RefusalForm;
use rootward_sandbox::{Network, PassedVariable};

use super::file::{Mistake, Values};
use super::http::{PrincipalSettings, TokenFrom, principals, token_file};
use super::parsers::{
    boolean, bounded, fallback, milliseconds, mode, one_of, one_path, paths, patience, restrictions, roots, several_of,
    some_milliseconds, strings, treats, variables, word,
};
use super::row::{Group, Parser, Part, Reader, Repeated, Row, Variables, effective, settings};
use super::serve::{LISTINGS, TOOLSETS};
use super::told::Told;
use super::{Restrict, Setting, SettingsFile, Source};
use crate::confinement_flags::SocketSwitch;
use crate::treat::Treat;

settings! {
    /// All settings.
    Settings { file: SettingsFile, sandbox: SandboxSettings, http: HttpSettings, serve: ServeSettings, }

    "roots" roots: Vec<NamedRoot> = Vec::new() => {
        key: "roots" => roots,
        variable: env::ROOTS => |variables| variables.said.roots.clone(),
        flag: "--root" Often,
        means: "The roots that the operator sets: the directories and files that may be shared",
        more: "In the settings file a list of strings, each an absolute path, a path from `~` or a `file:` URI, with an optional `:ro`, `:rw`, `:rw-nodelete` \
               or `:rwx` at its end. In the environment a list of paths like `PATH`, without suffixes and URIs, because `:` separates",
    }
    "mode" mode: Mode = Policy::default().mode => {
        key: "mode" => mode,
        variable: env::MODE => |variables| variables.said.mode,
        means: "How the client's roots and the operator's combine: `narrow`, `replace` or `union`",
    }
    "strict" strict: bool = false => {
        key: "strict" => boolean,
        variable: env::STRICT => |variables| variables.said.strict,
        means: "Only roots that the client names give access",
    }
    "ignore_client" ignore_client: bool = false => {
        key: "ignore_client" => boolean,
        variable: env::IGNORE_CLIENT => |variables| variables.said.ignore_client,
        means: "Only the operator's roots give access, regardless of the client",
    }
    "fallback_dir" fallback_dir: Option<NamedRoot> = None => {
        key: "fallback_dir" => fallback,
        variable: env::FALLBACK_DIR => |variables| {
            let (root, name) = variables.said.fallback_dir.clone()?;
            Some((Some(root), name))
        },
        means: "The root to use if nobody names one and none is saved",
        more: "It may have a suffix and may be a URI, also in the environment. If it does not exist and is in the user's home, `serve`, \
               `wrap` and `hub` create it (mode 0700, following no link); elsewhere it is used as soon as it exists",
    }
    "fallback_only" fallback_only: bool = false => {
        key: "fallback_only" => boolean,
        variable: env::FALLBACK_ONLY => |variables| variables.said.fallback_only,
        means: "Only the fallback directory gives access",
    }
    "no_roots" no_roots: NoRoots = Policy::default().no_roots => {
        key: "no_roots" => word,
        means: "What is allowed if nobody ever names a root: nothing (`deny`) or everything (`allow-all`)",
        more: "`check` and `explain` always deny",
    }
    "refusal" refusal: RefusalForm = RefusalForm::default() => {
        key: "refusal" => word,
        means: "How `serve`, `wrap` and `hub` answer a tool call that they refuse",
        more: "`result` is a result with `isError: true`, which a model can read. `error` is the JSON-RPC error -32602 with the same data",
    }
    "roots_ttl_ms" roots_ttl: Option<Duration> = Policy::default().lifetime => {
        key: "roots_ttl_ms" => some_milliseconds,
        variable: env::ROOTS_TTL_MS => |variables| variables.said.roots_ttl.map(|(time, name)| (Some(time), name)),
        means: "How long a client's list of roots is valid, in milliseconds; the next call after that asks the client again",
    }
    "roots_ttl_announced_ms" roots_ttl_announced: Option<Duration> = Policy::default().lifetime_announced => {
        key: "roots_ttl_announced_ms" => some_milliseconds,
        variable: env::ROOTS_TTL_ANNOUNCED_MS => |variables| {
            variables.said.roots_ttl_announced.map(|(time, name)| (Some(time), name))
        },
        means: "How long the list of a client that declares `listChanged` is valid, in milliseconds; some declare it and never send it",
        more: "If only `roots_ttl_ms` is set, it also applies to these clients",
    }
    "roots_timeout_ms" roots_timeout: Duration = Policy::default().timeout => {
        key: "roots_timeout_ms" => patience,
        variable: env::ROOTS_TIMEOUT_MS => |variables| variables.said.roots_timeout,
        means: "How long a client may take to send its roots, in milliseconds",
    }
    "debounce_ms" debounce: Duration = Policy::default().debounce => {
        key: "debounce_ms" => milliseconds,
        variable: env::DEBOUNCE_MS => |variables| variables.said.debounce,
        means: "How long to wait for further changes before the client is asked again, in milliseconds",
    }
    "revoked_grace_ms" revoked_grace: Duration = Policy::default().revoked_grace => {
        key: "revoked_grace_ms" => milliseconds,
        variable: env::REVOKED_GRACE_MS => |variables| variables.said.revoked_grace,
        means: "How long a wrapped server may take to finish its calls after one of its roots was removed, in milliseconds",
        more: "Then the server is stopped",
    }
    "log" log: Option<String> = None => {
        variable: env::LOG => |variables| {
            let text = variables.environment.get(env::LOG)?;
            Some((Some(text.to_string_lossy().into_owned()), env::LOG))
        },
        means: "What `serve`, `wrap` and `hub` log on standard error: `info`, `debug` or a filter such as `rootward_http=debug`",
        more: "`info` logs each refusal and, over HTTP, each request with the id of its trace (`traceparent`). `debug` logs every decision and more",
    }
    "restrict" restrict: Vec<Restrict> = Vec::new() => {
        key: "restrict" => restrictions,
        means: "Places to close besides the standard ones",
        more: "A list of tables",
        parts: [
            ("pattern", "required", "What to close: a name such as `*.pem`, or a path with a slash"),
            ("closed", "`all`", "`all`, or `writing`, which closes it only for writing and deleting"),
            ("below", "everywhere", "The directory that the pattern applies in, absolute or from `~`"),
        ],
    }
    "treat" treat: Vec<Treat> = Vec::new() => {
        key: "treat" => treats,
        flag: "--treat" Often,
        means: "What an argument of a tool is, if Rootward guesses wrong: `TOOL.ARGUMENT=text`, `=read` or `=write`",
        more: "In the settings file a list, for every server behind `wrap` or `hub` that has such a tool. The flag adds to the list and wins for the same argument",
    }
    "get_roots" get_roots: bool = false => {
        key: "get_roots" => boolean,
        flag: "--get-roots" Once,
        means: "Offer the tool `get-roots`, which shows the directories that the server gets, beside the tools of a server behind `wrap`",
        more: "The client then gets Rootward's handshake instead of the server's, and the exit code is 0 unless the server could not be started",
    }
}

settings! {
    /// Settings for confined commands.
    SandboxSettings {}

    "sandbox.network" network: Network = Network::default() => {
        key: "sandbox.network" => word,
        flag: "--network" Once,
        means: "Whether the command can reach the network: `on` or `off`",
        more: "Packages for `npx`, `uvx` and the like are fetched before the command starts; only the settings file closes the network for that",
    }
    "sandbox.unix_sockets" unix_sockets: SocketSwitch = SocketSwitch::default() => {
        key: "sandbox.unix_sockets" => word,
        flag: "--unix-sockets" Once,
        means: "Which unix sockets the command can connect to: all (`on`), those in places that it can write and those that are named (`off`), or `none`",
    }
    "sandbox.env" variables: Vec<PassedVariable> = Vec::new() => {
        key: "sandbox.env" => variables,
        flag: "--env" Often,
        means: "Environment variables to pass on, by name or by prefix: `GITHUB_TOKEN`, `GITHUB_*`",
    }
    "sandbox.sockets" sockets: Vec<PathBuf> = Vec::new() => {
        key: "sandbox.sockets" => paths,
        flag: "--allow-socket" Often,
        means: "Unix sockets that the command can connect to, whether or not they exist yet",
    }
    "sandbox.filesystem.allowRead" allow_read: Vec<PathBuf> = Vec::new() => {
        key: "sandbox.filesystem.allowRead" => paths,
        flag: "--allow-read" Often,
        means: "Paths that the command can also read, and run programs from",
    }
    "sandbox.filesystem.denyRead" deny_read: Vec<PathBuf> = Vec::new() => {
        key: "sandbox.filesystem.denyRead" => paths,
        flag: "--deny-read" Often,
        means: "Paths that the command cannot read, even if something else allows it",
    }
    "sandbox.filesystem.allowWrite" allow_write: Vec<PathBuf> = Vec::new() => {
        key: "sandbox.filesystem.allowWrite" => paths,
        flag: "--allow-write" Often,
        means: "Paths that the command can also read and write",
    }
    "sandbox.filesystem.denyWrite" deny_write: Vec<PathBuf> = Vec::new() => {
        key: "sandbox.filesystem.denyWrite" => paths,
        flag: "--deny-write" Often,
        means: "Paths that the command cannot write, even if something else allows it",
    }
}

settings! {
    /// Settings for `--http`.
    HttpSettings { limits: LimitSettings, }

    "http.token" token: TokenFrom = TokenFrom::Generated => {
        key: "http.token_file" => token_file,
        variable: env::TOKEN => |variables| {
            variables.environment.get(env::TOKEN).map(|_| (TokenFrom::Variable(env::TOKEN.to_owned()), env::TOKEN))
        },
        flag: "--token-file" Once,
        means: "The token that HTTP clients must send, if no principals are configured",
        more: "The variable holds the token itself; the flag and the key name a file that only its owner can read. Without any, a token is \
               generated at the first start, on loopback only",
    }
    "http.tls_cert" tls_cert: Option<PathBuf> = None => {
        key: "http.tls_cert" => one_path,
        flag: "--tls-cert" Once,
        means: "The file with the certificate for TLS and its chain, in PEM",
    }
    "http.tls_key" tls_key: Option<PathBuf> = None => {
        key: "http.tls_key" => one_path,
        flag: "--tls-key" Once,
        means: "The file with the private key of the certificate, in PEM",
    }
    "http.allow_hosts" allow_hosts: Vec<String> = Vec::new() => {
        key: "http.allow_hosts" => strings,
        flag: "--allow-host" Often,
        means: "Names by which clients reach this server, besides its address",
    }
    "http.allow_origins" allow_origins: Vec<String> = Vec::new() => {
        key: "http.allow_origins" => strings,
        flag: "--allow-origin" Often,
        means: "Web pages that may send requests and read the answers, such as `https://example.org`",
    }
    "http.principals" principals: Vec<PrincipalSettings> = Vec::new() => {
        key: "http.principals" => principals,
        means: "Who may use the server, each with their own token and directories",
        more: "A table by name",
        parts: [
            ("token_file", "none", "The file with the principal's token"),
            ("token_env", "none", "The environment variable with the principal's token, instead of a file"),
            ("roots", "required", "The directories that limit what the principal can reach, written as in `roots`"),
            ("servers", "all", "The servers of the hub that the principal may use"),
        ],
    }
}

/// A day, in milliseconds: the maximum for every time limit except that of idle sessions.
const DAY: u64 = 86_400_000;

/// The longest message that the servers behind the front accept.
const LONGEST: u64 = 16 << 20;

/// Rows that are whole numbers with bounds.
macro_rules! limits {
    ($($name:literal $field:ident: $default:expr, $least:expr, $most:expr, $means:literal;)*) => {
        settings! {
            /// Limits on HTTP.
            LimitSettings {}
            $($name $field: u64 = $default => {
                key: $name => |found| bounded(found, $least, $most),
                bounds: $least, $most,
                means: $means,
            })*
        }
    };
}

// The defaults are those of the front: see `http/limits.rs`.
limits! {
    "http.limits.connections" connections: 16_384, 1, 1_000_000, "Connections at the same time; more wait";
    "http.limits.sessions" sessions: 20_000, 1, 1_000_000, "Sessions of legacy clients in total; the hub has its own limit";
    "http.limits.sessions_per_principal" sessions_per_principal: 16_384, 1, 1_000_000, "Sessions of legacy clients of one principal";
    "http.limits.session_idle_ms" session_idle_ms: 1_800_000, 1_000, 7 * DAY, "A session without an open stream ends after this time";
    "http.limits.streams" streams: 64, 1, 10_000, "Open streams of one session: requests that wait for their answer, and streams that the client opened";
    "http.limits.requests" requests: 1_024, 1, 100_000, "Open requests of the modern clients of one principal";
    "http.limits.rate" rate: 20_000, 1, 1_000_000, "Requests of one principal per second, on average";
    "http.limits.burst" burst: 20_000, 1, 1_000_000, "Requests of one principal at once";
    "http.limits.body_bytes" body_bytes: 4 << 20, 1_024, LONGEST, "The longest body of a request";
    "http.limits.head_ms" head_ms: 10_000, 100, DAY, "The time to send the head of a request, or to begin TLS";
    "http.limits.body_ms" body_ms: 30_000, 100, DAY, "The time to send the body of a request";
    "http.limits.connection_idle_ms" connection_idle_ms: 120_000, 100, DAY, "A connection without requests is closed after this time";
    "http.limits.write_ms" write_ms: 30_000, 100, DAY, "A client that reads nothing for this time is cut off";
    "http.limits.queue" queue: 4_096, 1, 1_000_000, "Messages that one stream keeps for a client that does not read";
    "http.limits.queue_bytes" queue_bytes: LONGEST, 1_024, 1 << 30, "The bytes of the messages that `queue` counts";
    "http.limits.replay" replay: 256, 0, 100_000, "Messages of one session that are kept for clients that come back to a broken stream";
    "http.limits.replay_bytes" replay_bytes: 1 << 20, 0, 1 << 30, "The bytes of the messages that `replay` counts";
    "http.limits.replay_ms" replay_ms: 120_000, 0, DAY, "How long the messages that `replay` counts are kept";
    "http.limits.backend_ms" backend_ms: 30_000, 100, DAY, "How long a message waits for a server that does not take it";
    "http.limits.answer_ms" answer_ms: 100, 0, 60_000,
        "How long to wait for the answer to a legacy client before a stream begins; an earlier answer is a plain JSON document, and with 0 every answer is a stream, in both eras";
    "http.limits.keep_alive_ms" keep_alive_ms: 15_000, 1_000, 600_000, "How often a silent stream shows that it is alive";
    "http.limits.shutdown_ms" shutdown_ms: 10_000, 0, DAY, "How long running requests may take to finish when the server is told to stop";
}

settings! {
    /// What the file server offers.
    ServeSettings {}

    "serve.tools" tools: Vec<String> = vec![TOOLSETS[0].to_owned()] => {
        key: "serve.tools" => |found| several_of(found, &TOOLSETS),
        flag: "--tools" Once,
        means: "Which sets of tools to list: `files` (always listed), `project` (what a project contains, where its documentation is and \
                how it is built), `roots` (`get-roots` and `roots`, which are answered even if they are not listed)",
        more: "In the settings file a list, on the command line separated by commas",
    }
    "serve.resources" resources: String = LISTINGS[0].to_owned() => {
        key: "serve.resources" => |found| one_of(found, &LISTINGS),
        flag: "--resources" Once,
        means: "Which files to list as resources: none, because clients fill in templates (`templates`), those directly in a root (`top`) or `all`",
        more: "Every file below the roots can be read, whether or not it is listed",
    }
}

/// All groups.
pub(crate) static GROUPS: [Group; 5] = [
    Group { table: "", title: "settings", rows: Settings::ROWS },
    Group { table: "sandbox", title: "settings of confined commands", rows: SandboxSettings::ROWS },
    Group { table: "http", title: "settings of `--http`", rows: HttpSettings::ROWS },
    Group { table: "http.limits", title: "limits of `--http`", rows: LimitSettings::ROWS },
    Group { table: "serve", title: "settings of `serve`", rows: ServeSettings::ROWS },
];

/// Every row.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> + Clone {
    GROUPS.iter().flat_map(|group| group.rows)
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;

    #[test]
    fn limits_have_bounds() {
        let read = |line: &str| parse(&format!("[http.limits]\n{line}\n"), None).map(drop);
        for fine in ["sessions = 1", "replay = 0", "body_bytes = 16777216", "keep_alive_ms = 1000", "rate = 1000000"] {
            assert!(read(fine).is_ok(), "{fine}");
        }
        for (wrong, says) in [
            ("sessions = 0", "line: 2, column: 12, says: \"`0` (expected a number from 1 to 1000000)"),
            ("body_bytes = 16777217", "expected a number from 1024 to 16777216"),
            ("session_idle_ms = 999", "expected a number from 1000 to 604800000"),
            ("rate = -1", "expected a non-negative integer"),
            ("rate = 1.5", "expected a non-negative integer"),
            ("rate = \"many\"", "expected a non-negative integer"),
            ("rates = 1", "unknown key `rates`"),
        ] {
            let mistake = format!("{:?}", read(wrong).unwrap_err());
            assert!(mistake.contains(says), "{wrong}: {mistake}");
        }
    }
}
