//! The Prolog process: the kernel gives it no directory, no network and no program to run, and kills it with everything it started.

use std::io::{BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::time::{Duration, Instant};

use rootward_core::{Guard, GuardOptions, RootSet, follow_ambient};
use rootward_sandbox::{
    CommandLine, Confined, Confinement, Filesystem, Home, KnownCommand, Lifeline, Network, Options, Processes,
    ProgramError, StartError, UnixSockets,
};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, pidfd_open, pidfd_send_signal, prlimit};

use super::PrologError;
use super::frames::{self, Reply};
use super::printed::Printed;

/// Prolog's side of the conversation. The server sends it to the process, which cannot open files.
const HARNESS: &str = include_str!("harness.pl");

/// The limit of Prolog's stacks, which limits the depth of recursion.
const STACKS: &str = "--stack-limit=256m";

/// The memory limit of the whole process, including clauses and atoms.
const MEMORY: u64 = 1 << 30;

/// How long the process may take to start.
const TO_START: Duration = Duration::from_secs(30);

/// How long a process may take to exit after it closed its output.
const TO_END_BY_ITSELF: Duration = Duration::from_millis(500);

/// How long a killed process may take to exit.
const TO_END: Duration = Duration::from_secs(5);

/// The maximum number of unread replies.
const WAITING: usize = 64;

/// What the standard profile allows and Prolog does not need: the system's settings and users, and programs to run.
const DENIED: &[&str] =
    &["/etc", "/usr/bin", "/usr/sbin", "/usr/local", "/usr/libexec", "/usr/games", "/usr/share", "/sys"];

/// Libraries that create processes or connections. The kernel would confine those, too, but without the libraries there are none.
const DENIED_LIBRARIES: &[&str] =
    &["process", "unix", "socket", "tipc", "uid", "sched", "rlimit", "test_ffi", "test_cpp", "sweep-module"];

/// A running process.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// Dropping it kills the process and everything it started.
    line: Option<Lifeline>,
    handle: OwnedFd,
    requests: Sender<Vec<u8>>,
    replies: Receiver<std::io::Result<Reply>>,
    pub(super) printed: Arc<Printed>,
}

/// The outcome of waiting for a reply.
pub(super) enum Came {
    Reply(Reply),
    Nothing,
    /// The process sent an invalid reply.
    Broke(String),
    End,
}

impl Process {
    /// Starts a process and waits until it is ready.
    pub(super) fn start() -> Result<Process, PrologError> {
        let Confined { mut child, line } = confined().map_err(not_started)?;
        let handle = line.process().and_then(|id| limited(id).ok());
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(handle), Some(mut input), Some(output), Some(errors)) = (handle, input, output, errors) else {
            drop(line);
            let _ = child.wait();
            return Err(PrologError::NotStarted("it exited at once".to_owned()));
        };
        let printed = Arc::new(Printed::default());
        printed.take_all(errors);
        let (requests, to_send) = channel::<Vec<u8>>();
        // In another thread: a process that does not read must not block the server.
        std::thread::spawn(move || {
            for bytes in to_send {
                if input.write_all(&bytes).and_then(|()| input.flush()).is_err() {
                    return;
                }
            }
        });
        let (sender, replies) = sync_channel(WAITING);
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(reply) = frames::reply(&mut output).transpose() {
                let last = reply.is_err();
                if sender.send(reply).is_err() || last {
                    return;
                }
            }
        });
        let process = Process { child, line: Some(line), handle, requests, replies, printed };
        process.send(format!("{HARNESS}\nend_of_file.\n").into_bytes());
        match process.next(TO_START) {
            Came::Reply(Reply { kind, .. }) if kind == "ready" => Ok(process),
            _ => {
                let printed = process.printed.up_to("", Duration::from_millis(100));
                let how = process.end();
                Err(PrologError::NotStarted(format!("{how}; it printed: {}", printed.trim())))
            }
        }
    }

    pub(super) fn send(&self, bytes: Vec<u8>) {
        // If the process has exited, waiting for its reply detects that.
        let _ = self.requests.send(bytes);
    }

    /// The next reply, if it arrives in time.
    pub(super) fn next(&self, patience: Duration) -> Came {
        match self.replies.recv_timeout(patience) {
            Ok(Ok(reply)) => Came::Reply(reply),
            Ok(Err(error)) => Came::Broke(error.to_string()),
            Err(RecvTimeoutError::Timeout) => Came::Nothing,
            Err(RecvTimeoutError::Disconnected) => Came::End,
        }
    }

    /// Interrupts the running goal.
    pub(super) fn interrupt(&self) {
        self.signal(Signal::USR1);
    }

    /// Resumes the process.
    pub(super) fn wake(&self) {
        self.signal(Signal::CONT);
    }

    /// Stops the process until the next request, so that threads that a request left behind do not run.
    // SECURITY: a thread that outlives its query would run as long as the server (test: a_thread_does_not_outlive_its_query)
    pub(super) fn rest(&self) {
        self.signal(Signal::STOP);
    }

    fn signal(&self, signal: Signal) {
        // Fails only if the process has exited.
        let _ = pidfd_send_signal(&self.handle, signal);
    }

    /// Describes how the process exited. If it still runs, kills it with everything it started.
    pub(super) fn end(mut self) -> String {
        match self.wait(TO_END_BY_ITSELF).map(|status| (status.code(), status.signal())) {
            // The launcher exits with 128 plus the signal.
            Some((Some(code @ 129..), _)) => format!("it was killed by signal {}", code - 128),
            Some((Some(0), _)) => "the program called `halt`".to_owned(),
            Some((Some(code), _)) => format!("it exited with code {code}"),
            Some((None, signal)) => format!("it was killed by signal {}", signal.unwrap_or(0)),
            None => {
                self.kill();
                "it was killed".to_owned()
            }
        }
    }

    /// Kills the process with everything it started.
    pub(super) fn kill(mut self) {
        self.line = None;
        if self.wait(TO_END).is_none() {
            let _ = self.child.kill();
        }
    }

    fn wait(&mut self, at_most: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + at_most;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
                Ok(None) | Err(_) => return None,
            }
        }
    }
}

