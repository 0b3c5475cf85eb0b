//! Saved roots that change while `serve` runs: the next call uses them, and the client is notified.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::sync::mpsc::channel;

use rootward_testkit::client::Client;
use serde_json::{Value, json};

use crate::place::{PATIENCE, Place, begin, until};

/// The store of the user's saved roots.
const STORE: &str = "home/.config/rootward/roots.toml";

/// Replaces the store atomically. Each directory has extra lines.
fn save(place: &Place, roots: &[(&str, &str)]) {
    let root = |(name, more): &(&str, &str)| format!("[[root]]\npath = '{}'\n{more}\n", place.text(name));
    write(place, &format!("version = 1\n{}", roots.iter().map(root).collect::<String>()));
}

fn write(place: &Place, text: &str) {
    let store = place.path(STORE);
    fs::create_dir_all(store.parent().unwrap()).unwrap();
    fs::write(store.with_extension("new"), text).unwrap();
    fs::rename(store.with_extension("new"), store).unwrap();
}

fn place() -> Place {
    let place = Place::new();
    for name in ["root/one", "root/two"] {
        fs::create_dir(place.path(name)).unwrap();
        for file in ["f", "x.sealed"] {
            fs::write(place.path(name).join(file), name).unwrap();
        }
    }
    place
}

/// Reads a file. Returns its text, or the code of the refusal.
fn read(client: &mut Client, path: &str) -> String {
    let result = client.result("read_text_file", json!({"path": path}));
    let code = result["structuredContent"]["code"].as_str();
    code.or_else(|| result["content"][0]["text"].as_str()).unwrap().to_owned()
}

/// Lists the tools, so that the client is notified of the next change.
fn list(client: &mut Client) -> String {
    client.kept().retain(|message| !is_list_changed(message));
    client.ask("tools/list", json!({})).to_string()
}

fn is_list_changed(message: &Value) -> bool {
    message["method"] == "notifications/tools/list_changed"
}

/// Waits until the client is notified of a change.
fn told(client: &mut Client) {
    client.next_where(is_list_changed);
}

#[test]
fn a_store_is_followed() {
    let place = place();
    let mut client = place.serve(&[]);
    let [one, two] = ["root/one/f", "root/two/f"].map(|name| place.text(name));
    // Nothing is saved yet, and the directory of the store does not exist.
    assert_eq!(read(&mut client, &one), "no_roots");
    list(&mut client);
    save(&place, &[("root/one", "")]);
    told(&mut client);
    assert_eq!([read(&mut client, &one), read(&mut client, &two)], ["root/one", "outside_roots"]);
    assert!(list(&mut client).contains(&place.text("root/one")));
    // The command line adds one.
    let added = place.rootward(&["roots", "add", "root/two:ro", "--yes"]).stdout(Stdio::null()).status().unwrap();
    assert!(added.success());
    told(&mut client);
    assert_eq!([read(&mut client, &one), read(&mut client, &two)], ["root/one", "root/two"]);
    // One is removed.
    list(&mut client);
    assert!(place.rootward(&["roots", "remove", "root/one"]).stdout(Stdio::null()).status().unwrap().success());
    told(&mut client);
    assert_eq!([read(&mut client, &one), read(&mut client, &two)], ["outside_roots", "root/two"]);
    // All are removed.
    list(&mut client);
    fs::remove_file(place.path(STORE)).unwrap();
    told(&mut client);
    assert_eq!(read(&mut client, &two), "no_roots");
    let (_, code) = client.end_with_rest();
    assert_eq!(code, Some(0));
}

#[test]
fn roots_that_go_and_come_back_are_followed() {
    let place = place();
    save(&place, &[("root/one", ""), ("root/two", "")]);
    let mut client = place.serve(&[]);
    let [one, two] = ["root/one/f", "root/two/f"].map(|name| place.text(name));
    assert_eq!([read(&mut client, &one), read(&mut client, &two)], ["root/one", "root/two"]);
    list(&mut client);
    fs::rename(place.path("root/one"), place.path("root/aside")).unwrap();
    told(&mut client);
    // A link takes its place, but is not followed.
    list(&mut client);
    symlink(place.path("outside"), place.path("root/one")).unwrap();
    told(&mut client);
    assert_eq!(read(&mut client, &place.text("root/one/secret.txt")), "outside_roots");
    list(&mut client);
    fs::remove_file(place.path("root/one")).unwrap();
    fs::rename(place.path("root/aside"), place.path("root/one")).unwrap();
    told(&mut client);
    // The client may be notified twice: of the removal and of the return.
    until("it is back", || place.path("root/one/f").exists());
    for _ in 0.. {
        list(&mut client);
        if read(&mut client, &one) == "root/one" {
            break;
        }
        told(&mut client);
    }
    // Another directory takes its place.
    list(&mut client);
    fs::rename(place.path("root/two"), place.path("root/aside")).unwrap();
    fs::create_dir(place.path("root/two")).unwrap();
    fs::write(&two, "another").unwrap();
    told(&mut client);
    assert_eq!(read(&mut client, &two), "another");
}

