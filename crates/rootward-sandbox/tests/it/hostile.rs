//! A child that tries every attack, once confined and once not.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};

use rootward_testkit::tree::is_superuser;
use serde_json::{Value, json};

use crate::scene::{Scene, finish, host, root, stage, terminal};

/// Attacks that succeed, as listed in `SECURITY.md`.
const OPEN: [&str; 4] = ["see metadata", "see a link's target", "use a pair", "a program from memory"];

/// An attack that succeeds for an ordinary user; the superuser's child lacks the capability.
const OPEN_TO_USERS: &str = "change the scheduling of others";

/// Attacks that succeed if the network is on.
const NETWORK: [&str; 2] = ["connect over the network", "send over the network"];

/// What only the superuser can do, with or without a sandbox.
const PRIVILEGED: [&str; 12] = [
    "permissions of a device",
    "read by number",
    "mount",
    "change the top",
    "make a raw socket",
    "send frames",
    "type for the user",
    "type for the user, hiding the command's number",
    "hold privileges over the system",
    "count events",
    "take page faults",
    "trace",
];

/// The outcome of each attack: success, or the error number.
type Outcomes = BTreeMap<String, Result<String, Option<i64>>>;

fn outcomes(command: &mut Command) -> Outcomes {
    let run = finish(command);
    let lines = run.out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let outcome = |line: Value| {
        let result = line["done"].as_str().map(str::to_owned).ok_or_else(|| line["refused"].as_i64());
        Some((line["attack"].as_str()?.to_owned(), result))
    };
    let outcomes: Outcomes = lines.filter_map(outcome).collect();
    assert!(outcomes.len() > 60, "the child did not finish: {run:?}");
    outcomes
}

/// The attacks of a confined child.
fn confined(scene: &Scene, more: &[(&str, &str)]) -> Outcomes {
    let (slave, _master) = terminal();
    confined_with(scene, more, slave)
}

/// The same with something other than a terminal as input.
fn confined_with(scene: &Scene, more: &[(&str, &str)], input: OwnedFd) -> Outcomes {
    let mut spec = json!({"roots": [root(&scene.path("inside"), "rwx"), root(&scene.path("read-only"), "ro")]});
    for (key, value) in more {
        spec[*key] = json!(value);
    }
    // A descriptor that the host forgot to close.
    let leak =
        rustix::fs::open(scene.path("outside/secret.txt"), rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty());
    let leak = leak.unwrap();
    let mut command = host(&spec);
    command.arg(stage()).arg("attack").arg(scene.target()).stdin(Stdio::from(input));
    let outcomes = outcomes(&mut command);
    assert!(rustix::io::fcntl_getfd(leak.as_fd()).unwrap().is_empty(), "the descriptor is not inheritable");
    outcomes
}

/// Waits for a host's supervisor, which is ready once it has a child of its own.
fn supervisor_of(host: u32) -> u32 {
    let child = |process: u32| {
        let list = format!("/proc/{process}/task/{process}/children");
        let list = std::fs::read_to_string(list).unwrap_or_default();
        list.split_whitespace().next().and_then(|child| child.parse::<u32>().ok())
    };
    loop {
        if let Some(supervisor) = child(host)
            && child(supervisor).is_some()
        {
            return supervisor;
        }
        std::thread::yield_now();
    }
}

fn succeeded(outcomes: &Outcomes) -> Vec<&str> {
    outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).map(|(name, _)| name.as_str()).collect()
}

