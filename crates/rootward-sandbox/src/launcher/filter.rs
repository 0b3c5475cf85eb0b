//! The system call filter: closes what Landlock leaves open.
//!
//! Some calls are always refused, some depending on their arguments, and some are sent to the supervisor, which makes
//! them within the rules. Calls that newer kernels add are refused until they have been reviewed.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use super::dispatch::{Fate, IF_EQUAL, IF_GREATER, LOAD, RETURN, by_number, statement};
use crate::options::{Network, OwnProc, Processes, Trace};
use crate::orders::{Orders, UnixOrders};
use crate::sys;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the system call filter only supports x86_64 and aarch64");

/// The last call of Linux 6.18 (`file_setattr`). Later ones have not been reviewed.
const LAST_KNOWN: u32 = 469;

/// This architecture (linux/audit.h).
const ARCHITECTURE: u32 = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };

// Calls that the `libc` crate does not name yet; their numbers are the same on all architectures.
const FCHMODAT2: c_long = 452;
const SETXATTRAT: c_long = 463;
const GETXATTRAT: c_long = 464;
const LISTXATTRAT: c_long = 465;
const REMOVEXATTRAT: c_long = 466;
const OPEN_TREE_ATTR: c_long = 467;
const FILE_GETATTR: c_long = 468;
const FILE_SETATTR: c_long = 469;

/// Refused with `EPERM`, whatever their arguments.
const FORBIDDEN: &[c_long] = &[
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    // Other processes: their memory, descriptors and state.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // Files by number instead of path, which Landlock does not see; file attributes by path.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    FILE_GETATTR,
    FILE_SETATTR,
    // Watching whole file systems.
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_syslog,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    libc::SYS_lookup_dcookie,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS__sysctl,
];

/// Refused with `ENOSYS`, so that programs behave as on kernels without them.
const ABSENT: &[c_long] = &[
    // Makes other calls that bypass the filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Their arguments are in memory, which a filter cannot read: namespace flags, the set-user-ID bit.
    libc::SYS_clone3,
    libc::SYS_openat2,
    // Memory, semaphores and queues that belong to no directory.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Extended attributes, which Landlock does not check: refused with `EOPNOTSUPP`, as on file systems without them.
const ATTRIBUTES: &[c_long] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    GETXATTRAT,
    LISTXATTRAT,
    REMOVEXATTRAT,
];

/// Sent to the supervisor: they change what Landlock does not check, or watch what may not be listed.
const BROKERED: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_inotify_add_watch,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// Also sent to the supervisor if it supervises unix sockets: a filter cannot see the family of a descriptor.
const SUPERVISED: &[c_long] = &[libc::SYS_connect, libc::SYS_listen];

/// Also sent to the supervisor while tracing, and if every process may read its own files in `/proc`, which the
/// supervisor opens itself. It lets all other calls continue, and the kernel decides. `openat2` is absent.
const OPENING: &[c_long] = &[
    libc::SYS_openat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
];

/// Also sent to the supervisor while tracing; it lets them continue, and the kernel decides.
const TRACED: &[c_long] = &[
    libc::SYS_execve,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_truncate,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
];

