//! Unix sockets: which listeners a confined command reaches, and that it cannot change the target during the call.

use std::fs;
use std::io::{IoSlice, Read, Write};
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rootward_testkit::tree::is_superuser;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scene::{Run, host, root, run, stage};

/// A shared directory, another one that is not shared, and a listener in each that says which one it is.
struct Harbour {
    directory: TempDir,
    outside: Listening,
    _inside: Listening,
    port: u16,
}

/// An unconfined listener in this process. It answers every connection.
struct Listening {
    heard: Arc<AtomicUsize>,
    path: PathBuf,
}

impl Listening {
    fn at(path: PathBuf, says: &'static str) -> Listening {
        let (listener, heard) = (UnixListener::bind(&path).unwrap(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || answer(&stream, says));
            }
        });
        Listening { heard, path }
    }

    /// The number of connections so far.
    fn heard(&self) -> usize {
        // The queue is in order: all earlier connections are counted before this one.
        let before = self.heard.load(Ordering::SeqCst);
        let mut stream = UnixStream::connect(&self.path).unwrap();
        stream.write_all(b"hello").unwrap();
        stream.read_exact(&mut [0]).unwrap();
        assert!(self.heard.load(Ordering::SeqCst) > before);
        self.heard.fetch_sub(1, Ordering::SeqCst) - 1
    }
}

fn answer<S>(mut stream: S, says: &str)
where
    S: Read + Write,
{
    let mut heard = [0; 5];
    if stream.read_exact(&mut heard).is_ok() {
        let _ = stream.write_all(says.as_bytes());
    }
}

