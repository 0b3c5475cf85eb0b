//! Attacks with system calls that bypass Landlock, or reach into the kernel.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode};

use crate::attack::{Attack, call};

pub(crate) const ATTACKS: &[(&str, Attack)] = &[
    ("new namespaces", |_| call!(libc::SYS_unshare, 0).map(|_| String::new())),
    ("a process in new namespaces", |_| {
        forked(|| call!(libc::SYS_clone, libc::CLONE_NEWUSER | libc::SIGCHLD, 0, 0, 0, 0))
    }),
    ("a process in new namespaces, by the new call", |_| {
        forked(|| {
            let mut arguments = [0_u64; 11];
            arguments[0] = u64::from(libc::CLONE_NEWUSER.cast_unsigned());
            arguments[4] = u64::from(libc::SIGCHLD.cast_unsigned());
            call!(libc::SYS_clone3, arguments.as_ptr(), 88)
        })
    }),
    ("mount", |target| {
        let path = std::ffi::CString::new(target.inside.to_str().unwrap_or_default())?;
        call!(libc::SYS_mount, c"none".as_ptr(), path.as_ptr(), c"tmpfs".as_ptr(), 0, 0)?;
        call!(libc::SYS_umount2, path.as_ptr(), libc::MNT_DETACH).map(|_| String::new())
    }),
    ("change the top", |_| forked(|| call!(libc::SYS_chroot, c"/".as_ptr()))),
    ("a ring of calls", |_| {
        let mut parameters = [0_u64; 15];
        call!(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()).map(|_| String::new())
    }),
    // The kernel asks the newest filter that has a listener: with its own listener, a process could answer for the
    // supervisor.
    ("answer for the supervisor", |_| {
        forked(|| {
            // SAFETY: the call takes numbers.
            unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
            let mut allow = libc::sock_filter { code: 6, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW };
            let program = libc::sock_fprog { len: 1, filter: &raw mut allow };
            let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
            call!(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
        })
    }),
    ("keys", |_| call!(libc::SYS_keyctl, 0, -3, 0).map(|_| String::new())),
    ("count events", |_| {
        // PERF_TYPE_SOFTWARE, only for this process.
        let mut attributes = [0_u64; 16];
        attributes[0] = 1 | 128 << 32;
        attributes[5] = 1 << 5 | 1 << 6;
        call!(libc::SYS_perf_event_open, attributes.as_ptr(), 0, -1, -1, 0).map(|_| String::new())
    }),
    ("take page faults", |_| call!(libc::SYS_userfaultfd, 1 | libc::O_CLOEXEC).map(|_| String::new())),
    ("a call of another architecture", |_| {
        let ended = Command::new(std::env::current_exe()?).arg("pass").status()?;
        // Killed for the call, and for nothing else.
        if ended.signal() == Some(libc::SIGSYS) {
            Err(io::ErrorKind::PermissionDenied.into())
        } else {
            Ok(String::new())
        }
    }),
    ("a program from memory", |_| {
        let memory = call!(libc::SYS_memfd_create, c"program".as_ptr(), 0)?;
        std::fs::copy("/bin/true", format!("/proc/self/fd/{memory}"))?;
        Command::new(format!("/proc/self/fd/{memory}")).status().map(|_| String::new())
    }),
];

/// Runs something in a separate process, which then ends.
fn forked(act: impl FnOnce() -> io::Result<i64>) -> io::Result<String> {
    // SAFETY: this program has one thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = match act() {
            Ok(_) => 0,
            Err(error) => error.raw_os_error().unwrap_or(1),
        };
        // SAFETY: ends the process.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: the status outlives the call.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    match libc::WEXITSTATUS(status) {
        0 => Ok(String::new()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Makes a harmless call like a program of another architecture.
pub(crate) fn nothing() -> ExitCode {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: number 20 is `getpid` for i386, and changes no memory. If the kernel does not run such programs, this one
    // is ended.
    unsafe {
        std::arch::asm!("int 0x80", inlateout("eax") 20 => _, options(nostack));
    }
    ExitCode::SUCCESS
}