/// Also refused with `EPERM` where a command is one process. `clone` is judged by its flags, and `clone3` is absent.
#[cfg(target_arch = "x86_64")]
const FORKS: &[c_long] = &[libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const FORKS: &[c_long] = &[];

/// Whether a call opens a file.
pub(crate) fn is_opening(number: i64) -> bool {
    OPENING.contains(&number)
}

/// Whether a call is only traced.
pub(crate) fn is_traced(number: i64) -> bool {
    TRACED.contains(&number)
}

/// Terminal commands that type for the user or take over the terminal, and file system commands that change a file's
/// attributes through a read-only descriptor (`ioctl_tty(2)`, linux/fs.h, linux/fsverity.h, linux/fscrypt.h).
const COMMANDS: &[u64] = &[
    0x5412,      // TIOCSTI
    0x541c,      // TIOCLINUX
    0x541d,      // TIOCCONS
    0x5423,      // TIOCSETD
    0x4008_6602, // FS_IOC_SETFLAGS
    0x4004_6602, // FS_IOC32_SETFLAGS
    0x4008_7602, // FS_IOC_SETVERSION
    0x4008_6604, // EXT4_IOC_SETVERSION_OLD
    0x401c_5820, // FS_IOC_FSSETXATTR
    0x4004_7211, // FAT_IOCTL_SET_ATTRIBUTES
    0x4080_6685, // FS_IOC_ENABLE_VERITY
    0x800c_6613, // FS_IOC_SET_ENCRYPTION_POLICY
];

/// The type of btrfs commands, which create and remove directories through a read-only descriptor (linux/btrfs.h), and
/// the commands of that type that every file system supports: they share blocks with a file that is open for writing
/// (linux/fs.h).
const BTRFS: u64 = 0x9400;
const CLONES: &[u64] = &[
    0x4004_9409, // FICLONE
    0x4020_940d, // FICLONERANGE
    0xc018_9436, // FIDEDUPERANGE
];

/// `SOCK_PACKET`: raw network frames, obsolete but still supported (linux/net.h).
const SOCK_PACKET: i32 = 10;

/// Flags of `clone(2)` that create a namespace.
const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Rules by the number of their call; a call without rules always matches.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

// Actions for the kernel (linux/seccomp.h).
const ALLOW: u32 = 0x7fff_0000;
const ASK: u32 = 0x7fc0_0000;
const KILL_PROCESS: u32 = 0x8000_0000;

/// Makes a call fail with this error.
const fn failing(error: i32) -> u32 {
    0x0005_0000 | error.cast_unsigned()
}

/// The compiled filter.
#[derive(Debug)]
pub(super) struct Filter(BpfProgram);

impl Filter {
    pub(super) fn compile(orders: &Orders) -> Result<Filter, seccompiler::Error> {
        let mut fates: BTreeMap<u32, Fate> = BTreeMap::new();
        let lists = [
            (FORBIDDEN, failing(libc::EPERM)),
            (ABSENT, failing(libc::ENOSYS)),
            (ATTRIBUTES, failing(libc::EOPNOTSUPP)),
            (BROKERED, ASK),
            (supervised(orders), ASK),
            (opening(orders), ASK),
            (if orders.trace == Trace::On { TRACED } else { &[] }, ASK),
            (if orders.processes == Processes::One { FORKS } else { &[] }, failing(libc::EPERM)),
        ];
        for (calls, action) in lists {
            fates.extend(calls.iter().map(|call| (number(*call), Fate::Always(action))));
        }
        for (rules, error) in [(by_argument(orders)?, libc::EPERM), (sockets(orders)?, libc::EACCES)] {
            for (call, rules) in rules {
                // If no rule matches, the call's list decides.
                let rest = match fates.get(&number(call)) {
                    Some(Fate::Always(action)) => *action,
                    _ => ALLOW,
                };
                fates.insert(number(call), judged(call, rules, error, rest)?);
            }
        }
        let fates: Vec<_> = fates.into_iter().collect();
        let mut program = doorstep();
        program.extend(by_number(&fates, &Fate::Always(ALLOW)));
        Ok(Filter(program))
    }

    /// Installs the filter; returns the descriptor on which the kernel asks about calls.
    pub(super) fn install(&self) -> io::Result<OwnedFd> {
        sys::install_filter(&self.0)
    }
}

/// The calls that open files, if the supervisor handles them.
fn opening(orders: &Orders) -> &'static [c_long] {
    match (orders.trace, orders.own_proc) {
        (Trace::Off, OwnProc::FirstProcess) => &[],
        (Trace::On, _) | (_, OwnProc::EveryProcess) => OPENING,
    }
}

