//! The system calls that no crate wraps safely. All `unsafe` code of the workspace is in this file.
//!
//! Each function says why its call is sound for every argument that safe code can give it.

#![expect(unsafe_code, reason = "calls for which neither std nor rustix has a safe wrapper")]

use std::ffi::{CString, NulError};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::Pid;
use seccompiler::sock_filter;

/// Which of the two processes this is.
pub(crate) enum Forked {
    /// The old one, with the id of the new one.
    Parent(Pid),
    /// The new one.
    Child,
}

/// Forks this process. Only for a process with one thread: there, the copy may do anything.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: no memory is passed. The only caller is the launcher, which never starts a thread, so no lock is held by
    // a thread that the copy lacks.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        child => Ok(Pid::from_raw(child).map_or(Forked::Child, Forked::Parent)),
    }
}

/// Starts a copy of this process that has the command's standard input, output and error, and runs `act` instead of
/// becoming the command. `None` if this process has other threads: a copy does not have them, but may have a lock that
/// one of them held.
#[expect(clippy::disallowed_methods, reason = "this process's own list of threads")]
pub(crate) fn spawn_copy(
    command: &mut Command,
    mut act: impl FnMut() -> i32 + Send + Sync + 'static,
) -> Option<io::Result<Child>> {
    // The links of this directory are its threads, itself and its parent (proc(5)).
    let links = rustix::fs::stat(c"/proc/self/task").ok()?.st_nlink;
    if links != 3 {
        return None;
    }
    // SAFETY: this process has only the current thread, so none holds a lock, and no other can be started before the
    // copy is made: the copy may do anything. It never returns to the code that would execute the command.
    unsafe { command.pre_exec(move || exit(act())) };
    Some(command.spawn())
}

/// Ends this process at once. The copy must not flush buffers: the original writes them.
pub(crate) fn exit(code: i32) -> ! {
    // SAFETY: no memory is passed, and nothing of this process runs afterwards.
    unsafe { libc::_exit(code) }
}

/// Makes writing to a closed pipe an error, as in every Rust program.
pub(crate) fn ignore_broken_pipes() {
    // SAFETY: no memory is passed, and ignoring runs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// Lets a command inherit these descriptors under their own numbers. They stay close-on-exec in this process.
pub(crate) fn inherit(command: &mut Command, descriptors: Vec<RawFd>) {
    let hand_over = move || {
        for descriptor in &descriptors {
            // SAFETY: runs between fork and exec. The number was open when the command was created; if its owner closed
            // it since, the call fails with EBADF and so does the start.
            fcntl_setfd(unsafe { BorrowedFd::borrow_raw(*descriptor) }, FdFlags::empty())?;
        }
        Ok(())
    };
    // SAFETY: `fcntl(2)` is async-signal-safe, and the closure allocates nothing.
    unsafe { command.pre_exec(hand_over) };
}

/// Makes a command end with this process, and unblocks its signals.
pub(crate) fn tie(command: &mut Command) -> &mut Command {
    let host = rustix::process::getpid();
    let tie = move || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // The host may have ended before the tie was made.
        if rustix::process::getppid() != Some(host) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        unblock_signals()
    };
    // SAFETY: `prctl(2)`, `getppid(2)` and `sigprocmask(2)` are called between fork and exec, and allocate nothing.
    unsafe { command.pre_exec(tie) }
}

/// Takes a descriptor that this process inherited.
pub(crate) fn take(descriptor: RawFd) -> io::Result<OwnedFd> {
    // The standard three belong to std.
    if descriptor < 3 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the number came with the orders, from the process that passed on the descriptor; each is taken once, and
    // marking it first fails if it is not open. A copy of the host never returns to the code that owned it there.
    unsafe {
        fcntl_setfd(BorrowedFd::borrow_raw(descriptor), FdFlags::CLOEXEC)?;
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

/// A program with its arguments, environment and start directory, ready to execute.
#[derive(Debug)]
pub(crate) struct Execution {
    program: CString,
    arguments: Vec<CString>,
    variables: Vec<CString>,
    directory: CString,
}

impl Execution {
    /// Fails if a text contains a NUL byte, which would end it.
    pub(crate) fn new(
        program: &[u8],
        arguments: impl Iterator<Item = Vec<u8>>,
        variables: impl Iterator<Item = Vec<u8>>,
        directory: &[u8],
    ) -> Result<Execution, NulError> {
        Ok(Execution {
            program: CString::new(program)?,
            arguments: arguments.map(CString::new).collect::<Result<_, _>>()?,
            variables: variables.map(CString::new).collect::<Result<_, _>>()?,
            directory: CString::new(directory)?,
        })
    }

    /// Becomes the program; returns only on error.
    #[expect(
        clippy::disallowed_methods,
        reason = "where the program starts; this process has one thread, and ends here"
    )]
    pub(crate) fn execute(&self, start: Option<&OwnedFd>) -> io::Error {
        let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
            texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
        };
        let (arguments, variables) = (pointers(&self.arguments), pointers(&self.variables));
        let started = match start {
            Some(handle) => rustix::process::fchdir(handle),
            None => rustix::process::chdir(&self.directory),
        };
        if let Err(error) = started {
            return error.into();
        }
        // SAFETY: both lists end in a null pointer, and every other pointer is to a NUL-terminated text that `self`
        // keeps. The handler for broken pipes is reset to what a new program expects.
        unsafe {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            libc::execvpe(self.program.as_ptr(), arguments.as_ptr(), variables.as_ptr());
        }
        io::Error::last_os_error()
    }
}

