//! Kernels without a usable `openat2`, simulated in a separate thread.

use std::collections::BTreeMap;
use std::thread;

use rootward_core::{Access, Code, Origin, Resolver};
use rustix::io::Errno;
use seccompiler::{SeccompAction, SeccompFilter};

use crate::yard::Yard;

/// Runs `test` in a thread where `openat2` fails with `error`.
fn without_openat2(error: Errno, test: impl FnOnce() + Send + 'static) {
    let answer = SeccompAction::Errno(u32::try_from(error.raw_os_error()).unwrap());
    let openat2 = BTreeMap::from([(437, Vec::new())]);
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(openat2, SeccompAction::Allow, answer, arch).unwrap();
    let program: seccompiler::BpfProgram = filter.try_into().unwrap();
    let thread = thread::spawn(move || {
        seccompiler::apply_filter(&program).unwrap();
        test();
    });
    thread.join().unwrap();
}

#[test]
fn a_missing_or_forbidden_openat2_is_noticed() {
    for error in [Errno::NOSYS, Errno::PERM] {
        without_openat2(error, || {
            assert_eq!(Resolver::detect(), Resolver::Walk);
            let yard = Yard::new();
            yard.link("root/in", yard.path("root/a"));
            yard.link("root/out", yard.path("outside"));
            let guard = yard.guard(&["root"]);
            assert!(guard.check("a/b/file.txt", Access::READ).is_ok());
            assert!(guard.check("in/b/file.txt", Access::READ).is_ok());
            assert_eq!(guard.check("out/secret.txt", Access::READ).unwrap_err().code(), Code::SymlinkEscape);
        });
    }
}

#[test]
fn endless_eagain_is_a_refusal() {
    without_openat2(Errno::AGAIN, || {
        assert_eq!(Resolver::detect(), Resolver::Kernel, "the call exists, so there is no weaker fallback");
        let yard = Yard::new();
        yard.link("root/out", yard.path("outside"));
        let guard = yard.guard_by(Resolver::Kernel, Origin::Flag, &["root"]);
        for path in ["a/b/file.txt", "a/../top.txt", "out/secret.txt", "new.txt", "/etc/passwd"] {
            assert!(guard.check(path, Access::READ).is_err(), "{path}");
            assert!(guard.open(path).is_err(), "{path}");
        }
    });
}

#[test]
fn openat2_taken_away_later_is_a_refusal() {
    let yard = Yard::new();
    let guard = yard.guard(&["root"]);
    without_openat2(Errno::NOSYS, move || {
        assert_eq!(guard.resolver(), Resolver::Kernel);
        assert!(guard.check("top.txt", Access::READ).is_err());
        drop(yard);
    });
}