/// The socket calls that the supervisor makes for the command.
fn supervised(orders: &Orders) -> &'static [c_long] {
    match orders.unix_sockets {
        // SECURITY: another thread can replace a descriptor after any check, so the kernel never connects for a command
        // that can have unix sockets (test: a_descriptor_that_is_swapped_reaches_no_listener_outside)
        UnixOrders::Supervised { .. } => SUPERVISED,
        UnixOrders::Closed | UnixOrders::Open => &[],
    }
}

fn number(call: c_long) -> u32 {
    // No call has a number that does not fit; one that did would be refused as unknown.
    u32::try_from(call).unwrap_or(u32::MAX)
}

/// The decision for a call that fails if any of its rules matches, and otherwise gets `rest`.
fn judged(call: c_long, rules: Vec<SeccompRule>, error: i32, rest: u32) -> Result<Fate, seccompiler::Error> {
    if rules.is_empty() {
        return Ok(Fate::Always(failing(error)));
    }
    let target = if cfg!(target_arch = "x86_64") { TargetArch::x86_64 } else { TargetArch::aarch64 };
    let action = SeccompAction::Errno(error.cast_unsigned());
    let filter = SeccompFilter::new(Rules::from([(call, rules)]), SeccompAction::Allow, action, target)?;
    let mut program = BpfProgram::try_from(filter)?;
    // The compiler does not support the action that asks, so replace the one that allows.
    for passing in program.iter_mut().filter(|statement| statement.code == RETURN && statement.k == ALLOW) {
        passing.k = rest;
    }
    Ok(Fate::Judged(program))
}

/// A condition on the lower half of an argument: the kernel uses no more of an `int`, so the upper half could deceive a
/// check of the whole argument.
fn on(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::Error> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?)
}

fn all(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, seccompiler::Error> {
    Ok(SeccompRule::new(conditions)?)
}

/// Calls that are refused because of their arguments.
fn by_argument(orders: &Orders) -> Result<Rules, seccompiler::Error> {
    let mut rules = Rules::new();
    let flag = |argument, flag: i32| on(argument, SeccompCmpOp::MaskedEq(bits(flag)), bits(flag));
    if orders.processes == Processes::One {
        // SECURITY: a second process would have limits of its own and would not hear the signals to the first
        // (test: a_command_that_is_one_process_starts_no_other)
        let no_thread = on(0, SeccompCmpOp::MaskedEq(bits(libc::CLONE_THREAD)), 0)?;
        rules.entry(libc::SYS_clone).or_default().push(all(vec![no_thread])?);
    }
    for namespace in NAMESPACES {
        rules.entry(libc::SYS_clone).or_default().push(all(vec![flag(0, *namespace)?])?);
    }
    for command in COMMANDS {
        rules.entry(libc::SYS_ioctl).or_default().push(all(vec![on(1, SeccompCmpOp::Eq, *command)?])?);
    }
    // SECURITY: Landlock does not check directories that are created by an ioctl (test: a_hostile_child_is_held)
    let mut btrfs = vec![on(1, SeccompCmpOp::MaskedEq(0xff00), BTRFS)?];
    for clone in CLONES {
        btrfs.push(on(1, SeccompCmpOp::Ne, *clone)?);
    }
    rules.entry(libc::SYS_ioctl).or_default().push(all(btrfs)?);
    // The command may renew the tie to the supervisor but not remove it.
    let tie = on(0, SeccompCmpOp::Eq, bits(libc::PR_SET_PDEATHSIG))?;
    let other = SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, bits(libc::SIGKILL))?;
    rules.insert(libc::SYS_prctl, vec![all(vec![tie, other])?]);
    // Low limits would kill another process of the same user.
    rules.insert(libc::SYS_prlimit64, vec![all(vec![on(0, SeccompCmpOp::Ne, 0)?])?]);
    // SECURITY: a set-user-ID file would give the superuser's rights, outside the sandbox, to anyone who runs it
    // (test: no_file_is_made_that_sets_the_user_id)
    for set_id in [libc::S_ISUID, libc::S_ISGID] {
        let set_id = i32::try_from(set_id).unwrap_or(0);
        let opening = |flags: u8, mode: u8| {
            let make = all(vec![flag(flags, libc::O_CREAT)?, flag(mode, set_id)?])?;
            let unnamed = all(vec![flag(flags, libc::O_TMPFILE)?, flag(mode, set_id)?])?;
            Ok::<_, seccompiler::Error>([make, unnamed])
        };
        rules.entry(libc::SYS_openat).or_default().extend(opening(2, 3)?);
        rules.entry(libc::SYS_mknodat).or_default().push(all(vec![flag(2, set_id)?])?);
        #[cfg(target_arch = "x86_64")]
        {
            rules.entry(libc::SYS_open).or_default().extend(opening(1, 2)?);
            rules.entry(libc::SYS_creat).or_default().push(all(vec![flag(1, set_id)?])?);
            rules.entry(libc::SYS_mknod).or_default().push(all(vec![flag(1, set_id)?])?);
        }
    }
    Ok(rules)
}