impl Harbour {
    fn new() -> Harbour {
        let directory = tempfile::Builder::new().prefix("harbour-").tempdir().unwrap();
        for name in ["inside", "outside"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        let network = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = network.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in network.incoming().flatten() {
                std::thread::spawn(move || answer(&stream, "network"));
            }
        });
        Harbour {
            outside: Listening::at(directory.path().join("outside/the-outside"), "outside"),
            _inside: Listening::at(directory.path().join("inside/the-listener"), "inside"),
            directory,
            port,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn inside(&self) -> PathBuf {
        self.path("inside/the-listener")
    }

    fn outside(&self) -> PathBuf {
        self.path("outside/the-outside")
    }

    /// Shares `inside` for reading and writing.
    fn spec(&self) -> Value {
        json!({"roots": [root(&self.path("inside"), "rw")]})
    }

    /// Runs an act, confined; returns its output.
    fn says(&self, act: &Value) -> String {
        says(&self.spec(), act)
    }
}

fn says(spec: &Value, act: &Value) -> String {
    let run = act_in(spec, act);
    assert_eq!(run.code, Some(0), "{act}: {run:?}");
    run.out.trim_end_matches('\n').to_owned()
}

fn act_in(spec: &Value, act: &Value) -> Run {
    run(spec, [stage().into_os_string(), "unix".into(), act.to_string().into()])
}

/// An act at a path.
fn at(act: &str, path: &Path) -> Value {
    json!({"do": act, "path": path})
}

fn error(number: i32) -> String {
    format!("error {number}")
}

#[test]
fn a_listener_in_a_place_that_may_be_written_is_reached() {
    let harbour = Harbour::new();
    let inside = harbour.inside();
    for act in ["connect", "connect from its directory", "connect from a thread"] {
        assert_eq!(harbour.says(&at(act, &inside)), "done inside", "{act}");
    }
    symlink(&inside, harbour.path("inside/link")).unwrap();
    assert_eq!(harbour.says(&at("connect", &harbour.path("inside/link"))), "done inside");
    // A link outside leads inside.
    symlink(&inside, harbour.path("outside/link")).unwrap();
    assert_eq!(harbour.says(&at("connect", &harbour.path("outside/link"))), "done inside");
    let added = json!({"roots": [root(&harbour.path("inside"), "rw")], "allow_write": [harbour.path("outside")]});
    assert_eq!(says(&added, &at("connect", &harbour.outside())), "done outside");
    // A read-only root is not enough.
    let read = json!({"roots": [root(&harbour.path("inside"), "ro")]});
    assert_eq!(says(&read, &at("connect", &inside)), error(libc::EACCES));
}

#[test]
fn a_command_listens_where_it_may_write() {
    let harbour = Harbour::new();
    assert_eq!(harbour.says(&at("talk to itself", &harbour.path("inside/own"))), "done hello as usual");
    // Its own listener can have any name.
    assert_eq!(harbour.says(&at("talk to itself", &harbour.path("inside/docker.sock"))), "done hello as usual");
    assert_eq!(harbour.says(&at("talk to itself", &harbour.path("outside/own"))), error(libc::EACCES));
    assert_eq!(harbour.says(&at("listen at the longest path", &harbour.path("inside"))), "done ");
    for variable in ["TMPDIR", "HOME"] {
        let script = format!(
            "exec \"$0\" unix \"{{\\\"do\\\": \\\"talk to itself\\\", \\\"path\\\": \\\"${variable}/own\\\"}}\""
        );
        let spec = json!({"roots": [root(&harbour.path("inside"), "rw")], "allow_read": [stage()]});
        let run = run(&spec, ["sh".as_ref(), "-c".as_ref(), script.as_ref(), stage().as_os_str()]);
        assert_eq!(run.out, "done hello as usual\n", "{variable}: {run:?}");
    }
    let none = json!({"roots": [root(&harbour.path("inside"), "rw")], "unix": "none"});
    assert_eq!(says(&none, &at("talk to itself", &harbour.path("inside/again"))), error(libc::EACCES));
}

#[test]
fn a_listener_outside_is_out_of_reach() {
    let harbour = Harbour::new();
    let outside = harbour.outside();
    for act in ["connect", "connect packets", "connect from its directory", "connect from a thread"] {
        assert_eq!(harbour.says(&at(act, &outside)), error(libc::EACCES), "{act}");
    }
    symlink(&outside, harbour.path("inside/link")).unwrap();
    assert_eq!(harbour.says(&at("connect", &harbour.path("inside/link"))), error(libc::EACCES));
    symlink("../outside", harbour.path("inside/directory")).unwrap();
    assert_eq!(harbour.says(&at("connect", &harbour.path("inside/directory/the-outside"))), error(libc::EACCES));
    let twin = json!({"do": "link", "path": harbour.path("inside/twin"), "other": outside});
    assert_eq!(harbour.says(&twin), error(libc::EXDEV));
    let moved = json!({"do": "move", "path": harbour.path("inside/moved"), "other": outside});
    assert_eq!(harbour.says(&moved), error(libc::EACCES));
    assert_eq!(harbour.says(&at("connect", &harbour.path("outside/missing"))), error(libc::ENOENT));
    let closed = json!({"roots": [root(&harbour.path("inside"), "rw")], "unix": "none"});
    assert_eq!(says(&closed, &at("connect", &outside)), error(libc::EACCES));
    assert_eq!(harbour.outside.heard(), 0);
    // The control.
    let open = json!({"roots": [root(&harbour.path("inside"), "rw")], "unix": "open"});
    assert_eq!(says(&open, &at("connect", &outside)), "done outside");
    assert_eq!(harbour.outside.heard(), 1);
}

#[test]
fn a_named_socket_is_reached() {
    let harbour = Harbour::new();
    let named = |path: &Path| json!({"roots": [root(&harbour.path("inside"), "rw")], "sockets": [path]});
    assert_eq!(says(&named(&harbour.outside()), &at("connect", &harbour.outside())), "done outside");
    // Spelled differently, by the user or by the command.
    symlink("the-outside", harbour.path("outside/link")).unwrap();
    for spelling in ["outside/link", "inside/../outside/the-outside"] {
        let (spec, act) = (named(&harbour.path(spelling)), at("connect", &harbour.outside()));
        assert_eq!(says(&spec, &act), "done outside", "{spelling}");
        let (spec, act) = (named(&harbour.outside()), at("connect", &harbour.path(spelling)));
        assert_eq!(says(&spec, &act), "done outside", "{spelling}");
    }
    // The directory around it stays closed.
    let _other = Listening::at(harbour.path("outside/other"), "other");
    assert_eq!(says(&named(&harbour.outside()), &at("connect", &harbour.path("outside/other"))), error(libc::EACCES));
    let reading = run(&named(&harbour.outside()), ["ls", harbour.path("outside").to_str().unwrap()]);
    assert_ne!(reading.code, Some(0));
    // It need not exist when the command starts.
    let (later, begin) = (harbour.path("later/deep/socket"), harbour.path("inside/begin"));
    let script = "echo waiting; until [ -e begin ]; do sleep 0.01; done; exec \"$0\" unix \"$1\"";
    let act = at("connect", &later).to_string();
    let mut spec = named(&later);
    spec["allow_read"] = json!([stage()]);
    let mut command = host(&spec);
    command.args(["sh", "-c", script]).arg(stage()).arg(act).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut heard = vec![0; "waiting\n".len()];
    out.read_exact(&mut heard).unwrap();
    fs::create_dir_all(later.parent().unwrap()).unwrap();
    let _later = Listening::at(later, "later");
    fs::write(begin, "").unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    child.wait().unwrap();
    assert_eq!(rest, "done later\n");
}

#[test]
fn a_named_socket_is_not_reached_through_a_link() {
    let harbour = Harbour::new();
    let later = harbour.path("later/socket");
    let script = "echo waiting; until [ -e begin ]; do sleep 0.01; done; exec \"$0\" unix \"$1\"";
    let mut spec = json!({"roots": [root(&harbour.path("inside"), "rw")], "sockets": [later]});
    spec["allow_read"] = json!([stage()]);
    let mut command = host(&spec);
    command.args(["sh", "-c", script]).arg(stage()).arg(at("connect", &later).to_string()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut vec![0; "waiting\n".len()]).unwrap();
    fs::create_dir(harbour.path("later")).unwrap();
    symlink(harbour.outside(), &later).unwrap();
    fs::write(harbour.path("inside/begin"), "").unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    child.wait().unwrap();
    assert_eq!(rest.trim_end(), error(libc::EACCES));
    assert_eq!(harbour.outside.heard(), 0);
}

#[test]
fn a_named_socket_is_not_moved_by_a_link() {
    let harbour = Harbour::new();
    symlink(harbour.outside(), harbour.path("inside/link")).unwrap();
    symlink(harbour.path("outside"), harbour.path("inside/directory")).unwrap();
    for name in ["inside/link", "inside/directory/the-outside", "inside/directory/later"] {
        let spec = json!({"roots": [root(&harbour.path("inside"), "rw")], "sockets": [harbour.path(name)]});
        let run = act_in(&spec, &at("connect", &harbour.outside()));
        assert_eq!(run.code, Some(77), "{name}: {run:?}");
        assert!(run.out.contains("name its target"), "{run:?}");
    }
    let file = json!({"roots": [], "sockets": [harbour.path("outside")]});
    let run = act_in(&file, &at("connect", &harbour.outside()));
    assert!(run.code == Some(77) && run.out.contains("not a socket"), "{run:?}");
}

#[test]
fn sockets_that_act_for_the_user_are_never_named() {
    let harbour = Harbour::new();
    let _engine = Listening::at(harbour.path("outside/docker.sock"), "engine");
    symlink("docker.sock", harbour.path("outside/harmless")).unwrap();
    for name in ["outside/docker.sock", "outside/harmless", "outside/later/podman.sock", "outside/ssh-X/agent.1"] {
        let spec = json!({"roots": [root(&harbour.path("inside"), "rw")], "sockets": [harbour.path(name)]});
        let run = act_in(&spec, &at("connect", &harbour.path(name)));
        assert_eq!(run.code, Some(77), "{name}: {run:?}");
        assert!(run.out.contains("acts for you outside the sandbox"), "{run:?}");
    }
    // A variable says that it is an agent's socket.
    let spec = json!({"roots": [root(&harbour.path("inside"), "rw")], "sockets": [harbour.outside()]});
    let mut command = host(&spec);
    command.env("SSH_AUTH_SOCK", harbour.outside()).arg(stage()).arg("unix");
    let run = crate::scene::finish(command.arg(at("connect", &harbour.outside()).to_string()));
    assert_eq!(run.code, Some(77), "{run:?}");
}

#[test]
fn sockets_that_act_for_the_user_are_never_reached() {
    let harbour = Harbour::new();
    let engine = harbour.path("inside/docker.sock");
    let listening = Listening::at(engine.clone(), "engine");
    assert_eq!(harbour.says(&at("connect", &engine)), error(libc::EACCES));
    symlink("docker.sock", harbour.path("inside/link")).unwrap();
    assert_eq!(harbour.says(&at("connect", &harbour.path("inside/link"))), error(libc::EACCES));
    // A display must be named.
    let display = harbour.path("inside/wayland-0");
    let _display = Listening::at(display.clone(), "display");
    assert_eq!(harbour.says(&at("connect", &display)), error(libc::EACCES));
    let named = json!({"roots": [root(&harbour.path("inside"), "rw")], "sockets": [display]});
    assert_eq!(says(&named, &at("connect", &display)), "done display");
    // The command gives it other names; one of them is a name that the command itself has listened on.
    let moves = [("link", "inside/twin"), ("keep a name", "inside/own"), ("move", "inside/harmless")];
    let mut now = engine;
    for (act, name) in moves {
        let to = harbour.path(name);
        let act = json!({"do": act, "path": to, "other": now});
        assert_eq!(harbour.says(&act), error(libc::EACCES), "{act}");
        now = if now.exists() { now } else { to };
    }
    assert!(harbour.path("inside/harmless").exists(), "it was moved");
    let end = Listening { heard: Arc::clone(&listening.heard), path: now };
    assert_eq!(end.heard(), 0);
}

/// The kernel does not report listeners in another network namespace, so their original names are unknown.
#[test]
fn a_file_without_a_known_listener_is_refused() {
    let harbour = Harbour::new();
    let stale = harbour.path("inside/stale");
    drop(UnixListener::bind(&stale).unwrap());
    assert_eq!(harbour.says(&at("connect", &stale)), error(libc::ECONNREFUSED));
    fs::write(harbour.path("inside/file"), "").unwrap();
    assert_eq!(harbour.says(&at("connect", &harbour.path("inside/file"))), error(libc::ECONNREFUSED));
    if !is_superuser() {
        // Not every system lets an ordinary user create a network namespace.
        return;
    }
    let far = harbour.path("inside/far");
    let script = "import socket, sys\n\
                  s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print('listens', flush=True)\n\
                  while True: c, _ = s.accept(); c.recv(5); c.send(b'far')\n";
    let mut command = Command::new("unshare");
    command.args(["--net", "python3", "-c", script]).arg(&far).stdout(Stdio::piped());
    let mut listening = command.spawn().unwrap();
    listening.stdout.take().unwrap().read_exact(&mut [0; 8]).unwrap();
    let refused = harbour.says(&at("connect", &far));
    let named = json!({"roots": [root(&harbour.path("inside"), "rw")], "sockets": [far]});
    let reached = says(&named, &at("connect", &far));
    listening.kill().unwrap();
    listening.wait().unwrap();
    assert_eq!((refused, reached.as_str()), (error(libc::ECONNREFUSED), "done far"));
}

#[test]
fn a_descriptor_that_is_swapped_reaches_no_listener_outside() {
    let harbour = Harbour::new();
    let (inside, outside) = (harbour.inside(), harbour.outside());
    let act = json!({"do": "swap descriptors", "path": inside, "other": outside, "port": harbour.port, "rounds": 3000});
    assert_eq!(harbour.says(&act), "done 0 outside, some connected");
    assert_eq!(harbour.outside.heard(), 0);
}

#[test]
fn an_address_that_is_swapped_reaches_no_listener_outside() {
    let harbour = Harbour::new();
    // Both have the same length.
    let (inside, outside) = (harbour.path("inside//the-insider"), harbour.outside());
    let _inside = Listening::at(inside.clone(), "in here");
    let act = json!({"do": "swap addresses", "path": inside, "other": outside, "rounds": 2000});
    assert_eq!(harbour.says(&act), "done 0 outside, some connected");
    assert_eq!(harbour.outside.heard(), 0);
}

#[test]
fn a_path_that_is_swapped_reaches_no_listener_outside() {
    let harbour = Harbour::new();
    let act = json!({"do": "swap files", "path": harbour.inside(), "other": harbour.outside(), "rounds": 2000});
    assert_eq!(harbour.says(&act), "done 0 outside, some connected");
    assert_eq!(harbour.outside.heard(), 0);
}

#[test]
fn abstract_names_are_closed() {
    let harbour = Harbour::new();
    let name = harbour.directory.path().file_name().unwrap().to_str().unwrap();
    let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap();
    let act = json!({"do": "connect to a name", "name": name});
    assert_eq!(harbour.says(&act), error(libc::EACCES));
    let act = json!({"do": "listen at a name", "name": format!("{name}-own")});
    assert_eq!(harbour.says(&act), error(libc::EACCES));
}

#[test]
fn datagrams_are_closed() {
    let harbour = Harbour::new();
    let _receiver = UnixDatagram::bind(harbour.path("inside/datagrams")).unwrap();
    assert_eq!(harbour.says(&json!({"do": "datagrams"})), error(libc::EACCES));
}

#[test]
fn received_sockets_are_checked() {
    let harbour = Harbour::new();
    let path = harbour.path("inside/source");
    let source = UnixListener::bind(&path).unwrap();
    let make = |family: i32, kind: i32| {
        let family = rustix::net::AddressFamily::from_raw(u16::try_from(family).unwrap());
        let kind = rustix::net::SocketType::from_raw(u32::try_from(kind).unwrap());
        rustix::net::socket(family, kind, None).unwrap()
    };
    std::thread::spawn(move || {
        for stream in source.incoming().flatten() {
            let given: [OwnedFd; 3] = [
                make(libc::AF_UNIX, libc::SOCK_STREAM),
                make(libc::AF_UNIX, libc::SOCK_DGRAM),
                make(libc::AF_INET, libc::SOCK_STREAM),
            ];
            let passed = given.each_ref().map(AsFd::as_fd);
            let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            assert!(control.push(SendAncillaryMessage::ScmRights(&passed)));
            sendmsg(&stream, &[IoSlice::new(b"x")], &mut control, SendFlags::empty()).unwrap();
        }
    });
    let datagrams = harbour.path("outside/datagrams");
    let _receiver = UnixDatagram::bind(&datagrams).unwrap();
    let denied = libc::EACCES;
    let check = |network: &str, expect: &str| {
        let mut spec = harbour.spec();
        spec["network"] = json!(network);
        for outside in [harbour.outside(), datagrams.clone()] {
            let act = json!({"do": "use what is passed on", "path": path, "other": outside, "port": harbour.port});
            assert_eq!(says(&spec, &act), format!("done {denied} {denied} {expect}"), "{network}");
        }
    };
    check("on", "connected");
    check("off", &denied.to_string());
    assert_eq!(harbour.outside.heard(), 0);
}

#[test]
fn the_network_works_as_without_a_sandbox() {
    let harbour = Harbour::new();
    let act = json!({"do": "network", "port": harbour.port});
    assert_eq!(harbour.says(&act), format!("done {} {}", libc::EINPROGRESS, libc::ECONNREFUSED));
    let act = json!({"do": "wait for the network", "port": harbour.port});
    assert_eq!(harbour.says(&act), "done it waited");
}

/// The same program gets the same errors, confined or not.
#[test]
fn errors_are_the_kernels_own() {
    let harbour = Harbour::new();
    let act = at("errors", &harbour.inside());
    let here = harbour.says(&act);
    fs::remove_file(harbour.path("inside/the-listener-own")).unwrap();
    let mut unconfined = Command::new(stage());
    let there = unconfined.arg("unix").arg(act.to_string()).output().unwrap();
    assert_eq!(here, String::from_utf8(there.stdout).unwrap().trim_end());
    assert!(here.starts_with(&format!("done {} ", libc::EBADF)), "{here}");
}

#[test]
fn many_connect_at_once() {
    let harbour = Harbour::new();
    let act = json!({"do": "many", "path": harbour.inside(), "port": harbour.port, "rounds": 25});
    assert_eq!(harbour.says(&act), format!("done {}", 8 * 25 * 2));
}

#[test]
fn a_full_queue_blocks_its_caller_only() {
    let harbour = Harbour::new();
    fs::write(harbour.path("inside/file"), "").unwrap();
    let act = json!({"do": "wait", "path": harbour.path("inside/full"), "file": harbour.path("inside/file")});
    let errors = (libc::EISCONN, libc::EINVAL);
    assert_eq!(harbour.says(&act), format!("done {} {}, 0 before, 20 after", errors.0, errors.1));
    let act = at("wait with a limit", &harbour.path("inside/full-again"));
    assert_eq!(harbour.says(&act), error(libc::EAGAIN));
}

#[test]
fn a_caller_that_waits_ends_with_its_host() {
    let harbour = Harbour::new();
    let mut command = host(&harbour.spec());
    command.arg(stage()).arg("unix").arg(at("wait forever", &harbour.path("inside/full")).to_string());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; "waits\n".len()]).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    // The pipe ends when the last process that has it is gone. Until it is killed, the caller may get an error.
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("done"), "{rest}");
}

