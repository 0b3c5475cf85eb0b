//! One act of the escape corpus, as a program does it that cares for no rule: straight to the path.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

pub(crate) fn act(spec: &str) -> ExitCode {
    let spec: Value = serde_json::from_str(spec).expect("a spec");
    let outcome = match perform(&spec) {
        Ok(outcome) => outcome,
        Err(error) => json!({"error": error.raw_os_error(), "kind": format!("{:?}", error.kind())}),
    };
    println!("{outcome}");
    ExitCode::SUCCESS
}

fn bytes(value: &Value) -> Vec<u8> {
    let numbers = value.as_array().into_iter().flatten();
    numbers.map(|number| u8::try_from(number.as_u64().unwrap_or(0)).unwrap_or(0)).collect()
}

/// A path's bytes; a URI without its scheme.
fn path(value: &Value) -> PathBuf {
    let bytes = bytes(value);
    let plain = bytes.strip_prefix(b"file://").unwrap_or(&bytes);
    Path::new(OsStr::from_bytes(plain)).to_owned()
}

fn perform(spec: &Value) -> io::Result<Value> {
    let (one, other, data) = (path(&spec["path"]), path(&spec["to"]), bytes(&spec["data"]));
    match spec["act"].as_str().unwrap_or_default() {
        "Read" => return Ok(json!({"content": fs::read(one)?})),
        "List" => {
            let names = fs::read_dir(one)?.map(|entry| Ok(entry?.file_name().as_bytes().to_vec()));
            return Ok(json!({"entries": names.collect::<io::Result<Vec<_>>>()?}));
        }
        // What may be seen of files outside is told in SECURITY.md; the corpus is about what is opened.
        "Check" | "Stat" => {}
        // Whether it could be run is asked by trying: nothing in the corpus does anything.
        "Execute" => match std::process::Command::new(one.as_os_str()).status() {
            Err(error) if error.raw_os_error() == Some(libc::ENOEXEC) => {}
            result => drop(result?),
        },
        "Put" => fs::write(one, data)?,
        "Append" => fs::OpenOptions::new().append(true).open(one)?.write_all(&data)?,
        "CreateNew" => fs::File::create_new(one)?.write_all(&data)?,
        "MakeDirectory" => fs::create_dir(one)?,
        "Remove" if fs::symlink_metadata(&one)?.is_dir() => fs::remove_dir(one)?,
        "Remove" => fs::remove_file(one)?,
        "Rename" => fs::rename(one, other)?,
        "Copy" => fs::write(other, fs::read(one)?)?,
        act => return Err(io::Error::other(act.to_owned())),
    }
    Ok(json!({}))
}
