//! A command that shares the home tries in every way to plant settings for Rootward's next start.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::scene::{feed, finish, host, root};

/// Rootward's own places in a home.
const OWN: [&str; 3] = [".config/rootward", ".local/state/rootward", ".cache/rootward"];

/// Runs each attack in its own process and home. An attack knows the home `h`, the own place `o`, its parent `p`, a
/// prepared directory, and a prepared replacement for `t`, the topmost directory of the path below the home.
const SCRIPT: &str = r"
import ctypes, json, os, shutil, sys
def write(): os.makedirs(o, exist_ok=True); open(o + '/config.toml', 'w').write('planted')
def away(place, to):
    if os.path.exists(place): os.rename(place, to)
def exchange(one, other):
    if ctypes.CDLL(None, use_errno=True).renameat2(-100, one.encode(), -100, other.encode(), 2):
        raise PermissionError(ctypes.get_errno(), 'exchange')
for h, rest, attack in json.load(sys.stdin):
    if os.fork(): os.wait(); continue
    o = os.path.join(h, rest); p = os.path.dirname(o); t = os.path.join(h, rest.split('/')[0])
    prepared, standin, old = [os.path.join(h, 'src', name) for name in ('prepared', 'standin', 'old')]
    inside = os.path.join(standin, *rest.split('/')[1:])
    for place in (prepared, inside):
        os.makedirs(place); open(place + '/config.toml', 'w').write('planted')
    try: exec(attack); print('done')
    except PermissionError as error: print('refused', error)
    sys.stdout.flush(); os._exit(0)
";

/// The attacks. Each tries to replace `config.toml`.
const ATTACKS: [(&str, &str); 11] = [
    ("write", "write()"),
    ("below a handle", "os.chdir(os.open(p if os.path.exists(p) else h, os.O_PATH)); write()"),
    ("move a directory there", "os.makedirs(p, exist_ok=True); away(o, old); os.rename(prepared, o)"),
    ("move the parent away", "away(t, old); os.rename(standin, t)"),
    ("move the parent to a sibling", "away(t, h + '/other'); os.rename(standin, t)"),
    ("exchange the parent", "os.makedirs(t, exist_ok=True); exchange(standin, t)"),
    ("a link", "os.makedirs(p, exist_ok=True); away(o, old); os.symlink(prepared, o)"),
    ("the parent as a link", "away(t, old); os.symlink(standin, t)"),
    (
        "a hard link",
        "os.makedirs(o, exist_ok=True); away(o + '/config.toml', old); os.link(prepared + '/config.toml', o + '/config.toml')",
    ),
    ("remove and make", "os.path.exists(t) and shutil.rmtree(t); write()"),
    ("open up first", "os.chmod(h, 0o777); os.path.exists(p) and os.chmod(p, 0o777); write()"),
];

/// How much of the path to Rootward's own place exists when the command starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Nothing,
    Top,
    Parent,
    OwnPlace,
}

fn home(own: &str, way: Way) -> TempDir {
    let home = tempfile::Builder::new().prefix("home-").tempdir().unwrap();
    let own = home.path().join(own);
    fs::create_dir(home.path().join("src")).unwrap();
    match way {
        Way::Nothing => {}
        Way::Top => {
            let top = own.strip_prefix(home.path()).unwrap().components().next().unwrap();
            fs::create_dir(home.path().join(top)).unwrap();
        }
        Way::Parent => fs::create_dir_all(own.parent().unwrap()).unwrap(),
        Way::OwnPlace => {
            fs::create_dir_all(&own).unwrap();
            fs::write(own.join("config.toml"), "the user's").unwrap();
        }
    }
    home
}

fn is_planted(home: &Path, own: &str) -> bool {
    fs::read_to_string(home.join(own).join("config.toml")).is_ok_and(|text| text == "planted")
}

/// Every attack on every place, each in its own home.
fn homes() -> Vec<(TempDir, &'static str, Way, &'static str, &'static str)> {
    let mut homes = Vec::new();
    for own in OWN {
        for way in [Way::Nothing, Way::Top, Way::Parent, Way::OwnPlace] {
            homes.extend(ATTACKS.map(|(name, attack)| (home(own, way), own, way, name, attack)));
        }
    }
    homes
}

#[test]
fn rootwards_own_places_cannot_be_planted() {
    let python = ["python3", "-c", SCRIPT];
    let input = |homes: &[(TempDir, &str, Way, &str, &str)]| {
        let tasks: Vec<_> = homes.iter().map(|(home, own, _, _, attack)| json!([home.path(), own, attack])).collect();
        json!(tasks).to_string()
    };
    let free = homes();
    let run = feed(Command::new(python[0]).args(&python[1..]), input(&free).as_bytes());
    for (home, own, way, name, _) in &free {
        assert!(is_planted(home.path(), own), "the control: {name}, {own}, {way:?}: {run:?}");
    }
    let held = homes();
    let roots: Vec<_> = held.iter().map(|(home, ..)| root(home.path(), "rwx")).collect();
    let places: Vec<_> = held.iter().flat_map(|(home, ..)| OWN.map(|own| home.path().join(own))).collect();
    let run = feed(host(&json!({"roots": roots, "own": places})).args(python), input(&held).as_bytes());
    assert_eq!(run.out.matches("refused").count(), held.len(), "{run:?}");
    for (home, own, way, name, _) in &held {
        assert!(!is_planted(home.path(), own), "{name}, {own}, {way:?}: {run:?}");
    }
}

#[test]
fn the_parent_of_rootwards_own_place_as_a_root() {
    let own = OWN[0];
    for way in [Way::Parent, Way::OwnPlace] {
        let home = home(own, way);
        let config = home.path().join(".config");
        fs::create_dir(config.join("editor")).unwrap();
        let spec = json!({"roots": [root(&config, "rw")], "own": [home.path().join(own)]});
        let check = |script: &str, works: bool| {
            let run = finish(host(&spec).args(["sh", "-c", script]));
            assert_eq!(run.code == Some(0), works, "{way:?} {script}: {run:?}");
        };
        check("echo x > editor/settings && mkdir editor/d && mv editor/settings editor/d/ && rm -r editor/d", true);
        check("mkdir rootward 2>/dev/null; echo planted > rootward/config.toml", false);
        check("mkdir editor/p && echo planted > editor/p/config.toml && mv -T editor/p rootward", false);
        check("ls .", way == Way::Parent);
        check("cat rootward/config.toml", false);
    }
}
