//! What the filter decides about each system call.

use super::super::dispatch::{Called, outcome};
use super::*;

fn orders(trace: Trace) -> Orders {
    Orders {
        abi: 7,
        open: Vec::new(),
        network: Network::On,
        unix_sockets: UnixOrders::Closed,
        trace,
        own_proc: OwnProc::FirstProcess,
        processes: Processes::Many,
        program: Vec::new(),
        name: Vec::new(),
        arguments: Vec::new(),
        variables: Vec::new(),
        directory: Vec::new(),
        start: None,
        open_files: None,
        private: Vec::new(),
        lifeline: -1,
        report: -1,
    }
}

fn with_sockets() -> Orders {
    Orders { unix_sockets: UnixOrders::Supervised { named: Vec::new(), session: Vec::new() }, ..orders(Trace::Off) }
}

fn fate(filter: &Filter, call: c_long, arguments: &[u64]) -> u32 {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    outcome(&filter.0, Called { number: number(call), architecture: ARCHITECTURE, arguments: all })
}

#[test]
fn calls_of_other_architectures_kill_and_unknown_calls_do_not_exist() {
    let filter = Filter::compile(&orders(Trace::Off)).unwrap();
    let check = |number: u32, architecture: u32, expect: u32| {
        let called = Called { number, architecture, arguments: [0; 6] };
        assert_eq!(outcome(&filter.0, called), expect, "{number:x} {architecture:x}");
    };
    check(0, ARCHITECTURE, ALLOW);
    check(LAST_KNOWN, ARCHITECTURE, failing(libc::EPERM));
    check(LAST_KNOWN + 1, ARCHITECTURE, failing(libc::ENOSYS));
    // x32: the number with bit 30 set.
    check(0x4000_0000, ARCHITECTURE, failing(libc::ENOSYS));
    check(u32::MAX, ARCHITECTURE, failing(libc::ENOSYS));
    // i386.
    check(0, 0x4000_0003, KILL_PROCESS);
}

#[test]
fn no_call_is_in_two_lists() {
    let lists = [FORBIDDEN, ABSENT, ATTRIBUTES, BROKERED, SUPERVISED, OPENING, TRACED, FORKS];
    let mut all: Vec<_> = lists.concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), lists.iter().map(|list| list.len()).sum::<usize>());
    assert!(all.iter().all(|call| *call <= c_long::from(LAST_KNOWN)));
    let judged = by_argument(&orders(Trace::Off)).unwrap();
    assert!(sockets(&orders(Trace::Off)).unwrap().keys().all(|call| !judged.contains_key(call)));
}

#[test]
fn every_listed_call_gets_the_action_of_its_list() {
    for (trace, own_proc) in
        [(Trace::On, OwnProc::FirstProcess), (Trace::Off, OwnProc::FirstProcess), (Trace::Off, OwnProc::EveryProcess)]
    {
        let orders = Orders { own_proc, ..orders(trace) };
        let filter = Filter::compile(&orders).unwrap();
        let judged: Vec<c_long> =
            by_argument(&orders).unwrap().into_keys().chain(sockets(&orders).unwrap().into_keys()).collect();
        for call in 0..=c_long::from(LAST_KNOWN) {
            let expect = match call {
                call if FORBIDDEN.contains(&call) => failing(libc::EPERM),
                call if ABSENT.contains(&call) => failing(libc::ENOSYS),
                call if ATTRIBUTES.contains(&call) => failing(libc::EOPNOTSUPP),
                call if BROKERED.contains(&call) => ASK,
                call if TRACED.contains(&call) && trace == Trace::On => ASK,
                call if opening(&orders).contains(&call) => ASK,
                call if judged.contains(&call) => continue,
                _ => ALLOW,
            };
            assert_eq!(fate(&filter, call, &[]), expect, "{call} {trace:?} {own_proc:?}");
        }
    }
}

