//! The host's side of a start: orders for the launcher, and its reports.

use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};

use rootward_core::{RootKind, WritableRecordError};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::confinement::{CommandLine, Confinement, Wall};
use crate::enforcement::Enforcement;
use crate::error::StartError;
use crate::launcher::{self, Failure, Ready};
use crate::open_files::RaisedLimit;
use crate::options::UnixSockets;
use crate::orders::{LauncherReport, OpenPlace, Orders, UnixOrders, VERB, bytes, text};
use crate::own_proc;
use crate::package::Lock;
use crate::places::Rule;
use crate::plan::{Kept, Plan};
use crate::profile::{KnownCommand, Private};
use crate::rights;
use crate::sockets::SocketKind;
use crate::sys;

/// A command that is ready to start.
#[derive(Debug)]
pub struct Prepared {
    command: Command,
    orders: Orders,
    way: Way,
    handshake: Handshake,
}

/// How the launcher is created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// As a copy of this process if that is safe, else by starting this program again.
    Copied,
    /// As the program that the options name.
    Started,
}

/// What remains to be done when the launcher runs.
#[derive(Debug)]
pub struct Handshake {
    enforcement: Enforcement,
    /// The launcher's ends of the pipes.
    given: Vec<OwnedFd>,
    /// Handles of the open places, which the launcher has as well.
    handles: Vec<OwnedFd>,
    /// Keeps the limit of open files raised until the handles are closed.
    _raised: Option<RaisedLimit>,
    lifeline: OwnedFd,
    report: OwnedFd,
    private: Private,
    /// Keeps the command's cache from being removed.
    lock: Option<Lock>,
}

/// A command that runs confined.
#[derive(Debug)]
pub struct Confined {
    /// The launcher's process, which represents the command: it passes signals on and exits with the command's code.
    pub child: Child,
    /// The lifeline.
    pub line: Lifeline,
}

/// Ties a confined command to this process: when it is dropped, or this process ends, the command and all its
/// descendants are killed.
#[derive(Debug)]
pub struct Lifeline {
    enforcement: Enforcement,
    /// The command's process, whose parent is the supervisor.
    process: Option<u32>,
    _held: OwnedFd,
    report: BufReader<std::fs::File>,
    /// The part of a line received so far.
    part: Vec<u8>,
    /// Keeps the command's cache from being removed.
    _lock: Option<Lock>,
}

/// Something the command tried and was refused. While tracing, a process may read about itself in `/proc`; this is
/// reported as `/proc/self/…` if it would be refused otherwise.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Refused {
    /// Where the path leads.
    pub path: PathBuf,
    /// The access: `read`, `write`, `execute`, or `connect` for a unix socket.
    pub access: String,
    /// The kind of the socket, for a refused connection.
    pub socket: Option<SocketKind>,
}

