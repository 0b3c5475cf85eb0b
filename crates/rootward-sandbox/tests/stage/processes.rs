//! Attacks on other processes: memory, signals, limits, information in `/proc`, and the signal that ends this process
//! with its supervisor.

use std::fs;
use std::io;

use crate::attack::{Attack, call};

pub(crate) const ATTACKS: &[(&str, Attack)] = &[
    ("trace", |target| {
        call!(libc::SYS_ptrace, libc::PTRACE_SEIZE, target.victim, 0, 0)?;
        call!(libc::SYS_ptrace, libc::PTRACE_INTERRUPT, target.victim, 0, 0)?;
        let _ = call!(libc::SYS_wait4, target.victim, 0, libc::__WALL, 0);
        call!(libc::SYS_ptrace, libc::PTRACE_DETACH, target.victim, 0, 0).map(|_| String::new())
    }),
    ("read memory by a call", |target| {
        let mut byte = [0_u8; 1];
        let local = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
        let remote = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 1 };
        // Nothing is mapped at address zero: the error shows whether reading was allowed.
        match call!(libc::SYS_process_vm_readv, target.victim, &raw const local, 1_u64, &raw const remote, 1_u64, 0_u64)
        {
            Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Ok(String::new()),
            other => other.map(|_| String::new()),
        }
    }),
    ("read memory", |target| fs::File::open(format!("/proc/{}/mem", target.victim)).map(|_| String::new())),
    ("read the environment", |target| fs::read_to_string(format!("/proc/{}/environ", target.victim))),
    ("read the command line", |target| fs::read_to_string(format!("/proc/{}/cmdline", target.victim))),
    ("take a descriptor", |target| {
        let process = call!(libc::SYS_pidfd_open, target.victim, 0)?;
        call!(libc::SYS_pidfd_getfd, process, 0, 0).map(|_| String::new())
    }),
    ("signal", |target| call!(libc::SYS_kill, target.victim, 0).map(|_| String::new())),
    ("signal by descriptor", |target| {
        let process = call!(libc::SYS_pidfd_open, target.victim, 0)?;
        call!(libc::SYS_pidfd_send_signal, process, 0, 0, 0).map(|_| String::new())
    }),
    ("signal the parent", |_| call!(libc::SYS_kill, std::os::unix::process::parent_id(), 0).map(|_| String::new())),
    ("limit", |target| {
        let mut old = [0_u64; 2];
        call!(libc::SYS_prlimit64, target.victim, libc::RLIMIT_NOFILE, 0, old.as_mut_ptr()).map(|_| String::new())
    }),
    ("loosen the tie to the supervisor", |_| {
        call!(libc::SYS_prctl, libc::PR_SET_PDEATHSIG, 0, 0, 0, 0).map(|_| String::new())
    }),
    ("gain privileges", |_| {
        // SAFETY: the call takes numbers only.
        let new = unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) };
        if new == 0 { Ok(String::new()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }),
    ("hold privileges over the system", |_| {
        let have = rustix::thread::capabilities(None)?.permitted;
        let files = rustix::thread::CapabilitySet::CHOWN
            | rustix::thread::CapabilitySet::DAC_OVERRIDE
            | rustix::thread::CapabilitySet::FOWNER
            | rustix::thread::CapabilitySet::FSETID;
        if have.difference(files).is_empty() { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(String::new()) }
    }),
    ("attach shared memory", |target| {
        let segment = call!(libc::SYS_shmget, target.segment, 0, 0)?;
        call!(libc::SYS_shmat, segment, 0, libc::SHM_RDONLY).map(|_| String::new())
    }),
    ("open shared memory with a name", |_| fs::read_dir("/dev/shm").map(|_| String::new())),
    ("change the scheduling of others", |target| {
        // The lowest priority: an ordinary user cannot raise one, and the victim may have any.
        call!(libc::SYS_setpriority, libc::PRIO_PROCESS, target.victim, 19).map(|_| String::new())
    }),
];