/// The attacks that are known to succeed, including these.
fn open(more: &[&'static str]) -> Vec<&'static str> {
    let users = (!is_superuser()).then_some(OPEN_TO_USERS);
    let mut open: Vec<_> = OPEN.into_iter().chain(more.iter().copied()).chain(users).collect();
    open.sort_unstable();
    open
}

/// A host with one thread forks; a host with more threads starts its program again.
#[test]
fn a_host_with_threads_confines_its_child_as_well() {
    let scene = Scene::new();
    let alone = confined(&scene, &[]);
    let scene = Scene::new();
    assert_eq!(succeeded(&confined(&scene, &[("threads", "two")])), succeeded(&alone));
    let launcher = |threads: &str| {
        let spec = json!({"roots": [root(&scene.path("inside"), "rw")], "threads": threads});
        let mut host = host(&spec).args(["sleep", "1000"]).spawn().unwrap();
        let supervisor = supervisor_of(host.id());
        let line = std::fs::read(format!("/proc/{supervisor}/cmdline")).unwrap();
        host.kill().unwrap();
        host.wait().unwrap();
        String::from_utf8(line).unwrap()
    };
    assert!(launcher("two").contains("__confine"));
    assert!(!launcher("one").contains("__confine"));
}

#[test]
fn a_hostile_child_is_held() {
    let mut scene = Scene::new();
    let outcomes = confined(&scene, &[]);
    assert_eq!(succeeded(&outcomes), open(&NETWORK), "{outcomes:?}");
    scene.assert_untouched();
}

#[test]
fn a_hostile_child_is_held_if_processes_may_read_about_themselves() {
    let mut scene = Scene::new();
    let outcomes = confined(&scene, &[("own_proc", "every")]);
    assert_eq!(succeeded(&outcomes), open(&NETWORK), "{outcomes:?}");
    scene.assert_untouched();
}

#[test]
fn network_off_closes_the_network() {
    let mut scene = Scene::new();
    let outcomes = confined(&scene, &[("network", "off")]);
    assert_eq!(succeeded(&outcomes), open(&[]), "{outcomes:?}");
    scene.assert_untouched();
}

#[test]
fn unix_sockets_are_open_if_requested() {
    let scene = Scene::new();
    let outcomes = confined(&scene, &[("unix", "open")]);
    assert!(outcomes["connect to a socket with a path"].is_ok(), "{outcomes:#?}");
    assert!(outcomes["connect to a socket without a path"].is_err(), "Landlock refuses those: {outcomes:#?}");
    assert!(outcomes["listen outside"].is_err(), "{outcomes:#?}");
}

/// The control: every attack that is refused above works unconfined.
#[test]
fn the_same_child_unconfined_does_it_all() {
    let scene = Scene::new();
    let (slave, _master) = terminal();
    let leak =
        rustix::fs::open(scene.path("outside/secret.txt"), rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty());
    let _leak = leak.unwrap();
    let mut command = Command::new(stage());
    command.arg("attack").arg(scene.target()).stdin(Stdio::from(slave)).current_dir(scene.path("inside"));
    let outcomes = outcomes(&mut command);
    for (name, outcome) in &outcomes {
        let privileged = PRIVILEGED.contains(&name.as_str()) && !is_superuser();
        // Skip calls that this kernel was built without.
        let absent = matches!(outcome, Err(Some(error)) if *error == i64::from(libc::ENOSYS));
        assert!(outcome.is_ok() || privileged || absent, "{name}: {outcome:?}");
    }
}

fn refused_with(name: &str, errors: &[i32]) {
    let mut scene = Scene::new();
    let outcomes = confined(&scene, &[]);
    let attacks: Vec<_> = outcomes.iter().filter(|(attack, _)| attack.contains(name)).collect();
    assert!(!attacks.is_empty(), "no such attack: {name}");
    for (attack, outcome) in attacks {
        let refused = matches!(outcome, Err(Some(error)) if errors.iter().any(|known| i64::from(*known) == *error));
        assert!(refused, "{attack}: {outcome:?}");
    }
    scene.assert_untouched();
}

#[test]
fn metadata_outside_stays_as_it_is() {
    for attack in ["permissions", "owner", "times", "watch"] {
        refused_with(attack, &[libc::EACCES, libc::EPERM]);
    }
}

/// Inherited objects without a name: a pipe, a socket, memory, a file that was created without one, a removed file.
#[test]
fn unnamed_objects_keep_their_metadata() {
    for attack in ["it was given", "of a socket"] {
        refused_with(attack, &[libc::EPERM]);
    }
    let scene = Scene::new();
    let outside = scene.path("outside");
    let removed = outside.join("about to be removed");
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    let unnamed = rustix::fs::open(&outside, flags | rustix::fs::OFlags::TMPFILE, mode).unwrap();
    let gone = rustix::fs::open(&removed, flags | rustix::fs::OFlags::CREATE, mode).unwrap();
    std::fs::remove_file(&removed).unwrap();
    let memory = rustix::fs::memfd_create(c"given", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    for (what, given) in [("made without a name", unnamed), ("removed", gone), ("memory", memory)] {
        let before = rustix::fs::fstat(&given).unwrap().st_mode;
        let outcomes = confined_with(&scene, &[], given.try_clone().unwrap());
        let outcome = &outcomes["permissions of the terminal it was given"];
        assert_eq!(*outcome, Err(Some(libc::EPERM.into())), "{what}");
        assert_eq!(rustix::fs::fstat(&given).unwrap().st_mode, before, "{what}");
    }
}

#[test]
fn a_read_only_root_keeps_its_metadata() {
    refused_with("in a read-only root", &[libc::EACCES, libc::EOPNOTSUPP]);
}

#[test]
fn no_file_is_made_that_sets_the_user_id() {
    refused_with("sets the user's ID", &[libc::EPERM]);
}

#[test]
fn inherited_descriptors_are_closed() {
    let scene = Scene::new();
    assert!(confined(&scene, &[])["use what was inherited"].is_err());
    // The supervisor keeps none of them either.
    let flags = rustix::fs::OFlags::RDONLY;
    let _leak = rustix::fs::open(scene.path("outside/secret.txt"), flags, rustix::fs::Mode::empty()).unwrap();
    let spec = json!({"roots": [root(&scene.path("inside"), "rw")]});
    let mut host = host(&spec).args(["sleep", "1000"]).spawn().unwrap();
    let supervisor = supervisor_of(host.id());
    let open = |process: u32| {
        let entries = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap().flatten();
        let targets: Vec<_> = entries.filter_map(|entry| std::fs::read_link(entry.path()).ok()).collect();
        targets.iter().any(|target| target.ends_with("secret.txt"))
    };
    let (inherited, kept) = (open(host.id()), open(supervisor));
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(inherited, "the host did not inherit the descriptor");
    assert!(!kept);
}

#[test]
fn a_hostile_child_gains_no_privileges() {
    let scene = Scene::new();
    let outcomes = confined(&scene, &[]);
    assert!(outcomes["gain privileges"].is_err() && outcomes["hold privileges over the system"].is_err());
}

#[test]
fn calls_of_another_architecture_end_the_process() {
    let scene = Scene::new();
    assert!(confined(&scene, &[])["a call of another architecture"].is_err());
}
