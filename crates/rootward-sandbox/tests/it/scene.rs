//! A scene: shared and unshared directories, and processes and sockets of the same user to attack.

#![expect(unsafe_code, reason = "a shared memory segment needs raw system calls")]

use std::ffi::OsStr;
use std::fs;
use std::io::{Seek, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rootward_testkit::snapshot::Snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The program that plays host and child. For tests that run as another user, a variable says where that user finds it.
pub(crate) fn stage() -> PathBuf {
    std::env::var_os(STAGE).map_or_else(|| env!("CARGO_BIN_EXE_sandbox-stage").into(), PathBuf::from)
}

/// The variable with the program's path.
pub(crate) const STAGE: &str = "ROOTWARD_TEST_STAGE";

pub(crate) struct Scene {
    pub(crate) directory: TempDir,
    victim: Child,
    segment: i32,
    tcp: TcpListener,
    _udp: UdpSocket,
    _sockets: (UnixListener, UnixDatagram, UnixListener),
    name: String,
    before: Snapshot,
}

impl Scene {
    pub(crate) fn new() -> Scene {
        let directory = tempfile::Builder::new().prefix("scene-").tempdir().unwrap();
        let top = directory.path().to_owned();
        for name in ["inside", "read-only", "outside"] {
            fs::create_dir(top.join(name)).unwrap();
        }
        fs::write(top.join("read-only/file"), "inside").unwrap();
        for name in ["secret.txt", "kept.txt", "truncated.txt", "removed.txt", "moved.txt"] {
            fs::write(top.join("outside").join(name), "SECRET").unwrap();
        }
        let attribute = rustix::fs::XattrFlags::empty();
        rustix::fs::setxattr(top.join("outside/kept.txt"), c"user.kept", b"SECRET", attribute).unwrap();
        symlink("SECRET", top.join("outside/a-link")).unwrap();
        fs::copy("/bin/true", top.join("outside/program")).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind(tcp.local_addr().unwrap()).unwrap();
        let name = top.file_name().unwrap().to_str().unwrap().to_owned();
        let abstracted = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let sockets = (
            UnixListener::bind(top.join("outside/socket")).unwrap(),
            UnixDatagram::bind(top.join("outside/datagrams")).unwrap(),
            abstracted,
        );
        let victim = Command::new("sleep").arg("1000").env("TOKEN", "SECRET").spawn().unwrap();
        let segment = i32::try_from(victim.id()).unwrap();
        // SAFETY: the call takes numbers only.
        assert!(unsafe { libc::shmget(segment, 4096, libc::IPC_CREAT | 0o600) } >= 0, "no shared memory");
        let before = Snapshot::take(&top.join("outside")).unwrap();
        Scene { directory, victim, segment, tcp, _udp: udp, _sockets: sockets, name, before }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn victim(&self) -> u32 {
        self.victim.id()
    }

    /// The spec of the attacker.
    pub(crate) fn target(&self) -> String {
        json!({
            "inside": self.path("inside"),
            "read_only": self.path("read-only"),
            "outside": self.path("outside"),
            "victim": self.victim.id(),
            "segment": self.segment,
            "port": self.tcp.local_addr().unwrap().port(),
            "name": self.name,
        })
        .to_string()
    }

    /// Checks that nothing outside was changed.
    pub(crate) fn assert_untouched(&mut self) {
        let after = Snapshot::take(&self.path("outside")).unwrap();
        assert_eq!(self.before.differences(&after), [], "something outside was changed");
        assert!(self.victim.try_wait().unwrap().is_none(), "the victim was ended");
        let epoch = std::time::SystemTime::UNIX_EPOCH;
        for file in ["outside/kept.txt", "read-only/file"] {
            assert_ne!(fs::metadata(self.path(file)).unwrap().modified().unwrap(), epoch, "{file}");
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // SAFETY: both calls take numbers, and removing needs no structure.
        unsafe {
            let segment = libc::shmget(self.segment, 0, 0);
            libc::shmctl(segment, libc::IPC_RMID, std::ptr::null_mut());
        }
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// A terminal: the program's end, and the other end, which the caller must keep open.
pub(crate) fn terminal() -> (OwnedFd, OwnedFd) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
    (rustix::fs::open(name, flags, rustix::fs::Mode::empty()).unwrap(), master)
}

/// A host that confines the command in its arguments.
pub(crate) fn host(spec: &Value) -> Command {
    let mut command = Command::new(stage());
    command.arg("host").arg(spec.to_string()).stdin(Stdio::null()).env("TOKEN", "SECRET");
    // Keep the record of the person who runs the tests free of test directories.
    let user = rustix::process::getuid().as_raw();
    command.env("XDG_STATE_HOME", std::env::temp_dir().join(format!("rootward-test-state-{user}")));
    command
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a command, confined according to the spec.
pub(crate) fn run<A: AsRef<OsStr>>(spec: &Value, command: impl IntoIterator<Item = A>) -> Run {
    finish(host(spec).args(command))
}

pub(crate) fn finish(command: &mut Command) -> Run {
    command.output().unwrap().into()
}

/// The same with input.
pub(crate) fn feed(command: &mut Command, input: &[u8]) -> Run {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input).unwrap();
    file.rewind().unwrap();
    finish(command.stdin(file))
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// A root as typed.
pub(crate) fn root(path: &Path, access: &str) -> String {
    format!("{}:{access}", path.display())
}
