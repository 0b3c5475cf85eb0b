//! What `sandbox` prints: why a command was not started, and what a running one was refused.

use std::ffi::OsStr;
use std::path::Path;

use rootward_core::Shown;
use rootward_sandbox::{
    ConfinementError, Enforcement, PackageError, PermittingFlag, ProgramError, Refused, SocketKind, SplitDirectory,
    StartError, Step, Untrusted, Withheld,
};

use super::hinted;
use crate::message::{self, for_shell};

/// Why a command was not started, with a hint.
pub(crate) fn not_started(program: &OsStr, error: StartError) -> anyhow::Error {
    let says = format!("command `{}` was not started: {error}", Shown::new(program));
    match &error {
        StartError::Confinement(ConfinementError::Kernel(_)) => {
            hinted(says, "pass `--sandbox off` to run it unconfined; `rootward doctor` says what this kernel lacks")
        }
        StartError::Confinement(ConfinementError::Unenforced(_)) => {
            hinted(says, "share narrower directories, or pass `--unenforced allow` to start it with these places open")
        }
        StartError::Confinement(ConfinementError::ForbiddenSocket { .. }) => hinted(
            says,
            "`--unix-sockets on` opens all sockets, including this one; a command that connects to it is not confined",
        ),
        StartError::Confinement(ConfinementError::NoSupervisedSockets) => {
            hinted(says, "leave the sockets out, or pass `--unix-sockets on`, which opens all")
        }
        StartError::Confinement(ConfinementError::WholeDisk) => {
            hinted(says, "share the directories that the command needs")
        }
        StartError::Program(ProgramError::NotFound(_)) => {
            let typed = program.to_string_lossy();
            let hint = if typed.contains(char::is_whitespace) {
                "pass the command and each argument as a separate word, without quotes around all of them"
            } else if typed.contains('/') {
                "the path is looked up from the working directory"
            } else {
                "check the spelling, or give the full path; for a shell builtin use `-- sh -c '…'`"
            };
            hinted(error.to_string(), hint)
        }
        StartError::Program(ProgramError::Planted { place, .. }) => {
            let installed = place.parent().filter(|bin| bin.ends_with("bin")).and_then(Path::parent).unwrap_or(place);
            hinted(
                error.to_string(),
                &format!("pass `--allow-read {}` if that is what you want", for_shell(installed, None, "")),
            )
        }
        StartError::Record(_) => hinted(
            told(program, error),
            "Rootward remembers there what confined commands could write; `HOME` or `XDG_STATE_HOME` says where it is",
        ),
        StartError::Package(error) => hinted(says, package_hint(error)),
        StartError::Program(ProgramError::NotExecutable(_)) => {
            hinted(error.to_string(), "make it executable with `chmod +x`, or name what runs it: `-- python3 FILE`")
        }
        StartError::Step { step: Step::Execute, .. } => hinted(
            says,
            "`--trace` reports what a command was refused; a program in a root runs only if the root is `:rwx`",
        ),
        StartError::Step { .. } => hinted(
            says,
            "`rootward doctor` tests whether a command can be confined here; a confined command cannot confine another",
        ),
        _ => anyhow::Error::new(error).context(format!("command `{}` was not started", Shown::new(program))),
    }
}

/// The hint if a package cannot be run.
fn package_hint(error: &PackageError) -> &'static str {
    match error {
        PackageError::NetworkOff { .. } => "pass `--network on` once to fetch it; later starts need no network for it",
        PackageError::NoProgram { programs, .. } if programs.is_empty() => {
            "check the package's name: this package has no program"
        }
        PackageError::NoProgram { .. } => {
            "name the program as well: `uvx --from PACKAGE PROGRAM` or `npx -p PACKAGE PROGRAM`"
        }
        PackageError::Outside { .. } => "the package may be hostile: find out who made it before you use it",
        PackageError::Store(_) => {
            "`rootward cache list` lists the packages, `rootward cache clean` removes unused ones"
        }
        _ => "check the package's name and version, the network, and `npm_config_registry` or `UV_DEFAULT_INDEX`",
    }
}

/// The error with all its causes, in one line.
fn told(program: &OsStr, error: StartError) -> String {
    message::told(&anyhow::Error::new(error).context(format!("command `{}` was not started", Shown::new(program))))
}

/// What the kernel cannot enforce, and what the command does not get. Omits places that are only closed for writing:
/// every repository has some, and nobody can do anything about them. `doctor` and `sandbox --explain` name them.
pub(crate) fn enforcement(enforcement: &Enforcement) {
    for unenforced in &enforcement.unenforced {
        message::warning(&unenforced.to_string());
    }
    split(&enforcement.split);
    withheld(&enforcement.withheld);
    for socket in enforcement.sockets.iter().filter(|socket| socket.kind == SocketKind::Session) {
        let place = Shown::new(&socket.place);
        message::warning(&format!("`{place}` controls your session: through it the command can act for you"));
    }
}

/// What the command seems to need but does not get, because a confined command could have planted it.
fn withheld(withheld: &[Withheld]) {
    const MOST: usize = 3;
    let planted = withheld.iter().filter(|withheld| matches!(withheld.reason, Untrusted::Planted(_)));
    for withheld in planted.take(MOST) {
        let allow = for_shell(&withheld.place, None, "");
        message::warning(&format!("{withheld}; pass `--allow-read {allow}` if the command needs it"));
    }
}

/// The directories that are opened entry by entry: a line for each of the first few.
fn split(directories: &[SplitDirectory]) {
    const MOST: usize = 3;
    for directory in directories.iter().take(MOST) {
        message::warning(&directory.to_string());
    }
    match directories.len().saturating_sub(MOST) {
        0 => {}
        1 => message::warning("1 more directory contains closed places; `sandbox --json` names all"),
        more => message::warning(&format!("{more} more directories contain closed places; `sandbox --json` names all")),
    }
    if !directories.is_empty() {
        message::line("hint: share the directories that the command needs, not one that contains closed places");
    }
}

/// What was refused, each place once, with the option that would allow it.
pub(crate) fn refused(refused: &[Refused], home: Option<&Path>) {
    if refused.is_empty() {
        message::line("trace: nothing was refused");
        return;
    }
    message::line("trace: refused, and what would permit it");
    for refused in refused {
        let Refused { path, access, socket } = refused;
        let permits = match (refused.permit(), socket) {
            _ if path.parent().is_none() => "nothing: sharing `/` would leave nothing outside".to_owned(),
            (Some(PermittingFlag::WithPath(flag)), _) => format!("{flag} {}", for_shell(path, home, "")),
            (Some(PermittingFlag::Alone(flag)), _) => flag.to_owned(),
            (None, Some(kind)) => format!("nothing: it is {kind}"),
            (None, None) => "nothing: it is about a process; most programs do without".to_owned(),
        };
        message::line(&format!("  {access:8} {}  {permits}", Shown::new(path)));
    }
}