#[test]
fn a_signal_reaches_a_caller_that_waits() {
    let harbour = Harbour::new();
    let act = json!({"do": "wait and be interrupted", "path": harbour.path("inside/full"), "port": harbour.port});
    assert_eq!(harbour.says(&act), format!("done {} connected", libc::EINTR));
}

#[test]
fn a_trace_tells_which_socket_was_refused() {
    let harbour = Harbour::new();
    let _engine = Listening::at(harbour.path("outside/docker.sock"), "engine");
    let traced = |path: PathBuf| {
        let mut spec = harbour.spec();
        spec["trace"] = json!(true);
        let run = act_in(&spec, &at("connect", &path));
        // The command writes to the same pipe.
        assert!(run.out.contains(&format!("refused connect {}\n", path.display())), "{run:?}");
        run.out.lines().find(|line| line.starts_with("permitted by")).unwrap_or_default().to_owned()
    };
    assert_eq!(traced(harbour.outside()), "permitted by --allow-socket");
    assert_eq!(traced(harbour.path("outside/docker.sock")), "permitted by nothing");
}

/// User and host names, for which the C library tries a daemon's socket, and an asyncio server with its client.
#[test]
fn python_talks_to_itself() {
    let script = "import asyncio, os, pwd, socket, tempfile\n\
                  assert pwd.getpwuid(0).pw_name == 'root'; socket.getaddrinfo('localhost', 80)\n\
                  async def main():\n\
                  \x20   path = os.path.join(tempfile.mkdtemp(), 'socket')\n\
                  \x20   async def echo(reader, writer): writer.write(await reader.readline()); await writer.drain(); writer.close()\n\
                  \x20   server = await asyncio.start_unix_server(echo, path)\n\
                  \x20   assert server.sockets[0].getsockname() == path\n\
                  \x20   for n in range(20):\n\
                  \x20       reader, writer = await asyncio.open_unix_connection(path)\n\
                  \x20       writer.write(b'over a socket\\n'); line = await reader.readline(); writer.close()\n\
                  \x20   print(line.decode())\n\
                  asyncio.run(main())\n";
    let harbour = Harbour::new();
    let run = run(&harbour.spec(), ["python3", "-c", script]);
    assert_eq!((run.code, run.out.trim_end()), (Some(0), "over a socket"), "{run:?}");
}

#[test]
fn node_talks_to_itself() {
    let script = "const net = require('net'), http = require('http'), os = require('os'), path = os.tmpdir() + '/socket';\
                  const server = http.createServer((_, response) => response.end('over a socket')).listen(path, async () => {\
                      const get = options => new Promise((done, failed) => http.get(options, response => {\
                          let all = ''; response.on('data', part => all += part).on('end', () => done(all));\
                      }).on('error', failed));\
                      const over = http.createServer((_, response) => response.end('over the network')).listen(0, '127.0.0.1');\
                      await new Promise(done => over.on('listening', done));\
                      console.log(await get({socketPath: path, path: '/'}));\
                      console.log(await get({port: over.address().port, host: 'localhost', family: 4}));\
                      process.exit();\
                  });";
    let harbour = Harbour::new();
    let run = run(&harbour.spec(), ["node", "-e", script]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), "over a socket\nover the network\n"), "{run:?}");
}