#[test]
fn arguments_decide_where_rules_say_so() {
    let (create, set_id) = (bits(libc::O_CREAT), 0o4755);
    let (plain, traced) = (orders(Trace::Off), orders(Trace::On));
    let check = |orders: &Orders, call: c_long, arguments: &[u64], expect: u32| {
        let filter = Filter::compile(orders).unwrap();
        assert_eq!(fate(&filter, call, arguments), expect, "{call} {arguments:x?}");
    };
    check(&plain, libc::SYS_openat, &[0, 0, create, 0o644], ALLOW);
    check(&plain, libc::SYS_openat, &[0, 0, create, set_id], failing(libc::EPERM));
    check(&plain, libc::SYS_openat, &[0, 0, 0, set_id], ALLOW);
    // While tracing, forbidden calls stay forbidden, and the supervisor decides the rest.
    check(&traced, libc::SYS_openat, &[0, 0, create, set_id], failing(libc::EPERM));
    check(&traced, libc::SYS_openat, &[0, 0, create, 0o644], ASK);
    let own = Orders { own_proc: OwnProc::EveryProcess, ..orders(Trace::Off) };
    check(&own, libc::SYS_openat, &[0, 0, create, set_id], failing(libc::EPERM));
    check(&own, libc::SYS_openat, &[0, 0, 0, 0], ASK);
    check(&own, libc::SYS_openat2, &[], failing(libc::ENOSYS));
    check(&own, libc::SYS_execve, &[], ALLOW);
    check(&plain, libc::SYS_clone, &[bits(libc::CLONE_NEWNET)], failing(libc::EPERM));
    check(&plain, libc::SYS_clone, &[bits(libc::CLONE_VM)], ALLOW);
    let one = Orders { processes: Processes::One, ..orders(Trace::Off) };
    for flags in [libc::SIGCHLD, libc::CLONE_VM | libc::CLONE_VFORK, libc::CLONE_PARENT | libc::SIGCHLD] {
        check(&one, libc::SYS_clone, &[bits(flags)], failing(libc::EPERM));
    }
    let thread = bits(libc::CLONE_VM | libc::CLONE_SIGHAND | libc::CLONE_THREAD);
    check(&one, libc::SYS_clone, &[thread], ALLOW);
    check(&one, libc::SYS_clone, &[thread | bits(libc::CLONE_NEWNS)], failing(libc::EPERM));
    check(&one, libc::SYS_clone3, &[], failing(libc::ENOSYS));
    for call in FORKS {
        check(&one, *call, &[], failing(libc::EPERM));
        check(&plain, *call, &[], ALLOW);
    }
    // The upper half of an `int` is ignored.
    check(&plain, libc::SYS_ioctl, &[0, 0x5412], failing(libc::EPERM));
    check(&plain, libc::SYS_ioctl, &[0, 0x1_0000_5412], failing(libc::EPERM));
    check(&plain, libc::SYS_ioctl, &[0, 0x5401], ALLOW);
    check(&plain, libc::SYS_socket, &[bits(libc::AF_UNIX), 1], failing(libc::EACCES));
    check(&plain, libc::SYS_socket, &[bits(libc::AF_INET), 1], ALLOW);
    let off = Orders { network: Network::Off, ..orders(Trace::Off) };
    check(&off, libc::SYS_socket, &[bits(libc::AF_INET), 1], failing(libc::EACCES));
    check(&plain, libc::SYS_connect, &[3], ALLOW);
    let supervised = with_sockets();
    let without_network = Orders { network: Network::Off, ..with_sockets() };
    let open = Orders { unix_sockets: UnixOrders::Open, ..orders(Trace::Off) };
    for (orders, kind, expect) in [
        (&supervised, libc::SOCK_STREAM, ALLOW),
        (&supervised, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, ALLOW),
        (&supervised, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, failing(libc::EACCES)),
        (&supervised, libc::SOCK_RAW, failing(libc::EACCES)),
        (&without_network, libc::SOCK_STREAM, ALLOW),
        (&without_network, libc::SOCK_DGRAM, failing(libc::EACCES)),
        (&open, libc::SOCK_DGRAM, ALLOW),
    ] {
        check(orders, libc::SYS_socket, &[bits(libc::AF_UNIX), bits(kind)], expect);
    }
    for call in SUPERVISED {
        check(&supervised, *call, &[3], ASK);
        check(&open, *call, &[3], ALLOW);
    }
    check(&without_network, libc::SYS_socket, &[bits(libc::AF_INET), 1], failing(libc::EACCES));
    check(&supervised, libc::SYS_socket, &[bits(libc::AF_INET), bits(libc::SOCK_DGRAM)], ALLOW);
}