fn bits(flag: i32) -> u64 {
    u64::from(flag.cast_unsigned())
}

/// The sockets that are refused.
fn sockets(orders: &Orders) -> Result<Rules, seccompiler::Error> {
    let ne = |argument, value: i32| on(argument, SeccompCmpOp::Ne, bits(value));
    let eq = |argument, value: i32| on(argument, SeccompCmpOp::Eq, bits(value));
    let kind = |value: i32| on(1, SeccompCmpOp::MaskedEq(0xf), bits(value));
    let mut pairs = vec![all(vec![ne(0, libc::AF_UNIX)?])?];
    if orders.unix_sockets != UnixOrders::Open {
        // SECURITY: unlike other kinds, a datagram pair can still send elsewhere, and the kernel treats a raw pair as
        // one (test: a_hostile_child_is_held)
        pairs.push(all(vec![kind(libc::SOCK_DGRAM)?])?);
        pairs.push(all(vec![kind(libc::SOCK_RAW)?])?);
    }
    let mut rules = Rules::from([(libc::SYS_socketpair, pairs)]);
    let mut families = Vec::new();
    if orders.network == Network::On {
        // Resolvers sort addresses by the kernel's routes.
        families.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]);
    }
    if orders.unix_sockets != UnixOrders::Closed {
        families.push(libc::AF_UNIX);
    }
    let mut refused = Vec::new();
    if matches!(orders.unix_sockets, UnixOrders::Supervised { .. }) {
        // SECURITY: datagrams are sent to a path without `connect`, so the supervisor would not see them
        // (test: datagrams_are_closed)
        refused.push(all(vec![eq(0, libc::AF_UNIX)?, kind(libc::SOCK_DGRAM)?])?);
    }
    if !families.is_empty() {
        refused.push(all(families.iter().map(|family| ne(0, *family)).collect::<Result<_, _>>()?)?);
        refused.push(all(vec![eq(0, libc::AF_NETLINK)?, ne(2, libc::NETLINK_ROUTE)?])?);
        refused.push(all(vec![ne(0, libc::AF_NETLINK)?, kind(libc::SOCK_RAW)?])?);
        refused.push(all(vec![kind(SOCK_PACKET)?])?);
    }
    // Without rules, all are refused.
    rules.insert(libc::SYS_socket, refused);
    Ok(rules)
}

/// Comes first: calls of another architecture end the process, and calls after the last known one do not exist. This
/// includes the x32 calls.
fn doorstep() -> BpfProgram {
    // SECURITY: the same number means a different call on another architecture, and an unreviewed call may do anything
    // (test: calls_of_other_architectures_kill_and_unknown_calls_do_not_exist)
    vec![
        statement(LOAD, 0, 0, 4),
        statement(IF_EQUAL, 1, 0, ARCHITECTURE),
        statement(RETURN, 0, 0, KILL_PROCESS),
        statement(LOAD, 0, 0, 0),
        statement(IF_GREATER, 0, 1, LAST_KNOWN),
        statement(RETURN, 0, 0, failing(libc::ENOSYS)),
    ]
}

#[cfg(test)]
mod tests;
