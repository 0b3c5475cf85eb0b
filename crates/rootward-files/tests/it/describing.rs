//! `get_file_info` and `read_media_file`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn a_file_is_described() {
    let stage = Stage::new();
    stage.file("root/file", "12345");
    fs::set_permissions(stage.path("root/file"), fs::Permissions::from_mode(0o4750)).unwrap();
    let file = fs::File::options().write(true).open(stage.path("root/file")).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(86_400_250)).unwrap();
    stage.file("root/old", "");
    let old = fs::File::options().write(true).open(stage.path("root/old")).unwrap();
    old.set_modified(SystemTime::UNIX_EPOCH - Duration::from_secs(1000)).unwrap();
    stage.fifo("root/fifo");
    let mut client = stage.connect(&["root"]).await;
    let answered = client.result("get_file_info", json!({"path": "file"})).await;
    let data = answered.data();
    assert_eq!(data["size"], 5);
    assert_eq!(data["modified"], "1970-01-02T00:00:00.250Z");
    assert_eq!((&data["isFile"], &data["isDirectory"]), (&json!(true), &json!(false)));
    assert_eq!((&data["permissions"], &data["kind"]), (&json!("750"), &json!("file")));
    assert_eq!(data["content"], answered.text());
    let names: Vec<&str> = answered.text().lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(names, ["size", "created", "modified", "accessed", "isDirectory", "isFile", "permissions"]);
    assert!(answered.text().contains("\nmodified: 1970-01-02T00:00:00.250Z\n"));
    assert!(answered.text().contains("\nisDirectory: false\nisFile: true\npermissions: 750"));

    let old = client.says("get_file_info", json!({"path": "old"})).await;
    assert!(old.contains("\nmodified: unknown\n"), "{old}");
    let directory = client.result("get_file_info", json!({"path": "."})).await;
    assert_eq!(directory.data()["isDirectory"], true);
    let sentence = client.fails("get_file_info", json!({"path": "nothing"})).await;
    assert!(sentence.contains("does not exist"), "{sentence}");
}

#[tokio::test]
async fn media_is_what_its_name_says() {
    let stage = Stage::new();
    for name in ["a.png", "b.JPG", "c.svg", "d.mp3", "e.bin", "f", ".png", "g h.tar.gz"] {
        stage.file(&format!("root/{name}"), b"\0\x01\xff");
    }
    stage.file("root/empty.gif", "");
    stage.file("root/huge.png", vec![0; (8 << 20) + 1]);
    stage.file("root/large.png", vec![0; 8 << 20]);
    fs::write(stage.path("root").join(OsStr::from_bytes(b"\xff")), "x").unwrap();
    let mut client = stage.connect(&["root"]).await;
    let cases = [
        ("a.png", "image", "image/png"),
        ("b.JPG", "image", "image/jpeg"),
        ("c.svg", "image", "image/svg+xml"),
        ("d.mp3", "audio", "audio/mpeg"),
        ("e.bin", "resource", "application/octet-stream"),
        ("f", "resource", "application/octet-stream"),
        (".png", "resource", "application/octet-stream"),
        ("g h.tar.gz", "resource", "application/octet-stream"),
    ];
    for (name, kind, mime) in cases {
        let answered = client.result("read_media_file", json!({"path": name})).await;
        let uri = format!("file://{}", stage.name("root/")) + &name.replace(' ', "%20");
        let expect = match kind {
            "resource" => json!({"type": kind, "resource": {"uri": uri, "mimeType": mime, "blob": "AAH/"}}),
            _ => json!({"type": kind, "data": "AAH/", "mimeType": mime}),
        };
        assert_eq!(answered["content"], json!([expect]), "{name}");
        assert_eq!(*answered.data(), json!({"content": [expect]}), "{name}");
    }
    let empty = client.result("read_media_file", json!({"path": "empty.gif"})).await;
    assert_eq!(empty["content"][0]["data"], "");
    let large = client.result("read_media_file", json!({"path": "large.png"})).await;
    assert_eq!(large["content"][0]["data"].as_str().unwrap().len(), (8_usize << 20).div_ceil(3) * 4);
    let sentence = client.fails("read_media_file", json!({"path": "huge.png"})).await;
    assert!(sentence.contains("has 8388609 bytes, but one answer holds at most 8 MiB of media"), "{sentence}");
    let sentence = client.fails("read_media_file", json!({"path": "."})).await;
    assert!(sentence.contains("is a directory"), "{sentence}");
}