/// The flag that would allow what was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PermittingFlag {
    /// This flag, with the path.
    WithPath(&'static str),
    /// This flag, without a path.
    Alone(&'static str),
}

impl Refused {
    /// The flag that would allow it; `None` for a socket that no flag can open, and for information about another
    /// process.
    pub fn permit(&self) -> Option<PermittingFlag> {
        match self.socket {
            Some(kind) if kind.is_never() => None,
            Some(_) => Some(PermittingFlag::WithPath("--allow-socket")),
            None if self.access == "read" && own_proc::is_reported(&self.path) => {
                Some(PermittingFlag::Alone("--own-proc"))
            }
            // A rule for one process's directory would be useless for other processes, and end with it.
            None if own_proc::is_of_process(&self.path) => None,
            None if self.access == "write" => Some(PermittingFlag::WithPath("--allow-write")),
            None => Some(PermittingFlag::WithPath("--allow-read")),
        }
    }
}

impl Confinement {
    /// Looks up the command and prepares its start.
    pub fn prepare_ambient(&self, line: &CommandLine) -> Result<Prepared, StartError> {
        self.prepare_known_ambient(line, &KnownCommand::look_up_ambient(line)?)
    }

    /// Prepares the start of a command that was looked up: records what is given for writing, and writes the orders.
    pub fn prepare_known_ambient(&self, line: &CommandLine, known: &KnownCommand) -> Result<Prepared, StartError> {
        self.prepare_kept_ambient(line, known, Kept::Usual)
    }

    pub(crate) fn prepare_kept_ambient(
        &self,
        line: &CommandLine,
        known: &KnownCommand,
        kept: Kept,
    ) -> Result<Prepared, StartError> {
        let plan = self.plan_ambient(line, known, kept)?;
        let given = plan.given_for_writing();
        // SECURITY: anything a command could have written is not trusted at later starts
        // (test: writable_places_are_recorded_before_the_command_runs)
        match &plan.record {
            Some(record) => record.add_ambient(given)?,
            None if given.is_empty() => {}
            None => return Err(WritableRecordError::NoDirectory.into()),
        }
        let Plan { wall: Wall { rules, enforcement, raised }, profile, private, directory, lock, .. } = plan;
        let program = known.program();
        let arguments = match known.package() {
            Some(installed) => installed.arguments(line),
            None => line.arguments.clone(),
        };
        let (end_of_launcher, lifeline) = pipe_with(PipeFlags::CLOEXEC).map_err(prepare)?;
        let (report, told_by_launcher) = pipe_with(PipeFlags::CLOEXEC).map_err(prepare)?;
        let orders = Orders {
            abi: self.abi,
            open: rules.iter().map(open_place).collect(),
            network: self.options.network,
            unix_sockets: self.unix_orders(),
            trace: self.options.trace,
            own_proc: self.options.own_proc,
            processes: self.options.processes,
            program: bytes(program.path()),
            name: bytes(program.typed()),
            arguments: arguments.iter().map(bytes).collect(),
            variables: profile.variables.iter().map(|(name, value)| (bytes(name), bytes(value))).collect(),
            directory: bytes(directory),
            start: None,
            open_files: raised.as_ref().and_then(RaisedLimit::before),
            private: bytes(private.path()),
            lifeline: end_of_launcher.as_raw_fd(),
            report: told_by_launcher.as_raw_fd(),
        };
        let way = if self.options.launcher.is_none() { Way::Copied } else { Way::Started };
        let launcher = self.options.launcher.clone().unwrap_or_else(|| "/proc/self/exe".into());
        let mut command = Command::new(launcher);
        command.arg0("rootward").env_clear();
        let given = vec![end_of_launcher, told_by_launcher];
        let handles = rules.into_iter().map(|rule| rule.handle).collect();
        let handshake = Handshake { enforcement, given, handles, _raised: raised, lifeline, report, private, lock };
        Ok(Prepared { command, orders, way, handshake })
    }

    fn unix_orders(&self) -> UnixOrders {
        match self.unix_sockets {
            UnixSockets::None => UnixOrders::Closed,
            UnixSockets::Named(_) => UnixOrders::Supervised {
                named: self.sockets.iter().map(|socket| bytes(&socket.place)).collect(),
                session: self.session.places().iter().map(|(place, kind)| (bytes(place), *kind)).collect(),
            },
            UnixSockets::Open => UnixOrders::Open,
        }
    }
}

impl Prepared {
    /// The launcher's command, to set its standard input, output and error.
    pub fn command(&mut self) -> &mut Command {
        &mut self.command
    }

    /// Makes the command start in the directory of this handle, even if its name leads elsewhere by then.
    pub fn start_in(&mut self, directory: OwnedFd) {
        self.orders.start = Some(directory.as_raw_fd());
        self.handshake.given.push(directory);
    }

    /// Both halves, for hosts that start processes in their own way. Complete the handshake after starting the command,
    /// before dropping it.
    pub fn into_parts(self) -> Result<(Command, Handshake), StartError> {
        let Prepared { mut command, orders, mut handshake, .. } = self;
        let memory = orders.seal().map_err(StartError::Prepare)?;
        command.arg(VERB).arg(memory.as_raw_fd().to_string());
        let mut descriptors = vec![memory.as_raw_fd()];
        descriptors.extend(orders.descriptors());
        sys::inherit(&mut command, descriptors);
        handshake.given.push(memory);
        Ok((command, handshake))
    }

    /// Starts the command and waits until it is confined and running, or has failed.
    pub fn spawn(mut self) -> Result<Confined, StartError> {
        let copy = match self.way {
            Way::Copied => {
                let orders = self.orders.clone();
                let ready = Ready::new(&orders);
                let ready = ready.map_err(|Failure { step, reason }| StartError::Step { step, reason })?;
                sys::spawn_copy(&mut self.command, move || launcher::run(&orders, Some(&ready)))
            }
            Way::Started => None,
        };
        let (child, handshake) = match copy {
            Some(child) => (child, self.handshake),
            None => {
                let (mut command, handshake) = self.into_parts()?;
                (command.spawn(), handshake)
            }
        };
        let mut child = child.map_err(StartError::Spawn)?;
        match handshake.complete() {
            Ok(line) => Ok(Confined { child, line }),
            Err(error) => {
                // It has reported the reason and ends by itself.
                let _ = child.wait();
                Err(error)
            }
        }
    }
}

impl Handshake {
    /// Waits for the launcher's report. Blocks for as long as the launcher takes, which is milliseconds.
    pub fn complete(self) -> Result<Lifeline, StartError> {
        // Otherwise the pipe would stay open after the launcher has ended.
        drop(self.given);
        let mut report = BufReader::new(std::fs::File::from(self.report));
        let told = next(&mut report);
        // Not earlier: closing them takes time that the launcher can use.
        drop(self.handles);
        match told {
            Some(LauncherReport::Confined { process }) => {
                self.private.hand_over();
                let line = Lifeline::of(self.enforcement, process.try_into().ok(), self.lifeline, report);
                Ok(Lifeline { _lock: self.lock, ..line })
            }
            Some(LauncherReport::Failed { step, reason }) => Err(StartError::Step { step, reason }),
            Some(LauncherReport::Refused { .. }) | None => Err(StartError::Silent),
        }
    }
}

impl Lifeline {
    pub(crate) fn of(
        enforcement: Enforcement,
        process: Option<u32>,
        held: OwnedFd,
        report: BufReader<std::fs::File>,
    ) -> Lifeline {
        Lifeline { enforcement, process, _held: held, report, part: Vec::new(), _lock: None }
    }

    /// The id of the command's own process, not of its supervisor.
    pub fn process(&self) -> Option<u32> {
        self.process
    }

    /// How strongly the command is confined.
    pub fn enforcement(&self) -> &Enforcement {
        &self.enforcement
    }

    /// The next refusal, while tracing; `None` when the command has ended.
    pub fn next_refused(&mut self) -> Option<Refused> {
        refused(next(&mut self.report)?)
    }

    /// The descriptor that [`Lifeline::refused_so_far`] reads, for hosts that poll. It does not block from then on.
    pub fn report(&self) -> std::io::Result<BorrowedFd<'_>> {
        let report = self.report.get_ref();
        let flags = rustix::fs::fcntl_getfl(report)?;
        rustix::fs::fcntl_setfl(report, flags | rustix::fs::OFlags::NONBLOCK)?;
        Ok(report.as_fd())
    }

    /// The refusals reported so far, while tracing, and whether there may be more. Does not block after
    /// [`Lifeline::report`].
    pub fn refused_so_far(&mut self) -> (Vec<Refused>, MoreReports) {
        let mut found = Vec::new();
        loop {
            match self.report.read_until(b'\n', &mut self.part) {
                Ok(0) => return (found, MoreReports::Never),
                Ok(_) => {
                    let told = serde_json::from_slice(&std::mem::take(&mut self.part));
                    found.extend(told.ok().and_then(refused));
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return (found, MoreReports::Later),
                Err(_) => return (found, MoreReports::Never),
            }
        }
    }
}

/// Whether more may be reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MoreReports {
    /// There may be more.
    Later,
    /// The reporter has ended.
    Never,
}

fn refused(told: LauncherReport) -> Option<Refused> {
    match told {
        LauncherReport::Refused { path, access, socket } => Some(Refused { path: text(&path).into(), access, socket }),
        LauncherReport::Confined { .. } | LauncherReport::Failed { .. } => None,
    }
}

fn next(report: &mut impl BufRead) -> Option<LauncherReport> {
    let mut line = Vec::new();
    report.read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

fn prepare(error: rustix::io::Errno) -> StartError {
    StartError::Prepare(error.into())
}

fn open_place(rule: &Rule) -> OpenPlace {
    let given = match rule.kind {
        RootKind::Directory => rights::of_directory(rule.access),
        RootKind::File => rights::of_file(rule.access),
    };
    OpenPlace { place: bytes(&rule.place), handle: rule.handle.as_raw_fd(), rights: given.bits() }
}