/// Closes every descriptor above the standard three, except those in `kept`.
pub(crate) fn close_all_but(kept: &[RawFd]) -> io::Result<()> {
    let mut kept: Vec<u32> = kept.iter().filter_map(|number| u32::try_from(*number).ok()).collect();
    kept.sort_unstable();
    let mut first = 3;
    for number in kept {
        if number > first {
            close_range(first, number - 1, 0)?;
        }
        first = first.max(number + 1);
    }
    close_range(first, u32::MAX, 0)
}

/// Marks every descriptor above the standard three to be closed by the next exec.
pub(crate) fn close_on_exec() -> io::Result<()> {
    close_range(3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC)
}

fn close_range(first: u32, last: u32, flags: u32) -> io::Result<()> {
    // SAFETY: no memory is passed. The launcher calls it before it takes any descriptor, so no owner loses one; owners
    // in the host that it is a copy of are never used.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Blocks these signals and delivers them through a descriptor (`signalfd(2)`).
pub(crate) fn signals(numbers: &[i32]) -> io::Result<OwnedFd> {
    // SAFETY: the set is plain data, initialized by `sigemptyset`; the calls read it and write nothing else.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for number in numbers {
            libc::sigaddset(&raw mut set, *number);
        }
        if libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        match libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

/// Unblocks all signals, as a new program expects.
pub(crate) fn unblock_signals() -> io::Result<()> {
    // SAFETY: as above; the set stays empty.
    let result = unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut())
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sends a signal by number.
pub(crate) fn signal(process: Pid, number: i32) -> io::Result<()> {
    // SAFETY: no memory is passed, and a `Pid` is above zero: one process, never a group.
    if unsafe { libc::kill(process.as_raw_pid(), number) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Kills every process that this one may signal, except itself.
pub(crate) fn kill_all_others() {
    // SAFETY: no memory is passed. The caller must make sure that the kernel limits which processes it reaches: see
    // `Realm`.
    let _ = unsafe { libc::kill(-1, libc::SIGKILL) };
}

/// Installs a system call filter and returns the descriptor on which the kernel asks about calls.
pub(crate) fn install_filter(program: &[sock_filter]) -> io::Result<OwnedFd> {
    let length = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let filter = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut().cast() };
    // A signal must not interrupt a call that the supervisor has started: it would be made twice.
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    // SAFETY: the kernel copies the program, whose length is that of the slice; `sock_filter` of seccompiler and of
    // libc are the same C structure. It writes nothing to this process.
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, std::ptr::from_ref(&filter)) };
    match RawFd::try_from(result) {
        // SAFETY: the kernel has just created this descriptor for the caller.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Calls `unshare` without naming a namespace: without a filter this succeeds and changes nothing.
pub(crate) fn unshare_nothing() -> Result<(), Errno> {
    // SAFETY: no memory is passed, and flags of 0 unshare nothing.
    let result = unsafe { libc::unshare(0) };
    if result == 0 { Ok(()) } else { Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)) }
}

/// Connects a socket to an address of any family.
pub(crate) fn connect(socket: BorrowedFd<'_>, address: &[u8]) -> Result<(), Errno> {
    let length = libc::socklen_t::try_from(address.len()).map_err(|_| Errno::INVAL)?;
    // SAFETY: the kernel reads exactly the bytes of the slice.
    let result = unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) };
    if result == 0 { Ok(()) } else { Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)) }
}