#[test]
fn a_damaged_store_takes_nothing_and_opens_nothing() {
    let place = place();
    save(&place, &[("root/one", "restrict = [{ pattern = '*.sealed' }]")]);
    let mut command = place.rootward(&["serve"]);
    command.env("ROOTWARD_FALLBACK_DIR", place.path("outside")).stderr(Stdio::piped());
    let mut client = begin(&mut command, json!({}));
    let [file, closed] = ["root/one/f", "root/one/x.sealed"].map(|name| place.text(name));
    let secret = place.text("outside/secret.txt");
    assert_eq!([read(&mut client, &file), read(&mut client, &closed)], ["root/one", "restricted"]);
    write(&place, "version = 1\n[[root]]\npath = 1\n");
    // Standard error reports the mistake with its position.
    let mut said = BufReader::new(client.line.child.stderr.take().unwrap());
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        sender.send(line)
    });
    let line = lines.recv_timeout(PATIENCE).unwrap();
    assert!(line.contains("roots.toml`, line 3, column 8") && line.contains("stays current"), "{line}");
    assert_eq!([read(&mut client, &file), read(&mut client, &closed)], ["root/one", "restricted"]);
    assert_eq!(read(&mut client, &secret), "outside_roots");
    // The store is repaired, with another root.
    list(&mut client);
    save(&place, &[("root/two", "")]);
    told(&mut client);
    assert_eq!([read(&mut client, &file), read(&mut client, &place.text("root/two/f"))], ["outside_roots", "root/two"]);
}

/// If the operator names roots, saved roots are ignored, but their restrictions apply.
#[test]
fn restrictions_of_saved_roots_apply_whoever_names_roots() {
    let place = place();
    let mut client = place.serve(&[&place.text("root/one")]);
    let [file, closed] = ["root/one/f", "root/one/x.sealed"].map(|name| place.text(name));
    assert_eq!([read(&mut client, &file), read(&mut client, &closed)], ["root/one", "root/one"]);
    list(&mut client);
    save(&place, &[("root/one", "restrict = [{ pattern = '*.sealed' }]"), ("root/two", "")]);
    told(&mut client);
    assert_eq!([read(&mut client, &file), read(&mut client, &closed)], ["root/one", "restricted"]);
    assert_eq!(read(&mut client, &place.text("root/two/f")), "outside_roots");
    list(&mut client);
    save(&place, &[]);
    told(&mut client);
    assert_eq!(read(&mut client, &closed), "root/one");
}

#[test]
fn what_the_settings_close_stays_closed_when_the_saved_roots_change() {
    let place = place();
    symlink(place.path("root/two"), place.path("link")).unwrap();
    save(&place, &[("root/one", ""), ("root/two", "")]);
    let settings = format!("[[restrict]]\npattern = 'f'\nbelow = '{}'\n", place.text("link"));
    fs::write(place.path(STORE).with_file_name("config.toml"), settings).unwrap();
    let mut client = place.serve(&[]);
    let [closed, other] = ["root/two/f", "root/one/x.sealed"].map(|name| place.text(name));
    assert_eq!([read(&mut client, &closed), read(&mut client, &other)], ["restricted", "root/one"]);
    // The link now leads elsewhere, and the rules are rebuilt.
    fs::remove_file(place.path("link")).unwrap();
    symlink(place.path("outside"), place.path("link")).unwrap();
    list(&mut client);
    save(&place, &[("root/one", "restrict = [{ pattern = '*.sealed' }]"), ("root/two", "")]);
    told(&mut client);
    assert_eq!([read(&mut client, &closed), read(&mut client, &other)], ["restricted", "restricted"]);
}