/// Sets the limits of the process from outside, and returns a handle to it.
fn limited(id: u32) -> rustix::io::Result<OwnedFd> {
    let process = i32::try_from(id).ok().and_then(Pid::from_raw).ok_or(rustix::io::Errno::SRCH)?;
    let handle = pidfd_open(process, PidfdFlags::empty())?;
    let limit = |most| Rlimit { current: Some(most), maximum: Some(most) };
    // SECURITY: the stacks have their own limit, but clauses and atoms only this one (test: a_memory_bomb_ends_the_process_alone)
    prlimit(Some(process), Resource::As, limit(MEMORY))?;
    // SECURITY: the process has a temporary directory, and could write a library there and load it
    // (test: nothing_can_be_written)
    prlimit(Some(process), Resource::Fsize, limit(0))?;
    prlimit(Some(process), Resource::Core, limit(0))?;
    Ok(handle)
}

/// Starts the program, confined.
// SECURITY: it gets no roots: Prolog code can open only what the server passes to it, path by path
// (test: prolog_opens_no_file_by_itself)
fn confined() -> Result<Confined, StartError> {
    let line = CommandLine {
        program: "swipl".into(),
        arguments: ["-q", "-f", "none", "-F", "none", "--no-packs", "--no-tty", "--no-threads", STACKS]
            .into_iter()
            .chain(["-g", "load_files(rootward_kb,[stream(user_input)])", "-g", "rootward_kb:serve", "-t", "halt"])
            .map(Into::into)
            .collect(),
        ..CommandLine::default()
    };
    let known = KnownCommand::look_up_ambient(&line)?;
    let typed = known.program().path();
    // `/usr/bin/swipl` is a link on Debian.
    let installed = follow_ambient(typed).map_or_else(|| typed.to_owned(), |followed| followed.place);
    let options = Options {
        network: Network::Off,
        unix_sockets: UnixSockets::None,
        home: Home::Empty,
        // SECURITY: a copy of the process would have its own memory limit, and would not be stopped between calls. `open_shared_object/2`
        // can call the C library's `fork` (test: a_program_cannot_copy_its_process)
        processes: Processes::One,
        filesystem: Filesystem { deny_read: denied(&installed), ..Filesystem::default() },
        ..Options::default()
    };
    let nothing = Guard::new(RootSet::default(), GuardOptions::default());
    let mut prepared = Confinement::new(nothing, options)?.prepare_known_ambient(&line, &known)?;
    prepared.command().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    prepared.spawn()
}

/// What to deny beyond the standard profile. The program is `HOME/bin/ARCHITECTURE/swipl`, its libraries are in `HOME/lib/ARCHITECTURE`.
fn denied(program: &Path) -> Vec<PathBuf> {
    let mut denied: Vec<PathBuf> =
        DENIED.iter().map(PathBuf::from).filter(|place| !program.starts_with(place)).collect();
    let mut above = program.ancestors().skip(1);
    if let (Some(bin), Some(_), Some(home)) = (above.next(), above.next(), above.next())
        && let Some(architecture) = bin.file_name()
    {
        let libraries = home.join("lib").join(architecture);
        denied.extend(DENIED_LIBRARIES.iter().map(|name| libraries.join(format!("{name}.so"))));
    }
    denied
}

fn not_started(error: StartError) -> PrologError {
    match error {
        StartError::Program(ProgramError::NotFound(_)) => PrologError::Missing,
        error => PrologError::NotStarted(error.to_string()),
    }
}