/// The address that a socket is bound to. The safe wrapper panics on some addresses that a hostile program can bind.
pub(crate) fn bound_address(socket: BorrowedFd<'_>) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0_u8; 128];
    let mut length: libc::socklen_t = 128;
    // SAFETY: the kernel writes no more bytes than the length says, which is that of the vector, and a length.
    let result = unsafe { libc::getsockname(socket.as_raw_fd(), bytes.as_mut_ptr().cast(), &raw mut length) };
    if result != 0 {
        return Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO));
    }
    bytes.truncate(usize::try_from(length).unwrap_or(0));
    Ok(bytes)
}

/// A system call that waits for an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notification {
    pub(crate) id: u64,
    /// The calling thread.
    pub(crate) thread: Pid,
    pub(crate) number: i64,
    pub(crate) arguments: [u64; 6],
}

// `_IOWR('!', 0, struct seccomp_notif)` and its like (linux/seccomp.h).
const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
const STILL_VALID: libc::c_ulong = 0x4008_2102;
const ADD_DESCRIPTOR: libc::c_ulong = 0x4018_2103;

/// The next waiting call. `None` if it ended meanwhile.
pub(crate) fn receive(listener: BorrowedFd<'_>) -> io::Result<Option<Notification>> {
    // SAFETY: the structure is plain data that must be zero on entry (seccomp_unotify(2)); the kernel fills exactly it.
    let received = unsafe {
        let mut received: libc::seccomp_notif = std::mem::zeroed();
        if libc::ioctl(listener.as_raw_fd(), RECEIVE, &raw mut received) != 0 {
            let error = io::Error::last_os_error();
            return match Errno::from_io_error(&error) {
                Some(Errno::NOENT | Errno::INTR | Errno::AGAIN) => Ok(None),
                _ => Err(error),
            };
        }
        received
    };
    let thread = i32::try_from(received.pid).ok().and_then(Pid::from_raw);
    Ok(thread.map(|thread| Notification {
        id: received.id,
        thread,
        number: i64::from(received.data.nr),
        arguments: received.data.args,
    }))
}

/// The answer to a waiting call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reply {
    /// This result, as if the kernel had made the call.
    Done(i64),
    /// This error.
    Failed(Errno),
    /// The kernel makes the call. This is never a permission: what the call names may change before it is made.
    GoOn,
    /// The caller handles its pending signal; then the kernel restarts the call or fails it with `EINTR`, as `signal(7)` says. Only for
    /// callers with a pending signal.
    Interrupted,
}

/// Answers a call. It is not an error if the call ended meanwhile.
pub(crate) fn reply(listener: BorrowedFd<'_>, id: u64, reply: Reply) {
    const CONTINUE: u32 = 1;
    // How code inside the kernel asks for this (linux/errno.h).
    const ERESTARTSYS: i32 = 512;
    let (val, error, flags) = match reply {
        Reply::Done(value) => (value, 0, 0),
        Reply::Failed(error) => (0, -error.raw_os_error(), 0),
        Reply::GoOn => (0, 0, CONTINUE),
        Reply::Interrupted => (0, -ERESTARTSYS, 0),
    };
    let mut response = libc::seccomp_notif_resp { id, val, error, flags };
    // SAFETY: the kernel reads exactly this structure.
    let _ = unsafe { libc::ioctl(listener.as_raw_fd(), SEND, &raw mut response) };
}

/// Whether a call still waits: only then does its thread id still mean that thread.
pub(crate) fn still_waits(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: the kernel reads exactly this number.
    unsafe { libc::ioctl(listener.as_raw_fd(), STILL_VALID, std::ptr::from_ref(&id)) == 0 }
}

/// Whether a descriptor is closed when its process becomes another program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnExec {
    Close,
    Keep,
}

/// Gives the process of a waiting call a copy of a descriptor; returns its number there. Fails if the call no longer
/// waits.
pub(crate) fn add_descriptor(
    listener: BorrowedFd<'_>,
    id: u64,
    descriptor: BorrowedFd<'_>,
    on_exec: OnExec,
) -> Result<i32, Errno> {
    let newfd_flags = match on_exec {
        OnExec::Close => libc::O_CLOEXEC.cast_unsigned(),
        OnExec::Keep => 0,
    };
    let srcfd = descriptor.as_raw_fd().cast_unsigned();
    let added = libc::seccomp_notif_addfd { id, flags: 0, srcfd, newfd: 0, newfd_flags };
    // SAFETY: the kernel reads exactly this structure.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), ADD_DESCRIPTOR, std::ptr::from_ref(&added)) };
    if result >= 0 { Ok(result) } else { Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)) }
}
